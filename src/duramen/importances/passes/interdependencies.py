"""Interdependency graph of MCFS: features that are split on below others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from duramen.forests.structure import parents
from duramen.importances.passes.nodes import Nodes
from duramen.importances.passes.tally import weighted_counts
from duramen.support.arrays import FloatArray, IntArray

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
    above = parents(run)
    feature = run.feature.astype(np.int64)
    below = nodes.internal()
    ancestor = below
    found: list[Edges] = []
    for _ in range(LEVELS):
        ancestor = above[ancestor]
        inside = ancestor >= 0
        below, ancestor = below[inside], ancestor[inside]
        other = feature[below] != feature[ancestor]
        source, target = ancestor[other], below[other]
        found.append(
            (
                feature[source] * run.n_features + feature[target],
                gain_ratio[target] * run.weight[target] / run.weight[source],
            )
        )
    return merged(found)


def merged(parts: Sequence[Edges]) -> Edges:
    """Add up the weights of edges that occur several times."""
    codes = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in parts)])
    weights = np.concatenate([np.empty(0), *(part[1] for part in parts)])
    distinct, place = np.unique(codes, return_inverse=True)
    return distinct, weighted_counts(place, weights, distinct.size)
