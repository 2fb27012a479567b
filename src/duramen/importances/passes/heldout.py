"""MDI from rows that a tree was not grown from.

The splits are the tree's, the evidence for them is not. A feature that has nothing to do with
the target then gets 0 on average, however many cut points it offers, while MDI from the training
rows rewards it for what the search fitted by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.forest import Forest
from duramen.importances.passes.nodes import Nodes, Tally, weighted_counts
from duramen.importances.samples import Sample, arrivals_by_blocks
from duramen.support.arrays import BoolArray, FloatArray, IntArray


def add_held_out(tally: Tally, run: Forest, sample: Sample, *, in_bag: bool = False) -> None:
    """Add the decreases that rows show when they are dropped through a run of trees.

    The formulas are in :func:`duramen.importances.mdi`. Li et al. (2019) have sum_c (n_c / n) m_c .
    Y_c - (n_t / n) m_t . Y_t, which a constant added to y makes noisier. A score in bits that mixes
    training and held-out frequencies would charge an irrelevant feature for the noise of its
    training frequencies. Where the classes of the rows at t have nothing to do with the children
    that they go to, any permutation of them is as likely, and all scores have mean 0 exactly. Trees
    that no row was dropped through do not count.

    Rows of a group depend on each other, and their classes cannot be permuted one by one: of each
    group that is out of the bag of a tree, a score in bits takes a row drawn at random, and is the
    mean over five such draws.

    With `in_bag`, a node weighs as much as its training rows do, as in UFI, and splits with a child
    that no row was dropped to count for 0.
    """
    nodes = Nodes(run)
    arrived: Iterable[Arrived] = arrivals_by_blocks(run, sample)
    if run.groups is None or run.settings.criterion != "entropy" or not sample.out_of_bag:
        all_held = [_Held.of(nodes, sample, arrived)]
    else:
        arrived = list(arrived)
        all_held = [
            _Held.of(nodes, sample, arrived, drawn) for drawn in _rows_of_groups(run, run.groups)
        ]
    n_trees = int(np.count_nonzero(all_held[0].rows[run.offsets[:-1]]))
    fraction = _fractions(nodes, all_held[0], in_bag)
    for held in all_held[1:]:
        fraction += _fractions(nodes, held, in_bag)
    tally.add(nodes, fraction / len(all_held), n_trees=n_trees)


def _fractions(nodes: Nodes, held: _Held, in_bag: bool) -> FloatArray:
    """Return the decrease of every node, times the fraction of its tree that it weighs."""
    run = nodes.forest
    weighted = held.weighted(run.weight) if in_bag else held
    if run.settings.criterion == "entropy":
        gain = _excess_information(nodes, held)
        if in_bag:
            gain *= weighted.rows / _positive(held.rows)
    else:
        gain = _covariance(nodes, weighted)
    if in_bag:
        parents = nodes.internal()
        if run.classes is None:  # classes add up to 1 at every node, numbers have a scatter
            squares = weighted.squares
            gain[parents] += 0.5 * (squares[parents] - nodes.over_children(squares, parents))
        unreached = nodes.over_children((held.rows == 0).astype(np.int64), parents) > 0
        gain[parents[unreached]] = 0.0
    return gain / _positive(weighted.rows[run.offsets[:-1]])[nodes.tree]


def _positive(weights: FloatArray) -> FloatArray:
    """Return divisors: 1 in place of 0, where what is divided is 0 too."""
    return np.where(weights > 0.0, weights, 1.0)


Arrived = tuple[slice, NDArray[np.integer], NDArray[np.integer]]


@dataclass(frozen=True, eq=False)
class _Held:
    """Number of rows (N,), sums of their responses (N, C) and of the squares (N,) at every node."""

    rows: FloatArray
    sums: FloatArray
    squares: FloatArray

    @classmethod
    def of(
        cls,
        nodes: Nodes,
        sample: Sample,
        arrived: Iterable[Arrived],
        drawn: BoolArray | None = None,
    ) -> _Held:
        """Count rows, of those that came to leaves, or those that are drawn for each tree."""
        n_nodes = nodes.forest.n_nodes
        at_nodes: list[FloatArray] = []
        for block, node, row in arrived:
            if drawn is not None:
                kept = drawn[row + block.start, nodes.tree[node]]
                node, row = node[kept], row[kept]
            responses = _responses(nodes.forest, sample.target[block])
            columns = [*np.ascontiguousarray(responses.T), (responses**2).sum(axis=1)]
            amounts = (np.ones(row.size), *(column[row] for column in columns))
            if not at_nodes:
                at_nodes = [weighted_counts(node, amount, n_nodes) for amount in amounts]
                continue
            for sums, amount in zip(at_nodes, amounts, strict=True):
                np.add.at(sums, node, amount)  # row by row, as if there were one block
        of_leaves = np.column_stack([sums[nodes.leaves] for sums in at_nodes])
        both = nodes.summed_up(of_leaves)
        return cls(both[:, 0], both[:, 1:-1], both[:, -1])

    def weighted(self, weight: FloatArray) -> _Held:
        """Return the same mean responses with other weights (N,) of the nodes."""
        scale = weight / _positive(self.rows)
        rows = np.where(self.rows > 0, weight, 0.0)
        return _Held(rows, self.sums * scale[:, np.newaxis], self.squares * scale)


_DRAWS = 5


def _rows_of_groups(run: Forest, groups: NDArray[np.uint32]) -> Iterator[BoolArray]:
    """Draw a training row of each group for each tree, (n, T), some times; all rows as often."""
    sizes = np.bincount(groups)
    rows, starts = np.argsort(groups, kind="stable"), np.cumsum(sizes) - sizes
    trees = range(run.first_tree, run.first_tree + run.n_trees)
    uniform = np.array([np.random.default_rng([run.seed, t]).random(len(sizes)) for t in trees])
    for k in range(_DRAWS):
        place = ((uniform + k / _DRAWS) % 1.0 * sizes).astype(np.int64)
        drawn = np.zeros((run.n_rows, run.n_trees), dtype=np.bool_)
        np.put_along_axis(drawn, rows[starts + place].T, True, axis=0)
        yield drawn


def _responses(forest: Forest, target: NDArray[Any]) -> FloatArray:
    """Return y less the forest's origin as one column, or an indicator of each of its classes."""
    if forest.classes is None:
        return target[:, np.newaxis].astype(np.float64, copy=False)
    indicators: FloatArray = np.eye(len(forest.classes))[target]
    return indicators


