"""Tables of which every distinct value is a category, of any type that can be sorted or named.

Where `duramen.encode` refuses dates and mixed types, as no tree could split on them, they are
categories here: for distributions, and for the contexts of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.learning_sets import LearningSet
from duramen.data.schema import check_names, default_names
from duramen.data.sources import open_source, refuse_merged
from duramen.support.arrays import FloatArray, array_of, is_missing

Codes = NDArray[np.uint32]

_EXACT = 2.0**53  # float64 holds every whole number up to here


@dataclass(frozen=True)
class CodedColumns:
    """Columns of a table as codes, and the values that the codes stand for."""

    names: tuple[str, ...]
    codes: list[Codes]  # p arrays of shape (n,)
    labels: list[NDArray[Any]]  # ``labels[j][code]`` is the value, missing last
    n_rows: int
    metadata: Mapping[str, Any] = field(default_factory=dict)  # how the table was made
    kinds: tuple[str, ...] | None = None  # of the columns of an encoded table


def table_and_target(X: Any, y: Any, weights: Any = None) -> tuple[Any, Any, Any]:
    """Return table, target and weights of a learning set, or the arguments."""
    if y is None and isinstance(X, LearningSet):
        return X.table, X.y, X.weights if weights is None else weights
    return X, y, weights


def coded_columns(X: Any, names: Iterable[str] | None, function: str) -> CodedColumns:
    """Encode the columns of a table, each value a category.

    Anything with ``codes(j)``, ``values(j)``, ``names`` and ``n_rows``, as an encoded table has
    them, is taken as it is. Names are those given, or the table's own, or ``x0``, ``x1``, ...
    """
    coded: list[tuple[Codes, NDArray[Any]]] = []
    if callable(getattr(X, "codes", None)) and callable(getattr(X, "values", None)):
        given, n_rows = tuple(X.names), int(X.n_rows)
        metadata, kinds = dict(getattr(X, "metadata", {})), getattr(X, "kinds", None)
        for j in range(len(given)):
            column, values = np.asarray(X.codes(j)).astype(np.uint32), np.asarray(X.values(j))
            missing = np.any(column == len(values))
            coded.append(without_gaps(column, with_missing(values) if missing else values))
    else:
        source = open_source(X, function)
        given, n_rows = source.names or default_names(source.n_columns), source.n_rows
        metadata, kinds = {}, None
        for j, name in enumerate(given):
            coded.append(factorize(source.values(j), f"column {name!r} of X", function))
    names = given if names is None else check_names(names, len(given), function)
    codes, labels = [codes for codes, _ in coded], [labels for _, labels in coded]
    return CodedColumns(names, codes, labels, n_rows, metadata, kinds)


def coded_variable(
    values: Any, what: str, n_rows: int, function: str
) -> tuple[NDArray[Any], Codes]:
    """Return the values and the codes of a target or context without missing values."""
    codes, labels = factorize(values, what, function)
    if len(codes) != n_rows:
        raise ValueError(
            f"{function}: {what} must have one value per row of X, got {len(codes)} values for "
            f"{n_rows} rows."
        )
    if is_missing(labels[-1]):
        row = int(np.argmax(codes == len(labels) - 1))
        raise ValueError(
            f"{function}: {what} is missing at row {row}; only features may be missing. Hint: "
            "leave such rows out, or give them a value of their own."
        )
    return labels, codes


def variable_name(values: Any, otherwise: Sequence[str], taken: Sequence[str]) -> str:
    """Return the name of a series, or the first alternative that is not taken."""
    name = getattr(values, "name", None)
    candidates = [*([name] if isinstance(name, str) and name else []), *otherwise]
    free = [name for name in candidates if name not in taken]
    return free[0] if free else variable_name(None, [f"{otherwise[0]}'"], taken)


def factorize(column: Any, what: str, function: str) -> tuple[Codes, NDArray[Any]]:
    """Return the codes and the sorted labels of one column, a missing value last.

    The column holds numbers, truth values, dates, strings or other hashable values; NaN, None and
    NaT are missing. Labels are truth values, int64, uint64, float64, dates, or objects; the missing
    one is NaN, NaT or None.
    """
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
            f"{function}: {what} must have one value per row, got an array of shape {values.shape}."
        )
    kind = values.dtype.kind
    if kind in "cVS":
        raise TypeError(
            f"{function}: {what} is of type {values.dtype}; its values must be numbers, strings, "
            "truth values or dates."
        )
    if kind == "O":
        entries = [None if is_missing(value) else value for value in values.tolist()]
        try:
            distinct = set(entries)
        except TypeError as error:
            raise TypeError(
                f"{function}: {what} holds values that cannot be categories ({error}); its values "
                "must be numbers, strings, truth values or dates."
            ) from None
        ordered = in_order(distinct - {None})
        code = {value: number for number, value in enumerate([*ordered, None])}
        codes = np.fromiter((code[value] for value in entries), np.uint32, len(entries))
        labels = labels_of(ordered)
        return codes, with_missing(labels) if None in distinct else labels
    if kind == "f":
        values = float_labels(values, what, function)
    elif kind in "iu" and values.dtype != np.uint64:
        values = values.astype(np.int64, copy=False)
    labels, ranks = np.unique(values, return_inverse=True)
    if kind in "UT":
        labels = objects(str(label) for label in labels)
    return ranks.astype(np.uint32), labels


def float_labels(values: NDArray[Any], what: str, function: str) -> FloatArray:
    """Return numbers as float64; refuse distinct numbers that would become equal."""
    if values.dtype != np.float64:
        refuse_merged(values, what, function)
    return values.astype(np.float64, copy=False)


def objects(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as a one-dimensional array of objects."""
    entries = list(values)
    array = np.empty(len(entries), dtype=object)
    for place, value in enumerate(entries):  # all at once would take tuples for rows
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
    """Sort values; values of several types are sorted by the name of their type first."""
    values = list(distinct)
    for key in (None, lambda v: (type(v).__name__, v), lambda v: (type(v).__name__, repr(v))):
        try:
            return sorted(values, key=key)
        except TypeError:
            continue
    return values


def labels_of(values: list[Any]) -> NDArray[Any]:
    """Return values in an array of their own type where all are numbers or truth values."""
    kinds: dict[tuple[type, ...], type] = {
        (bool, np.bool_): bool,
        (int, np.integer): np.int64,
        (int, float, np.integer, np.floating): np.float64,
    }
    truth = any(isinstance(value, bool) for value in values)
    for types, kind in kinds.items():
        if values and all(isinstance(v, types) for v in values) and (kind is bool or not truth):
            with suppress(OverflowError):
                return np.array(values, dtype=kind)
            break
    return objects(values)
