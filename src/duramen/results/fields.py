"""Checks of the fields of results: different names, frozen numbers, notes; one row a feature."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.support.arrays import IntArray
from duramen.support.text import quoted
from duramen.support.warning import warn

ANY, PROBABILITY = (-np.inf, np.inf), (0.0, 1.0)
"""Bounds of numbers."""


def checked_names(owner: str, what: str, names: Any) -> tuple[str, ...]:
    """Return `names` as a tuple of different strings; `what` is the field of the class `owner`."""
    if isinstance(names, str):
        raise TypeError(f"{owner}: {what} must be a sequence of strings, got {names!r} alone.")
    given = tuple(names)
    seen: set[str] = set()
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{owner}: {what} must be strings, got {quoted(name)}.")
        if name in seen:
            raise ValueError(f"{owner}: {what} must be different, {quoted(name)} occurs twice.")
        seen.add(name)
    return given


def frozen(
    owner: str,
    what: str,
    given: ArrayLike,
    shape: tuple[int, ...],
    bounds: tuple[float, float] = ANY,
    *,
    names: tuple[str, ...] | None = None,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Return a read-only copy of finite numbers, a field `what` of the class `owner`.

    The shape has -1 for any length; `bounds` are the least and the greatest number allowed, and
    `names` those of the rows, for errors.
    """
    array = np.array(given, dtype=dtype, order="C")
    if array.ndim != len(shape) or any(
        wanted not in (-1, length) for wanted, length in zip(shape, array.shape, strict=True)
    ):
        wanted = str(shape).replace("-1", "D") + ("" if names is None else ", one row per name")
        raise ValueError(f"{owner}: {what} must have shape {wanted}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{owner}: {what} must be finite, got NaN or infinity.")
    low, high = bounds
    outside = (array < low) | (array > high)
    if outside.any():
        allowed = f"at least {low:g}" if high == np.inf else f"in [{low:g}, {high:g}]"
        place = tuple(np.argwhere(outside)[0])
        row = "" if names is None else f" for {quoted(names[place[0]])}"
        raise ValueError(f"{owner}: {what} must be {allowed}, got {array[place]:g}{row}.")
    array.setflags(write=False)
    return array


def ranks(order: NDArray[np.intp]) -> IntArray:
    """Return the place of each feature, from 1, in an order of all of them."""
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(1, order.size + 1)
    return rank


_WIDTH = 100


def checked_notes(owner: str, notes: Any) -> tuple[str, ...]:
    """Return notes of a result of the class `owner` as a tuple of sentences, each one once."""
    if isinstance(notes, str):
        raise TypeError(f"{owner}: notes must be a sequence of strings, got {notes!r} alone.")
    given = tuple(notes)
    for note in given:
        if not isinstance(note, str):
            raise TypeError(f"{owner}: notes must be strings, got {note!r}.")
        if not note.strip():
            raise ValueError(f"{owner}: notes must not be empty, got {note!r}.")
    return tuple(dict.fromkeys(given))


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return the lines with which a result prints its notes."""
    return [
        line
        for note in notes
        for line in textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="  ")
    ]


def warn_of(function: str, notes: Iterable[str]) -> None:
    """Emit each note as a warning of a public function."""
    for note in notes:
        warn(f"{function}: {note}")