def _covariance(nodes: Nodes, held: _Held) -> FloatArray:
    """Return sum_c n_c m_c . (Y_c - Y_t) of every internal node."""
    run = nodes.forest
    mass = run.leaf_values * run.weight[nodes.leaves][:, np.newaxis]
    mean = nodes.summed_up(mass) / run.weight[:, np.newaxis]
    agreement = np.einsum("ij,ij->i", mean, held.sums)
    predicted = held.rows[:, np.newaxis] * mean
    parents = nodes.internal()
    seen = held.sums[parents] / _positive(held.rows[parents])[:, np.newaxis]
    by_chance = np.einsum("ij,ij->i", nodes.over_children(predicted, parents), seen)
    covariance = np.zeros(run.n_nodes)
    covariance[parents] = nodes.over_children(agreement, parents) - by_chance
    return covariance


def _excess_information(nodes: Nodes, held: _Held) -> FloatArray:
    """Return n_t (I - E[I]) of every internal node, in bits.

    I depends on the cells n_cy of children by classes alone when the margins are fixed, so that
    n_t (I - E[I]) = sum_cy (n_cy log2 n_cy - E[n_cy log2 n_cy]).
    """
    parents = nodes.internal()
    children = nodes.children(parents)
    brood = np.repeat(parents, nodes.n_children[parents])
    counts = np.rint(held.sums).astype(np.int64)
    total, cells, above = counts.sum(axis=1), counts[children], counts[brood]
    several = np.nonzero((above > 1) & (total[children] > 1)[:, np.newaxis])
    by_chance = np.zeros(cells.shape)  # as one row alone has no information
    by_chance[several] = mean_xlog2x(
        total[brood][several[0]], total[children][several[0]], above[several]
    )
    surplus = np.zeros(nodes.forest.n_nodes)
    surplus[children] = (xlog2x(cells) - by_chance).sum(axis=1)
    excess = np.zeros(nodes.forest.n_nodes)
    excess[parents] = nodes.over_children(surplus, parents)
    return excess


