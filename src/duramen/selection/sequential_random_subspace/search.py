"""Sequential random subspace search: the features of each tree, and those found in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.recoding import with_probes
from duramen.forests.arrays import ARRAY_NAMES
from duramen.forests.decreases import mean_decreases
from duramen.forests.forest import arrays_on
from duramen.forests.growth import grow, grow_beside_decoys
from duramen.forests.settings import GrowthSettings
from duramen.io import ColumnStore
from duramen.jobs.replicates import Arrays
from duramen.selection.sequential_random_subspace.relevance import (
    Evidence,
    Outcome,
    RelevanceTest,
)
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.files import uninterrupted

SAMPLING = ("hard", "soft")
"""Uses of the places for features found before, the default first."""


@dataclass(frozen=True)
class Search:
    """Settings of a search.

    Attributes
    ----------
    n_trees : int
        Trees T at most.
    size : int
        Features q of a tree.
    places : int
        At most so many of them are kept from those found: floor(alpha q).
    soft : bool
        Whether these are drawn from all features by their importances instead.
    batch : int
        Trees of a round, all of which know what was found before it.
    patience : int or None
        Trees without anything new after which the search ends.
    """

    n_trees: int
    size: int
    places: int
    soft: bool
    batch: int
    patience: int | None


class SubspaceSearch:
    """Algorithm 7.1 of the thesis: what was found by the trees so far, and what the next are given.

    A tree depends on the seed, its number and what was found before its round alone, so that
    neither the threads nor a stop change anything.

    Parameters
    ----------
    grower : Grower
    search : Search
    test : RelevanceTest
    """

    def __init__(self, grower: Grower, search: Search, test: RelevanceTest) -> None:
        self._grower, self._search, self._test = grower, search, test
        # A test reads all p features: on many, not after each tree, but as soon as a fiftieth of
        # them has been given to trees.
        self._every = max(1, grower.data.n_columns // (50 * search.size))
        self._round: tuple[int, list[IntArray], list[BoolArray]] = (-1, [], [])
        self.evidence = Evidence(grower.n_features)
        self.member = np.zeros(grower.n_features, dtype=np.bool_)
        # The set F, in the order in which features entered it, and how many trees there were then.
        self.found: list[int] = []
        self.entered: list[int] = []
        self.sizes: list[int] = []  # size of F after each tree
        self.trees: list[Arrays] = []  # flat arrays of each

    def take(self, trees: Sequence[Arrays]) -> bool:
        """Take trees that are new into account, and let in the features that pass the test.

        Returned is False: a search ends between rounds, as `ready` says.
        """
        for number in range(len(self.sizes), len(trees)):
            columns, _ = self.arguments(number)
            done = number + 1
            with uninterrupted():
                outcome = self._grower.outcome(trees[number], columns)
                self.evidence.add(outcome, self.member)
                self.trees.append(outcome.arrays)
                if done == self._search.n_trees or done % self._every == 0:
                    self._let_in()
                self.sizes.append(len(self.found))
        return False

    def end(self, trees: Sequence[Arrays]) -> None:
        """Take trees into account when Ctrl-C ends the search, and test features after the last."""
        self.take(trees)
        if self.sizes:
            self._let_in()
            self.sizes[-1] = len(self.found)

    def ready(self, trees: Sequence[Arrays]) -> int:
        """Return how many trees can be grown without knowing more than these: those of a round."""
        self.take(trees)
        search, n_trees = self._search, len(trees)
        newest = self.entered[-1] if self.entered else 0
        start = n_trees - n_trees % search.batch
        if start == n_trees and search.patience is not None and start - newest >= search.patience:
            return n_trees
        return min(start + search.batch, search.n_trees)

    def arguments(self, number: int) -> tuple[IntArray, BoolArray]:
        """Return the columns of a tree, and which of them were found before its round."""
        start = number - number % self._search.batch
        if self._round[0] != start:  # the first tree of a round: those before it are known
            until = min(start + self._search.batch, self._search.n_trees)
            subspaces = [self._drawn(tree) for tree in range(start, until)]
            self._round = start, subspaces, [self.member[columns] for columns in subspaces]
        _, subspaces, known = self._round
        return subspaces[number - start], known[number - start]

    def _drawn(self, number: int) -> IntArray:
        search, p = self._search, self._grower.data.n_columns
        random = stream(self._grower.seed, number, 0)
        if search.soft:
            weights = self.evidence.mean_when_drawn()[:p]
            columns = by_weight(random, weights, search.size, search.places)
        else:
            found = np.array(self.found, dtype=np.int64)
            columns = among_found(random, found, p, search.size, search.places)
        return self._grower.with_shadows(columns)

    def _let_in(self) -> None:
        new = np.flatnonzero(self._test.passes(self.evidence) & ~self.member)
        self.member[new] = True
        self.found += new.tolist()
        self.entered += [self.evidence.n_trees] * len(new)

    def words(self) -> str:
        """Return the number of features found and the memory in use, for a progress bar."""
        return f"{len(self.found)} found{_memory_in_use()}"


def _memory_in_use() -> str:
    """Return the resident memory as text, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return ""
    import mmap

    return f", {pages * mmap.PAGESIZE / 1e6:.0f} MB"


