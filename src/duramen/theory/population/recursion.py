"""Exact importances of infinitely many trees, for any K, depth and family of splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.checks import check_choice, check_integer, check_real, refuse
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.information import CRITERIA
from duramen.theory.distributions.variables import IndexArray
from duramen.theory.population.lattice import check_depth
from duramen.theory.population.splits import (
    FAMILIES,
    as_integer,
    best_cuts,
    best_of_cuts,
    best_of_features,
    check_outcomes,
    count_children,
    count_splits,
    gains,
    groupings,
    numbers_at,
    variances,
)

CUTS = ("random", "uniform", "best")

# The nodes of one depth, each with the probability that a tree has it.
Level: TypeAlias = Mapping[int, float]
Progress: TypeAlias = Callable[[int, int, int], None]
# Called with nodes, their splits, and the probability of each split to be the one of its node in a
# tree that has the node, times those of the node.
Visit: TypeAlias = Callable[[list[int], "Splits", FloatArray], None]

_MOST_NUMBERS = 2**27  # that one node may need
ROUNDING = 1e-12  # by which a probability or a decrease may be below its limit


def tree_importances(
    dist: FiniteDistribution,
    *,
    max_features: int,
    max_depth: int | None = None,
    criterion: str = "entropy",
    splits: str = "multiway",
    cut: str = "random",
    min_samples_split: float = 0.0,
    min_impurity_decrease: float = 0.0,
    max_nodes: int = 1_000_000,
    progress: Progress | None = None,
    visit: Visit | None = None,
    function: str = "tree_importances",
) -> FloatArray:
    r"""Compute the importances of infinitely many trees by depth, for any K and family of splits.

    .. math:: Imp(X_m) = \sum_{t} \pi(t) \, P(t) \sum_{s \in s_m(t)} \pi(s|t) \, \Delta i(s, t)

    over all nodes t that a tree can have: :math:`\pi(t)` is the probability that a tree has t,
    P(t) that of the rows of t, and :math:`\pi(s|t)` the probability that t is split by s, one of
    the splits :math:`s_m(t)` of feature m. Nodes of one depth with the same rows are one node,
    since what happens below depends on nothing else. A node with a single class is a leaf; any
    other is split if it can be and no limit forbids it, even where no split lowers the impurity.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    max_features : int
        Number K of features drawn at a node, at least 1; all where there are fewer.
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
        The most distinct nodes of one depth; each takes some hundred bytes.
    progress : callable, optional
        Called as ``progress(depth, done, nodes)`` while the nodes of a depth are worked off.
    visit : callable, optional
        Called as ``visit(nodes, splits, amount)`` with nodes of a depth, their splits, and the
        probability that a tree has the node and splits it so, times that of the node's rows.
    function : str
        Name of the public function, for errors.

    Returns
    -------
    ndarray of float64, shape (p, D)
        Importance of each feature by depth of the node, in bits, Gini's index or squared units of
        Y, not normalized. Rows add up to the importance, and for trees grown in full everything to
        i(Y) - i(Y|V). D is min(max_depth, p) for multiway splits; for binary ones columns end with
        the last depth at which a split gains something, but there is at least one.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, the variance is asked for and Y is not numeric, a feature
        has too many values for the family, or there are more than `max_nodes` nodes.

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

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.tree_importances(xor, max_features=1).round(3).tolist()
    [[0.0, 0.5], [0.0, 0.5]]
    """
    check_distribution(function, dist)
    check_integer(function, "max_features", max_features, 1)
    check_integer(function, "max_nodes", max_nodes, 1)
    check_depth(function, max_depth, dist.n_features)
    check_choice(function, "criterion", criterion, CRITERIA)
    check_choice(function, "splits", splits, FAMILIES)
    check_choice(function, "cut", cut, CUTS)
    if splits == "multiway" and cut != "random":
        raise refuse(
            function,
            "cut",
            "'random' for multiway splits",
            cut,
            "a feature has a single multiway split; splits='any' offers a choice",
        )
    if cut == "uniform":
        _check_numbers(function, dist, splits)
    least_fraction = check_real(function, "min_samples_split", min_samples_split, 0.0, most=1.0)
    least_decrease = check_real(function, "min_impurity_decrease", min_impurity_decrease, 0.0)
    _check_size(function, dist, splits, max_nodes)
    nodes = Nodes(dist, criterion, splits)
    trees = _Trees(
        nodes, int(max_features), cut, least_fraction, least_decrease, int(max_nodes), function
    )
    return trees.importances(max_depth, progress, visit)


@dataclass(frozen=True)
class _Trees:
    """Infinitely many trees, depth by depth: probabilities of nodes, of splits and of children."""

    nodes: Nodes
    max_features: int
    cut: str
    min_samples_split: float
    min_impurity_decrease: float
    max_nodes: int
    function: str

    def importances(
        self, max_depth: int | None, progress: Progress | None, visit: Visit | None = None
    ) -> FloatArray:
        """Return the importances by depth, shape (p, D)."""
        p = self.nodes.n_features
        multiway = self.nodes.family == "multiway"
        bound = max_depth
        if multiway:
            bound = p if max_depth is None else min(max_depth, p)
        level: Level = {self.nodes.root: 1.0} if self.nodes.n_classes > 1 else {}
        columns: list[FloatArray] = []
        while level and len(columns) != bound:
            column, level = self.descend(level, len(columns), progress, visit)
            columns.append(column)
        gaining = [depth for depth, column in enumerate(columns) if column.any()]
        width = bound if multiway and bound else max(gaining, default=0) + 1
        columns += [np.zeros(p)] * width
        return np.column_stack(columns[:width])

    def descend(
        self, level: Level, depth: int, progress: Progress | None, visit: Visit | None
    ) -> tuple[FloatArray, Level]:
        """Return the contributions of the nodes of one depth, and the nodes below."""
        column = np.zeros(self.nodes.n_features)
        below: dict[int, float] = {}
        everyone = list(level)
        size = self.nodes.at_a_time
        for start in range(0, len(everyone), size):
            if progress is not None:
                progress(depth, start, len(everyone))
            batch = everyone[start : start + size]
            reached = np.array([level[t] for t in batch])
            splits = self.nodes.splits(batch)
            wins, stays = self.choose(splits, depth)
            self.stop(splits, wins, stays)
            amount = (reached * splits.fraction)[splits.node] * wins
            column += np.bincount(
                splits.feature,
                weights=amount * splits.scale[splits.node] * splits.decrease,
                minlength=self.nodes.n_features,
            )
            if visit is not None:
                visit(batch, splits, amount)
            _hand_down(below, batch, reached, splits, wins, stays)
            if len(below) > self.max_nodes:
                raise ValueError(
                    f"{self.function}: trees have more than max_nodes={self.max_nodes} distinct "
                    f"nodes at depth {depth + 1}. Hint: set max_depth to {depth + 1} or less, "
                    "take fewer features or values, or raise max_nodes if there is memory for "
                    "some hundred bytes each."
                )
        if progress is not None:
            progress(depth, len(everyone), len(everyone))
        return column, below

    def stop(self, splits: Splits, wins: FloatArray, stays: FloatArray) -> None:
        """Set the probabilities to 0 that a limit of the nodes forbids."""
        small = splits.fraction < self.min_samples_split - ROUNDING
        wins[small[splits.node]] = 0.0
        stays[small] = 0.0
        if self.min_impurity_decrease > 0:
            gained = (splits.fraction * splits.scale)[splits.node] * splits.decrease
            wins[gained < self.min_impurity_decrease - ROUNDING] = 0.0
            stays[:] = 0.0  # a constant feature gains nothing

    def choose(self, splits: Splits, depth: int) -> tuple[FloatArray, FloatArray]:
        """Return the probability of every split, and of every node to stay as it is."""
        node, feature, decrease = splits.node, splits.feature, splits.decrease
        shape = (len(splits.fraction), self.nodes.n_features)
        wins, stays = np.zeros(len(node)), np.zeros(shape[0])
        if not len(node):
            return wins, stays
        if self.nodes.family == "multiway":
            table, divides = np.zeros(shape), np.zeros(shape, dtype=bool)
            table[node, feature], divides[node, feature] = decrease, True
            by_feature, constant = best_of_features(
                table, divides, shape[1] - depth, self.max_features
            )
            can_split = np.unique(node)
            stays[can_split] = constant[can_split]
            wins = by_feature[node, feature]
        else:
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
        n_splits = np.bincount(node, minlength=shape[0])
        won = np.bincount(node, weights=wins, minlength=shape[0]).astype(np.float64, copy=False)
        check_outcomes(won, stays, np.greater(n_splits, 0))
        return wins, stays


def _hand_down(
    below: dict[int, float],
    batch: list[int],
    reached: FloatArray,
    splits: Splits,
    wins: FloatArray,
    stays: FloatArray,
) -> None:
    """Add the children of the nodes, and the nodes that stay as they are, to those below."""
    parents = splits.node[splits.split]
    probabilities = reached[parents] * wins[splits.split]
    for i, rows, probability in zip(
        parents.tolist(), splits.rows, probabilities.tolist(), strict=True
    ):
        if probability > 0:
            child = batch[i] & rows
            below[child] = below.get(child, 0.0) + probability
    for t, probability in zip(batch, (reached * stays).tolist(), strict=True):
        if probability > 0:
            below[t] = below.get(t, 0.0) + probability


def _check_numbers(function: str, dist: FiniteDistribution, splits: str) -> None:
    """Refuse uniform cuts of splits that are not ordered, or of features that are not numbers."""
    if splits != "ordered":
        raise refuse(
            function,
            "cut",
            f"'random' or 'best' for {splits} splits",
            "uniform",
            "splits='ordered'",
        )
    for name, labels in zip(dist.names, dist.labels, strict=True):
        if labels.dtype.kind not in "biuf" or not np.isfinite(labels.astype(np.float64)).all():
            shown = repr(labels.tolist()[0])
            allowed = f"'random' or 'best' unless all features are numbers; {name!r} has {shown}"
            raise refuse(function, "cut", allowed, "uniform")


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
    rows : list of int, length M
        The rows that go to each child, whether they are in the node or not.
    fraction : ndarray of float64, shape (n,)
        Probability P(t) of the rows of each node.
    scale : ndarray of float64, shape (n,)
        1, or the variance at each node where that is the impurity.
    """

    node: IndexArray
    feature: IndexArray
    decrease: FloatArray
    width: FloatArray
    split: IndexArray
    rows: list[int]
    fraction: FloatArray
    scale: FloatArray


