"""Sums of decreases that count small nodes less."""

import numpy as np
import pytest
from tests.oracles.subspaces import decreases_of_tree

import duramen as dm
from duramen.forests.decreases import early_decreases, mean_decreases

NAMES = ("feature", "child", "n_children", "rows", "impurity")


@pytest.mark.parametrize("splits", ["ordered", "multiway"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_early_decreases_node_by_node(splits, task):
    random = np.random.default_rng(0)
    X = random.integers(0, 4, (80, 6))
    y = X[:, 0] + (X[:, 1] > 1) + random.integers(0, 2, 80)
    kind = dm.ExtraTreesClassifier if task == "classification" else dm.ExtraTreesRegressor
    forest = kind(7, splits=splits, random_state=0).fit(X, y).forest_
    expected = np.zeros(6)
    for tree in forest:
        arrays = {name: getattr(tree, name).tolist() for name in NAMES}
        for column, value in decreases_of_tree(arrays, 80, power=1 / 8).items():
            expected[column] += value
    values = early_decreases(forest)
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-13)
    assert (values <= 7 * mean_decreases(forest).values + 1e-12).all()


def test_a_stump_counts_in_full():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    forest = dm.ExtraTreesClassifier(3, random_state=0).fit(X, [0, 0, 1, 1]).forest_
    np.testing.assert_allclose(early_decreases(forest), [1.5])  # Gini .5, three times


def test_no_split_at_all():
    forest = dm.ExtraTreesClassifier(2, random_state=0).fit(np.zeros((4, 2)), [0, 1, 0, 1]).forest_
    assert early_decreases(forest).tolist() == [0, 0]
