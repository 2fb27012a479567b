"""Whatever runs on several threads, once on one and once on four: for the thread sanitizer.

``python -m tests.faults.threads`` is what ``make sanitize-threads`` runs. Results that differ are
an error of their own; races are reported by the sanitizer, which watches the kernel alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import duramen as dm
from duramen import pack

N_THREADS = 4
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(70, 12))
X[:, 3:6] = RANDOM.integers(0, 4, (70, 3))
LONG = np.repeat(X, 5, axis=0) + RANDOM.normal(size=(350, 12))
Y = (X[:, 0] + X[:, 3] > 1).astype(int)
CONTEXT = np.arange(70) % 2
RANDOM_TREES = dm.TotallyRandomizedTreesClassifier(12, splits="auto")


def _table(n_jobs: int) -> Any:
    wide = RANDOM_WIDE.copy()
    wide[::7, ::3] = np.nan
    return dm.encode(wide, n_jobs=n_jobs).fingerprint()


RANDOM_WIDE = RANDOM.normal(size=(60, 300))


def _grown(kind: str, **options: Any) -> Callable[[int], Any]:
    """Growth, out-of-bag estimates, leaves, predictions and proximities of a forest."""

    def run(n_jobs: int) -> Any:
        estimator = getattr(dm, kind)(12, random_state=0, n_jobs=n_jobs, **options)
        table = LONG if kind.startswith("ExtraTrees") else X
        y = table[:, 0] + table[:, 3] if kind.endswith("Regressor") else table[:, 0] > 0
        estimator.fit(table, y)
        return [
            *estimator.forest_.arrays().values(),
            estimator.apply(table),
            estimator.predict(table),
            estimator.proximity(table[:40]),
            getattr(estimator, "oob_error_curve_", np.zeros(1)),
            dm.importances.mdi(estimator, table, y, rows=None).values,
        ]

    return run


def _measured(measure: str, **options: Any) -> Callable[[int], Any]:
    """Permutation of the columns of a forest, tree by tree."""

    def run(n_jobs: int) -> Any:
        forest = dm.RandomForestClassifier(12, random_state=0).fit(X, Y)
        result = getattr(dm.importances, measure)(forest, X, Y, n_jobs=n_jobs, **options)
        return result.scores if measure == "vote_change" else result.values

    return run


def _context(n_jobs: int, **options: Any) -> Any:
    importances = dm.contexts.context_importances(
        X,
        Y,
        CONTEXT,
        estimator=RANDOM_TREES,
        n_permutations=20,
        random_state=0,
        n_jobs=n_jobs,
        **options,
    )
    return [importances.absolute, importances.absolute_p_values]


def _lattice(n_jobs: int) -> Any:
    codes = RANDOM_CODES[:, :7]
    dist = dm.theory.FiniteDistribution.from_table(codes, RANDOM_CODES[:, 7])
    return dm.theory.population_importances(dist, n_jobs=n_jobs).values


RANDOM_CODES = RANDOM.integers(0, 2, (60, 8))


def _packed(n_jobs: int) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return pack(RANDOM_WIDE, Path(folder) / "s", n_jobs=n_jobs).fingerprint()


def _refits(n_jobs: int) -> Any:
    """Forests that several threads of Python grow at the same time."""
    forest = dm.RandomForestClassifier(4, random_state=0)
    significance = dm.significance.altmann(
        forest, X, Y, n_permutations=6, random_state=0, n_jobs=n_jobs
    )
    return significance.p_values


COMPUTATIONS: dict[str, Callable[[int], Any]] = {
    "encoding": _table,
    "packing": _packed,
    "best cuts": _grown("RandomForestClassifier", oob_score=True),
    "best cuts of numbers": _grown("RandomForestRegressor", oob_score=True),
    "random cuts": _grown("ExtraTreesClassifier"),
    "random cuts of numbers": _grown("ExtraTreesRegressor"),
    "multiway splits": _grown("TotallyRandomizedTreesClassifier"),
    "few leaves": _grown("BaggedTreesClassifier", max_leaf_nodes=4, splits="any"),
    "permutation": _measured("mda"),
    "repeated permutation": _measured("mda", n_repeats=3, scoring="neg_log_loss", scaled=True),
    "permutation of groups": _measured("mda", feature_groups={"a": [0, 1], "b": [2, 3]}),
    "votes of the ensemble": _measured("mda", votes="ensemble"),
    "conditional permutation": _measured("conditional_mda"),
    "change of votes": _measured("vote_change"),
    "context": _context,
    "context permuted over all rows": lambda n_jobs: _context(n_jobs, permute="all"),
    "lattice": _lattice,
    "refits": _refits,
}


def equal(values: Any, other: Any) -> bool:
    """Tell whether two results, or lists of results, are equal to the last bit."""
    if isinstance(values, list):
        return all(equal(a, b) for a, b in zip(values, other, strict=True))
    return bool(
        np.array_equal(values, other, equal_nan=getattr(values, "dtype", None) == np.float64)
    )


def main() -> int:
    """Run the computations; 1 where the number of threads changes a result."""
    wrong = []
    for name, computation in COMPUTATIONS.items():
        began = time.monotonic()
        same = equal(computation(N_THREADS), computation(1))
        print(f"{name}: {'equal' if same else 'DIFFERENT'}, {time.monotonic() - began:.1f} s")
        wrong += [] if same else [name]
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