def stream(seed: int, tree: int, purpose: int) -> np.random.Generator:
    """Random numbers for a purpose: 0 features and 1 probes of a tree, 2 the decoy, 3 shadows."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(tree, purpose)))


def among_found(
    random: np.random.Generator, found: IntArray, n_features: int, size: int, places: int
) -> IntArray:
    """Draw a subspace of q features by step 2(a) of algorithm 7.1 of the thesis, ascending.

    At most `places` of them, floor(alpha q), are drawn from `found`, the set F in any order that is
    always the same.
    """
    kept = random.choice(found, min(places, len(found)), replace=False, shuffle=False)
    return filled_up(random, kept, n_features, size)


def by_weight(random: np.random.Generator, weights: FloatArray, size: int, places: int) -> IntArray:
    """Draw a subspace of q features, some with probabilities by their weights, ascending.

    Up to `places` features of positive weight are drawn one after the other, without replacement,
    each with probability proportional to its weight; the rest uniformly from all other features.
    """
    able = np.flatnonzero(weights > 0)
    # The smallest of exponential waiting times at these rates, in their order, are such a draw.
    # Relative to the largest, none of the times is too long for a number.
    rates = np.maximum(weights[able] / weights.max(initial=1e-300), 1e-300)
    waiting = random.exponential(size=len(able)) / rates
    count = min(places, len(able))
    kept = able[np.argpartition(waiting, count - 1)[:count]] if count else able[:0]
    return filled_up(random, kept, len(weights), size)


def filled_up(random: np.random.Generator, kept: IntArray, n_features: int, size: int) -> IntArray:
    """Add features drawn uniformly from all that are not kept, up to a size; ascending."""
    kept = np.sort(np.asarray(kept, dtype=np.int64))
    n_others = n_features - len(kept)
    drawn = np.sort(random.choice(n_others, size - len(kept), replace=False, shuffle=False))
    # The d-th of the others is d + the number of kept ones before it.
    shift = np.searchsorted(kept - np.arange(len(kept)), drawn, side="right")
    return np.sort(np.concatenate([kept, drawn + shift]))


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

    def __call__(self, tree: int, _: int, columns: IntArray, found: BoolArray) -> Arrays:
        """Return the arrays of a tree and its importances, of which only those other than 0."""
        outcome = self.grow(tree, columns, found)
        values = np.concatenate([outcome.values, outcome.probes, outcome.excess])
        places = np.flatnonzero(values)
        return {**outcome.arrays, "places": places, "importances": values[places]}

    def outcome(self, arrays: Arrays, columns: IntArray) -> Outcome:
        """Return the outcome of a tree on these columns from what a call gave."""
        q, m = len(columns), self.n_probes
        values = np.zeros((1 + self.decoy) * (q + m))
        values[arrays["places"]] = arrays["importances"]
        tree = {name: arrays[name] for name in ARRAY_NAMES}
        return Outcome(columns, values[:q], values[q : q + m], values[q + m :], tree)

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

    def _orders(self, random: np.random.Generator, count: int) -> IntArray:
        """Draw orders of the rows, in which each row takes the place of one of its stratum."""
        rows = np.tile(np.arange(self.data.n_rows), (count, 1))
        strata = self.data.exchangeability.strata
        if strata is None:
            return random.permuted(rows, axis=1)
        for stratum in range(int(strata.max()) + 1):
            here = np.flatnonzero(strata == stratum)
            rows[:, here] = random.permuted(rows[:, here], axis=1)
        return rows
