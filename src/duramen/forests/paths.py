"""Decision paths: the nodes that rows pass through, as a sparse indicator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duramen.forests.forest import Forest
from duramen.forests.structure import depths, parents

if TYPE_CHECKING:
    from scipy import sparse


def decision_path(
    forest: Forest, leaves: NDArray[np.int32]
) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
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
    above, depth = parents(forest), depths(forest)
    node = (leaves + forest.offsets[:-1]).ravel()
    lengths = depth[node] + 1
    ends = np.cumsum(lengths)
    indices = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    place = ends - 1
    while len(node):
        indices[place] = node
        node = above[node]
        inside = node >= 0
        node, place = node[inside], place[inside] - 1
    bounds = np.concatenate([[0], ends[forest.n_trees - 1 :: forest.n_trees]])
    from scipy import sparse

    indicator = sparse.csr_matrix(
        (np.ones(len(indices), dtype=np.int64), indices, bounds),
        shape=(len(leaves), forest.n_nodes),
    )
    return indicator, forest.offsets.copy()
