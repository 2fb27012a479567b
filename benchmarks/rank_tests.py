"""Marginal rank tests of single features, by the kinds of column and target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks.default_test import LEVEL, Bool, Problem

Float = NDArray[np.float64]


def p_values(problem: Problem) -> Float:
    """P-value of each feature: Mann-Whitney, Kruskal-Wallis, Spearman or chi-square.

    Survival is tested by the ranks of the martingale residuals. Rows where a feature is missing
    are left out of its test.
    """
    y = as_classes_or_numbers(problem)
    table = pd.DataFrame(problem.X)
    return np.array([p_value(table.iloc[:, j], y) for j in range(table.shape[1])])


def as_classes_or_numbers(problem: Problem) -> NDArray[Any]:
    return martingale_residuals(problem.y) if problem.task == "survival" else problem.y


def p_value(column: Any, y: NDArray[Any]) -> float:
    """P-value of one feature; 1 where it or the target is constant."""
    present = column.notna().to_numpy()
    values, target = column[present], y[present]
    nominal, classes = not pd.api.types.is_numeric_dtype(values), target.dtype.kind != "f"
    if values.nunique() < 2 or len(np.unique(target)) < 2:
        return 1.0
    if nominal and classes:
        return float(stats.chi2_contingency(pd.crosstab(values, target)).pvalue)
    if classes:
        return of_groups(values.to_numpy(), target)
    if nominal:
        return of_groups(target, values.to_numpy())
    return float(stats.spearmanr(values, target).pvalue)


def of_groups(values: Float, groups: NDArray[Any]) -> float:
    """P-value of numbers in two groups or more."""
    parts = [values[groups == group] for group in np.unique(groups)]
    if len(parts) == 2:
        return float(stats.mannwhitneyu(*parts).pvalue)
    return float(stats.kruskal(*parts).pvalue)


def martingale_residuals(y: NDArray[Any]) -> Float:
    """Event minus the cumulative hazard of all rows at its time (Nelson and Aalen)."""
    time, event = y["time"], y["event"].astype(np.float64)
    times = np.unique(time)
    events = np.array([event[time == t].sum() for t in times])
    at_risk = np.array([np.count_nonzero(time >= t) for t in times])
    return event - np.cumsum(events / at_risk)[np.searchsorted(times, time)]


def selected(p: Float, method: str) -> Bool:
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
