"""Decisions of Boruta: binomial tests of the rounds in which a feature beat the shadows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from duramen.results.multiplicity import adjusted
from duramen.support.arrays import BoolArray, FloatArray, IntArray

REJECTED, TENTATIVE, CONFIRMED = -1, 0, 1
VERDICTS = {CONFIRMED: "confirmed", TENTATIVE: "tentative", REJECTED: "rejected"}


@dataclass(frozen=True)
class Correction:
    """Correction for testing many features, in many rounds.

    Attributes
    ----------
    level : float
        Level where the user gives none.
    passes : callable
        Given p-values of the features that are not rejected, the number of the round, the number p
        of all features and the level, tells which p-values are significant.
    """

    level: float
    passes: Callable[[FloatArray, int, int, float], BoolArray]


def _bonferroni(p_values: FloatArray, _: int, p: int, level: float) -> BoolArray:
    return np.minimum(p_values * p, 1.0) < level


def _two_step(p_values: FloatArray, n_rounds: int, _: int, level: float) -> BoolArray:
    return (adjusted(p_values, "fdr") <= level) & (p_values <= level / n_rounds)


CORRECTIONS = {
    "bonferroni": Correction(0.01, _bonferroni),
    "two-step": Correction(0.05, _two_step),
}
"""Those of the R package and of boruta_py."""


def decided(
    verdicts: IntArray, hits: IntArray, n_rounds: int, correction: Correction, level: float
) -> IntArray:
    """Return the verdicts after a number of rounds, from those before and the hits."""
    there = np.flatnonzero(verdicts != REJECTED)
    better, worse = (
        correction.passes(tail[hits[there]], n_rounds, len(verdicts), level)
        for tail in _tails(n_rounds)
    )
    open_ = verdicts[there] == TENTATIVE
    verdicts = verdicts.copy()
    verdicts[there[open_ & better]] = CONFIRMED
    verdicts[there[open_ & worse]] = REJECTED
    return verdicts


@lru_cache(maxsize=256)
def _tails(n: int) -> tuple[FloatArray, FloatArray]:
    """Return P(B >= h) and P(B <= h) for h = 0..n and B binomial of n fair coins."""
    from scipy.stats import binom

    counts = np.arange(n + 1)
    return binom.sf(counts - 1, n, 0.5), binom.cdf(counts, n, 0.5)


class Course:
    """Verdicts and hits of the features, round after round.

    Parameters
    ----------
    p : int
        Number of features.
    most : int
        Number of rounds at most.
    correction : Correction
    level : float
        Level of the tests.
    """

    def __init__(self, p: int, most: int, correction: Correction, level: float) -> None:
        self._rule = (correction, level)
        self._most = most
        self.hits = np.zeros(p, dtype=np.int64)
        self.verdicts = np.full(p, TENTATIVE, dtype=np.int64)
        self.decided_in = np.zeros(p, dtype=np.int64)  # round; 0 for tentative features
        self.counts: list[IntArray] = []  # rejected, tentative and confirmed after each round

    @property
    def active(self) -> IntArray:
        """Features that are not rejected."""
        return np.flatnonzero(self.verdicts != REJECTED)

    def take(self, rounds: FloatArray) -> None:
        """Take importances and threshold of all rounds so far; those that are new count."""
        for row in rounds[len(self.counts) :]:
            n_rounds = len(self.counts) + 1
            self.hits += row[:-1] > row[-1]  # those of rejected features are missing
            verdicts = decided(self.verdicts, self.hits, n_rounds, *self._rule)
            self.decided_in[verdicts != self.verdicts] = n_rounds
            self.verdicts = verdicts
            self.counts.append(np.bincount(verdicts + 1, minlength=3))

    def ready(self, rounds: FloatArray) -> int:
        """Return how many rounds can be computed without knowing more than these.

        Until a verdict changes the forests of all rounds have the same features. The first round
        that can change one is that in which hits, or failures, in all rounds until then would: the
        more of either, the smaller are all p-values, and the more of them pass.
        """
        self.take(rounds)
        done = len(self.counts)
        if not (self.verdicts == TENTATIVE).any():
            return done
        there = self.verdicts != REJECTED
        for until in range(done + 1, self._most):
            for hits in (self.hits, self.hits + (until - done) * there):
                after = decided(self.verdicts, hits, until, *self._rule)
                if (after != self.verdicts).any():
                    return until
        return self._most
