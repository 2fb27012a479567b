"""One tree of a search and its companion."""

import numpy as np
import pytest

import duramen as dm
from duramen.forests.decreases import early_decreases
from duramen.forests.growth import grow
from duramen.forests.settings import GrowthSettings
from duramen.selection.trees import Grower

SETTINGS = GrowthSettings(criterion="gini", cut="random", max_features=4)
SEED = 11


@pytest.fixture
def grower():
    random = np.random.default_rng(0)
    X = random.integers(0, 5, (90, 8))
    y = (X[:, 1] + random.integers(0, 3, 90) > 3).astype(np.uint32)
    return Grower(dm.encode(X), y, np.arange(2), SETTINGS, 0, True, SEED, "data")


def early(grower, tree, columns, y, seed):
    table = grower.source.take_columns(columns)
    forest = grow(table, y, SETTINGS, n_trees=1, seed=seed, classes=np.arange(2), first_tree=tree)
    return early_decreases(forest)


def test_the_companion_of_what_was_found_is_another_tree_on_the_same(grower):
    columns = np.array([0, 1, 3, 6])
    outcome = grower.grow(5, columns, np.ones(4, dtype=bool))
    both = [early(grower, 5, columns, grower.target, seed) for seed in (SEED, SEED + 1)]
    np.testing.assert_allclose(outcome.excess, both[0] - both[1], atol=1e-15)


def test_where_nothing_was_found_all_rows_are_permuted_alike_in_all_trees(grower):
    """As if the classes were permuted, by the inverse, one permutation for all trees."""
    order = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(0, 2))).permutation(90)
    y = np.empty_like(grower.target)
    y[order] = grower.target
    for tree, columns in enumerate(([0, 1, 2, 3], [1, 4, 5, 7])):
        outcome = grower.grow(tree, np.array(columns), np.zeros(4, dtype=bool))
        own = early(grower, tree, columns, grower.target, SEED)
        decoys = early(grower, tree, columns, y, SEED + 1)
        np.testing.assert_allclose(outcome.excess, own - decoys, atol=1e-15)


def test_without_a_companion_there_is_no_excess(grower):
    alone = Grower(grower.source, grower.target, np.arange(2), SETTINGS, 2, False, SEED, "data")
    outcome = alone.grow(0, np.array([2, 3]), np.zeros(2, dtype=bool))
    assert outcome.excess.shape == (0,)
    assert outcome.probes.shape == (2,)


def test_trees_are_known_by_their_data(grower):
    assert grower._forest(0, grower.source, SEED).fingerprint == "data"
