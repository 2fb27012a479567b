"""Average effects of features with intervals (van der Laan 2006)."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from tests.grid import one_test

from duramen.significance import average_effects

MODELS = {"outcome": LinearRegression(), "propensity": LogisticRegression()}


def confounded(seed, n=300):
    """The effect of the first feature is 1; it goes with the second, whose slope is 2."""
    random = np.random.default_rng(seed)
    w = random.normal(size=n)
    a = (random.random(n) < 1 / (1 + np.exp(-w))).astype(float)
    return np.column_stack([a, w]), a + 2 * w + random.normal(size=n)


def test_confounding_is_taken_out():
    X, y = confounded(0, 2000)
    naive = y[X[:, 0] == 1].mean() - y[X[:, 0] == 0].mean()
    result = average_effects(X, y, features=[0], random_state=0, **MODELS)
    assert naive > 2
    assert abs(result.values[0] - 1) < 4 * result.standard_error[0]
    assert result.low[0] < 1 < result.high[0]
    assert result.p_values[0] < 1e-6
    assert result.names == ("x0",)


def test_a_feature_alone_has_the_difference_of_means():
    random = np.random.default_rng(0)
    a = np.repeat([0.0, 1.0], 50)
    y = 3 * a + random.normal(size=100)
    result = average_effects(a[:, np.newaxis], y, cv=2, random_state=0, outcome=LinearRegression())
    assert result.values[0] == pytest.approx(y[50:].mean() - y[:50].mean(), abs=0.05)


@pytest.mark.slow
def test_intervals_cover_as_they_say():
    covered = 0
    for seed in range(80):
        result = average_effects(
            *confounded(seed), features=[0], confidence_level=0.9, random_state=seed, **MODELS
        )
        covered += result.low[0] < 1 < result.high[0]
    assert 0.78 < covered / 80 < 0.98


@one_test
@pytest.mark.parametrize(
    "change, message",
    [
        ({"cv": 1}, "cv"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"X": [["a"]] * 20}, "could not convert string to float"),
        ({"X": np.full((300, 2), np.nan)}, "Input X contains NaN"),
        ({"y": [1, 2]}, "inconsistent numbers of samples"),
        ({"X": np.ones((300, 2))}, "is constant"),
    ],
)
def test_wrong_input_is_refused(change, message):
    X, y = confounded(0)
    with pytest.raises(ValueError, match=message):
        average_effects(**{"X": X, "y": y, **MODELS, **change})
