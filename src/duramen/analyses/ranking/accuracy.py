"""Accuracy of a forest out of bag, compared with the best prediction without features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtr

from duramen.data import Target
from duramen.support.arrays import IntArray


def out_of_bag_accuracy(
    estimator: Any, target: Target, groups: IntArray | None = None
) -> dict[str, float | None]:
    """Return the error of a forest out of bag and that of the best prediction without features.

    Without features, classes are predicted by the most frequent one, numbers by their mean. The
    p-value is that of the one-sided paired t-test of the null hypothesis that the forest is not
    more accurate, over the rows, as if they were predicted independently; over the sums in each
    group where rows have groups, and then at least 2**-G for G groups. All are None where no row is
    out of bag; of survival only the error is known.
    """
    curve = getattr(estimator, "oob_error_curve_", None)
    last = None if curve is None or not np.isfinite(curve[-1]) else float(curve[-1])
    unknown = {"oob_error": last, "baseline_error": None, "baseline_p_value": None}
    means: Any = getattr(estimator, "oob_decision_function_", None)
    guess: Any = getattr(estimator, "oob_prediction_", None)
    if target.censored or (means is None and guess is None):
        return unknown
    seen = np.isfinite(guess) if means is None else np.isfinite(means).all(axis=1)
    if not seen.any():
        return unknown
    values = np.asarray(target.values)[seen]
    if means is not None:
        codes = values.astype(np.intp)
        error = (means[seen].argmax(axis=1) != codes).astype(np.float64)
        baseline = (codes != np.bincount(codes).argmax()).astype(np.float64)
    else:
        values = values.astype(np.float64)
        error, baseline = (values - guess[seen]) ** 2, (values - values.mean()) ** 2
    gains, least = baseline - error, 0.0
    if groups is not None:
        gains = np.bincount(np.unique(groups[seen], return_inverse=True)[1], gains)
        # Gains of one sign in all groups have this probability by chance: a bound for few groups.
        least = 0.5 ** len(gains)
    n, mean = len(gains), float(gains.mean())
    spread = float(gains.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    p_value = float(stdtr(n - 1, -mean / spread)) if spread else float(mean <= 0 or n == 1)
    return {
        "oob_error": last,
        "baseline_error": float(baseline.mean()),
        "baseline_p_value": max(p_value, least),
    }
