"""Rank tests of the association of one feature with a target.

A target `y` holds numbers, or an indicator of a class. With `censored` it holds survival: codes
2 t + e of the rank t of the time and of whether the event occurred then, e, with the entry
(`risk_intervals`). Survival is compared at the time of each event with all rows at risk, so that a
feature that only censoring or entry depends on is not called associated.

With `strata`, rows are compared within them; rows of one of the `groups` may depend on each other
(:func:`_sums_of_groups`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.strata import adjusted_means, centered_within
from duramen.data.survival import at_risk, martingale_residuals, risk_intervals
from duramen.data.target import midranks
from duramen.support.arrays import FloatArray, IntArray

_LEAST_VARIANCE = 1e-9  # of scores; a smaller one is rounding
_TURNS = (0.25, 0.5, 0.75)  # quantiles of a feature at which an association may turn


def trend(
    codes: IntArray,
    y: NDArray[Any],
    strata: IntArray | None = None,
    groups: IntArray | None = None,
    *,
    censored: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return the association of targets with the ranks of features, and its p-values.

    Features are codes of shape (n,) or (n, m), targets of shape (n,) or (n, C), and both results of
    shape (), (m,), (C,) or (m, C).

    Of numbers, Spearman's rank correlation, with the larger p-value of two t tests of the slope of
    the ranks: with the variance of independence, and with that of White in the form HC3, which
    allows a spread of the target that depends on the feature (DiCiccio and Romano 2017). It is at
    least the probability of the best of all orders of the rows, so that the order of three rows by
    chance is no evidence. With strata, of the ranks less their means in each stratum: the partial
    correlation.

    Of survival, the standardized statistic of the log-rank test for trend, the score test of Cox's
    model, positive where larger values mean a higher risk.
    """
    from scipy.special import chdtrc, ndtr, stdtr

    n, shape = len(y), codes.shape[1:] + y.shape[1:]
    codes, y = codes.reshape(n, -1), y.reshape(n, -1)
    statistics, p_values = np.zeros((2, codes.shape[1], y.shape[1]))
    p_values += 1.0
    dependent, varies = strata is not None or groups is not None, np.ptp(codes, axis=0) > 0
    varying = [k for k, own in enumerate(y.T) if censored or np.ptp(own) > 0]
    if n < 3 or not varies.any() or not varying:
        return statistics.reshape(shape)[()], p_values.reshape(shape)[()]
    codes = codes[:, varies]
    x, least = _ranks(codes)[0], np.zeros(1)
    if not censored:
        least = _order_probability(codes, strata, groups)
        of_targets = _order_probability(y, strata, groups)
    squares = np.square(x).sum(axis=0)
    with_leverage = x / np.maximum(1.0 - 1.0 / n - x * x / squares, 1e-12)
    for k in varying:
        if dependent:
            scores = _scores(x, y[:, k], strata, censored)
            total, sums = _sums_of_groups(scores, strata, groups)
            variance = np.square(sums).sum(axis=0)
            spread = variance > _LEAST_VARIANCE
            squared = np.divide(np.square(total), variance, out=np.zeros(len(total)), where=spread)
            statistic = np.copysign(np.sqrt(squared), total)
            p_value = np.where(spread, chdtrc(1, squared), 1.0)
            if not censored:
                centered, ranks = (
                    np.square(centered_within(part, strata)).sum(axis=0)
                    for part in (x, _ranks(y[:, [k]])[0])
                )
                statistic = total / np.maximum(np.sqrt(centered * ranks), 1.0)
        elif censored:
            score, variance = _log_rank(x / 2, y[:, k], diagonal=True)
            spread = variance > _LEAST_VARIANCE * n
            deviation = np.sqrt(np.maximum(variance, 0.0))  # rounding may be negative
            statistic = np.divide(score, deviation, out=np.zeros(len(score)), where=spread)
            p_value = 2.0 * ndtr(-np.abs(statistic))
        else:
            ranks = _ranks(y[:, [k]])[0]
            slope = (x * ranks).sum(axis=0) / squares
            residual = ranks - slope * x
            variance = np.maximum(
                np.square(residual).sum(axis=0) / ((n - 2) * squares),
                np.square(with_leverage * residual).sum(axis=0) / squares**2,
            )
            with np.errstate(divide="ignore"):
                p_value = 2.0 * stdtr(n - 2, -np.abs(slope) / np.sqrt(variance))
            statistic = slope * np.sqrt(squares / np.square(ranks).sum())
        statistics[varies, k] = statistic
        p_values[varies, k] = np.maximum(
            p_value, least if censored else np.maximum(least, of_targets[k])
        )
    return statistics.reshape(shape)[()], p_values.reshape(shape)[()]


