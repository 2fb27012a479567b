"""Expected numbers of false discoveries, from the pooled scores of permuted targets."""

from __future__ import annotations

import numpy as np

from duramen.support.arrays import FloatArray


def pooled_rates(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Return for each feature the least false discovery rate at which it is taken; shape (p,).

    `null` are the scores after each of B permutations, of shape (B, p).
    """
    order = np.argsort(-observed, kind="stable")
    rates = np.empty(len(observed))
    rates[order] = least_from(discovery_rates(observed[order], null))
    return rates


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
