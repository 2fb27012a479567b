"""Interactions of pairs of features in what they tell about the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, hidden, places
from duramen.results.local_importances import checked_matrix
from duramen.results.result import Result
from duramen.results.saved import is_sparse
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class PairInteractions(Result):
    """Interactions of the pairs of q features: synergy above 0, redundancy below.

    ``len(result)`` is the number of pairs, ``result["a", "b"]`` the interaction of a pair.

    Parameters
    ----------
    names : tuple of str
        Names of the q features, all different.
    values : ndarray of float64 or scipy.sparse.csr_array, shape (q, q)
        Interaction of each pair, in `unit`; symmetric, 0 on the diagonal. A sparse matrix holds the
        pairs that were measured, and these are all that is listed.
    measure : str
        Name of the measure, such as ``"interaction"``.
    unit : str
        Unit of the values: ``"bits"``, ``"gini"`` or ``"variance"``.
    standard_error : ndarray of float64, shape (q, q), optional
        Standard error of each value over the trees.
    p_adjusted : ndarray of float64 or scipy.sparse.csr_array, shape (q, q), optional
        Family-wise adjusted p-value of each pair in `values`.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.
    notes : tuple of str
        Limits of the result, a sentence each.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes disagree, names repeat, a number is not finite, or values are not symmetric.

    Examples
    --------
    >>> import duramen as dm
    >>> pairs = dm.theory.population_interactions(dm.theory.examples.xor())
    >>> pairs["X1", "X2"]
    1.0
    """

    names: tuple[str, ...]
    values: Any
    measure: str
    unit: str
    standard_error: FloatArray | None = None
    p_adjusted: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, shape = "PairInteractions", (len(self.names), len(self.names))
        for what in ("values", "standard_error", "p_adjusted"):
            if (numbers := getattr(self, what)) is not None:
                matrix = checked_matrix(owner, what, numbers, shape)
                if (matrix != matrix.T).sum() or matrix.diagonal().any():
                    raise ValueError(
                        f"{owner}: {what} must be symmetric with 0 on the diagonal, got a matrix "
                        "that is not."
                    )
                object.__setattr__(self, what, matrix)

    def __len__(self) -> int:
        if is_sparse(self.values):
            return int(self.values.nnz) // 2
        return len(self.names) * (len(self.names) - 1) // 2

    def __getitem__(self, pair: tuple[str, str]) -> float:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"PairInteractions: a pair must be a tuple of two names, got {pair!r}.")
        for name in pair:
            if name not in self.names:
                raise KeyError(name)
        first, second = map(self.names.index, pair)
        return float(self.values[first, second])

    def order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of the features of all pairs, those of largest size first."""
        if is_sparse(self.values):
            row, column = self.values.nonzero()
            first, second = (index[row < column].astype(np.intp) for index in (row, column))
        else:
            first, second = np.triu_indices(len(self.names), 1)
        order = np.argsort(-np.abs(self._at(first, second)), kind="stable")
        return first[order], second[order]

    def _at(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> FloatArray:
        """Return the values of some pairs, shape (m,)."""
        return _entries(self.values, first, second)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: the two features of each pair, value and error."""
        first, second = self.order()
        columns: dict[str, Any] = {
            "feature": [self.names[j] for j in first],
            "other": [self.names[j] for j in second],
            "interaction": self._at(first, second),
        }
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error[first, second]
        if self.p_adjusted is not None:
            columns["p_adjusted"] = _entries(self.p_adjusted, first, second)
        return columns

    def _summary(self, rows: int) -> Summary:
        first, second = (index[:rows] for index in self.order())
        values = self._at(first, second)
        error = None if self.standard_error is None else self.standard_error[first, second]
        ends = None if error is None else (values - error, values + error)
        columns = [
            places(len(first)),
            Column("feature", [self.names[j] for j in first], "name"),
            Column("other", [self.names[j] for j in second], "words"),
            Column(self.unit, fixed(values, 4), bars=values, whiskers=ends),
        ]
        if error is not None:
            columns.append(Column("std. error", fixed(error, 2)))
        if self.p_adjusted is not None:
            columns.append(Column("adj. p", fixed(_entries(self.p_adjusted, first, second), 4)))
        heading = (
            f"PairInteractions: {self.measure} of {len(self)} pairs of {len(self.names)} features, "
            f"in {self.unit}"
        )
        return Summary((heading,), columns, hidden(len(self), len(first), "pairs"), self.notes)


def _entries(matrix: Any, first: NDArray[np.intp], second: NDArray[np.intp]) -> FloatArray:
    """Return entries of a dense or sparse matrix, shape (m,)."""
    if not len(first):  # of which SciPy makes a sparse array
        return np.empty(0)
    return np.asarray(matrix[first, second], dtype=np.float64).ravel()
