"""Masking of features by others: agreement of the surrogates of their splits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from duramen.data import EncodedTable
from duramen.forests import structure
from duramen.forests.forest import Forest
from duramen.forests.paths import decision_path
from duramen.forests.prediction import leaves, rows_of
from duramen.support.arrays import FloatArray, IntArray

FEWEST_ROWS = 10  # of a node whose surrogates count


def masking(forest: Forest, table: EncodedTable, n_threads: int = 1) -> FloatArray:
    r"""Measure how far the splits on each feature can be replaced by splits on each other one.

    With :math:`p(t) \Delta(t)` the decrease of impurity at a node t that splits on feature i, and
    :math:`\lambda_j(t)` the agreement of the best split of the node by feature j with it, in excess
    of that of the largest child alone,

    .. math:: M_{ij} = \frac{1}{T} \sum_{t : i(t) = i} p(t) \Delta(t) \lambda_j(t), \qquad
       \lambda_j = \max\Bigl(0, \frac{a_j - a_0}{1 - a_0}\Bigr)

    with :math:`a_j` the fraction of the rows that both splits put on the same side, and
    :math:`a_0` that in the largest child. The training rows count once each.

    Returns
    -------
    float64 array of shape (p, p)
    """
    paths, _ = decision_path(
        forest, leaves(forest, rows_of(forest, table, "", "masking"), n_threads)
    )
    members = paths.tocsc()
    members.sort_indices()
    rows_at = [members.indices[a:b] for a, b in pairwise(members.indptr)]
    counts, first = structure.child_counts(forest), structure.first_children(forest)
    gains = structure.decreases(forest) * forest.weight / forest.total_weight
    codes = np.stack([table.codes(j) for j in range(table.n_columns)], axis=1).astype(np.int64)
    ordered = [kind != "nominal" for kind in table.kinds]
    found = np.zeros((table.n_columns, table.n_columns))
    for node in np.flatnonzero(counts).tolist():
        rows = rows_at[node]
        if len(rows) < FEWEST_ROWS:
            continue
        sides = np.empty(len(rows), dtype=np.int64)
        for number in range(int(counts[node])):
            sides[np.searchsorted(rows, rows_at[first[node] + number])] = number
        agreed = [_agreement(codes[rows, j], sides, ordered[j]) for j in range(len(ordered))]
        found[forest.feature[node]] += gains[node] * np.array(agreed)
    return found / max(forest.n_trees, 1)


def _agreement(codes: IntArray, sides: IntArray, ordered: bool) -> float:
    """Return the agreement of the best split by these codes, in excess of the largest child's."""
    n, n_sides = len(sides), int(sides.max()) + 1
    largest = int(np.bincount(sides).max())
    if largest == n:
        return 0.0
    _, places = np.unique(codes, return_inverse=True)
    counts = np.bincount(places * n_sides + sides, minlength=(places.max() + 1) * n_sides)
    counts = counts.reshape(-1, n_sides)
    if ordered and n_sides == 2:
        below = np.cumsum(counts, axis=0)
        above = below[-1] - below
        best = max((below[:, 0] + above[:, 1]).max(), (below[:, 1] + above[:, 0]).max())
    else:
        best = counts.max(axis=1).sum()
    return max(0.0, float(best - largest) / (n - largest))
