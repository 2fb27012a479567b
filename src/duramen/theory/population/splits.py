"""Splits of the nodes of infinitely many trees, and sets of rows as bits."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray, FloatArray, IntArray

Words = NDArray[np.uint64]
"""Sets of rows, shape (n, words): bit i of them stands for row i."""

_WORD = 64  # bits


def packed(bits: NDArray[Any]) -> Words:
    """Return sets of rows, given as one truth value a row, shape (n, rows), as words."""
    n, n_rows = bits.shape
    padded = np.zeros((n, -(-n_rows // _WORD) * _WORD), dtype=bool)
    padded[:, :n_rows] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpacked(rows: Words, n_rows: int) -> BoolArray:
    """Return sets of rows as one truth value a row, shape (n, rows)."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, count=n_rows, bitorder="little")
    return bits.view(np.bool_)


def in_order(rows: Words) -> tuple[IntArray, IntArray]:
    """Return an order of sets of rows that puts equal ones together, and where each begins."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, np.flatnonzero(new)


def as_integer(rows: BoolArray) -> int:
    """Return one set of rows as an integer, whose lowest bit is the first row."""
    return int.from_bytes(np.packbits(rows, bitorder="little").tobytes(), "little")


FAMILIES = ("multiway", "ordered", "one-vs-rest", "any")


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


# --- choice of a split: the best of K features drawn at random ------------------------------------


TIE = 1e-12
"""Decreases of impurity, given the node, no farther apart than this are equal.

Rounding takes equal ones apart by some 1e-15. At nodes of up to 200 rows of equal weight in two
classes, splits in two whose information is not equal differ by 1.5e-12 bits or more.
"""

_MOST_NUMBERS = 2**21  # numbers that are worked on at a time


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
    one is taken, of shape (n,): they add up to 1.
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
    wins = np.zeros_like(decreases)
    np.put_along_axis(wins, order, np.where(is_constant, 0.0, taken), axis=1)
    return wins, np.where(is_constant, taken, 0.0).sum(axis=1)


def chosen_features(
    decreases: FloatArray, divides: BoolArray, n_unused: int, max_features: int
) -> tuple[FloatArray, FloatArray]:
    """Return `best_of_features`, but 0 for nodes that no feature divides: they are leaves."""
    wins, stays = best_of_features(decreases, divides, n_unused, max_features)
    can_split: BoolArray = np.any(divides, axis=1)
    return wins * can_split[:, np.newaxis], stays * can_split


def best_cuts(node: IntArray, feature: IntArray, decrease: FloatArray) -> BoolArray:
    """Select the splits that are the best of their feature at their node, ties included.

    Each of the T splits has a node and a feature; those of a feature at a node are neighbors.
    """
    fresh = np.ones(len(node), dtype=bool)
    fresh[1:] = (node[1:] != node[:-1]) | (feature[1:] != feature[:-1])
    owner = np.cumsum(fresh) - 1
    best = np.maximum.reduceat(decrease, np.flatnonzero(fresh))[owner]
    return np.asarray(decrease >= best - TIE)


def best_of_cuts(
    node: IntArray,
    feature: IntArray,
    decrease: FloatArray,
    shape: tuple[int, int],
    max_features: int,
    weight: FloatArray | None = None,
) -> FloatArray:
    r"""Compute the probability of each split when each of k features offers one of its splits.

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
    step = max(1, _MOST_NUMBERS // (min(max_features, p) ** 2 + 4 * p))
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
