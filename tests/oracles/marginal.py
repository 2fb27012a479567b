"""Marginal rank statistics by their definition. Nothing from duramen is used."""

import math

import numpy as np


def midranks(values):
    """Centered midranks of the values, twice as large; 0 where a value is missing (None, NaN)."""
    present = [v for v in values if not _missing(v)]
    return [0.0 if _missing(v) else sum(int(u < v) - int(u > v) for u in present) for v in values]


def column_scores(values, kind):
    """Scores of a column, one row each, and its degrees of freedom."""
    labels = list(dict.fromkeys("missing" if _missing(v) else v for v in values))
    if kind == "nominal" and len(labels) > 2:
        given = ["missing" if _missing(v) else v for v in values]
        return np.array([[float(v == u) for v in given] for u in labels]), len(labels) - 1
    if kind == "nominal":
        given = [labels.index("missing" if _missing(v) else v) for v in values]
        return np.array([midranks(given)]), len(labels) - 1
    present = {v for v in values if not _missing(v)}
    return np.array([midranks(values)]), int(len(present) > 1)


def class_scores(y):
    """Indicator of each class, (n, C)."""
    return np.array([[float(v == u) for u in sorted(set(y))] for v in y])


def residuals(time, event, entry=None):
    """Martingale residuals: event less the sum of d / r over the event times while at risk."""
    result, entry = [], [-1.0] * len(time) if entry is None else entry
    for own, happened, begin in zip(time, event, entry, strict=True):
        hazard = 0.0
        for t in sorted(set(time)):
            if begin < t <= own:
                died = sum(e for u, e in zip(time, event, strict=True) if u == t)
                hazard += died / sum(b < t <= u for u, b in zip(time, entry, strict=True))
        result.append(float(happened) - hazard)
    return np.array(result)[:, None]


def chi_squared(x, h):
    """Statistic of scores x, (k, n), of a column and h, (n, q), of the target."""
    off = h - h.mean(axis=0)
    inverse = np.linalg.pinv(off.T @ off, rcond=1e-10, hermitian=True)
    total = 0.0
    for row in x:
        linear = row @ off
        total += linear @ inverse @ linear / (row @ row)
    return (len(h) - 1) * total, np.linalg.matrix_rank(off.T @ off, tol=1e-9 * len(h))


def normal_score(statistic, freedom):
    """Wilson and Hilferty's normal score of a chi-squared statistic."""
    part = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - part)) / math.sqrt(part)


def from_normal_score(score, freedom):
    """Chi-squared statistic of a normal score."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + score * math.sqrt(part)) ** 3


def _missing(value):
    return value is None or value != value
