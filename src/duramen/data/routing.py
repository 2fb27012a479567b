"""New rows in the terms of the columns that training had."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.columns import Categories, Column, describe, infinite, numbers_of_categories
from duramen.data.encoded import EncodedTable
from duramen.data.memory import require_memory
from duramen.data.schema import Schema
from duramen.data.sources import Source, open_source
from duramen.support.arrays import FloatArray
from duramen.support.warning import warn

UNSEEN = -1.0
_LISTED = 5  # names that a message lists


def routing_values(
    schema: Schema, X: Any, *, estimator_name: str | None = None, function: str = "routing_values"
) -> FloatArray:
    """Read rows of X in the terms of a schema, to be sent down trees.

    X is anything that `encode` takes. Where an estimator asks, errors read as scikit-learn's do,
    and names that are missing on one side are warned about. Returned is a C-contiguous float64
    array of shape (n, p): the value in numeric columns; the code in ordinal and nominal ones, -1
    for a category that training never saw; NaN for missing. It is X itself where X is such an array
    and all columns are numeric.
    """
    source: Source = _Encoded(X) if isinstance(X, EncodedTable) else open_source(X, function)
    _check_columns(schema, source.n_columns, source.names, estimator_name, function)
    if source.n_rows == 0:
        raise ValueError(
            f"{function}: found array with 0 sample(s) (shape=(0, {schema.n_columns})) while a "
            "minimum of 1 is required."
        )
    if not schema.labels and source.matrix is not None:
        values = np.ascontiguousarray(source.matrix, dtype=np.float64)
        _reject_infinities(schema, values, function)
        return values
    require_memory(
        source.n_rows * schema.n_columns * 8,
        what=f"a dense table of {source.n_rows} x {schema.n_columns} values",
        function=function,
        hint="predict fewer rows at a time",
    )
    values = np.empty((source.n_rows, schema.n_columns))
    for j, name in enumerate(schema.names):
        column = source.column(j, name, function)
        if j in schema.labels:
            values[:, j] = _codes_of(column, schema.labels[j], name, function)
        elif isinstance(column, Categories):
            values[:, j] = numbers_of_categories(column, function=function, name=name)
        else:
            values[:, j] = column
    _reject_infinities(schema, values, function)
    return values


class _Encoded:
    """An encoded table as a source, whose columns are categories."""

    matrix: NDArray[Any] | None = None
    stored = None

    def __init__(self, table: EncodedTable) -> None:
        self.n_rows, self.n_columns = table.shape
        self.names = table.names if table.named else None
        self._table = table

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th column."""
        codes, missing = self._table.codes(j), bool(self._table.missing[j])
        return Categories(codes, self._table.values(j), ordered=False, missing=missing)


def _codes_of(column: Column, labels: NDArray[Any], name: str, function: str) -> FloatArray:
    """Return codes of the column's values among `labels`."""
    if isinstance(column, Categories):
        codes_found = _look_up(column.labels, labels, name, function)
        return np.asarray(np.append(codes_found, np.nan)[column.codes])
    codes, present = np.full(len(column), np.nan), ~np.isnan(column)
    if present.any():  # without a value, its type does not tell what it would hold
        categories, values = labels, column[present]
        if column.dtype.kind != labels.dtype.kind and labels.dtype != object:
            categories, values = labels.astype(np.float64), values.astype(np.float64)
        codes[present] = _look_up(values, categories, name, function)
    return codes


def _reject_infinities(schema: Schema, values: FloatArray, function: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    for begin in range(0, len(values), 4096):
        columns = np.isinf(values[begin : begin + 4096]).any(axis=0)
        if columns.any():
            raise ValueError(infinite(function, schema.names[int(columns.argmax())]))


def _check_columns(
    schema: Schema,
    n_columns: int,
    names: Sequence[str] | None,
    estimator_name: str | None,
    function: str,
) -> None:
    """Check number and names of columns, with the messages of scikit-learn."""
    if schema.named and names is not None and tuple(names) != schema.names:
        unseen, absent = set(names) - set(schema.names), set(schema.names) - set(names)
        lines = ["The feature names should match those that were passed during fit."]
        for title, listed in (
            ("Feature names unseen at fit time:", sorted(unseen)),
            ("Feature names seen at fit time, yet now missing:", sorted(absent)),
        ):
            if listed:
                more = ["- ..."] if len(listed) > _LISTED else []
                lines += [title, *(f"- {name}" for name in listed[:_LISTED]), *more]
        if not unseen and not absent:
            lines.append("Feature names must be in the same order as they were in fit.")
        raise ValueError("\n".join(lines) + "\n")
    if n_columns != schema.n_columns:
        raise ValueError(
            f"X has {n_columns} features, but {estimator_name or function} is expecting "
            f"{schema.n_columns} features as input"
        )
    if estimator_name is None or schema.named == (names is not None):
        return
    new = "does not have valid feature names" if schema.named else "has feature names"
    old = "with" if schema.named else "without"
    warn(f"X {new}, but {estimator_name} was fitted {old} feature names")


def _look_up(values: NDArray[Any], labels: NDArray[Any], name: str, function: str) -> FloatArray:
    """Return the position of each value among the labels, -1 where it is none of them."""
    if len(labels) == 0 or len(values) == 0:
        return np.full(len(values), UNSEEN)
    if (values.dtype == object) != (labels.dtype == object):
        was, came = ("strings", "numbers") if labels.dtype == object else ("numbers", "strings")
        label, new = labels[:1].tolist()[0], values[:1].tolist()[0]
        raise ValueError(
            f"{function}: {describe(name)} held {was} when fitted, such as {label!r}, but "
            f"holds {came} now, such as {new!r}; convert it to {was}"
        )
    order = None
    if not bool(np.all(labels[:-1] <= labels[1:])):  # declared orders need not be sorted
        order = np.argsort(labels, kind="stable")
    place = np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)
    code = place if order is None else order[place]
    return np.where(labels[code] == values, code.astype(np.float64), UNSEEN)
