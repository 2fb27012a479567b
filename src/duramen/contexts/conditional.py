"""Conditional permutations of a context (Berrett, Wang, Barber and Samworth 2020).

Permutations are drawn with probabilities in proportion to the product, over the rows, of the
weight of the context that a row is given. A Markov chain starts from a permutation with equal
probabilities and exchanges the contexts of pairs of rows with the probability that the weights
give; its pairs are drawn anew in every sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen.data.exchangeability import Exchangeability
from duramen.support.arrays import FloatArray, IntArray

Codes = NDArray[np.uint32]

_SWEEPS = 50  # as the authors use


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
    _, first, of_row, sizes = np.unique(
        rows.groups, return_index=True, return_inverse=True, return_counts=True
    )
    of_row = of_row.reshape(-1)
    order = np.argsort(of_row, kind="stable")
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    contents = np.full((len(sizes), int(sizes.max())), -1, dtype=np.int64)
    contents[of_row, place] = codes
    constant = bool((codes == codes[first][of_row]).all())
    if constant:  # groups of any size exchange the one context that each has
        weights = np.add.reduceat(log_weights[order], starts)
        every = np.tile(np.arange(log_weights.shape[1])[:, None], contents.shape[1])
        values = codes[first].astype(np.int64)
        return _Units(strata[first], values, weights, of_row, place, every)
    distinct, values = np.unique(contents, axis=0, return_inverse=True)
    alike = np.unique(np.stack([strata[first], sizes]), axis=1, return_inverse=True)[1]
    weights = np.zeros((len(sizes), len(distinct)))
    for at in range(contents.shape[1]):
        here = np.flatnonzero(sizes > at)
        row = order[starts[here] + at]
        weights[here] += log_weights[row][:, np.maximum(distinct[:, at], 0)]
    return _Units(alike.reshape(-1), values.reshape(-1), weights, of_row, place, distinct)


def _shuffled(strata: IntArray, random: np.random.Generator) -> IntArray:
    """Return the units of each group in random order, one group after the other."""
    drawn = random.permutation(len(strata))
    shuffled: IntArray = drawn[np.argsort(strata[drawn], kind="stable")]
    return shuffled
