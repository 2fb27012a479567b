"""Relative influence (thesis, eq. 4.9) and the change of predictions (Zhu et al. 2015)."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from tests.grid import one_test

import duramen as dm
from duramen.importances import prediction_change, relative_influence


def table(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) * [1.0, 2.0, 3.0]
    return X, 2 * X[:, 0] - X[:, 1] + random.normal(size=n)


def test_the_influence_of_a_linear_model_is_its_slope_times_the_spread():
    X, y = table()
    line = LinearRegression().fit(X, y)
    for step in (0.01, 1.0, 3.0):
        result = relative_influence(line, X, step=step)
        np.testing.assert_allclose(result.values, np.abs(line.coef_) * X.std(axis=0), rtol=1e-8)
    assert result.measure == "relative_influence"


def test_changes_of_a_linear_model_are_twice_the_variances():
    X, y = table(4000)
    line = LinearRegression().fit(X, y)
    expected = 2 * (line.coef_ * X.std(axis=0)) ** 2
    plain = prediction_change(line, X, n_repeats=20, random_state=0)
    np.testing.assert_allclose(plain.values, expected, rtol=0.02, atol=1e-3)
    normalized = prediction_change(line, X, y, n_repeats=20, random_state=0)
    error = np.mean((y - line.predict(X)) ** 2)
    np.testing.assert_allclose(normalized.values, plain.values / error, rtol=1e-12)
    assert (plain.unit, normalized.unit) == ("squared prediction", "1")
    assert prediction_change(line, X, n_repeats=1).standard_error is None


@pytest.mark.slow
def test_changes_of_the_best_model_are_the_population_mda():
    """Of a full tree on all combinations: E (h - h~)^2 is the increase of the squared error."""
    X = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    y = 1.0 * X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    exact = dm.theory.population_mda(dm.theory.FiniteDistribution.from_table(X, y), loss="squared")
    tree = dm.TotallyRandomizedTreesRegressor(1, random_state=0).fit(X.astype(float), y)
    result = prediction_change(tree, X.astype(float), n_repeats=4000, random_state=0)
    assert np.all(np.abs(result.values - exact.values) < 4 * result.standard_error)


def test_probabilities_of_two_classes_count_once():
    X, _ = table()
    y = X[:, 0] > 0
    forest = dm.RandomForestClassifier(50, random_state=0).fit(X[:200], y[:200])
    result = prediction_change(forest, X[200:], y[200:], random_state=0)
    p = forest.predict_proba(X[200:])[:, 1]
    plain = prediction_change(forest, X[200:], random_state=0)
    np.testing.assert_allclose(result.values, plain.values / np.mean((p - y[200:]) ** 2))


@one_test
@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda m, X, y: relative_influence(3, X), TypeError, "fitted predictor"),
        (lambda m, X, y: relative_influence(m, [["a"]]), ValueError, "must hold numbers"),
        (lambda m, X, y: relative_influence(m, X, step=0), ValueError, "step"),
        (lambda m, X, y: prediction_change(m, X, y[:5]), ValueError, "shape"),
        (lambda m, X, y: prediction_change(m, X, m.predict(X)), ValueError, "no error"),
        (lambda m, X, y: prediction_change(m, X, n_repeats=0), ValueError, "n_repeats"),
    ],
)
def test_wrong_input_is_refused(call, kind, message):
    X, y = table(20)
    with pytest.raises(kind, match=message):
        call(LinearRegression().fit(X, y), X, y)
