"""Additive models: against scikit-learn and explicit projections, and what joins them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.estimators.test_survival import outcome

import duramen as dm
from duramen.data.additive_model import (
    AdditiveModel,
    _statistics,
    additive_model,
    basis_of,
    indicators,
)

ROWS = 300


def problem(kind):
    random = np.random.default_rng(3)
    x = random.normal(size=(ROWS, 3))
    effect = x[:, 0] + 0.5 * x[:, 1]
    if kind == "numbers":
        return x, effect + random.normal(size=ROWS)
    if kind.endswith("survival"):
        time = random.exponential(size=ROWS) * np.exp(-effect)
        entry = time * random.random(ROWS) if kind == "truncated survival" else None
        return x, outcome(time, random.random(ROWS) < 0.7, entry)
    noisy = effect + random.logistic(size=ROWS)
    return x, np.digitize(noisy, [0.7] if kind == "two classes" else [-0.5, 0.7])


def fitted(kind):
    x, y = problem(kind)
    target = dm.learning_set(x, y).target
    terms = np.column_stack([np.ones(ROWS), x])
    values = np.asarray(target.values)
    outcomes = values if kind == "numbers" else values % 2 if target.censored else values == 1
    outcomes = outcomes[np.newaxis]
    if kind == "three classes":
        outcomes = values == np.array([[1], [2]])
    return terms, outcomes.astype(float), target, AdditiveModel.fit(terms, outcomes * 1.0, target)


KINDS = ("numbers", "two classes", "three classes", "survival", "truncated survival")


def test_coefficients_are_those_of_ridge_regression():
    terms, outcomes, _, model = fitted("two classes")
    other = LogisticRegression(C=10.0, tol=1e-10, max_iter=1000).fit(terms[:, 1:], outcomes[0])
    np.testing.assert_allclose(model.means[0], other.predict_proba(terms[:, 1:])[:, 1], atol=1e-5)
    terms, outcomes, _, model = fitted("numbers")
    penalty = np.diag([0.0, 0.1, 0.1, 0.1])
    coefficients = np.linalg.solve(terms.T @ terms + penalty, terms.T @ outcomes[0])
    np.testing.assert_allclose(model.means[0], terms @ coefficients, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_has_converged(kind):
    """Scores are the penalty times the coefficients, which are below 3: .3 of sums of residuals."""
    terms, _, _, model = fitted(kind)
    assert np.abs(model.residuals @ terms).max() < 0.3


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_refit_to_first_order_is_the_derivative_of_the_residuals(kind):
    terms, outcomes, target, model = fitted(kind)
    errors = np.random.default_rng(0).normal(size=(1, *outcomes.shape))
    step = 1e-4
    ahead, behind = (
        AdditiveModel.fit(terms, outcomes + sign * step * errors[0], target).residuals
        for sign in (1, -1)
    )
    np.testing.assert_allclose(
        model.refitted(errors)[0], (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("kind", KINDS)
def test_efficient_scores_are_of_the_column_orthogonal_to_the_terms(kind):
    terms, _, _, model = fitted(kind)
    m = len(model.means)
    column = np.random.default_rng(1).normal(size=(ROWS, 1))
    weights = np.block([[np.diag(model.weights[k, j]) for j in range(m)] for k in range(m)])
    design = np.kron(np.eye(m), terms)
    for k in range(m):
        directed = np.zeros((m * ROWS, 1))
        directed[k * ROWS : (k + 1) * ROWS] = column
        left = directed - design @ model.inverse @ design.T @ weights @ directed
        expected = (left[:, 0] * model.residuals.ravel()).reshape(m, ROWS).sum(axis=0)
        np.testing.assert_allclose(model.scores(column, k)[:, 0], expected, atol=1e-8)


def test_leverages_add_up_to_the_number_of_coefficients():
    for kind, n_coefficients in (("numbers", 4), ("two classes", 4), ("three classes", 8)):
        assert fitted(kind)[3].leverages().sum() == pytest.approx(n_coefficients, rel=0.02)


def test_a_basis_holds_smooth_functions_labels_and_steps():
    random = np.random.default_rng(2)
    x = random.normal(size=1000)
    codes = np.argsort(np.argsort(x))
    basis = basis_of(codes, False, 1000.0)
    assert basis.shape[1] == 7
    for values in (x, x**2, np.abs(x), np.exp(x)):
        left = values - values.mean()
        left -= basis @ (basis.T @ left) / 1000
        assert left.var() < 0.02 * values.var()
    few = codes // 300
    for nominal in (True, False):
        basis = basis_of(few, nominal, 1000.0)
        assert basis.shape[1] == 3  # of four values
        np.testing.assert_allclose(basis.T @ basis, 1000 * np.eye(3), atol=1e-8)


def test_columns_with_a_main_effect_join_and_no_indicator_is_left_with_one():
    random = np.random.default_rng(1)
    x = np.column_stack([random.normal(size=(400, 6)), random.integers(0, 3, 400)])
    number = 3.0 * x[:, 0] + np.abs(x[:, 1]) + (x[:, 6] == 1) + 0.5 * random.normal(size=400)
    for y in (number, (number > 1.0).astype(int)):
        data = dm.learning_set(x, y, kinds={"x6": "nominal"})
        model = additive_model(data.table, data.target, np.arange(7), 3, np.arange(400))
        steps, _ = indicators(data.table, np.arange(7), 3)
        limit = np.sqrt(2.0 * np.log(steps.shape[1]))
        for column in steps.T.astype(float):
            scores = model.scores(column[:, np.newaxis], 0)[:, 0]
            assert abs(scores.sum()) / max(np.sqrt((scores**2).sum()), 1e-9) < limit
    constant = dm.learning_set(x, np.full(400, 2.0))
    model = additive_model(constant.table, constant.target, np.arange(7), 3, np.arange(400))
    assert model.terms.shape == (400, 1)
    assert np.abs(model.residuals).max() == 0.0


def test_what_the_terms_span_has_no_statistic():
    """Steps that are terms have scores of the ridge alone, which joined again without end."""
    random = np.random.default_rng(0)
    n, x = 400, random.normal(size=(400, 1))
    data = dm.learning_set(x, (6.0 * (x[:, 0] > 0) - 3.0 + random.logistic(size=n) > 0).astype(int))
    steps, _ = indicators(data.table, np.arange(1), 3)
    terms = np.hstack([np.ones((n, 1)), steps[:, 1:2] - steps[:, 1].mean()])
    model = AdditiveModel.fit(terms, (data.y == 1).astype(float)[None], data.target)
    statistics = _statistics(model, steps, np.arange(n))
    assert statistics[1] == 0
    assert (statistics[[0, 2]] > 0).all()
