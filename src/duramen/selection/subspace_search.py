"""Sequential random subspace search: the features of each tree and the found features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, Schema
from duramen.data.recoding import with_probes
from duramen.forests.forest import Forest, arrays_on, mean_decreases, values_for_prediction
from duramen.forests.growth import grow, grow_beside_decoys
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import (
    ARRAY_NAMES,
    FAMILY_MASK,
    FIRST_HEAVIER,
    MISSING_FIRST,
    MULTIWAY,
    ORDERED,
    joined,
)
from duramen.io import ColumnStore
from duramen.support.arrays import Arrays, BoolArray, FloatArray, IntArray
from duramen.support.files import uninterrupted


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
    batch : int
        Trees of a round, all of which know what was found before it.
    patience : int or None
        Trees without anything new after which the search ends.
    """

    n_trees: int
    size: int
    places: int
    batch: int
    patience: int | None


class SubspaceSearch:
    """Algorithm 7.1 of the thesis: features found by trees, and features for the next trees.

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
        """Add new trees, and accept the features that pass the test.

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
        """Add trees when Ctrl-C ends the search, and test features after the last tree."""
        self.take(trees)
        if self.sizes:
            self._let_in()
            self.sizes[-1] = len(self.found)

    def ready(self, trees: Sequence[Arrays]) -> int:
        """Return the number of trees that these trees allow to be grown: whole rounds."""
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
        _, subspaces, found_before = self._round
        return subspaces[number - start], found_before[number - start]

    def _drawn(self, number: int) -> IntArray:
        search, p = self._search, self._grower.data.n_columns
        random = stream(self._grower.seed, number, 0)
        relevant = np.array(self.found, dtype=np.int64)
        columns = among_found(random, relevant, p, search.size, search.places)
        return self._grower.with_shadows(columns)

    def _let_in(self) -> None:
        new = np.flatnonzero(self._test.passes(self.evidence) & ~self.member)
        self.member[new] = True
        self.found += new.tolist()
        self.entered += [self.evidence.n_trees] * len(new)


