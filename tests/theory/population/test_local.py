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
    return dist, rows, X


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_brute_force_over_subsets(first, criterion):
    for seed in range(first, first + 50):
        dist, rows, X = drawn(seed)
        i = seed % len(X)
        local = exact(dist, X[i : i + 1], criterion=criterion)
        wanted = oracle.shapley(dist.n_features, partial(oracle.worth, rows, X[i], criterion))
        np.testing.assert_allclose(local.values[0], wanted, atol=1e-12)
        assert local.end[0] == pytest.approx(
            oracle.worth(rows, X[i], criterion, range(dist.n_features)), abs=1e-12
        )


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("seed", range(20))
def test_the_mean_is_mdi(seed, criterion):
    dist, *_ = drawn(seed)
    mdi = population_importances(dist, criterion=criterion)
    mean = exact(dist, criterion=criterion).mean()
    np.testing.assert_allclose(mean.values, mdi.values, atol=1e-12)
    assert mean.unit == mdi.unit


def class_bits(rows, X, y):
    """Shapley values of log2 P(y | V_S = x_S) of each row and its class."""
    worths = [partial(oracle.worth, rows, x, "", y=int(c)) for x, c in zip(X, y, strict=True)]
    return np.array([oracle.shapley(len(X[0]), worth) for worth in worths])


def test_a_row_that_its_noisy_feature_misleads():
    rows = [((a, b, (a ^ b) ^ e), a ^ b, q) for a in (0, 1) for b in (0, 1)
            for e, q in ((0, 0.95), (1, 0.05))]  # fmt: skip
    right, wrong = class_bits(rows, [[0, 1, 1], [0, 1, 0]], [1, 1])
    # X3 alone tells log2(.95 / .5) bits, or log2(.05 / .5); X1 and X2 the rest of one bit.
    for values, bits in zip((right, wrong), np.log2([1.9, 0.1]), strict=True):
        third = 2 * bits / 3  # Y is known given X1 and X2: X3 counts where it comes first or second
        np.testing.assert_allclose(values, [(1 - third) / 2, (1 - third) / 2, third], atol=1e-12)
    entropy = exact(examples.noisy_copy(0.05), [[0, 1, 1], [0, 1, 0]]).values
    np.testing.assert_allclose(entropy[0], entropy[1], atol=1e-12)


def test_wrong_rows():
    with pytest.raises(ValueError, match=r"rows must have the shape \(n, 2\) .*, got \(1, 3\)"):
        exact(examples.xor(), [[0, 1, 1]])
    with pytest.raises(ValueError, match="rows must have positive probability, got row 1"):
        exact(examples.noisy_copy(0.0), [[0, 1, 1], [0, 1, 0]])


def test_too_many_features():
    X = np.random.default_rng(0).integers(0, 2, (5, 30))
    with pytest.raises(ValueError, match="more than 2\\^27"):
        exact(FiniteDistribution.from_table(X, X[:, 0]))


@pytest.mark.slow
def test_forests_of_10000_trees_converge():
    data = dm.datasets.digits7()
    rows = [(tuple(x), int(y), 0.1) for x, y in zip(data.X.tolist(), data.y, strict=True)]
    forest = dm.TotallyRandomizedTreesClassifier(10_000, random_state=1).fit(data.X, data.y)
    limits = {
        "impurity": exact(examples.digits7(), data.X).values,
        "class": class_bits(rows, data.X, data.y),
    }
    for of, limit in limits.items():
        y = data.y if of == "class" else None
        grown = dm.importances.local_mdi(forest, data.X, y, of=of)
        parts = [
            dm.importances.local_mdi(forest.forest_.part(k, k + 100), data.X, y, of=of).values
            for k in range(0, 10_000, 100)
        ]
        error = np.std(parts, axis=0, ddof=1) / 10
        z = np.abs(grown.values - limit) / np.maximum(error, 1e-12)
        assert z.max() < 3.5
        assert error.max() > 1e-4
