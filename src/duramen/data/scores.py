"""Scores of rows: how probable a label is given the columns of a table; and rows of like scores."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.support.arrays import FloatArray, IntArray, of_unit_size


def design(table: EncodedTable) -> FloatArray:
    """Return numeric columns standardized, and an indicator of each value of the others."""
    columns = []
    for j in range(table.n_columns):
        codes, values = np.asarray(table.codes(j)), table.values(j)
        if table.kinds[j] != "numeric":
            columns += [(codes == k).astype(np.float64) for k in np.unique(codes)]
            continue
        missing = codes >= len(values)
        numbers = np.append(of_unit_size(np.asarray(values, dtype=np.float64)), 0.0)[codes]
        present = numbers[~missing]
        if present.size and present.std() > 0:
            columns.append(np.where(missing, 0.0, (numbers - present.mean()) / present.std()))
        if missing.any():
            columns.append(missing.astype(np.float64))
    return np.column_stack(columns) if columns else np.zeros((table.n_rows, 1))


def log_odds(columns: FloatArray, labels: NDArray[np.integer]) -> FloatArray:
    """Return log-probabilities of all labels but the first less that of the first.

    They are those of a logistic regression with a ridge penalty; shape (n, C - 1).
    """
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: a score that is near enough will do
        model = LogisticRegression(max_iter=200).fit(columns, labels)
    logs = model.predict_log_proba(columns)
    return np.asarray(np.maximum(logs[:, 1:], -30.0) - np.maximum(logs[:, :1], -30.0))


def midranks(counts: NDArray[np.integer]) -> FloatArray:
    """Return twice the centered midrank of each value, from the numbers of rows that have it."""
    before = np.cumsum(counts) - counts
    return np.asarray((2.0 * before + counts) - counts.sum())


def centered_within(scores: FloatArray, strata: IntArray | None) -> FloatArray:
    """Return scores of shape (n, q) less their mean in each stratum, or in all rows."""
    if not scores.size:
        return scores
    if strata is None:
        return np.asarray(scores - scores.mean(axis=0))
    sums = np.stack([np.bincount(strata, column) for column in scores.T], axis=1)
    return scores - (sums / np.maximum(np.bincount(strata), 1)[:, None])[strata]


def adjusted_means(codes: IntArray, numbers: FloatArray, strata: IntArray) -> FloatArray:
    """Return least-squares means of numbers, of shape (n, q), for each code, adjusted for strata.

    The model is additive in codes and strata: differences between codes are those within strata.
    The mean over the rows is that of the numbers. Of a single stratum they are the plain means of
    the codes that occur.
    """
    indicators = (codes[:, None] == np.arange(int(codes.max()) + 1)).astype(np.float64)
    within = centered_within(indicators, strata)
    effects = np.linalg.pinv(within.T @ within, rcond=1e-9, hermitian=True) @ (within.T @ numbers)
    return np.asarray(effects + (numbers - indicators @ effects).mean(axis=0))


def cut(scores: FloatArray, rows: IntArray, n_strata: int, first: int, strata: IntArray) -> None:
    """Number strata from `first` on among some rows: cut them in two at a quantile, and again."""
    if n_strata == 1 or len(rows) < 2:
        strata[rows] = first
        return
    widest = int(scores[rows].std(axis=0).argmax())
    left = (n_strata + 1) // 2
    order = rows[np.argsort(scores[rows, widest], kind="stable")]
    at = len(rows) * left // n_strata
    cut(scores, order[:at], left, first, strata)
    cut(scores, order[at:], n_strata - left, first + left, strata)
