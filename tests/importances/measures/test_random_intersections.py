"""Random intersection trees: against all paths of small forests, and planted sets."""

from itertools import combinations

import numpy as np
import pytest

import duramen as dm
from duramen.importances import FeatureSets, random_intersections
from duramen.significance import stable_intersections


def problem(n=150, p=7, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, p))
    return X, np.where((X[:, 1] > 0) & (X[:, 4] > 0), "yes", "no")


def paths(forest, label=None):
    """Features of the path to each leaf (of a class), and its weight."""
    grown = forest.forest_
    for number in range(grown.n_trees):
        tree = grown.tree(number)
        for leaf in np.flatnonzero(tree.feature < 0):
            values = tree.values[tree.child[leaf]]
            if label is not None and grown.classes[values.argmax()] != label:
                continue
            features, at = set(), leaf
            while tree.parent[at] >= 0:
                at = tree.parent[at]
                features.add(int(tree.feature[at]))
            yield frozenset(features), float(tree.weight[leaf])


@pytest.mark.parametrize("label", [None, "yes"])
def test_all_sets_of_small_forests(label):
    """One intersection by many draws finds the intersections of all pairs of paths, no others."""
    X, y = problem(60)
    forest = dm.RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    sets = random_intersections(
        forest, pos_label=label, n_draws=4000, depth=1, min_size=1, random_state=0
    )
    leaves = list(paths(forest, label))
    total = sum(weight for _, weight in leaves)
    exact = {}
    for (first, _), (second, _) in [*combinations(leaves, 2), *zip(leaves, leaves, strict=True)]:
        if common := first & second:
            exact[common] = sum(w for path, w in leaves if common <= path) / total
    result = {
        frozenset(int(name[1:]) for name in names): value
        for names, value in zip(sets.sets, sets.prevalence, strict=True)
    }
    assert result.keys() == exact.keys()
    for key, value in result.items():
        assert value == pytest.approx(exact[key])
    assert np.all(np.diff(sets.prevalence) <= 0)


def test_survivors_have_their_probability():
    """Fraction of trees with one child that a pair survives: the sum over paths, to a power."""
    X, y = problem(80)
    forest = dm.RandomForestClassifier(10, max_depth=3, max_features=None, random_state=1)
    forest.fit(X, y)
    pair, leaves = frozenset({1, 4}), list(paths(forest))
    prevalence = sum(w for path, w in leaves if pair <= path) / sum(w for _, w in leaves)
    n, hits = 200, 0
    for seed in range(n):
        sets = random_intersections(forest, n_draws=1, depth=2, n_children=1, random_state=seed)
        hits += any({"x1", "x4"} <= set(names) for names in sets.sets)
    expected = prevalence**3
    assert 0.02 < expected < 0.98
    assert abs(hits / n - expected) < 4 * np.sqrt(expected * (1 - expected) / n)


def test_planted_sets_are_stable(tmp_path):
    X, y = problem(250, 20)
    forest = dm.GuidedForestClassifier(30)
    options = {"pos_label": "yes", "n_resamples": 6, "n_draws": 100, "random_state": 0}
    sets = stable_intersections(forest, X, y, **options)
    assert sets.sets[0] == ("x1", "x4")
    assert sets.stability[0] == 1.0
    counts = sets.stability * 6
    assert np.allclose(counts, counts.round())
    file = tmp_path / "sets.ckpt"
    for n_jobs in (3, 1):
        other = stable_intersections(forest, X, y, n_jobs=n_jobs, checkpoint=file, **options)
        assert other.equals(sets)
    sets.save(tmp_path / "sets.npz")
    assert FeatureSets.load(tmp_path / "sets.npz").equals(sets)
    assert "stability" in repr(sets)
    assert list(sets.to_frame().columns) == ["features", "size", "prevalence", "stability"]


def test_numbers_and_forests_without_splits():
    X, y = problem()
    forest = dm.RandomForestRegressor(10, max_features=None, random_state=0)
    sets = random_intersections(forest.fit(X, y == "yes"), random_state=0)
    assert {"x1", "x4"} <= set(sets.sets[0]) or ("x1", "x4") in sets.sets
    assert len(random_intersections(forest.fit(X, np.ones(150)), random_state=0)) == 0


def test_what_is_refused():
    X, y = problem(40)
    forest = dm.RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="pos_label must be a class of the forest, 'no', 'yes'"):
        random_intersections(forest, pos_label="maybe")
    with pytest.raises(ValueError, match="random_intersections: depth must be"):
        random_intersections(forest, depth=0)
    with pytest.raises(TypeError, match="estimator must be a GuidedForest"):
        stable_intersections(dm.RandomForestClassifier(3), X, y)
    with pytest.raises(ValueError, match="sets must be different"):
        FeatureSets((("a", "b"), ("b", "a")), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"prevalence must be in \[0, 1\]"):
        FeatureSets((("a", "b"),), np.array([2.0]))
