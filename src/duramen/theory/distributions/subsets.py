"""Subsets of columns in layers, with values for each member given the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.theory.distributions.finite_distribution import TARGET, FiniteDistribution
from duramen.theory.distributions.information import Partition

LIMIT = 2**20
"""The most subsets that one call looks at: some ten seconds for some hundred rows."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Subsets of k of n columns, ordered by their largest member, then the next largest.

    In this order the subsets of the first n' columns come first, whatever n is, and appending
    column c to the i-th subset of k - 1 columns below c gives subset ``comb(c, k) + i``.
    """

    members: IntArray  # shape (C(n, k), k): columns of each subset, ascending
    # Same shape: place, one layer down, of the subset that lacks its i-th member.
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
    if largest >= n_columns:
        return 1 << n_columns
    total = subsets = 1
    for k in range(1, largest + 1):
        subsets = subsets * (n_columns - k + 1) // k
        total += subsets
    return total


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
    minimal_sets = [hits[0]]
    covered = hits[0]
    for layer, hit in zip(lattice[1:], hits[1:], strict=True):
        smaller = np.zeros_like(hit)
        for i in range(hit.shape[1]):
            for j in range(hit.shape[1]):
                if i != j:  # in the subset without j, member i has moved up by one if j < i
                    smaller[:, i] |= covered[layer.without[:, j], i - (j < i)]
        minimal_sets.append(hit & ~smaller)
        covered = hit | smaller
    return minimal_sets


_AT_ONCE = 1 << 16
"""Rows times subsets that are done in one go: as much as a processor keeps at hand."""


def conditional_entropies(
    columns: NDArray[np.uint32],
    target: NDArray[np.uint32],
    weights: FloatArray,
    lattice: Sequence[Layer],
) -> list[FloatArray]:
    """Return H(Y|B) in bits for every subset B of the n columns, by layer, in its order.

    Depth first: a subset's cells refine those of its parent, the subset without its largest member.
    Cells with one class, or with one configuration of all columns, are settled for good and leave
    the refinement, so a subset costs no more than the rows that are still open. Where few rows and
    columns are left, all the subsets that remain are done at once.
    """
    entropies = [np.full(len(layer.members), np.nan) for layer in lattice]
    _Refinement(columns, target, weights, len(lattice) - 1).fill(entropies)
    for k in range(1, len(entropies)):
        # Nothing was open below these: they leave as much uncertainty as their parents.
        skipped = np.flatnonzero(np.isnan(entropies[k]))
        entropies[k][skipped] = entropies[k - 1][lattice[k].without[skipped, -1]]
    return entropies


def joint_entropies(
    function: str, dist: FiniteDistribution
) -> tuple[list[Layer], list[FloatArray]]:
    """Return all subsets of the p features and Y, which is last, and their entropies in bits.

    A context is left out. More than 2**20 subsets are refused.
    """
    variables = dist.n_features + 1
    if 2**variables > LIMIT:
        most = LIMIT.bit_length() - 2
        raise ValueError(
            f"{function}: dist must have at most {most} features, got {dist.n_features}: all sets "
            f"of variables are examined, here 2**{variables}. Hint: use a distribution of fewer "
            "features; strongly_relevant and markov_boundaries need no such search."
        )
    columns = np.column_stack([dist.codes, dist.target])
    rows = dist.partition([*range(dist.n_features), TARGET])  # a context may separate more
    first = rows.first_rows()
    # With the number of its row for a target, H(S) = H(row) - H(row|S) for any set S.
    lattice = layers(variables, variables)
    left = conditional_entropies(
        columns[first],
        np.arange(rows.n_cells, dtype=np.uint32),
        rows.masses(dist.weights),
        lattice,
    )
    return lattice, [left[0][0] - entropy for entropy in left]


def count_codes(codes: NDArray[Any]) -> int:
    """Return one more than the largest code."""
    return int(codes.max(initial=0)) + 1


@dataclass(frozen=True, eq=False, slots=True)
class _Open:
    """Rows that a further column could still separate, by the cells they lie in."""

    rows: IntArray
    part: Partition
    settled: float


class _Refinement:
    """Depth-first walk over the subsets that refines cells column by column."""

    def __init__(
        self,
        columns: NDArray[np.uint32],
        target: NDArray[np.uint32],
        weights: FloatArray,
        largest: int,
    ) -> None:
        self.columns = [column.astype(np.int64) for column in columns.T]
        self.n_codes = [count_codes(column) for column in self.columns]
        self.target = target.astype(np.int64)
        self.n_classes = count_codes(target)
        self.weights = weights
        self.largest = largest
        # The first of the subsets of k members with largest member c.
        self.start = [
            np.array([comb(c, k) for k in range(largest + 1)]) for c in range(len(self.columns))
        ]
        # A cell holds as many configurations of all columns as it holds firsts of one.
        finest = Partition.by(zip(self.columns, self.n_codes, strict=True), len(target))
        self.first = np.zeros(len(target))
        self.first[finest.first_rows()] = 1.0

    def fill(self, entropies: Sequence[FloatArray]) -> None:
        """Write H(Y|B) for every B that refines an open cell of its parent."""
        n_rows = len(self.target)
        everything = _Open(np.arange(n_rows), Partition.whole(n_rows), 0.0)
        entropies[0][0], rest = self.measure(everything)
        self.extend(entropies, 0, 0, 0, rest)

    def extend(
        self, entropies: Sequence[FloatArray], size: int, place: int, begin: int, left: _Open
    ) -> None:
        """Append columns from `begin` on to the subset at `place` of layer `size`."""
        if size == self.largest or not len(left.rows):
            return
        columns = len(self.columns) - begin
        if count_subsets(columns, self.largest - size) * len(left.rows) <= _AT_ONCE:
            self.finish(entropies, size, place, begin, left)
            return
        for c in range(begin, len(self.columns)):
            child = int(self.start[c][size + 1]) + place
            part = left.part.refined(self.columns[c][left.rows], self.n_codes[c])
            entropies[size + 1][child], rest = self.measure(_Open(left.rows, part, left.settled))
            self.extend(entropies, size + 1, child, c + 1, rest)

    def measure(self, now: _Open) -> tuple[float, _Open]:
        """Return H(Y|B) for these cells, and the rows of the unsettled cells."""
        cell, n_cells = now.part.cell, now.part.n_cells
        weights = self.weights[now.rows]
        joint = now.part.refined(self.target[now.rows], self.n_classes)
        parent = np.empty(joint.n_cells, dtype=np.int64)
        parent[joint.cell] = cell
        p = joint.masses(weights)
        terms = p * np.log2(now.part.masses(weights)[parent] / p)
        entropy = np.bincount(parent, terms, n_cells)
        open_cells = np.bincount(parent, minlength=n_cells) > 1
        open_cells &= np.bincount(cell, self.first[now.rows], n_cells) > 1
        entropy_open = float(entropy[open_cells].sum())
        settled = now.settled + float(entropy.sum()) - entropy_open
        in_open = open_cells[cell]
        number = np.cumsum(open_cells) - 1
        part = Partition(number[cell[in_open]], int(np.count_nonzero(open_cells)))
        return settled + entropy_open, _Open(now.rows[in_open], part, settled)

    def finish(
        self, layers: Sequence[FloatArray], size: int, place: int, begin: int, left: _Open
    ) -> None:
        """Append all further columns at once, on copies of the open rows."""
        sizes, places = np.array([size]), np.array([place])
        n_rows = len(left.rows)
        by_set = left.part
        by_both = by_set.refined(self.target[left.rows], self.n_classes)
        for c in range(begin, len(self.columns)):
            growing = sizes < self.largest
            codes = np.tile(self.columns[c][left.rows], np.count_nonzero(growing))
            by_set, by_both = (
                _doubled(part, np.repeat(growing, n_rows), codes, self.n_codes[c])
                for part in (by_set, by_both)
            )
            larger = sizes[growing] + 1
            places = np.concatenate([places, self.start[c][larger] + places[growing]])
            sizes = np.concatenate([sizes, larger])
        weights = np.tile(self.weights[left.rows], len(sizes))
        of_set, of_both = (part.masses(weights)[part.cell] for part in (by_set, by_both))
        terms = weights * np.log2(of_set / of_both)
        entropies = left.settled + terms.reshape(-1, n_rows).sum(axis=1)
        for k in range(size + 1, int(sizes.max()) + 1):
            layers[k][places[sizes == k]] = entropies[sizes == k]


def _doubled(part: Partition, growing: BoolArray, codes: IntArray, n_codes: int) -> Partition:
    """Return the rows followed by a copy of the growing rows, split by a further column."""
    copied = part.cell[growing]
    # As cells of those rows alone: some of all cells may have none.
    alone = Partition.whole(len(copied)).refined(copied, part.n_cells)
    copy = alone.refined(codes, n_codes)
    cell = np.concatenate([part.cell, part.n_cells + copy.cell])
    return Partition(cell, part.n_cells + copy.n_cells)
