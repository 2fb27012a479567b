"""Structure that the flat arrays of trees imply: parents, depths, decreases of impurity.

Everything here is vectorized over all the nodes of a trees. Nodes are numbered through the whole
forest ("global"), node ``i`` of tree ``t`` being ``offsets[t] + i``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duramen.forests.arrays import FAMILY_MASK, MULTIWAY, TreeArrays
from duramen.support.arrays import FloatArray, IntArray, ranges

if TYPE_CHECKING:
    from scipy import sparse


def trees_of_nodes(trees: TreeArrays) -> IntArray:
    """Return the tree of every node, of shape (N,)."""
    return np.repeat(np.arange(trees.n_trees), np.diff(trees.offsets))


def child_counts(trees: TreeArrays) -> IntArray:
    """Return the number of children of every node, of shape (N,); 0 at a leaf."""
    counts = np.where(trees.feature < 0, 0, 2).astype(np.int64)
    multiway = np.flatnonzero(
        (trees.feature >= 0) & ((trees.split & FAMILY_MASK) == MULTIWAY),
    )
    if len(multiway):
        base = trees.pool_offsets[np.searchsorted(trees.offsets, multiway, side="right") - 1]
        counts[multiway] = trees.pool[base + trees.cut[multiway]]
    return counts


def first_children(trees: TreeArrays) -> IntArray:
    """Return the global number of the first child of every node, of shape (N,); -1 at a leaf."""
    first = trees.child + np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    return np.where(trees.feature < 0, -1, first)


def parents(trees: TreeArrays) -> IntArray:
    """Return the global number of the parent of every node, of shape (N,); -1 at a root."""
    counts, first = child_counts(trees), first_children(trees)
    inner = np.flatnonzero(counts)
    result = np.full(trees.n_nodes, -1, dtype=np.int64)
    result[ranges(first[inner], counts[inner])] = np.repeat(inner, counts[inner])
    return result


def depths(trees: TreeArrays) -> IntArray:
    """Return the depth of every node, of shape (N,); 0 at a root."""
    counts, first = child_counts(trees), first_children(trees)
    result = np.zeros(trees.n_nodes, dtype=np.int64)
    level = trees.offsets[:-1][np.diff(trees.offsets) > 0]
    depth = 0
    while len(level):
        result[level] = depth
        inner = level[counts[level] > 0]
        level = ranges(first[inner], counts[inner])
        depth += 1
    return result


def decreases(trees: TreeArrays) -> FloatArray:
    """Return the decrease of impurity by the split of every node, of shape (N,); 0 at a leaf.

    i(t) - sum_c w(c) / w(t) i(c) over the children c of node t, in the criterion's unit.
    """
    above = parents(trees)
    inside = above >= 0
    mass = np.bincount(
        above[inside],
        weights=trees.weight[inside] * trees.impurity[inside],
        minlength=trees.n_nodes,
    )
    inner = trees.feature >= 0
    result = np.zeros(trees.n_nodes)
    result[inner] = trees.impurity[inner] - mass[inner] / trees.weight[inner]
    return result


def decision_path(
    forest: TreeArrays, leaves: NDArray[np.int32]
) -> tuple[sparse.csr_matrix, IntArray]:
    """Return the indicator of the nodes on the way to the given leaves.

    Parameters
    ----------
    forest : Forest
        The forest.
    leaves : int32 array of shape (n, T)
        Leaf of every row in every tree.

    Returns
    -------
    indicator : sparse CSR matrix of shape (n, N)
        1 where a row passes through a node; the nodes of a row ascend.
    offsets : int64 array of shape (T + 1,)
        First column of each tree, and N.
    """
    parent, depth = parents(forest), depths(forest)
    node = (leaves + forest.offsets[:-1]).ravel()
    lengths = depth[node] + 1
    ends = np.cumsum(lengths)
    indices = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    place = ends - 1
    while len(node):
        indices[place] = node
        node = parent[node]
        inside = node >= 0
        node, place = node[inside], place[inside] - 1
    bounds = np.concatenate([[0], ends[forest.n_trees - 1 :: forest.n_trees]])
    from scipy import sparse

    indicator = sparse.csr_matrix(
        (np.ones(len(indices), dtype=np.int64), indices, bounds),
        shape=(len(leaves), forest.n_nodes),
    )
    return indicator, forest.offsets.copy()
