"""Growth, exact importances and permutation tests timed against an earlier version.

``python -m benchmarks.speed.earlier --dir DIR --against SRC`` runs forests of
`benchmarks.speed.cases` with fewer trees, the walk over the lattice with each criterion, and
permutation tests of regression, in this version and in the one whose folder ``src`` is SRC, on one
thread.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import cases, pairs

FORESTS = {("2000 x 500", "RF", "all"): 10, ("50,000 x 50", "RF", "sqrt"): 10}
CRITERIA = {"entropy": 2, "gini": 2, "variance": 10}  # values of the target


def operations(inputs: Path, own: Path) -> dict[str, pairs.Operation]:
    """Return the timed operations: fits, importances of infinitely many trees, and tests."""
    import duramen as dm

    random = np.random.default_rng(0)
    by_name: dict[str, pairs.Operation] = {}
    for case in cases.CASES:
        n_trees = FORESTS.get((case.data, case.forest, case.candidates))
        if n_trees is not None:
            cases.load(case.data)
            by_name[case.name] = partial(cases.fit, "duramen", case, n_trees, 0)
    X = random.integers(0, 2, (500, 17))
    for criterion, values in CRITERIA.items():
        y = random.integers(0, values, 500)
        dist = dm.theory.FiniteDistribution.from_table(X, y)
        walk: Any = dm.theory.population_importances
        by_name[f"lattice, {criterion}"] = partial(walk, dist, criterion=criterion, n_jobs=1)
    rows, numbers = cases.load("300 x 30 regression")
    forest = dm.RandomForestRegressor(50, random_state=0, n_jobs=1)
    test = dm.significance.altmann
    for measure in ("mdi", "mda"):
        by_name[f"altmann, regression, {measure}"] = partial(
            test, forest, rows, numbers, measure=measure, n_permutations=20, random_state=0
        )
    return by_name


if __name__ == "__main__":
    sys.exit(pairs.run("benchmarks.speed.earlier", __doc__ or "", operations))
