"""Targets as tests of their association with features take them: numbers, or survival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from duramen.data.scores import midranks
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

        x, ranks = _ranks(codes), _ranks(y)
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
        """Return Kruskal and Wallis' statistic between groups, corrected for ties.

        With ranks r of n rows, (n - 1) times the part of their sum of squares that lies between the
        groups. `scipy.stats.kruskal` computes the same in ten times the time.
        """
        y = self.numbers
        levels, group = np.unique(groups, return_inverse=True)
        if len(levels) < 2 or np.ptp(y) == 0:
            return 0.0, 0
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


# --- tests of the association of one or two features with a target, on the rows alone -------------


_TURNS = (0.25, 0.5, 0.75)  # quantiles of a feature at which an association may turn
_CELLS = 3


def categories_p_value(codes: IntArray, y: Response) -> float:
    """Return the p-value of the test of a target between categories."""
    if len(np.unique(codes)) == len(codes):
        return 1.0
    return _p_value(*y.between(codes))


def highest_category(codes: IntArray, y: Response) -> int:
    """Return the code of the category with the largest mean of a target."""
    sizes = np.bincount(codes)
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


def interaction_p_value(
    first: IntArray, other: IntArray, targets: Sequence[Response], nominal: Sequence[bool]
) -> float:
    """Return the p-value of the interaction of two features on a target: the largest of three.

    Both are put into at most three groups: intervals of about as many rows, or the two largest
    categories and the rest. The tests are the F-test of a mean for each cell against the additive
    model, which assumes the same variance in all cells, and for each feature the test of the target
    between its groups within the groups of the other, which does not. Of several targets, such as
    indicators of classes, the smallest p-value counts, times their number.
    """
    a, b = (
        _largest(codes) if is_nominal else _intervals(codes, _CELLS)
        for codes, is_nominal in zip((first, other), nominal, strict=True)
    )
    distinct = targets[1:] if len(targets) == 2 else targets  # of two indicators one will do
    p_values = [
        max(_cells_p_value(a, b, y.numbers), _within_p_value(a, b, y), _within_p_value(b, a, y))
        for y in distinct
    ]
    return min(1.0, min(p_values) * len(distinct))


def _cells_p_value(a: IntArray, b: IntArray, y: FloatArray) -> float:
    """Return the p-value of the F-test of cell means against the additive model."""
    cells = np.unique(a * _CELLS + b, return_inverse=True)[1]
    additive = np.hstack([_indicators(a), _indicators(b)])
    n, n_cells = len(a), int(cells.max()) + 1
    rank = int(np.linalg.matrix_rank(additive))
    if n_cells <= rank or n <= n_cells:
        return 1.0
    from scipy.special import fdtrc

    basis = np.linalg.svd(additive, full_matrices=False)[0][:, :rank]
    means = np.bincount(cells, y) / np.bincount(cells)
    within = float(np.square(y - means[cells]).sum())
    outside = y - basis @ (basis.T @ y)
    gain = max(0.0, float(outside @ outside) - within)
    if within <= 1e-12 * gain:  # cells determine the target
        return 0.0 if gain > 0 else 1.0
    ratio = (gain / (n_cells - rank)) / (within / (n - n_cells))
    return float(fdtrc(n_cells - rank, n - n_cells, ratio))


def _within_p_value(groups: IntArray, strata: IntArray, y: Response) -> float:
    """Return the p-value of the test of a target between groups, summed over strata."""
    parts = [strata == stratum for stratum in np.unique(strata)]
    statistics = [y.take(here).between(groups[here]) for here in parts]
    return _p_value(
        sum(statistic for statistic, _ in statistics), sum(degrees for _, degrees in statistics)
    )


def _intervals(codes: IntArray, at_most: int) -> IntArray:
    """Return intervals of about as many rows each: those of equal values stay together."""
    distinct, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(distinct) <= at_most:
        return np.asarray(place, dtype=np.int64)
    middle = np.cumsum(sizes) - sizes / 2
    group: IntArray = (middle * at_most / len(codes)).astype(np.int64)
    return group[place]


def _largest(codes: IntArray) -> IntArray:
    """Return 0 and 1 for the two largest categories, 2 for the rest."""
    levels, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    ranks = np.empty(len(levels), dtype=np.int64)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(len(levels))
    return np.asarray(np.minimum(ranks, _CELLS - 1)[place], dtype=np.int64)


def _indicators(groups: IntArray) -> NDArray[Any]:
    return np.asarray(groups[:, None] == np.unique(groups)[None], dtype=np.float64)
