"""Rows of a distribution grouped by the values of some variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray

IndexArray = NDArray[np.int64]

_DENSE = 8  # a table of marks with at most so many entries a row is quicker than sorting


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of N rows into cells 0 .. n_cells - 1, each of which has a row.

    Cells are numbered in the lexicographic order of the values that they stand for.
    """

    cell: IndexArray
    n_cells: int

    @classmethod
    def whole(cls, n_rows: int) -> Self:
        """Return the partition with all rows in one cell."""
        return cls(np.zeros(n_rows, dtype=np.int64), min(n_rows, 1))

    @classmethod
    def by(cls, columns: Iterable[tuple[NDArray[Any], int]], n_rows: int) -> Self:
        """Group rows that agree in every column, of codes 0 .. n_codes - 1."""
        partition = cls.whole(n_rows)
        for codes, n_codes in columns:
            partition = partition.refined(codes, n_codes)
        return partition

    def refined(self, codes: NDArray[Any], n_codes: int) -> Self:
        """Split every cell by one more column.

        Cells are renumbered at once, so the product of cells and codes is all that must fit in 64
        bits, however many columns there are.
        """
        n_rows = len(self.cell)
        if n_codes <= 1 or self.n_cells == n_rows:
            return self
        mixed = self.cell * np.int64(n_codes) + codes
        size = self.n_cells * int(n_codes)
        if size <= _DENSE * n_rows:
            occupied = np.zeros(size, dtype=bool)
            occupied[mixed] = True
            number = np.cumsum(occupied) - 1
            return type(self)(number[mixed], int(number[-1]) + 1)
        cells, cell = np.unique(mixed, return_inverse=True)
        return type(self)(cell.astype(np.int64, copy=False), len(cells))

    def masses(self, weights: FloatArray) -> FloatArray:
        """Return the total weight of each cell, shape (n_cells,)."""
        mass = np.bincount(self.cell, weights=weights, minlength=self.n_cells)
        return np.asarray(mass, dtype=np.float64)

    def first_rows(self) -> IndexArray:
        """Return the first row of each cell, shape (n_cells,)."""
        first = np.empty(self.n_cells, dtype=np.int64)
        first[self.cell[::-1]] = np.arange(len(self.cell) - 1, -1, -1)
        return first
