"""The columns of a table without its rows, which is what a forest keeps of its training set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.names import KINDS
from duramen.support.arrays import FloatArray, IntArray

_LENT = ("kernel", "bags")


class KernelOwner:
    """Owner of kernel objects: cached properties that pickles and copies leave out.

    They are made when they are first needed and refer to the arrays of their owner, whose fields
    are never replaced: an owner with other arrays is another owner.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _LENT}


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
    cut_values: FloatArray
    value_offsets: IntArray
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
