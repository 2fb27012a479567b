"""False and true discoveries of `vote_change` on the linear problem of Paul et al. (2013).

``python -m benchmarks.error_rates.linear_problem`` draws the problem 50 times (500 rows, 120
features, of which 20 have a weight uniform on (0, 1), 10 % of the labels flipped), grows forests
with K candidates at each node and prints, for each K and number of trees T, the means over the
draws of

* the features found at level .05 after Benjamini and Hochberg that have a weight;
* those that have none;
* the false discovery rate, the fraction of these among all that were found (0 where none was).

Exit status 1 where a false discovery rate is not under .05. The smaller forests are the first trees
of the largest one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import duramen as dm
from duramen.importances import vote_change

LEVEL = 0.05
SIZES = (500, 1000, 5000, 10_000)
CANDIDATES: tuple[str | int, ...] = ("sqrt", 30, 60)


@dataclass(frozen=True)
class Row:
    """Means over the draws for a forest size and a number of candidates.

    `spread` is the standard error of the false discovery rate.
    """

    max_features: str | int
    n_trees: int
    true_discoveries: float
    false_discoveries: float
    false_discovery_rate: float
    spread: float


def n_found(
    draw: int, sizes: Sequence[int], max_features: str | int, n_jobs: int, df: str
) -> list[tuple[int, int]]:
    """Return true and false discoveries in one draw, for each number of trees."""
    data = dm.datasets.linear_sign(random_state=draw)
    table = dm.encode(data.X, names=data.names)
    relevant = data.details["weights"] > 0
    model = dm.RandomForestClassifier(
        max(sizes), max_features=max_features, random_state=draw, n_jobs=n_jobs
    ).fit(table, data.y)
    counts = []
    for size in sizes:
        trees = model.forest_.part(0, size)
        chosen = vote_change(trees, table, data.y, df=df, n_jobs=n_jobs).mask(LEVEL)
        counts.append((int(chosen[relevant].sum()), int(chosen[~relevant].sum())))
    return counts


def run(
    draws: int = 50,
    sizes: Sequence[int] = SIZES,
    candidates: Sequence[str | int] = CANDIDATES,
    n_jobs: int = 2,
    df: str = "classes",
) -> list[Row]:
    """Return a row for each number of candidates and of trees; draw d has seed d."""
    rows = []
    for max_features in candidates:
        counts = np.array([n_found(d, sizes, max_features, n_jobs, df) for d in range(draws)])
        right, wrong = counts[:, :, 0], counts[:, :, 1]
        rates = wrong / np.maximum(right + wrong, 1)
        for i, size in enumerate(sizes):
            rows.append(
                Row(
                    max_features,
                    size,
                    float(right[:, i].mean()),
                    float(wrong[:, i].mean()),
                    float(rates[:, i].mean()),
                    float(rates[:, i].std() / np.sqrt(draws)),
                )
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a false discovery rate is not under the level."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--df", choices=("classes", "pearson"), default="classes")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    rows = run(draws=options.draws, n_jobs=options.jobs, df=options.df)
    print("| K | T | found, with a weight | found, without | false discovery rate |")
    print("| --- | --- | --- | --- | --- |")
    for row in rows:
        rate = f"{row.false_discovery_rate:.4f} ± {row.spread:.4f}"
        print(
            f"| {row.max_features} | {row.n_trees} | {row.true_discoveries:.2f} "
            f"| {row.false_discoveries:.2f} | {rate} |"
        )
    print(f"\n{options.draws} draws, {time.perf_counter() - start:.0f} s")
    return int(any(row.false_discovery_rate >= LEVEL for row in rows))


if __name__ == "__main__":
    sys.exit(main())
