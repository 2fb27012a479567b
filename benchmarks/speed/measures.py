"""The importance measures: whole runs, growth included, against other packages.

``python -m benchmarks.speed.measures`` prints each measurement with its bar; exit status 1 where
one is missed. scikit-learn's ``permutation_importance`` is timed here, in interleaved pairs and on
a few of the columns, its time scaled up to all; ranger's and party's times are those that were
measured once on such a machine (two processors), for lack of R on most.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import median_seconds
from benchmarks.speed import cases
from benchmarks.speed.bars import Bar, run

# Seconds on two processors, measured once.
RANGER_LEUKEMIA = 1.3  # 72 x 7129, 500 trees, permutation importance
RANGER_FOREST = 9.0  # 500 x 120, 10,000 trees, permutation importance
PARTY_CONDITIONAL = 105.0  # 300 x 30, 500 trees, conditional permutation importance

THREADS = 2
_PEER_COLUMNS = 20


def leukemia_mda(random_state: int = 0) -> NDArray[np.float64]:
    import duramen as dm

    X, y = cases.load("72 x 7129")
    table = dm.encode(X, n_jobs=THREADS)
    forest = dm.RandomForestClassifier(500, random_state=random_state, n_jobs=THREADS).fit(table, y)
    return dm.importances.mda(forest, table, y, n_jobs=THREADS).values


def against_scikit_learn() -> float:
    """Return the ratio of the times of scikit-learn and duramen, as medians of pairs."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.inspection import permutation_importance

    X, y = cases.load("72 x 7129")
    ratios = []
    leukemia_mda()
    for seed in range(3):
        start = time.perf_counter()
        forest = RandomForestClassifier(500, random_state=seed, n_jobs=THREADS).fit(X, y)
        grown = time.perf_counter()
        few = _FewColumns(forest, X)
        permutation_importance(few, X[:, :_PEER_COLUMNS], y, n_repeats=1, random_state=seed)
        measured = time.perf_counter()
        peer = grown - start + (measured - grown) * X.shape[1] / _PEER_COLUMNS
        start = time.perf_counter()
        leukemia_mda(seed)
        ratios.append(peer / (time.perf_counter() - start))
    return statistics.median(ratios)


class _FewColumns:
    """A fitted predictor whose first columns alone are permuted."""

    def __init__(self, model: Any, X: NDArray[np.float64]) -> None:
        self.model = model
        self.X = X.copy()

    def fit(self) -> None:
        """Look like an estimator."""

    def score(self, X: NDArray[np.float64], y: NDArray[Any]) -> float:
        self.X[:, : X.shape[1]] = X
        return float(self.model.score(self.X, y))


def vote_change() -> NDArray[np.float64]:
    import duramen as dm

    X, y = cases.load("500 x 120")
    table = dm.encode(X, n_jobs=THREADS)
    forest = dm.RandomForestClassifier(10_000, random_state=0, n_jobs=THREADS).fit(table, y)
    return dm.importances.vote_change(forest, table, y, n_jobs=THREADS).scores


def conditional() -> NDArray[np.float64]:
    import duramen as dm

    X, y = cases.load("300 x 30 regression")
    table = dm.encode(X, n_jobs=THREADS)
    forest = dm.RandomForestRegressor(500, random_state=0, n_jobs=THREADS).fit(table, y)
    return dm.importances.conditional_mda(forest, table, y, n_jobs=THREADS).values


def kernel_per_thousand_trees() -> float:
    """Seconds of the walk for 1000 of 10,000 trees on 72 x 7129, one thread."""
    import duramen as dm

    X, y = cases.load("72 x 7129")
    table = dm.encode(X)
    forest = dm.RandomForestClassifier(10_000, random_state=0, n_jobs=THREADS).fit(table, y)
    return median_seconds(lambda: dm.importances.mda(forest, table, y, n_jobs=1)) / 10


def sobol_mda() -> float:
    """Processor seconds of Sobol-MDA of 1000 x 200 and 500 trees, growth included, one thread."""
    import duramen as dm

    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 200))
    data = dm.learning_set(X, X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=1000))

    def whole() -> Any:
        forest = dm.RandomForestRegressor(500, max_features=1 / 3, random_state=0, n_jobs=1)
        return dm.importances.sobol_mda(forest.fit(data), data, n_jobs=1)

    return median_seconds(whole, rounds=3, clock=time.process_time)


def ratio(reference: float, call: Callable[[], Any]) -> Callable[[], float]:
    return lambda: reference / median_seconds(call)


BARS = [
    Bar(
        "MDA, 72 x 7129, 500 trees, against permutation_importance",
        against_scikit_learn,
        500,
        "x",
        True,
    ),
    Bar("the same against ranger", ratio(RANGER_LEUKEMIA, leukemia_mda), 5, "x", True),
    Bar("J_chi2, 500 x 120, 10,000 trees, ranger", ratio(RANGER_FOREST, vote_change), 4, "x", True),
    Bar(
        "conditional, 300 x 30, 500 trees, party",
        ratio(PARTY_CONDITIONAL, conditional),
        50,
        "x",
        True,
    ),
    Bar("Sobol-MDA, 1000 x 200, 500 trees, one thread, processor", sobol_mda, 5.0),
    Bar("MDA of 1000 trees on 72 x 7129, one thread", kernel_per_thousand_trees, 1.0),
]


if __name__ == "__main__":
    sys.exit(run(BARS))
