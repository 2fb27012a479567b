"""Exact importances of infinitely many trees, for any K, depth and family of splits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np

from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.checks import check_choice, check_integer, check_real, refuse
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.population.lattice import Progress, check_depth
from duramen.theory.population.splits import (
    FAMILIES,
    Words,
    best_cuts,
    best_of_cuts,
    chosen_features,
    count_splits,
    gains,
    groupings,
    in_order,
    numbers_at,
    packed,
    unpacked,
)

CUTS = ("random", "uniform", "best")

MOST_NODES = 1_000_000
"""The most distinct nodes that are looked at by default."""

_MERGED = 1 << 16  # so many nodes of one size are merged before their turn
_MOST_NUMBERS = 2**27  # that one node may need
ROUNDING = 1e-12  # by which a probability or a decrease may be below its limit


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """Nodes with as many rows each, and the probabilities that trees have and split them.

    Parameters
    ----------
    nodes : ndarray of uint64, shape (n, words)
        The nodes; see `Nodes`.
    size : int
        Number of rows of each.
    reach : ndarray of float64, shape (n, D)
        Probability that a tree has the node at each depth.
    splits : Splits
        The splits of the nodes.
    amount : ndarray of float64, shape (D, T)
        Probability that a tree splits the node so at each depth, times that of the node's rows.
    """

    nodes: Words
    size: int
    reach: FloatArray
    splits: Splits
    amount: FloatArray


_Ways = list[tuple[Words, FloatArray]]
"""Nodes of one number of rows that trees reach, and the probability of each at each depth."""


def _merged(ways: _Ways) -> tuple[Words, FloatArray]:
    """Return each node once, with all the ways to reach it."""
    rows, reach = (np.concatenate(part) for part in zip(*ways, strict=True))
    order, first = in_order(rows)
    return rows[order[first]], np.add.reduceat(reach[order], first, axis=0)


class Trees:
    r"""Infinitely many trees on a distribution; iterates over their nodes, larger ones first.

    Nodes with the same rows are one node, since what happens below depends on nothing else but the
    depth. A node with a single class is a leaf; any other is split if it can be and no limit
    forbids it, even where no split lowers the impurity.

    Parameters
    ----------
    function : str
        Name of the public function, for errors.
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    max_features : int or None
        Number K of features drawn at a node, at least 1; None, and more than there are, is all.
    max_depth : int, optional
        Greatest depth D of a leaf; by default trees are grown until nothing can be split.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity; the variance needs a numeric Y.
    splits : {"multiway", "ordered", "one-vs-rest", "any"}, default="multiway"
        Family of splits; see Notes.
    cut : {"random", "uniform", "best"}, default="random"
        Which of its splits a drawn feature offers: any, all alike, as Extra-Trees do where columns
        are ordinal; the one of a cut that is uniform between the least and the largest value at the
        node, as Extra-Trees do where columns are numeric, for ordered splits alone; or the best, as
        in random forests. For binary splits alone.
    min_samples_split : float, default=0.0
        Least probability P(t) of a node that is split: the fraction of the rows of a learning set.
    min_impurity_decrease : float, default=0.0
        Least :math:`P(t) \Delta i(s, t)` of a split; a node whose best candidate has less is a
        leaf.
    max_nodes : int, default=1_000_000
        The most distinct nodes; each takes some hundred bytes.

    Notes
    -----
    *Multiway.* One child for each value seen. Of the features U not used above, k = min(K, \|U\|)
    are drawn without replacement and the best is used. A feature that is constant at the node can
    be drawn as well; where it is taken (it ties with features of decrease 0) the node has one
    child, itself, with one feature less to use. The depth of a node is thus the size of the set B
    that it is conditioned on: for K = 1 this is the sum over subsets (thesis, eq. 5.2 and 5.10;
    Louppe et al. 2013, eq. 3 and proposition 6).

    *Binary.* The m values of the feature that are seen at the node go to two children: by order
    ("ordered", m - 1 cuts), one against the others ("one-vs-rest", m splits, or 1 for m = 2), or
    in any two groups ("any", 2^(m-1) - 1). min(K, n) of the n features that are not constant at
    the node are drawn without replacement, each offers one of its splits, and the best is taken
    (thesis, section 5.7). A feature can be used again below. The depth of a node is the number of
    splits above it.

    Decreases that differ by at most 1e-12 (times the node's variance, where that is the impurity)
    tie, and ties are broken uniformly.

    References
    ----------
    A. Sutera (2019). Importance measures derived from random forests: characterisation and
    extension. PhD thesis, University of Liège, chapter 5. G. Louppe, L. Wehenkel, A. Sutera,
    P. Geurts (2013). Understanding variable importances in forests of randomized trees. NIPS 26.
    """

    def __init__(
        self,
        function: str,
        dist: FiniteDistribution,
        *,
        max_features: int | None = 1,
        max_depth: int | None = None,
        criterion: str = "entropy",
        splits: str = "multiway",
        cut: str = "random",
        min_samples_split: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_nodes: int = MOST_NODES,
    ) -> None:
        check_distribution(function, dist)
        p = max(1, dist.n_features)
        self.function = function
        self.max_features = p if max_features is None else max_features
        check_integer(function, "max_features", self.max_features, 1)
        self.max_nodes = check_integer(function, "max_nodes", max_nodes, 1)
        depth = check_depth(function, max_depth, dist.n_features)
        check_choice(function, "splits", splits, FAMILIES)
        self.cut = check_choice(function, "cut", cut, CUTS)
        if splits == "multiway" and cut != "random":
            hint = "a feature has a single multiway split; splits='any' offers a choice"
            raise refuse(function, "cut", "'random' for multiway splits", cut, hint)
        numeric = all(
            labels.dtype.kind in "biuf" and np.isfinite(labels.astype(np.float64)).all()
            for labels in dist.labels
        )
        if cut == "uniform" and (splits != "ordered" or not numeric):
            hint = "splits='ordered', and columns of numbers"
            allowed = "'random' or 'best' unless splits are ordered and all features are numbers"
            raise refuse(function, "cut", allowed, cut, hint)
        if splits != "multiway":  # a feature can be split on again
            bound = min(dist.n_rows - 1, int(np.sum(dist.cardinalities - 1)))
            depth = bound if max_depth is None else min(int(max_depth), bound)
        _check_size(function, dist, splits, self.max_nodes)
        self.nodes = Nodes(function, dist, criterion, splits)
        self.depth = max(1, depth)
        self.min_samples_split = check_real(
            function, "min_samples_split", min_samples_split, 0.0, most=1.0
        )
        self.min_impurity_decrease = check_real(
            function, "min_impurity_decrease", min_impurity_decrease, 0.0
        )

    def importances(self, progress: Progress | None = None) -> FloatArray:
        r"""Compute the importance of each feature by depth of the node, shape (p, D).

        .. math:: Imp(X_m) = \sum_{t} \pi(t) \, P(t) \sum_{s \in s_m(t)} \pi(s|t) \, \Delta i(s, t)

        over all nodes t that a tree can have: :math:`\pi(t)` is the probability that a tree has t,
        P(t) that of the rows of t, and :math:`\pi(s|t)` the probability that t is split by s, one
        of the splits :math:`s_m(t)` of feature m. Rows add up to the importance, not normalized. D
        is min(max_depth, p) for multiway splits; for binary ones columns end with the last depth at
        which a split gains something, but there is at least one. `progress` is called with a
        fraction from 0 to 1: one minus the fraction of the rows that the nodes at work hold.
        """
        by_degree = np.zeros((self.nodes.n_features, self.depth))
        for step in self:
            if progress is not None:
                progress(1.0 - step.size / len(self.nodes.weights))
            some = step.splits
            gained = step.amount * (some.scale[some.node] * some.decrease)
            for k, of_depth in enumerate(gained):
                by_degree[:, k] += np.bincount(some.feature, of_depth, minlength=len(by_degree))
        if progress is not None:
            progress(1.0)
        if self.nodes.family == "multiway":
            return by_degree
        gaining = np.flatnonzero(by_degree.any(axis=0))
        return by_degree[:, : int(gaining.max(initial=0)) + 1]

    def __iter__(self) -> Iterator[Step]:
        n_rows, n_nodes = len(self.nodes.weights), 0
        waiting: dict[int, _Ways] = defaultdict(list)
        if self.nodes.n_classes > 1:
            waiting[n_rows].append((self.nodes.root, np.eye(1, self.depth)))
        while waiting:
            size = max(waiting)
            rows, reaches = _merged(waiting.pop(size))
            n_nodes += len(rows)
            if n_nodes > self.max_nodes:
                raise ValueError(
                    f"{self.function}: trees have more than max_nodes={self.max_nodes} distinct "
                    "nodes. Hint: set max_depth, take fewer features or values, or raise max_nodes "
                    "if there is memory for some hundred bytes each."
                )
            for start in range(0, len(rows), self.nodes.at_a_time):
                batch = slice(start, start + self.nodes.at_a_time)
                nodes, reach = rows[batch], reaches[batch]
                splits = self.nodes.splits(nodes)
                wins = self._wins(splits, reach)
                amount = (reach.T * splits.fraction)[:, splits.node] * wins
                yield Step(nodes, size, reach, splits, amount)
                going = np.zeros((len(splits.rows), self.depth))
                chances = reach[splits.node[splits.split]].T * wins[:, splits.split]
                going[:, 1:] = chances[:-1].T
                n_left = np.bitwise_count(splits.rows).sum(axis=1, dtype=np.int64)
                n_left[~going.any(axis=1)] = 0
                for n in np.unique(n_left[n_left > 0]).tolist():
                    waiting[n].append((splits.rows[n_left == n], going[n_left == n]))
                    if sum(len(rows) for rows, _ in waiting[n][1:]) > _MERGED:
                        waiting[n] = [_merged(waiting[n])]

    def _wins(self, splits: Splits, reach: FloatArray) -> FloatArray:
        """Return the probability of every split at each depth, shape (D, T).

        A constant feature that is taken leaves a node as it is, a depth further down: `reach` is
        raised accordingly.
        """
        if self.nodes.family != "multiway":
            return np.tile(self._allowed(splits, self._best(splits)), (self.depth, 1))
        wins = np.zeros((self.depth, len(splits.node)))
        p = self.nodes.n_features
        table, divides = splits.by_feature(p)
        can_stay = splits.fraction >= self.min_samples_split - ROUNDING
        if self.min_impurity_decrease > 0:
            can_stay[:] = False  # a constant feature gains nothing
        for k in range(self.depth):
            some = np.flatnonzero(reach[:, k] > 0)
            if not len(some):
                continue
            by_feature, stays = np.zeros(table.shape), np.zeros(len(table))
            by_feature[some], stays[some] = chosen_features(
                table[some], divides[some], p - k, self.max_features
            )
            wins[k] = self._allowed(splits, by_feature[splits.node, splits.feature])
            if k + 1 < self.depth:
                reach[:, k + 1] += reach[:, k] * stays * can_stay
        return wins

    def _best(self, splits: Splits) -> FloatArray:
        """Return the probability of every binary split, shape (T,)."""
        node, feature, decrease = splits.node, splits.feature, splits.decrease
        shape = (len(splits.fraction), self.nodes.n_features)
        wins = np.zeros(len(node))
        if not len(node):
            return wins
        offered = np.ones(len(node), dtype=bool)
        if self.cut == "best":
            offered = best_cuts(node, feature, decrease)
        wins[offered] = best_of_cuts(
            node[offered],
            feature[offered],
            decrease[offered],
            shape,
            self.max_features,
            splits.width if self.cut == "uniform" else None,
        )
        return wins

    def _allowed(self, splits: Splits, wins: FloatArray) -> FloatArray:
        """Set the probabilities to 0 that a limit of the nodes forbids."""
        fraction = splits.fraction[splits.node]
        allowed = fraction >= self.min_samples_split - ROUNDING
        if self.min_impurity_decrease > 0:
            gained = fraction * splits.scale[splits.node] * splits.decrease
            allowed &= gained >= self.min_impurity_decrease - ROUNDING
        return np.where(allowed, wins, 0.0)


def _check_size(function: str, dist: FiniteDistribution, family: str, max_nodes: int) -> None:
    """Refuse features with so many values that the first node alone is too much."""
    m = int(dist.cardinalities.max(initial=0))
    if m < 2:
        return
    name = dist.names[int(np.argmax(dist.cardinalities))]
    hint = "discretize numeric features, merge rare values"
    if count_splits(family, m) > max_nodes:
        raise ValueError(
            f"{function}: with splits={family!r} {name!r}, which has {m} values, has more than "
            f"max_nodes={max_nodes} splits. Hint: {hint}, or use splits='ordered'."
        )
    numbers = numbers_of_a_node(dist, family)
    if numbers > _MOST_NUMBERS:
        raise ValueError(
            f"{function}: with splits={family!r} one node takes {numbers} numbers, more than "
            f"{_MOST_NUMBERS}; {name!r} has {m} values. Hint: {hint}, or take fewer features."
        )


_NUMBERS = 2**21  # numbers in the largest array that several nodes share
_ROUNDING = 1e-13  # a decrease of so little is none


@dataclass(frozen=True, eq=False, slots=True)
class Splits:
    """All splits of some nodes, and those of their children that are not pure.

    The splits of a feature at a node are neighbors.

    Parameters
    ----------
    node, feature : ndarray of int64, shape (T,)
        The node, by its place among those asked for, and the feature of each split.
    decrease : ndarray of float64, shape (T,)
        Its decrease of impurity given the node, as a multiple of the node's `scale`.
    width : ndarray of float64, shape (T,)
        Distance of the values between which an ordered split of numbers cuts, else 1.
    split : ndarray of int64, shape (M,)
        The split of each child.
    rows : ndarray of uint64, shape (M, words)
        Each child: its rows.
    fraction : ndarray of float64, shape (n,)
        Probability P(t) of the rows of each node.
    scale : ndarray of float64, shape (n,)
        1, or the variance at each node where that is the impurity.
    cells : ndarray of float64, shape (n, values of all features, classes)
        Probability of every value and class given each node.
    """

    node: IntArray
    feature: IntArray
    decrease: FloatArray
    width: FloatArray
    split: IntArray
    rows: Words
    fraction: FloatArray
    scale: FloatArray
    cells: FloatArray

    def by_feature(self, n_features: int) -> tuple[FloatArray, BoolArray]:
        """Return the decrease by each feature at each node, of multiway splits, and where it is.

        Both have shape (n, p); the decrease by a feature that is constant at a node is 0.
        """
        table = np.zeros((len(self.fraction), n_features))
        divides = np.zeros(table.shape, dtype=bool)
        table[self.node, self.feature] = self.decrease
        divides[self.node, self.feature] = True
        return table, divides


class Nodes:
    """Nodes of trees on a distribution: sets of rows.

    A *value* is a pair (feature, code); those of all features are numbered one after the other. A
    context is left out.
    """

    def __init__(
        self, function: str, dist: FiniteDistribution, criterion: str, family: str
    ) -> None:
        dist = dist.marginal(range(dist.n_features), keep_context=False)
        self.criterion = criterion
        self.family = family
        self.n_features = dist.n_features
        self.n_classes = dist.n_classes
        self.weights = dist.weights
        self.table = dist  # whose rows the bits are
        self.numbers = dist.centered_numbers(function, criterion)
        sizes = dist.cardinalities
        self.n_values = int(sizes.sum())
        self.feature_of = np.repeat(np.arange(dist.n_features), sizes)
        value = dist.codes.astype(np.int64) + (np.cumsum(sizes) - sizes)
        self.cell = value * dist.n_classes + dist.target[:, np.newaxis].astype(np.int64)
        has_value = np.zeros((self.n_values, dist.n_rows), dtype=bool)
        has_value[value, np.arange(dist.n_rows)[:, np.newaxis]] = True
        numeric = family == "ordered" and all(labels.dtype.kind in "biuf" for labels in dist.labels)
        self.numeric_values = (
            np.concatenate([labels.astype(np.float64) for labels in dist.labels])
            if numeric and dist.labels
            else None
        )
        self.rows_of = packed(has_value)  # shape (values, words)
        self.root = packed(np.ones((1, dist.n_rows), dtype=bool))  # shape (1, words)
        self.at_a_time = max(1, _NUMBERS // max(1, numbers_of_a_node(dist, family)))
        """How many nodes are best looked at together."""

    def weighted(self, weights: FloatArray) -> Nodes:
        """Return the same nodes with other weights of the rows, which may be 0."""
        nodes = copy(self)
        nodes.weights = weights
        return nodes

    def splits(self, nodes: Words, *, children: bool = True) -> Splits:
        """Return all splits of some nodes, and where their children are wanted, these."""
        fraction, cells = self._count(nodes)
        parent = cells[:, self.feature_of == 0].sum(axis=1)
        scale, numbers = np.ones(len(nodes)), parent
        if self.criterion == "variance":
            numbers = numbers_at(parent, self.numbers)
            scale = np.maximum((parent * numbers**2).sum(axis=1), np.finfo(np.float64).tiny)
        empty = np.zeros(0, dtype=np.int64)
        node, feature, split, decrease = [empty], [empty], [empty], [np.zeros(0)]
        width, rows = [np.zeros(0)], [np.zeros((0, nodes.shape[1]), dtype=np.uint64)]
        total = 0
        at_node, value = np.nonzero(np.any(cells > 0, axis=2))
        owner = at_node * self.n_values + self.feature_of[value]
        start = np.flatnonzero(np.diff(owner, prepend=-1))
        n_seen = np.diff(start, append=len(owner))
        # The features that are not constant at a node, by the number of their values there.
        for size in np.unique(n_seen[n_seen > 1]).tolist():
            first = start[n_seen == size]
            at, values = at_node[first], value[first[:, np.newaxis] + np.arange(size)]
            groups = groupings(self.family, values.shape[1])
            n_splits, n_children, m = groups.shape
            groups = groups.reshape(-1, m)
            inside = groups @ cells[at[:, np.newaxis], values]
            gain = gains(self.criterion, inside, parent[at], numbers[at])
            gain = gain.reshape(len(at), n_splits, n_children).sum(axis=2)
            gain /= scale[at, np.newaxis]
            node.append(np.repeat(at, n_splits))
            feature.append(np.repeat(self.feature_of[values[:, 0]], n_splits))
            decrease.append(np.where(gain > _ROUNDING, gain, 0.0).ravel())
            if self.numeric_values is None:
                width.append(np.ones(gain.size))
            else:
                width.append(np.diff(self.numeric_values[values], axis=1).ravel())
            if children:
                pair, child = np.nonzero(np.count_nonzero(inside, axis=2) > 1)
                split.append(total + pair * n_splits + child // n_children)
                going = self.rows_of[values[pair]] * (groups[child] > 0)[:, :, np.newaxis]
                rows.append(np.bitwise_or.reduce(going, axis=1) & nodes[at[pair]])
            total += gain.size
        return Splits(
            np.concatenate(node),
            np.concatenate(feature),
            np.concatenate(decrease),
            np.concatenate(width),
            np.concatenate(split),
            np.concatenate(rows),
            fraction,
            scale,
            cells,
        )

    def _count(self, nodes: Words) -> tuple[FloatArray, FloatArray]:
        """Return P(t), and the probability of every value and class given t.

        The latter has shape (n, values of all features, classes).
        """
        n_rows, p = self.cell.shape
        node, row = np.nonzero(unpacked(nodes, n_rows))
        weight = self.weights[row]
        fraction = _sums(node, weight, len(nodes))
        size = self.n_values * self.n_classes
        cells = _sums(
            (self.cell[row] + (node * size)[:, np.newaxis]).ravel(),
            np.repeat(weight / np.where(fraction > 0.0, fraction, 1.0)[node], p),
            len(nodes) * size,
        )
        return fraction, cells.reshape(len(nodes), self.n_values, self.n_classes)


def numbers_of_a_node(dist: FiniteDistribution, family: str) -> int:
    """Return a bound on the numbers in the arrays that describe one node."""
    total = dist.n_rows * dist.n_features + int(dist.cardinalities.sum()) * dist.n_classes
    for m in dist.cardinalities.tolist():
        if m > 1:
            n_groups = count_splits(family, m) * (m if family == "multiway" else 2)
            total += n_groups * (m + dist.n_classes + dist.n_features)
    return total


def _sums(place: IntArray, amount: FloatArray, size: int) -> FloatArray:
    total = np.bincount(place, weights=amount, minlength=size)
    return total.astype(np.float64, copy=False)
