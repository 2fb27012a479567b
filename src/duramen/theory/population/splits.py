"""Splits of a node: groupings of the values of a feature, and their decreases of impurity."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from duramen.support.arrays import BoolArray, FloatArray

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


def count_children(family: str, n_values: int) -> int:
    """Return the number of children of a split of a feature with `n_values` values."""
    return n_values if family == "multiway" else 2


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
    if family == "multiway":
        groups = np.eye(n_values)[np.newaxis]
    else:
        first = _first_children(family, n_values)
        groups = np.stack([first, ~first], axis=1).astype(np.float64)
    groups.flags.writeable = False
    return groups


def _first_children(family: str, n_values: int) -> BoolArray:
    values = np.arange(n_values)
    splits = np.arange(count_splits(family, n_values))[:, np.newaxis]
    first: BoolArray
    if family == "ordered":
        first = values <= splits
    elif family == "one-vs-rest":
        first = values == splits
    else:  # the last value never goes to the first child, so no split comes twice
        first = (splits + 1 >> values) & 1 == 1
    return first


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
        ratio = np.divide(inside, expected, out=np.ones_like(inside), where=inside > 0)
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
    centered: FloatArray = np.where(seen, apart - (parent * apart).sum(axis=1, keepdims=True), 0.0)
    return centered


def variances(parent: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return the variance at each node, shape (n,), from its classes and `numbers_at` (n, C)."""
    spread: FloatArray = (parent * numbers**2).sum(axis=1)
    return spread
