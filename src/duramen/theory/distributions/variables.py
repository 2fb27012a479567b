"""Variables of a distribution: names, roles, columns of codes, and rows grouped by them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import Codes
from duramen.support.arrays import FloatArray, is_missing
from duramen.support.text import joined

_SHOWN_VALUES = 8


class Role(Enum):
    """Role of a variable that is not a feature."""

    TARGET = "target"
    CONTEXT = "context"

    def __repr__(self) -> str:
        return self.name


TARGET: Literal[Role.TARGET] = Role.TARGET
CONTEXT: Literal[Role.CONTEXT] = Role.CONTEXT

Variable: TypeAlias = str | int | Role
Variables: TypeAlias = Variable | Iterable[Variable]


def as_list(variables: Variables) -> list[Variable]:
    """Return one variable or several as a list."""
    if isinstance(variables, (str, Role)) or not isinstance(variables, Iterable):
        return [variables]
    return list(variables)


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One variable: its name, the code of each row, and the values that the codes stand for."""

    name: str
    codes: Codes
    values: NDArray[Any]

    def code_of(self, value: Any) -> int:
        """Return the code of a value.

        Raises
        ------
        ValueError
            If no row has it.
        """
        labels = self.values.tolist()
        for code, label in enumerate(labels):
            if _equal(label, value):
                return code
        raise ValueError(
            f"FiniteDistribution: {self.name} has no value {value!r}; it has "
            f"{joined(list(map(repr, labels)), shown=_SHOWN_VALUES)}."
        )

    def equals(self, other: Column) -> bool:
        """Return whether two columns agree in name, codes and values."""
        mine, theirs = self.values.tolist(), other.values.tolist()
        return (
            self.name == other.name
            and len(mine) == len(theirs)
            and all(map(_equal, mine, theirs))
            and np.array_equal(self.codes, other.codes)
        )


def _equal(left: Any, other: Any) -> bool:
    return bool(left == other) or (is_missing(left) and is_missing(other))


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
