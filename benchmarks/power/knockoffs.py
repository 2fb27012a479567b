"""Knockoff+ with the lasso and second-order Gaussian knockoffs (Candes et al. 2018)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg

from benchmarks.designs.problem import Bool, Problem
from benchmarks.power.rank_tests import as_classes_or_numbers
from duramen.support.arrays import FloatArray


def statistics(problem: Problem, random: np.random.Generator) -> FloatArray:
    """Return absolute lasso coefficients of each feature less those of its knockoff.

    Levels of text become columns of 0 and 1, each class a response of its own, and survival the
    martingale residuals; the statistic of a feature is the sum over its columns and all responses.
    The penalty is chosen by cross-validation (5 folds), with the knockoffs among the columns.
    """
    from sklearn.linear_model import LassoCV

    X, feature = columns(problem)
    both = np.hstack([X, knockoffs(X, random)])
    size = np.zeros(both.shape[1])
    for response in responses(problem).T:
        size += np.abs(LassoCV(cv=5, n_jobs=1, random_state=0).fit(both, response).coef_)
    difference = size[: X.shape[1]] - size[X.shape[1] :]
    return np.bincount(feature, difference, minlength=len(problem.relevant))


def columns(problem: Problem) -> tuple[FloatArray, NDArray[np.int64]]:
    """Standardized columns without missing values, and the feature that each belongs to."""
    table, parts = pd.DataFrame(problem.X), []
    for j in range(table.shape[1]):
        column = table.iloc[:, j]
        if pd.api.types.is_numeric_dtype(column):
            part = column.fillna(column.median()).to_numpy(np.float64)[:, np.newaxis]
        else:
            part = pd.get_dummies(column).to_numpy(np.float64)[:, 1:]
        parts.append(part[:, part.std(axis=0) > 0])
    X = np.hstack(parts)
    feature = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    return (X - X.mean(axis=0)) / X.std(axis=0), feature


def responses(problem: Problem) -> FloatArray:
    """Standardized targets of the lasso, one a column."""
    y = as_classes_or_numbers(problem)
    if y.dtype.kind == "f":
        Y = y[:, np.newaxis]
    else:
        names, codes = np.unique(y, return_inverse=True)
        Y = np.eye(len(names))[codes]
        Y = Y[:, 1:] if len(names) == 2 else Y
    return (Y - Y.mean(axis=0)) / Y.std(axis=0)


def knockoffs(X: FloatArray, random: np.random.Generator) -> FloatArray:
    """Equicorrelated Gaussian knockoffs of standardized columns (Ledoit and Wolf's covariance).

    With correlation matrix R and s = min(1, 2 lambda_min(R)), row by row normal with mean
    x (I - s R^-1) and covariance 2 s I - s^2 R^-1.
    """
    from sklearn.covariance import ledoit_wolf

    covariance = ledoit_wolf(X)[0]
    scale = np.sqrt(np.diag(covariance))
    inverse = linalg.inv(covariance / np.outer(scale, scale))
    smallest = 1 / float(linalg.eigvalsh(inverse)[-1])
    s = min(1.0, 2 * smallest) * (1 - 1e-6)
    p = X.shape[1]
    factor = linalg.cholesky(2 * s * np.eye(p) - s * s * inverse, lower=True)
    Z = X / scale
    return (Z - s * Z @ inverse + random.normal(size=X.shape) @ factor.T) * scale


def selected(W: FloatArray, q: float) -> Bool:
    """Features that knockoff+ takes at a false discovery rate of q."""
    for t in np.sort(np.abs(W[W != 0])):
        if (1 + np.count_nonzero(-t >= W)) <= q * max(1, np.count_nonzero(t <= W)):
            return np.asarray(t <= W)
    return np.zeros(len(W), dtype=np.bool_)
