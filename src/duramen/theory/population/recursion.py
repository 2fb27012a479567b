"""Exact importances of infinitely many trees, for any K, depth and family of splits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.checks import check_choice, check_integer, refuse
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.population.lattice import Progress, check_depth

FAMILIES = ("multiway", "ordered", "one-vs-rest", "any")
CUTS = ("random", "uniform", "best")

MOST_NODES = 1_000_000
"""The most distinct nodes that are looked at; each takes some hundred bytes."""

TIE = 1e-12
"""Decreases of impurity, given the node, no farther apart than this are equal.

Rounding takes equal ones apart by some 1e-15. At nodes of up to 200 rows of equal weight in two
classes, splits in two whose information is not equal differ by 1.5e-12 bits or more.
"""

_MERGED = 1 << 16  # number of nodes of one size that triggers a merge before their turn
_MOST_NUMBERS = 2**27  # that one node may need
_NUMBERS = 2**21  # numbers in the largest array that several nodes share
_ROUNDING = 1e-13  # a decrease of so little is none
_WORD = 64  # bits

Words = NDArray[np.uint64]
"""Sets of rows, shape (n, words): bit i of them stands for row i."""


def packed(bits: NDArray[Any]) -> Words:
    """Pack sets of rows, as truth values of shape (n, rows), into words."""
    n, n_rows = bits.shape
    padded = np.zeros((n, -(-n_rows // _WORD) * _WORD), dtype=bool)
    padded[:, :n_rows] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpacked(rows: Words, n_rows: int) -> BoolArray:
    """Unpack sets of rows into truth values, of shape (n, rows)."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, count=n_rows, bitorder="little")
    return bits.view(np.bool_)


def in_order(rows: Words) -> tuple[IntArray, IntArray]:
    """Return an order of sets of rows that puts equal ones together, and where each begins."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, np.flatnonzero(new)


# --- splits of a node -----------------------------------------------------------------------------


def count_splits(family: str, n_values: int) -> int:
    """Return the number of splits of a feature with `n_values` values at the node, two or more.

    Multiway 1, ordered m - 1, one value against the rest m (1 if m = 2), any two groups
    2^(m-1) - 1 (thesis, section 5.7.1).
    """
    if family == "multiway":
        return 1
    if family == "ordered":
        return n_values - 1
    if family == "one-vs-rest":
        return n_values if n_values > 2 else 1
    return (1 << n_values - 1) - 1


@lru_cache(maxsize=64)
def groupings(family: str, n_values: int) -> FloatArray:
    """Return all splits of a family as groups of the values seen at the node.

    Parameters
    ----------
    family : {"multiway", "ordered", "one-vs-rest", "any"}
    n_values : int
        Number m of values seen, at least 2.

    Returns
    -------
    ndarray of float64, shape (n_splits, n_children, m), read-only
        1 where the value goes to the child, else 0. Each split comes once.
    """
    values = np.arange(n_values)
    splits = np.arange(count_splits(family, n_values))[:, np.newaxis]
    if family == "multiway":
        groups = np.eye(n_values)[np.newaxis]
    else:
        first = {
            "ordered": values <= splits,
            "one-vs-rest": values == splits,
            # The last value never goes to the first child, so no split comes twice.
            "any": (splits + 1 >> values) & 1 == 1,
        }[family]
        groups = np.stack([first, ~first], axis=1).astype(np.float64)
    groups.flags.writeable = False
    return groups


def gains(
    criterion: str, inside: FloatArray, parent: FloatArray, numbers: FloatArray
) -> FloatArray:
    r"""Return the contribution of every child to the decrease of impurity of its node.

    Summed over the children c of a split it is the decrease; no term is negative:

    .. math::

        P(c) \sum_y p_{y|c} \log_2 \frac{p_{y|c}}{p_y}, \quad
        P(c) \sum_y (p_{y|c} - p_y)^2, \quad
        P(c) (\bar y_c - \bar y)^2

    for the entropy, Gini's index and the variance.

    Parameters
    ----------
    criterion : {"entropy", "gini", "variance"}
    inside : ndarray of float64, shape (n, g, C)
        Probability, given the node, of each child and class; an empty child contributes 0.
    parent : ndarray of float64, shape (n, C)
        Probability of each class given the node.
    numbers : ndarray of float64, shape (n, C)
        The classes as numbers less their mean at the node, `numbers_at`; used by the variance
        alone.

    Returns
    -------
    ndarray of float64, shape (n, g)
    """
    size = inside.sum(axis=2)
    divisor = np.where(size > 0, size, 1.0)
    parent = parent[:, np.newaxis, :]
    terms: FloatArray
    if criterion == "entropy":
        expected = size[:, :, np.newaxis] * parent
        ratio = np.divide(
            inside,
            expected,
            out=np.ones_like(inside),
            where=(inside > 0) & (expected > 0),  # a product of two small ones may vanish
        )
        terms = (inside * np.log2(ratio)).sum(axis=2)
    elif criterion == "gini":
        terms = size * ((inside / divisor[:, :, np.newaxis] - parent) ** 2).sum(axis=2)
    else:
        terms = size * ((inside @ numbers[:, :, np.newaxis])[:, :, 0] / divisor) ** 2
    return terms


def numbers_at(parent: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return the classes as numbers less their mean at each node, shape (n, C), 0 for no rows.

    A class of the node is subtracted first, so that neither an offset of all numbers nor numbers
    far away from those of the node cost digits.
    """
    seen = parent > 0
    apart = np.where(seen, numbers - numbers[np.argmax(seen, axis=1), np.newaxis], 0.0)
    return np.asarray(np.where(seen, apart - (parent * apart).sum(axis=1, keepdims=True), 0.0))


