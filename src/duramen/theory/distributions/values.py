"""Values of categorical variables: missing ones, their order, and their codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.masked import array_of

Codes = NDArray[np.uint32]

_EXACT = 2.0**53  # float64 holds every whole number up to here


def factorize(column: Any, what: str, function: str) -> tuple[Codes, NDArray[Any]]:
    """Return the codes and the sorted labels of one column, a missing value last.

    Parameters
    ----------
    column : one-dimensional array, list or series, shape (n,)
        Numbers, truth values, dates, strings or other hashable values. NaN, None and NaT are
        missing.
    what, function : str
        The column and the function that the user called, for errors.

    Returns
    -------
    codes : ndarray of uint32, shape (n,)
    labels : ndarray, shape (number of distinct values,)
        Truth values, int64, uint64, float64, dates, or an array of objects; missing is NaN, NaT or
        None.
    """
    values = _one_dimensional(column, what, function)
    kind = values.dtype.kind
    if kind in "cVS":
        raise TypeError(
            f"{function}: {what} is of type {values.dtype}; its values must be numbers, strings, "
            "truth values or dates."
        )
    if kind == "O":
        return _of_objects(values, what, function)
    if kind == "f":
        values = values.astype(np.float64, copy=False)
    elif kind in "iu" and values.dtype != np.uint64:
        values = values.astype(np.int64, copy=False)
    labels, codes = np.unique(values, return_inverse=True)
    if kind in "UT":
        labels = objects(str(label) for label in labels)
    return codes.astype(np.uint32), labels


def _one_dimensional(column: Any, what: str, function: str) -> NDArray[Any]:
    try:
        values = array_of(column)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(
            f"{function}: {what} cannot become an array ({type(error).__name__}: {error})."
        ) from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{function}: {what} must have one value a row, got an array of shape {values.shape}."
        )
    return values


def _of_objects(values: NDArray[Any], what: str, function: str) -> tuple[Codes, NDArray[Any]]:
    given = [None if is_missing(value) else value for value in values.tolist()]
    try:
        distinct = set(given)
    except TypeError as error:
        raise TypeError(
            f"{function}: {what} holds values that cannot be categories ({error}); its values must "
            "be numbers, strings, truth values or dates."
        ) from None
    has_missing = None in distinct
    distinct.discard(None)
    ordered = in_order(distinct)
    code = {value: number for number, value in enumerate(ordered)}
    code[None] = len(ordered)
    codes = np.fromiter((code[value] for value in given), dtype=np.uint32, count=len(given))
    labels = labels_of(ordered)
    return codes, with_missing(labels) if has_missing else labels


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and bool(value != value)


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """Return a one-dimensional array of objects, whatever the values are."""
    given = list(values)
    array = np.empty(len(given), dtype=object)
    for place, value in enumerate(given):  # all at once would take tuples for rows
        array[place] = value
    return array


def without_gaps(column: Codes, labels: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Drop the labels that no row has, and renumber the codes."""
    used = np.zeros(len(labels), dtype=bool)
    used[column] = True
    if used.all():
        return column, labels
    number = (np.cumsum(used) - 1).astype(np.uint32)
    return number[column], labels[used]


def with_missing(labels: NDArray[Any]) -> NDArray[Any]:
    """Append the missing value that suits the type of the labels."""
    exact = labels.dtype.kind in "iu" and bool(np.all(np.abs(labels) <= _EXACT))
    if exact or labels.dtype.kind == "f":
        return np.append(labels.astype(np.float64), np.nan)
    if labels.dtype.kind in "mM":
        return np.append(labels, np.array(["NaT"], dtype=labels.dtype))
    return objects([*labels.tolist(), None])


def in_order(distinct: Iterable[Any]) -> list[Any]:
    """Sort values; those of several types by the name of the type first."""
    values = list(distinct)
    try:
        return sorted(values)
    except TypeError:
        pass
    try:
        return sorted(values, key=lambda value: (type(value).__name__, value))
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def labels_of(values: list[Any]) -> NDArray[Any]:
    """Return values in an array of their own type where all are numbers or truth values."""
    if values and all(isinstance(value, (bool, np.bool_)) for value in values):
        return np.array(values, dtype=bool)
    numbers = (int, float, np.integer, np.floating)
    if values and all(
        isinstance(value, numbers) and not isinstance(value, bool) for value in values
    ):
        whole = all(isinstance(value, (int, np.integer)) for value in values)
        kind = np.int64 if whole else np.float64
        try:
            return np.array(values, dtype=kind)
        except OverflowError:
            return objects(values)
    return objects(values)
