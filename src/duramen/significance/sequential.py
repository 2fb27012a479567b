"""P-values and false discoveries from counts of values under the null hypothesis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from duramen.support.arrays import FloatArray


def sequential_p_values(
    observed: FloatArray, null: FloatArray, n_replicates: int, stop_after: int | None = None
) -> FloatArray:
    """Return the p-value of each score against its values under the null, b of B planned draws.

    With `stop_after` h, a feature whose h-th value at least as large as its score came at draw l
    has p = h / l. Otherwise, and without it, p = (1 + values at least as large) / (B + 1).
    """
    reached = null >= observed
    p_values = np.asarray((1.0 + reached.sum(axis=0)) / (n_replicates + 1.0), dtype=np.float64)
    if stop_after is None:
        return p_values
    counts = np.cumsum(reached, axis=0)
    stopped = counts[-1] >= stop_after
    draws = (counts < stop_after).sum(axis=0) + 1
    return np.where(stopped, stop_after / draws, p_values)


def all_decided(observed: FloatArray, stop_after: int) -> Callable[[FloatArray], bool]:
    """Return a function that tells whether every score was reached `stop_after` times.

    It is called with one more draw each time, and counts as it goes.
    """
    counts = np.zeros(len(observed), dtype=np.int64)

    def decided(null: FloatArray) -> bool:
        nonlocal counts
        counts = counts + (null[-1] >= observed)
        return bool((counts >= stop_after).all())

    return decided


def until_decided(observed: FloatArray, null: FloatArray, stop_after: int | None) -> FloatArray:
    """Return the draws up to that at which every score was reached `stop_after` times, or all."""
    if stop_after is None:
        return null
    decided = (np.cumsum(null >= observed, axis=0) >= stop_after).all(axis=1)
    return null[: int(np.argmax(decided)) + 1] if decided.any() else null


# --- expected numbers of false discoveries --------------------------------------------------------


def discovery_rates(scores: FloatArray, null: FloatArray) -> FloatArray:
    """Return the estimated false discovery rate of the first i features, for each i; shape (p,).

    `scores` decrease; `null` are those after each of B permutations, of shape (B, p).
    """
    return np.minimum(expected_discoveries(scores, null) / np.arange(1, len(scores) + 1), 1.0)


def least_from(estimate: FloatArray) -> FloatArray:
    """Return the least value from each place on."""
    return np.minimum.accumulate(estimate[::-1])[::-1]


def expected_discoveries(scores: FloatArray, null: FloatArray) -> FloatArray:
    """Return how many values of a row of `null`, on average, are at least each score."""
    total = np.zeros(len(scores))
    for values in null:
        total += len(values) - np.searchsorted(np.sort(values), scores, side="left")
    return total / len(null)
