"""Forests on a sparse matrix of counts: processor time and peak memory.

``python -m benchmarks.scale.sparse`` draws counts of cells by genes, 93 % of them zero, and grows
the same forests on the table as it was encoded (sparse), on the same without sparse columns
(dense), and with scikit-learn on the CSC matrix, at equal settings, on one thread, in turn. The
forests of duramen must be equal. The peak memory is that of a process that encodes the matrix and
grows the forests.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.measuring import peak as peak_memory
from benchmarks.measuring import timed

FORESTS = ("ExtraTreesClassifier", "RandomForestClassifier", "RandomForestRegressor")
MOST_OF_INPUT, MORE_BYTES = 1.5, 300e6  # the bar on memory


def counts(n_cells: int, n_genes: int, density: float) -> Any:
    """Draw counts, genes differing in how many cells express them, as a CSC matrix of float32."""
    random = np.random.default_rng(0)
    rates = random.gamma(0.6, density / 0.6, n_genes).clip(0.002, 0.9)
    rows = [np.flatnonzero(random.random(n_cells) < rate).astype(np.int32) for rate in rates]
    values = [(1 + random.poisson(1.5, len(some))).astype(np.float32) for some in rows]
    starts = np.cumsum([0, *map(len, rows)])
    return sparse.csc_matrix((np.concatenate(values), np.concatenate(rows), starts))


def target(X: Any, name: str) -> Any:
    """Return the sum of twenty weighted genes and noise; for classification, a class of it."""
    random = np.random.default_rng(1)
    number = X[:, :20] @ random.normal(size=20) + 0.3 * random.normal(size=X.shape[0])
    return number if name.endswith("Regressor") else (number > np.median(number)).astype(int)


def compare(X: Any, n_trees: int, rounds: int) -> None:
    """Print the times of a tree, medians over rounds."""
    import sklearn.ensemble

    import duramen as dm

    spent, table = timed(lambda: dm.encode(X), time.process_time)
    print(f"encoded in {spent:.2f} s: {table.nbytes() / 1e6:.0f} MB")
    tables = {"sparse": table, "dense": table.dense()}
    print(f"without sparse columns: {tables['dense'].nbytes() / 1e6:.0f} MB")
    print("processor ms a tree           sparse    dense  scikit-learn  ratios")
    for name in FORESTS:
        y = target(X, name)
        forest = getattr(dm, name)(n_trees, max_features="sqrt", random_state=0)
        peer = getattr(sklearn.ensemble, name)(n_trees, max_features="sqrt", random_state=0)
        taken: dict[str, list[float]] = {"sparse": [], "dense": [], "scikit-learn": []}
        for _ in range(rounds):
            fits = []
            for way, rows in tables.items():
                spent, fit = timed(partial(forest.fit, rows, y), time.process_time)
                taken[way].append(spent)
                fits.append(fit.forest_)
            if fits[0].threshold.tobytes() != fits[1].threshold.tobytes():
                raise AssertionError(f"{name}: sparse and dense forests differ")
            spent, _ = timed(partial(peer.fit, X, y), time.process_time)
            taken["scikit-learn"].append(spent)
        own, dense, other = (1000 * median(some) / n_trees for some in taken.values())
        times = f"{own:9.1f}{dense:9.1f}{other:14.1f}"
        print(f"{name:26}{times}  {dense / own:.1f}, {other / own:.1f}")


def peak(path: str, n_trees: int) -> None:
    """Print the peak memory of a process that reads the matrix and grows a forest on it."""
    import duramen as dm

    X = sparse.load_npz(path)
    table = dm.encode(X)
    for name in FORESTS[:2]:
        getattr(dm, name)(n_trees, random_state=0).fit(table, target(X, name))
    print(peak_memory())


def main() -> None:
    """Draw the matrix, compare the times, and measure the memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.sparse", description=__doc__)
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--genes", type=int, default=4000)
    parser.add_argument("--density", type=float, default=0.07)
    parser.add_argument("--trees", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak-of", help="measure this process on the matrix of a file")
    asked = parser.parse_args()
    if asked.peak_of:
        peak(asked.peak_of, asked.trees)
        return
    X = counts(asked.cells, asked.genes, asked.density)
    n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    print(f"{X.shape}, {X.nnz / asked.cells / asked.genes:.1%} entries, {n_bytes / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.npz"
        sparse.save_npz(path, X, compressed=False)
        words = [
            "-m",
            "benchmarks.scale.sparse",
            "--trees",
            str(asked.trees),
            "--peak-of",
            str(path),
        ]
        printed = subprocess.run(
            [sys.executable, *words], check=True, capture_output=True, text=True
        )
    most = MOST_OF_INPUT * n_bytes + MORE_BYTES
    print(f"peak memory {int(printed.stdout) / 1e6:.0f} MB, the bar is {most / 1e6:.0f} MB")
    compare(X, asked.trees, asked.rounds)


if __name__ == "__main__":
    main()
