"""Targets as tests of their association with features take them: numbers, or survival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data.strata import adjusted_means, centered_within
from duramen.data.target import martingale_residuals, midranks
from duramen.support.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, or an indicator of a class.

    Attributes
    ----------
    numbers : ndarray of float64, shape (n,)
    strata, groups : ndarray of int64, shape (n,), or None
    """

    numbers: FloatArray
    strata: IntArray | None = None
    groups: IntArray | None = None

    def take(self, rows: NDArray[Any]) -> Numbers:
        """Return the numbers of some of the rows."""
        return Numbers(self.numbers[rows], _some(self.strata, rows), _some(self.groups, rows))

    def scores(self, columns: FloatArray) -> FloatArray:
        """Return the products of columns and the ranks of the numbers, both centered."""
        ranks = _ranks(self.numbers)[:, None]
        return centered_within(columns, self.strata) * centered_within(ranks, self.strata)

    def trend(self, codes: NDArray[Any]) -> tuple[float, float]:
        """Return Spearman's rank correlation with a feature, and its p-value.

        The larger of two, of t tests of the slope of the ranks: with the variance of independence,
        and with that of White in the form HC3, which allows a spread of the target that depends on
        the feature (DiCiccio and Romano 2017). It is at least what the best of all orders of the
        rows has, so that the order of three rows by chance is no evidence.

        With strata, of the ranks less their means in each stratum: the partial correlation.
        """
        y = self.numbers
        n = len(y)
        if n < 3 or np.ptp(codes) == 0 or np.ptp(y) == 0:
            return 0.0, 1.0
        from scipy.special import stdtr

        x, ranks = _ranks(codes), _ranks(y)
        if _is_restricted(self):
            scores = self.scores(x[:, None])
            centered = centered_within(np.column_stack([x, ranks]), self.strata)
            size = float(np.sqrt(np.square(centered).sum(axis=0).prod()))
            p_value = _p_value(*_of_groups(scores, self))
            least = max(_of_one_order(v, self.strata, self.groups) for v in (codes, y))
            return float(scores.sum()) / max(size, 1.0), max(p_value, least)
        squares = float(x @ x)
        slope = float(x @ ranks) / squares
        residual = ranks - slope * x
        without_leverage = np.maximum(1.0 - 1.0 / n - x * x / squares, 1e-12)
        variance = max(
            float(residual @ residual) / ((n - 2) * squares),
            float(np.square(x * residual / without_leverage).sum()) / squares**2,
        )
        size = abs(slope) / np.sqrt(variance) if variance > 0 else np.inf
        least = max(_of_one_order(codes), _of_one_order(y))
        correlation = slope * float(np.sqrt(squares / (ranks @ ranks)))
        return correlation, max(2.0 * float(stdtr(n - 2, -size)), least)

    def between(self, groups: IntArray) -> tuple[float, int]:
        """Return Kruskal and Wallis' statistic between groups, corrected for ties.

        With ranks r of n rows, (n - 1) times the part of their sum of squares that lies between the
        groups. `scipy.stats.kruskal` computes the same in ten times the time.
        """
        y = self.numbers
        levels, group = np.unique(groups, return_inverse=True)
        if len(levels) < 2 or np.ptp(y) == 0:
            return 0.0, 0
        if _is_restricted(self):
            return _of_groups(self.scores(_indicators(groups)), self)
        ranks = _ranks(y)
        between = np.square(np.bincount(group, ranks)) / np.bincount(group)
        return (len(y) - 1) * float(between.sum() / (ranks @ ranks)), len(levels) - 1


