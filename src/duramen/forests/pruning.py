"""Minimal cost-complexity pruning of grown trees (Breiman, Friedman, Olshen and Stone 1984)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.forests.arrays import ANY, FAMILY_MASK, MULTIWAY
from duramen.forests.criteria import criterion_named
from duramen.forests.forest import Forest, values_for_prediction
from duramen.forests.structure import child_counts, expand, first_children, trees_of_nodes
from duramen.results.columns import Column, hidden
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.text import fixed

Integers = IntArray


@dataclass(frozen=True, eq=False, repr=False)
class PruningPath(Result):
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
    n_leaves: Integers

    def __len__(self) -> int:
        return len(self.ccp_alphas)

    def columns(self) -> dict[str, Any]:
        """Return the complexity parameter, the impurity and the number of leaves, by name."""
        return {
            "ccp_alpha": self.ccp_alphas,
            "impurity": self.impurities,
            "n_leaves": self.n_leaves,
        }

    def _summary(self, rows: int) -> Summary:
        shown = min(rows, len(self))
        columns = [
            Column("ccp_alpha", fixed(self.ccp_alphas[:shown], 5)),
            Column("impurity", fixed(self.impurities[:shown], 5)),
            Column("leaves", [f"{count:,}" for count in self.n_leaves[:shown].tolist()]),
        ]
        heading = f"PruningPath of {len(self)} steps, from {int(self.n_leaves[0]):,} leaves"
        return Summary((heading,), columns, hidden(len(self), shown, "steps"))


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
        For survival, where nodes have no impurity.

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
        For survival, where nodes have no impurity, or when `ccp_alpha` is no number from 0.

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
    if ccp_alpha == 0 or not closed.any():
        return replace(forest, settings=settings)
    arrays = _arrays_without(forest, closed)
    values = values_for_prediction(forest.schema, arrays)
    return replace(forest, **arrays, settings=settings, schema=values)


def _weakest_links(forest: Forest, function: str) -> tuple[FloatArray, FloatArray, Integers]:
    """Return what the kernel finds of each node; see ``weakest_links`` in cpp/forest/prune.hpp."""
    if criterion_named(forest.settings.criterion).scored:
        raise ValueError(
            f"{function}: forest must be one for classification or regression, got one for "
            "survival, whose nodes have no impurity. Hint: max_leaf_nodes or min_samples_leaf "
            "bound survival trees."
        )
    return _kernel.weakest_links(forest.kernel)


def _arrays_without(forest: Forest, closed: BoolArray) -> dict[str, Any]:
    """Return the flat arrays of a forest in which the closed nodes are leaves."""
    owner = _owners(forest, closed)
    remaining = np.flatnonzero(owner == np.arange(forest.n_nodes))
    trees = trees_of_nodes(forest)
    tree = trees[remaining]
    offsets = _offsets(tree, forest.n_trees)
    number = np.full(forest.n_nodes, -1, dtype=np.int64)
    number[remaining] = np.arange(len(remaining)) - offsets[tree]
    leaf = (forest.feature[remaining] < 0) | closed[remaining]
    leaf_offsets, leaf_numbers, leaf_values = _leaves(forest, owner, trees)
    pool_offsets, pool, cuts = _pool(forest, remaining[~leaf], trees)
    child = np.where(leaf, leaf_numbers[remaining], number[first_children(forest)[remaining]])
    cut = np.zeros(len(remaining), dtype=np.uint32)
    cut[~leaf] = cuts
    degree = forest.node_degree
    return {
        "offsets": offsets,
        "leaf_offsets": leaf_offsets,
        "pool_offsets": pool_offsets,
        "feature": np.where(leaf, -1, forest.feature[remaining]).astype(np.int32),
        "child": child.astype(np.int32),
        "cut": cut,
        "threshold": np.where(leaf, np.nan, forest.threshold[remaining]),
        "split": np.where(leaf, 0, forest.split[remaining]).astype(np.uint8),
        "pool": pool,
        "rows": forest.rows[remaining],
        "node_degree": np.where(leaf, 0, degree[remaining]).astype(np.uint32)
        if len(degree)
        else degree,
        "node_weight": forest.node_weight[remaining]
        if len(forest.node_weight)
        else forest.node_weight,
        "impurity": forest.impurity[remaining],
        "leaf_values": leaf_values,
    }


def _owners(forest: Forest, closed: BoolArray) -> Integers:
    """Return of every node the first closed one on its path from the root, or else itself."""
    counts, first = child_counts(forest), first_children(forest)
    owner = np.arange(forest.n_nodes)
    level = forest.offsets[:-1]
    while len(level):
        inner = level[counts[level] > 0]
        level, above = expand(first[inner], counts[inner]), np.repeat(inner, counts[inner])
        gone = closed[above] | (owner[above] != above)
        owner[level] = np.where(gone, owner[above], level)
    return owner


def _leaves(
    forest: Forest, owner: Integers, trees: Integers
) -> tuple[Integers, Integers, FloatArray]:
    """Return the offsets of the new leaves, their numbers by node (-1: none), and their values."""
    ends = np.flatnonzero(forest.feature < 0)
    old = np.empty(len(ends), dtype=np.int64)  # nodes of the leaves, in the order of these
    old[forest.child[ends] + forest.leaf_offsets[trees[ends]]] = ends
    nodes, first, place = np.unique(owner[old], return_index=True, return_inverse=True)
    order = np.argsort(first)  # new leaves come in the order of the first of the old ones in them
    nodes, group = nodes[order], np.argsort(order)[place]
    offsets = _offsets(trees[nodes], forest.n_trees)
    numbers = np.full(forest.n_nodes, -1, dtype=np.int64)
    numbers[nodes] = np.arange(len(nodes)) - offsets[trees[nodes]]

    masses = forest.weight[old]
    sums = np.stack(
        [
            np.bincount(group, weights=masses * column, minlength=len(nodes))
            for column in forest.leaf_values.T
        ],
        axis=1,
    )
    weights = np.bincount(group, weights=masses, minlength=len(nodes))[:, np.newaxis]
    if forest.is_classifier:  # a class that weighs a whole number does so exactly
        whole = np.rint(sums)
        sums = np.where(np.abs(sums - whole) <= 2.0**-40 * weights, whole, sums)
    values = forest.leaf_values[first[order]]
    merged = nodes != old[first[order]]
    values[merged] = sums[merged] / weights[merged]
    return offsets, numbers, values


def _pool(
    forest: Forest, inner: Integers, trees: Integers
) -> tuple[Integers, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the pool with the words of some inner nodes alone, its offsets, and their cuts."""
    family = forest.split[inner] & FAMILY_MASK
    cut = forest.cut[inner].astype(np.int64)
    start = forest.pool_offsets[trees[inner]] + cut
    n_codes = forest.schema.n_codes()
    sizes = np.where(family == ANY, (n_codes[forest.feature[inner]] + 31) // 32, 0)
    multiway = family == MULTIWAY
    sizes[multiway] = forest.pool[start[multiway]].astype(np.int64) + 2
    ends = np.cumsum(sizes)
    offsets = _offsets(trees[inner], forest.n_trees, sizes)
    cuts = np.where(sizes > 0, ends - sizes - offsets[trees[inner]], cut)
    return offsets, forest.pool[expand(start, sizes)], cuts.astype(np.uint32)


def _offsets(trees: Integers, n_trees: int, sizes: Integers | None = None) -> Integers:
    """Return the offsets of the trees among things of some sizes, 1 each, which have a tree."""
    counts = np.bincount(trees, weights=sizes, minlength=n_trees)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
