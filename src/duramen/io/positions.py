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
        if hasattr(source, "variants"):
            source = source.variants
            if source is None:
                raise ValueError(
                    f"{function}: positions of the columns of this store are not known. Hint: a "
                    "store packed from a PLINK file has them."
                )
        table = pa.table(dict(source)) if isinstance(source, dict) else as_arrow(source)
        titles = () if table is None else table.column_names
        if table is None or not {"chromosome", "position"} <= set(titles):
            came = ", ".join(map(quoted, titles[:10])) or type(source).__name__
            raise (TypeError if table is None else ValueError)(
                f"{function}: positions must be a table with columns chromosome and position, got "
                f"{came}."
            )
        index = np.arange(len(names))
        if "name" in titles:
            place = {name: row for row, name in enumerate(table.column("name").to_pylist())}
            lacking = next((name for name in names if name not in place), None)
            if lacking is not None:
                raise ValueError(f"{function}: positions lack the feature {quoted(lacking)}.")
            index = np.array([place[name] for name in names], dtype=np.int64)
        elif len(table) != len(names):
            raise ValueError(
                f"{function}: positions must have a row for each of {len(names)} features, or a "
                f"column name; got {len(table)} rows."
            )
        places = table.column("position").fill_null(0).to_numpy(zero_copy_only=False)
        if not np.issubdtype(places.dtype, np.integer):
            raise ValueError(
                f"{function}: positions must be whole numbers of base pairs, got "
                f"{table.column('position').type}."
            )
        words = [
            UNPLACED if name is None else str(name) for name in table["chromosome"].to_pylist()
        ]
        ordered = sorted({words[row] for row in index.tolist()}, key=_key)
        rank = {name: i for i, name in enumerate(ordered)}
        codes = [rank[words[row]] for row in index.tolist()]
        return cls(tuple(ordered), np.array(codes, np.int64), places[index].astype(np.int64))

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
