"""Agreement of forests of few trees on the best features, measured within one of many."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray, IntArray

# The measured curve is extended from its last part, 1/8 to 1/2 of the trees, to at most 4 times
# all of them.
REACH = 4
_LAST_PART = 1 / 8
# A line that falls less steeply leads nowhere.
_SLOPE = -0.05
# Forests of each size whose best features are compared.
_FORESTS = 64


def agreement_curve(
    values: FloatArray, k: int, random: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return numbers of parts, and the agreement between forests that consist of so many.

    `values` are the importances in G parts of a forest, of shape (G, p). The numbers are 1 .. G //
    2, in steps of about sqrt(2); the agreement is the mean over pairs of forests without a part in
    common of the fraction of their k best that they have in common.
    """
    total = len(values)
    steps = np.rint(total // 2 / math.sqrt(2.0) ** np.arange(2 * total.bit_length()))
    groups: IntArray = np.unique(steps[steps >= 1]).astype(np.int64)
    curve = np.empty(len(groups))
    for i, size in enumerate(groups.tolist()):
        count = total // size
        shares = []
        for _ in range(1 if size == 1 else -(-_FORESTS // count)):
            drawn = random.permutation(total)[: count * size].reshape(count, size)
            best = chance_among_best(values[drawn].mean(axis=1), k)
            together = (best.sum(axis=0) ** 2).sum() - (best**2).sum()
            shares.append(together / (count * (count - 1) * k))
        curve[i] = np.mean(shares)
    return groups, curve


def fitted_line(
    sizes: IntArray, agreement: FloatArray, n_trees: int, k: int
) -> tuple[float, float]:
    """Return intercept and slope of log(1 - A) in log T over the last part of the curve."""
    last = sizes >= _LAST_PART * n_trees
    least = 0.01 / k  # of a disagreement: for k in common in all pairs that were seen
    y = np.log(np.maximum(1.0 - agreement[last], least))
    slope, intercept = np.polyfit(np.log(sizes[last]), y, 1)
    return float(intercept), float(slope)


def agreement_on_line(line: tuple[float, float], size: float) -> float:
    """Return A(T) on the line, at least 0."""
    intercept, slope = line
    return 1.0 - min(1.0, math.exp(intercept + slope * math.log(size)))


def trees_for(
    wanted: float,
    sizes: IntArray,
    agreement: FloatArray,
    line: tuple[float, float],
    n_trees: int,
) -> tuple[float, bool]:
    """Return the trees from which on the agreement is as wanted, and whether by extrapolation.

    Where the curve falls it is taken to be chance, and neighbors are pooled (weighted by how many
    forests of that size the trees make, until it rises); it is linear in log T between its points.
    """
    from scipy.optimize import isotonic_regression

    agreement = isotonic_regression(agreement, weights=1.0 / sizes).x
    short = np.flatnonzero(agreement < wanted)
    if not short.size:
        return float(sizes[0]), False
    i = int(short[-1])
    if i + 1 < len(sizes):
        share = (wanted - agreement[i]) / (agreement[i + 1] - agreement[i])
        return float(math.ceil(sizes[i] * (sizes[i + 1] / sizes[i]) ** share)), False
    intercept, slope = line
    if slope > _SLOPE:
        return math.inf, True
    exponent = (math.log(1.0 - wanted) - intercept) / slope
    if exponent > math.log(REACH * n_trees):
        return math.inf, True
    return float(max(math.ceil(math.exp(exponent)), int(sizes[-1]) + 1)), True


def chance_among_best(values: FloatArray, k: int) -> FloatArray:
    """Return the probability that each feature is among the k best, if lots decide between ties.

    It is 1 for what is above the k-th largest value and 0 for what is below; features equal to it
    divide the places that are left. The last axis sums to k.
    """
    place = values.shape[-1] - k
    last = np.partition(values, place, axis=-1)[..., place, np.newaxis]
    above, level = values > last, values == last
    left = k - above.sum(axis=-1, keepdims=True)
    chance: FloatArray = above + level * (left / level.sum(axis=-1, keepdims=True))
    return chance


def drawn_best(values: FloatArray, k: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which features are the k best, lots being drawn between ties; of shape (p,)."""
    lots = random.random(len(values))
    chosen = np.zeros(len(values), dtype=np.bool_)
    chosen[np.lexsort((lots, -values))[:k]] = True
    return chosen
