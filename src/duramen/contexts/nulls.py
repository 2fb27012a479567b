"""Null distributions of a context: its permutations under hypotheses about features.

Rows of the same class of the target exchange their contexts, or all rows do. Within these a null
distribution has equal probabilities, or those of a model of the context ("conditional"; Berrett,
Wang, Barber and Samworth 2020): permutations are then drawn with probabilities in proportion to the
product, over the rows, of the weight of the context that a row is given. A Markov chain starts from
a permutation with equal probabilities and exchanges the contexts of pairs of rows with the
probability that the weights give; its pairs are drawn anew in every sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.contexts.inputs import Growth
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
    log_weights: FloatArray | None = None  # (n, C): of each context for each row; None: all equal
    number: int = 0  # key of its random numbers

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
        seeds = [replicate_seed(seed, first + r) for r in range(count)]
        return np.array([self.draw(codes, np.random.default_rng(own)) for own in seeds])


@dataclass(frozen=True, eq=False)
class Nulls:
    """Null distributions of the effects on all features, and of the relevance of the context."""

    effects: tuple[Null, ...]
    relevance: Null  # restricted by the strata and groups of the user alone
    cells: IntArray  # (n,): stratum and class, or quantile bin, of the target of each row
    terms: tuple[tuple[int, ...], ...] = ()  # features, or pairs, of the models of the context
    n_left_out: int = 0  # terms with very small p-values for which there are too few rows


def equal_nulls(growth: Growth, permute: str, function: str) -> Nulls:
    """Return null distributions with equal probabilities.

    A numeric target is cut into quantile bins of about eight rows in every stratum; equal values
    share a bin. Wider bins leave an association of context and target inside of them, which raises
    the rate of false rejections; narrower ones measured no better. A group exchanges its contexts
    with groups whose rows are in the same cells in the same order, or with groups of any size if
    all rows of both are in the same one.
    """
    checks.check_choice(function, "permute", permute, PERMUTE)
    n, rows = growth.data.n_rows, growth.data.exchangeability
    every = np.arange(growth.data.table.n_columns)
    strata = np.zeros(n, dtype=np.int64) if rows.strata is None else rows.strata
    own = np.asarray(growth.data.target.values)
    if growth.data.classes is None:
        own = np.zeros(n, dtype=np.int64)
        for stratum in range(int(strata.max()) + 1):
            inside = np.flatnonzero(strata == stratum)
            own[inside] = quantile_bins(
                growth.data.target.values[inside], max(1, len(inside) // _ROWS_PER_BIN)
            )
    pairs = np.stack([strata, own.astype(np.int64)])
    cells = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if permute == "all":  # one set of permutations tests the effects and the relevance
        null = Null(rows, every)
        return Nulls((null,), null, cells)
    labels = cells
    if rows.groups is not None:
        numbers: dict[tuple[int, ...], int] = {}
        labels = np.empty(n, dtype=np.int64)
        order = np.argsort(rows.groups, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(rows.groups[order])) + 1):
            of_group = cells[members].tolist()
            key = tuple(of_group[:1] if len(set(of_group)) == 1 else of_group)
            labels[members] = numbers.setdefault(key, len(numbers))
    return Nulls((Null(Exchangeability(n, labels, rows.groups), every),), Null(rows, every), cells)


def quantile_bins(values: NDArray[Any], n_bins: int) -> IntArray:
    """Number the quantile bin of each value; equal values share the bin of their middle rank."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    bins = np.floor(middle * n_bins / len(values))[code.reshape(-1)]
    return np.unique(bins, return_inverse=True)[1].reshape(-1).astype(np.int64)


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

    # Units, rows or groups, of one stratum exchange values: contexts, or lists of those of a group.
    contents = None
    if rows.groups is None:
        strata = np.zeros(rows.n_rows, dtype=np.int64) if rows.strata is None else rows.strata
        values, weights = codes.astype(np.int64), log_weights
    else:
        layout = rows.layout
        contents = np.full((len(layout.sizes), int(layout.sizes.max())), -1, dtype=np.int64)
        contents[layout.of_row, layout.place] = codes
        if (codes == codes[layout.first][layout.of_row]).all():
            # Groups of any size exchange the one context that each has.
            strata = np.zeros(rows.n_rows, dtype=np.int64) if rows.strata is None else rows.strata
            strata, values = strata[layout.first], codes[layout.first].astype(np.int64)
            weights = np.add.reduceat(log_weights[layout.rows], layout.starts)
            contents = np.tile(np.arange(log_weights.shape[1])[:, None], contents.shape[1])
        else:
            strata = layout.alike
            contents, values = np.unique(contents, axis=0, return_inverse=True)
            values, weights = values.reshape(-1), np.zeros((len(layout.sizes), len(contents)))
            for member in range(contents.shape[1]):
                here = np.flatnonzero(layout.sizes > member)
                row = layout.rows[layout.starts[here] + member]
                weights[here] += log_weights[row][:, np.maximum(contents[:, member], 0)]

    def shuffled() -> IntArray:
        """Return the units of each stratum in random order, one stratum after the other."""
        drawn = random.permutation(len(strata))
        return np.asarray(drawn[np.argsort(strata[drawn], kind="stable")])

    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.diff(strata[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    place = np.arange(len(order)) - np.repeat(starts, sizes)  # of a unit within its stratum
    drawn = np.empty((len(order), count), dtype=np.int64)
    for r in range(count):
        drawn[order, r] = values[shuffled()]
    # Units side by side in a shuffled stratum are a pair; the last of an odd number has none.
    left = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    for _ in range(_SWEEPS):
        units = shuffled()
        i, j = units[left], units[left + 1]
        own, other = drawn[i], drawn[j]
        differ = own != other
        at = np.flatnonzero(differ)
        advantage = weights[i] - weights[j]  # of each value in the first
        first = np.repeat(np.arange(len(i)) * advantage.shape[1], np.count_nonzero(differ, axis=1))
        a, b = own.ravel()[at], other.ravel()[at]
        gain = advantage.ravel()[first + b] - advantage.ravel()[first + a]
        # Exchanged with probability e^gain / (1 + e^gain).
        exchanged = np.flatnonzero(random.random(len(at)) < expit(gain))
        own.ravel()[at[exchanged]] = b[exchanged]
        other.ravel()[at[exchanged]] = a[exchanged]
        drawn[i], drawn[j] = own, other
    if contents is not None:
        drawn = contents[drawn[rows.layout.of_row], rows.layout.place[:, None]]
    return np.ascontiguousarray(drawn.T, dtype=np.uint32)
