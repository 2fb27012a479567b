"""The nodes of a forest level by level: sums from the leaves up, sums over children.

Trees are flat arrays with children after their parents, so a quantity of every node of every
tree comes from one pass over the levels, deepest first, instead of a walk over each tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests import structure
from duramen.forests.forest import Forest
from duramen.forests.structure import child_counts, first_children, trees_of_nodes
from duramen.support.arrays import FloatArray, IntArray, ranges


class Nodes:
    """The nodes of a forest, numbered through all its trees, in levels."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.tree = trees_of_nodes(forest)  # shape (N,)
        self.n_children = child_counts(forest)  # shape (N,), 0 for a leaf
        self._first = first_children(forest)
        nodes = np.flatnonzero(forest.feature < 0)
        # Of shape (L,): the node of each row of ``forest.leaf_values``.
        self.leaves = np.empty(nodes.size, dtype=np.int64)
        self.leaves[forest.leaf_offsets[self.tree[nodes]] + forest.child[nodes]] = nodes
        self.levels: list[IntArray] = []  # internal nodes at depth 0, 1, 2 ...
        level = forest.offsets[:-1]
        while (level := level[self.n_children[level] > 0]).size:
            self.levels.append(level)
            level = self.children(level)

    def children(self, parents: IntArray) -> IntArray:
        """Return the children of `parents`, brood after brood."""
        return ranges(self._first[parents], self.n_children[parents])

    def over_children(self, values: NDArray[Any], parents: IntArray) -> NDArray[Any]:
        """Return the sum of `values` (N, ...) over the children of each of `parents`."""
        counts = self.n_children[parents]
        sums: NDArray[Any] = np.add.reduceat(
            values[self.children(parents)], np.cumsum(counts) - counts, axis=0
        )
        return sums

    def summed_up(self, of_leaves: NDArray[Any]) -> NDArray[Any]:
        """Return for every node the sum of `of_leaves` (L, ...) over the leaves below it."""
        sums = np.zeros((self.forest.n_nodes, *of_leaves.shape[1:]), dtype=of_leaves.dtype)
        sums[self.leaves] = of_leaves
        for parents in reversed(self.levels):
            sums[parents] = self.over_children(sums, parents)
        return sums

    def fractions(self) -> FloatArray:
        """Return p(t), the fraction of a tree's training weight at each of its nodes."""
        weight = self.forest.weight
        whole = weight[self.forest.offsets[:-1]]
        whole = np.where(whole > 0, whole, 1.0)  # nothing but a leaf without rows
        fraction: FloatArray = weight / whole[self.tree]
        return fraction

    def internal(self) -> IntArray:
        """Return the internal nodes, level by level."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self.levels])

    def depth(self) -> IntArray:
        """Return the depth of the nodes that `internal` returns."""
        sizes = [level.size for level in self.levels]
        return np.repeat(np.arange(len(sizes)), sizes)


def maximal(nodes: Nodes) -> NDArray[np.bool_]:
    """Mark the nodes that split on a feature on which no node above them splits; shape (N,).

    They are the roots of the maximal subtrees of Ishwaran et al. (2010): the maximal v-subtrees of
    a tree have the nodes where a row meets v for the first time as their roots, and no row passes
    through two of them.
    """
    feature, above = nodes.forest.feature, structure.parents(nodes.forest)
    first = np.zeros(feature.size, dtype=np.bool_)
    node = nodes.internal()
    ancestor = above[node]
    while node.size:
        past_root = ancestor < 0
        first[node[past_root]] = True
        open_ = ~past_root & (feature[ancestor] != feature[node])  # at -1 the first term decides
        node, ancestor = node[open_], above[ancestor[open_]]
    return first


class TreeMoments:
    """Sums over trees of p numbers and of their squares."""

    def __init__(self, n_features: int) -> None:
        self.n_trees = 0
        self._sum, self._squares = np.zeros(n_features), np.zeros(n_features)

    def add_sparse(
        self,
        base: FloatArray,
        counts: NDArray[np.bool_],
        tree: IntArray,
        feature: IntArray,
        extra: FloatArray,
    ) -> None:
        """Add the trees that count: base[t] for every feature, and extra[i] for feature[i]."""
        common, rest = base[counts], extra * (2 * base[tree] + extra)
        p = len(self._sum)
        self.n_trees += common.size
        self._sum += common.sum() + weighted_counts(feature, extra, p)
        self._squares += (common**2).sum() + weighted_counts(feature, rest, p)

    def mean(self) -> FloatArray:
        """Return the mean over the trees, of shape (p,); 0 without trees."""
        return self._sum / max(1, self.n_trees)

    def standard_error(self) -> FloatArray | None:
        """Return the standard error over the trees, of shape (p,); None below two trees."""
        n_trees = self.n_trees
        if n_trees < 2:
            return None
        spread = self._squares - self._sum**2 / n_trees
        return np.sqrt(np.maximum(spread, 0.0) / (n_trees - 1) / n_trees)


class Tally(TreeMoments):
    """Sums what the internal nodes of trees contribute, by feature and interaction degree.

    The value of a feature is the mean over the trees of the sum of the contributions of the nodes
    that split on it; its standard error is the standard deviation (ddof 1) of these sums over the
    square root of the number of trees. A tree that does not use a feature counts as 0. Trees are
    added one by one, so that the sums are the same, bit for bit, whatever the runs.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._degrees: list[FloatArray] = []

    def add(self, nodes: Nodes, contribution: FloatArray, *, n_trees: int) -> None:
        """Add the contributions (one a node, internal nodes count) of a run of `n_trees` trees."""
        p = len(self._sum)
        inner = nodes.internal()
        inner = inner[np.argsort(nodes.tree[inner], kind="stable")]
        amount = contribution[inner]
        feature = nodes.forest.feature[inner].astype(np.int64)
        by_tree, place = np.unique(nodes.tree[inner] * p + feature, return_inverse=True)
        sums = weighted_counts(place, amount, by_tree.size)
        self.n_trees += n_trees
        np.add.at(self._sum, by_tree % p, sums)
        np.add.at(self._squares, by_tree % p, sums**2)
        degree = nodes.forest.degree[inner]
        for k in range(int(degree.max(initial=0)) + 1):
            if k == len(self._degrees):
                self._degrees.append(np.zeros(p))
            np.add.at(self._degrees[k], feature[degree == k], amount[degree == k])

    def by_degree(self) -> FloatArray:
        """Return the mean by the degree of the splits, of shape (p, D)."""
        if not self._degrees:
            return np.zeros((len(self._sum), 1))
        return np.column_stack(self._degrees) / self.n_trees


def weighted_counts(index: NDArray[np.integer], weight: FloatArray, size: int) -> FloatArray:
    """Return for each of 0 .. size - 1 the sum of the weights where `index` is it."""
    return np.bincount(index, weights=weight, minlength=size).astype(np.float64, copy=False)
