"""All subsets of some columns, and what is left to know of a target given each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

LIMIT = 2**20
"""The most subsets that one call looks at: a minute or so for some hundred rows."""


@dataclass(frozen=True, eq=False)
class Layer:
    """The subsets of k of n columns, ordered by their largest member, then the next largest.

    In this order the subsets of the first n' columns come first, whatever n is, and appending
    column c to the i-th subset of k - 1 columns below c gives subset ``comb(c, k) + i``.

    Parameters
    ----------
    members : ndarray of int64, shape (C(n, k), k)
        The columns of each subset, ascending.
    without : ndarray of int64, shape (C(n, k), k)
        Place, one layer down, of the subset that lacks its i-th member.
    """

    members: IntArray
    without: IntArray


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


def conditional_entropies(
    columns: NDArray[np.uint32],
    target: NDArray[np.uint32],
    weights: FloatArray,
    lattice: Sequence[Layer],
) -> list[FloatArray]:
    r"""Return H(Y|B) in bits for every subset B of the columns, layer by layer.

    Depth first: a subset's cells refine those of its parent, the subset without its largest
    member. Cells with one class, or with one configuration of all columns, are settled for good
    and leave the refinement, so a subset costs no more than the rows that are still open.

    Parameters
    ----------
    columns : ndarray of uint32, shape (N, n)
        Codes of the columns.
    target : ndarray of uint32, shape (N,)
        Codes of Y.
    weights : ndarray of float64, shape (N,)
        Weights of the rows.
    lattice : sequence of Layer
        What `layers` gives for n columns.

    Returns
    -------
    list of ndarray of float64, shape (C(n, k),)
        The entropies of the subsets of each layer, in its order.
    """
    found = [np.full(len(layer.members), np.nan) for layer in lattice]
    _Refinement(columns, target, weights).fill(found)
    for k in range(1, len(found)):
        # Nothing was open below these: they leave as much uncertainty as their parents.
        skipped = np.flatnonzero(np.isnan(found[k]))
        found[k][skipped] = found[k - 1][lattice[k].without[skipped, -1]]
    return found


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
    """Return which hits (m, B) have no other hit (m, B') with B' a proper part of B.

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


def dense(keys: IntArray, bound: int) -> tuple[IntArray, int]:
    """Return ranks of the keys among their distinct values, and how many of these there are.

    `keys` are at least 0 and less than `bound`.
    """
    if bound > 4 * len(keys) + 64:
        values, ranks = np.unique(keys, return_inverse=True)
        return ranks.reshape(-1), len(values)
    seen = np.zeros(bound, dtype=np.bool_)
    seen[keys] = True
    place = np.cumsum(seen) - 1
    return place[keys], int(place[-1]) + 1 if bound else 0


def cells(columns: NDArray[np.uint32]) -> tuple[IntArray, int]:
    """Return, for each row, the number of its configuration of the columns, and their count."""
    ids, n = np.zeros(len(columns), dtype=np.int64), min(1, len(columns))
    for column in columns.T.astype(np.int64):
        values = int(column.max(initial=-1)) + 1
        ids, n = dense(ids * values + column, n * values)
    return ids, n


def conditional_entropy(
    ids: IntArray, n: int, target: NDArray[np.uint32], weights: FloatArray
) -> float:
    """Return H(Y|B) in bits, for rows whose values of B are numbered by `ids` below `n`."""
    codes = target.astype(np.int64)
    classes = int(codes.max(initial=-1)) + 1
    return float(_cell_entropies(ids, n, codes, classes, weights)[0].sum())


def _cell_entropies(
    ids: IntArray, n: int, target: IntArray, classes: int, weights: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return P(b) H(Y|B=b) of each cell b, and whether it holds more than one class."""
    pairs, n_pairs = dense(ids * classes + target, n * classes)
    cell = np.empty(n_pairs, dtype=np.int64)
    cell[pairs] = ids
    joint = np.bincount(pairs, weights, n_pairs)
    total = np.bincount(ids, weights, n)
    entropy = np.bincount(cell, joint * np.log2(total[cell] / joint), n)
    mixed = np.bincount(cell, minlength=n) > 1
    entropy[~mixed] = 0.0
    return entropy, mixed


@dataclass(frozen=True, eq=False)
class _Open:
    """The rows whose cells a further column could still split."""

    rows: IntArray
    ids: IntArray
    n: int
    settled: float


class _Refinement:
    """One walk over the subsets: refine the cells column by column, note what is left open."""

    def __init__(
        self, columns: NDArray[np.uint32], target: NDArray[np.uint32], weights: FloatArray
    ) -> None:
        self.columns = [column.astype(np.int64) for column in columns.T]
        self.values = [int(column.max(initial=-1)) + 1 for column in self.columns]
        self.target = target.astype(np.int64)
        self.classes = int(target.max(initial=-1)) + 1
        self.weights = weights
        # A cell holds as many configurations of all columns as it holds firsts of one.
        finest, n = cells(columns)
        self.first = np.zeros(len(target))
        self.first[np.unique(finest, return_index=True)[1]] = 1.0

    def fill(self, found: list[FloatArray]) -> None:
        n_rows = len(self.target)
        everything = _Open(np.arange(n_rows), np.zeros(n_rows, dtype=np.int64), 1, 0.0)
        found[0][0], rest = self.measure(everything)
        self.extend(found, 1, 0, 0, rest)

    def extend(
        self, found: list[FloatArray], size: int, place: int, start: int, left: _Open
    ) -> None:
        """Append each column from `start` on to the subset at `place` of the layer below."""
        if size == len(found) or not left.n:
            return
        for c in range(start, len(self.columns)):
            child = comb(c, size) + place
            keys = left.ids * self.values[c] + self.columns[c][left.rows]
            ids, n = dense(keys, left.n * self.values[c])
            found[size][child], rest = self.measure(_Open(left.rows, ids, n, left.settled))
            self.extend(found, size + 1, child, c + 1, rest)

    def measure(self, now: _Open) -> tuple[float, _Open]:
        """Return H(Y|B) for these cells, and the rows of those that are not settled."""
        entropy, mixed = _cell_entropies(
            now.ids, now.n, self.target[now.rows], self.classes, self.weights[now.rows]
        )
        unsettled = mixed & (np.bincount(now.ids, self.first[now.rows], now.n) > 1)
        settled = now.settled + float(entropy[~unsettled].sum())
        kept = unsettled[now.ids]
        renumbered = np.cumsum(unsettled) - 1
        rest = _Open(
            now.rows[kept], renumbered[now.ids[kept]], int(np.count_nonzero(unsettled)), settled
        )
        return settled + float(entropy[unsettled].sum()), rest