def between_categories(
    codes: IntArray,
    y: NDArray[Any],
    strata: IntArray | None = None,
    groups: IntArray | None = None,
    *,
    censored: bool = False,
) -> tuple[float, float]:
    """Return the statistic of a test of a target between categories, and its p-value.

    Of numbers, that of Kruskal and Wallis, corrected for ties: with ranks r of n rows, (n - 1)
    times the part of their sum of squares that lies between the categories (`scipy.stats.kruskal`
    takes ten times the time). Of survival, the log-rank statistic.
    """
    from scipy.special import chdtrc

    sizes = np.bincount(codes)
    levels = np.flatnonzero(sizes)
    if len(levels) in (1, len(codes)) or (not censored and np.ptp(y) == 0):
        return 0.0, 1.0
    indicators = np.asarray(codes[:, None] == levels[None], dtype=np.float64)
    if strata is not None or groups is not None:
        scores = _scores(indicators, y, strata, censored)
        total, sums = _sums_of_groups(scores, strata, groups)
        statistic, degrees = _quadratic_form(total, sums.T @ sums)
    elif censored:
        statistic, degrees = _quadratic_form(*_log_rank(indicators, y))
    else:
        ranks, degrees = _ranks(y[:, None])[0][:, 0], len(levels) - 1
        between = np.square(np.bincount(codes, ranks)[levels]) / sizes[levels]
        statistic = (len(y) - 1) * float(between.sum() / (ranks @ ranks))
    return statistic, float(chdtrc(degrees, statistic)) if degrees else 1.0


def turn_p_value(
    codes: IntArray,
    y: NDArray[Any],
    strata: IntArray | None = None,
    groups: IntArray | None = None,
    *,
    censored: bool = False,
) -> Any:
    """Return the p-value of the hypothesis that targets, (n,) or (n, C), are monotone in a feature.

    At each of three quantiles, or at every value of few, the rows are divided into those up to it
    and those from it on, and the one-sided test for trend is done in both parts. The hypothesis is
    rejected where both reject in opposite directions: the larger of the two p-values, the smallest
    of which over the quantiles counts, times the number of parts. Of a monotone association, one
    direction is true in no part, so that any such rejection contains a false one, and the rate is
    that of Bonferroni (intersection-union test; Berger 1982), whatever the form of the association.
    """
    turns, least = np.flatnonzero(np.bincount(codes))[1:-1], np.ones(y.shape[1:])
    if len(turns) > len(_TURNS):
        at = (np.array(_TURNS) * (len(codes) - 1)).astype(np.int64)
        turns = np.intersect1d(turns, np.partition(codes, at)[at])
    for turn in turns.tolist():
        tests = []
        for rows in (codes <= turn, codes >= turn):
            part = [None if array is None else array[rows] for array in (strata, groups)]
            tests.append(trend(codes[rows], y[rows], *part, censored=censored))
        (before, first), (after, second) = tests
        p_value = np.where(before * after < 0, np.maximum(first, second), 1.0)
        least = np.minimum(least, p_value * len(turns))
    return least[()]


