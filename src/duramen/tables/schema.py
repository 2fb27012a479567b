"""The columns of a table without its rows, which is what a forest keeps of its training set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Schema:
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

    Examples
    --------
    >>> import duramen as dm
    >>> schema = dm.encode([[0.5, 7.0], [0.1, 7.0]], names=["length", "mass"]).schema
    >>> schema.names, schema.kinds, schema.cut_values.tolist()
    (('length', 'mass'), ('numeric', 'numeric'), [0.1, 0.5, 7.0])
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
