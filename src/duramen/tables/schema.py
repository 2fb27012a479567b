"""What training knew of its columns, and how new rows are read in its terms."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.tables.columns import (
    Categories,
    Column,
    describe,
    infinite,
    numbers_of_categories,
)
from duramen.tables.kernel_owner import KernelOwner
from duramen.tables.memory import require_memory
from duramen.tables.names import KINDS
from duramen.tables.sources import Source, open_source

if TYPE_CHECKING:
    from duramen.tables.encoded import EncodedTable

UNSEEN = -1.0


@dataclass(frozen=True, eq=False)
class Schema(KernelOwner):
    """The columns of a table without its rows.

    Attributes
    ----------
    names : tuple of str
        One name a column, each once.
    named : bool
        Whether the table itself or the user gave the names; false for ``x0``, ``x1``, ...
    kinds : tuple of str
        "numeric", "ordinal" or "nominal", one a column.
    cut_values : ndarray of float64, shape (sum of m_j,)
        Sorted distinct values of the numeric columns, 0..m_j-1 for the others.
    value_offsets : ndarray of int64, shape (p + 1,)
        Where the values of each column begin.
    labels : mapping of int to ndarray
        Labels of the ordinal and nominal columns, by index, in code order.
    missing : ndarray of uint8, shape (p,)
        1 where the column has missing values.
    """

    names: tuple[str, ...]
    named: bool
    kinds: tuple[str, ...]
    cut_values: NDArray[np.float64]
    value_offsets: NDArray[np.int64]
    labels: Mapping[int, NDArray[Any]]
    missing: NDArray[np.uint8]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def kind_codes(self) -> NDArray[np.uint8]:
        """0 numeric, 1 ordinal, 2 nominal; shape (p,)."""
        number = {kind: code for code, kind in enumerate(KINDS)}
        return np.array([number[kind] for kind in self.kinds], dtype=np.uint8)

    @cached_property
    def kernel(self) -> _kernel.Schema:
        """The schema as it is lent to the kernel."""
        fields = self.cut_values, self.value_offsets, self.kind_codes, self.missing
        return _kernel.Schema(*fields)

    def routing_values(
        self, X: Any, *, estimator_name: str | None = None, function: str = "routing_values"
    ) -> NDArray[np.float64]:
        """Rows of X in the terms of this schema, to be sent down trees.

        Parameters
        ----------
        X : table of shape (n, p)
            Anything that `encode` takes.
        estimator_name : str, optional
            The estimator that asks; errors then read as scikit-learn's do, and names that are
            missing on one side are warned about.
        function : str
            The function that the user called, for errors.

        Returns
        -------
        ndarray of float64, shape (n, p), C-contiguous
            The value in numeric columns; the code in ordinal and nominal ones, -1 for a category
            that training never saw; NaN for missing. It is X itself where X is a C-contiguous
            float64 array and all columns are numeric.

        Raises
        ------
        ValueError
            If the number or the names of the columns differ, a value is infinite, or a column's
            type does not suit its kind.
        """
        from duramen.tables.encoded import EncodedTable

        if isinstance(X, EncodedTable):
            self._check_columns(X.n_columns, X.names if X.named else None, estimator_name, function)
            return self._decode(X)
        source = open_source(X, function)
        self._check_columns(source.n_columns, source.names, estimator_name, function)
        if source.n_rows == 0:
            raise ValueError(
                f"{function}: found array with 0 sample(s) (shape=(0, {self.n_columns})) while a "
                "minimum of 1 is required."
            )
        if not self.labels and source.matrix is not None:
            values = np.ascontiguousarray(source.matrix, dtype=np.float64)
            self._reject_infinities(values, function)
            return values
        return self._read_columns(source, function)

    def _read_columns(self, source: Source, function: str) -> NDArray[np.float64]:
        require_memory(
            source.n_rows * self.n_columns * 8,
            what=f"a dense table of {source.n_rows} x {self.n_columns} values",
            function=function,
            hint="predict fewer rows at a time",
        )
        values = np.empty((source.n_rows, self.n_columns))
        for j, name in enumerate(self.names):
            column = source.column(j, name, function)
            if j in self.labels:
                values[:, j] = self._codes_of(column, self.labels[j], name, function)
            elif isinstance(column, Categories):
                values[:, j] = numbers_of_categories(column, function=function, name=name)
            else:
                values[:, j] = column
        self._reject_infinities(values, function)
        return values

    def _codes_of(
        self, column: Column, labels: NDArray[Any], name: str, function: str
    ) -> NDArray[np.float64]:
        """Codes of the column's values among `labels`."""
        if not isinstance(column, Categories):
            missing = np.isnan(column)
            if missing.all():  # without a value, its type says nothing of what it would hold
                return np.full(len(column), np.nan)
            known = labels
            if column.dtype.kind != labels.dtype.kind and labels.dtype != object:
                known, column = labels.astype(np.float64), column.astype(np.float64)
            codes = np.full(len(column), np.nan)
            codes[~missing] = _look_up(column[~missing], known, name, function)
            return codes
        found = _look_up(column.labels, labels, name, function)
        return np.asarray(np.append(found, np.nan)[column.codes])

    def _decode(self, table: "EncodedTable") -> NDArray[np.float64]:
        values = np.empty((table.n_rows, self.n_columns))
        for j, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            known = table.values(j)
            if j in self.labels:
                of_code = _look_up(known, self.labels[j], name, "routing_values")
            elif known.dtype == object and len(known):
                raise ValueError(
                    f"routing_values: {describe(name)} is {table.kinds[j]} here, but was {kind} "
                    "when fitted; encode both tables with the same kinds"
                )
            else:
                of_code = known.astype(np.float64)
            values[:, j] = np.append(of_code, np.nan)[table.codes(j)]
        return values

    def _reject_infinities(self, values: NDArray[np.float64], function: str) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):
                return
        for begin in range(0, len(values), 4096):
            columns = np.isinf(values[begin : begin + 4096]).any(axis=0)
            if columns.any():
                raise ValueError(infinite(function, self.names[int(columns.argmax())]))

    def _check_columns(
        self,
        n_columns: int,
        names: Sequence[str] | None,
        estimator_name: str | None,
        function: str,
    ) -> None:
        """Number and names of columns, with the messages that scikit-learn's users know."""
        subject = estimator_name or function
        if self.named and names is not None:
            _check_same_names(tuple(names), self.names)
        if n_columns != self.n_columns:
            raise ValueError(
                f"X has {n_columns} features, but {subject} is expecting {self.n_columns} features "
                "as input"
            )
        if estimator_name is None or self.named == (names is not None):
            return
        if self.named:
            message = (
                f"X does not have valid feature names, but {subject} was fitted with feature names"
            )
        else:
            message = f"X has feature names, but {subject} was fitted without feature names"
        warnings.warn(message, UserWarning, stacklevel=5)


