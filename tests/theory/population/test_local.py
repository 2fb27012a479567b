"""Importances in single rows: Shapley values by brute force, MDI as their mean."""

from functools import partial

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import local as oracle

import duramen as dm
from duramen.theory import FiniteDistribution, examples, population_importances
from duramen.theory import population_local_mdi as exact


def drawn(seed):
    """A random distribution of 1 to 4 features, and its rows for the oracle."""
    random = np.random.default_rng(seed)
    p, n = int(random.integers(1, 5)), int(random.integers(2, 13))
    X, y = random.integers(0, 3, (n, p)), random.integers(0, 3, n)
    weights = random.integers(1, 9, n).astype(float)
    dist = FiniteDistribution.from_table(X, y, weights=weights)
    rows = [(tuple(x), int(z), w) for x, z, w in zip(X.tolist(), y, weights, strict=True)]
    return dist, rows, X, y


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_brute_force_over_subsets(first, criterion):
    for seed in range(first, first + 50):
        dist, rows, X, _ = drawn(seed)
        i = seed % len(X)
        local = exact(dist, X[i : i + 1], criterion=criterion)
        wanted = oracle.shapley(dist.n_features, partial(oracle.worth, rows, X[i], criterion))
        np.testing.assert_allclose(local.values[0], wanted, atol=1e-12)
        assert local.end[0] == pytest.approx(
            oracle.worth(rows, X[i], criterion, range(dist.n_features)), abs=1e-12
        )


@one_test
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_bits_of_the_class_by_brute_force(first):
    for seed in range(first, first + 50):
        dist, rows, X, y = drawn(seed)
        i = seed % len(X)
        local = exact(dist, X[i : i + 1], y[i : i + 1], of="class")
        worth = partial(oracle.worth, rows, X[i], "", y=int(y[i]))
        wanted = oracle.shapley(dist.n_features, worth)
        np.testing.assert_allclose(local.values[0], wanted, atol=1e-12)


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("seed", range(20))
def test_the_mean_is_mdi(seed, criterion):
    dist, *_ = drawn(seed)
    mdi = population_importances(dist, criterion=criterion)
    mean = exact(dist, criterion=criterion).mean()
    np.testing.assert_allclose(mean.values, mdi.values, atol=1e-12)
    assert mean.unit == mdi.unit
    if criterion == "entropy":
        np.testing.assert_allclose(exact(dist, of="class").mean().values, mdi.values, atol=1e-12)


def test_a_row_that_its_noisy_feature_misleads():
    dist = examples.noisy_copy(0.05)
    right, wrong = exact(dist, [[0, 1, 1], [0, 1, 0]], [1, 1], of="class").values
    # X3 alone tells log2(.95 / .5) bits, or log2(.05 / .5); X1 and X2 the rest of one bit.
    alone = np.log2([1.9, 0.1])
    for values, bits in zip((right, wrong), alone, strict=True):
        # Y is known given X1 and X2: X3 counts where it comes first or second.
        third = (2 * bits) / 6 + 2 * bits / 6
        np.testing.assert_allclose(values, [(1 - third) / 2, (1 - third) / 2, third], atol=1e-12)


@one_test
@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"of": "probability"}, "of must be one of 'impurity', 'class'"),
        ({"of": "class", "criterion": "gini"}, 'criterion must be "entropy" for of="class"'),
        ({"y": [0]}, "y must be given with rows"),
        ({"rows": [[0, 1]], "of": "class"}, "y must be given with rows"),
        ({"rows": [[0, 1]], "y": [0]}, "y must be given with rows"),
        ({"rows": [[0, 1]], "y": [0, 1], "of": "class"}, "y must have one class a row, 1, got 2"),
        ({"rows": [[0, 1, 1]]}, r"rows must have the shape \(n, 2\) with n above 0, got \(1, 3\)"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        exact(examples.xor(), **arguments)


def test_too_many_features():
    X = np.random.default_rng(0).integers(0, 2, (5, 30))
    with pytest.raises(ValueError, match="more than 2\\^27"):
        exact(FiniteDistribution.from_table(X, X[:, 0]))


@pytest.mark.slow
def test_forests_of_10000_trees_converge():
    data = dm.datasets.digits7()
    for of, y in (("impurity", None), ("class", data.y)):
        local = exact(examples.digits7(), data.X, y, of=of)
        forest = dm.TotallyRandomizedTreesClassifier(10_000, random_state=1).fit(data.X, data.y)
        grown = dm.importances.local_mdi(forest, data.X, y, of=of)
        parts = [
            dm.importances.local_mdi(forest.forest_.part(k, k + 100), data.X, y, of=of).values
            for k in range(0, 10_000, 100)
        ]
        error = np.std(parts, axis=0, ddof=1) / 10
        z = np.abs(grown.values - local.values) / np.maximum(error, 1e-12)
        assert z.max() < 3.5
        assert error.max() > 1e-4
