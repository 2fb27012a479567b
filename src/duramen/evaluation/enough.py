"""Number of features that is enough, by the one-standard-error rule, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.results.columns import Column
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class EnoughFeatures(Result):
    """Smallest number of features whose score is within one standard error of the best.

    Attributes
    ----------
    method, score : str
        Ranking and score.
    n_features : int
        The number of features.
    low, high : int
        Interval for it.
    confidence_level : float
        Probability with which it is to cover.
    best : int
        Number of features with the best mean score.
    standard_error : float
        That of the best mean score.
    sizes : int64 array of shape (K,)
        Numbers of features that were compared.
    means : float64 array of shape (K,)
        Mean score with each.
    probability : float64 array of shape (K,)
        Fraction of the bootstrap samples in which each number was enough.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     "mdi", data.X, data.y, n_resamples=10, random_state=0,
    ...     estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> result.enough().best
    2
    """

    method: str
    score: str
    n_features: int
    low: int
    high: int
    confidence_level: float
    best: int
    standard_error: float
    sizes: IntArray
    means: FloatArray
    probability: FloatArray

    def __post_init__(self) -> None:
        kinds = {"sizes": np.int64, "means": np.float64, "probability": np.float64}
        for name, kind in kinds.items():
            array = np.array(getattr(self, name), dtype=kind)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def columns(self) -> dict[str, object]:
        """Return the columns of `to_frame`: numbers of features, mean scores, probabilities."""
        return {
            "n_features": self.sizes.copy(),
            "mean": self.means.copy(),
            "probability": self.probability.copy(),
        }

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"EnoughFeatures: {self.n_features} features by {self.method} "
            f"({self.confidence_level:.0%} interval {self.low} to {self.high})",
            f"smallest number whose {self.score} is within one standard error, "
            f"{self.standard_error:.3g}, of the best, that of {self.best}",
        )
        columns = [
            Column("features", [str(k) for k in self.sizes.tolist()]),
            Column(self.score, [f"{mean:.3f}" for mean in self.means]),
            Column("enough", [f"{one:.2f}" for one in self.probability], bars=self.probability),
        ]
        return Summary(heading, columns)


def enough_of(
    scores: FloatArray,
    sizes: IntArray,
    variance_factor: float,
    *,
    confidence_level: float,
    n_bootstraps: int,
    seed: int,
) -> tuple[int, int, int, int, float, FloatArray]:
    """Apply the one-standard-error rule to scores of B resamples with K numbers of features.

    Parameters
    ----------
    scores : float64 array of shape (B, K)
        Scores, NaN where they are not defined.
    sizes : int64 array of shape (K,)
        Numbers of features, ascending.
    variance_factor : float
        Factor f of the variance over resamples that gives the variance of a mean score.
    confidence_level : float
        Probability with which the interval is to cover.
    n_bootstraps, seed : int
        Bootstrap samples of resamples, round(1/f) in each, so that means scatter by that variance.

    Returns
    -------
    tuple
        Places in `sizes` of the number that is enough, of the ends of its interval and of the
        best; the standard error of the best; and the fraction of samples in which each is enough.
    """
    scores = scores[~np.isnan(scores).any(axis=1)]
    enough, best, error = _rule(scores[None], variance_factor)
    count = max(2, round(1 / variance_factor))
    drawn = np.random.default_rng(seed).integers(len(scores), size=(n_bootstraps, count))
    chosen, _, _ = _rule(scores[drawn], 1 / count)
    probability = np.bincount(chosen, minlength=len(sizes)) / n_bootstraps
    reached = np.cumsum(probability)
    tail = (1 - confidence_level) / 2
    low = int(np.searchsorted(reached, tail))
    high = int(np.searchsorted(reached, 1 - tail - 1e-12))
    at = int(enough[0])
    return (
        at,
        min(low, at),
        max(min(high, len(sizes) - 1), at),
        int(best[0]),
        float(error[0]),
        probability,
    )


def _rule(scores: FloatArray, factor: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for each of S samples, of shape (S, B, K), what is enough, the best, and its error."""
    means = scores.mean(axis=1)
    best = means.argmax(axis=1)
    rows = np.arange(len(scores))
    error = np.sqrt(factor * scores[rows, :, best].var(axis=1, ddof=1))
    bound = means[rows, best] - error
    return (means >= bound[:, None]).argmax(axis=1), best, error
