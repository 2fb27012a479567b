"""One tree of a search, and what its columns get beyond their decoys."""

import numpy as np
import pytest

import duramen as dm
from duramen.forests import GrowthSettings
from duramen.forests.forest import mean_decreases
from duramen.forests.growth import grow_beside_decoys
from duramen.forests.structure import ARRAY_NAMES
from duramen.selection.subspace_search import Grower

SETTINGS = GrowthSettings(criterion="gini", cut="random", max_features=3)
SEED = 11
COLUMNS = np.array([0, 1, 3, 6])
NEW = np.zeros(4, dtype=bool)


@pytest.fixture
def grower():
    random = np.random.default_rng(0)
    X = random.integers(0, 5, (90, 8))
    y = (X[:, 1] + random.integers(0, 3, 90) > 3).astype(np.uint32)
    return Grower(dm.learning_set(X, y), SETTINGS, 0, True, SEED)


def beside_decoys(grower, tree, columns, judged):
    order = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(0, 2))).permutation(90)
    return grow_beside_decoys(
        grower.data.with_table(grower.data.table.take_columns(columns)),
        SETTINGS,
        tree=tree,
        seed=SEED,
        cycle=order.astype(np.uint32),
        judged=judged,
    )


@pytest.mark.parametrize("tree, columns", [(0, COLUMNS), (5, np.array([1, 4, 5, 7]))])
def test_the_decoys_of_all_trees_have_one_order_of_the_rows(grower, tree, columns):
    outcome = grower.grow(tree, columns, NEW)
    forest, excess = beside_decoys(grower, tree, columns, ~NEW)
    np.testing.assert_array_equal(outcome.excess, excess)
    np.testing.assert_array_equal(outcome.columns, columns)
    np.testing.assert_array_equal(outcome.values, mean_decreases(forest).values)
    assert outcome.excess.any()
    assert outcome.probes.shape == (0,)
    for name in set(ARRAY_NAMES) - {"feature"}:
        np.testing.assert_array_equal(outcome.arrays[name], getattr(forest, name))
    numbers = np.append(columns, -1)  # those of the search; -1 for a leaf
    np.testing.assert_array_equal(outcome.arrays["feature"], numbers[forest.feature])


def test_what_was_found_has_no_decoy(grower):
    for result in ([True, False, True, False], [True] * 4):
        result = np.array(result)
        outcome = grower.grow(5, COLUMNS, result)
        _, excess = beside_decoys(grower, 5, COLUMNS, ~result)
        np.testing.assert_array_equal(outcome.excess, excess)
        assert (outcome.excess[result] == 0).all()
        assert outcome.excess.shape == (4,)


def test_the_tree_does_not_depend_on_what_was_found(grower):
    for tree in range(20):
        new = grower.grow(tree, COLUMNS, NEW)
        forest = grower.grow(tree, COLUMNS, ~NEW)
        np.testing.assert_array_equal(new.values, forest.values)
        for name in ARRAY_NAMES:
            np.testing.assert_array_equal(new.arrays[name], forest.arrays[name])
