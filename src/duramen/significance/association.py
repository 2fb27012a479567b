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

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from duramen.data import NumberTarget
from duramen.data.strata import centered_within
from duramen.data.target import midranks
from duramen.significance.measured import Data
from duramen.support.arrays import FloatArray, IntArray, of_unit_size

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
    table, strata = data.table, data.exchangeability.strata
    scores = weighted_scores(data, data.target.association_scores())
    scores = _whole(scores if strata is None else centered_within(scores, strata))
    mean, (n, q) = scores.mean(axis=0), scores.shape
    lengths, axes = np.linalg.eigh((scores - mean).T @ (scores - mean))
    spanned = lengths > 1e-9 * max(float(lengths[-1]), 1e-300)
    whitening = axes[:, spanned] / np.sqrt(lengths[spanned])  # W of V^- = W W^T
    statistics = np.zeros((n_orders, data.n_columns))
    at_a_time = max(1, _NUMBERS // (n * q))
    for first in range(0, n_orders, at_a_time):
        last = min(n_orders, first + at_a_time)
        permuted = np.concatenate([scores[order(b)] for b in range(first, last)], axis=1)
        begin, n_parts, parts, freedom = 0, 0, list[FloatArray](), list[int]()
        for j in range(data.n_columns):
            # Missing values are a value of a nominal column; in others they have the score 0.
            codes, n_values = np.asarray(table.codes(j)), len(table.values(j))
            counts = np.bincount(codes, minlength=n_values + 1)
            nominal = table.kinds[j] == "nominal"
            present = np.flatnonzero(counts if nominal else counts[:n_values])
            if nominal and len(present) > 2:
                parts.append((codes == present[:, None]).astype(np.float64))
                freedom.append(len(present) - 1)
            else:
                ranks = np.zeros(n_values + 1)
                ranks[present] = midranks(counts[present])
                parts.append(_whole(ranks[codes])[None, :])
                freedom.append(int(len(present) > 1))
            n_parts += len(parts[-1])
            if n_parts < max(1, _NUMBERS // n) and j + 1 < data.n_columns:
                continue
            sizes = np.array([len(part) for part in parts])
            stacked = np.concatenate(parts)
            sums = (stacked @ permuted).reshape(-1, last - first, q)
            sums = sums - stacked.sum(axis=1)[:, None, None] * mean
            whitened = np.einsum("kbq,qr->kbr", sums, whitening)
            squares = np.maximum(np.einsum("kn,kn->k", stacked, stacked), 1.0)
            of_row = np.einsum("kbr,kbr->bk", whitened, whitened) * ((n - 1) / squares)
            chi_squared = np.add.reduceat(of_row, np.cumsum(sizes) - sizes, axis=1)
            varies = np.array(freedom) > 0
            of_block = normal_scores(
                chi_squared, np.maximum(freedom, 1) * max(1, whitening.shape[1])
            )
            rounded = np.round(of_block, _DECIMALS)
            statistics[first:last, begin : j + 1] = np.where(varies, rounded, 0.0)
            begin, n_parts, parts, freedom = j + 1, 0, [], []
    return statistics


def normal_scores(chi_squared: FloatArray, degrees: IntArray | int) -> FloatArray:
    """Return Wilson and Hilferty's normal scores of chi-squared values."""
    spread = 2.0 / (9.0 * degrees)
    return np.asarray((np.cbrt(chi_squared / degrees) - (1.0 - spread)) / np.sqrt(spread))


def weighted_scores(data: Data, scores: FloatArray) -> FloatArray:
    """Return the scores of a target; with row weights, centered and weighted."""
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


# --- joint linear statistics ----------------------------------------------------------------------
# With Z the standardized columns of the features, h the scores of the target and the penalty
# :math:`\lambda` that minimizes generalized cross-validation (Golub, Heath and Wahba 1979), let
# :math:`P = (Z^\top Z + \lambda I)^{-1}`, :math:`b = P Z^\top h` and :math:`M = I - Z P Z^\top`.
# The statistic of a feature with columns g compares its coefficients with their variance,
#
# .. math:: F_g = \frac{b_g^\top [P Z^\top Z P]_{gg}^{-1} b_g}{\hat\sigma^2_{-g}}, \qquad
#           \hat\sigma^2_{-g} = \frac{\|h - Z_{-g} b^{(-g)}\|^2}{\mathrm{tr}(M^2)},
#
# in which the residuals are those of the model without the feature (:math:`b^{(-g)}` are the
# coefficients of the other columns). For :math:`\lambda = 0` and one column it is :math:`t^2 / (1 +
# t^2 / \nu)`, where t is the statistic of least squares and :math:`\nu` its degrees of freedom. If
# a column is normal and independent of the target and of all other columns, its covariance with the
# residuals is normal given these, whatever their distribution: F then has about the distribution
# that it has for a permuted target, whatever the penalty. (With the usual degrees of freedom, n
# less the trace of :math:`Z P Z^\top`, it is larger than that for a target that Z predicts.)

_ROWS_OF_A_COLUMN = 2  # fewer rows of each column of the regression leave too few to estimate it
_MOST_COLUMNS = 2000  # of the regression: eigenvalues of more take longer than the forests
_MOST_NUMBERS = 1 << 25  # of the regression, 256 MB
_MOST_CLASSES = 2
_PENALTIES = np.logspace(-4.0, 2.0, 13)  # times the mean of the eigenvalues
_CUT = 4.0  # robust standard deviations from the median at which numbers are cut
_QUANTILES = (0.16, 0.5, 0.84)  # of a normal distribution: the mean, one deviation to each side
_SPANNED = 1e-7  # of the largest singular value
_LEAST_VARIANCE = 1e-9  # of residuals, where that of the scores is 1


def joint_statistics(
    data: Data, order: Callable[[int], IntArray], n_orders: int
) -> Callable[[NDArray[np.integer]], FloatArray] | None:
    """Prepare the joint statistics of every feature after each permutation of the target.

    Rows that are exchanged together, in groups, count as one, and strata are columns of the ridge
    regression.

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
    callable or None
        It takes the features, by index, that are permuted together with the target: the others
        explain the residuals of its regression on these. It returns normal scores of the
        statistics, as those of `marginal_statistics`, a float64 array of shape (n_orders, p), in
        which features that do not vary, and the given ones, have 0. None where there are too few
        rows for the columns, or three or more classes: their scores are predicted unequally well,
        which the sum over them does not have under permutation (any false confirmation .30 of 24
        classes).
    """
    if data.target.n_classes > _MOST_CLASSES:
        return None
    table, strata, n = data.table, data.exchangeability.strata, data.n_rows
    n_strata = 1 if strata is None else len(np.unique(strata))
    units = data.exchangeability.n_units - n_strata
    most = min(units // _ROWS_OF_A_COLUMN, _MOST_COLUMNS, _MOST_NUMBERS // max(1, n))
    parts, n_columns = list[FloatArray](), 0
    for j in range(data.n_columns):
        n_values = len(table.values(j))
        about = n_values - 1 if table.kinds[j] == "nominal" else min(1, n_values)
        if n_columns + about > most:
            return None
        # Indicators of the values of a nominal feature, mid-ranks of an ordinal one, and numbers
        # cut where they are far from their median; and an indicator of missing values.
        codes, own = np.asarray(table.codes(j)), list[FloatArray]()
        missing = codes >= n_values
        if table.kinds[j] == "nominal":
            own = [(codes == code).astype(np.float64) for code in np.unique(codes)[1:]]
        elif not missing.all():
            if table.kinds[j] == "numeric":
                values = of_unit_size(np.asarray(table.values(j), dtype=np.float64))
                values = of_unit_size(_cut(values, values[codes[~missing]]))
            else:
                values = midranks(np.bincount(codes[~missing], minlength=n_values))
            mean = values[codes[~missing]].mean()
            own = [np.append(values, mean)[np.where(missing, n_values, codes)]]
            own += [missing.astype(np.float64)] if missing.any() else []
        parts.append(_spanning(np.stack(own, axis=1) if own else np.empty((n, 0)), strata))
        n_columns += parts[-1].shape[1]
    if not 0 < n_columns <= most:
        return None
    all_columns = np.concatenate(parts, axis=1)
    of_feature = np.repeat(np.arange(data.n_columns), [part.shape[1] for part in parts])
    all_products = np.asarray(all_columns.T @ all_columns)
    scores = data.target.association_scores()[:, -1:]  # of two classes, the scores of the second
    if isinstance(data.target, NumberTarget):
        numbers = data.target.values
        if numbers.min() >= 0 and not np.any(numbers % 1):
            # Normal scores of a count that is often 0 are mostly one value, far from others.
            scores = _cut(numbers, numbers)[:, None]
        else:
            from scipy.special import ndtri  # not needed by the help of commands

            scores = ndtri((scores / n + 1.0) / 2.0)
    all_scores = _spanning(weighted_scores(data, scores), strata).sum(axis=1)  # 0 if all are equal

    def statistics(kept: NDArray[np.integer]) -> FloatArray:
        tested = ~np.isin(of_feature, kept)
        scores, columns = all_scores, all_columns[:, tested]
        if not tested.all():
            fixed = all_columns[:, ~tested]
            scores = scores - fixed @ np.linalg.lstsq(fixed, scores, rcond=_SPANNED)[0]
        statistics = np.zeros((n_orders, data.n_columns))
        if not (columns.size and scores.any()):
            return statistics
        products = all_products[np.ix_(tested, tested)]
        sizes, axes = np.linalg.eigh(products)
        spanned = sizes > _SPANNED**2 * len(products) * max(float(sizes[-1]), 0.0)
        sizes, axes = sizes[spanned], axes[:, spanned]
        roots = np.sqrt(sizes)
        penalties = _PENALTIES * sizes.sum() / len(products)
        n_free = n - n_strata
        features, first_of, widths = np.unique(
            of_feature[tested], return_index=True, return_counts=True
        )
        shrunk = sizes / (sizes + penalties[:, None])  # (l, r), of each axis
        lost = 1.0 - (1.0 - shrunk) ** 2
        at_a_time = max(1, _NUMBERS // n)
        for first in range(0, n_orders, at_a_time):
            last = min(n_orders, first + at_a_time)
            permuted = np.stack([scores[order(b)] for b in range(first, last)], axis=1)
            permuted = centered_within(permuted, strata)  # groups of other sizes may be drawn
            rotated = axes.T @ (columns.T @ permuted) / roots[:, None]  # (r, b)
            left = np.square(permuted).sum(axis=0) - lost @ np.square(rotated)
            best = (left / (n_free - shrunk.sum(axis=1))[:, None] ** 2).argmin(axis=0)
            for i in np.unique(best):
                mine = np.flatnonzero(best == i)
                freedom = float(n_free - lost[i].sum())  # tr(M^2)
                variance = (left[i, mine] + _LEAST_VARIANCE * n_free) / freedom
                own = rotated[:, mine] / np.sqrt(variance)
                penalty, weights = penalties[i], 1.0 / (sizes + penalties[i])
                for m in np.unique(widths):  # features with the same number of columns
                    of = axes[first_of[widths == m, None] + np.arange(m)]  # (g, m, r)
                    once, twice = (  # P Z^T h, and P of that
                        ((of * factors).reshape(-1, len(sizes)) @ own).reshape(-1, m, len(mine))
                        for factors in (roots * weights, roots * weights**2)
                    )
                    spread = (of * (sizes * weights**2)) @ of.swapaxes(1, 2)
                    # P is 1 / penalty where the columns have no axes, as they depend on each other.
                    inverse = (of * (weights - 1.0 / penalty)) @ of.swapaxes(1, 2)
                    alone = np.linalg.solve(inverse + np.eye(m) / penalty, once)
                    # The squared residuals of the model without the feature are larger by this.
                    more = (alone * (2.0 * penalty * twice + spread @ alone)).sum(axis=1)
                    ratio = (once * np.linalg.solve(spread, once)).sum(axis=1)
                    scored = normal_scores(ratio * (freedom / (freedom + more)), m).T
                    statistics[np.ix_(first + mine, features[widths == m])] = scored
        return np.round(statistics, _DECIMALS, out=statistics)

    return statistics


def _cut(values: FloatArray, rows: FloatArray) -> FloatArray:
    """Cut values a few robust standard deviations from the median of the rows."""
    low, middle, high = np.quantile(rows, _QUANTILES)
    spread = (high - low) / 2 or rows.std()
    return np.asarray(np.clip(values, middle - _CUT * spread, middle + _CUT * spread))


def _spanning(columns: FloatArray, strata: IntArray | None) -> FloatArray:
    """Return uncorrelated columns of unit variance that span these, centered in strata, (n, m)."""
    columns = columns[:, np.ptp(columns, axis=0) > 0]
    if not columns.size:
        return columns
    centered, columns = columns.std(axis=0), centered_within(columns, strata)
    spread = np.sqrt(np.square(columns).sum(axis=0))
    varies = spread > _SPANNED * np.sqrt(len(columns)) * centered
    columns = columns[:, varies] / spread[varies]
    if columns.shape[1] > 1:
        left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        columns = left[:, sizes > _SPANNED * sizes[0]]
    return np.asarray(columns * np.sqrt(len(columns)))
