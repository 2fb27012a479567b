"""Importances of features in single rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.archive import is_sparse
from duramen.results.importances import Importances
from duramen.results.result import ANY, POSITIVE, Result, checked_matrix, dense
from duramen.results.summary import Column, Summary, counted, features, hidden
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class LocalImportances(Result):
    """Importances of p features in each of n rows, which add up to the change along its paths.

    Parameters
    ----------
    names : tuple of str
        Names of the p features, all different.
    values : ndarray of float64 or scipy.sparse.csr_array, shape (n, p)
        Importance of each feature in each row, in `unit`. Values can be negative: a split may lead
        a row to a child that is less pure than its parent.
    measure : str
        Name of the measure, such as ``"local mdi"``.
    unit : str
        Unit of the values: ``"bits"``, ``"gini"``, ``"variance"``, ``"probability"`` or ``"y"``,
        that of a numeric target.
    weights : ndarray of float64, shape (n,)
        Fraction of each row in `mean`; they sum to 1. Values of rows of weight 0 are 0.
    start : ndarray of float64, shape (n,)
        What the values of a row are added to: the negative impurity of the roots, or what they
        predict, mean over the trees.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes disagree, names repeat, a number is not finite, or weights do not sum to 1.

    Examples
    --------
    >>> import duramen as dm
    >>> exact = dm.theory.population_local_mdi(dm.theory.examples.xor())
    >>> exact.values.tolist()[0], exact.mean().values.tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """

    names: tuple[str, ...]
    values: Any
    measure: str
    unit: str
    weights: FloatArray
    start: FloatArray
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _ARRAYS: ClassVar = {"weights": ("n", POSITIVE), "start": ("n", ANY)}

    def __post_init__(self, **_: int) -> None:
        owner, n = "LocalImportances", int(np.shape(self.values)[0])
        super().__post_init__(n=n)
        values = checked_matrix(owner, "values", self.values, (n, len(self.names)))
        object.__setattr__(self, "values", values)
        total = self.weights.sum()
        if len(self.weights) and not np.isclose(total, 1.0):
            raise ValueError(f"{owner}: weights must sum to 1, got a sum of {total:g}.")

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def is_sparse(self) -> bool:
        """True if the values are a sparse matrix."""
        return is_sparse(self.values)

    @property
    def end(self) -> FloatArray:
        """Sum of `start` and the values of each row, shape (n,): the value in the leaves."""
        return np.asarray(self.start + self.values.sum(axis=1))

    def mean(self) -> Importances:
        """Return the mean over the rows by their weights; of local MDI in the bag it is MDI."""
        return self._importances(self.weights @ self.values, f"mean {self.measure}")

    def mean_absolute(self) -> FloatArray:
        """Return the mean absolute value of each feature by the weights of the rows, shape (p,)."""
        return np.asarray(self.weights @ abs(self.values))

    def row(self, row: int) -> Importances:
        """Return the importances in one row, by its number from 0.

        Raises
        ------
        ValueError
            If there is no such row.
        """
        number = check_integer("LocalImportances.row", "row", row, 0, most=len(self) - 1)
        return self._importances(self.dense(np.array([number]))[0], f"{self.measure} of row {row}")

    def take(self, rows: NDArray[np.integer]) -> LocalImportances:
        """Return the importances in some rows, by their indices; weights sum to 1 again."""
        weights, total = self.weights[rows], self.weights[rows].sum()
        weights = weights / total if total > 0 else np.full(len(rows), 1.0 / max(1, len(rows)))
        return replace(self, values=self.values[rows], weights=weights, start=self.start[rows])

    def dense(
        self, rows: NDArray[np.integer] | slice = slice(None), columns: Any = slice(None)
    ) -> FloatArray:
        """Return the values of some rows and columns as a dense array."""
        return dense(self.values[rows][:, columns])

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: row, feature and value, of the values other than 0."""
        row, column = self.values.nonzero()
        order = np.lexsort((column, row))
        row, column = row[order], column[order]
        return {
            "row": row.astype(np.int64),
            "feature": [self.names[j] for j in column.tolist()],
            "value": np.asarray(self.values[row, column], dtype=np.float64).ravel(),
        }

    def _importances(self, values: FloatArray, measure: str) -> Importances:
        return Importances(self.names, values, measure, self.unit, metadata=self.metadata)

    def _summary(self, rows: int) -> Summary:
        size = self.mean_absolute()
        order = np.argsort(-size, kind="stable")[:rows]
        columns = [
            *features(self.names, order),
            Column("mean absolute value", fixed(size[order], 4), bars=size[order]),
            Column("mean", fixed(self.mean().values[order], 4)),
        ]
        heading = (
            f"LocalImportances: {self.measure} of {counted(len(self.names), 'feature')} in "
            f"{counted(len(self), 'row')}, unit: {self.unit}"
        )
        return Summary((heading,), columns, hidden(len(self.names), len(order)))
