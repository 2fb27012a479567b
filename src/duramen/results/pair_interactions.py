"""Interactions of pairs of features in their information about the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.archive import is_sparse
from duramen.results.result import Result, checked_matrix, entries
from duramen.results.summary import Column
from duramen.support.arrays import FloatArray


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

    def __post_init__(self, **_: int) -> None:
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
        """Return the indices of the features of all pairs, by decreasing size."""
        if is_sparse(self.values):
            row, column = self.values.nonzero()
            first, second = (index[row < column].astype(np.intp) for index in (row, column))
        else:
            first, second = np.triu_indices(len(self.names), 1)
        order = np.argsort(-np.abs(entries(self.values, first, second)), kind="stable")
        return first[order], second[order]

    def table(self) -> list[Column]:
        """Return the two features of each pair, value, error and adjusted p-value."""
        first, second = self.order()
        values = entries(self.values, first, second)
        error = None if self.standard_error is None else self.standard_error[first, second]
        columns = [
            Column("feature", [self.names[j] for j in first], "name", name="feature"),
            Column("other", [self.names[j] for j in second], "words", name="other"),
            Column(
                self.unit,
                digits=4,
                bars=values,
                whiskers=None if error is None else (values - error, values + error),
                name="interaction",
                numbers=values,
            ),
        ]
        if error is not None:
            columns.append(Column("std. error", digits=2, name="standard_error", numbers=error))
        if self.p_adjusted is not None:
            p = entries(self.p_adjusted, first, second)
            columns.append(Column("adj. p", digits=4, name="p_adjusted", numbers=p))
        return columns

    _WHAT = "pairs"

    def _heading(self) -> tuple[str, ...]:
        pairs = f"{len(self)} pairs of {len(self.names)} features"
        return (f"PairInteractions: {self.measure} of {pairs}, in {self.unit}",)
