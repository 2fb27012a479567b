"""Draws of the features of a tree: some that were found before, the others at random."""

from __future__ import annotations

import numpy as np

from duramen.support.arrays import FloatArray, IntArray

SAMPLING = ("hard", "soft")
"""Uses of the places for features found before, the default first."""


def stream(seed: int, tree: int, purpose: int) -> np.random.Generator:
    """Random numbers for a purpose: 0 features and 1 probes of a tree, 2 the decoy, 3 shadows."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(tree, purpose)))


def among_found(
    random: np.random.Generator, found: IntArray, n_features: int, size: int, places: int
) -> IntArray:
    """Draw a subspace of q features by step 2(a) of algorithm 7.1 of the thesis, ascending.

    At most `places` of them, floor(alpha q), are drawn from `found`, the set F in any order that is
    always the same.
    """
    kept = random.choice(found, min(places, len(found)), replace=False, shuffle=False)
    return filled_up(random, kept, n_features, size)


def by_weight(random: np.random.Generator, weights: FloatArray, size: int, places: int) -> IntArray:
    """Draw a subspace of q features, some with probabilities by their weights, ascending.

    Up to `places` features of positive weight are drawn one after the other, without replacement,
    each with probability proportional to its weight; the rest uniformly from all other features.
    """
    able = np.flatnonzero(weights > 0)
    # The smallest of exponential waiting times at these rates, in their order, are such a draw.
    # Relative to the largest, none of the times is too long for a number.
    rates = np.maximum(weights[able] / weights.max(initial=1e-300), 1e-300)
    waiting = random.exponential(size=len(able)) / rates
    count = min(places, len(able))
    kept = able[np.argpartition(waiting, count - 1)[:count]] if count else able[:0]
    return filled_up(random, kept, len(weights), size)


def filled_up(random: np.random.Generator, kept: IntArray, n_features: int, size: int) -> IntArray:
    """Add features drawn uniformly from all that are not kept, up to a size; ascending."""
    kept = np.sort(np.asarray(kept, dtype=np.int64))
    n_others = n_features - len(kept)
    drawn = np.sort(random.choice(n_others, size - len(kept), replace=False, shuffle=False))
    # The d-th of the others is d + the number of kept ones before it.
    shift = np.searchsorted(kept - np.arange(len(kept)), drawn, side="right")
    return np.sort(np.concatenate([kept, drawn + shift]))
