"""Rounds of the artificial contrasts: paired tests, and features that others mask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duramen.data.shadows import with_probes
from duramen.importances.refit import seeded
from duramen.jobs.replicates import replicate_seed
from duramen.selection.artificial_contrasts.masking import masking
from duramen.selection.artificial_contrasts.residuals import with_numbers
from duramen.selection.forests import beside_shadows
from duramen.significance.measured import Measured
from duramen.support.arrays import FloatArray, IntArray

MASKING_TREES = 20  # of a replicate of the masking


def paired_p_values(values: FloatArray, threshold: FloatArray) -> FloatArray:
    """Return one-sided p-values of t-tests of paired differences.

    Parameters
    ----------
    values : float64 array of shape (R, p)
    threshold : float64 array of shape (R,) or (R, p)

    Returns
    -------
    float64 array of shape (p,)
        0 or 1 where all differences are equal: whether they are above 0.
    """
    from scipy.stats import t

    n = len(values)
    differences = values - threshold.reshape(n, -1)
    mean, error = differences.mean(axis=0), differences.std(axis=0, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        tested: FloatArray = t.sf(mean / error, n - 1)
    return np.where(error > 0, tested, np.where(mean > 0, 0.0, 1.0))


@dataclass(frozen=True)
class Replicate:
    """Task of a replicate: importances of all features, and a percentile of those of contrasts.

    The first round explains the target; the others the residuals that they are given, a column
    after the other, whose importances are added up.
    """

    subject: Measured
    regression: Measured
    percentile: float
    function: str

    def __call__(self, _: int, seed: int, residuals: FloatArray | None) -> FloatArray:
        """Grow the forests of a replicate on all features and their contrasts."""
        subjects = [self.subject]
        if residuals is not None:
            columns = enumerate(residuals.T)
            subjects = [with_numbers(self.regression, one, (seed, k)) for k, one in columns]
        everything = np.arange(self.subject.data.n_columns)
        parts = [beside_shadows(one, everything, seed, self.function) for one in subjects]
        own, contrasts = (sum(part[k] for part in parts) for k in (0, 1))
        return np.append(own, np.percentile(contrasts, self.percentile))


@dataclass(frozen=True)
class Masking:
    """Features that are not masked by more important ones.

    Attributes
    ----------
    subject : Measured
        The forests, of which every replicate grows a few trees.
    n_replicates : int
    level : float
        Level of the paired tests.
    percentile : float
        Percentile of the masking of contrasts.
    function : str
        Name for errors.
    """

    subject: Measured
    n_replicates: int
    level: float
    percentile: float
    function: str

    def unmasked(self, features: IntArray, seed: int) -> IntArray:
        """Return those of some features, the most important first, that no one before masks."""
        q = len(features)
        if q < 2:
            return features
        found = np.stack(
            [self._replicate(features, replicate_seed(seed, b)) for b in range(self.n_replicates)]
        )
        threshold = np.percentile(found[:, :q, q:], self.percentile, axis=2)
        kept: list[int] = []
        for j in range(q):
            values = found[:, kept, j]
            if not (paired_p_values(values, threshold[:, kept]) <= self.level).any():
                kept.append(j)
        return features[kept]

    def _replicate(self, features: IntArray, seed: int) -> FloatArray:
        random, data = np.random.default_rng(seed), self.subject.data
        own = data.table.take_columns(features)
        orders = [self.subject.exchangeability.permutation(random) for _ in features]
        table = with_probes(own, np.arange(len(features)), orders, function=self.function)
        template = seeded(self.subject.template, int(random.integers(2**32)))
        template.n_estimators = MASKING_TREES
        grown = template.fit(data.with_table(table, key=("masking", features.tolist(), seed)))
        return masking(grown.forest_, table)


class Course:
    """Features accepted in the rounds so far.

    Parameters
    ----------
    p : int
        Number of features.
    most : int
        Number of rounds at most.
    n_replicates : int
        Number R of replicates of a round.
    level : float
        Level of the tests.
    residuals : callable
        Residuals that accepted features leave after a round.
    unmasked : callable
        Those of newly accepted features, the most important first, that are kept after a round.
    """

    def __init__(
        self,
        p: int,
        most: int,
        n_replicates: int,
        level: float,
        residuals: Callable[[IntArray, int], FloatArray],
        unmasked: Callable[[IntArray, int], IntArray],
    ) -> None:
        self._most, self._size, self._level = most, n_replicates, level
        self._residuals, self._unmasked = residuals, unmasked
        self.found_in = np.zeros(p, dtype=np.int64)
        self.p_values: list[FloatArray] = []
        self.importances: list[FloatArray] = []
        self.thresholds: list[float] = []
        self.left_over: FloatArray | None = None
        self._ended = False

    def take(self, replicates: FloatArray) -> None:
        """Take the replicates so far; rounds that are new and complete count."""
        for k in range(len(self.importances), len(replicates) // self._size):
            rows = replicates[k * self._size : (k + 1) * self._size]
            p_values = paired_p_values(rows[:, :-1], rows[:, -1])
            importance = rows[:, :-1].mean(axis=0)
            new = np.flatnonzero((p_values <= self._level) & (self.found_in == 0))
            new = self._unmasked(new[np.argsort(-importance[new], kind="stable")], k + 1)
            self.found_in[new] = k + 1
            self.p_values.append(p_values)
            self.importances.append(importance)
            self.thresholds.append(float(rows[:, -1].mean()))
            self._ended = not len(new) or bool(self.found_in.all()) or k + 1 == self._most
            if not self._ended:
                self.left_over = self._residuals(np.flatnonzero(self.found_in), k + 1)

    def ready(self, replicates: FloatArray) -> int:
        """Return how many replicates can be computed without knowing more than these."""
        self.take(replicates)
        return len(replicates) if self._ended else (len(self.importances) + 1) * self._size
