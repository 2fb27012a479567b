"""P-values, false discoveries and fitted distributions from values under the null hypothesis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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


def least_from(estimate: FloatArray) -> FloatArray:
    """Return the least value from each place on."""
    return np.minimum.accumulate(estimate[::-1])[::-1]


def expected_discoveries(scores: FloatArray, null: FloatArray) -> FloatArray:
    """Return how many values of a row of `null`, on average, are at least each score."""
    total = np.zeros(len(scores))
    for values in null:
        total += len(values) - np.searchsorted(np.sort(values), scores, side="left")
    return total / len(null)


# --- distributions fitted to values under the null hypothesis -------------------------------------

DISTRIBUTIONS = ("normal", "lognormal", "gamma")
_LEVEL = 0.05
_NEWTON_STEPS = 6
# Below, rounding would drown the steps, and the first guess is as good.
_LEAST_GAP = 1e-15
_LEAST_STEPPED = 1e-8

# Upper tail of a distribution fitted to each of p columns, at p numbers or a row of them a draw.
Tail = Callable[[FloatArray], FloatArray]


def fitted_tails(
    observed: FloatArray, null: FloatArray, distribution: str
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the upper tail of a distribution fitted to the S null values of each feature, (S, p).

    It is fitted by maximum likelihood; log-normal and gamma to positive values only. Returned are
    tails, of shape (p,), 1 where the distribution is not used, and where it is used: not where the
    values do not vary, are fewer than 3, lie outside the support, or a Kolmogorov-Smirnov test
    rejects the fit at .05. That test takes the distribution as given, not fitted, and so rejects
    less often.
    """
    from scipy.stats import kstwo

    used = np.ptp(null, axis=0) > 1e-12 * np.abs(null).max(axis=0)
    used &= len(null) >= 3
    if distribution != "normal":
        used &= null.min(axis=0) > 0
    tails = np.ones(len(observed))
    if not used.any():
        return tails, used
    values, n = null[:, used], len(null)
    if distribution == "gamma":
        tail = _gamma(values)
    elif distribution == "normal":
        tail = _normal(values)
    else:
        of_logarithms = _normal(np.log(values))

        def tail(x: FloatArray) -> FloatArray:
            with np.errstate(divide="ignore"):
                return of_logarithms(np.log(np.maximum(x, 0.0)))

    below = 1 - tail(np.sort(values, axis=0))
    steps = np.arange(n + 1)[:, np.newaxis] / n
    distance = np.maximum((below - steps[:-1]).max(axis=0), (steps[1:] - below).max(axis=0))
    fits = distance <= kstwo.isf(_LEVEL, n)
    tails[used] = np.where(fits, tail(observed[used]), 1.0)
    used[used] = fits
    return tails, used


def _normal(null: FloatArray) -> Tail:
    from scipy.special import ndtr

    mean, sd = null.mean(axis=0), null.std(axis=0)
    return lambda x: np.asarray(ndtr((mean - x) / sd))


def _gamma(null: FloatArray) -> Tail:
    r"""Solve :math:`\log a - \psi(a) = \log \bar v - \overline{\log v}` for the shape a."""
    from scipy.special import digamma, gammaincc, polygamma

    mean = null.mean(axis=0)
    gap = np.maximum(np.log(mean) - np.log(null).mean(axis=0), _LEAST_GAP)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    stepped = gap > _LEAST_STEPPED
    for _ in range(_NEWTON_STEPS):
        a = shape[stepped]
        slope = 1 / a - polygamma(1, a)
        shape[stepped] = a - (np.log(a) - digamma(a) - gap[stepped]) / slope
    scale = mean / shape
    return lambda x: np.asarray(gammaincc(shape, np.maximum(x, 0.0) / scale))
