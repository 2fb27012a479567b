"""Rows drawn from a distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import Codes, objects
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.partition import IndexArray


class Sample(NamedTuple):
    """Rows drawn from a distribution.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Values of the features; an array of objects where their types differ.
    y : ndarray, shape (n,)
        Values of the target.
    context : ndarray of shape (n,) or None
        Values of the context, where there is one.

    Examples
    --------
    >>> import duramen as dm
    >>> drawn = dm.theory.examples.xor().sample(100, seed=0)
    >>> drawn.X.shape, bool(((drawn.X[:, 0] ^ drawn.X[:, 1]) == drawn.y).all())
    ((100, 2), True)
    """

    X: NDArray[Any]
    y: NDArray[Any]
    context: NDArray[Any] | None


def draw(weights: FloatArray, n: int, seed: int | np.random.Generator, function: str) -> IndexArray:
    """Draw `n` row numbers independently, each row with its probability."""
    if n < 0:
        raise ValueError(f"{function}: n must be at least 0, got {n}.")
    upper = np.cumsum(weights)
    # Dividing by the last one keeps a draw just below 1 inside the table.
    uniform = np.random.default_rng(seed).random(n)
    rows = np.searchsorted(upper / upper[-1], uniform, side="right")
    return np.asarray(rows, dtype=np.int64)


def table_of(labels: Sequence[NDArray[Any]], codes: Codes) -> NDArray[Any]:
    """Return the values that codes stand for, shape (n, p).

    Columns of numbers, or of truth values, make an array of that type; others an array of
    objects, with Python's own numbers, strings and dates.
    """
    kinds = {own.dtype.kind for own in labels}
    alike = bool(kinds) and (kinds <= set("iuf") or kinds == {"b"})
    dtype = np.result_type(*labels) if alike else np.dtype(object)
    table: NDArray[Any] = np.empty(codes.shape, dtype=dtype)
    for j, own in enumerate(labels):
        values = own if alike else objects(own.tolist())
        table[:, j] = values[codes[:, j]]
    return table
