"""Links oriented by regression errors: errors by polyfit, known directions, refusals."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import duramen as dm
from duramen.networks.regression_error import regression_errors


def test_errors_are_those_of_polynomials_one_by_one():
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[:, 3] = 7.0  # a constant has error 0, and predicts the mean of the others
    errors = regression_errors(X, 2)
    scaled = X - X.min(axis=0)
    scaled[:, :3] /= np.ptp(X[:, :3], axis=0)
    for i in range(3):
        for j in range(4):
            fitted = np.polyval(np.polyfit(scaled[:, i], scaled[:, j], 2), scaled[:, i])
            assert errors[i, j] == pytest.approx(((scaled[:, j] - fitted) ** 2).mean(), abs=1e-14)
    np.testing.assert_allclose(errors[3], scaled.var(axis=0), atol=1e-14)


def test_causes_are_told_from_effects_where_the_assumptions_hold():
    """x uniform, y = x^3 with noise of .02: 30 pairs of 200 rows, all of the right direction."""
    random = np.random.default_rng(1)
    x = random.uniform(size=(200, 30))
    X = np.column_stack([x, x**3 + 0.02 * random.normal(size=x.shape)])
    gold = np.zeros((60, 60), dtype=bool)
    gold[np.arange(30), np.arange(30, 60)] = True
    network = dm.Network(tuple(f"v{j}" for j in range(60)), (gold | gold.T) * 2.0)
    oriented = dm.networks.reci(network, X)
    assert oriented.orientation(gold).fraction == 1.0
    # The weights of both directions add up to that of the pair.
    np.testing.assert_allclose(oriented.weights + oriented.weights.T, network.weights)
    thin = network.reweighted(sparse.csr_array(network.weights))
    np.testing.assert_allclose(dm.networks.reci(thin, X).weights.toarray(), oriented.weights)
    constant = dm.networks.reci(dm.Network(("a", "b"), [[0, 1], [1, 0]]), np.ones((5, 2)))
    assert constant.weights.tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_errors_that_are_rounding_orient_no_link():
    x = np.random.default_rng(2).uniform(size=(40, 1))
    network = dm.Network(("a", "b"), [[0.0, 1.0], [1.0, 0.0]])
    for exact in (np.hstack([x, 3 - x / 7]), np.random.default_rng(3).normal(size=(4, 2))):
        weights = dm.networks.reci(network, exact).weights
        assert np.array_equal(weights, [[0.0, 0.5], [0.5, 0.0]])


def test_refusals():
    network = dm.Network(("a", "b"), [[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="expression must be a table of the 2 variables"):
        dm.networks.reci(network, np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"expression must be numbers, got .*'b' of categories"):
        dm.networks.reci(network, pa.table({"a": [1.0, 2.0], "b": ["u", "v"]}))
    with pytest.raises(ValueError, match="degree must be an int >= 1"):
        dm.networks.reci(network, np.ones((5, 2)), degree=0)
    with pytest.raises(TypeError, match="network must be a Network"):
        dm.networks.reci(np.ones((2, 2)), np.ones((5, 2)))
