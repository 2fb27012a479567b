"""Accuracy of a forest out of bag, effects, and association of features with the target."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr

from duramen.data import EncodedTable, LearningSet, Target
from duramen.data.scores import adjusted_means, centered_within
from duramen.effects import describe_effects
from duramen.forests.prediction import concordance
from duramen.reports.effects import DESCRIBED, Effects
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.arrow import pa


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


_CLASSES = 10  # of more classes, no means are written


def effects_of(
    estimator: Any,
    data: LearningSet[EncodedTable],
    names: Sequence[str],
    relevant: Collection[str],
    positive: Any,
    n_jobs: int | None,
) -> Effects:
    """Describe the effects of all relevant features, and of the first others of those named."""
    best = [name for i, name in enumerate(names) if i < DESCRIBED or name in relevant]
    described = describe_effects(
        estimator, data, best, relevant=set(relevant), pos_label=positive, n_jobs=n_jobs
    )
    return Effects.of(described, data)


def target_columns(data: LearningSet[EncodedTable], names: Sequence[str]) -> dict[str, Any]:
    """Return the association of features with the target, as columns of the table of results.

    For classes the mean in each class, ``mean_`` and its name; for numbers Spearman's rank
    correlation, ``spearman``; for survival Harrell's concordance, ``concordance``: above .5 where
    events are earlier the larger the feature. Categories have none of these. With strata, means are
    adjusted for them by least squares, the correlation is of ranks less their mean in the stratum,
    and the concordance is of pairs of rows of one stratum.
    """
    table, classes = data.table, data.target.classes
    if classes is not None and len(classes) > _CLASSES:
        return {}
    survival = data.target.censored
    y = np.asarray(data.target.values)
    strata, schema = data.exchangeability.strata, table.schema
    n_values, kinds = np.diff(schema.value_offsets).tolist(), schema.kind_codes
    place = {name: j for j, name in enumerate(schema.names)}
    n_columns = 1 if classes is None else len(classes)
    summary = np.full((len(names), n_columns), np.nan)
    by_rank = classes is None and not survival
    ranks = _ranks(np.unique(y, return_inverse=True)[1]) if by_rank else None
    for row, name in enumerate(names):
        j = place[name]
        codes = table.codes(j)
        present = codes < n_values[j]
        if kinds[j] or not present.any():
            continue
        within = None if strata is None else strata[present]
        if survival:
            summary[row, 0] = concordance(data.target.take(present), codes[present], within)
        elif ranks is not None:
            summary[row, 0] = _correlation(codes[present], ranks[present], within)
        elif within is not None:
            own, values = y[present].astype(np.int64), table.values(j)[codes[present]]
            taken = np.unique(own)
            summary[row, taken] = adjusted_means(own, values[:, None], within)[taken, 0]
        else:
            sizes = np.bincount(y[present], minlength=n_columns)
            sums = np.bincount(y[present], table.values(j)[codes[present]], minlength=n_columns)
            np.divide(sums, sizes, out=summary[row], where=sizes > 0)
    alone = "concordance" if survival else "spearman"
    titles = [alone] if classes is None else [f"mean_{label}" for label in classes.tolist()]
    columns = zip(titles, summary.T, strict=True)
    return {title: pa.array(values, mask=np.isnan(values)) for title, values in columns}


def _ranks(codes: Any) -> Any:
    """Return mid-ranks of dense codes."""
    sizes = np.bincount(codes)
    return (np.cumsum(sizes) - sizes / 2)[codes]


def _correlation(codes: Any, ranks: Any, strata: IntArray | None) -> float:
    """Return Spearman's correlation, within strata; NaN where one side is constant there."""
    centred = _ranks(codes) - len(codes) / 2
    other = ranks - ranks.mean()
    if strata is not None:
        centred, other = centered_within(np.column_stack([centred, other]), strata).round(9).T
    scale = np.sqrt((centred @ centred) * (other @ other))
    return float(centred @ other / scale) if scale > 0 else float("nan")
