"""From any table to columns of codes, with nothing but NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.masked import unmasked
from duramen.theory.distributions.partition import FloatArray

Codes = NDArray[np.uint32]

_EXACT = 2.0**53  # float64 holds every whole number up to here


@dataclass(frozen=True)
class CodedColumns:
    """The columns of a table as codes and the values they stand for.

    Parameters
    ----------
    names : tuple of str or None
        Names of the p columns, None where the table has none.
    codes : list of ndarray of uint32, shape (n,)
        One array a column.
    labels : list of ndarray
        ``labels[j][code]`` is the value, missing last.
    n_rows : int
    metadata : mapping
        What the table says about itself.
    kinds : tuple of str or None
        What the table says about its columns: "numeric", "ordinal" or "nominal".
    """

    names: tuple[str, ...] | None
    codes: list[Codes]
    labels: list[NDArray[Any]]
    n_rows: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] | None = None


def read_columns(X: Any, function: str) -> CodedColumns:
    """Encode the columns of a table, each value a category.

    Parameters
    ----------
    X : table of shape (n, p)
        A two-dimensional array or list of rows; a pandas, polars or pyarrow table; a scipy sparse
        matrix; or a table that is encoded already, with ``codes(j)``, ``values(j)``, ``names`` and
        ``n_rows``.
    function : str
        The function that the user called, for errors.

    Raises
    ------
    ValueError
        If the table is not two-dimensional or has columns of different lengths.
    TypeError
        If a column holds what cannot be a category, or `X` is no table.
    """
    if callable(getattr(X, "codes", None)) and callable(getattr(X, "values", None)):
        return _of_encoded(X)
    if callable(getattr(X, "to_native", None)):  # narwhals
        X = X.to_native()
    if callable(getattr(X, "collect", None)) and hasattr(X, "collect_schema"):
        raise TypeError(f"{function}: X is a lazy {type(X).__name__}; call its .collect() first.")
    names, columns = _columns_of(X, function)
    n_rows = len(columns[0]) if columns else _n_rows(X)
    coded = []
    for j, column in enumerate(columns):
        what = f"column {names[j]!r} of X" if names is not None else f"column {j} of X"
        coded.append(factorised(column, what, function))
    return CodedColumns(
        names, [codes for codes, _ in coded], [labels for _, labels in coded], n_rows
    )


def factorised(column: Any, what: str, function: str) -> tuple[Codes, NDArray[Any]]:
    """Return codes and sorted labels of one column, a missing value last.

    Parameters
    ----------
    column : one-dimensional array, list or series, shape (n,)
        Numbers, truth values, dates, strings or other hashable values. NaN, None and NaT are
        missing.
    what : str
        What the column is, for errors.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    codes : ndarray of uint32, shape (n,)
    labels : ndarray, shape (number of distinct values,)
        Truth values, int64, uint64, float64, dates, or an array of objects; missing is NaN, NaT or
        None.
    """
    values = one_dimensional(column, what, function)
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


def one_dimensional(column: Any, what: str, function: str) -> NDArray[Any]:
    """Return a column as an array; numbers among strings stay numbers."""
    column = unmasked(column)
    try:
        values = np.asarray(column)
        if values.dtype.kind in "US" and not isinstance(column, np.ndarray):
            values = np.array(column, dtype=object)
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


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for nothing: None, NaN, NaT or pandas' NA."""
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


def _of_encoded(X: Any) -> CodedColumns:
    codes, labels = [], []
    for j in range(len(X.names)):
        column = np.asarray(X.codes(j)).astype(np.uint32)
        known = np.asarray(X.values(j))
        missing = np.any(column == len(known))
        column, own = without_gaps(column, _with_missing(known) if missing else known)
        codes.append(column)
        labels.append(own)
    names = tuple(X.names) if getattr(X, "named", True) else None
    metadata, kinds = getattr(X, "metadata", {}), getattr(X, "kinds", None)
    return CodedColumns(names, codes, labels, int(X.n_rows), dict(metadata), kinds)