def stream(seed: int, tree: int, purpose: int) -> np.random.Generator:
    """Random numbers for a purpose: 0 features and 1 probes of a tree, 2 the decoy, 3 shadows."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(tree, purpose)))


def among_found(
    random: np.random.Generator, relevant: IntArray, n_features: int, size: int, places: int
) -> IntArray:
    """Draw a subspace of q features by step 2(a) of algorithm 7.1 of the thesis, ascending.

    At most `places` of them, floor(alpha q), are drawn from `relevant`, the set F in any order that
    is always the same; the others uniformly from all features that are not drawn yet.
    """
    kept = random.choice(relevant, min(places, len(relevant)), replace=False, shuffle=False)
    members, n_others = np.sort(kept), n_features - len(kept)
    drawn = np.sort(random.choice(n_others, size - len(members), replace=False, shuffle=False))
    # The d-th of the others is d + the number of kept ones before it.
    shift = np.searchsorted(members - np.arange(len(members)), drawn, side="right")
    return np.sort(np.concatenate([members, drawn + shift]))


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

    def grow(self, tree: int, columns: IntArray, relevant: BoolArray) -> Outcome:
        """Grow a tree, which its number determines, on columns in ascending order.

        `relevant` marks the columns that earlier trees found relevant.
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
                judged=~relevant,
                bounds=self._bounds,
            )
        else:
            forest = grow(data, self.settings, n_trees=1, first_tree=tree, seed=self.seed)
        values = mean_decreases(forest).values
        q = len(columns)
        numbers = np.concatenate([np.minimum(columns, p), np.full(self.n_probes, p)])
        return Outcome(columns, values[:q], values[q:], excess, arrays_on(forest, numbers))

    def __call__(self, tree: int, _: int, columns: IntArray, relevant: BoolArray) -> Arrays:
        """Return the arrays of a tree and its importances other than 0."""
        outcome = self.grow(tree, columns, relevant)
        values = np.concatenate([outcome.values, outcome.probes, outcome.excess])
        places = np.flatnonzero(values)
        return {**outcome.arrays, "places": places, "importances": values[places]}

    def outcome(self, arrays: Arrays, columns: IntArray) -> Outcome:
        """Return the outcome of a tree on these columns from the arrays of a call."""
        q, m = len(columns), self.n_probes
        values = np.zeros((1 + self.decoy) * (q + m))
        values[arrays["places"]] = arrays["importances"]
        tree = {name: arrays[name] for name in ARRAY_NAMES}
        return Outcome(columns, values[:q], values[q : q + m], values[q + m :], tree)

    def _table(self, columns: IntArray) -> EncodedTable:
        """Return columns, and shadow features, in memory."""
        if not self.n_shadows:
            return self._columns(columns)
        if isinstance(self.data.table, EncodedTable):
            return self._shadowed.take_columns(columns)
        return self._beside_shadows(columns[columns < self.data.n_columns])

    def _columns(self, columns: IntArray) -> EncodedTable:
        """Return columns in memory; columns of a store are dense if they have decoys."""
        table = self.data.table
        if self.decoy and isinstance(table, ColumnStore):
            # Decoys read the codes of rows, which trees on some thousand rows find sooner in these.
            return table.take_columns(columns, sparse=False)
        return table.take_columns(columns)

    @cached_property
    def _shadowed(self) -> EncodedTable:
        """All features and their shadow features, made once."""
        return self._beside_shadows(np.arange(self.data.n_columns))

    def _beside_shadows(self, features: IntArray) -> EncodedTable:
        m = self.n_shadows
        orders = [self._orders(stream(self.seed, j, 3), m) for j in features.tolist()]
        copied = np.repeat(np.arange(len(features)), m)
        return with_probes(self._columns(features), copied, np.concatenate(orders))

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
        """Draw permutations of the rows within strata."""
        rows = np.tile(np.arange(self.data.n_rows), (count, 1))
        strata = self.data.exchangeability.strata
        if strata is None:
            return random.permuted(rows, axis=1)
        for stratum in range(int(strata.max()) + 1):
            here = np.flatnonzero(strata == stratum)
            rows[:, here] = random.permuted(rows[:, here], axis=1)
        return rows


# --- tests of relevance, which decide the features that a sequential search keeps -----------------


# A seventh of the features are the tail, at most a hundred; fewer than 50 have none to speak of:
# shadow features are added to these.
_TAIL, _MOST_IN_TAIL = 7, 100
FEWEST_FEATURES, _WITH_SHADOWS = 50, 100
# Importances, in units of the impurity of the target, that rounding alone can make.
_ROUNDING = 1e-9
TESTS = ("decoy", "probe", "positive")
"""Names of the tests, the default first."""
TEST_OF = {"alpha": "decoy", "min_draws": "probe", "min_win_rate": "probe", "n_probes": "probe"}
"""Test that has each of the parameters which only one has."""