def highest_category(
    codes: IntArray, y: NDArray[Any], strata: IntArray | None = None, *, censored: bool = False
) -> int:
    """Return the code of the category with the largest mean of a target, adjusted for strata."""
    numbers, sizes = residuals(y, strata) if censored else y, np.bincount(codes)
    if strata is not None:
        means = adjusted_means(codes, numbers[:, None], strata)[:, 0]
        return int(np.where(sizes > 0, means, -np.inf).argmax())
    means = np.full(len(sizes), -np.inf)
    np.divide(np.bincount(codes, numbers), sizes, out=means, where=sizes > 0)
    return int(means.argmax())


def intervals(codes: IntArray, at_most: int) -> IntArray:
    """Return intervals with about equal numbers of rows; equal values share an interval."""
    distinct, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(distinct) <= at_most:
        return np.asarray(place, dtype=np.int64)
    middle = np.cumsum(sizes) - sizes / 2
    group: IntArray = (middle * at_most / len(codes)).astype(np.int64)
    return group[place]


def _ranks(columns: NDArray[Any]) -> tuple[FloatArray, IntArray]:
    """Return twice the centered midranks of columns, (n, m), and the rows of each value, (m, V)."""
    if columns.dtype.kind == "f":  # numbers to codes
        places = [np.unique(column, return_inverse=True)[1] for column in columns.T]
        columns = np.stack(places, axis=1)
    codes: IntArray = columns.astype(np.int64, copy=False)
    n_columns, width = codes.shape[1], int(codes.max()) + 1
    cells = (codes + width * np.arange(n_columns)).reshape(-1)
    counts = np.bincount(cells, minlength=n_columns * width).reshape(n_columns, width)
    return np.take_along_axis(midranks(counts).T, codes, axis=0), counts


def _order_probability(
    columns: NDArray[Any], strata: IntArray | None = None, groups: IntArray | None = None
) -> FloatArray:
    """Return the probability of an order of the columns or its reverse, ties being equal.

    They are orders of the rows, or of the means of groups, within strata.
    """
    from scipy.special import gammaln

    ranks, counts = _ranks(columns)
    if groups is not None:
        _, first, place = np.unique(groups, return_index=True, return_inverse=True)
        means = [np.bincount(place, own) / np.bincount(place) for own in ranks.T]
        ranks, counts = _ranks(np.stack(means, axis=1))
        strata = None if strata is None else strata[first]
    log_orders = gammaln(len(ranks) + 1)
    if strata is not None:
        log_orders = gammaln(np.bincount(strata) + 1).sum()
        counts = _ranks(ranks + 2.0 * (len(ranks) + 1) * strata[:, None])[1]
    log_orders = log_orders - gammaln(counts + 1).sum(axis=1)
    return np.asarray(np.minimum(1.0, 2.0 * np.exp(-log_orders)))


# --- rows that are compared within strata, or depend on each other within groups -----------------


def _scores(
    columns: FloatArray, y: NDArray[Any], strata: IntArray | None, censored: bool
) -> FloatArray:
    """Return the score of each row for columns of shape (n, k), centered within strata.

    Of numbers, the products of the columns and the ranks, both centered; of survival, the score
    residuals of Cox's model, whose sums are the log-rank scores.
    """
    if not censored:
        return centered_within(columns, strata) * centered_within(_ranks(y[:, None])[0], strata)
    means, expected = _at_risk(columns, y, strata)
    observed = (y % 2 == 1)[:, None] * (columns - means)
    return np.asarray(observed - (columns * expected[:, :1] - expected[:, 1:]))


