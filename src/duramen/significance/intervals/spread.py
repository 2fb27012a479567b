"""Standard errors over data from replicates of an importance, and intervals from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from duramen.support.arrays import FloatArray

KINDS = ("wilson", "normal", "percentile")


@dataclass(frozen=True, eq=False)
class Replicated:
    """Importances on all rows and in B replicates, with the noise of their finite forests."""

    values: FloatArray  # (p,): v, on all n rows
    replicates: FloatArray  # (B, p): v*_b
    # (p,): W, the variance of v over forests on the same rows; 0 where it is unknown.
    tree_variance: FloatArray
    # (p,): The mean over the replicates of the same variance of v*_b.
    replicate_tree_variance: FloatArray
    n_rows: int  # n
    n_trees: int | None = None  # trees of a forest, if known


def scale_of(size: int, n_rows: int, correction: bool) -> float:
    """Return f, the factor from the spread of subsamples to that of samples of all the rows."""
    return math.sqrt(size / (n_rows - size if correction else n_rows))


def standard_error(
    replicated: Replicated, scale: float, method: str
) -> tuple[FloatArray, FloatArray]:
    r"""Return standard errors over data and forests, and their degrees of freedom; shapes (p,).

    With :math:`S^2` the variance of the replicates (for "delete-d" their mean squared difference
    from v), :math:`\bar W^*` and W the variances over forests, and f the scale,

    .. math:: SE^2 = D + W, \qquad D = \max(0, f^2 (S^2 - \bar W^*))

    (for "delete-d" :math:`f^2 (S^2 - \bar W^* - W)`, as v is one of the two that differ). The
    degrees of freedom are those of Satterthwaite (1946) for that sum,

    .. math:: \nu = SE^4 \Big/ \Big[ \frac{(f^2 S^2)^2}{B - 1} + \frac{D^2}{n - 1}
       + \frac{W^2}{T - 1} \Big],

    at least 1: few replicates, few rows or few trees each make the standard error itself uncertain.
    """
    count, noise = len(replicated.replicates), replicated.replicate_tree_variance
    if method == "delete-d":
        square = np.mean((replicated.replicates - replicated.values) ** 2, axis=0)
        noise = noise + replicated.tree_variance
    else:
        square = replicated.replicates.var(axis=0, ddof=1)
    seen = scale**2 * square
    data = np.maximum(seen - scale**2 * noise, 0.0)
    variance = data + replicated.tree_variance
    spread = seen**2 / (count - 1) + data**2 / max(1, replicated.n_rows - 1)
    if replicated.n_trees is not None and replicated.n_trees > 1:
        spread = spread + replicated.tree_variance**2 / (replicated.n_trees - 1)
    freedom: FloatArray = np.ones_like(spread)
    np.divide(variance**2, spread, out=freedom, where=spread > 0)
    return np.sqrt(variance), np.maximum(freedom, 1.0)


def ends(
    replicated: Replicated,
    error: FloatArray,
    freedom: FloatArray,
    *,
    method: str,
    kind: str,
    confidence_level: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lower and the upper ends of the intervals, and one-sided p-values."""
    values = replicated.values
    if kind == "percentile":
        return _percentiles(replicated, error, method, confidence_level)
    from scipy import stats

    reach = stats.t.ppf((1 + confidence_level) / 2, freedom) * error
    above = reach if kind == "normal" else wilson_reach(values, reach)
    return values - reach, values + above, t_tails(values, error, freedom)


def wilson_reach(values: FloatArray, reach: FloatArray) -> FloatArray:
    r"""Return how far above v an interval ends whose variance grows with the mean.

    The upper end :math:`\mu` solves :math:`(\mu - v)^2 = h^2 (1 + (\mu - v) / c)` with h the reach
    for a constant variance and :math:`c = \max(|v|, h)`:

    .. math:: \mu - v = h (a + \sqrt{1 + a^2}), \qquad a = \frac{h}{2 c}.
    """
    around = np.maximum(np.abs(values), reach)
    a = np.divide(reach, 2 * around, out=np.zeros_like(reach), where=around > 0)
    above: FloatArray = reach * (a + np.sqrt(1 + a * a))
    return above


def t_tails(values: FloatArray, error: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return the upper tail of the t distribution at values / error.

    Without an error, 0 above 0 and 1 elsewhere.
    """
    without = np.where(values > 0, np.inf, -np.inf)
    ratio = np.divide(values, error, out=without, where=error > 0)
    from scipy import stats

    tails: FloatArray = np.asarray(stats.t.sf(ratio, freedom))
    return tails


def _percentiles(
    replicated: Replicated, error: FloatArray, method: str, confidence_level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    values, replicates = replicated.values, replicated.replicates
    tails = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    if method == "double-bootstrap":
        low, high = np.quantile(replicates, tails, axis=0)
        beyond = replicates <= 0
    else:
        centered = replicates - replicates.mean(axis=0)
        spread = replicates.std(axis=0, ddof=1)
        around = centered * np.divide(error, spread, out=np.zeros_like(error), where=spread > 0)
        upper, lower = np.quantile(around, tails, axis=0)
        low, high = values - lower, values - upper
        beyond = around >= values
    p_values = np.asarray((1.0 + beyond.sum(axis=0)) / (len(replicates) + 1.0), dtype=np.float64)
    return low, high, p_values
