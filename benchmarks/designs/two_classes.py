"""Problems of two classes with features that matter together only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.support.arrays import FloatArray

Problem = tuple[FloatArray, NDArray[Any], NDArray[np.bool_]]
"""Features, classes, and which features are relevant."""


def xor(random: np.random.Generator, n: int, p: int) -> Problem:
    """The exclusive or of the first two of p bits."""
    X = random.integers(0, 2, (n, p)).astype(np.float64)
    return X, (X[:, 0] != X[:, 1]).astype(int), np.arange(p) < 2


def madelon(random: np.random.Generator | int, n: int, n_probes: int) -> Problem:
    """A rule of five dimensions as in Madelon, with five linear combinations of them."""
    data = dm.datasets.madelon_like(
        n, n_redundant=5, n_repeated=0, n_probes=n_probes, random_state=random
    )
    relevant = np.isin(np.array(data.names), data.relevant)
    return np.asarray(data.X, dtype=np.float64), data.y, relevant