# --- expected information between independent variables -------------------------------------------


# Terms of hypergeometric sums that are held in memory at once.
_TERMS = 200_000


def xlog2x(counts: IntArray) -> FloatArray:
    """Return n log2 n of every count, 0 for n = 0."""
    n = np.arange(int(counts.max(initial=0)) + 1, dtype=np.float64)
    table: FloatArray = n * np.log2(np.maximum(n, 1.0))
    return table[counts]


def mean_xlog2x(total: IntArray, drawn: IntArray, marked: IntArray) -> FloatArray:
    """Return the mean of n log2 n, n being hypergeometric; shape (m,).

    n is the number of marked rows among `drawn` rows taken without replacement from `total` rows of
    which `marked` are marked: a cell of a table of two variables when one of them is permuted. Sums
    run over ten standard deviations and forty counts to either side of the mean, outside of which
    the probability is below 1e-20.
    """
    from scipy.special import gammaln

    cells, place = _distinct(total, drawn, marked)
    n, a, b = cells
    mean = a * b / np.maximum(n, 1)
    variance = mean * (1 - b / np.maximum(n, 1)) * (n - a) / np.maximum(n - 1, 1)
    reach = 10 * np.sqrt(np.maximum(variance, 0.0)) + 40
    low = np.maximum(np.maximum(0, a + b - n), np.floor(mean - reach).astype(np.int64))
    high = np.minimum(np.minimum(a, b), np.ceil(mean + reach).astype(np.int64))
    log_factorial = gammaln(np.arange(int(n.max(initial=0)) + 2) + 1.0)
    means = np.empty(n.size)
    ends = np.cumsum(high - low + 1)
    start = 0
    while start < n.size:
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _TERMS, side="right")))
        run = slice(start, stop)
        means[run] = _mean_over(low[run], high[run], n[run], a[run], b[run], log_factorial)
        start = stop
    return means[place]


def _mean_over(
    low: IntArray,
    high: IntArray,
    n: IntArray,
    a: IntArray,
    b: IntArray,
    log_factorial: FloatArray,
) -> FloatArray:
    sizes = high - low + 1
    starts = np.cumsum(sizes) - sizes
    x = np.repeat(low - starts, sizes) + np.arange(int(sizes.sum()))
    n, a, b = (np.repeat(count, sizes) for count in (n, a, b))
    weight = -(
        log_factorial[x]
        + log_factorial[a - x]
        + log_factorial[b - x]
        + log_factorial[n - a - b + x]
    )
    weight = np.exp(weight - np.repeat(np.maximum.reduceat(weight, starts), sizes))
    mean: FloatArray = np.add.reduceat(weight * xlog2x(x), starts)
    return mean / np.add.reduceat(weight, starts)


def _distinct(
    total: IntArray, drawn: IntArray, marked: IntArray
) -> tuple[tuple[IntArray, IntArray, IntArray], IntArray]:
    """Return the distinct triples, and the place of each given one among them."""
    base = int(total.max(initial=0)) + 1
    if base**3 > np.iinfo(np.int64).max:
        return (total, drawn, marked), np.arange(total.size)
    small, large = np.minimum(drawn, marked), np.maximum(drawn, marked)
    keys, place = np.unique((total * base + large) * base + small, return_inverse=True)
    return (keys // base**2, keys // base % base, keys % base), place
