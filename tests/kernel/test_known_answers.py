"""Growth against the exact theory: values that were computed by brute force (see the citations)."""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm

# Louppe et al. 2013, Table 2 and the exact recursion for K > 1, in bits.
DIGITS = {
    1: [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372],
    2: [0.363, 0.665, 0.513, 0.525, 0.730, 0.140, 0.386],
    4: [0.310, 0.756, 0.489, 0.445, 0.809, 0.124, 0.389],
    7: [0.306, 0.798, 0.475, 0.410, 0.835, 0.122, 0.375],
}
# Sutera 2019, Table 5.1: feature by interaction degree.
DEGREES = [
    [0.103, 0.085, 0.068, 0.053, 0.042, 0.033, 0.029],
    [0.139, 0.126, 0.105, 0.082, 0.060, 0.042, 0.029],
    [0.103, 0.091, 0.081, 0.073, 0.066, 0.061, 0.057],
    [0.126, 0.114, 0.097, 0.077, 0.058, 0.042, 0.029],
    [0.139, 0.123, 0.106, 0.090, 0.076, 0.065, 0.057],
    [0.067, 0.056, 0.043, 0.031, 0.020, 0.010, 0.000],
    [0.126, 0.098, 0.070, 0.045, 0.025, 0.010, 0.000],
]


def importances(X, y, n_trees=10_000, **parameters):
    # Extra-Trees, which are totally randomized with one feature at a node.
    settings = {"criterion": "entropy", "splits": "multiway", "max_features": 1} | parameters
    forest = dm.ExtraTreesClassifier(n_trees, random_state=0, **settings).fit(X, y)
    return dm.importances.mdi(forest, by_degree=True)


@one_test
@pytest.mark.parametrize("K", sorted(DIGITS))
def test_digits(K):
    digits = dm.datasets.digits7()
    result = importances(digits.X, digits.y, max_features=K)
    np.testing.assert_allclose(result.values, DIGITS[K], atol=0.01)
    # Every tree is fully developed: its decreases sum to I(V; Y) = log2 10.
    assert result.values.sum() == pytest.approx(np.log2(10), abs=1e-9)
    np.testing.assert_allclose(result.by_degree.sum(axis=1), result.values, atol=1e-12)


@pytest.mark.smoke
def test_digits_by_degree():
    digits = dm.datasets.digits7()
    result = importances(digits.X, digits.y, max_features=1)
    np.testing.assert_allclose(result.by_degree, DEGREES, atol=0.01)


def test_digits_with_an_irrelevant_constant_leaves_the_others_alone():
    # A constant column is irrelevant: it takes part in the draws, and changes no importance.
    digits = dm.datasets.digits7()
    X = np.column_stack([np.asarray(digits.X), np.ones(10)])
    result = importances(X, digits.y, max_features=1)
    np.testing.assert_allclose(result.values, [*DIGITS[1], 0], atol=0.01)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("splits", "expected"),
    # Example 5.2 of Sutera 2019: X1 in {0, 1, 2}, X2 = [X1 > 0] = Y.
    [("multiway", [0.459, 0.459]), ("ordered", [0.376, 0.542])],
)
def test_a_binary_copy_of_a_ternary_feature(splits, expected):
    X = np.array([[0, 0], [1, 1], [2, 1]])
    actual = importances(X, [0, 1, 1], splits=splits)
    np.testing.assert_allclose(actual.values, expected, atol=0.015)


@one_test
@pytest.mark.parametrize(
    ("splits", "expected"),
    # Section 7 of the theory: X1 split at random into 4 values, K = 1.
    [
        ("ordered", [0.347, 0.586, 0.535, 0.548, 0.664, 0.227, 0.415]),
        ("any", [0.318, 0.588, 0.537, 0.550, 0.668, 0.227, 0.434]),
        ("one-vs-rest", [0.309, 0.589, 0.538, 0.551, 0.669, 0.227, 0.440]),
    ],
)
def test_binary_splits_of_digits_with_a_split_segment(splits, expected):
    # Each row twice, once for each of the two values that stand for a value of the first segment.
    digits = dm.datasets.digits7()
    X = np.repeat(np.asarray(digits.X).astype(float), 2, axis=0)
    X[:, 0] = 2 * X[:, 0] + np.tile([0, 1], 10)
    table = dm.encode(X, kinds="ordinal")
    actual = importances(table, np.repeat(digits.y, 2), splits=splits)
    np.testing.assert_allclose(actual.values, expected, atol=0.01)


@pytest.mark.smoke
def test_xor_needs_both():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    result = importances(X, X[:, 0] ^ X[:, 1])
    np.testing.assert_allclose(result.values, [0.5, 0.5], atol=0.02)
    np.testing.assert_allclose(result.by_degree[:, 0], 0, atol=1e-12)
