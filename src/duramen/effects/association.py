"""Tests of the association of one or two features with a target, on the rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.effects.response import FloatArray, IntArray, Response

_GROUPS = 5
_CELLS = 3


def shape_p_value(codes: IntArray, y: Response, *, nominal: bool = False) -> float:
    """Return the p-value of the test of a target between categories, or five intervals."""
    groups = codes if nominal else _intervals(codes, _GROUPS)
    if len(np.unique(groups)) == len(codes):
        return 1.0
    return _p_value(*y.between(groups))


def _p_value(statistic: float, degrees: int) -> float:
    from scipy.stats import chi2

    return float(chi2.sf(statistic, degrees)) if degrees else 1.0


def interaction_p_value(
    one: IntArray, other: IntArray, targets: Sequence[Response], nominal: Sequence[bool]
) -> float:
    """Return the p-value of the interaction of two features on a target: the largest of three.

    Both are put into at most three groups: intervals of about as many rows, or the two largest
    categories and the rest. The tests are the F-test of a mean for each cell against the additive
    model, which assumes the same variance in all cells, and for each feature the test of the target
    between its groups within the groups of the other, which does not. Of several targets, such as
    indicators of classes, the smallest p-value counts, times their number.
    """
    a, b = (
        _largest(codes) if is_nominal else _intervals(codes, _CELLS)
        for codes, is_nominal in zip((one, other), nominal, strict=True)
    )
    distinct = targets[1:] if len(targets) == 2 else targets  # of two indicators one will do
    p_values = [
        max(_cells_p_value(a, b, y.numbers), _within_p_value(a, b, y), _within_p_value(b, a, y))
        for y in distinct
    ]
    return min(1.0, min(p_values) * len(distinct))


def _cells_p_value(a: IntArray, b: IntArray, y: FloatArray) -> float:
    """Return the p-value of the F-test of cell means against the additive model."""
    cells = np.unique(a * _CELLS + b, return_inverse=True)[1]
    additive = np.hstack([_indicators(a), _indicators(b)])
    n, n_cells = len(a), int(cells.max()) + 1
    rank = int(np.linalg.matrix_rank(additive))
    if n_cells <= rank or n <= n_cells:
        return 1.0
    from scipy.special import fdtrc

    basis = np.linalg.svd(additive, full_matrices=False)[0][:, :rank]
    means = np.bincount(cells, y) / np.bincount(cells)
    within = float(np.square(y - means[cells]).sum())
    outside = y - basis @ (basis.T @ y)
    gain = max(0.0, float(outside @ outside) - within)
    if within <= 1e-12 * gain:  # cells determine the target
        return 0.0 if gain > 0 else 1.0
    ratio = (gain / (n_cells - rank)) / (within / (n - n_cells))
    return float(fdtrc(n_cells - rank, n - n_cells, ratio))


def _within_p_value(groups: IntArray, strata: IntArray, y: Response) -> float:
    """Return the p-value of the test of a target between groups, summed over strata."""
    parts = [strata == stratum for stratum in np.unique(strata)]
    found = [y.take(here).between(groups[here]) for here in parts]
    return _p_value(sum(one for one, _ in found), sum(degrees for _, degrees in found))


def _intervals(codes: IntArray, at_most: int) -> IntArray:
    """Return intervals of about as many rows each: those of equal values stay together."""
    distinct, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(distinct) <= at_most:
        return np.asarray(place, dtype=np.int64)
    middle = np.cumsum(sizes) - sizes / 2
    group: IntArray = (middle * at_most / len(codes)).astype(np.int64)
    return group[place]


def _largest(codes: IntArray) -> IntArray:
    """Return 0 and 1 for the two largest categories, 2 for the rest."""
    levels, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    ranks = np.empty(len(levels), dtype=np.int64)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(len(levels))
    return np.asarray(np.minimum(ranks, _CELLS - 1)[place], dtype=np.int64)


def _indicators(groups: IntArray) -> NDArray[Any]:
    return np.asarray(groups[:, None] == np.unique(groups)[None], dtype=np.float64)
