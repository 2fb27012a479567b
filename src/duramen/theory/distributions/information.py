"""Partitions of weighted rows, and entropy and mutual information between them.

A variable, or a set of variables, enters as the partition of the rows by its values; weights are
the probabilities of the rows. All functions are plug-in formulas, exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray, IntArray

Criterion: TypeAlias = Literal["entropy", "gini", "variance"]

TOLERANCE = 1e-10
"""Information of at most this many bits counts as zero, everywhere in this package."""

CRITERIA: tuple[str, ...] = ("entropy", "gini", "variance")


_DENSE = 8  # entries per row up to which a table of marks is quicker than sorting


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of N rows into cells 0 .. n_cells - 1, each of which has a row.

    Cells are numbered in the lexicographic order of the values that they stand for.
    """

    cell: IntArray
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

    def first_rows(self) -> IntArray:
        """Return the first row of each cell, shape (n_cells,)."""
        first = np.empty(self.n_cells, dtype=np.int64)
        first[self.cell[::-1]] = np.arange(len(self.cell) - 1, -1, -1)
        return first


def conditional_entropy(weights: FloatArray, joint: Partition, given: Partition) -> float:
    r"""Compute the conditional entropy H(A|B) in bits, of rows partitioned by A and B, and by B.

    .. math:: H(A|B) = \sum_{a,b} p(a,b) \log_2 \frac{p(b)}{p(a,b)}
    """
    row = joint.first_rows()
    p = joint.masses(weights)
    return float(np.sum(p * np.log2(given.masses(weights)[given.cell[row]] / p)))


def conditional_information(
    weights: FloatArray, joint: Partition, left: Partition, right: Partition, given: Partition
) -> float:
    r"""Compute the conditional mutual information I(A;C|B) in bits.

    .. math:: I(A;C|B) = \sum_{a,c,b} p(a,c,b) \log_2 \frac{p(a,c,b)\,p(b)}{p(a,b)\,p(c,b)}

    Written as one sum, so that independence gives zero up to the rounding of its terms and not of
    four entropies; what rounding leaves below zero is set to zero. The partitions are those of the
    rows by A, B, C; by A, B; by C, B; and by B.
    """
    row = joint.first_rows()
    p, a, c, b = (part.masses(weights)[part.cell[row]] for part in (joint, left, right, given))
    return max(0.0, float(np.sum(p * np.log2((p / a) * (b / c)))))


def concentration(weights: FloatArray, joint: Partition, given: Partition) -> float:
    """Return the probability that two draws from a cell agree in the target."""
    p = joint.masses(weights)
    return float(np.sum(p * (p / given.masses(weights)[given.cell[joint.first_rows()]])))


def cell_means(weights: FloatArray, numbers: FloatArray, part: Partition) -> FloatArray:
    """Return the mean of numbers, one a row, in each cell of a partition."""
    return part.masses(weights * numbers) / part.masses(weights)
