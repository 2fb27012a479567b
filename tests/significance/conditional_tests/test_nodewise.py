"""Residuals of all features given all others against regressions one by one."""

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.significance.conditional_tests.nodewise import Nodewise, Scores, _left


def table(n, p, seed=0, levels=None):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n, 1)) + random.normal(size=(n, p))).add_prefix("x")
    if levels:
        frame["level"] = [f"v{k}" for k in random.integers(0, levels, n)]
    return dm.encode(frame)


def left_out(Z, j, others, penalty, groups=None):
    """Residuals of ridge regressions without the row, or its group, the mean taken off first."""
    n = len(Z)
    groups = np.arange(n) if groups is None else groups
    residuals = np.empty((n, len(j)))
    for i in range(n):
        rows = np.flatnonzero(groups != groups[i])
        A, b = Z[np.ix_(rows, others)], Z[np.ix_(rows, j)]
        center, target = A.mean(axis=0), b.mean(axis=0)
        gram = (A - center).T @ (A - center) + n * penalty * np.eye(len(others))
        coefficients = np.linalg.solve(gram, (A - center).T @ (b - target))
        residuals[i] = Z[i, j] - target - (Z[i, others] - center) @ coefficients
    return residuals


@pytest.mark.parametrize(("n", "p"), [(40, 5), (30, 60)])
def test_residuals_are_those_of_regressions_without_the_row(n, p):
    nodewise = Nodewise.of(Scores.of(table(n, p)))
    Z = nodewise.scores.values
    for j in (0, p - 1):
        expected = left_out(Z, [j], np.delete(np.arange(p), j), nodewise.penalties[j])
        np.testing.assert_allclose(nodewise.residuals[:, [j]], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("n", "p"), [(40, 5), (30, 60)])
def test_rows_of_a_group_are_left_out_together(n, p):
    groups = np.sort(np.random.default_rng(n).integers(0, 8, n))
    nodewise = Nodewise.of(Scores.of(table(n, p, levels=4)), groups=groups)
    Z, first = nodewise.scores.values, nodewise.scores.first
    for j in (0, p - 1, p):  # numbers, and a feature of several columns
        own = np.arange(first[j], first[j + 1])
        others = np.delete(np.arange(Z.shape[1]), own)
        expected = left_out(Z, own, others, nodewise.penalties[j], groups)
        np.testing.assert_allclose(nodewise.residuals[:, own], expected, rtol=1e-6, atol=1e-7)
    others = np.delete(np.arange(Z.shape[1]), [1, 4])
    penalty = float(np.median(nodewise.penalties[[1, 4]]))
    expected = left_out(Z, [1, 4], others, penalty, groups)
    left = nodewise.residuals_of(np.array([1, 4]))
    np.testing.assert_allclose(left, expected, rtol=1e-6, atol=1e-7)


def test_weights_are_the_coefficients_of_the_regression():
    nodewise = Nodewise.of(Scores.of(table(40, 5)))
    Z, n = nodewise.scores.values, 40
    others = [0, 1, 3, 4]
    gram = Z[:, others].T @ Z[:, others] + n * nodewise.penalties[2] * np.eye(4)
    expected = np.linalg.solve(gram, Z[:, others].T @ Z[:, 2])
    np.testing.assert_allclose(nodewise.weights(2)[others], expected, rtol=1e-8)
    assert nodewise.weights(2)[2] == 0.0


def of_neighbors(values, owners, folds, size, penalty):
    """Residuals of ridge regressions on the most correlated columns, column by column."""
    residuals = np.empty_like(values)
    for k in np.unique(folds):
        train, test = values[folds != k], values[folds == k]
        mean, spread = train.mean(axis=0), train.std(axis=0)
        train, test = (train - mean) / spread, (test - mean) / spread
        for j in range(values.shape[1]):
            others = np.flatnonzero(owners != owners[j])
            strength = np.abs(np.corrcoef(train.T)[j, others])
            near = others[np.argsort(-strength)[:size]]
            gram = train[:, near].T @ train[:, near] + len(train) * penalty * np.eye(len(near))
            weights = np.linalg.solve(gram, train[:, near].T @ train[:, j])
            residuals[folds == k, j] = spread[j] * (test[:, j] - test[:, near] @ weights)
    return residuals


def test_neighbors_are_the_most_correlated_columns_of_other_features():
    random = np.random.default_rng(0)
    values = random.normal(size=(60, 1)) + random.normal(size=(60, 8))
    owners, folds = np.array([0, 1, 1, 1, 2, 3, 4, 4]), random.permutation(60) % 3
    penalties = np.array([0.01, 0.3])
    for size in (2, 5):
        left = _left(values, owners, folds, np.array([0, 2, 6, 7]), {size: penalties})[size]
        for trial, penalty in zip(left, penalties, strict=True):
            expected = of_neighbors(values, owners, folds, size, penalty)[:, [0, 2, 6, 7]]
            np.testing.assert_allclose(trial, expected, rtol=1e-8, atol=1e-10)
    # More than there are: the columns of the own feature count for nothing.
    left = _left(values, owners, folds, np.array([2]), {7: penalties[:1]})[7][0]
    expected = of_neighbors(values, owners, folds, 5, penalties[0])[:, [2]]
    np.testing.assert_allclose(left, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.slow
def test_neighbors_predict_what_more_features_than_rows_hide():
    """In a chain, the columns beside a column leave (1 - r^2) / (1 + r^2) of its variance."""
    random, r = np.random.default_rng(1), 0.7
    X = random.normal(size=(200, 500))
    for j in range(1, 500):
        X[:, j] = r * X[:, j - 1] + np.sqrt(1 - r**2) * X[:, j]
    scores, folds = Scores.of(dm.encode(X)), random.permutation(200) % 5
    of_all = np.square(Nodewise.of(scores).residuals).mean()
    of_neighbors = np.square(Nodewise.of(scores, folds).residuals).mean()
    assert of_all > 0.6
    assert abs(of_neighbors - (1 - r**2) / (1 + r**2)) < 0.06
