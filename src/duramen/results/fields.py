"""Checks of the fields of results: names that differ, frozen numbers, one row a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.text import quoted

FloatArray = NDArray[np.float64]
ANY, PROBABILITY = (-np.inf, np.inf), (0.0, 1.0)
"""Bounds of numbers."""


def checked_names(owner: str, what: str, names: Any) -> tuple[str, ...]:
    """Return `names` as a tuple of different strings.

    Parameters
    ----------
    owner, what : str
        The class and its field, for errors.
    names : iterable of str
        What was given.

    Raises
    ------
    TypeError
        If it is one string, or holds anything but strings.
    ValueError
        If a name comes twice.
    """
    if isinstance(names, str):
        raise TypeError(f"{owner}: {what} must be a sequence of strings, got {names!r} alone.")
    given = tuple(names)
    seen: set[str] = set()
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{owner}: {what} must be strings, got {quoted(name)}.")
        if name in seen:
            raise ValueError(f"{owner}: {what} must be different, {quoted(name)} comes twice.")
        seen.add(name)
    return given


def frozen(
    owner: str, what: str, given: ArrayLike, names: tuple[str, ...], *, dimensions: int = 1
) -> FloatArray:
    """Return a read-only copy of finite numbers, one row a name.

    Parameters
    ----------
    owner, what : str
        The class and its field, for errors.
    given : array-like of shape (p,) or (p, D)
        What was given.
    names : tuple of str
        Names of the p rows.
    dimensions : {1, 2}
        Whether a row is one number or several.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If the shape is another, or a number is not finite.
    """
    array = np.array(given, dtype=np.float64, order="C")
    p = len(names)
    if array.ndim != dimensions or array.shape[0] != p:
        wanted = f"({p},)" if dimensions == 1 else f"({p}, D)"
        raise ValueError(
            f"{owner}: {what} must have shape {wanted}, one row a name, got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{owner}: {what} must be finite, got NaN or infinity.")
    array.setflags(write=False)
    return array


def frozen_between(
    owner: str,
    what: str,
    given: ArrayLike,
    names: tuple[str, ...],
    *,
    low: float = 0.0,
    high: float = np.inf,
) -> FloatArray:
    """Return what `frozen` does for one number a name, all of them in [low, high].

    Raises
    ------
    ValueError
        If `frozen` does, or a number lies outside.
    """
    array = frozen(owner, what, given, names)
    outside = np.flatnonzero((array < low) | (array > high))
    if outside.size:
        allowed = f"at least {low:g}" if high == np.inf else f"in [{low:g}, {high:g}]"
        j = int(outside[0])
        raise ValueError(
            f"{owner}: {what} must be {allowed}, got {array[j]:g} for {quoted(names[j])}."
        )
    return array


def ranks(order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the place of each feature, from 1, in an order of all of them."""
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(1, order.size + 1)
    return rank
