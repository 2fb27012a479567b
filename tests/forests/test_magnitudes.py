"""Weights and targets of any size: equal normalized importances, or an error that says why."""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
CLASSES = (X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=60) > 0).astype(int)
NUMBERS = 2 * X[:, 0] + X[:, 1] + 0.1 * RNG.normal(size=60)
WEIGHTS = RNG.random(60) + 0.1
EXPONENTS = [-320, -300, -200, -160, -150, -100, -30, -8, 8, 30, 100, 150, 160, 200, 300, 307]


def measured(estimator, y, weights):
    forest = estimator.fit(X, y, weights)
    return {
        "mdi": forest.feature_importances_,
        "mda": dm.importances.mda(forest, X, y).values,
        "out of bag": dm.importances.mdi(forest, X, y, rows="oob").values,
        "predictions": forest.predict(X).astype(float),
        "leaves": forest.apply(X),
    }


@one_test
@pytest.mark.parametrize(
    "make, y",
    [
        (lambda: dm.RandomForestClassifier(5, criterion="gini", random_state=0), CLASSES),
        (lambda: dm.RandomForestClassifier(5, criterion="entropy", random_state=0), CLASSES),
        (lambda: dm.RandomForestRegressor(5, random_state=0), NUMBERS),
    ],
)
def test_only_ratios_of_weights_matter(make, y):
    wanted = measured(make(), y, WEIGHTS)
    for exponent in EXPONENTS:
        scaled = WEIGHTS * 10.0 ** min(exponent, 300)  # 10**-320 is subnormal: 4 digits are left
        scaled *= 10.0 ** (exponent - min(exponent, 300))
        importances = measured(make(), y, scaled)
        precision = 1e-3 if exponent == -320 else 1e-9
        for name, values in importances.items():
            np.testing.assert_allclose(values, wanted[name], rtol=0, atol=precision, err_msg=name)


@one_test
@pytest.mark.parametrize("exponent", [-300, -160, -150, -100, -75, 75, 100, 150, 160, 300])
def test_targets_whose_variance_is_out_of_range_are_refused(exponent):
    y = NUMBERS * 10.0**exponent
    word = "divide" if exponent > 0 else "multiply"
    with pytest.raises(ValueError, match=rf"fit: y must hold numbers up to 1e\+70 .*Hint: {word}"):
        dm.RandomForestRegressor(5).fit(X, y)
    with pytest.raises(ValueError, match="y must hold numbers up to"):
        dm.contexts.context_importances(X, y, CLASSES, n_permutations=0)
    with pytest.raises(ValueError, match="y must hold numbers up to"):
        dm.SequentialRandomSubspace(n_estimators=3, n_subspace_features=2).fit(X, y)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("exponent", [-68, -30, 30, 68])
def test_targets_in_range(exponent):
    scale = 10.0**exponent
    model = dm.RandomForestRegressor(5, random_state=0).fit(X, NUMBERS)
    other = dm.RandomForestRegressor(5, random_state=0).fit(X, NUMBERS * scale)
    np.testing.assert_allclose(other.feature_importances_, model.feature_importances_, atol=1e-9)
    np.testing.assert_allclose(other.predict(X) / scale, model.predict(X), rtol=1e-9)
    mdi, scaled = dm.importances.mdi(model), dm.importances.mdi(other)
    np.testing.assert_allclose(scaled.values / scale**2, mdi.values, rtol=1e-9)
    np.testing.assert_allclose(scaled.standard_error / scale**2, mdi.standard_error, rtol=1e-9)
    mda, scaled = (
        dm.importances.mda(model, X, NUMBERS),
        dm.importances.mda(other, X, NUMBERS * scale),
    )
    np.testing.assert_allclose(scaled.values / scale**2, mda.values, rtol=1e-9)
    context = CLASSES
    plain = dm.contexts.context_importances(X, NUMBERS, context, n_permutations=0, random_state=0)
    large = dm.contexts.context_importances(
        X, NUMBERS * scale, context, n_permutations=0, random_state=0
    )
    np.testing.assert_allclose(large.absolute / scale**2, plain.absolute, rtol=1e-9)


def test_constant_targets_are_no_matter_of_variance():
    for value in (0.0, 1e-300, -1e60):
        forest = dm.RandomForestRegressor(3, random_state=0).fit(X, np.full(60, value))
        np.testing.assert_allclose(forest.predict(X), np.full(60, value), rtol=1e-12)
    with pytest.raises(ValueError, match=r"a number of size 1e\+300"):
        dm.RandomForestRegressor(3).fit(X, np.full(60, 1e300))
