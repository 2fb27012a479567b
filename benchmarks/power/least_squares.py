"""Least-squares tests of each feature beside all others."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import stats

from benchmarks.designs.problem import Problem
from benchmarks.power.rank_tests import as_classes_or_numbers
from duramen.support.arrays import FloatArray


def p_values(problem: Problem) -> FloatArray:
    """P-value of the F test of each feature's columns in a linear model of all features.

    Columns are numbers, with their mean for missing ones, or indicators of categories. Of several
    classes, each is explained by itself, and a feature has the smallest p-value times their number.
    All are 1 where there are no more rows than columns.
    """
    table, y = pd.DataFrame(problem.X), as_classes_or_numbers(problem)
    columns = [
        x.fillna(x.mean()).to_numpy(np.float64)[:, None]
        if is_numeric_dtype(x)
        else pd.get_dummies(x, drop_first=True).to_numpy(np.float64)
        for _, x in table.items()
    ]
    design = np.column_stack([np.ones(len(y)), *columns])
    n, d = design.shape
    if n <= d + 1:
        return np.ones(len(columns))
    numbers = [y] if y.dtype.kind == "f" else [y == name for name in np.unique(y)]
    targets = np.stack(numbers[1:] if len(numbers) == 2 else numbers, axis=1).astype(np.float64)
    inverse = np.linalg.pinv(design.T @ design)
    b = inverse @ design.T @ targets
    variance = ((targets - design @ b) ** 2).sum(axis=0) / (n - d)
    p, first = np.ones(len(columns)), 1
    for j, x in enumerate(columns):
        own = slice(first, first + x.shape[1])
        first = own.stop
        if not x.shape[1]:
            continue
        explained = (b[own] * np.linalg.lstsq(inverse[own, own], b[own], rcond=None)[0]).sum(axis=0)
        of_each = stats.f.sf(explained / x.shape[1] / variance, x.shape[1], n - d)
        p[j] = min(1.0, targets.shape[1] * of_each.min())
    return p
