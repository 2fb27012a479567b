"""One tree on some of the columns of a table, with probes beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.decreases import early_decreases, mean_decreases
from duramen.forests.forest import Forest
from duramen.forests.growth import grow
from duramen.forests.joining import arrays_on
from duramen.forests.settings import GrowthSettings
from duramen.selection.drawing import IntArray, stream
from duramen.selection.evidence import BoolArray, Outcome
from duramen.tables import EncodedTable
from duramen.tables.permuted import with_permuted
from duramen.tables.shadows import with_probes

if TYPE_CHECKING:
    from duramen.tables.store import ColumnStore


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows the trees of a search.

    Attributes
    ----------
    source : EncodedTable or ColumnStore
        n rows of p columns, of which only those of a tree are taken into memory.
    target : array of shape (n,)
        uint32 class codes, or float64 numbers.
    classes : array of shape (C,) or None
        Labels of the classes; None in regression.
    settings : GrowthSettings
        How a tree is grown; `max_features` is K among the features of a tree.
    n_probes : int
        Copies of columns with permuted rows that every tree is given beside its features.
    decoy : bool
        Whether another tree is grown, in which those features that were not found before have their
        rows permuted: by one permutation, the same for all trees.
    seed : int
        Seed of the search.
    fingerprint : str
        That of all p columns and the target.
    """

    source: EncodedTable | ColumnStore
    target: NDArray[Any]
    classes: NDArray[Any] | None
    settings: GrowthSettings
    n_probes: int
    decoy: bool
    seed: int
    fingerprint: str

    def grow(self, tree: int, columns: IntArray, found: BoolArray) -> Outcome:
        """Grow the tree of a number on these columns, ascending; the same whenever it is asked.

        `found` tells which of the columns were found before.
        """
        table = self.source.take_columns(columns)
        if self.n_probes:
            random = stream(self.seed, tree, 1)
            copied = random.integers(0, len(columns), self.n_probes)
            rows = np.tile(np.arange(table.n_rows), (self.n_probes, 1))
            table = with_probes(table, copied, random.permuted(rows, axis=1))
        forest = self._forest(tree, table, self.seed)
        values = mean_decreases(forest).values
        excess = np.zeros(0)
        if self.decoy:
            table = with_permuted(table, np.flatnonzero(~found), self._order)
            companion = self._forest(tree, table, (self.seed + 1) % 2**64)
            excess = early_decreases(forest) - early_decreases(companion)
        q = len(columns)
        numbers = np.concatenate([columns, np.full(self.n_probes, self.source.n_columns)])
        return Outcome(columns, values[:q], values[q:], excess, arrays_on(forest, numbers))

    def _forest(self, tree: int, table: EncodedTable, seed: int) -> Forest:
        return grow(
            table,
            self.target,
            self.settings,
            n_trees=1,
            seed=seed,
            classes=self.classes,
            first_tree=tree,
            fingerprint=self.fingerprint,
        )

    @cached_property
    def _order(self) -> IntArray:
        """The one order of rows that all decoys have."""
        return stream(self.seed, 0, 2).permutation(self.source.n_rows)