@dataclass(frozen=True, eq=False)
class Survival:
    """Times, some of them censored: log-rank tests.

    They compare, at the time of each event, the row with the event with all rows still at risk, so
    that a feature that goes with censoring alone is not called associated.

    Attributes
    ----------
    times : ndarray of int64, shape (n,)
        Ranks of the times.
    events : ndarray of bool, shape (n,)
        Whether the event occurred then.
    strata, groups : ndarray of int64, shape (n,), or None
    """

    times: IntArray
    events: NDArray[np.bool_]
    strata: IntArray | None = None
    groups: IntArray | None = None

    def take(self, rows: NDArray[Any]) -> Survival:
        """Return the times and events of some of the rows."""
        restrictions = _some(self.strata, rows), _some(self.groups, rows)
        return Survival(self.times[rows], self.events[rows], *restrictions)

    @property
    def numbers(self) -> FloatArray:
        """Martingale residuals: events of a row less those expected until its time."""
        if self.strata is not None:
            return self.events - self._expected(np.empty((len(self.times), 0)))[1][:, 0]
        return martingale_residuals((2 * self.times + self.events).astype(np.uint32))

    def trend(self, codes: IntArray) -> tuple[float, float]:
        """Return the standardized statistic of the log-rank test for trend, positive for risk.

        That of the ranks of a feature, ties averaged: the score test of Cox's model.
        """
        if len(codes) < 3 or np.ptp(codes) == 0:
            return 0.0, 1.0
        from scipy.special import ndtr

        if _is_restricted(self):
            scores = self.scores(_ranks(codes)[:, None])
            statistic, degrees = _of_groups(scores, self)
            z = float(np.copysign(np.sqrt(statistic), scores.sum()))
            return z, _p_value(statistic, degrees)
        (score,), ((variance,),) = self._scores(_ranks(codes)[:, None] / 2)
        if variance <= 1e-9 * len(codes):
            return 0.0, 1.0
        z = float(score / np.sqrt(variance))
        return z, float(2.0 * ndtr(-abs(z)))

    def between(self, groups: IntArray) -> tuple[float, int]:
        """Return the log-rank statistic between groups."""
        distinct = np.unique(groups)
        if len(distinct) < 2:
            return 0.0, 0
        if _is_restricted(self):
            return _of_groups(self.scores(_indicators(groups)), self)
        return _quadratic(*self._scores((groups[:, None] == distinct).astype(np.float64)))

    def scores(self, columns: FloatArray) -> FloatArray:
        """Return the score residuals of Cox's model, whose sums are the log-rank scores."""
        means, expected = self._expected(columns)
        observed = self.events[:, None] * (columns - means)
        return np.asarray(observed - (columns * expected[:, :1] - expected[:, 1:]))

    def _expected(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means of columns over the rows at risk at the time of each row, (n, k).

        And the sums, over the events of its stratum up to then, of 1 and of these means, each
        divided by the rows at risk: shape (n, 1 + k).
        """
        strata = np.zeros(len(self.times), np.int64) if self.strata is None else self.strata
        width = int(self.times.max()) + 1
        moments, place = np.unique(strata * width + self.times, return_inverse=True)
        first, last = (
            np.searchsorted(moments // width, moments // width, side) for side in ("left", "right")
        )  # moments of the same stratum

        def up_to(numbers: FloatArray) -> FloatArray:
            return np.vstack([np.zeros((1, numbers.shape[1])), np.cumsum(numbers, axis=0)])

        def at(numbers: FloatArray) -> FloatArray:
            return np.stack([np.bincount(place, column) for column in numbers.T], axis=1)

        before = up_to(at(np.column_stack([np.ones(len(columns)), columns])))
        at_risk = before[last] - before[:-1]
        means = at_risk[:, 1:] / at_risk[:, :1]
        hazard = np.bincount(place, self.events)[:, None] / at_risk[:, :1]
        before = up_to(hazard * np.column_stack([np.ones(len(moments)), means]))
        return means[place], (before[1:] - before[first])[place]

    def _scores(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-rank scores of columns, shape (k,), and their covariance, (k, k)."""
        at_risk = np.maximum(_from_here_on(np.bincount(self.times)), 1.0)
        n_times = len(at_risk)
        events = np.bincount(self.times[self.events], minlength=n_times).astype(np.float64)
        sums = [np.bincount(self.times, column, n_times) for column in columns.T]
        means = np.column_stack([_from_here_on(total) for total in sums]) / at_risk[:, None]
        scores = self.events @ columns - events @ means
        weight = events * (at_risk - events) / np.maximum(at_risk - 1.0, 1.0)
        of_row = np.cumsum(weight / at_risk)[self.times]
        covariance = (columns.T * of_row) @ columns - (means.T * weight) @ means
        return scores, covariance


Response: TypeAlias = Numbers | Survival
"""Target of the rows, and rank tests of its association with a feature.

With `strata` or `groups` the tests are of :func:`_of_groups`. The statistic of `between` has about
a chi-squared distribution where the groups do not differ; no degrees of freedom mean that nothing
can be compared.
"""


def _of_one_order(
    numbers: NDArray[Any], strata: IntArray | None = None, groups: IntArray | None = None
) -> float:
    """Return the probability of one of two opposite orders, ties being equal.

    They are orders of the rows, or of the means of groups, within strata.
    """
    from scipy.special import gammaln

    if groups is not None:
        _, first, place = np.unique(groups, return_index=True, return_inverse=True)
        numbers = np.bincount(place, _ranks(numbers)) / np.bincount(place)
        strata = _some(strata, first)
    if strata is None:
        sizes = np.unique(numbers, return_counts=True)[1]
        log_orders = gammaln(len(numbers) + 1) - gammaln(sizes + 1).sum()
    else:
        sizes = np.unique(np.stack([strata, numbers]), axis=1, return_counts=True)[1]
        log_orders = gammaln(np.bincount(strata) + 1).sum() - gammaln(sizes + 1).sum()
    return float(min(1.0, 2.0 * np.exp(-log_orders)))


def _from_here_on(numbers: NDArray[Any]) -> FloatArray:
    """Return the sums over each entry and those after it."""
    return np.cumsum(numbers[::-1], dtype=np.float64)[::-1]


# --- rows that are compared within strata, or depend on each other within groups -----------------


def _is_restricted(y: Response) -> bool:
    """Tell whether rows are compared within strata, or depend on each other in groups."""
    return y.strata is not None or y.groups is not None


def _some(codes: IntArray | None, rows: NDArray[Any]) -> IntArray | None:
    return None if codes is None else codes[rows]


def _of_groups(scores: FloatArray, y: Response) -> tuple[float, int]:
    """Return the statistic of a score test, about chi-squared, and its degrees of freedom.

    The scores, of shape (n, k), are centered within strata. Their covariance is estimated from
    their sums over each group (over each row, without groups), so that rows of a group may depend
    on each other (Liang and Zeger 1986). As m sums in a stratum are centered, their squares are
    multiplied by m / (m - 1). The statistic is at most the number of groups: a few of them are
    never strong evidence.
    """
    n = len(scores)
    groups = np.arange(n) if y.groups is None else y.groups
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    sums = np.empty((len(first), scores.shape[1]))
    for column, of_groups in zip(scores.T, sums.T, strict=True):
        of_groups[:] = np.bincount(group, column)
    strata = np.zeros(n, np.int64) if y.strata is None else y.strata
    _, place, sizes = np.unique(strata[first], return_inverse=True, return_counts=True)
    unbiased = sums * np.sqrt(sizes / np.maximum(sizes - 1, 1))[place][:, None]
    return _quadratic(sums.sum(axis=0), unbiased.T @ unbiased)


def _quadratic(scores: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Return the quadratic form of scores in the inverse of their covariance, and its rank."""
    sizes, axes = np.linalg.eigh(covariance)
    large = sizes > 1e-9 * max(1.0, float(sizes[-1]))
    statistic = np.square(axes.T[large] @ scores) / sizes[large]
    return float(statistic.sum()), int(large.sum())


# --- tests of the association of one or two features with a target, on the rows alone -------------


_TURNS = (0.25, 0.5, 0.75)  # quantiles of a feature at which an association may turn


def categories_p_value(codes: IntArray, y: Response) -> float:
    """Return the p-value of the test of a target between categories."""
    if len(np.unique(codes)) == len(codes):
        return 1.0
    return _p_value(*y.between(codes))


def highest_category(codes: IntArray, y: Response) -> int:
    """Return the code of the category with the largest mean of a target, adjusted for strata."""
    sizes = np.bincount(codes)
    if y.strata is not None:
        means = adjusted_means(codes, y.numbers[:, None], y.strata)[:, 0]
        return int(np.where(sizes > 0, means, -np.inf).argmax())
    means = np.full(len(sizes), -np.inf)
    np.divide(np.bincount(codes, y.numbers), sizes, out=means, where=sizes > 0)
    return int(means.argmax())


def turn_p_value(codes: IntArray, y: Response) -> float:
    """Return the p-value of the hypothesis that a target is monotone in a feature.

    At each of three quantiles, or at every value of few, the rows are divided into those up to it
    and those from it on, and the one-sided test for trend is done in both parts. The hypothesis is
    rejected where both reject in opposite directions: the larger of the two p-values, the smallest
    of which over the quantiles counts, times the number of parts. Of a monotone association, one
    direction is true in no part, so that any such rejection contains a false one, and the rate is
    that of Bonferroni (intersection-union test; Berger 1982), whatever the form of the association.
    """
    turns, p_values = np.unique(codes)[1:-1], []
    if len(turns) > len(_TURNS):
        at = (np.array(_TURNS) * (len(codes) - 1)).astype(np.int64)
        turns = np.intersect1d(turns, np.sort(codes)[at])
    for turn in turns.tolist():
        parts = [codes <= turn, codes >= turn]
        (before, first), (after, second) = (y.take(rows).trend(codes[rows]) for rows in parts)
        if before * after < 0:
            p_values.append(max(first, second) / 2)
    return min(1.0, min(p_values) * 2 * len(turns)) if p_values else 1.0


def _ranks(values: NDArray[Any]) -> FloatArray:
    """Return twice the centered midrank of each row."""
    _, place, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return midranks(sizes)[place]


def _p_value(statistic: float, degrees: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(degrees, statistic)) if degrees else 1.0


def _indicators(groups: IntArray) -> NDArray[Any]:
    return np.asarray(groups[:, None] == np.unique(groups)[None], dtype=np.float64)


def intervals(codes: IntArray, at_most: int) -> IntArray:
    """Return intervals of about as many rows each: those of equal values stay together."""
    distinct, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(distinct) <= at_most:
        return np.asarray(place, dtype=np.int64)
    middle = np.cumsum(sizes) - sizes / 2
    group: IntArray = (middle * at_most / len(codes)).astype(np.int64)
    return group[place]