def _look_up(
    values: NDArray[Any], labels: NDArray[Any], name: str, function: str
) -> NDArray[np.float64]:
    """The position of each value among the labels, -1 where it is none of them."""
    if len(labels) == 0 or len(values) == 0:
        return np.full(len(values), UNSEEN)
    if (values.dtype == object) != (labels.dtype == object):
        was, came = ("strings", "numbers") if labels.dtype == object else ("numbers", "strings")
        known, new = labels[:1].tolist()[0], values[:1].tolist()[0]
        raise ValueError(
            f"{function}: {describe(name)} held {was} when fitted, such as {known!r}, but "
            f"holds {came} now, such as {new!r}; convert it to {was}"
        )
    order = None
    if not bool(np.all(labels[:-1] <= labels[1:])):  # declared orders need not be sorted
        order = np.argsort(labels, kind="stable")
    place = np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)
    code = place if order is None else order[place]
    return np.where(labels[code] == values, code.astype(np.float64), UNSEEN)


def _check_same_names(names: tuple[str, ...], fitted: tuple[str, ...]) -> None:
    if names == fitted:
        return
    lines = ["The feature names should match those that were passed during fit."]
    unexpected = sorted(set(names) - set(fitted))
    absent = sorted(set(fitted) - set(names))
    if unexpected:
        lines.append("Feature names unseen at fit time:")
        lines += _listed(unexpected)
    if absent:
        lines.append("Feature names seen at fit time, yet now missing:")
        lines += _listed(absent)
    if not unexpected and not absent:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise ValueError("\n".join(lines) + "\n")


def _listed(names: Sequence[str], most: int = 5) -> list[str]:
    lines = [f"- {name}" for name in names[:most]]
    return lines if len(names) <= most else [*lines, "- ..."]
