"""Trees on some of the columns of a table, with probes beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.shadows import with_probes
from duramen.forests.decreases import mean_decreases
from duramen.forests.growth import grow, grow_beside_decoys
from duramen.forests.parts import arrays_on
from duramen.forests.settings import GrowthSettings
from duramen.selection.sequential_random_subspace.drawing import stream
from duramen.selection.sequential_random_subspace.evidence import Outcome
from duramen.support.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from duramen.io import ColumnStore

TREES = {"extra": "random", "cart": "best", "random": "random"}
"""Kinds of trees, the default first, and how they choose the cut of a feature."""


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows the trees of a search.

    Of a learning set in a store only the columns of a tree are taken into memory. Every tree is
    given `n_probes` copies of columns with permuted rows beside its features; with `decoy`,
    features that were not found before are compared with copies whose rows are in another order,
    the same for all trees. In the settings `max_features` is K among the features of a tree.

    Shadow features, `n_shadows` of each of the p features, are copies whose rows are permuted once
    for all trees; those of feature j are numbered p + j `n_shadows` and so on, and every tree that
    is given j is given them.

    With strata, decoys and shadow features have the values of rows of the same stratum.
    """

    data: LearningSet[EncodedTable | ColumnStore]
    settings: GrowthSettings
    n_probes: int
    decoy: bool
    seed: int
    n_shadows: int = 0

    @property
    def n_features(self) -> int:
        """Number of features with their shadow features."""
        return self.data.n_columns * (1 + self.n_shadows)

    @property
    def metadata(self) -> dict[str, Any]:
        """Seed, settings and fingerprint of the data, as JSON can hold them."""
        return {
            "forest": self.settings.to_dict(),
            "n_rows": self.data.n_rows,
            "seed": self.seed,
            "fingerprint": self.data.fingerprint,
            **self.data.exchangeability.identity(),
        }

    def with_shadows(self, columns: IntArray) -> IntArray:
        """Return features, ascending, and after them their shadow features."""
        if not self.n_shadows:
            return columns
        first = self.data.n_columns + columns[:, None] * self.n_shadows
        return np.concatenate([columns, (first + np.arange(self.n_shadows)).ravel()])

    def grow(self, tree: int, columns: IntArray, found: BoolArray) -> Outcome:
        """Grow the tree of a number on these columns, ascending; the same whenever it is asked.

        `found` tells which of the columns were found before.
        """
        p, table = self.data.n_columns, self._table(columns)
        if self.n_probes:
            random = stream(self.seed, tree, 1)
            copied = random.integers(0, len(columns), self.n_probes)
            table = with_probes(table, copied, self._orders(random, self.n_probes))
        data = self.data.with_table(table, key=tree)
        excess = np.zeros(0)
        if self.decoy:
            forest, excess = grow_beside_decoys(
                data,
                self.settings,
                tree=tree,
                seed=self.seed,
                cycle=self._cycle,
                judged=~found,
                bounds=self._bounds,
            )
        else:
            forest = grow(data, self.settings, n_trees=1, first_tree=tree, seed=self.seed)
        values = mean_decreases(forest).values
        q = len(columns)
        numbers = np.concatenate([np.minimum(columns, p), np.full(self.n_probes, p)])
        return Outcome(columns, values[:q], values[q:], excess, arrays_on(forest, numbers))

    def _table(self, columns: IntArray) -> EncodedTable:
        """Return columns, and shadow features, in memory."""
        if not self.n_shadows:
            return self.data.table.take_columns(columns)
        if isinstance(self.data.table, EncodedTable):
            return self._shadowed.take_columns(columns)
        return self._beside_shadows(columns[columns < self.data.n_columns])

    @cached_property
    def _shadowed(self) -> EncodedTable:
        """All features and their shadow features, made once."""
        return self._beside_shadows(np.arange(self.data.n_columns))

    def _beside_shadows(self, features: IntArray) -> EncodedTable:
        m = self.n_shadows
        orders = [self._orders(stream(self.seed, j, 3), m) for j in features.tolist()]
        copied = np.repeat(np.arange(len(features)), m)
        return with_probes(self.data.table.take_columns(features), copied, np.concatenate(orders))

    @cached_property
    def _cycle(self) -> NDArray[np.uint32]:
        """Order of the rows that all decoys follow, stratum after stratum."""
        order = stream(self.seed, 0, 2).permutation(self.data.n_rows).astype(np.uint32)
        strata = self.data.exchangeability.strata
        return order if strata is None else order[np.argsort(strata[order], kind="stable")]

    @cached_property
    def _bounds(self) -> NDArray[np.uint32]:
        """First place of each stratum in this order, and the number of rows."""
        strata = self.data.exchangeability.strata
        sizes = [self.data.n_rows] if strata is None else np.bincount(strata)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)

    def _orders(self, random: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Draw orders of the rows, in which each row takes the place of one of its stratum."""
        rows = np.tile(np.arange(self.data.n_rows), (count, 1))
        strata = self.data.exchangeability.strata
        if strata is None:
            return random.permuted(rows, axis=1)
        for stratum in range(int(strata.max()) + 1):
            here = np.flatnonzero(strata == stratum)
            rows[:, here] = random.permuted(rows[:, here], axis=1)
        return rows