@dataclass(frozen=True)
class ProbeShare:
    """Test of the papers (thesis, 7.C.1): a feature beats the probes in most of its trees."""

    min_draws: int  # L: it was given to more trees than that
    min_win_rate: float  # beta: fraction of them in which it must be more important than each probe
    n_probes: int  # of a tree
    decoy: ClassVar[bool] = False

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,)."""
        drawn = evidence.drawn
        # 11 of 20 is 0.55; 0.55 times 20 is a little more than 11.
        fraction = evidence.wins / np.maximum(drawn, 1)
        return (drawn > self.min_draws) & (fraction >= self.min_win_rate)


@dataclass(frozen=True)
class DecoyTest:
    """Test of the excess over decoys against the largest shortfalls of other features.

    The statistic and its threshold are in the Notes of `SequentialRandomSubspace`.
    """

    alpha: float  # false discovery rate
    n_features: int | None = None  # features before the shadow features; None if there are none
    n_probes: ClassVar[int] = 0
    decoy: ClassVar[bool] = True

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,); shadow features never do."""
        scores = evidence.advantage()
        own = scores[: self.n_features]
        passing = np.zeros(len(scores), dtype=np.bool_)
        passing[: len(own)] = own >= self._threshold(own, evidence.shortfall)
        return passing

    def _threshold(self, scores: FloatArray, shortfall: FloatArray) -> float:
        """Return the least score of a feature that is enough; infinity where none is."""
        k = min(_MOST_IN_TAIL, len(shortfall) // _TAIL)
        if len(shortfall) < FEWEST_FEATURES or self.alpha == 0:
            return math.inf
        tail = np.partition(shortfall, len(shortfall) - k)[len(shortfall) - k :]
        start = float(tail.min())
        spread = float(np.log(tail / start).sum()) if start > 0 else 0.0
        if spread <= 0:
            return math.inf
        above = np.sort(scores[scores > start])[::-1]
        expected = k * (1 + np.log(above / start) / spread) ** (1 - k)
        enough = np.flatnonzero(expected <= self.alpha * np.arange(1, len(above) + 1))
        return float(above[enough[-1]]) if len(enough) else math.inf


@dataclass(frozen=True)
class PositiveImportance:
    """Rule of algorithm 7.1 of the thesis: an importance greater than zero in some tree."""

    impurity: float  # of the target: 1 for classes, its variance for numbers
    n_probes: ClassVar[int] = 0
    decoy: ClassVar[bool] = False

    def passes(self, evidence: Evidence) -> BoolArray:
        """Tell whether each feature passes, of shape (p,)."""
        return np.asarray(evidence.total > _ROUNDING * self.impurity)


RelevanceTest: TypeAlias = ProbeShare | DecoyTest | PositiveImportance
"""Test of relevance: probes that a tree is given, use of decoys, and the features that pass."""


def shadows_of_each(n_features: int) -> int:
    """Return the number of shadow features of each feature in the decoy test: 0 from 50 on."""
    return 0 if n_features >= FEWEST_FEATURES else -(-_WITH_SHADOWS // n_features) - 1


# Trees without any importance that every feature has beside its own: few trees say little.
_SHRINKAGE = 5.0
_FEWEST_COMPARED = 3


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of one tree for the q features it was given.

    Where there are decoys, `excess` has what features get beyond theirs, 0 for those that were
    found before; without, it is empty. In `arrays`, the flat arrays of the tree, features are
    numbered among all p; a probe has number p.
    """

    columns: IntArray  # the features, ascending
    values: FloatArray  # their importances in the tree
    probes: FloatArray  # importances of its probes
    excess: FloatArray
    arrays: dict[str, NDArray[Any]]


class Evidence:
    """Counts and sums over the trees, one entry a feature."""

    def __init__(self, n_features: int) -> None:
        self.drawn = np.zeros(n_features, dtype=np.int64)  # trees that were given the feature
        self.wins = np.zeros(n_features, dtype=np.int64)  # those in which it beats each probe
        self.total = np.zeros(n_features)  # sum of its importances
        # Trees in which it was compared with its decoy, that is before it was found; the sum over
        # these of what it gets beyond its decoy, and the most that `advantage` was below 0.
        self.compared = np.zeros(n_features, dtype=np.int64)
        self.excess = np.zeros(n_features)
        self.shortfall = np.zeros(n_features)
        self.n_trees = 0

    def add(self, outcome: Outcome, relevant: BoolArray) -> None:
        """Add the outcome of a tree; `relevant` marks the features that earlier trees found."""
        self.n_trees += 1
        self.drawn[outcome.columns] += 1
        self.total[outcome.columns] += outcome.values
        if outcome.excess.size:
            new = ~relevant[outcome.columns]
            columns = outcome.columns[new]
            self.compared[columns] += 1
            self.excess[columns] += outcome.excess[new]
            self.shortfall[columns] = np.maximum(self.shortfall[columns], -self.advantage(columns))
        if outcome.probes.size:
            beaten = outcome.values > outcome.probes.max()
            self.wins[outcome.columns[beaten]] += 1

    def advantage(self, columns: IntArray | slice = slice(None)) -> FloatArray:
        """Importance of features beyond their decoys, shrunk for few trees; 0 below three trees.

        W in the Notes of `SequentialRandomSubspace`; of shape (p,), or that of `columns`.
        """
        times = self.compared[columns]
        means: FloatArray = self.excess[columns] / (times + _SHRINKAGE)
        means[times < _FEWEST_COMPARED] = 0.0
        return means


# --- trees that were grown on different columns of one table, as a forest -------------------------


PROBE = "(probe)"


class Ensemble:
    """Trees of a search, put together when they are first asked for."""

    def __init__(self, trees: Sequence[Mapping[str, NDArray[Any]]], grower: Grower) -> None:
        self._trees, self._grower = trees, grower

    @cached_property
    def forest(self) -> tuple[Forest, IntArray]:
        """Return the forest of the trees and its columns, as `as_forest`."""
        return as_forest(joined(self._trees), self._grower)

    def __getstate__(self) -> dict[str, Any]:
        return {"forest": self.forest}  # without the learning set of the grower


def as_forest(arrays: Mapping[str, NDArray[Any]], grower: Grower) -> tuple[Forest, IntArray]:
    """Make a forest of trees whose features are numbered among all p columns, p for a probe.

    The forest is on the columns that some tree splits on, whose numbers among all p are returned
    with it, and one more for all probes, which new rows do not have. Splits on a probe send every
    row where most went that it was grown on.
    """
    feature = arrays["feature"]
    p = grower.data.n_columns
    columns = np.unique(feature[(feature >= 0) & (feature < p)]).astype(np.int64)
    place = np.searchsorted(columns, feature)
    numbered = np.where(feature < 0, -1, np.where(feature == p, len(columns), place))
    fields: dict[str, Any] = {**arrays, "feature": numbered.astype(np.int32)}
    n_values = _probes_unknown(fields, len(columns))
    schema = grower.data.table.schema.take(columns)
    name = PROBE
    while name in schema.names:
        name += "'"
    value_offsets = np.array([0, n_values], dtype=np.int64)
    numbers = np.arange(float(n_values))
    probes = Schema((name,), False, ("numeric",), numbers, value_offsets, {}, np.zeros(1, np.uint8))
    forest = Forest(
        **fields,
        settings=grower.settings,
        schema=values_for_prediction(schema.followed_by(probes), fields),
        classes=grower.data.classes,
        n_rows=grower.data.n_rows,
        total_weight=float(grower.data.n_rows),
        seed=grower.seed,
        fingerprint=grower.data.fingerprint,
        origin=grower.data.target.origin,
    )
    return forest, columns


def _probes_unknown(arrays: dict[str, NDArray[Any]], probe: int) -> int:
    """Rewrite the splits on probes so that they fit one column whose values are not known.

    Splits in two are made ordered, with missing values at the heavier child; those in several send
    values that they do not know there in any case. Returned is how many values the column needs:
    the codes that splits in several tell apart, or 1.
    """
    nodes = np.flatnonzero(arrays["feature"] == probe)
    several = (arrays["split"][nodes] & FAMILY_MASK) == MULTIWAY
    two = nodes[~several]
    heavier = arrays["split"][two] & FIRST_HEAVIER
    side = np.where(heavier, MISSING_FIRST, 0).astype(np.uint8)
    for name, values in (("split", ORDERED | heavier | side), ("cut", 0), ("threshold", 0.0)):
        arrays[name] = arrays[name].copy()
        arrays[name][two] = values
    tree = np.searchsorted(arrays["offsets"], nodes[several], side="right") - 1
    starts = arrays["pool_offsets"][tree] + arrays["cut"][nodes[several]]
    pool = arrays["pool"]
    last = [int(pool[start + 1 + int(pool[start])]) for start in starts.tolist()]  # they ascend
    return 1 + max(last, default=0)
