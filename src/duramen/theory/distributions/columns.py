"""Columns of a table as codes: arrays, encoded tables, and tables with named columns.

No data-frame library is known here. A data frame is a table whose columns NumPy can take by name;
files, kinds of columns and stores are read by `duramen.encode`, whose tables are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.masked import array_of, unmasked
from duramen.theory.distributions.partition import FloatArray
from duramen.theory.distributions.values import (
    Codes,
    factorize,
    is_missing,
    with_missing,
    without_gaps,
)


@dataclass(frozen=True)
class CodedColumns:
    """Columns of a table as codes, and the values that the codes stand for.

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
        Record of how the table was made.
    kinds : tuple of str or None
        Kinds of the columns of an encoded table: "numeric", "ordinal" or "nominal".
    """

    names: tuple[str, ...] | None
    codes: list[Codes]
    labels: list[NDArray[Any]]
    n_rows: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] | None = None


def table_and_target(X: Any, y: Any, weights: Any = None) -> tuple[Any, Any, Any]:
    """Return table, target and weights: those of a learning set, or those given."""
    if y is None and hasattr(X, "table") and hasattr(X, "target"):
        return X.table, X.y, X.weights if weights is None else weights
    return X, y, weights


def coded_columns(X: Any, function: str) -> CodedColumns:
    """Encode the columns of a table, each value a category.

    Parameters
    ----------
    X : table of shape (n, p)
        An encoded table, with ``codes(j)``, ``values(j)``, ``names`` and ``n_rows``; a table whose
        columns are taken by name; or what NumPy turns to a two-dimensional array.
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
    names, columns, n_rows = _columns_of(X, function)
    coded = [
        factorize(column, f"column {j if names is None else repr(names[j])} of X", function)
        for j, column in enumerate(columns)
    ]
    return CodedColumns(
        names, [codes for codes, _ in coded], [labels for _, labels in coded], n_rows
    )


def _of_encoded(X: Any) -> CodedColumns:
    codes, labels = [], []
    for j in range(len(X.names)):
        column = np.asarray(X.codes(j)).astype(np.uint32)
        known = np.asarray(X.values(j))
        missing = np.any(column == len(known))
        column, own = without_gaps(column, with_missing(known) if missing else known)
        codes.append(column)
        labels.append(own)
    names = tuple(X.names) if getattr(X, "named", True) else None
    metadata, kinds = getattr(X, "metadata", {}), getattr(X, "kinds", None)
    return CodedColumns(names, codes, labels, int(X.n_rows), dict(metadata), kinds)


def _columns_of(X: Any, function: str) -> tuple[tuple[str, ...] | None, list[Any], int]:
    """Return names, columns and the number of rows of a table that is not encoded yet."""
    if callable(getattr(X, "collect", None)) and hasattr(X, "collect_schema"):
        raise TypeError(f"{function}: X is a lazy {type(X).__name__}; call its .collect() first.")
    labels = getattr(X, "column_names", getattr(X, "columns", None))
    if labels is not None and hasattr(X, "shape"):
        names = _string_names(list(labels), function)
        return names, [X[label] for label in labels], int(X.shape[0])
    array = _two_dimensional(X, function)
    return None, list(array.T), len(array)


def _two_dimensional(X: Any, function: str) -> NDArray[Any]:
    try:
        array = array_of(X.toarray() if callable(getattr(X, "toarray", None)) else X)
    except ValueError as error:
        raise ValueError(f"{function}: X is ragged; give rows of one length ({error}).") from None
    if array.ndim != 2:
        raise ValueError(
            f"{function}: X must be a table with one row a sample and one column a feature, got "
            f"{type(X).__name__} of shape {array.shape}. Hint: a single feature x is "
            "x.reshape(-1, 1)."
        )
    return array


def _string_names(labels: list[Any], function: str) -> tuple[str, ...] | None:
    """Return the labels of columns as names, None where none of them is a string."""
    repeated = next((label for j, label in enumerate(labels) if label in labels[:j]), None)
    if repeated is not None:
        raise ValueError(f"{function}: names must be different, X has two columns {repeated!r}.")
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


def coded_variable(given: Any, what: str, n_rows: int, function: str) -> tuple[NDArray[Any], Codes]:
    """Return the values and the codes of a target or context, which is never missing."""
    codes, labels = factorize(given, what, function)
    if len(codes) != n_rows:
        raise ValueError(
            f"{function}: {what} must have one value a row of X, got {len(codes)} values for "
            f"{n_rows} rows."
        )
    if is_missing(labels[-1]):
        row = int(np.argmax(codes == len(labels) - 1))
        raise ValueError(
            f"{function}: {what} is missing at row {row}; only features may be missing. Hint: "
            "leave such rows out, or give them a value of their own."
        )
    return labels, codes


def variable_name(given: Any, otherwise: Sequence[str], taken: Sequence[str]) -> str:
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


def column_names(
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


def row_weights(weights: ArrayLike | None, n_rows: int, function: str) -> FloatArray:
    """Return the weights of the rows, at most 1 and all equal by default."""
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
