"""Accuracy of a forest out of bag, compared with the best prediction without features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtr

from duramen.data import Target
from duramen.support.arrays import BoolArray, FloatArray, IntArray


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
    losses = None if target.censored else _losses(estimator, target)
    if losses is None:
        return {"oob_error": last, "baseline_error": None, "baseline_p_value": None}
    seen, error, baseline = losses
    return {
        "oob_error": last,
        "baseline_error": float(baseline.mean()),
        "baseline_p_value": _p_value(baseline - error, None if groups is None else groups[seen]),
    }


def _losses(estimator: Any, target: Target) -> tuple[BoolArray, FloatArray, FloatArray] | None:
    """Return which rows are out of bag, and their losses by the forest and without features."""
    means = getattr(estimator, "oob_decision_function_", None)
    if means is not None:
        seen = np.isfinite(means).all(axis=1)
        codes = np.asarray(target.values)[seen].astype(np.intp)
        if not seen.any():
            return None
        wrong = means[seen].argmax(axis=1) != codes
        most_frequent = np.bincount(codes).argmax()
        return seen, wrong.astype(np.float64), (codes != most_frequent).astype(np.float64)
    guess = getattr(estimator, "oob_prediction_", None)
    if guess is None:
        return None
    seen = np.isfinite(guess)
    values = np.asarray(target.values, dtype=np.float64)[seen]
    if not len(values):
        return None
    return seen, (values - guess[seen]) ** 2, (values - values.mean()) ** 2


def _p_value(gains: FloatArray, groups: IntArray | None) -> float:
    """Return the p-value of the t-test of gains, or of their sums in groups."""
    if groups is not None:
        places = np.unique(groups, return_inverse=True)[1]
        sums = np.bincount(places, gains).astype(np.float64)
        # Gains of one sign in all groups have this probability by chance: a bound for few groups.
        return max(_p_value(sums, None), 0.5 ** len(sums))
    mean, n = float(gains.mean()), len(gains)
    error = float(gains.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    if error == 0.0:
        return 0.0 if mean > 0 and n > 1 else 1.0
    return float(stdtr(n - 1, -mean / error))
