"""Exact importances of infinitely many trees, for any K, depth and family of splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice, check_integer, refuse
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.impurity import check_distribution
from duramen.theory.distributions.information import CRITERIA
from duramen.theory.population.choice import (
    best_cuts,
    best_of_cuts,
    best_of_features,
    check_outcomes,
)
from duramen.theory.population.nodes import Nodes, Splits, numbers_of_a_node
from duramen.theory.population.splits import FAMILIES, count_splits

CUTS = ("random", "best")

# The nodes of one depth, each with the probability that a tree has it.
Level: TypeAlias = Mapping[int, float]
Progress: TypeAlias = Callable[[int, int, int], None]

_MOST_NUMBERS = 2**27  # that one node may need


def tree_importances(
    dist: FiniteDistribution,
    *,
    max_features: int,
    max_depth: int | None = None,
    criterion: str = "entropy",
    splits: str = "multiway",
    cut: str = "random",
    max_nodes: int = 1_000_000,
    progress: Progress | None = None,
    function: str = "tree_importances",
) -> FloatArray:
    r"""Compute the importances of infinitely many trees by depth, for any K and family of splits.

    .. math:: Imp(X_m) = \sum_{t} \pi(t) \, P(t) \sum_{s \in s_m(t)} \pi(s|t) \, \Delta i(s, t)

    over all nodes t that a tree can have: :math:`\pi(t)` is the probability that a tree has t,
    P(t) that of the rows of t, and :math:`\pi(s|t)` the probability that t is split by s, one of
    the splits :math:`s_m(t)` of feature m. Nodes of one depth with the same rows are one node,
    since what happens below depends on nothing else. A node with a single class is a leaf; any
    other is split if it can be, even where no split lowers the impurity.

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
    cut : {"random", "best"}, default="random"
        Which of its splits a drawn feature offers: any, all alike, as in Extra-Trees, or the best,
        as in random forests. For binary splits alone.
    max_nodes : int, default=1_000_000
        The most distinct nodes of one depth; each takes some hundred bytes.
    progress : callable, optional
        Called as ``progress(depth, done, nodes)`` while the nodes of a depth are worked off.
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
    if max_depth is not None:
        check_integer(function, "max_depth", max_depth, 1, hint="None grows trees in full")
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
    _check_size(function, dist, splits, max_nodes)
    trees = _Trees(Nodes(dist, criterion, splits), int(max_features), cut, int(max_nodes), function)
    return trees.importances(max_depth, progress)


class _Trees:
    """Infinitely many trees, depth by depth: probabilities of nodes, of splits and of children."""

    def __init__(
        self, nodes: Nodes, max_features: int, cut: str, max_nodes: int, function: str
    ) -> None:
        self.nodes = nodes
        self.max_features = max_features
        self.cut = cut
        self.max_nodes = max_nodes
        self.function = function

    def importances(self, max_depth: int | None, progress: Progress | None) -> FloatArray:
        """Return the importances by depth, shape (p, D)."""
        p = self.nodes.n_features
        multiway = self.nodes.family == "multiway"
        bound = max_depth
        if multiway:
            bound = p if max_depth is None else min(max_depth, p)
        level: Level = {self.nodes.root: 1.0} if self.nodes.n_classes > 1 else {}
        columns: list[FloatArray] = []
        while level and len(columns) != bound:
            column, level = self.descend(level, len(columns), progress)
            columns.append(column)
        gaining = [depth for depth, column in enumerate(columns) if column.any()]
        width = bound if multiway and bound else max(gaining, default=0) + 1
        columns += [np.zeros(p)] * width
        return np.column_stack(columns[:width])

    def descend(
        self, level: Level, depth: int, progress: Progress | None
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
            found = self.nodes.splits(batch)
            wins, stays = self.choose(found, depth)
            amount = reached * found.share * found.scale
            column += np.bincount(
                found.feature,
                weights=amount[found.node] * wins * found.decrease,
                minlength=self.nodes.n_features,
            )
            _hand_down(below, batch, reached, found, wins, stays)
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

    def choose(self, found: Splits, depth: int) -> tuple[FloatArray, FloatArray]:
        """Return the probability of every split, and of every node to stay as it is."""
        node, feature, decrease = found.node, found.feature, found.decrease
        shape = (len(found.share), self.nodes.n_features)
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
                node[offered], feature[offered], decrease[offered], shape, self.max_features
            )
        n_splits = np.bincount(node, minlength=shape[0])
        won = np.bincount(node, weights=wins, minlength=shape[0]).astype(np.float64, copy=False)
        check_outcomes(won, stays, np.greater(n_splits, 0))
        return wins, stays


def _hand_down(
    below: dict[int, float],
    batch: list[int],
    reached: FloatArray,
    found: Splits,
    wins: FloatArray,
    stays: FloatArray,
) -> None:
    """Add the children of the nodes, and the nodes that stay as they are, to those below."""
    parents = found.node[found.split]
    probabilities = reached[parents] * wins[found.split]
    for i, rows, probability in zip(
        parents.tolist(), found.rows, probabilities.tolist(), strict=True
    ):
        if probability > 0:
            child = batch[i] & rows
            below[child] = below.get(child, 0.0) + probability
    for t, probability in zip(batch, (reached * stays).tolist(), strict=True):
        if probability > 0:
            below[t] = below.get(t, 0.0) + probability


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
