"""Interactions of pairs in forests: node by node, and what is refused."""

import numpy as np
import pytest
from tests.estimators.test_survival import outcome
from tests.grid import one_test

import duramen as dm
from duramen.importances import interactions
from duramen.importances.measures.interactions import DESCRIPTIVE


def problem(n=80, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    number = np.where(X[:, 0] > 0, X[:, 1], -X[:, 1]) + 0.3 * X[:, 2]
    return X, number, np.digitize(number, [-0.5, 0.5])


def by_nodes(forest):
    """Tally of binary trees, node by node: mean and its standard error."""
    p = forest.n_features
    of_trees = np.zeros((forest.n_trees, p, p))
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        for node in np.flatnonzero(tree.feature >= 0):
            above, at = set(), node
            while tree.parent[at] >= 0:
                at = tree.parent[at]
                above.add(int(tree.feature[at]))
            m = int(tree.feature[node])
            above.discard(m)
            gain = p * tree.decrease[node] * tree.weight[node] / tree.weight[0]
            for j in set(range(p)) - {m}:
                step = gain / len(above) if j in above else -gain / (p - 1 - len(above))
                of_trees[number, m, j] += step / 2
                of_trees[number, j, m] += step / 2
    error = of_trees.std(axis=0, ddof=1) / np.sqrt(forest.n_trees)
    return of_trees.mean(axis=0), error


@one_test
@pytest.mark.parametrize(
    "estimator",
    [
        dm.RandomForestClassifier(15, random_state=0),
        dm.ExtraTreesClassifier(15, criterion="entropy", max_samples=0.5, random_state=0),
        dm.RandomForestRegressor(15, random_state=0),
    ],
)
def test_nodes_of_binary_trees(estimator):
    X, number, classes = problem()
    y = number if "Regressor" in type(estimator).__name__ else classes
    forest = estimator.fit(X, y)
    pairs = interactions(forest, X)
    values, error = by_nodes(forest.forest_)
    np.testing.assert_allclose(pairs.values, values, atol=1e-12)
    np.testing.assert_allclose(pairs.standard_error, error, atol=1e-12)
    assert pairs.notes == (DESCRIPTIVE,)
    assert pairs.unit == dm.importances.mdi(forest).unit
    some = interactions(forest, X, features=["x3", "x0"])
    assert some.names == ("x0", "x3")
    assert some["x3", "x0"] == pytest.approx(values[0, 3], abs=1e-12)


def test_a_planted_pair_is_first():
    random = np.random.default_rng(1)
    X = random.integers(0, 2, (400, 8))
    forest = dm.TotallyRandomizedTreesClassifier(300, random_state=0)
    forest.fit(X, (X[:, 2] ^ X[:, 5]) | (random.random(400) < 0.1))
    pairs = interactions(forest, X)
    assert pairs.to_frame()[["feature", "other"]].iloc[0].tolist() == ["x2", "x5"]
    assert pairs["x2", "x5"] > 10 * pairs.standard_error[2, 5]
    assert pairs.notes == ()


def test_constant_features_are_drawn_too():
    """Copies and constants: the mean over many trees is the exact index."""
    random = np.random.default_rng(3)
    X = random.integers(0, 3, (14, 4))
    X = np.column_stack([X, X[:, 0], X[:, 1] > 0, np.zeros(14, dtype=int)])
    y = random.integers(0, 2, 14)
    exact = dm.theory.population_interactions(dm.theory.FiniteDistribution.from_table(X, y))
    forest = dm.TotallyRandomizedTreesClassifier(4000, random_state=0).fit(X, y)
    pairs = interactions(forest, X)
    first, second = np.triu_indices(7, 1)
    distance = np.abs(pairs.values - exact.values)[first, second]
    assert np.all(distance < 3.5 * pairs.standard_error[first, second] + 1e-12)
    assert np.abs(exact.values).max() > 0.1


def test_pairs_on_common_paths():
    X, _, classes = problem()
    forest = dm.RandomForestClassifier(15, max_depth=2, random_state=0).fit(X, classes)
    dense, sparse = interactions(forest, X), interactions(forest, sparse=True)
    on_paths = set()
    for tree in (forest.forest_.tree(t) for t in range(15)):
        for node in np.flatnonzero(tree.feature >= 0)[1:]:
            pair = {int(tree.feature[node]), int(tree.feature[tree.parent[node]])}
            on_paths |= {tuple(sorted(pair))} if len(pair) == 2 and tree.decrease[node] else set()
    assert len(on_paths) == len(sparse)
    for m, j in on_paths:
        assert sparse.values[m, j] == pytest.approx(dense.values[m, j], abs=1e-12)
    frame = sparse.to_frame()
    assert list(frame.columns) == ["feature", "other", "interaction"]
    assert frame["interaction"].abs().is_monotonic_decreasing
    assert "in gini" in repr(sparse)
    assert len(dm.plots.interaction_network(sparse, n=3).lines) == 4
    with pytest.raises(ValueError, match="features must be None with sparse=True"):
        interactions(forest, sparse=True, features=3)
    trees = dm.TotallyRandomizedTreesClassifier(3, random_state=0).fit(X > 0, classes)
    with pytest.raises(ValueError, match="sparse must be False for multiway trees"):
        interactions(trees, sparse=True)


def test_rows_and_forests_that_do_not_fit():
    X, number, classes = problem()
    forest = dm.RandomForestClassifier(3, random_state=0).fit(X, classes)
    with pytest.raises(TypeError, match="X is missing"):
        interactions(forest, None)
    with pytest.raises(ValueError, match="X must be the table that the forest was grown on"):
        interactions(forest, X[::-1].copy())
    weights = np.r_[0.0, np.ones(79)]
    forest.fit(X, classes, sample_weight=weights)
    with pytest.raises(ValueError, match="X must have no row of weight 0"):
        interactions(forest, X)
    survival = dm.RandomSurvivalForest(3, random_state=0)
    survival.fit(X, outcome(np.exp(number), np.arange(80) % 3 > 0))
    with pytest.raises(ValueError, match="interactions: is not defined for survival"):
        interactions(survival, X)
