"""Null distributions of a context: how it is permuted under the null hypothesis about features.

A scheme of permutations says which rows exchange contexts: those of the same class of the target,
or all. Within these a null distribution has equal probabilities, or those of a model of the context
("conditional"; Berrett, Wang, Barber and Samworth 2020): permutations are then drawn with
probabilities in proportion to the product, over the rows, of the weight of the context that a row
is given. A Markov chain starts from a permutation with equal probabilities and exchanges the
contexts of pairs of rows with the probability that the weights give; its pairs are drawn anew in
every sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.contexts.growth import Growth
from duramen.data.exchangeability import Exchangeability
from duramen.jobs.replicates import replicate_seed
from duramen.results.context_importances import PERMUTE
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

Codes = NDArray[np.uint32]

_ROWS_PER_BIN = 8
_SWEEPS = 50  # as the authors use


@dataclass(frozen=True, eq=False)
class Null:
    """Distribution of the permuted context under the null hypothesis about some features."""

    rows: Exchangeability  # rows that exchange contexts
    features: IntArray  # indices of the features that are tested
    log_weights: FloatArray | None = None  # (n, L): of each value for each row; None: all equal
    number: int = 0  # which tells its random numbers from those of others

    def draw(self, codes: Codes, random: np.random.Generator) -> Codes:
        """Draw one permutation of a context, of shape (n,)."""
        if self.log_weights is None:
            drawn: Codes = codes[self.rows.permutation(random, codes)]
        else:
            (drawn,) = conditional_permutations(self.rows, codes, self.log_weights, random, 1)
        return drawn

    def draws(self, codes: Codes, seed: int, first: int, count: int) -> Codes | None:
        """Draw permutations number `first` and after of a context, of shape (count, n).

        With equal probabilities each depends on the seed and its number alone. None if the kernel
        draws them: those among all rows.
        """
        if self.log_weights is not None:
            random = np.random.default_rng([replicate_seed(seed, first), self.number])
            return conditional_permutations(self.rows, codes, self.log_weights, random, count)
        if not self.rows.restricted:
            return None
        drawn = np.empty((count, len(codes)), dtype=np.uint32)
        for r in range(count):
            drawn[r] = self.draw(codes, np.random.default_rng(replicate_seed(seed, first + r)))
        return drawn


@dataclass(frozen=True)
class Term:
    """Feature, or pair of features, that is associated with the context given the target."""

    features: tuple[int, ...]
    p_value: float


@dataclass(frozen=True, eq=False)
class Nulls:
    """Null distributions of the effects on all features, and of the relevance of the context."""

    effects: tuple[Null, ...]
    relevance: Null
    terms: tuple[Term, ...] = ()  # of the models of the context
    n_left_out: int = 0  # terms with very small p-values for which there are too few rows

    @property
    def modeled(self) -> tuple[int, ...]:
        """Features of the terms."""
        return tuple(sorted({j for term in self.terms for j in term.features}))


@dataclass(frozen=True, eq=False)
class Scheme:
    """Rows that may exchange their contexts under the null hypotheses of an analysis."""

    permute: str  # {"conditional", "within_target", "all"}
    effects: Exchangeability  # rows that exchange contexts for the p-values of the effects
    # The same for the relevance of the context, whose null hypothesis is about the target: only
    # strata and groups of the user restrict it.
    relevance: Exchangeability
    # (n,): Number of the stratum and class of the target of each row, or bin of a numeric
    # target.
    cells: IntArray

    def nulls(self, n_features: int) -> Nulls:
        """Return the null distributions with equal probabilities."""
        every = np.arange(n_features)
        effects = Null(self.effects, every)
        one = self.permute == "all"  # one set of permutations tests the effects and the relevance
        return Nulls((effects,), effects if one else Null(self.relevance, every))

    def identity(self) -> dict[str, Any]:
        """Return what the permutations depend on, for metadata and checkpoints."""
        bins = {"target_groups": int(self.cells.max()) + 1}
        return {
            "permute": self.permute,
            **({} if self.permute == "all" else bins),
            **self.relevance.identity(),
            "clause": self.relevance.clause,
        }


def scheme_of(growth: Growth, permute: str, function: str) -> Scheme:
    """Check a scheme of permutations, and apply it to a target."""
    checks.check_choice(function, "permute", permute, PERMUTE)
    n, exchangeability = growth.data.n_rows, growth.data.exchangeability
    cells = target_groups(growth, exchangeability.strata)
    if permute == "all":
        return Scheme(permute, exchangeability, exchangeability, cells)
    groups = exchangeability.groups
    labels = cells if groups is None else _by_group(cells, groups)
    return Scheme(permute, Exchangeability(n, labels, groups), exchangeability, cells)


def target_groups(growth: Growth, strata: IntArray | None = None) -> IntArray:
    """Number the rows of the same stratum and the same class, or bin, of the target.

    A numeric target is cut into quantile bins of about eight rows in every stratum; equal values
    share a bin. Wider bins leave an association of context and target inside of them, which raises
    the rate of false rejections; narrower ones measured no better.
    """
    n = growth.data.table.n_rows
    if strata is None:
        strata = np.zeros(n, dtype=np.int64)
    own = np.asarray(growth.data.target.values)
    if growth.data.classes is None:
        own = np.zeros(n, dtype=np.int64)
        for stratum in range(int(strata.max()) + 1):
            rows = np.flatnonzero(strata == stratum)
            own[rows] = quantile_bins(
                growth.data.target.values[rows], max(1, len(rows) // _ROWS_PER_BIN)
            )
    pairs = np.stack([strata, own.astype(np.int64)])
    return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def quantile_bins(values: NDArray[Any], n_bins: int) -> IntArray:
    """Number the quantile bin of each value; equal values share one, that of their middle rank."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    bins = np.floor(middle * n_bins / len(values))[code.reshape(-1)]
    return np.unique(bins, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _by_group(cells: IntArray, groups: IntArray) -> IntArray:
    """Give the rows of a group one label: the cells of its rows, in their order.

    Groups with one cell throughout have the same label whatever their size.
    """
    labels: dict[tuple[int, ...], int] = {}
    group_labels = np.empty(len(cells), dtype=np.int64)
    order = np.argsort(groups, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        own = cells[rows].tolist()
        key = tuple(own[:1] if len(set(own)) == 1 else own)
        group_labels[rows] = labels.setdefault(key, len(labels))
    return group_labels


# --- permutations with probabilities --------------------------------------------------------------


def conditional_permutations(
    rows: Exchangeability,
    codes: Codes,
    log_weights: FloatArray,
    random: np.random.Generator,
    count: int,
) -> Codes:
    """Draw permutations of a context with given log-weights, of shape (count, n).

    Only rows that `rows` allows exchange contexts; groups exchange theirs as a whole.
    """
    from scipy.special import expit

    units = _units(rows, codes, log_weights)
    order = np.argsort(units.strata, kind="stable")
    starts = np.flatnonzero(np.diff(units.strata[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    place = np.arange(len(order)) - np.repeat(starts, sizes)  # of a unit within its group
    drawn = np.empty((len(order), count), dtype=np.int64)
    for r in range(count):
        drawn[order, r] = units.values[_shuffled(units.strata, random)]
    # Units side by side in a shuffled group are a pair; the last of an odd number has none.
    left = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    for _ in range(_SWEEPS):
        shuffled = _shuffled(units.strata, random)
        i, j = shuffled[left], shuffled[left + 1]
        own, other = drawn[i], drawn[j]
        differ = own != other
        at = np.flatnonzero(differ)
        advantage = units.log_weights[i] - units.log_weights[j]  # of each value in the first
        first = np.repeat(np.arange(len(i)) * advantage.shape[1], np.count_nonzero(differ, axis=1))
        a, b = own.ravel()[at], other.ravel()[at]
        gain = advantage.ravel()[first + b] - advantage.ravel()[first + a]
        # Exchanged with probability e^gain / (1 + e^gain).
        exchanged = np.flatnonzero(random.random(len(at)) < expit(gain))
        own.ravel()[at[exchanged]] = b[exchanged]
        other.ravel()[at[exchanged]] = a[exchanged]
        drawn[i], drawn[j] = own, other
    return units.contexts(drawn)


@dataclass(frozen=True, eq=False)
class _Units:
    """Rows or groups that exchange values, which are contexts or, of a group, lists of them."""

    strata: IntArray  # (U,): units of one number exchange values
    values: IntArray  # (U,): number of the value of each unit
    log_weights: FloatArray  # (U, V): of each value for each unit
    # Of groups: group and place of each row in it, and the contexts of each value by place.
    of_row: IntArray | None = None
    place: IntArray | None = None
    contents: IntArray | None = None

    def contexts(self, drawn: IntArray) -> Codes:
        """Return the context of every row from the values of the units, of shape (U, count)."""
        if self.of_row is not None:
            assert self.contents is not None
            assert self.place is not None
            drawn = self.contents[drawn[self.of_row], self.place[:, None]]
        return np.ascontiguousarray(drawn.T, dtype=np.uint32)


def _units(rows: Exchangeability, codes: Codes, log_weights: FloatArray) -> _Units:
    strata = np.zeros(rows.n_rows, dtype=np.int64) if rows.strata is None else rows.strata
    if rows.groups is None:
        return _Units(strata, codes.astype(np.int64), log_weights)
    layout = rows.layout
    first, of_row, sizes, place = layout.first, layout.of_row, layout.sizes, layout.place
    contents = np.full((len(sizes), int(sizes.max())), -1, dtype=np.int64)
    contents[of_row, place] = codes
    constant = bool((codes == codes[first][of_row]).all())
    if constant:  # groups of any size exchange the one context that each has
        weights = np.add.reduceat(log_weights[layout.rows], layout.starts)
        every = np.tile(np.arange(log_weights.shape[1])[:, None], contents.shape[1])
        values = codes[first].astype(np.int64)
        return _Units(strata[first], values, weights, of_row, place, every)
    distinct, values = np.unique(contents, axis=0, return_inverse=True)
    weights = np.zeros((len(sizes), len(distinct)))
    for at in range(contents.shape[1]):
        here = np.flatnonzero(sizes > at)
        row = layout.rows[layout.starts[here] + at]
        weights[here] += log_weights[row][:, np.maximum(distinct[:, at], 0)]
    return _Units(layout.alike, values.reshape(-1), weights, of_row, place, distinct)


def _shuffled(strata: IntArray, random: np.random.Generator) -> IntArray:
    """Return the units of each group in random order, one group after the other."""
    drawn = random.permutation(len(strata))
    return np.asarray(drawn[np.argsort(strata[drawn], kind="stable")])
