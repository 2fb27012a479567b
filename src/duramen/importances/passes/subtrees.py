"""Maximal subtrees: where a path through a tree first splits on a feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.forests.structure import parents
from duramen.importances.passes.nodes import Nodes


def maximal(nodes: Nodes) -> NDArray[np.bool_]:
    """Mark the nodes that split on a feature on which no node above them splits; shape (N,).

    They are the roots of the maximal subtrees of Ishwaran et al. (2010): the maximal v-subtrees of
    a tree have the nodes where a row meets v for the first time as their roots, and no row passes
    through two of them.
    """
    feature, above = nodes.forest.feature, parents(nodes.forest)
    first = np.zeros(feature.size, dtype=np.bool_)
    node = nodes.internal()
    ancestor = above[node]
    while node.size:
        past_root = ancestor < 0
        first[node[past_root]] = True
        open_ = ~past_root & (feature[ancestor] != feature[node])  # at -1 the first term decides
        node, ancestor = node[open_], above[ancestor[open_]]
    return first
