"""Small inputs of the cases, the same on every machine and with every version of a library."""

from __future__ import annotations

import os
from functools import cache
from random import Random
from typing import Any

import numpy as np

import duramen as dm

N, P = 48, 5


def jobs() -> int:
    """Return the number of threads that cases ask for; no result may depend on it."""
    return int(os.environ.get("DURAMEN_CONTRACT_JOBS", "1"))


def uniform(n: int, p: int, seed: int = 0) -> np.ndarray:
    """Return numbers between 0 and 1 with two decimals, so that there are ties."""
    draw = Random(seed).random  # its stream is the same in all versions of Python
    return np.array([[int(100 * draw()) / 100 for _ in range(p)] for _ in range(n)])


def features() -> np.ndarray:
    """Five numeric columns: three that matter, two of noise."""
    return uniform(N, P)


def missing() -> np.ndarray:
    """The features, one value in twelve missing."""
    X = features().copy()
    X.ravel()[::12] = np.nan
    return X


def classes() -> np.ndarray:
    """Three classes that depend on the first three features."""
    X = features()
    score = X[:, 0] + (X[:, 1] > 0.5) * X[:, 2]
    return np.array(["low", "mid", "top"])[(score > 0.5).astype(int) + (score > 0.95)]


def binary() -> np.ndarray:
    """Two classes, as truth values, that depend on the first three features."""
    return classes() == "top"


def numbers() -> np.ndarray:
    """A numeric target that depends on the first three features."""
    X = features()
    return 2 * X[:, 0] + np.where(X[:, 1] > 0.5, X[:, 2], -X[:, 2]) + uniform(N, 1, seed=9)[:, 0]


def target(task: str) -> np.ndarray:
    """The target of a task."""
    return numbers() if task == "regression" else classes()


def weights() -> np.ndarray:
    """Weights of the rows, some of them 0."""
    return np.arange(N) % 4 * 0.5


def strata() -> np.ndarray:
    """Three strata of rows."""
    return np.arange(N) % 3


def groups() -> np.ndarray:
    """Groups of two rows."""
    return np.arange(N) // 2


@cache
def mixed() -> Any:
    """A data frame of numeric, nominal and truth columns, with missing values."""
    import pandas as pd

    draw = uniform(N, 5, seed=3)
    color = np.array(["red", "green", "blue", "black"], dtype=object)[(draw[:, 1] * 4).astype(int)]
    color[5] = None
    size = draw[:, 0].copy()
    size[7] = np.nan
    return pd.DataFrame(
        {
            "size": size,
            "color": color,
            "count": (draw[:, 2] * 6).astype(int),
            "flag": draw[:, 3] > 0.4,
            "noise": draw[:, 4],
        }
    )


@cache
def mixed_target() -> np.ndarray:
    """Two classes that depend on the size and the color of the data frame."""
    frame = mixed()
    return np.where((frame["size"].fillna(0) > 0.4) ^ (frame["color"] == "red"), "yes", "no")


NAMES = ("a", "b", "c", "d", "e")


def table() -> Any:
    """The features, encoded, with names."""
    return dm.encode(features(), names=NAMES)


@cache
def forest(task: str = "classification", **changes: Any) -> Any:
    """A fitted random forest of six trees on the features."""
    return estimator(task, **changes).fit(table(), target(task))


def estimator(task: str = "classification", **changes: Any) -> Any:
    """A random forest of six trees."""
    kind = dm.RandomForestRegressor if task == "regression" else dm.RandomForestClassifier
    options = {"max_depth": 4, "random_state": 1, "n_jobs": jobs(), "max_features": 2, **changes}
    return kind(6, **options)
