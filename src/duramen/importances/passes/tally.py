"""From one number a node to one number a feature: means and standard errors over trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.importances.passes.nodes import Nodes
from duramen.support.arrays import FloatArray, IntArray


class Tally:
    """Sums what the internal nodes of trees contribute, by feature and interaction degree.

    The value of a feature is the mean over the trees of the sum of the contributions of the nodes
    that split on it; its standard error is the standard deviation (ddof 1) of these sums over the
    square root of the number of trees. A tree that does not use a feature counts as 0.
    """

    def __init__(self, n_features: int) -> None:
        self._p = n_features
        self._trees = 0
        self._sum = np.zeros(n_features)
        self._squares = np.zeros(n_features)
        self._degrees: list[FloatArray] = []

    def add(self, nodes: Nodes, contribution: FloatArray, *, n_trees: int) -> None:
        """Add the contributions (one a node, internal nodes count) of a run of `n_trees` trees."""
        inner = nodes.internal()
        amount = contribution[inner]
        feature = nodes.forest.feature[inner].astype(np.int64)
        by_tree, place = np.unique(nodes.tree[inner] * self._p + feature, return_inverse=True)
        sums = weighted_counts(place, amount, by_tree.size)
        self._trees += n_trees
        self._sum += self._by_feature(by_tree % self._p, sums)
        self._squares += self._by_feature(by_tree % self._p, sums**2)
        degree = nodes.forest.degree[inner]
        for k in range(int(degree.max(initial=0)) + 1):
            if k == len(self._degrees):
                self._degrees.append(np.zeros(self._p))
            self._degrees[k] += self._by_feature(feature[degree == k], amount[degree == k])

    def _by_feature(self, feature: IntArray, amount: FloatArray) -> FloatArray:
        return weighted_counts(feature, amount, self._p)

    @property
    def n_trees(self) -> int:
        """Number of trees added."""
        return self._trees

    def values(self) -> FloatArray:
        """Return the mean over the trees, of shape (p,)."""
        return self._sum / self._trees

    def standard_error(self) -> FloatArray | None:
        """Return the standard error over the trees, of shape (p,); None below two trees."""
        if self._trees < 2:
            return None
        spread = self._squares - self._sum**2 / self._trees
        return np.sqrt(np.maximum(spread, 0.0) / (self._trees - 1) / self._trees)

    def by_degree(self) -> FloatArray:
        """Return `values` by the degree of the splits, of shape (p, D)."""
        if not self._degrees:
            return np.zeros((self._p, 1))
        return np.column_stack(self._degrees) / self._trees


def weighted_counts(index: NDArray[np.integer], weight: FloatArray, size: int) -> FloatArray:
    """Return for each of 0 .. size - 1 the sum of the weights where `index` is it."""
    return np.bincount(index, weights=weight, minlength=size).astype(np.float64, copy=False)