@dataclass(frozen=True, eq=False, slots=True)
class Splits:
    """All splits of some nodes, and their children that are not pure.

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
        """Return these nodes with other weights of the rows, which may be 0."""
        nodes = copy(self)
        nodes.weights = weights
        return nodes

    def splits(self, nodes: Words, *, children: bool = True) -> Splits:
        """Return all splits of some nodes, and where their children are wanted, these."""
        n_rows, p = self.cell.shape
        owner, row = np.nonzero(unpacked(nodes, n_rows))
        weight = self.weights[row]
        fraction = _sums(owner, weight, len(nodes))
        size = self.n_values * self.n_classes
        place = self.cell[row] + (owner * size)[:, np.newaxis]
        within = weight / np.where(fraction > 0.0, fraction, 1.0)[owner]
        cells = _sums(place.ravel(), np.repeat(within, p), len(nodes) * size)
        cells = cells.reshape(len(nodes), self.n_values, self.n_classes)
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
        pair = at_node * self.n_values + self.feature_of[value]
        start = np.flatnonzero(np.diff(pair, prepend=-1))
        n_seen = np.diff(start, append=len(pair))
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
                divided, child = np.nonzero(np.count_nonzero(inside, axis=2) > 1)
                split.append(total + divided * n_splits + child // n_children)
                going = self.rows_of[values[divided]] * (groups[child] > 0)[:, :, np.newaxis]
                rows.append(np.bitwise_or.reduce(going, axis=1) & nodes[at[divided]])
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


# --- choice of a split: the best of K features drawn at random ------------------------------------


def best_of_features(
    decreases: FloatArray, divides: BoolArray, n_unused: int, max_features: int
) -> tuple[FloatArray, FloatArray]:
    r"""Compute the probability that each feature is the best of k drawn without replacement.

    A feature has one split. Those of equal decrease form a group of g; with a features in this
    group or below it and b below it, each member is taken with probability

    .. math:: \frac{C(a, k) - C(b, k)}{C(|U|, k) \, g}

    since the best of the draw is in the group if all k are among the a and not all among the b. The
    same number \|U\| of features is not used up at all nodes, and k = min(K, \|U\|).

    `divides`, of shape (n, p) as the decreases, has the features that are not constant at a node. A
    constant one that is not used up takes part with decrease 0; a decrease that rounding took below
    0 is 0. Returned are the probability of each feature, 0 for constant ones, and that a constant
    one is taken, of shape (n,): they add up to 1, but are 0 at leaves, which no feature divides.
    """
    k = min(max_features, n_unused)
    # Used features are constant, so the first |U| in this order are the unused ones.
    ranked = np.where(divides, np.maximum(decreases, 0.0), -1.0)
    order = np.argsort(-ranked, axis=1, kind="stable")[:, :n_unused]
    ranked = np.maximum(np.take_along_axis(ranked, order, axis=1), 0.0)
    is_constant = ~np.take_along_axis(divides, order, axis=1)
    starts = np.ones(ranked.shape, dtype=bool)
    starts[:, 1:] = ranked[:, :-1] - ranked[:, 1:] > TIE
    place = np.arange(n_unused)
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    ends = np.ones_like(starts)
    ends[:, :-1] = starts[:, 1:]
    after = np.where(ends, place + 1, n_unused)
    after = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
    all_within = np.array([comb(a, k) / comb(n_unused, k) for a in range(n_unused + 1)])
    taken = (all_within[n_unused - first] - all_within[n_unused - after]) / (after - first)
    taken *= np.any(divides, axis=1, keepdims=True)
    wins = np.zeros_like(decreases)
    np.put_along_axis(wins, order, np.where(is_constant, 0.0, taken), axis=1)
    return wins, np.where(is_constant, taken, 0.0).sum(axis=1)


def best_of_cuts(
    node: IntArray,
    feature: IntArray,
    decrease: FloatArray,
    shape: tuple[int, int],
    max_features: int,
    weight: FloatArray | None = None,
) -> FloatArray:
    r"""Compute the probability of each split when each of k features offers a split.

    k = min(K, n) of the n features with a split are drawn without replacement, each offers one of
    its splits, with probability :math:`q_s` in proportion to `weight`, by default all alike, and
    the best offer is taken, ties uniformly. Think of each feature as
    kept with probability (k-1)/(n-1), of draws with exactly k-1 others kept, and of a random number
    z in [0, 1] that breaks ties. A split of feature m with decrease v then wins with probability

    .. math::

        \frac{k \, q_s}{n} \int_0^1 \frac{[x^{k-1}] \prod_{j \ne m}
        \bigl(1 - r + r x (P_j(<v) + z P_j(=v))\bigr)}
        {[x^{k-1}] \prod_{j \ne m} (1 - r + r x)} \, dz, \quad r = \frac{k-1}{n-1}

    with :math:`P_j` the distribution of the offer of feature j. The integrand is a polynomial in z
    of degree k-1, so Gauss-Legendre nodes give the integral exactly; all terms are non-negative.
    `node`, `feature` and `decrease` are those of the T splits, `shape` the numbers of nodes and of
    features; the result adds up to 1 at each node that has a split.
    """
    n_nodes, p = shape
    pair = node * p + feature
    offered = np.bincount(pair, weight, minlength=n_nodes * p)
    probability = (1.0 if weight is None else weight) / offered[pair]
    n_features = np.count_nonzero(offered.reshape(shape), axis=1)
    if max_features == 1:
        return np.asarray(probability / n_features[node])
    # The distinct decreases of each node, numbered from 0 upwards.
    order = np.lexsort((decrease, node))
    opens = np.diff(node[order], prepend=-1) != 0
    number = np.cumsum(opens | (np.diff(decrease[order], prepend=0.0) > TIE))
    rank = np.empty(len(node), dtype=np.int64)
    rank[order] = number - number[opens][np.cumsum(opens) - 1]
    offers = np.zeros((n_nodes, p, int(rank.max()) + 1))
    np.add.at(offers, (node, feature, rank), probability)
    wins = np.zeros_like(offers)
    rival = np.nonzero(offers)  # one question a node, feature and level of decrease
    below = np.zeros_like(offers)
    np.cumsum(offers[:, :, :-1], axis=2, out=below[:, :, 1:])
    has_split = offered.reshape(shape) > 0
    step = max(1, _NUMBERS // (min(max_features, p) ** 2 + 4 * p))
    for start in range(0, len(rival[0]), step):
        at, m, level = (index[start : start + step] for index in rival)
        others = has_split[at] & (np.arange(p) != m[:, np.newaxis])
        wins[at, m, level] = _unbeaten(
            below[at, :, level],
            offers[at, :, level],
            others,
            np.minimum(max_features, n_features[at]),
        )
    return np.asarray(probability * wins[node, feature, rank])


def _unbeaten(below: FloatArray, equal: FloatArray, others: BoolArray, k: IntArray) -> FloatArray:
    """Return the probability to be among the k drawn and to win there, of shape (Q,).

    `below` and `equal`, of shape (Q, p), are the probabilities that each feature's offer is lower,
    and that it is as high; `others` are the features that can be drawn beside the one in question.
    k is at most one more than there are others.
    """
    n_others = others.sum(axis=1)
    rate = (k - 1) / np.maximum(n_others, 1)
    most = int(k.max())
    nodes, weights = np.polynomial.legendre.leggauss((most + 1) // 2)
    z = (nodes + 1.0) / 2.0
    # kept[q, i, c]: c others are kept and all lose, for the i-th z; for the last i, whoever wins.
    masses = np.zeros((len(k), len(z) + 1, most))
    masses[:, :, 0] = 1.0
    for j in range(others.shape[1]):
        r = (rate * others[:, j])[:, np.newaxis, np.newaxis]
        loses = np.ones((len(k), len(z) + 1, 1))
        loses[:, :-1, 0] = below[:, j, np.newaxis] + z * equal[:, j, np.newaxis]
        masses[:, :, 1:] = (1.0 - r) * masses[:, :, 1:] + r * loses * masses[:, :, :-1]
        masses[:, :, :1] *= 1.0 - r
    ending = np.take_along_axis(masses, (k - 1)[:, np.newaxis, np.newaxis], axis=2)[:, :, 0]
    mean = ending[:, :-1] @ (weights / 2.0) / ending[:, -1]
    return np.asarray(k / (n_others + 1) * mean)


# --- trees ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """Nodes of equal size, and the probabilities that trees contain and split them.

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
    """Return distinct nodes, each with the sum of the probabilities of all its paths."""
    rows, reach = (np.concatenate(part) for part in zip(*ways, strict=True))
    order, first = in_order(rows)
    return rows[order[first]], np.add.reduceat(reach[order], first, axis=0)


