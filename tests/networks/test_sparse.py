"""Networks with sparse weights, and networks of thousands of genes in bounded memory."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from tests.grid import one_test

from duramen import Network

NAMES = tuple("abcdef")


def weights(dtype=np.float64, density=1.0, seed=0):
    random = np.random.default_rng(seed)
    result = random.integers(-3, 9, (6, 6)).astype(dtype)  # with ties
    result[random.uniform(size=(6, 6)) > density] = 0
    np.fill_diagonal(result, 0)
    return result


GOLD = [("a", "b"), ("c", "d"), ("f", "a")]


@one_test
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_weights_are_the_dense_ones(tmp_path, dtype, density, kind):
    matrix = weights(dtype, density)
    sources, targets = np.array([True] * 5 + [False]), np.array([False] + [True] * 5)
    matrix[~sources], matrix[:, ~targets] = 0, 0
    dense = Network(NAMES, matrix, sources, targets)
    thin = Network(NAMES, kind(matrix), sources, targets)
    assert isinstance(thin.weights, sparse.csr_array)
    assert thin.weights.dtype == dtype
    for n in (0, 1, 7, None):
        for first, other in zip(thin.ranked(n), dense.ranked(n), strict=True):
            assert first.tolist() == other.tolist()
    assert thin.top(9) == dense.top(9)
    assert repr(thin) == repr(dense)
    assert thin.edges().equals(dense.edges())
    assert thin.score(GOLD).equals(dense.score(GOLD))
    assert thin.undirected().top(4) == dense.undirected().top(4)
    assert thin.orientation(GOLD).fraction == dense.orientation(GOLD).fraction
    assert set(thin.to_networkx().edges) == set(dense.to_networkx().edges)
    thin.save(tmp_path / "n")
    for same in (Network.load(tmp_path / "n"), pickle.loads(pickle.dumps(thin))):
        assert same.equals(thin)
        assert isinstance(same.weights, sparse.csr_array)
    assert copy.deepcopy(thin).equals(thin)
    assert not thin.equals(dense)


def test_sparse_weights_are_checked_and_read_only():
    options = sparse.csr_array(weights())
    network = Network(NAMES, options)
    options.data[:] = 7
    assert network.weights.data.max() < 9
    with pytest.raises(ValueError, match="read-only"):
        network.weights.data[0] = 1
    with pytest.raises(ValueError, match="0 on the diagonal"):
        Network(NAMES, sparse.csr_array(np.eye(6)))
    with pytest.raises(ValueError, match="p_values must be a dense matrix"):
        Network(NAMES, weights(), p_values=options)
    with pytest.raises(ValueError, match="must be finite"):
        Network(NAMES, sparse.csr_array(np.full((6, 6), np.inf)))
    with pytest.raises(ValueError, match="0 on the diagonal"):
        Network(NAMES, sparse.csr_array(weights()), targets=np.arange(6) > 2)


@one_test
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_heaviest_links(kind):
    matrix = weights()
    network = Network(NAMES, kind(matrix))
    i, j = network.ranked(4)
    expected = np.zeros((6, 6))
    expected[i, j] = matrix[i, j]
    np.testing.assert_array_equal(network.heaviest(4).weights.toarray(), expected)
    result = network.heaviest(per_target=2)
    assert result.n_candidates == network.n_candidates
    for j in range(6):
        others = [i for i in range(6) if i != j]
        best = sorted(others, key=lambda i: (-matrix[i, j], i))[:2]
        column = np.zeros(6)
        column[best] = matrix[best, j]
        np.testing.assert_array_equal(result.weights.toarray()[:, j], column)
    every = network.heaviest(per_target=99)
    np.testing.assert_array_equal(every.weights.toarray(), matrix)


@one_test
@pytest.mark.parametrize("options", [{}, {"n": 3, "per_target": 1}, {"per_target": -1}])
def test_heaviest_links_refuse(options):
    with pytest.raises(ValueError, match=r"Network\.heaviest"):
        Network(NAMES, weights()).heaviest(**options)


@pytest.mark.slow
def test_thousands_of_genes_in_bounded_memory():
    """2500 x 2500 weights of 25 MB (float32): what else is held grows with the links asked for."""
    p = 2500
    matrix = np.random.default_rng(0).random((p, p), dtype=np.float32)
    np.fill_diagonal(matrix, 0)
    matrix.setflags(write=False)
    names = tuple(f"G{j}" for j in range(p))
    tracemalloc.start()
    try:
        network = Network(names, matrix)
        top = network.top(1000)
        assert len(network.edges(1000)) == 1000
        thin = network.heaviest(per_target=20)
        peak = tracemalloc.get_traced_memory()[1]
        assert network.weights is matrix
        assert thin.weights.nnz == 20 * p
        assert thin.top(1000) == top
        repr(thin)
        assert tracemalloc.get_traced_memory()[1] < 63e6
    finally:
        tracemalloc.stop()
    assert peak < 63e6, peak
    best = np.sort(matrix.ravel())[::-1][:1000]
    np.testing.assert_array_equal([weight for _, _, weight in top], best)
