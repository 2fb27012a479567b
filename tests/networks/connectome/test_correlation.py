"""Covariance, correlation, partial correlation, components."""

import numpy as np
import pytest
from scipy import sparse
from tests.networks.connectome.cultures import bursting
from tests.oracles import connectome as oracle

from duramen.networks import connectome as dc
from duramen.networks.connectome import correlations as module


def chain(n=4000, p=4, seed=0):
    """Gaussian chain x0 -> x1 -> ...: x_j = a x_{j-1} + noise, a = .8."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, p))
    for j in range(p):
        x[:, j] = rng.standard_normal(n) + (0.8 * x[:, j - 1] if j else 0.0)
    return x


def spiky(n=600, p=9, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.random((n, p)) * (rng.random((n, p)) < rng.choice([0.02, 0.1, 0.9], n)[:, None])
    return x


@pytest.mark.parametrize("cost", [0, 1, 5, 20, 1000])
def test_sparse_covariance_equals_numpy(monkeypatch, cost):
    monkeypatch.setattr(module, "_SPARSE_COST", cost)
    monkeypatch.setattr(module, "_NUMBERS", 100)
    x = spiky()
    expected = np.cov(x, rowvar=False)
    np.testing.assert_allclose(dc.covariance(x), expected, atol=1e-14)
    np.testing.assert_allclose(dc.covariance(sparse.csr_array(x)), expected, atol=1e-14)


def test_covariance_of_frames_without_values():
    x = sparse.csr_array((50, 4))
    assert not dc.covariance(x).any()
    assert not dc.partial_correlation(x).any()
    assert not dc.correlation(x).any()


def test_correlation_equals_numpy():
    x = spiky()
    expected = np.corrcoef(x, rowvar=False) - np.eye(9)
    np.testing.assert_allclose(dc.correlation(sparse.csr_array(x)), expected, atol=1e-13)


def test_partial_correlation_of_a_known_gaussian_chain():
    # Precision of the chain: 1 + a^2 inside, 1 at the last, -a beside the diagonal.
    a = 0.8
    inner = a / np.sqrt((1 + a * a) ** 2)
    last = a / np.sqrt(1 + a * a)
    expected = np.zeros((4, 4))
    for (i, j), value in {(0, 1): inner, (1, 2): inner, (2, 3): last}.items():
        expected[i, j] = expected[j, i] = value
    actual = dc.partial_correlation(chain(200_000), precision="exact")
    np.testing.assert_allclose(actual, expected, atol=0.01)  # 4 standard errors


@pytest.mark.parametrize("components", [None, 0.5, 0.8])
def test_partial_correlation_equals_the_oracle(components):
    x = spiky()
    options = {"precision": "exact"} if components is None else {"precision": "pca"}
    if components is not None:
        options["n_components"] = components
    expected = oracle.partial_correlation(x, components)
    for signal in (x, sparse.csr_array(x), sparse.csc_array(x)):
        np.testing.assert_allclose(dc.partial_correlation(signal, **options), expected, atol=1e-11)


def test_all_components_are_the_exact_inverse():
    x = spiky()
    np.testing.assert_allclose(
        dc.partial_correlation(x, precision="pca", n_components=9),
        dc.partial_correlation(x, precision="exact"),
        atol=1e-11,
    )


def test_partial_correlation_does_not_depend_on_unit_order_or_sign_of_a_neuron():
    x = spiky()
    result = dc.partial_correlation(x, precision="exact")
    order = np.random.default_rng(0).permutation(9)
    np.testing.assert_allclose(
        dc.partial_correlation(x[:, order], precision="exact"), result[np.ix_(order, order)]
    )
    units = np.array([1, 3, 0.2, 5, 1, 1, 2, 7, 1])
    np.testing.assert_allclose(dc.partial_correlation(x * units + 4, precision="exact"), result)
    np.testing.assert_allclose(dc.partial_correlation(x[::-1], precision="exact"), result)


@pytest.mark.parametrize("precision", ["ledoit_wolf", "oas", "auto"])
def test_shrinkage_serves_fewer_frames_than_neurons(precision):
    from sklearn.covariance import OAS, LedoitWolf

    x = np.random.default_rng(0).standard_normal((20, 30))
    actual = dc.partial_correlation(sparse.csr_array(x), precision=precision)
    inverse = (LedoitWolf if precision == "ledoit_wolf" else OAS)().fit(x).precision_
    scale = np.sqrt(np.diag(inverse))
    expected = -inverse / np.outer(scale, scale)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(actual, expected, atol=1e-10)


@pytest.mark.parametrize("precision", ["exact", "pca"])
def test_silent_neurons_have_no_links_and_change_no_others(precision):
    x = spiky()
    silent = np.column_stack([x[:, :4], np.full(len(x), 0.3), x[:, 4:]])
    result = dc.partial_correlation(silent, precision=precision)
    assert not result[4].any()
    others = np.arange(10) != 4
    np.testing.assert_allclose(
        result[np.ix_(others, others)], dc.partial_correlation(x, precision=precision), atol=1e-12
    )


@pytest.mark.parametrize("precision", ["exact", "pca"])
def test_a_singular_covariance_is_refused(precision):
    x = np.random.default_rng(0).standard_normal((20, 30))
    with pytest.raises(ValueError, match=r'must have an inverse.*precision="oas"'):
        dc.partial_correlation(x, precision=precision)
    x = np.column_stack([spiky(), spiky()[:, 0]])
    with pytest.raises(ValueError, match="must have an inverse"):
        dc.partial_correlation(x, precision="exact")


def test_auto_shrinks_where_few_frames_hold_a_signal_or_neurons_are_equal():
    x = np.zeros((5000, 30))
    x[:40] = np.random.default_rng(0).random((40, 30))
    few = sparse.csr_array(x)
    np.testing.assert_array_equal(
        dc.partial_correlation(few), dc.partial_correlation(few, precision="oas")
    )
    equal = sparse.csr_array(np.repeat(spiky(p=3), 4, axis=1))
    np.testing.assert_array_equal(
        dc.partial_correlation(equal), dc.partial_correlation(equal, precision="oas")
    )
    many = sparse.csr_array(spiky())
    np.testing.assert_array_equal(
        dc.partial_correlation(many), dc.partial_correlation(many, precision="pca")
    )


def test_components_of_networks():
    network = np.zeros((10, 10))
    network[:3, :3] = np.eye(3)
    result = dc.components(network)
    assert result.singular_value_ratio == pytest.approx([1 / 3] * 3 + [0] * 7)
    assert result.count(1.0) == 3
    assert result.explained_variance_ratio.sum() == pytest.approx(1)
    assert "Components: 10" in str(result)
    signal = spiky()
    dense, few = dc.components(signal), dc.components(sparse.csr_array(signal))
    for name in ("explained_variance_ratio", "singular_value_ratio"):
        np.testing.assert_allclose(getattr(dense, name), getattr(few, name), atol=1e-12)
    assert dense.count(0.5) < dense.count(0.9) <= 9


def test_spectrum_of_signals_is_that_of_scikit_learn():
    from sklearn.decomposition import PCA

    x = bursting()
    np.testing.assert_allclose(
        dc.components(x).explained_variance_ratio, PCA().fit(x).explained_variance_ratio_
    )


def test_errors():
    with pytest.raises(ValueError, match="partial_correlation: precision must be one of"):
        dc.partial_correlation(spiky(), precision="best")
    with pytest.raises(ValueError, match="n_components must be a number in"):
        dc.partial_correlation(spiky(), precision="pca", n_components=1.5)
    with pytest.raises(ValueError, match="covariance: signal must be at least two frames"):
        dc.covariance(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="components: matrix must be"):
        dc.components(np.zeros(3))
    with pytest.raises(ValueError, match=r"Components.count: explained must be"):
        dc.components(np.eye(3)).count(0)
