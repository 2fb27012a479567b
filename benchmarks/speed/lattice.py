"""Exact importances: the bars of the walk over the lattice of subsets, and the ratio to dit.

``python -m benchmarks.speed.lattice`` prints each measurement with its bar, on two threads; exit
status 1 where one is missed. Tables are drawn at random, features and classes independent: nothing
to prune but cells that end up with one class by chance. dit (``pip install dit``) is measured where
it is installed: it is asked for the conditional mutual information of each term.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.bars import Bar, run
from duramen.theory import FiniteDistribution, population_importances

Table = tuple[NDArray[Any], NDArray[Any]]


def drawn(n: int, p: int, n_values: int, n_classes: int, ones: float | None = None) -> Table:
    """Return n rows of p independent columns; binary ones can have rare ones."""
    random = np.random.default_rng(0)
    X = random.integers(0, n_values, (n, p))
    if ones is not None:
        X = (random.random((n, p)) < ones).astype(np.int64)
    return X, random.integers(0, n_classes, n)


def primary_tumor() -> Table:
    import duramen as dm

    tumor = dm.datasets.load_primary_tumor()
    X = tumor.X.drop_columns("sex").to_pandas()
    complete = X.notna().all(axis=1).to_numpy()
    return X[complete], tumor.y[complete]


def seconds(
    table: Callable[[], Table], *, weighted: bool = False, n_jobs: int = 2, **options: Any
) -> Callable[[], float]:
    """Return a function that times the importances with the preceding estimate."""

    def measure() -> float:
        X, y = table()
        weights = np.random.default_rng(1).uniform(0.5, 1.0, len(y)) if weighted else None
        dist = FiniteDistribution.from_table(X, y, weights=weights)
        start = time.perf_counter()
        population_importances(dist, n_jobs=n_jobs, **options)
        return time.perf_counter() - start

    return measure


def random_table(*shape: Any) -> Callable[[], Table]:
    return lambda: drawn(*shape)


def importances_by_dit(X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sum over sets, each term asked of dit."""
    import dit

    p = X.shape[1]
    outcomes = [(*map(str, x), str(label)) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    counts = {outcome: outcomes.count(outcome) / len(outcomes) for outcome in set(outcomes)}
    joint = dit.Distribution(list(counts), list(counts.values()))
    values = np.zeros(p)
    for m in range(p):
        others = [j for j in range(p) if j != m]
        for k in range(p):
            for B in itertools.combinations(others, k):
                information = dit.multivariate.coinformation(joint, [[m], [p]], list(B))
                values[m] += information / math.comb(p, k) / (p - k)
    return values


def ratio_to_dit(p: int) -> Callable[[], float]:
    """Return a function that times both programs on one thread, and checks their agreement."""

    def measure() -> float:
        X, y = drawn(132, p, 2, 2)
        start = time.perf_counter()
        theirs = importances_by_dit(X, y)
        middle = time.perf_counter()
        mine = population_importances(FiniteDistribution.from_table(X, y))
        end = time.perf_counter()
        np.testing.assert_allclose(mine.values, theirs, rtol=0, atol=1e-10)
        return (middle - start) / (end - middle)

    return measure


BARS = [
    Bar("primary tumor, 132 rows, p = 16", seconds(primary_tumor), 1.0),
    Bar("p = 20, 500 rows of bits", seconds(random_table(500, 20, 2, 2)), 4.0),
    Bar("p = 20, 500 rows of bits, 10 classes", seconds(random_table(500, 20, 2, 10)), 4.0),
    Bar("p = 20, 500 rows of three values", seconds(random_table(500, 20, 3, 2)), 4.0),
    Bar("p = 20, 500 weighted rows", seconds(random_table(500, 20, 2, 2), weighted=True), 4.0),
    Bar(
        "p = 20, 500 rows of bits, gini",
        seconds(random_table(500, 20, 2, 2), criterion="gini"),
        4.0,
    ),
    Bar(
        "p = 20, 500 rows of bits, variance of 10 values",
        seconds(random_table(500, 20, 2, 10), criterion="variance"),
        4.0,
    ),
    Bar("p = 24, 132 rows of bits", seconds(random_table(132, 24, 2, 2)), 25.0),
    Bar("p = 24, 132 rows of bits, 21 classes", seconds(random_table(132, 24, 2, 21)), 25.0),
    Bar("p = 24, 132 rows, a tenth ones", seconds(random_table(132, 24, 2, 2, 0.1)), 25.0),
    Bar(
        "p = 100, depth 4, 500 rows of bits",
        seconds(random_table(500, 100, 2, 2), max_depth=4),
        30.0,
    ),
    Bar(
        "p = 100, depth 4, 500 rows of three values, 10 classes",
        seconds(random_table(500, 100, 3, 10), max_depth=4),
        30.0,
    ),
    Bar("p = 40, 132 rows of bits", seconds(random_table(132, 40, 2, 2)), None),
    Bar("p = 30, 500 rows of bits", seconds(random_table(500, 30, 2, 2)), None),
]
if importlib.util.find_spec("dit"):
    BARS.append(Bar("dit against this, p = 10, 132 rows, one thread", ratio_to_dit(10), None, "x"))


if __name__ == "__main__":
    sys.exit(run(BARS))
