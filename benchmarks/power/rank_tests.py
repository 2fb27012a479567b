"""Marginal rank tests of single features, by the kinds of column and target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from scipy import stats

from benchmarks.defaults.default_test import LEVEL
from benchmarks.designs.problem import Bool, Problem
from duramen.support.arrays import FloatArray


def p_values(problem: Problem) -> FloatArray:
    """P-value of each feature: Mann-Whitney, Kruskal-Wallis, Spearman or chi-square.

    Survival is tested by the ranks of the martingale residuals. Rows where a feature is missing
    are left out of its test; a constant feature has a p-value of 1.
    """
    y, table = as_classes_or_numbers(problem), pd.DataFrame(problem.X)
    p = np.ones(table.shape[1])
    varied = table.nunique().to_numpy() > 1
    complete = [is_numeric_dtype(x) and not x.isna().any() for _, x in table.items()]
    together = varied & np.array(complete)
    if together.any():  # in one call, as most tables have numbers without missing values alone
        p[together] = of_numbers(table.loc[:, together].to_numpy(np.float64), y)
    for j in np.flatnonzero(varied & ~together):
        present = table.iloc[:, j].notna().to_numpy()
        p[j] = of_column(table.iloc[:, j][present], y[present])
    return p


def as_classes_or_numbers(problem: Problem) -> NDArray[Any]:
    return martingale_residuals(problem.y) if problem.task == "survival" else problem.y


def of_numbers(X: FloatArray, y: NDArray[Any]) -> FloatArray:
    """P-values of columns of numbers."""
    if y.dtype.kind == "f":
        ranks = stats.rankdata(X, axis=0)
        return stats.pearsonr(ranks, stats.rankdata(y)[:, np.newaxis], axis=0).pvalue
    groups = [X[y == name] for name in np.unique(y)]
    test = stats.mannwhitneyu if len(groups) == 2 else stats.kruskal
    return np.atleast_1d(test(*groups, axis=0).pvalue)


def of_column(column: Any, y: NDArray[Any]) -> float:
    """P-value of one column of numbers or of text."""
    if is_numeric_dtype(column):
        return float(of_numbers(column.to_numpy(np.float64)[:, np.newaxis], y)[0])
    if y.dtype.kind == "f":
        return float(of_numbers(y[:, np.newaxis], column.to_numpy())[0])
    return float(stats.chi2_contingency(pd.crosstab(column, y)).pvalue)


def martingale_residuals(y: NDArray[Any]) -> FloatArray:
    """Event minus the cumulative hazard of all rows at its time (Nelson and Aalen)."""
    time, event = y["time"], y["event"].astype(np.float64)
    times = np.unique(time)
    events = np.array([event[time == t].sum() for t in times])
    at_risk = np.array([np.count_nonzero(time >= t) for t in times])
    return event - np.cumsum(events / at_risk)[np.searchsorted(times, time)]


def selected(p: FloatArray, method: str) -> Bool:
    """Features taken at .05 after Benjamini and Hochberg ("bh") or Holm ("holm")."""
    m, order = len(p), np.argsort(p, kind="stable")
    rank = np.arange(1, m + 1)
    below = p[order] <= LEVEL * (rank / m if method == "bh" else 1 / (m + 1 - rank))
    if method == "bh":
        count = int(rank[below].max(initial=0))
    else:
        count = m if below.all() else int(np.argmin(below))
    taken = np.zeros(m, dtype=np.bool_)
    taken[order[:count]] = True
    return taken
