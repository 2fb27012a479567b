import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test
from tests.importances.nesting import nested
from tests.oracles import subtrees as oracle

from duramen import estimators
from duramen.forests.structure import Nodes
from duramen.importances import minimal_depth, minimal_depth_distribution


def table(n=80, seed=0):
    """The first column decides, the second helps, the others say nothing; the last is constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    X[:, 5] = 1.0
    number = X[:, 0] + 0.3 * X[:, 1] + 0.1 * random.normal(size=n)
    return X, (number > 0).astype(int), number


def depth_in(root, feature):
    depth = oracle.minimal_depth(root, feature)
    return oracle.height(root) if depth is None else depth


# --- the null distribution -----------------------------------------------------------------------


def test_null_distribution_has_its_known_answer():
    distribution = minimal_depth_distribution(10, [1, 2, 4, 8])
    np.testing.assert_allclose(distribution, [0.1, 0.171, 0.2507, 0.2724, 0.2059], atol=5e-5)
    assert distribution @ np.arange(5) == pytest.approx(2.3132, abs=5e-5)


LEAF = ()
STUMP = (LEAF, LEAF)
SHAPES = {
    "stump": STUMP,
    "chain": ((STUMP, LEAF), LEAF),
    "full": (STUMP, STUMP),
    "three ways": ((LEAF, STUMP), LEAF, STUMP),
}


def counts_of(shape):
    """Internal nodes at every depth."""
    if not shape:
        return []
    return [1, *map(sum, itertools.zip_longest(*map(counts_of, shape), fillvalue=0))]


@one_test
@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("p", [3, 4])
def test_distribution_against_all_ways_to_put_features_on_a_tree(shape, p, once):
    distribution = oracle.distribution_by_enumeration(SHAPES[shape], p, once=once)
    assert sum(distribution) == 1
    result = minimal_depth_distribution(p, counts_of(SHAPES[shape]), multiway=once)
    np.testing.assert_allclose(result, [float(part) for part in distribution], atol=1e-12)


@one_test
@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, [1]), "n_features must be an int >= 1, got 0"),
        ((3, [1, -2]), "numbers from 0"),
        ((3, [[1, 2]]), "one per depth"),
        ((3, [1, np.nan]), "numbers from 0"),
    ],
)
def test_distribution_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        minimal_depth_distribution(*arguments)
    with pytest.raises(ValueError, match="at most n_features=3 depths with multiway=True, got 4"):
        minimal_depth_distribution(3, [1, 1, 1, 1], multiway=True)


# --- maximal subtrees ----------------------------------------------------------------------------


@given(
    seed=st.integers(0, 999),
    p=st.integers(1, 4),
    n=st.integers(2, 40),
    splits=st.sampled_from(["ordered", "multiway", "one-vs-rest"]),
)
def test_maximal_subtrees_against_recursion(seed, p, n, splits):
    random = np.random.default_rng(seed)
    X, y = random.integers(0, 5, size=(n, p)), random.integers(0, 3, n)
    y[:2] = [0, 1]
    forest = estimators.ExtraTreesClassifier(
        3, max_features=1, splits=splits, bootstrap=True, random_state=seed
    ).fit(X, y)
    first = Nodes(forest.forest_).maximal()
    for root, tree, start in zip(
        nested(forest, X, X), forest.forest_, forest.forest_.offsets, strict=False
    ):
        marked = [
            sum(bool(first[start + i]) for i in range(tree.n_nodes) if tree.feature[i] == j)
            for j in range(p)
        ]
        assert marked == [len(oracle.maximal_roots(root, j)) for j in range(p)]
        for j in range(p):
            depths = tree.depth[first[start : start + tree.n_nodes] & (tree.feature == j)]
            assert (int(depths.min()) if depths.size else None) == oracle.minimal_depth(root, j)


# --- forests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("splits", ["ordered", "multiway"])
def test_depths_against_recursion(splits):
    X, y, _ = table(50)
    X = np.round(X)
    forest = estimators.RandomForestClassifier(9, splits=splits, random_state=0).fit(X, y)
    roots = nested(forest, X, X)
    depths = np.array([[depth_in(root, j) for j in range(6)] for root in roots])
    multiway = splits == "multiway"
    by_chance = np.array(
        [
            distribution @ np.arange(distribution.size)  # of the five columns that can be split on
            for root in roots
            for distribution in [
                minimal_depth_distribution(5, oracle.splits_by_depth(root), multiway=multiway)
            ]
        ]
    )
    result = minimal_depth(forest)
    gains = by_chance[:, np.newaxis] - depths
    np.testing.assert_allclose(result.values, gains.mean(axis=0), atol=1e-12)
    assert result.metadata["minimal_depth"]["threshold"] == pytest.approx(by_chance.mean())
    error = gains.std(axis=0, ddof=1) / 3
    np.testing.assert_allclose(result.standard_error, error, atol=1e-9)
    assert (result.measure, result.unit) == ("minimal_depth", "1")


def test_relevant_features_come_first_and_pass_the_threshold():
    X, y, _ = table()
    forest = estimators.RandomForestClassifier(200, random_state=0).fit(X, y)
    result = minimal_depth(forest)
    assert result.order()[0] == 0
    assert result.values[0] > 0 > result.values[5]


def test_features_chosen_by_chance_are_at_the_threshold():
    # Continuous columns are never constant where there is something to split: at every node each
    # of the five is as likely, and the distribution is exact.
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 5)), random.integers(0, 2, 60)
    forest = estimators.TotallyRandomizedTreesClassifier(3000, random_state=0).fit(X, y)
    result = minimal_depth(forest)
    assert np.abs(result.values / result.standard_error).max() < 4
    first = np.array([tree.feature[0] == 0 for tree in forest.forest_]).mean()
    assert abs(first - 0.2) < 4 * np.sqrt(0.16 / 3000)


def test_features_chosen_by_chance_in_multiway_trees():
    # All cells of five columns and no two equal targets: each path splits on every column once.
    X = np.array(list(itertools.product([0, 1], [0, 1], [0, 1, 2], [0, 1], [0, 1, 2])))
    y = np.random.default_rng(0).normal(size=len(X))
    forest = estimators.TotallyRandomizedTreesRegressor(
        3000, splits="multiway", random_state=0
    ).fit(X, y)
    result = minimal_depth(forest)
    assert np.abs(result.values / result.standard_error).max() < 4


@pytest.mark.slow
def test_features_chosen_by_chance_among_those_that_a_tree_sees():
    random = np.random.default_rng(0)
    gains = []
    for seed in range(150):
        X, y = random.normal(size=(20, 8)), random.integers(0, 2, 20)
        y[:2] = [0, 1]
        forest = estimators.RandomSubspaceClassifier(
            10, n_subspace_features=3, max_features=1, random_state=seed
        )
        gains.append(minimal_depth(forest.fit(X, y)).values)
    mean, error = np.mean(gains, axis=0), np.std(gains, axis=0, ddof=1) / np.sqrt(150)
    assert np.abs(mean / error).max() < 4


# --- corners -------------------------------------------------------------------------------------


def test_trees_without_a_split_are_left_out():
    X = np.arange(8.0)[:, np.newaxis] * [1.0, -1.0]
    y = np.array([0] * 7 + [1])
    forest = estimators.RandomForestClassifier(30, random_state=0).fit(X, y)
    split = [tree.n_nodes > 1 for tree in forest.forest_]
    assert 0 < sum(split) < 30
    result = minimal_depth(forest)
    depths = [
        [depth_in(root, j) for j in range(2)]
        for root, grown in zip(nested(forest, X, X), split, strict=True)
        if grown
    ]
    choices = result.metadata["minimal_depth"]
    np.testing.assert_allclose(choices["threshold"] - result.values, np.mean(depths, axis=0))
    assert choices["n_split_trees"] == sum(split)


def test_forest_without_a_split():
    forest = estimators.RandomForestClassifier(3, random_state=0).fit(
        np.ones((10, 2)), np.arange(10) % 2
    )
    result = minimal_depth(forest)
    assert result.values.tolist() == [0.0, 0.0]
    assert result.standard_error is None
    assert result.metadata["minimal_depth"]["threshold"] == 0.0
