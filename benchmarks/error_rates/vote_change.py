"""Error rate of the change of votes for irrelevant features, by the number of trees.

``python -m benchmarks.error_rates.vote_change`` grows random forests on independent normal columns
and labels assigned at random, and prints in what fraction of the data sets any feature has a
q-value of at most .05 by J_chi2, with the splits that a column has on average.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.jobs.replicates import Plan, run_replicates

LEVEL = 0.05
CASES = [  # rows, features, rows of the larger class
    (60, 30, 50),
    (60, 30, 30),
    (200, 20, 100),
    (200, 100, 100),
    (100, 1000, 50),
]
TREES = (200, 1000, 5000)


def task_of(n: int, p: int, larger: int, trees: int) -> Callable[[int, int], NDArray[Any]]:
    """Return a task: is any feature selected, and the mean number of splits on a column."""

    def task(_: int, seed: int) -> NDArray[Any]:
        random = np.random.default_rng(seed)
        X, y = dm.encode(random.normal(size=(n, p))), random.permutation(np.arange(n) < larger)
        forest = dm.RandomForestClassifier(
            trees, criterion="entropy", random_state=seed % 2**32, n_jobs=1
        ).fit(X, y)
        q_values = dm.importances.vote_change(forest, X, y, n_jobs=1).q_values
        return np.array([(q_values <= LEVEL).any(), (forest.forest_.feature >= 0).sum() / p])

    return task


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.error_rates.vote_change", description=__doc__)
    parser.add_argument("--data-sets", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| rows x features, classes | " + " | ".join(f"{t:,} trees" for t in TREES) + " |")
    print("| --- |" + " --- |" * len(TREES))
    for n, p, larger in CASES:
        cells = []
        for trees in TREES:
            result = run_replicates(
                task_of(n, p, larger, trees),
                options.data_sets,
                2,
                seed=0,
                identity={},
                plan=Plan(),
                function="vote_change",
            )
            some, splits = result.mean(axis=0)
            cells.append(f"{some:.2f} ({splits:,.0f})")
        print(f"| {n} x {p}, {larger}:{n - larger} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
