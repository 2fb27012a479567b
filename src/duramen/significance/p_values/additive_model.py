"""Additive models of steps of single columns, and the indicators that they are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.data import EncodedTable
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_FIT_CUTS = 15  # of a column in use
_JOINING = 50  # columns that join those in use at a time
_STEP = 0.3  # fraction of a least-squares step
_MOST_STEPS = 2000
_LARGEST_LOGIT = 15.0


@dataclass(frozen=True, eq=False)
class Indicators:
    """Indicators of rows above quantiles of a column, or with a label, by column.

    Attributes
    ----------
    values : bool array of shape (n, q)
    first : int64 array of shape (p + 1,)
        Where the indicators of each column begin.
    """

    values: BoolArray
    first: IntArray

    @classmethod
    def of(cls, table: EncodedTable, columns: IntArray, n_cuts: int) -> Indicators:
        """Return the indicators of some columns of a table, at most `n_cuts` each.

        A column with an order has those of its values above quantiles at equal distances, missing
        values above all others; a nominal column has those of its most frequent labels.
        """
        n = len(table)
        values, first = [], [0]
        for j in columns.tolist():
            codes = np.asarray(table.codes(j))
            if table.kinds[j] == "nominal":
                counts = np.bincount(codes)
                chosen = np.argsort(-counts, kind="stable")[: n_cuts if len(counts) > 2 else 1]
                own = [codes == label for label in np.sort(chosen)]
            else:
                ordered = np.sort(codes)
                ranks = np.arange(1, n_cuts + 1) * n // (n_cuts + 1)
                # The cut below the value at the quantile, where most rows have the least value.
                cuts = np.where(ordered[ranks] == ordered[-1], ordered[ranks] - 1.0, ordered[ranks])
                own = [codes > cut for cut in np.unique(cuts)]
            values += [column for column in own if column.any() and not column.all()]
            first.append(len(values))
        stacked = np.array(values, dtype=np.bool_).reshape(len(values), n).T
        return cls(np.asfortranarray(stacked), np.array(first, dtype=np.int64))

    def columns(self) -> IntArray:
        """Return the column of each indicator, shape (q,)."""
        counts = np.diff(self.first)
        return np.repeat(np.arange(len(counts)), counts).astype(np.int64)


def residuals(table: EncodedTable, outcome: FloatArray, indicators: Indicators) -> FloatArray:
    """Return the residuals of an outcome from an additive model of steps of single columns.

    The model is fitted by boosting: in each step, the indicator of the largest score statistic is
    added with a fraction of its least-squares coefficient, until no statistic exceeds what the
    largest of as many independent ones does by chance, sqrt(2 log q). It is logistic where the
    outcome is 0 or 1. Columns take part once one of their `indicators` exceeds that.
    """
    logistic = bool(np.isin(outcome, (0.0, 1.0)).all())
    columns, limit = indicators.columns(), np.sqrt(2.0 * np.log(max(indicators.first[-1], 2)))
    every = _Standardized(indicators.values)
    fit = _Fit(outcome, logistic, limit)
    in_use = np.empty(0, dtype=np.int64)
    while True:
        size = np.abs(every.statistics(fit.residual))
        size[np.isin(columns, in_use)] = 0.0
        order = np.argsort(-size, kind="stable")
        joining = list(dict.fromkeys(columns[order[size[order] > limit]].tolist()))[:_JOINING]
        if not joining:
            return fit.residual
        in_use = np.sort(np.r_[in_use, np.array(joining, dtype=np.int64)])
        if not fit.boost(_Standardized(Indicators.of(table, in_use, _FIT_CUTS).values)):
            return fit.residual


class _Standardized:
    """Indicators of mean 0 and variance 1, without a copy of them in this form."""

    def __init__(self, values: BoolArray) -> None:
        self._values = values.astype(np.float32, order="F")
        self._mean = values.mean(axis=0)
        self._spread = np.sqrt(self._mean * (1.0 - self._mean))

    def statistics(self, residual: FloatArray) -> FloatArray:
        """Return the score statistics of all indicators."""
        size = np.sqrt((residual**2).sum())
        if size == 0.0:
            return np.zeros(len(self._mean))
        centered = residual - residual.mean()
        products = self._values.T @ (centered / size).astype(np.float32)
        return np.asarray(products / self._spread, dtype=np.float64)

    def column(self, k: int) -> FloatArray:
        """Return one of them."""
        return np.asarray((self._values[:, k] - self._mean[k]) / self._spread[k])


class _Fit:
    """Model as far as it is fitted."""

    def __init__(self, outcome: FloatArray, logistic: bool, limit: float) -> None:
        self._outcome, self._logistic, self._limit = outcome, logistic, limit
        mean = float(outcome.mean())
        self._linear = np.full(len(outcome), np.log(mean / (1.0 - mean)) if logistic else mean)
        self._steps = 0

    def _means(self) -> FloatArray:
        from scipy.special import expit

        return np.asarray(expit(self._linear)) if self._logistic else self._linear

    @property
    def residual(self) -> FloatArray:
        """Outcome less its fitted mean."""
        return np.asarray(self._outcome - self._means())

    def boost(self, indicators: _Standardized) -> bool:
        """Add steps until no statistic exceeds the limit; tell whether that came to be."""
        least = 1e-12 * np.abs(self._outcome).max()
        while self._steps < _MOST_STEPS:
            means = self._means()
            residual = self._outcome - means
            statistics = indicators.statistics(residual)
            k = int(np.argmax(np.abs(statistics)))
            if np.abs(statistics[k]) <= self._limit or np.abs(residual).max() <= least:
                return True
            column = indicators.column(k)
            weights = means * (1.0 - means) if self._logistic else np.ones(len(means))
            self._linear += _STEP * (column @ residual) / (weights @ column**2) * column
            if self._logistic:
                np.clip(self._linear, -_LARGEST_LOGIT, _LARGEST_LOGIT, out=self._linear)
                means = self._means()
                self._linear += (self._outcome - means).sum() / (means * (1.0 - means)).sum()
            self._steps += 1
        return False