def _sums_of_groups(
    scores: FloatArray, strata: IntArray | None, groups: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of scores, and roots of their covariance: shapes (k,) and (u, k).

    The covariance of the scores is estimated from their sums over each of u groups (over each row,
    without groups), so that rows of a group may depend on each other (Liang and Zeger 1986). As m
    sums in a stratum are centered, their squares are multiplied by m / (m - 1). A quadratic form in
    the inverse is at most the number of groups: a few of them are never strong evidence.
    """
    n = len(scores)
    groups = np.arange(n) if groups is None else groups
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    sums: FloatArray = np.stack([np.bincount(group, column) for column in scores.T], axis=1)
    strata = np.zeros(n, np.int64) if strata is None else strata
    _, place, sizes = np.unique(strata[first], return_inverse=True, return_counts=True)
    return sums.sum(axis=0), sums * np.sqrt(sizes / np.maximum(sizes - 1, 1))[place][:, None]


def _quadratic_form(scores: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Return the quadratic form of scores in the inverse of their covariance, and its rank."""
    sizes, axes = np.linalg.eigh(covariance)
    large = sizes > _LEAST_VARIANCE * max(1.0, float(sizes[-1]))
    statistic = np.square(axes.T[large] @ scores) / sizes[large]
    return float(statistic.sum()), int(large.sum())


# --- survival ------------------------------------------------------------------------------------


def residuals(y: NDArray[Any], strata: IntArray | None) -> FloatArray:
    """Return the martingale residuals: observed less expected events of each row."""
    if strata is None:
        return martingale_residuals(y)
    expected = _at_risk(np.empty((len(y), 0)), y, strata)[1][:, 0]
    return np.asarray((y % 2 == 1) - expected)


def _at_risk(
    columns: FloatArray, y: NDArray[Any], strata: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the means of columns over the rows at risk at the time of each row, (n, k).

    And the sums, over the events of its stratum while it is at risk, of 1 and of these means, each
    divided by the rows at risk: shape (n, 1 + k).
    """
    entries, times, events = risk_intervals(y)
    strata = np.zeros(len(times), np.int64) if strata is None else strata
    width = int(times.max()) + 1
    moments, place = np.unique(strata * width + times, return_inverse=True)
    end = np.searchsorted(moments // width, moments // width, "right")  # of the stratum
    entered = np.searchsorted(moments, strata * width + entries)
    ones = np.column_stack([np.ones(len(columns)), columns])

    def before(numbers: FloatArray) -> FloatArray:
        return np.vstack([np.zeros((1, numbers.shape[1])), np.cumsum(numbers, axis=0)])

    def sums(moment: IntArray) -> FloatArray:
        by_moment = [np.bincount(moment, column, len(moments)) for column in ones.T]
        return before(np.stack(by_moment, axis=1))

    leaving, entering = sums(place), sums(entered)
    remaining = (leaving[end] - leaving[:-1]) - (entering[end] - entering[1:])
    means = remaining[:, 1:] / remaining[:, :1]
    hazard = np.bincount(place, events)[:, None] / remaining[:, :1]
    steps = before(hazard * np.column_stack([np.ones(len(moments)), means]))
    return means[place], steps[place + 1] - steps[entered]


def _log_rank(
    columns: FloatArray, y: NDArray[Any], *, diagonal: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return the log-rank scores of columns, shape (k,), and their covariance, (k, k).

    With `diagonal`, only the variances, shape (k,).
    """
    first, last, occurred = risk_intervals(y)
    events = np.bincount(last, occurred)
    remaining = at_risk(np.column_stack([np.ones(len(columns)), columns]), first, last)
    n_at_risk = np.maximum(remaining[:, 0], 1.0)
    means = remaining[:, 1:] / n_at_risk[:, None]
    scores = occurred @ columns - events @ means
    weight = events * (n_at_risk - events) / np.maximum(n_at_risk - 1.0, 1.0)
    sums = np.append(0.0, np.cumsum(weight / n_at_risk))
    of_row = sums[last + 1] - sums[first]
    if diagonal:
        return scores, of_row @ np.square(columns) - weight @ np.square(means)
    return scores, (columns.T * of_row) @ columns - (means.T * weight) @ means