class Trees:
    r"""Infinitely many trees on a distribution; iterates over their nodes, larger ones first.

    Nodes with the same rows are one node, since what happens below depends on nothing else but the
    depth. A node with a single class is a leaf; any other is split if it can be, even
    where no split lowers the impurity.

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
    ) -> None:
        check_distribution(function, dist)
        p = max(1, dist.n_features)
        self.function = function
        self.max_features = p if max_features is None else max_features
        check_integer(function, "max_features", self.max_features, 1)
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
        numbers = numbers_of_a_node(dist, splits)
        if numbers > _MOST_NUMBERS:
            most = int(np.argmax(dist.cardinalities))
            raise ValueError(
                f"{function}: with splits={splits!r} one node takes {numbers} numbers, more than "
                f"{_MOST_NUMBERS}; {dist.names[most]!r} has {dist.cardinalities[most]} values. "
                "Hint: discretize numeric features, merge rare values, take fewer features, or "
                "use splits='ordered'."
            )
        self.nodes = Nodes(function, dist, criterion, splits)
        self.depth = max(1, depth)

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
            if n_nodes > MOST_NODES:
                raise ValueError(
                    f"{self.function}: trees have more than {MOST_NODES:,} distinct nodes. Hint: "
                    "set max_depth, or take fewer features or values."
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
        node, feature, p = splits.node, splits.feature, self.nodes.n_features
        wins = np.zeros((self.depth, len(node)))
        if self.nodes.family == "multiway":
            table, divides = splits.by_feature(p)
            for k in range(self.depth):
                some = np.flatnonzero(reach[:, k] > 0)
                if not len(some):
                    continue
                by_feature, stays = np.zeros(table.shape), np.zeros(len(table))
                by_feature[some], stays[some] = best_of_features(
                    table[some], divides[some], p - k, self.max_features
                )
                wins[k] = by_feature[node, feature]
                if k + 1 < self.depth:
                    reach[:, k + 1] += reach[:, k] * stays
        elif len(node):
            offered = np.ones(len(node), dtype=bool)
            if self.cut == "best":  # the best splits of each feature, ties included
                fresh = (np.diff(node, prepend=-1) != 0) | (np.diff(feature, prepend=-1) != 0)
                best = np.maximum.reduceat(splits.decrease, np.flatnonzero(fresh))
                offered = splits.decrease >= best[np.cumsum(fresh) - 1] - TIE
            wins[:, offered] = best_of_cuts(
                node[offered],
                feature[offered],
                splits.decrease[offered],
                (len(splits.fraction), p),
                self.max_features,
                splits.width if self.cut == "uniform" else None,
            )
        return wins
