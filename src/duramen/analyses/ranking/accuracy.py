"""Accuracy of a forest out of bag, compared with a prediction that uses no feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from duramen.data import Target


def out_of_bag_accuracy(estimator: Any, target: Target) -> dict[str, float | None]:
    """Return the error of a forest out of bag and that of the best prediction without features.

    Without features, classes are predicted by the most frequent one, numbers by their mean. The
    p-value is that of the one-sided paired t-test of the null hypothesis that the forest is not
    more accurate, over the rows, as if they were predicted independently. All are None where no
    row is out of bag; of survival only the error is known.
    """
    import numpy as np

    curve = getattr(estimator, "oob_error_curve_", None)
    last = None if curve is None or not np.isfinite(curve[-1]) else float(curve[-1])
    losses = None if target.censored else _losses(estimator, target)
    if losses is None:
        return {"oob_error": last, "baseline_error": None, "baseline_p_value": None}
    error, baseline = losses
    return {
        "oob_error": last,
        "baseline_error": float(baseline.mean()),
        "baseline_p_value": _p_value(baseline - error),
    }


def _losses(
    estimator: Any, target: Target
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the loss of each row that is out of bag, by the forest and without features."""
    import numpy as np

    means = getattr(estimator, "oob_decision_function_", None)
    if means is not None:
        seen = np.isfinite(means).all(axis=1)
        codes = np.asarray(target.values)[seen].astype(np.intp)
        if not seen.any():
            return None
        wrong = means[seen].argmax(axis=1) != codes
        most_frequent = np.bincount(codes).argmax()
        return wrong.astype(np.float64), (codes != most_frequent).astype(np.float64)
    guess = getattr(estimator, "oob_prediction_", None)
    if guess is None:
        return None
    seen = np.isfinite(guess)
    values = np.asarray(target.values, dtype=np.float64)[seen]
    if not len(values):
        return None
    return (values - guess[seen]) ** 2, (values - values.mean()) ** 2


def _p_value(gains: NDArray[np.float64]) -> float:
    import numpy as np
    from scipy.special import stdtr

    mean, n = float(gains.mean()), len(gains)
    error = float(gains.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    if error == 0.0:
        return 0.0 if mean > 0 and n > 1 else 1.0
    return float(stdtr(n - 1, -mean / error))
