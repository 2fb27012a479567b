"""Friedman's H statistic."""

from itertools import combinations

import numpy as np
import pytest

import duramen as dm
from duramen.effects import interaction_strength


def brute(forest, X, j, k, predict):
    """The formula of Friedman and Popescu, point by point."""

    def dependence(columns):
        values = []
        for x in X:
            changed = X.copy()
            changed[:, columns] = x[columns]
            values.append(predict(changed).mean(axis=0))
        values = np.array(values)
        return values - values.mean(axis=0)

    both, first, other = dependence([j, k]), dependence([j]), dependence([k])
    gap = np.square(both - first - other)
    return np.sqrt(gap.mean()), np.sqrt(gap.sum() / np.square(both).sum())


@pytest.mark.parametrize("regression", [True, False])
def test_h_is_that_of_brute_force(regression):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = 4 * X[:, 0] * X[:, 1] + X[:, 2]
    if regression:
        forest = dm.RandomForestRegressor(15, random_state=0).fit(X, y)
        predict = forest.predict
    else:
        forest = dm.RandomForestClassifier(15, random_state=0).fit(X, np.digitize(y, [-2, 2]))
        predict = forest.predict_proba
    result = interaction_strength(forest, X)
    assert result.pairs[0] == ("x0", "x1")
    assert (np.diff(result.strengths) <= 0).all()
    pairs = dict(zip(result.pairs, zip(result.strengths, result.h, strict=True), strict=True))
    for j, k in combinations(range(3), 2):
        np.testing.assert_allclose(pairs[f"x{j}", f"x{k}"], brute(forest, X, j, k, predict))


def test_an_additive_function_has_little_interaction_and_xor_has_nothing_else():
    X = np.random.default_rng(1).integers(0, 2, size=(200, 3)).astype(float)
    forest = dm.ExtraTreesRegressor(50, random_state=0, max_features=None)
    result = interaction_strength(forest.fit(X, 2 * X[:, 0] - X[:, 1]), X)
    assert result.h[result.pairs.index(("x0", "x1"))] < 0.01
    result = interaction_strength(forest.fit(X, X[:, 0] != X[:, 1]), X)
    assert result.pairs[0] == ("x0", "x1")
    assert result.h[0] > 0.95
    assert result.mains["x2"] < 0.1 * result.strengths[0]


def test_fewer_than_two_features_are_refused():
    X = np.arange(20.0)[:, None]
    forest = dm.RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="two or more, got 1"):
        interaction_strength(forest, X)
