"""The k best of p features, where some may be equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray


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
