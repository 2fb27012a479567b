"""Targets as tests of their association with features take them: numbers, or survival."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from duramen.data.survival import martingale_residuals
from duramen.support.arrays import FloatArray, IntArray


class Response(Protocol):
    """Target of the rows, and rank tests of its association with a feature."""

    @property
    def numbers(self) -> FloatArray:
        """Numbers whose mean in a group of rows says how large the target is there."""

    def take(self, rows: NDArray[Any]) -> Response:
        """Return the target of some of the rows, by index or mask."""

    def trend(self, codes: IntArray) -> tuple[float, float]:
        """Return a statistic whose sign is that of the association, and its p-value."""

    def between(self, groups: IntArray) -> tuple[float, int]:
        """Return a statistic for differences between groups, and its degrees of freedom.

        Where the groups do not differ it has a chi-squared distribution, about; no degrees of
        freedom mean that nothing can be compared.
        """


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, or an indicator of a class.

    Attributes
    ----------
    numbers : ndarray of float64, shape (n,)
    """

    numbers: FloatArray

    def take(self, rows: NDArray[Any]) -> Numbers:
        """Return the numbers of some of the rows."""
        return Numbers(self.numbers[rows])

    def trend(self, codes: NDArray[Any]) -> tuple[float, float]:
        """Return Spearman's rank correlation with a feature, and its p-value.

        The larger of two, of t tests of the slope of the ranks: with the variance of independence,
        and with that of White in the form HC3, which allows a spread of the target that depends on
        the feature (DiCiccio and Romano 2017). It is at least what the best of all orders of the
        rows has, so that the order of three rows by chance is no evidence.
        """
        y = self.numbers
        n = len(y)
        if n < 3 or np.ptp(codes) == 0 or np.ptp(y) == 0:
            return 0.0, 1.0
        from scipy.special import stdtr
        from scipy.stats import rankdata

        x, ranks = (values - values.mean() for values in (rankdata(codes), rankdata(y)))
        squares = float(x @ x)
        slope = float(x @ ranks) / squares
        residual = ranks - slope * x
        without_leverage = np.maximum(
            1.0 - 1.0 / n - x * x / squares, 1e-12
        )  # one less the leverages
        variance = max(
            float(residual @ residual) / ((n - 2) * squares),
            float(np.square(x * residual / without_leverage).sum()) / squares**2,
        )
        size = abs(slope) / np.sqrt(variance) if variance > 0 else np.inf
        least = max(_of_one_order(codes), _of_one_order(y))
        correlation = slope * float(np.sqrt(squares / (ranks @ ranks)))
        return correlation, max(2.0 * float(stdtr(n - 2, -size)), least)

    def between(self, groups: IntArray) -> tuple[float, int]:
        """Return Kruskal and Wallis' statistic between groups."""
        y = self.numbers
        parts = [y[groups == group] for group in np.unique(groups)]
        if len(parts) < 2 or np.ptp(y) == 0:
            return 0.0, 0
        from scipy.stats import kruskal

        return float(kruskal(*parts).statistic), len(parts) - 1


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
    """

    times: IntArray
    events: NDArray[np.bool_]

    def take(self, rows: NDArray[Any]) -> Survival:
        """Return the times and events of some of the rows."""
        return Survival(self.times[rows], self.events[rows])

    @property
    def numbers(self) -> FloatArray:
        """Martingale residuals: events of a row less those expected until its time."""
        return martingale_residuals((2 * self.times + self.events).astype(np.uint32))

    def trend(self, codes: IntArray) -> tuple[float, float]:
        """Return the standardized statistic of the log-rank test for trend, positive for risk.

        That of the ranks of a feature, ties averaged: the score test of Cox's model.
        """
        if len(codes) < 3 or np.ptp(codes) == 0:
            return 0.0, 1.0
        from scipy.special import ndtr
        from scipy.stats import rankdata

        ranks = rankdata(codes)
        (score,), ((variance,),) = self._scores((ranks - ranks.mean())[:, None])
        if variance <= 1e-9 * len(codes):
            return 0.0, 1.0
        z = float(score / np.sqrt(variance))
        return z, float(2.0 * ndtr(-abs(z)))

    def between(self, groups: IntArray) -> tuple[float, int]:
        """Return the log-rank statistic between groups."""
        distinct = np.unique(groups)
        if len(distinct) < 2:
            return 0.0, 0
        scores, covariance = self._scores((groups[:, None] == distinct).astype(np.float64))
        sizes, axes = np.linalg.eigh(covariance)
        large = sizes > 1e-9 * max(1.0, float(sizes[-1]))
        statistic = np.square(axes.T[large] @ scores) / sizes[large]
        return float(statistic.sum()), int(large.sum())

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Rows at risk and events at each rank of the times."""
        at_risk = np.maximum(_from_here_on(np.bincount(self.times)), 1.0)
        events = np.bincount(self.times[self.events], minlength=len(at_risk))
        return at_risk, events.astype(np.float64)

    def _scores(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-rank scores of columns, shape (k,), and their covariance, (k, k)."""
        at_risk, events = self._table
        n_times = len(at_risk)
        sums = [np.bincount(self.times, column, n_times) for column in columns.T]
        means = np.column_stack([_from_here_on(total) for total in sums]) / at_risk[:, None]
        scores = self.events @ columns - events @ means
        weight = events * (at_risk - events) / np.maximum(at_risk - 1.0, 1.0)
        of_row = np.cumsum(weight / at_risk)[self.times]
        covariance = (columns.T * of_row) @ columns - (means.T * weight) @ means
        return scores, covariance


def _of_one_order(numbers: NDArray[Any]) -> float:
    """Return the probability of one of two opposite orders of the rows, ties being equal."""
    from scipy.special import gammaln

    sizes = np.unique(numbers, return_counts=True)[1]
    log_orders = gammaln(len(numbers) + 1) - gammaln(sizes + 1).sum()
    return float(min(1.0, 2.0 * np.exp(-log_orders)))


def _from_here_on(numbers: NDArray[Any]) -> FloatArray:
    """Return the sums over each entry and those after it."""
    return np.cumsum(numbers[::-1], dtype=np.float64)[::-1]
