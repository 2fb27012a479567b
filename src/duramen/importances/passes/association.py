"""Tests of association between the columns of a table, pair by pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable
from duramen.data.memory import require_memory
from duramen.support.arrays import FloatArray, of_unit_size


def association_p_values(table: EncodedTable) -> FloatArray:
    r"""P-values of the independence of every pair of columns, of shape (p, p).

    The permutation test of Strasser and Weber (1999) in its quadratic form, by its asymptotic
    distribution: with columns as scores (numbers, ranks of ordinal values, indicators of
    categories) the statistic is (n - 1) times

    * r^2, one degree of freedom, for two columns of scores;
    * R^2 of the scores on the categories, m - 1 degrees of freedom, for scores and m categories;
    * Pearson's chi-square / n, (m - 1)(m' - 1) degrees of freedom, for two columns of categories.

    A row where either is missing is left out. The p-value is 1 where a column is constant on the
    rows left, and 0 on the diagonal.
    """
    p = table.n_columns
    require_memory(
        16 * p * p,
        what=f"tests of {p} x {p} pairs of columns",
        function="conditional_mda",
        hint='use association="permimp", which tests the columns of a tree alone',
    )
    result = np.ones((p, p))
    plain = [j for j in range(p) if table.kinds[j] != "nominal" and not table.missing[j]]
    if plain:
        result[np.ix_(plain, plain)] = _by_correlation(table, plain)
    rest = set(range(p)) - set(plain)
    for j in rest:
        for k in range(p):
            if k not in rest or k > j:
                result[j, k] = result[k, j] = _pair(table, j, k)
    np.fill_diagonal(result, 0.0)
    return result


def _scores(table: EncodedTable, j: int) -> FloatArray:
    codes = table.codes(j).astype(np.int64)
    if table.kinds[j] == "numeric":
        values = np.append(of_unit_size(table.values(j).astype(np.float64)), np.nan)
        numbers: FloatArray = values[codes]
        return numbers
    return codes.astype(np.float64)


def _centered(scores: FloatArray) -> FloatArray:
    """Return scores less their mean along the last axis, exactly 0 where all are the same."""
    steps = scores - scores[..., :1]
    centered: FloatArray = steps - steps.mean(axis=-1, keepdims=True)
    return centered


def _by_correlation(table: EncodedTable, columns: list[int]) -> FloatArray:
    from scipy.special import erfc

    scores = _centered(np.array([_scores(table, j) for j in columns]))
    size = np.sqrt((scores**2).sum(axis=1, keepdims=True))
    scores = np.divide(scores, size, out=np.zeros_like(scores), where=size > 0)
    tails: FloatArray = scores @ scores.T
    # P(chi-square > x) = erfc(sqrt(x / 2)) for one degree of freedom.
    np.abs(tails, out=tails)
    tails *= np.sqrt((table.n_rows - 1) / 2)
    return erfc(tails, out=tails)


def _pair(table: EncodedTable, j: int, k: int) -> float:
    from scipy.special import chdtrc

    complete = np.ones(table.n_rows, dtype=np.bool_)
    for column in (j, k):
        if table.missing[column]:
            complete &= table.codes(column) != len(table.values(column))
    n = int(complete.sum())
    if n < 2:
        return 1.0
    nominal = [table.kinds[column] == "nominal" for column in (j, k)]
    if all(nominal):
        share, freedom = _contingency(table.codes(j)[complete], table.codes(k)[complete])
    elif any(nominal):
        category, score = (j, k) if nominal[0] else (k, j)
        share, freedom = _explained(
            _scores(table, score)[complete], table.codes(category)[complete]
        )
    else:
        a, b = (_centered(_scores(table, column)[complete]) for column in (j, k))
        spread = float((a @ a) * (b @ b))
        share, freedom = (float(a @ b) ** 2 / spread if spread > 0 else 0.0), 1
    return float(chdtrc(freedom, (n - 1) * share)) if freedom > 0 else 1.0


def _contingency(a: NDArray[np.integer], b: NDArray[np.integer]) -> tuple[float, int]:
    _, first = np.unique(a, return_inverse=True)
    _, second = np.unique(b, return_inverse=True)
    counts = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(counts, (first, second), 1.0)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / len(a)
    share = float(((counts - expected) ** 2 / expected).sum()) / len(a)
    return share, (counts.shape[0] - 1) * (counts.shape[1] - 1)


def _explained(scores: FloatArray, categories: NDArray[np.integer]) -> tuple[float, int]:
    _, group = np.unique(categories, return_inverse=True)
    centered = _centered(scores)
    total = float(centered @ centered)
    if total == 0.0:
        return 0.0, 0
    sums = np.bincount(group, weights=centered)
    return float((sums**2 / np.bincount(group)).sum()) / total, len(sums) - 1
