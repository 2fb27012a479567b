"""Positions of features on a genome."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from duramen.io.store.row_ids import as_arrow
from duramen.support.arrays import BoolArray, IntArray
from duramen.support.arrow import pa
from duramen.support.text import quoted

UNPLACED = "0"
"""Chromosome of variants whose place is not known, as PLINK writes it."""

_COLUMNS = ("chromosome", "position")
# Chromosomes after those with a number, as PLINK orders them.
_LETTERS = ("x", "y", "xy", "m", "mt")


@dataclass(frozen=True, eq=False)
class Positions:
    """Chromosome and position of p features.

    Attributes
    ----------
    chromosomes : tuple of str
        The chromosomes, in the order of the genome: numbers, X, Y, XY, MT, others, then features
        without a place.
    chromosome : int64 array of shape (p,)
        Chromosome of each feature, as its index in `chromosomes`.
    position : int64 array of shape (p,)
        Position of each feature in base pairs.

    Examples
    --------
    >>> from duramen.io.positions import Positions
    >>> Positions.of({"chromosome": ["10", "2"], "position": [5, 7]}, ("a", "b"), "example")
    Positions(chromosomes=('2', '10'), chromosome=array([1, 0]), position=array([5, 7]))
    """

    chromosomes: tuple[str, ...]
    chromosome: IntArray
    position: IntArray

    @classmethod
    def of(cls, source: Any, names: Sequence[str], function: str) -> Positions:
        """Take the positions of features from a table.

        Parameters
        ----------
        source : table, mapping, ColumnStore or Positions
            With columns ``chromosome`` and ``position``, one row a feature: by ``name`` if there
            is such a column, else in the order of `names`; null for a feature without a place. Of
            a store, its `variants`.
        names : sequence of str
            The p features.
        function : str
            Who asks, for errors.

        Raises
        ------
        TypeError
            If `source` is no table.
        ValueError
            If a column or a feature is missing, or a position is no whole number.
        """
        if isinstance(source, Positions):
            return source
        table = _as_table(source, function)
        index = _rows_of(table, names, function)
        chromosome = table.column("chromosome").to_numpy(zero_copy_only=False)
        place = table.column("position").fill_null(0).to_numpy(zero_copy_only=False)
        if not np.issubdtype(place.dtype, np.integer):
            raise ValueError(
                f"{function}: positions must be whole numbers of base pairs, got "
                f"{table.column('position').type}."
            )
        words = np.array([UNPLACED if name is None else str(name) for name in chromosome[index]])
        distinct, codes = np.unique(words, return_inverse=True)
        order = sorted(range(len(distinct)), key=lambda i: _key(str(distinct[i])))
        rank = np.empty(len(distinct), dtype=np.int64)
        rank[order] = np.arange(len(distinct))
        ordered = tuple(str(distinct[i]) for i in order)
        return cls(ordered, rank[codes.reshape(-1)], place[index].astype(np.int64))

    @cached_property
    def placed(self) -> BoolArray:
        """True where the place of a feature is known; shape (p,)."""
        on_chromosome = np.array(
            [chromosome != UNPLACED for chromosome in self.chromosomes], dtype=np.bool_
        )
        return on_chromosome[self.chromosome] & (self.position > 0)

    @cached_property
    def order(self) -> IntArray:
        """Indices of the features along the genome; shape (p,)."""
        return np.lexsort((self.position, self.chromosome))

    def near(self, left: IntArray, right: IntArray, distance: int) -> BoolArray:
        """Return whether features lie within `distance` base pairs on a chromosome.

        `left` and `right` are indices of features; the result has shape (len(left), len(right)).
        """
        same = self.chromosome[left][:, None] == self.chromosome[right]
        apart = np.abs(self.position[left][:, None] - self.position[right])
        placed = self.placed[left][:, None] & self.placed[right]
        near: BoolArray = same & placed & (apart <= distance)
        return near


def _as_table(source: Any, function: str) -> pa.Table:
    if hasattr(source, "variants"):
        source = source.variants
        if source is None:
            raise ValueError(
                f"{function}: positions of the columns of this store are not known. Hint: a store "
                "packed from a PLINK file has them."
            )
    table = pa.table(dict(source)) if isinstance(source, dict) else as_arrow(source)
    if table is None:
        raise TypeError(
            f"{function}: positions must be a table with columns chromosome and position, got "
            f"{type(source).__name__}."
        )
    for name in _COLUMNS:
        if name not in table.column_names:
            raise ValueError(
                f"{function}: positions must have columns chromosome and position, got "
                f"{', '.join(map(quoted, table.column_names[:10]))}."
            )
    return table


def _rows_of(table: pa.Table, names: Sequence[str], function: str) -> IntArray:
    """Return the row of each feature."""
    if "name" not in table.column_names:
        if len(table) != len(names):
            raise ValueError(
                f"{function}: positions must have a row for each of {len(names)} features, or a "
                f"column name; got {len(table)} rows."
            )
        return np.arange(len(names))
    place = {name: row for row, name in enumerate(table.column("name").to_pylist())}
    lacking = next((name for name in names if name not in place), None)
    if lacking is not None:
        raise ValueError(f"{function}: positions lack the feature {quoted(lacking)}.")
    return np.array([place[name] for name in names], dtype=np.int64)


def _key(chromosome: str) -> tuple[int, int, str]:
    """Return what chromosomes are sorted by."""
    if chromosome == UNPLACED:
        return 3, 0, chromosome
    plain = re.sub(r"^chr", "", chromosome, flags=re.IGNORECASE).lower()
    if plain.isdecimal():
        return 0, int(plain), chromosome
    if plain in _LETTERS:
        return 1, _LETTERS.index(plain), chromosome
    return 2, 0, chromosome
