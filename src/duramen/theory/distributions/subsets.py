"""Subsets of columns, layer by layer, with values for each member given the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from duramen.support.arrays import BoolArray, FloatArray
from duramen.theory.distributions.partition import IndexArray

LIMIT = 2**20
"""The most subsets that one call looks at: some ten seconds for some hundred rows."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Subsets of k of n columns, ordered by their largest member, then the next largest.

    In this order the subsets of the first n' columns come first, whatever n is, and appending
    column c to the i-th subset of k - 1 columns below c gives subset ``comb(c, k) + i``.
    """

    members: IndexArray  # shape (C(n, k), k): columns of each subset, ascending
    # Same shape: place, one layer down, of the subset that lacks its i-th member.
    without: IndexArray


def layers(n_columns: int, largest: int) -> list[Layer]:
    """Return the subsets of 0, 1, ... `largest` of `n_columns` columns, one layer a size."""
    nothing = np.empty((1, 0), dtype=np.int64)
    made = [Layer(nothing, nothing)]
    for k in range(1, largest + 1):
        below = made[-1]
        parts = [np.arange(comb(c, k - 1)) for c in range(n_columns)]
        parent = np.concatenate(parts)
        last = np.repeat(np.arange(n_columns), [len(part) for part in parts])
        # Without an earlier member: the parent without it, and `last` appended to that.
        start = np.array([comb(c, k - 1) for c in range(n_columns)])
        earlier = start[last][:, np.newaxis] + below.without[parent]
        made.append(
            Layer(
                np.column_stack([below.members[parent], last]),
                np.column_stack([earlier, parent]),
            )
        )
    return made


def count_subsets(n_columns: int, largest: int) -> int:
    """Return the number of subsets of at most `largest` of `n_columns` columns."""
    return sum(comb(n_columns, k) for k in range(min(largest, n_columns) + 1))


def gains(lattice: Sequence[Layer], entropies: Sequence[FloatArray]) -> list[FloatArray]:
    """Return I(X_m;Y|B) in bits for every member m of every subset and the rest B of it.

    Entry k has shape (C(n, k), k): subset by member. Each pair of a column m and a set B without
    it occurs exactly once.
    """
    first = np.empty((1, 0))
    rest = (
        entropies[k - 1][lattice[k].without] - entropies[k][:, np.newaxis]
        for k in range(1, len(lattice))
    )
    return [first, *rest]


def minimal(lattice: Sequence[Layer], hits: Sequence[BoolArray]) -> list[BoolArray]:
    """Select the hits (m, B) without another hit (m, B') for a proper part B' of B.

    Parameters
    ----------
    lattice : sequence of Layer
        The subsets.
    hits : sequence of ndarray of bool, shape (C(n, k), k)
        Shaped as what `gains` returns.
    """
    kept = [hits[0]]
    covered = hits[0]
    for layer, hit in zip(lattice[1:], hits[1:], strict=True):
        smaller = np.zeros_like(hit)
        for i in range(hit.shape[1]):
            for j in range(hit.shape[1]):
                if i != j:  # in the subset without j, member i has moved up by one if j < i
                    smaller[:, i] |= covered[layer.without[:, j], i - (j < i)]
        kept.append(hit & ~smaller)
        covered = hit | smaller
    return kept
