r"""Marginal rank statistics of all features under permutations of the target.

The statistic of a feature is linear in scores of its values and of the target (Strasser and Weber
1999; Hothorn et al. 2006). With x the centered midranks of a numeric or ordinal feature, or one
indicator for each value of a nominal one, and h the scores of the target (indicators of classes,
ranks of numbers, martingale residuals of survival, times the row weights),

.. math:: T = \sum_i x_i h_i^\top, \qquad
          Q = (n - 1) \sum_l \frac{T_l V^- T_l^\top}{\sum_i x_{il}^2}, \qquad
          V = \sum_i (h_i - \bar h)(h_i - \bar h)^\top.

Q has about a chi-squared distribution under permutations of h. It is the square of Spearman's
correlation, or of the Mann-Whitney statistic, the Kruskal-Wallis statistic, Pearson's chi-squared
statistic of a table, or the score test of Cox's model, each times a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from duramen.data import EncodedTable
from duramen.data.scores import centered_within, midranks
from duramen.significance.measured import Data
from duramen.support.arrays import FloatArray, IntArray

_NUMBERS = 1 << 19  # numbers of an array at a time, 4 MB
_EXACT = 52  # bits up to which sums of whole numbers are exact in float64
_DECIMALS = 9


def marginal_statistics(data: Data, order: Callable[[int], IntArray], n_orders: int) -> FloatArray:
    """Compute the marginal rank statistic of every feature after each permutation of the target.

    Scores are whole numbers whose sums are exact, so that results do not depend on the order in
    which a library adds them.

    Parameters
    ----------
    data : LearningSet
        n rows of p columns, target and row weights.
    order : callable
        ``order(b)`` returns the row whose target and weight each row takes, shape (n,).
    n_orders : int
        Number of permutations.

    Returns
    -------
    float64 array of shape (n_orders, p)
        Normal scores of the statistics: chi-squared values by Wilson and Hilferty's cube root. A
        feature that does not vary has 0.
    """
    response = _Response.of(data)
    n, q = response.scores.shape
    statistics = np.zeros((n_orders, data.n_columns))
    at_a_time = max(1, _NUMBERS // (n * q))
    for first in range(0, n_orders, at_a_time):
        numbers = range(first, min(n_orders, first + at_a_time))
        permuted = np.concatenate([response.scores[order(b)] for b in numbers], axis=1)
        for columns, features in _blocks(data.table, max(1, _NUMBERS // n)):
            sums = (features.scores @ permuted).reshape(-1, len(numbers), q)
            statistics[numbers.start : numbers.stop, columns] = features.statistics(sums, response)
    return statistics


@dataclass(frozen=True, eq=False)
class _Response:
    """Scores of the target."""

    scores: FloatArray  # (n, q), whole numbers
    mean: FloatArray  # (q,)
    whitening: FloatArray  # (q, r), W with V^- = W W^T

    @classmethod
    def of(cls, data: Data) -> _Response:
        """Return the scores of a target, times row weights, and centered within strata."""
        scores = weighted_scores(data, data.target.association_scores())
        strata = data.exchangeability.strata
        if strata is not None:
            scores = centered_within(scores, strata)
        scores = _whole(scores)
        mean = scores.mean(axis=0)
        sizes, axes = np.linalg.eigh((scores - mean).T @ (scores - mean))
        spanned = sizes > 1e-9 * max(float(sizes[-1]), 1e-300)
        return cls(scores, mean, axes[:, spanned] / np.sqrt(sizes[spanned]))


@dataclass(frozen=True, eq=False)
class _Features:
    """Scores of some features: one row each, or one for each value of a nominal one."""

    scores: FloatArray  # (k, n), whole numbers
    squares: FloatArray  # (k,), sums of squares
    totals: FloatArray  # (k,), sums
    first: IntArray  # row of `scores` at which each feature begins
    freedom: IntArray  # values of each nominal feature less one; 1 of the others

    def statistics(self, sums: FloatArray, response: _Response) -> FloatArray:
        """Return the normal scores, of shape (permutations, features), from sums (k, b, q)."""
        centered = sums - self.totals[:, None, None] * response.mean
        whitened = np.einsum("kbq,qr->kbr", centered, response.whitening)
        scale = (len(response.scores) - 1) / np.maximum(self.squares, 1.0)
        of_row = np.einsum("kbr,kbr->bk", whitened, whitened) * scale
        chi_squared = np.add.reduceat(of_row, self.first, axis=1)
        varies = self.freedom > 0
        degrees = np.maximum(self.freedom, 1) * max(1, response.whitening.shape[1])
        return np.where(varies, np.round(normal_scores(chi_squared, degrees), _DECIMALS), 0.0)


def _blocks(table: EncodedTable, rows: int) -> Iterator[tuple[slice, _Features]]:
    """Yield consecutive columns, and their scores, about `rows` rows of scores at a time."""
    first, n_rows, scores, freedom = 0, 0, list[FloatArray](), list[int]()
    for j in range(table.n_columns):
        of_column, degrees = _scores_of(table, j)
        scores.append(of_column)
        freedom.append(degrees)
        n_rows += len(of_column)
        if n_rows >= rows or j + 1 == table.n_columns:
            yield slice(first, j + 1), _together(scores, freedom)
            first, n_rows, scores, freedom = j + 1, 0, [], []


def _together(scores: list[FloatArray], freedom: list[int]) -> _Features:
    """Stack the scores of features."""
    stacked = np.concatenate(scores)
    sizes = np.array([len(of_feature) for of_feature in scores])
    return _Features(
        stacked,
        np.einsum("kn,kn->k", stacked, stacked),
        stacked.sum(axis=1),
        np.cumsum(sizes) - sizes,
        np.array(freedom, dtype=np.int64),
    )


def _scores_of(table: EncodedTable, column: int) -> tuple[FloatArray, int]:
    """Return the scores of a column, and its degrees of freedom, 0 if it does not vary.

    Missing values are a value of a nominal column; in others they have the score 0.
    """
    codes, n_values = np.asarray(table.codes(column)), len(table.values(column))
    counts = np.bincount(codes, minlength=n_values + 1)
    nominal = table.kinds[column] == "nominal"
    present = np.flatnonzero(counts if nominal else counts[:n_values])
    if nominal and len(present) > 2:
        return (codes == present[:, None]).astype(np.float64), len(present) - 1
    if nominal:
        ranks = np.zeros(n_values + 1)
        ranks[present] = midranks(counts[present])
    else:
        ranks = np.append(midranks(counts[:n_values]), 0.0)
    return _whole(ranks[codes])[None, :], int(len(present) > 1)


def normal_scores(chi_squared: FloatArray, degrees: IntArray | int) -> FloatArray:
    """Return Wilson and Hilferty's normal scores of chi-squared values."""
    spread = 2.0 / (9.0 * degrees)
    scores: FloatArray = (np.cbrt(chi_squared / degrees) - (1.0 - spread)) / np.sqrt(spread)
    return scores


def weighted_scores(data: Data, scores: FloatArray) -> FloatArray:
    """Return the scores of a target, less their mean and times the row weights if there are any."""
    if data.weights is None:
        return scores
    centered: FloatArray = scores - np.average(scores, axis=0, weights=data.weights)
    return data.weights[:, None] * centered


def _whole(scores: FloatArray) -> FloatArray:
    """Return scores times a constant, rounded to whole numbers whose sums of products are exact."""
    most = 2.0 ** ((_EXACT - len(scores).bit_length()) // 2)
    largest = float(np.abs(scores).max(initial=0.0))
    if largest == 0.0 or (largest <= most and not np.any(scores % 1)):
        return scores
    return np.rint(scores * (most / largest))
