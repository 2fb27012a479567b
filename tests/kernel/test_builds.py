"""The builds of the kernel for different processors compute the same, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.grid import one_test

import duramen as dm
from duramen.forests import GrowthSettings, grow
from duramen.forests.growth import grow_beside_decoys
from duramen.forests.structure import ARRAY_NAMES


def problem(n, task):
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 12)).round(2)
    X[:, 3] = random.integers(0, 3, n)
    number = X[:, 0] * X[:, 1] + 0.3 * random.normal(size=n)
    target = number if task == "variance" else (number > 0).astype(np.uint32)
    return X, target, random


def same_arrays(first, other, names=ARRAY_NAMES):
    for name in names:
        assert getattr(first, name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.smoke
@one_test
@pytest.mark.parametrize("n", [70, 400])
@pytest.mark.parametrize("cut", ["best", "random"])
@pytest.mark.parametrize("task", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_same_trees(both_kernels, use_build, n, cut, task, bootstrap):
    X, target, _ = problem(n, task)
    settings = GrowthSettings(criterion=task, cut=cut, max_features=4, bootstrap=bootstrap)
    grown = []
    for build in both_kernels:
        use_build(build)
        grown.append(grow(dm.learning_set(X, target), settings, n_trees=30, seed=5))
    assert grown[0].n_nodes > 300
    same_arrays(*grown)


@pytest.mark.smoke
@one_test
@pytest.mark.parametrize("kind", [dm.ExtraTreesClassifier, dm.RandomForestClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_trees_of_sparse_tables(both_kernels, use_build, kind, n_classes):
    # More rows than are read as bits of a subtree: entries are compressed where there is pext.
    random = np.random.default_rng(n_classes)
    stored = random.random((2000, 40)) < np.linspace(0.02, 0.36, 40)
    X = np.where(stored, random.poisson(2, stored.shape) + 1.0, 0.0)
    signal = X[:, :5].sum(axis=1) + random.normal(size=len(X))
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    grown = []
    for build in both_kernels:
        use_build(build)
        table = dm.encode(sparse.csc_matrix(X))
        assert table.sparse is not None
        grown.append(kind(5, random_state=0).fit(table, y).forest_)
    assert grown[0].n_nodes > 1000
    same_arrays(*grown)


@pytest.mark.smoke
@one_test
@pytest.mark.parametrize("n", [70, 400])
@pytest.mark.parametrize("task", ["gini", "entropy", "variance"])
def test_same_decoys(both_kernels, use_build, n, task):
    X, target, random = problem(n, task)
    settings = GrowthSettings(criterion=task, cut="random", max_features=12)
    decoys = {"cycle": random.permutation(n).astype(np.uint32), "judged": np.arange(12) > 1}
    excess = []
    for build in both_kernels:
        use_build(build)
        data = dm.learning_set(X, target)
        excess.append(grow_beside_decoys(data, settings, tree=3, seed=5, **decoys)[1])
    assert np.count_nonzero(excess[0]) > 5
    assert excess[0].tobytes() == excess[1].tobytes()


@one_test
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("K", [1, 3, 40])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"row_samples": 50}])
def test_nodes_as_bits_and_as_row_numbers_give_the_same_trees(n_classes, K, criterion, limits):
    # Small tables with random cuts have a growth loop of their own, but for weighted rows.
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(90, 40)).round(1)
    X[:, :5] = X[:, :5].round()
    X[:, 6] = 1
    target = random.integers(0, n_classes, 90)
    settings = GrowthSettings(criterion=criterion, cut="random", max_features=K, **limits)
    data = dm.learning_set(X, target)
    weighted = replace(data, weights=np.ones(90))
    first, other = (grow(options, settings, n_trees=20, seed=7) for options in (data, weighted))
    assert first.n_nodes > 200
    # Only weights that were given are kept by node; they are the rows here.
    assert first.node_weight.size == 0
    assert other.node_weight.tobytes() == other.rows.astype(np.float64).tobytes()
    same_arrays(first, other, [name for name in ARRAY_NAMES if name != "node_weight"])


@pytest.mark.smoke
@pytest.mark.parametrize("task", ["gini", "variance"])
def test_same_permutation_losses(both_kernels, use_build, task):
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 6)).round(1)
    number = X[:, 0] + X[:, 1] + 0.3 * random.normal(size=90)
    kind = dm.RandomForestRegressor if task == "variance" else dm.RandomForestClassifier
    y = number if task == "variance" else number > 0
    measure = dm.importances.conditional_mda  # imported before the builds are exchanged
    results = []
    for build in both_kernels:
        use_build(build)
        model = kind(40, random_state=0).fit(X, y)
        results.append(measure(model, X, y, n_repeats=2))
    assert results[0].equals(results[1])
    assert np.abs(results[0].values).max() > 0
