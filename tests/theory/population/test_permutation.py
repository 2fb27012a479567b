import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor
from tests.grid import one_test

from duramen.theory.population import additive_mda, block_mda, gaussian_mda


def by_definition(rows, weights, predictor, group):
    """Rise of the squared error when a group's columns come from another row, over all pairs."""
    rise = 0.0
    for (x, v), (other, w) in itertools.product(zip(rows, weights, strict=True), repeat=2):
        swapped = list(x)
        for j in group:
            swapped[j] = other[j]
        rise += v * w * (predictor(x) - predictor(swapped)) ** 2
    return rise


@st.composite
def populations(draw):
    """Rows and weights of a small joint distribution of three numeric features."""
    rows = draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=5, max_size=9, unique=True))
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows))))
    return np.array(rows, dtype=float), weights / weights.sum()


@given(populations())
@settings(max_examples=60)
def test_additive_model_by_definition(population):
    rows, weights = population
    parts = [lambda v: 2 * v, lambda v: v**2 - 1, lambda v: abs(v) - v]
    columns = np.column_stack([f(rows[:, j]) for j, f in enumerate(parts)])
    covariance = np.cov(columns.T, aweights=weights, ddof=0)
    groups = {"x0": [0], "pair": [0, 2], "all": ["x0", "x1", "x2"]}
    result = additive_mda(covariance, feature_groups=groups)
    for value, members in zip(result.values, ([0], [0, 2], [0, 1, 2]), strict=True):
        expected = by_definition(
            rows.tolist(),
            weights,
            lambda x: sum(f(v) for f, v in zip(parts, x, strict=True)),
            members,
        )
        assert value == pytest.approx(expected, abs=1e-9)
    single = additive_mda(covariance)
    np.testing.assert_allclose(single.values, 2 * np.diag(covariance), atol=1e-12)
    np.testing.assert_allclose(additive_mda(np.diag(covariance)).values, single.values)


@given(populations(), st.lists(st.floats(-2, 2), min_size=3, max_size=3))
@settings(max_examples=60)
def test_linear_model_by_definition(population, coefficients):
    rows, weights = population
    covariance = np.cov(rows.T, aweights=weights, ddof=0)
    scale = np.sqrt(np.diag(covariance))
    if np.any(scale < 1e-9) or np.linalg.cond(covariance / np.outer(scale, scale)) > 1e6:
        return
    a = np.array(coefficients)
    result = gaussian_mda(
        covariance, covariance @ a, feature_groups={"0": [0], "1": [1], "02": [0, 2]}
    )
    for value, members in zip(result.values, ([0], [1], [0, 2]), strict=True):
        expected = by_definition(rows.tolist(), weights, lambda x: float(a @ np.array(x)), members)
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_known_answers():
    assert block_mda(0.6, 3, 0.5) == pytest.approx(0.10331, abs=5e-6)
    assert gaussian_mda([[1, 0.6], [0.6, 1]], [0.5, 0.3]).values[0] == pytest.approx(0.5, abs=1e-12)
    # Y = X1 - X2 with X1 = X2: together they do not matter, alone they do.
    copies = additive_mda([[1, -1], [-1, 1]], feature_groups={"both": [0, 1], "one": [0]})
    assert copies.values.tolist() == [0.0, 2.0]


def test_scales_do_not_matter():
    scale = np.array([1e-8, 1.0, 1e6])
    C = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]])
    tau = np.array([0.3, 0.2, 0.1])
    plain = gaussian_mda(C, tau).values
    np.testing.assert_allclose(gaussian_mda(C * np.outer(scale, scale), tau * scale).values, plain)


@given(st.integers(1, 8), st.floats(0.01, 0.99), st.floats(-2, 2))
def test_block_is_a_case_of_the_gaussian_model(size, fraction, tau):
    lowest = -1 / (size - 1) if size > 1 else -1
    c = lowest + fraction * (1 - lowest)
    covariance = np.full((size, size), c) + (1 - c) * np.eye(size)
    values = gaussian_mda(covariance, np.full(size, tau)).values
    np.testing.assert_allclose(values, block_mda(c, size, tau), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_forest_converges_to_the_additive_model():
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 3))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    parts = np.column_stack([2 * X[:, 0], X[:, 1] ** 2, 0 * X[:, 2]])
    y = parts.sum(axis=1)
    forest = ExtraTreesRegressor(40, min_samples_leaf=2, n_jobs=2, random_state=0)
    forest.fit(X[:15_000], y[:15_000])
    held, target = X[15_000:], y[15_000:]
    error = np.mean((forest.predict(held) - target) ** 2)
    expected = additive_mda(np.cov(parts.T))
    for j in range(3):
        permuted = held.copy()
        permuted[:, j] = random.permutation(permuted[:, j])
        rise = np.mean((forest.predict(permuted) - target) ** 2) - error
        assert rise == pytest.approx(expected.values[j], rel=0.12, abs=0.05)


@one_test
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: additive_mda([[1, 2]]), r"additive_mda: covariance must be a square matrix"),
        (lambda: additive_mda([[1, np.nan], [0, 1]]), "covariance must be finite"),
        (lambda: additive_mda([[1, 0.2], [0.1, 1]]), "covariance must be symmetric"),
        (lambda: additive_mda([[1, 2], [2, 1]]), "must be without negative eigenvalues"),
        (lambda: additive_mda([1, 1], feature_groups={"a": [0]}), "a matrix when there are groups"),
        (lambda: additive_mda(np.eye(2), feature_groups={"a": ["x7"]}), "group 'a' holds 'x7'"),
    ],
)
def test_clear_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
