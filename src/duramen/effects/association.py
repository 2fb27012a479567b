"""Tests of the association of one or two features with a target, on the rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.effects.response import Response
from duramen.support.arrays import FloatArray, IntArray

_TURNS = (0.25, 0.5, 0.75)  # quantiles of a feature at which an association may turn
_CELLS = 3


def categories_p_value(codes: IntArray, y: Response) -> float:
    """Return the p-value of the test of a target between categories."""
    if len(np.unique(codes)) == len(codes):
        return 1.0
    return _p_value(*y.between(codes))


def highest_category(codes: IntArray, y: Response) -> int:
    """Return the code of the category with the largest mean of a target."""
    sizes = np.bincount(codes)
    means = np.full(len(sizes), -np.inf)
    np.divide(np.bincount(codes, y.numbers), sizes, out=means, where=sizes > 0)
    return int(means.argmax())


def turn_p_value(codes: IntArray, y: Response) -> float:
    """Return the p-value of the hypothesis that a target is monotone in a feature.

    At each of three quantiles, or at every value of few, the rows are divided into those up to it
    and those from it on, and the one-sided test for trend is done in both parts. The hypothesis is
    rejected where both reject in opposite directions: the larger of the two p-values, the smallest
    of which over the quantiles counts, times the number of parts. Of a monotone association, one
    direction is true in no part, so that any such rejection contains a false one, and the rate is
    that of Bonferroni (intersection-union test; Berger 1982), whatever the form of the association.
    """
    turns, p_values = np.unique(codes)[1:-1], []
    if len(turns) > len(_TURNS):
        at = (np.array(_TURNS) * (len(codes) - 1)).astype(np.int64)
        turns = np.intersect1d(turns, np.sort(codes)[at])
    for turn in turns.tolist():
        parts = [codes <= turn, codes >= turn]
        (before, first), (after, second) = (y.take(rows).trend(codes[rows]) for rows in parts)
        if before * after < 0:
            p_values.append(max(first, second) / 2)
    return min(1.0, min(p_values) * 2 * len(turns)) if p_values else 1.0


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
    statistics = [y.take(here).between(groups[here]) for here in parts]
    return _p_value(
        sum(statistic for statistic, _ in statistics), sum(degrees for _, degrees in statistics)
    )


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
