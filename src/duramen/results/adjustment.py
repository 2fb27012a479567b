"""P-values adjusted for many tests: false discovery rate, family-wise error rate."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from duramen.support.arrays import FloatArray

Adjustment = Literal["bh", "by", "storey"]
ADJUSTMENTS: tuple[str, ...] = get_args(Adjustment)


def false_discovery(p_values: FloatArray, adjustment: Adjustment, n_tests: int) -> FloatArray:
    r"""Return for each p-value the smallest false discovery rate at which it is a discovery.

    With p_(1) <= ... <= p_(m) the m p-values in order,

    .. math:: q_{(i)} = \min_{k \ge i} \; \min(1, c \, m \, p_{(k)} / k)

    where c is 1 for ``"bh"`` (Benjamini and Hochberg 1995: independent or positively dependent
    tests) and 1 + 1/2 + ... + 1/m for ``"by"`` (Benjamini and Yekutieli 2001: any dependence). For
    ``"storey"`` c is an estimate of the fraction of true null hypotheses from the p-values above
    the rate itself, where it is below 1 (Storey, Taylor and Siegmund 2004, with the level of
    Blanchard and Roquain 2009): q is at least p and the smallest rate :math:`\alpha \le 1/2` with

    .. math:: \min_{k \ge i} \; m \, p_{(k)} / k \le \alpha / c_\alpha, \qquad
              c_\alpha = \frac{1 + \#\{p > \alpha\}}{m (1 - \alpha)}.

    Of the m = `n_tests` tests, those that are not listed count with a p-value of 1.
    """
    if not p_values.size:
        return np.empty(0)
    from scipy.stats import false_discovery_control

    padded = np.concatenate([p_values, np.ones(n_tests - p_values.size)])
    adjusted: FloatArray = false_discovery_control(
        padded, method="by" if adjustment == "by" else "bh"
    )
    if adjustment == "storey":
        adjusted = np.minimum(adjusted, _smallest_adaptive_rates(adjusted, np.sort(padded)))
    return np.maximum(adjusted[: p_values.size], p_values)  # c m / k may round below 1


def _smallest_adaptive_rates(adjusted: FloatArray, ascending: FloatArray) -> FloatArray:
    r"""Return the smallest rate :math:`\alpha \le 1/2` with b <= alpha / c_alpha; 1 if none has.

    Between two p-values, with m - k of them above, it is a root of a quadratic equation:
    :math:`\alpha (1 - \alpha) = b (1 + m - k) / m`. Its left end gives the largest b that is
    reached before; these increase with k.
    """
    m = len(ascending)
    below = ascending[: np.searchsorted(ascending, 0.5, side="right")]
    above = 1.0 + m - np.arange(len(below) + 1)
    ends = np.append(below * (1.0 - below), 0.25) * m / above
    place = np.searchsorted(ends, adjusted, side="left")
    reached = place < len(ends)
    k = np.minimum(place, len(below))
    product = np.minimum(adjusted * above[k] / m, 0.25)
    roots = (1.0 - np.sqrt(1.0 - 4.0 * product)) / 2.0
    return np.where(reached, np.maximum(np.append(0.0, below)[k], roots), 1.0)


def holm(p_values: FloatArray, n_tests: int) -> FloatArray:
    r"""Return for each p-value the smallest family-wise error rate at which it is a discovery.

    .. math:: a_{(i)} = \max_{k \le i} \; \min(1, (m - k + 1) \, p_{(k)})

    for p_(1) <= ... <= p_(m), whatever the dependence between the tests (Holm 1979, the sharper
    form of Bonferroni's m p).

    Parameters
    ----------
    p_values : ndarray of float64, shape (p,)
        The smallest p of the p-values.
    n_tests : int
        Number m of tests.

    Returns
    -------
    ndarray of float64, shape (p,)
    """
    order = np.argsort(p_values, kind="stable")
    steps = (n_tests - np.arange(p_values.size)) * p_values[order]
    adjusted = np.empty(p_values.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def adjusted(p_values: FloatArray, control: Literal["fdr", "fwer", "none"]) -> FloatArray:
    """Return p-values of any shape adjusted over all of them.

    Parameters
    ----------
    p_values : ndarray of float64
        P-values of all the tests there were.
    control : {"fdr", "fwer", "none"}
        Benjamini and Hochberg's, Holm's, or as they are.

    Returns
    -------
    ndarray of float64, of the same shape
    """
    flat = p_values.ravel()
    if control == "fdr":
        flat = false_discovery(flat, "bh", flat.size)
    elif control == "fwer":
        flat = holm(flat, flat.size)
    return flat.reshape(p_values.shape)
