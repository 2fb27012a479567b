"""Populations from genotypes, from the PLINK file on: 957 people of 11 populations, 14,079 SNPs.

``python -m benchmarks.srs.hapmap --data DIR/hapmap3-plink`` halves the people at random, searches
one half and predicts the populations of the other: by the trees of the search, by a forest on the
SNPs that it found, by one on as many SNPs drawn at random, and by one on all. It also says how many
of the SNPs found in all people are among the hundredth with the highest F_ST, the variance of
allele frequencies between populations over its greatest possible value, which knows no trees.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.srs import tasks

SUBSPACE, TREES = 1000, 500


def searched(X: Any, y: NDArray[Any], alpha: float, seed: int) -> Any:
    return dm.SequentialRandomSubspace(
        n_estimators=TREES, n_subspace_features=SUBSPACE, keep=alpha, random_state=seed
    ).fit(X, y)


def differentiation(genotypes: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """F_ST of each SNP: populations count by their size; missing calls are left out."""
    classes = np.unique(y)
    fraction = np.array([np.mean(y == label) for label in classes])
    frequency = np.array([np.nanmean(genotypes[y == label], axis=0) / 2 for label in classes])
    mean = fraction @ frequency
    between = fraction @ (frequency - mean) ** 2
    return between / np.maximum(mean * (1 - mean), 1e-12)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.srs.hapmap", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    store = dm.open_store(options.data / "hapmap3.bed", samples=options.data / "samples.csv")
    _, y = store.target("y")
    y = np.array(y)
    table = store.as_table()
    start = time.perf_counter()
    model = searched(store, y, 0.5, 0)
    seconds = time.perf_counter() - start
    top = np.argsort(-differentiation(decoded(table), y))[: store.n_columns // 100]
    among = np.isin(model.selected_, top)
    first = among[: len(among) // 10]
    print(
        f"{len(model.selected_)} SNPs found in {TREES} trees of {SUBSPACE} ({seconds:.0f} s); "
        f"{among.mean():.2f} of them, {first.mean():.2f} of the first tenth, are among the "
        f"{len(top)} of highest F_ST (by chance .01)"
    )
    rows = []
    for split in range(options.splits):
        random = np.random.default_rng(split)
        order = random.permutation(len(y))
        learn, test = order[: len(y) // 2], order[len(y) // 2 :]
        learning, other = table.take_rows(learn), table.take_rows(test)
        row = {}
        for alpha in (0.0, 0.5):
            model = searched(learning, y[learn], alpha, split)
            row[f"SRS, alpha {alpha:g}"] = np.mean(tasks.predicted(model, other) == y[test])
        result = np.sort(model.selected_)
        sets = {
            "forest on what alpha .5 found": result,
            "forest on as many at random": np.sort(
                random.choice(store.n_columns, len(result), replace=False)
            ),
            "forest on all": np.arange(store.n_columns),
        }
        for name, columns in sets.items():
            forest = dm.ExtraTreesClassifier(TREES, random_state=split)
            forest.fit(learning.take_columns(columns), y[learn])
            row[name] = np.mean(forest.predict(other.take_columns(columns)) == y[test])
        row["found"] = len(result)
        rows.append(row)
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"{name}: {np.mean(values):.3f} +- {np.std(values, ddof=1) / len(values) ** 0.5:.3f}")
    return 0


def decoded(table: Any) -> NDArray[np.float64]:
    """Copies of the first allele, NaN where missing, of shape (n, p)."""
    columns = []
    for j in range(table.n_columns):
        values = np.append(np.asarray(table.values(j), dtype=np.float64), np.nan)
        columns.append(values[np.minimum(table.codes(j), len(values) - 1)])
    return np.column_stack(columns)


if __name__ == "__main__":
    sys.exit(main())