class Nodes:
    """Nodes of trees on a distribution: bit i of a node, an int, stands for row i.

    A *value* is a pair (feature, code); those of all features are numbered one after the other. A
    context is left out.
    """

    def __init__(self, dist: FiniteDistribution, criterion: str, family: str) -> None:
        dist = dist.marginal(range(dist.n_features), keep_context=False)
        self.criterion = criterion
        self.family = family
        self.n_features = dist.n_features
        self.n_classes = dist.n_classes
        self.weights = dist.weights
        self.table = dist  # whose rows the bits are
        self.numbers = dist.numbers_of_classes("tree_importances", criterion)
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
        self.rows_of = [as_integer(rows) for rows in has_value]
        self.at_a_time = max(1, _NUMBERS // max(1, numbers_of_a_node(dist, family)))
        """How many nodes are best looked at together."""

    def weighted(self, weights: FloatArray) -> Nodes:
        """Return the same nodes with other weights of the rows, which may be 0."""
        nodes = copy(self)
        nodes.weights = weights
        return nodes

    @property
    def root(self) -> int:
        """Node of all rows."""
        return (1 << len(self.weights)) - 1

    def splits(self, nodes: list[int]) -> Splits:
        """Return all splits of some nodes."""
        fraction, cells = self._count(nodes)
        parent = cells[:, self.feature_of == 0].sum(axis=1)
        scale, numbers = np.ones(len(nodes)), parent
        if self.criterion == "variance":
            numbers = numbers_at(parent, self.numbers)
            scale = np.maximum(variances(parent, numbers), np.finfo(np.float64).tiny)
        empty = np.zeros(0, dtype=np.int64)
        node, feature, split, decrease = [empty], [empty], [empty], [np.zeros(0)]
        width = [np.zeros(0)]
        rows: list[int] = []
        rows_of: dict[tuple[int, ...], list[int]] = {}
        total = 0
        for at, values in _seen(np.any(cells > 0, axis=2), self.feature_of):
            groups = groupings(self.family, values.shape[1])
            n_splits, n_children, m = groups.shape
            inside = groups.reshape(-1, m) @ cells[at[:, np.newaxis], values]
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
            pair, child = np.nonzero(np.count_nonzero(inside, axis=2) > 1)
            split.append(total + pair * n_splits + child // n_children)
            going = [self._rows(rows_of, tuple(seen), groups) for seen in values.tolist()]
            rows += [going[i][c] for i, c in zip(pair.tolist(), child.tolist(), strict=True)]
            total += gain.size
        return Splits(
            np.concatenate(node),
            np.concatenate(feature),
            np.concatenate(decrease),
            np.concatenate(width),
            np.concatenate(split),
            rows,
            fraction,
            scale,
        )

    def _count(self, nodes: list[int]) -> tuple[FloatArray, FloatArray]:
        """Return P(t), and the probability of every value and class given t.

        The latter has shape (n, values of all features, classes).
        """
        n_rows, p = self.cell.shape
        n_bytes = (n_rows + 7) // 8
        packed = np.frombuffer(b"".join(t.to_bytes(n_bytes, "little") for t in nodes), np.uint8)
        inside = np.unpackbits(
            packed.reshape(len(nodes), n_bytes), axis=1, count=n_rows, bitorder="little"
        )
        node, row = np.nonzero(inside)
        weight = self.weights[row]
        fraction = _sums(node, weight, len(nodes))
        size = self.n_values * self.n_classes
        cells = _sums(
            (self.cell[row] + (node * size)[:, np.newaxis]).ravel(),
            np.repeat(weight / np.where(fraction > 0.0, fraction, 1.0)[node], p),
            len(nodes) * size,
        )
        return fraction, cells.reshape(len(nodes), self.n_values, self.n_classes)

    def _rows(
        self, rows_of: dict[tuple[int, ...], list[int]], seen: tuple[int, ...], groups: FloatArray
    ) -> list[int]:
        """Return the rows that go to each child of each split of the values seen."""
        if seen not in rows_of:
            rows_of[seen] = []
            for group in groups.reshape(-1, len(seen)):
                going = 0
                for place in np.flatnonzero(group).tolist():
                    going |= self.rows_of[seen[place]]
                rows_of[seen].append(going)
        return rows_of[seen]


def _seen(is_seen: BoolArray, feature_of: IndexArray) -> list[tuple[IndexArray, IndexArray]]:
    """Return the features that are not constant at a node, by the number m of their values there.

    For every m the nodes, shape (n,), and the values that are seen, shape (n, m).
    """
    node, value = np.nonzero(is_seen)
    owner = node * is_seen.shape[1] + feature_of[value]
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    n_seen = np.diff(start, append=len(owner))
    parts = []
    for m in np.unique(n_seen[n_seen > 1]).tolist():
        first = start[n_seen == m]
        parts.append((node[first], value[first[:, np.newaxis] + np.arange(m)]))
    return parts


def numbers_of_a_node(dist: FiniteDistribution, family: str) -> int:
    """Return a bound on the numbers in the arrays that describe one node."""
    total = dist.n_rows * dist.n_features + int(dist.cardinalities.sum()) * dist.n_classes
    for m in dist.cardinalities.tolist():
        if m > 1:
            n_groups = count_splits(family, m) * count_children(family, m)
            total += n_groups * (m + dist.n_classes + dist.n_features)
    return total


def _sums(place: IndexArray, amount: FloatArray, size: int) -> FloatArray:
    total = np.bincount(place, weights=amount, minlength=size)
    return total.astype(np.float64, copy=False)
