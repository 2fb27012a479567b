"""Growth of trees and their bags, by the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data import EncodedTable, LearningSet
from duramen.data.survival import risk_intervals
from duramen.forests.forest import Forest, values_for_prediction
from duramen.forests.patches import grow_patches
from duramen.forests.pruning import pruned
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import ARRAY_NAMES, LeafEvents
from duramen.io import ColumnStore
from duramen.support.arrays import BoolArray, FloatArray

# As many as the kernel takes (kLargestTable in cpp/grow/problem.hpp).
_MOST_COPIES = 2**22

Progress = Callable[[int], None]


def grow(
    data: LearningSet[Any],
    settings: GrowthSettings,
    *,
    n_trees: int,
    seed: int,
    first_tree: int = 0,
    n_threads: int = 1,
    progress: Progress | None = None,
    guidance: Guidance | None = None,
) -> Forest:
    """Grow the trees ``first_tree`` .. ``first_tree + n_trees - 1`` of a forest.

    A tree depends on the learning set, the settings, the seed and its own number alone: neither on
    ``n_threads`` nor on how the trees are distributed over calls.

    Parameters
    ----------
    data : LearningSet
        n rows of p encoded columns, with target and weights; rows of weight 0 are left out. Of a
        store, each tree reads the rows and columns that it is grown on. If the rows have groups,
        trees that draw rows draw whole groups.
    settings : GrowthSettings
        How to grow.
    n_trees : int
        Number of trees.
    seed : int
        Seed in 0..2**64-1.
    first_tree : int
        Number of the first tree in the stream of random numbers.
    n_threads : int
        Threads to use.
    progress : callable or None
        Called now and then with the number of trees that are done.
    guidance : Guidance or None
        Columns that are drawn more often, or penalized. With penalties a tree depends on those
        before it, which are to be grown by the same call.

    Returns
    -------
    Forest

    Raises
    ------
    ValueError
        If trees of these settings do not exist for survival.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.forests import GrowthSettings, grow
    >>> data = dm.learning_set([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> grow(data, GrowthSettings(max_features=1), n_trees=2, seed=0).tree(0)
    Tree(0: 3 nodes, 2 leaves, depth 1)
    """
    table, target, weights = data.table, data.target, data.weights
    if target.censored:
        binary = settings.splits != "multiway" and settings.cut != "pert"
        if not binary or settings.ccp_alpha > 0 or settings.min_impurity_split > 0:
            raise ValueError(
                "grow: survival trees must have binary splits, neither multiway ones nor those of "
                "PERT, and ccp_alpha and min_impurity_split of 0, as nodes have no impurity. Hint: "
                "max_leaf_nodes or min_samples_leaf bound survival trees."
            )
        whole = weights is None or (weights == np.floor(weights)).all()
        if not whole or (weights is not None and weights.sum() > _MOST_COPIES):
            raise ValueError(
                "sample_weight must be whole numbers with a sum up to 4,194,304 for survival, "
                "where a weight is a number of copies. Hint: leave out sample_weight."
            )
    arrays: dict[str, NDArray[Any]]
    if isinstance(table, ColumnStore):
        arrays = grow_patches(
            data,
            settings,
            n_trees=n_trees,
            seed=seed,
            first_tree=first_tree,
            n_threads=n_threads,
            progress=progress,
        )
    else:
        groups = data.exchangeability.bag_groups
        trees = _kernel.TreeRange(seed=seed, first=first_tree, count=n_trees, groups=groups)
        problem = table.kernel, target.kernel, weights, settings.for_kernel(), trees
        if guidance is None:
            grown = _kernel.grow(*problem, n_threads, progress)
        else:
            lent = _kernel.Guidance(guidance.weights, guidance.factors, guidance.of_score)
            n_threads = 1 if guidance.factors is not None else n_threads
            grown = _kernel.grow_guided(*problem, lent, n_threads, progress)
        arrays = {name: getattr(grown, name) for name in ARRAY_NAMES}
    forest = forest_of(arrays, data, settings, seed, first_tree)
    if target.times is None:
        return pruned(forest, settings.ccp_alpha) if settings.ccp_alpha > 0 else forest
    offsets, index, counts, at_risk, mortality = _kernel.leaf_events(
        forest.kernel, table.kernel, target.kernel, weights, forest.bags, n_threads
    )
    _, times, events = risk_intervals(target.values)
    occurred = np.unique(times[events])
    leaf_events = LeafEvents(target.times[occurred], offsets, index, counts, at_risk)
    return replace(forest, leaf_values=mortality, leaf_events=leaf_events)


def grow_beside_decoys(
    data: LearningSet[EncodedTable],
    settings: GrowthSettings,
    *,
    tree: int,
    seed: int,
    cycle: NDArray[np.uint32],
    judged: BoolArray,
    bounds: NDArray[np.uint32] | None = None,
) -> tuple[Forest, FloatArray]:
    r"""Grow one tree, and compare its columns with their decoys at every node.

    A decoy is a copy of a column with its rows in another order, and splits nothing. At a node it
    takes the place of its column among the candidates, which are drawn in the same order, and is
    credited as its column would be if it wins. Beneath such a node it has yet another order of its
    rows, and of its values one side of the cut, as the column has beneath its own splits; of
    columns without an order, for both, only the first choice on a path counts.

    `tree` is its number in the stream of random numbers; every row weighs 1. `cycle`, of shape
    (n,), has every row once, in an order drawn at random: at each row a decoy has the value of the
    next. With `bounds`, of shape (S + 1,), the places from one of them to the next hold the rows of
    a stratum, the last of which is followed by the first. Only the columns in `judged`, of shape
    (p,), are compared.

    Returned are the tree and, of shape (p,), the excess of each judged column: :math:`\sum_t
    p(t)^{9/8} \Delta i(t)` over the nodes t that split on it, with p(t) the fraction of the rows,
    less the same for its decoy; 0 for the others.
    """
    if settings.ccp_alpha > 0:
        raise ValueError("grow_beside_decoys: ccp_alpha must be 0, trees are compared as they grow")
    groups = data.exchangeability.bag_groups
    trees = _kernel.TreeRange(seed=seed, first=tree, count=1, groups=groups)
    ends = np.array([0, len(cycle)], dtype=np.uint32) if bounds is None else bounds
    given = data.table.kernel, data.target.kernel, data.weights, settings.for_kernel(), trees
    grown, excess = _kernel.grow_beside_decoys(*given, _kernel.Decoys(cycle, judged, ends))
    arrays = {name: getattr(grown, name) for name in ARRAY_NAMES}
    return forest_of(arrays, data, settings, seed, tree), excess


def forest_of(
    arrays: dict[str, Any],
    data: LearningSet[Any],
    settings: GrowthSettings,
    seed: int,
    first_tree: int,
    leaf_events: LeafEvents | None = None,
) -> Forest:
    """Return the forest of trees that were grown on a learning set.

    Trees whose bag holds rows of weight 0 alone get the values of the whole sample.
    """
    table, target, weights = data.table, data.target, data.weights
    roots = arrays["offsets"][:-1]
    # Without weights of nodes, every row weighs 1.
    empty = arrays["node_weight"][roots] == 0 if len(arrays["node_weight"]) else np.zeros(0, bool)
    if empty.any() and not target.censored:
        masses = np.ones(table.n_rows) if weights is None else weights
        if target.codes is None:
            whole = np.array([np.average(target.less(target.origin), weights=masses)])
        else:
            counts = np.bincount(target.codes, weights=masses, minlength=target.n_classes)
            whole = counts / counts.sum()
        arrays["leaf_values"][arrays["leaf_offsets"][:-1][empty]] = whole
        arrays["impurity"][roots[empty]] = 0.0
    return Forest(
        **arrays,
        settings=settings,
        schema=values_for_prediction(table.schema, arrays),
        classes=target.classes,
        n_rows=table.n_rows,
        total_weight=float(table.n_rows if weights is None else weights.sum()),
        seed=seed,
        fingerprint=data.fingerprint,
        first_tree=first_tree,
        origin=target.origin,
        leaf_events=leaf_events,
        groups=data.exchangeability.bag_groups,
    )


def bag(forest: Forest, tree: int) -> NDArray[np.uint32]:
    """Count how often each training row was drawn for a tree, shape (n_rows,).

    A row with 0 is out of the bag. Bags are not stored: they are drawn again from the seed, and
    where the forest has groups, for each group: its rows have one count.
    """
    return forest.bags.draw(forest.n_rows, tree)


def out_of_bag(forest: Forest) -> BoolArray:
    """Tell which training rows are out of the bag of each tree, shape (n_rows, T)."""
    mask = np.empty((forest.n_rows, forest.n_trees), dtype=np.bool_)
    for tree in range(forest.n_trees):
        mask[:, tree] = bag(forest, tree) == 0
    return mask


@dataclass(frozen=True, eq=False)
class Guidance:
    r"""Weights of the columns in the draw of candidates, and penalties of columns not used so far.

    Attributes
    ----------
    weights : float64 array of shape (p,)
        The K candidates of a node are drawn without replacement with probability proportional to
        these; columns of weight 0 never are.
    factors : float64 array of shape (p,) or None
        :math:`\lambda_j`: a column that split no node of this tree or an earlier one competes with
        :math:`\lambda_j` times its decrease of impurity. Columns that did are candidates at every
        node. Trees grow one after the other.
    of_score : bool
        Whether the factor is one of the score :math:`\sum_c \sum_k n_{ck}^2 / n_c` of the children,
        of which the decrease of the Gini index is only the part beyond that of the node.
    """

    weights: FloatArray
    factors: FloatArray | None = None
    of_score: bool = False

    def refuse(self, settings: GrowthSettings, owner: str) -> None:
        """Raise ValueError if trees of these settings cannot be guided.

        Raises
        ------
        ValueError
            If they are multiway trees or PERT, take one of the best few splits, test them by
            permutation, draw columns for a tree, or, with factors, limit the number of leaves; or
            if fewer columns than candidates have a weight.
        """
        plain = settings.n_best_splits == 1 and not settings.stop_permutations
        at_nodes = settings.splits != "multiway" and settings.cut != "pert"
        in_order = self.factors is None or settings.max_leaf_nodes is None
        of_gini = not self.of_score or settings.criterion == "gini"
        if not (plain and at_nodes and in_order and of_gini and not settings.column_samples):
            raise ValueError(
                f"{owner}: these trees cannot be guided. Guided trees take the best binary split "
                "of candidates drawn at each node among all features: n_best_splits must be 1, "
                "stop_permutations and n_subspace_features None, and, to penalize new features, "
                "max_leaf_nodes None and criterion 'gini'."
            )
        positive = int(np.count_nonzero(self.weights))
        if positive < settings.max_features:
            raise ValueError(
                f"{owner}: max_features={settings.max_features} candidates are drawn at a node, "
                f"but only {positive} features have a weight above 0. Hint: use a smaller "
                "max_features, or weights above 0 for more features."
            )
