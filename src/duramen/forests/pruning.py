"""Pruning of grown trees: by cost-complexity, and by the error on rows that were held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.forests.forest import Forest, values_for_prediction
from duramen.forests.structure import (
    ANY,
    FAMILY_MASK,
    MULTIWAY,
    Nodes,
    child_counts,
    first_children,
    trees_of_nodes,
)
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray, ranges


class PruningPath(NamedTuple):
    """Subtrees that minimal cost-complexity pruning leaves, from the grown trees to their roots.

    Attributes
    ----------
    ccp_alphas : float64 array of shape (S,)
        Complexity parameters, ascending from 0, one for the grown trees and one for each node that
        becomes a leaf.
    impurities : float64 array of shape (S,)
        Impurity of the leaves that are left, weighted by their fractions of the weight, as a mean
        over the trees.
    n_leaves : int64 array of shape (S,)
        Number of leaves that are left, of all trees.
    """

    ccp_alphas: FloatArray
    impurities: FloatArray
    n_leaves: IntArray


def cost_complexity_pruning_path(forest: Forest) -> PruningPath:
    r"""Compute the path of minimal cost-complexity pruning of the trees of a forest.

    With :math:`R(t) = p(t) \, i(t)` the impurity of node t times its fraction of the weight, and
    :math:`R(T_t)` the sum of R over the leaves beneath it, the node with the least

    .. math:: \alpha(t) = \frac{R(t) - R(T_t)}{|T_t| - 1}

    becomes a leaf first, then the next one, until the root is left. Each tree is pruned by itself;
    the path joins those of the trees, and that of a single tree is scikit-learn's.

    Parameters
    ----------
    forest : Forest
        Trees for classification or regression.

    Returns
    -------
    PruningPath

    Raises
    ------
    ValueError
        For survival and boosted trees, whose nodes have no impurity.

    References
    ----------
    Breiman, Friedman, Olshen, Stone, Classification and regression trees (1984), chapter 3.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.forests import cost_complexity_pruning_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> tree = dm.BaggedTreesRegressor(1, bootstrap=False, random_state=0).fit(X, y).forest_
    >>> path = cost_complexity_pruning_path(tree)
    >>> path.ccp_alphas, path.n_leaves
    (array([0.    , 0.125 , 0.5625]), array([3, 2, 1]))
    >>> path.impurities
    array([0.    , 0.125 , 0.6875])
    """
    alphas, increases, fewer = _weakest_links(forest, "cost_complexity_pruning_path")
    nodes = np.flatnonzero(~np.isnan(alphas))
    nodes = nodes[np.argsort(alphas[nodes], kind="stable")]
    leaf = forest.feature < 0
    roots = np.maximum(forest.weight[forest.offsets[:-1]], np.finfo(np.float64).tiny)
    fractions = forest.weight / np.repeat(roots, np.diff(forest.offsets))
    grown = float((fractions[leaf] * forest.impurity[leaf]).sum())
    return PruningPath(
        ccp_alphas=np.concatenate([[0.0], alphas[nodes]]),
        impurities=np.cumsum(np.concatenate([[grown], increases[nodes]])) / forest.n_trees,
        n_leaves=int(leaf.sum()) - np.cumsum(np.concatenate([[0], fewer[nodes]]), dtype=np.int64),
    )


def pruned(forest: Forest, ccp_alpha: float) -> Forest:
    r"""Cut each tree back to its subtree of least :math:`R(T) + \alpha |T|`.

    Of equal subtrees it is the smallest. R(T) is the impurity of the leaves, weighted by their
    fractions of the weight, and \|T\| their number (see :func:`cost_complexity_pruning_path`). The
    nodes that are left keep their splits, weights and impurities; a node that becomes a leaf holds
    the class frequencies, or the mean, of its rows.

    Parameters
    ----------
    forest : Forest
        Trees for classification or regression.
    ccp_alpha : float
        Complexity parameter :math:`\alpha`, at least 0, in the unit of the impurity; 0 leaves the
        trees as they are.

    Returns
    -------
    Forest

    Raises
    ------
    ValueError
        For survival and boosted trees, whose nodes have no impurity, or when `ccp_alpha` is no
        number from 0.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> tree = dm.BaggedTreesRegressor(1, bootstrap=False, random_state=0).fit(X, y).forest_
    >>> dm.forests.pruned(tree, 0.5).tree(0)
    Tree(0: 3 nodes, 2 leaves, depth 1)
    """
    ccp_alpha = checks.check_real("pruned", "ccp_alpha", ccp_alpha, 0)
    alphas = _weakest_links(forest, "pruned")[0]
    settings = replace(forest.settings, ccp_alpha=max(ccp_alpha, forest.settings.ccp_alpha))
    closed = alphas <= ccp_alpha
    forest = replace(forest, settings=settings)
    return forest if ccp_alpha == 0 else _cut_back(forest, closed)


def pruned_by_error(forest: Forest, leaves: NDArray[np.int32], target: NDArray[Any]) -> Forest:
    """Cut each tree back to its smallest subtree of least error on rows that were held out.

    The error of a node as a leaf is the number of its rows of other classes than its most frequent
    one, or the sum of their squared deviations from its mean; a node becomes a leaf unless a
    subtree below it has a smaller error (reduced-error pruning, Quinlan 1987). `leaves`, of shape
    (n, T), are those of the rows, and `target` class codes, or numbers less the forest's origin.
    """
    nodes, n_leaves = Nodes(forest), len(forest.leaf_values)
    weight = forest.weight[nodes.leaves, np.newaxis]
    totals = nodes.summed_up(weight)
    values = nodes.summed_up(weight * forest.leaf_values) / np.where(totals > 0, totals, 1.0)
    values[nodes.leaves] = forest.leaf_values
    place = forest.child[leaves + forest.offsets[:-1]] + forest.leaf_offsets[:-1]  # of leaf_values
    rows = np.arange(len(target))[:, np.newaxis]
    if forest.is_classifier:
        counts = np.zeros((n_leaves, forest.n_values))
        np.add.at(counts, (place, target[rows]), 1.0)
        counts = nodes.summed_up(counts)
        right = np.take_along_axis(counts, values.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
        errors = counts.sum(axis=1) - right
    else:
        # Deviations from the root, so that the sums of squares lose no digits.
        roots = values[forest.offsets[:-1], 0]
        centered = target[rows] - roots
        moments = np.zeros((n_leaves, 3))
        np.add.at(moments, place, np.stack([centered**0, centered, centered**2], axis=-1))
        count, linear, square = nodes.summed_up(moments).T
        mean = values[:, 0] - roots[nodes.tree]
        errors = square - 2 * mean * linear + count * mean**2
    closed, least = np.zeros(forest.n_nodes, dtype=np.bool_), errors.copy()
    for level in reversed(nodes.levels):
        below = nodes.over_children(least, level)
        closed[level.parents] = errors[level.parents] <= below
        least[level.parents] = np.minimum(errors[level.parents], below)
    return _cut_back(forest, closed)


def _cut_back(forest: Forest, closed: BoolArray) -> Forest:
    """Return the forest with these inner nodes, marked in an array of shape (N,), as leaves."""
    if not closed.any():
        return forest
    counts, first, trees = child_counts(forest), first_children(forest), trees_of_nodes(forest)

    def offsets_of(own: IntArray, sizes: IntArray | None = None) -> IntArray:
        """Return the offsets of the trees among things of these trees, of size 1 or of others."""
        ends = np.cumsum(np.bincount(own, weights=sizes, minlength=forest.n_trees))
        return np.concatenate([[0], ends]).astype(np.int64)

    # The first closed node on the path from the root to each node, or else the node itself.
    owner = np.arange(forest.n_nodes)
    level = forest.offsets[:-1]
    while len(level):
        inner = level[counts[level] > 0]
        level, above = ranges(first[inner], counts[inner]), np.repeat(inner, counts[inner])
        gone = closed[above] | (owner[above] != above)
        owner[level] = np.where(gone, owner[above], level)
    nodes = np.flatnonzero(owner == np.arange(forest.n_nodes))
    leaf = (forest.feature[nodes] < 0) | closed[nodes]
    offsets = offsets_of(trees[nodes])

    # Leaves, in the order of the first of the old ones in each, and their values.
    ends = np.flatnonzero(forest.feature < 0)
    old = np.empty(len(ends), dtype=np.int64)  # nodes of the old leaves, in their order
    old[forest.child[ends] + forest.leaf_offsets[trees[ends]]] = ends
    leaves, first_old, place = np.unique(owner[old], return_index=True, return_inverse=True)
    order = np.argsort(first_old)
    leaves, first_old, group = leaves[order], first_old[order], np.argsort(order)[place]
    leaf_offsets = offsets_of(trees[leaves])
    masses, size = forest.weight[old], len(leaves)
    columns = [np.bincount(group, masses * values, size) for values in forest.leaf_values.T]
    sums, weights = np.stack(columns, axis=1), np.bincount(group, masses, size)[:, np.newaxis]
    if forest.is_classifier:  # a class that weighs a whole number does so exactly
        whole = np.rint(sums)
        sums = np.where(np.abs(sums - whole) <= 2.0**-40 * weights, whole, sums)
    leaf_values = forest.leaf_values[first_old]
    merged = leaves != old[first_old]
    leaf_values[merged] = sums[merged] / weights[merged]

    # Words of the pool that inner nodes refer to.
    inner = nodes[~leaf]
    family = forest.split[inner] & FAMILY_MASK
    cut = forest.cut[inner].astype(np.int64)
    start = forest.pool_offsets[trees[inner]] + cut
    n_codes = forest.schema.n_codes()[forest.feature[inner]]
    sizes = np.where(family == ANY, (n_codes + 31) // 32, 0)
    multiway = family == MULTIWAY
    sizes[multiway] = forest.pool[start[multiway]].astype(np.int64) + 2
    pool_offsets = offsets_of(trees[inner], sizes)
    own = np.cumsum(sizes) - sizes - pool_offsets[trees[inner]]

    number = np.zeros(forest.n_nodes, dtype=np.int64)  # of a node, then of a leaf in its tree
    number[nodes] = np.arange(len(nodes)) - offsets[trees[nodes]]
    child = number[first[nodes]]
    number[leaves] = np.arange(size) - leaf_offsets[trees[leaves]]
    child[leaf] = number[nodes[leaf]]
    cuts = np.zeros(len(nodes), dtype=np.uint32)
    cuts[~leaf] = np.where(sizes > 0, own, cut)
    feature = np.where(leaf, -1, forest.feature[nodes]).astype(np.int32)
    degree, weight = forest.node_degree, forest.node_weight  # empty where they are implied
    if len(degree):
        degree = np.where(leaf, 0, degree[nodes]).astype(np.uint32)
    arrays: dict[str, Any] = {
        "offsets": offsets,
        "leaf_offsets": leaf_offsets,
        "pool_offsets": pool_offsets,
        "feature": feature,
        "child": child.astype(np.int32),
        "cut": cuts,
        "threshold": np.where(leaf, np.nan, forest.threshold[nodes]),
        "split": np.where(leaf, 0, forest.split[nodes]).astype(np.uint8),
        "pool": forest.pool[ranges(start, sizes)],
        "rows": forest.rows[nodes],
        "node_degree": degree,
        "node_weight": weight[nodes] if len(weight) else weight,
        "impurity": forest.impurity[nodes],
        "leaf_values": leaf_values,
    }
    schema = values_for_prediction(forest.schema, arrays)
    return replace(forest, **arrays, schema=schema)


def _weakest_links(forest: Forest, function: str) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the weakest links of the kernel; see ``weakest_links`` in cpp/forest/prune.hpp."""
    if forest.target_class.censored:
        raise ValueError(
            f"{function}: forest must be one for classification or regression, got one for "
            "survival, whose nodes have no impurity. Hint: max_leaf_nodes or min_samples_leaf "
            "bound survival trees."
        )
    if forest.link is not None:
        raise ValueError(
            f"{function}: forest must have nodes with an impurity, got boosted trees, which hold "
            "none. Hint: fit the model with fewer leaves."
        )
    return _kernel.weakest_links(forest.kernel)
