"""Survival forests beside scikit-survival's, at equal settings, in interleaved pairs.

``python -m benchmarks.speed.survival`` needs scikit-survival (dependency group ``bench``), which
brings the data sets: Veterans' lung cancer (Kalbfleisch and Prentice 1980), Worcester heart attacks
(Hosmer, Lemeshow and May 2008) and breast cancer of the German study group (Schumacher et al.
1994). It prints the concordance out of bag, the mean of some seeds, and in three repetitions of
five-fold cross-validation, and processor times. Exit status 1 where a bar is missed: concordances
within .01 of each other, a fifth of the time at most.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import timed

TREES = 500
REPETITIONS = 3
FOLDS = 5
ROUNDS = 3
SETTINGS = {"min_samples_split": 6, "min_samples_leaf": 3, "max_features": "sqrt"}
CLOSE, FASTER = 0.01, 5.0

Data = tuple[NDArray[np.float64], NDArray[Any]]


def data_sets() -> dict[str, Data]:
    """Load the data; categories as 0 and 1 columns, as scikit-survival needs them."""
    from sksurv import datasets
    from sksurv.preprocessing import OneHotEncoder

    loaders = {
        "veterans' lung cancer": datasets.load_veterans_lung_cancer,
        "heart attacks (whas500)": datasets.load_whas500,
        "breast cancer (gbsg2)": datasets.load_gbsg2,
    }
    sets = {}
    for name, load in loaders.items():
        X, y = load()
        sets[name] = np.ascontiguousarray(OneHotEncoder().fit_transform(X), dtype=np.float64), y
    return sets


def own(seed: int, **more: Any) -> Any:
    """Make a forest of duramen that counts constant features as candidates, as the peer does."""
    import duramen as dm

    same = {**SETTINGS, "count_constant_features": True, **more}
    return dm.RandomSurvivalForest(TREES, random_state=seed, n_jobs=1, **same)


def peer(seed: int, **more: Any) -> Any:
    """Make a forest of scikit-survival."""
    from sksurv.ensemble import RandomSurvivalForest

    return RandomSurvivalForest(TREES, random_state=seed, n_jobs=1, **SETTINGS, **more)


def concordances(make: Any, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the concordance in every fold of every repetition; all models share the folds."""
    from sklearn.model_selection import StratifiedKFold

    events = y[y.dtype.names[0]]
    results = []
    for repetition in range(REPETITIONS):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repetition)
        for train, test in folds.split(X, events):
            results.append(make(repetition).fit(X[train], y[train]).score(X[test], y[test]))
    return np.array(results)


def seconds(make: Any, X: NDArray[np.float64], y: NDArray[Any], seed: int) -> float:
    """Return the processor time of one fit."""
    return timed(lambda: make(seed).fit(X, y), time.process_time)[0]


def compare(name: str, X: NDArray[np.float64], y: NDArray[Any]) -> bool:
    """Compare the forests on a data set; print a row and return whether the bars hold."""
    ours, theirs = concordances(own, X, y), concordances(peer, X, y)
    error = np.std(ours - theirs, ddof=1) / np.sqrt(len(ours))
    pairs = [(seconds(own, X, y, k), seconds(peer, X, y, k)) for k in range(ROUNDS)]
    ratio = statistics.median(b / a for a, b in pairs)
    tree, tree_of_peer = (
        1000 * statistics.median(seconds) / TREES for seconds in zip(*pairs, strict=True)
    )
    bags = [
        statistics.mean(make(k, oob_score=True).fit(X, y).oob_score_ for k in range(ROUNDS))
        for make in (own, peer)
    ]
    print(
        f"{name}: {X.shape[0]} x {X.shape[1]}\n"
        f"  concordance, cross-validated  {ours.mean():.4f}, scikit-survival {theirs.mean():.4f}, "
        f"difference {ours.mean() - theirs.mean():+.4f} (standard error {error:.4f})\n"
        f"  concordance, out of bag       {bags[0]:.4f}, scikit-survival {bags[1]:.4f}\n"
        f"  milliseconds a tree           {tree:.3f}, scikit-survival {tree_of_peer:.3f}, "
        f"{ratio:.0f} times as fast",
        flush=True,
    )
    close = abs(ours.mean() - theirs.mean()) <= CLOSE and abs(bags[0] - bags[1]) <= CLOSE
    return close and ratio >= FASTER


if __name__ == "__main__":
    held = [compare(name, X, y) for name, (X, y) in data_sets().items()]
    sys.exit(0 if all(held) else 1)
