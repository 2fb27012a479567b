"""Tables of features that say nothing, and labels to be said nothing of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

SHAPES = [(100, 1000), (500, 120), (72, 2000)]
KINDS = 4  # of the mixed columns, in turn


def pure(n: int, p: int, random: np.random.Generator) -> Float:
    """Independent normal columns."""
    return random.normal(size=(n, p))


def correlated(n: int, p: int, random: np.random.Generator) -> Float:
    """Blocks of ten columns with correlation .9."""
    shared = np.repeat(random.normal(size=(n, -(-p // 10))), 10, axis=1)[:, :p]
    return np.sqrt(0.9) * shared + np.sqrt(0.1) * random.normal(size=(n, p))


def mixed(n: int, p: int, random: np.random.Generator) -> Float:
    """Columns of 2, 4, 20 and as many values as rows, in turn."""
    X = random.normal(size=(n, p))
    for first, n_values in enumerate((2, 4, 20)):
        X[:, first::KINDS] = random.integers(0, n_values, X[:, first::KINDS].shape)
    return X


NULLS: dict[str, Callable[[int, int, np.random.Generator], Float]] = {
    "pure noise": pure,
    "correlated noise": correlated,
    "mixed cardinality": mixed,
}


def data_set(null: str, shape: tuple[int, int], seed: int) -> tuple[Float, NDArray[Any]]:
    """A table of one of the nulls, and two classes of equal size dealt out at random."""
    random = np.random.default_rng(seed)
    return NULLS[null](*shape, random), random.permutation(np.arange(shape[0]) % 2)
