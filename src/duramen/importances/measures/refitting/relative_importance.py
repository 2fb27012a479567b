"""Relative importance of MCFS, from trees on random subsets of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from duramen.forests import structure
from duramen.forests.forest import Forest
from duramen.forests.growth import out_of_bag
from duramen.forests.prediction import leaves
from duramen.forests.structure import decreases
from duramen.importances.measures.refitting.subset_trees import Learner
from duramen.importances.passes.nodes import Nodes, weighted_counts
from duramen.support.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RelativeImportances:
    """Relative importances and edges from s subsets of the features."""

    n_drawn: IntArray  # (p,): Number of subsets that each feature was in
    # (p,): Mean over these subsets of what the feature got there; 0 where there are none.
    values: FloatArray
    # (p,): Standard error of that mean; None where any rests on fewer than two subsets.
    standard_error: FloatArray | None
    accuracy: float  # mean balanced accuracy of the trees on the rows that they were not grown from
    edges: Edges  # of the interdependency graph, the strongest first; empty unless asked for


def relative_importances(
    learner: Learner, n_subsets: int, seed: int, u: float, v: float, *, graph: bool = True
) -> RelativeImportances:
    """Grow the trees of all subsets, and sum up their gains; `graph` asks for the edges.

    u and v are the exponents of the accuracy of a tree, and of the fraction of its rows at a node.
    """
    subsets = learner.draw(n_subsets, seed)
    gained = np.empty(subsets.shape)
    accuracies = np.empty((n_subsets, learner.n_splits))
    edges: list[Edges] = []
    for start, forest in learner.forests(subsets, seed):
        nodes = Nodes(forest)
        ratio = gain_ratios(nodes)
        accuracy = balanced_accuracies(forest, learner)
        amount = accuracy[nodes.tree] ** u * ratio
        roots = forest.weight[forest.offsets[:-1]]
        amount *= (forest.weight / roots[nodes.tree]) ** v
        run = slice(start, start + forest.n_trees // learner.n_splits)
        accuracies[run] = accuracy.reshape(-1, learner.n_splits)
        gained[run] = _by_subset(nodes, amount, subsets[run], learner)
        if graph:
            edges.append(edges_of(nodes, ratio))
    return RelativeImportances(
        *_means(subsets.ravel(), gained.ravel(), learner.data.n_columns),
        accuracy=float(accuracies.mean()),
        edges=_strongest_first(merged(edges)),
    )


def _means(
    feature: IntArray, gained: FloatArray, p: int
) -> tuple[IntArray, FloatArray, FloatArray | None]:
    """Number, mean and standard error of what was gained, by feature."""
    n_drawn = np.bincount(feature, minlength=p)
    values = weighted_counts(feature, gained, p) / np.maximum(n_drawn, 1)
    if n_drawn.min() < 2:
        return n_drawn, values, None
    squares = weighted_counts(feature, (gained - values[feature]) ** 2, p)
    return n_drawn, values, np.sqrt(squares / (n_drawn - 1) / n_drawn)


def _strongest_first(edges: Edges) -> Edges:
    order = np.argsort(-edges[1], kind="stable")
    return edges[0][order], edges[1][order]


def gain_ratios(nodes: Nodes) -> FloatArray:
    """Information gain over split information of every split, of shape (N,); 0 at a leaf."""
    run = nodes.forest
    mass = run.weight * np.log2(run.weight)
    ratio = np.maximum(decreases(run), 0.0)
    for parents in nodes.levels:
        split_information = mass[parents] - nodes.over_children(mass, parents)
        ratio[parents] *= run.weight[parents] / split_information
    return ratio


def balanced_accuracies(forest: Forest, learner: Learner) -> FloatArray:
    """Mean recall of the classes among the rows that each tree was not grown from: shape (T,)."""
    leaf = leaves(forest, learner.data.table, learner.plan.n_threads)
    place = forest.child[leaf + forest.offsets[:-1]] + forest.leaf_offsets[:-1]
    guess = np.argmax(forest.leaf_values, axis=1)[place]
    held = out_of_bag(forest)
    codes = learner.data.target.values
    right = held & (guess == codes[:, np.newaxis])
    member = np.eye(learner.data.target.n_classes)[codes].T
    seen, hits = member @ held, member @ right
    recall = hits / np.maximum(seen, 1)
    means: FloatArray = recall.sum(axis=0) / np.count_nonzero(seen, axis=0)
    return means


def _by_subset(nodes: Nodes, amount: FloatArray, subsets: IntArray, learner: Learner) -> FloatArray:
    """Sum an amount a node by subset and feature, over its t trees: shape (c, m)."""
    p = learner.data.n_columns
    inner = nodes.internal()
    subset = nodes.tree[inner] // learner.n_splits
    ascending = (np.arange(len(subsets))[:, np.newaxis] * p + subsets).ravel()
    place = np.searchsorted(ascending, subset * p + nodes.forest.feature[inner])
    sums = weighted_counts(place, amount[inner] / learner.n_splits, subsets.size)
    return sums.reshape(subsets.shape)


# Levels between an ancestor and a descendant, at most.
LEVELS = 5

# Edges as codes source * p + target, ascending, and the weight of each.
Edges = tuple[IntArray, FloatArray]


def edges_of(nodes: Nodes, gain_ratio: FloatArray) -> Edges:
    """Sum GainRatio(t) n_t / n_a over the pairs of a split a and a split t below it.

    Pairs are at most `LEVELS` levels apart and on different features; that of a is the source of
    the edge, that of t its target. n is the number of training rows at a node. Returned are codes
    of the edges and their weights, of shape (E,).
    """
    run = nodes.forest
    above = structure.parents(run)
    feature = run.feature.astype(np.int64)
    below = nodes.internal()
    ancestor = below
    edges: list[Edges] = []
    for _ in range(LEVELS):
        ancestor = above[ancestor]
        inside = ancestor >= 0
        below, ancestor = below[inside], ancestor[inside]
        other = feature[below] != feature[ancestor]
        source, target = ancestor[other], below[other]
        edges.append(
            (
                feature[source] * run.n_features + feature[target],
                gain_ratio[target] * run.weight[target] / run.weight[source],
            )
        )
    return merged(edges)


def merged(parts: Sequence[Edges]) -> Edges:
    """Add up the weights of edges that occur several times."""
    codes = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in parts)])
    weights = np.concatenate([np.empty(0), *(part[1] for part in parts)])
    distinct, place = np.unique(codes, return_inverse=True)
    return distinct, weighted_counts(place, weights, distinct.size)
