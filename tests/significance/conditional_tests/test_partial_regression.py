"""Partial regressions on the features that a lasso selects."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from duramen.significance.conditional_tests.conditional import prepared
from duramen.significance.conditional_tests.cross_fitted import (
    CrossFitting,
    Design,
    PartialRegression,
    folds_of,
    projected_out,
)
from duramen.significance.conditional_tests.inference import covariance_p_value
from duramen.significance.conditional_tests.nodewise import Scores


def lines_of(X, y, strata=None):
    data, template = prepared(None, X, y, strata, None, 5, "conditional")
    scores = Scores.of(data.table, data.exchangeability.strata)
    hypotheses = tuple(np.array([j]) for j in range(data.n_columns))
    folds = folds_of(data, 5, np.random.default_rng(0))
    design, none = Design.of(data.table, scores), np.empty((0, 0, 0), dtype=np.uint32)
    fitting = CrossFitting(template, data, design, hypotheses, none, folds, True)
    return PartialRegression.of(fitting, scores)


def test_nothing_of_a_selected_feature_is_left():
    """Of a lasso alone a part of its effect would be."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 1)) + random.normal(size=(120, 8))
    lines = lines_of(X, 2 * X[:, 0] + random.normal(size=120))
    rest = projected_out(lines.basis(3), lines.response)
    assert lines.of_values
    assert np.abs(X[:, 0] @ rest) < 1e-9 * np.abs(X[:, 0]).sum()
    assert not lines.without[0][0]
    assert np.abs(X[:, 0] @ projected_out(lines.basis(0), lines.response)) > 10


def test_fitted_columns_cost_degrees_of_freedom():
    """The p-value beside other features is that of least squares on all, or HC2's if larger."""
    n_equal = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = random.normal(size=(40, 11))
        y = X[:, 0] + random.normal(size=40)
        others = np.linalg.qr(X[:, 1:] - X[:, 1:].mean(axis=0))[0]
        rest, own = (
            projected_out(others, column[:, None] - column.mean()) for column in (y, X[:, 0])
        )
        design = np.column_stack([np.ones(40), X])
        coefficients, squares = np.linalg.lstsq(design, y)[:2]
        error = np.sqrt(squares[0] / 28 * np.linalg.inv(design.T @ design)[1, 1])
        expected = 2 * stats.t.sf(abs(coefficients[1]) / error, 28)
        p_value = covariance_p_value(rest, own, None, 10)
        assert p_value >= expected * (1 - 1e-9)
        n_equal += p_value == pytest.approx(expected, rel=1e-9)
    assert n_equal >= 3


def test_values_or_ranks_whichever_predict_better():
    random = np.random.default_rng(1)
    X = random.standard_t(2, size=(150, 5))
    ranks = X.argsort(axis=0).argsort(axis=0)
    assert lines_of(X, X[:, 0] + random.normal(size=150)).of_values
    assert not lines_of(
        X, stats.norm.ppf((ranks[:, 0] + 0.5) / 150) + random.normal(size=150)
    ).of_values


def test_strata_are_fitted_too():
    random = np.random.default_rng(2)
    strata = np.repeat(np.arange(4), 30)
    X = random.normal(size=(120, 3)) + strata[:, None]
    lines = lines_of(X, X[:, 0] + 5.0 * (strata == 2), strata=strata)
    sums = np.bincount(strata, projected_out(lines.basis(1), lines.response)[:, 0])
    assert lines.n_means == 4
    assert np.abs(sums).max() < 1e-9


def test_columns_selected_by_chance_do_not_make_the_noise_smaller():
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 20))
    noise = random.normal(size=40)
    by_chance = lines_of(X, noise)
    assert by_chance.noise == by_chance.error > 0.0
    selected = lines_of(X, 3.0 * X[:, 0] + noise)
    assert selected.noise == 0.0


def test_the_noise_of_rows_left_out_increases_the_standard_error():
    """A noise of four times the variance that is left halves the statistic."""
    random = np.random.default_rng(4)
    x, y = random.normal(size=(2, 40, 1))
    line = stats.linregress(x[:, 0], y[:, 0])
    variance = np.square(y[:, 0] - line.intercept - line.slope * x[:, 0]).sum() / 38
    without = covariance_p_value(y, x, None)
    assert covariance_p_value(y, x, None, noise=variance / 2) == without
    t = stats.t.isf(without / 2, 38)
    p_value = covariance_p_value(y, x, None, noise=4 * variance)
    assert p_value == pytest.approx(2 * stats.t.sf(t / 2, 38), rel=1e-9)
