"""Corrections of MDI for the bias of plug-in information.

From N rows, two independent variables of |X| and |Y| values seem to share about
(|X| - 1)(|Y| - 1) / (2 N ln 2) bits. A tree adds up thousands of such amounts, most of them at
small nodes, so every feature gets some importance. A correction takes that mean away at every
node; what is left can be negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from duramen.forests.structure import decreases
from duramen.importances.passes.nodes import Nodes, blocks
from duramen.importances.passes.tally import Tally
from duramen.support.arrays import FloatArray

if TYPE_CHECKING:
    from duramen.forests.forest import Forest

CORRECTIONS = ("expected", "miller-madow")


def corrected(forest: Forest, correction: str) -> Tally:
    """Tally p(t) (decrease - bias) over the nodes t of a forest grown with entropy.

    The biases are those of :func:`duramen.importances.mdi`. Both agree where every child holds
    every class of the node.
    """
    tally = Tally(forest.n_features)
    for run in blocks(forest):
        nodes = Nodes(run)
        share = run.weight / run.weight[run.offsets[:-1]][nodes.tree]
        excess = decreases(run) - _bias(nodes, correction)
        tally.add(nodes, share * excess, n_trees=run.n_trees)
    return tally


def _bias(nodes: Nodes, correction: str) -> FloatArray:
    run = nodes.forest
    classes = np.count_nonzero(nodes.summed_up(run.leaf_values > 0), axis=1)
    m_y = classes.astype(np.int64)
    m_x = nodes.n_children
    bias = np.zeros(run.n_nodes)
    for parents in nodes.levels:
        if correction == "expected":
            cells = (m_x[parents] - 1) * (m_y[parents] - 1)
        else:
            m_xy = nodes.over_children(m_y, parents)
            cells = m_xy - m_x[parents] - m_y[parents] + 1
        bias[parents] = cells / (2 * np.log(2) * run.rows[parents])
    return bias
