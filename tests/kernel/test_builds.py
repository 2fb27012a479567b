"""The builds of the kernel for different processors compute the same, bit for bit."""

import numpy as np
import pytest
from tests.grid import one_test

from duramen import _kernel
from duramen.forests.growth import table_arguments
from duramen.forests.settings import GrowthSettings
from duramen.tables import encode


def problem(n, task):
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 12)).round(2)
    X[:, 3] = random.integers(0, 3, n)
    number = X[:, 0] * X[:, 1] + 0.3 * random.normal(size=n)
    target = number if task == "variance" else (number > 0).astype(np.uint32)
    return X, target, random


@one_test
@pytest.mark.parametrize("n", [70, 400])
@pytest.mark.parametrize("cut", ["best", "random"])
@pytest.mark.parametrize("task", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_same_trees(both_kernels, n, cut, task, bootstrap):
    X, target, _ = problem(n, task)
    settings = GrowthSettings(criterion=task, cut=cut, max_features=4, bootstrap=bootstrap)
    grown = [
        build.grow(
            *table_arguments(encode(X)),
            target,
            0 if task == "variance" else 2,
            None,
            settings.for_kernel(),
            0,
            30,
            5,
            1,
            None,
        )
        for build in both_kernels
    ]
    assert grown[0]["feature"].size > 300
    for name, array in grown[0].items():
        assert array.tobytes() == grown[1][name].tobytes(), name


@one_test
@pytest.mark.parametrize("n", [70, 400])
@pytest.mark.parametrize("task", ["gini", "entropy", "variance"])
def test_same_decoys(both_kernels, n, task):
    X, target, random = problem(n, task)
    settings = GrowthSettings(criterion=task, cut="random", max_features=12)
    cycle, judged = random.permutation(n).astype(np.uint32), np.arange(12) > 1
    given = (target, 0 if task == "variance" else 2, None, settings.for_kernel(), 3, 1, 5, 1, None)
    excess = [
        build.grow(*table_arguments(encode(X)), *given, cycle, judged)["excess"]
        for build in both_kernels
    ]
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
    target = random.integers(0, n_classes, 90).astype(np.uint32)
    settings = GrowthSettings(criterion=criterion, cut="random", max_features=K, **limits)
    grown = [
        _kernel.grow(
            *table_arguments(encode(X)),
            target,
            n_classes,
            weights,
            settings.for_kernel(),
            0,
            20,
            7,
            1,
            None,
        )
        for weights in (None, np.ones(90))
    ]
    assert grown[0]["feature"].size > 200
    # Only weights that were given are kept by node; they are the rows here.
    weight = grown[1].pop("node_weight")
    assert grown[0].pop("node_weight").size == 0
    assert weight.tobytes() == grown[1]["rows"].astype(np.float64).tobytes()
    for name, array in grown[0].items():
        assert array.tobytes() == grown[1][name].tobytes(), name


@pytest.mark.parametrize("task", ["gini", "variance"])
def test_same_permutation_losses(both_kernels, task, monkeypatch):
    import duramen as dm
    from duramen.importances import permutation

    random = np.random.default_rng(0)
    X = random.normal(size=(90, 6)).round(1)
    number = X[:, 0] + X[:, 1] + 0.3 * random.normal(size=90)
    kind = dm.RandomForestRegressor if task == "variance" else dm.RandomForestClassifier
    y = number if task == "variance" else number > 0
    model = kind(40, random_state=0).fit(X, y)
    results = []
    for build in both_kernels:
        monkeypatch.setattr(permutation, "_kernel", build)
        results.append(dm.importances.conditional_mda(model, X, y, n_repeats=2))
    assert results[0].equals(results[1])
    assert np.abs(results[0].values).max() > 0