def without_gaps(column: Codes, labels: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Leave out the labels that no row has."""
    used = np.zeros(len(labels), dtype=bool)
    used[column] = True
    if used.all():
        return column, labels
    number = (np.cumsum(used) - 1).astype(np.uint32)
    return number[column], labels[used]


def _with_missing(labels: NDArray[Any]) -> NDArray[Any]:
    """Append the missing value that suits the type of the labels."""
    exact = labels.dtype.kind in "iu" and bool(np.all(np.abs(labels) <= _EXACT))
    if exact or labels.dtype.kind == "f":
        return np.append(labels.astype(np.float64), np.nan)
    if labels.dtype.kind in "mM":
        return np.append(labels, np.array(["NaT"], dtype=labels.dtype))
    return objects([*labels.tolist(), None])


def _columns_of(X: Any, function: str) -> tuple[tuple[str, ...] | None, list[Any]]:
    if hasattr(X, "column_names") and callable(getattr(X, "column", None)):  # pyarrow
        labels = list(X.column_names)
        return _names_of(labels, function), [X.column(j) for j in range(len(labels))]
    if hasattr(X, "schema") and callable(getattr(X, "column", None)):  # a pyarrow record batch
        labels = list(X.schema.names)
        return _names_of(labels, function), [X.column(j) for j in range(len(labels))]
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        labels = list(X.columns)
        return _names_of(labels, function), [X.iloc[:, j] for j in range(len(labels))]
    if callable(getattr(X, "get_columns", None)):  # polars
        return _names_of(list(X.columns), function), list(X.get_columns())
    array = _two_dimensional(X, function)
    return None, [array[:, j] for j in range(array.shape[1])]


def _n_rows(X: Any) -> int:
    """Return the number of rows of a table without columns."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _two_dimensional(X: Any, function: str) -> NDArray[Any]:
    X = unmasked(X.toarray() if callable(getattr(X, "toarray", None)) else X)
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.array(X, dtype=object)
    except ValueError as error:
        raise ValueError(f"{function}: X is ragged; give rows of one length ({error}).") from None
    if array.ndim != 2:
        raise ValueError(
            f"{function}: X must be a table with one row a sample and one column a feature, got "
            f"{type(X).__name__} of shape {array.shape}. Hint: a single feature x is "
            "x.reshape(-1, 1)."
        )
    return array


def _names_of(labels: list[Any], function: str) -> tuple[str, ...] | None:
    """Return the column labels as names, None where none of them is a string."""
    strings = [isinstance(label, str) for label in labels]
    if not any(strings):
        return None
    if not all(strings):
        other = labels[strings.index(False)]
        raise TypeError(
            f"{function}: some names of the columns of X are strings, but {other!r} is of type "
            f"{type(other).__name__}; make all of them strings."
        )
    return tuple(map(str, labels))


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
    return codes, _with_missing(labels) if has_missing else labels


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


# --- what goes with a table --------------------------------------------------------------------


def observed(given: Any, what: str, n_rows: int, function: str) -> tuple[NDArray[Any], Codes]:
    """Return the values and codes of a target or context, which is never missing."""
    values = one_dimensional(given, what, function)
    if len(values) != n_rows:
        raise ValueError(
            f"{function}: {what} must have one value a row of X, got {len(values)} values for "
            f"{n_rows} rows."
        )
    codes, labels = factorised(values, what, function)
    if is_missing(labels[-1]):
        row = int(np.argmax(codes == len(labels) - 1))
        raise ValueError(
            f"{function}: {what} is missing at row {row}; only features may be missing. Hint: "
            "leave such rows out, or give them a value of their own."
        )
    return labels, codes


def own_name(given: Any, otherwise: Sequence[str], taken: Sequence[str]) -> str:
    """Return the name of a series, or the first other one that is free."""
    own = getattr(given, "name", None)
    candidates = [own, *otherwise] if isinstance(own, str) and own else list(otherwise)
    free = [name for name in candidates if name not in taken]
    if free:
        return free[0]
    name = otherwise[0]
    while name in taken:
        name += "'"
    return name


def chosen_names(
    names: Iterable[str] | None, own: tuple[str, ...] | None, p: int, function: str
) -> tuple[str, ...]:
    """Return the names given, or the table's own, or ``x0``, ``x1``, ..."""
    if names is None:
        return tuple(f"x{j}" for j in range(p)) if own is None else own
    if isinstance(names, str):
        raise TypeError(f"{function}: names must be a list of strings, got {names!r} alone.")
    chosen = tuple(names)
    if len(chosen) != p:
        raise ValueError(
            f"{function}: names must have one entry a column, got {len(chosen)} for {p} columns."
        )
    return chosen


def checked_weights(weights: ArrayLike | None, n_rows: int, function: str) -> FloatArray:
    """Return weights of at most 1, all equal by default."""
    if weights is None:
        return np.ones(n_rows)
    given = np.asarray(unmasked(weights), dtype=np.float64)
    if given.shape != (n_rows,):
        raise ValueError(
            f"{function}: weights must have one entry a row, got shape {given.shape} for {n_rows} "
            "rows."
        )
    if not np.all(np.isfinite(given)) or np.any(given < 0):
        row = int(np.argmin(np.isfinite(given) & (given >= 0)))
        raise ValueError(
            f"{function}: weights must be finite and at least 0, got {given[row]} at row {row}."
        )
    largest = given.max()
    if not largest > 0:
        raise ValueError(f"{function}: weights must not all be 0.")
    scaled: FloatArray = given / largest
    return scaled
