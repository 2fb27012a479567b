"""Grown trees are what they claim to be."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.forests.problems import two_classes

from duramen import estimators
from duramen.data import encode
from duramen.forests.growth import bag

FAMILIES = ("ordered", "multiway", "one-vs-rest", "any")


def codes_of(table):
    return np.column_stack([table.codes(j) for j in range(table.n_columns)]).astype(np.int64)


def rows_at_nodes(estimator, X):
    """For every tree, a boolean array of node by row: the rows of the bag that pass there."""
    indicator, offsets = estimator.decision_path(X)
    for t in range(estimator.forest_.n_trees):
        drawn = bag(estimator.forest_, t)
        passes = indicator[:, offsets[t] : offsets[t + 1]].toarray().T.astype(bool)
        yield estimator.forest_.tree(t), passes & (drawn > 0), drawn


def impurity_of(values, weights, criterion):
    if criterion == "variance":
        mean = np.average(values, weights=weights)
        return np.average((values - mean) ** 2, weights=weights)
    fractions = np.bincount(values, weights=weights) / weights.sum()
    fractions = fractions[fractions > 0]
    return (
        -(fractions * np.log2(fractions)).sum()
        if criterion == "entropy"
        else 1 - (fractions**2).sum()
    )


@pytest.fixture(
    params=[
        *(
            f"{task}, {cut}, {splits}"
            for task in ("classes", "numbers")
            for cut in ("best", "random")
            for splits in FAMILIES
        ),
        "pert",
        "subspace",
        "patches",
        "few leaves",
        "shallow",
    ]
)
def case(request, grown, mixed):
    X, classes, numbers = mixed
    estimator = grown[request.param]
    y = numbers
    if estimator.forest_.is_classifier:
        labels = two_classes(classes) if estimator.n_classes_ == 2 else classes
        y = np.searchsorted(estimator.classes_, labels)
    return estimator, X, y


def test_nodes_have_the_rows_weight_and_impurity_of_what_passes(case):
    estimator, X, y = case
    estimator.forest_.check()
    criterion = estimator.forest_.settings.criterion
    for tree, rows, drawn in rows_at_nodes(estimator, X):
        np.testing.assert_array_equal(tree.rows, rows.sum(axis=1))
        np.testing.assert_allclose(tree.weight, rows @ drawn, rtol=1e-12)
        for node in range(tree.n_nodes):
            here = rows[node]
            wanted = impurity_of(y[here], drawn[here].astype(float), criterion)
            assert tree.impurity[node] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        assert (tree.decrease >= -1e-12).all()


def test_leaf_values_are_what_the_rows_say(case):
    estimator, X, y = case
    for tree, rows, drawn in rows_at_nodes(estimator, X):
        for node in np.flatnonzero(tree.feature < 0):
            weights = drawn[rows[node]].astype(float)
            values = tree.values[tree.child[node]]
            if estimator.forest_.is_classifier:
                counts = np.bincount(y[rows[node]], weights=weights, minlength=len(values))
                np.testing.assert_allclose(values, counts / weights.sum(), rtol=1e-12)
            else:
                assert values[0] == pytest.approx(np.average(y[rows[node]], weights=weights))


def test_leaves_cannot_be_split_further(case):
    """Where nothing limits a tree, its leaves are pure or their rows are all alike."""
    estimator, X, y = case
    settings = estimator.forest_.settings
    if settings.max_depth or settings.max_leaf_nodes or settings.column_samples:
        pytest.skip("this tree is limited")
    codes = codes_of(encode(X))
    for tree, rows, _ in rows_at_nodes(estimator, X):
        for node in np.flatnonzero(tree.feature < 0):
            here = rows[node]
            pure = len(np.unique(y[here])) == 1
            assert pure or (codes[here] == codes[here][0]).all()


def test_splits_separate_the_rows_of_their_node(case):
    """A threshold lies between the values of its node, and each child is reached."""
    estimator, X, _ = case
    table = encode(X)
    for tree, rows, _ in rows_at_nodes(estimator, X):
        for node in np.flatnonzero(tree.feature >= 0):
            column = tree.feature[node]
            children = tree.child[node] + np.arange(tree.n_children[node])
            assert rows[children].any(axis=1).all()
            if not np.isfinite(tree.threshold[node]):
                continue
            assert table.kinds[column] == "numeric"
            assert tree.split[node] & 3 == 0
            values = X.iloc[rows[node], column].to_numpy(dtype=float)
            values = values[~np.isnan(values)]
            assert values.min() <= tree.threshold[node] < values.max()
            distinct = table.values(column)
            np.testing.assert_array_equal(
                distinct <= tree.threshold[node], np.arange(len(distinct)) <= tree.cut[node]
            )


def test_a_subspace_tree_keeps_to_its_columns():
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, X[:, ::-1] ** 2])
    forest = estimators.RandomSubspaceClassifier(40, n_subspace_features=2, random_state=0).fit(
        X, y
    )
    used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in forest.forest_]
    assert max(len(columns) for columns in used) == 2
    assert set().union(*used) == set(range(8))


def test_bootstrap_bags():
    X, y = load_iris(return_X_y=True)
    forest = estimators.BaggedTreesClassifier(400, random_state=0).fit(X, y).forest_
    bags = np.array([bag(forest, t) for t in range(forest.n_trees)])
    assert (bags.sum(axis=1) == 150).all()
    assert (bags == 0).mean() == pytest.approx((1 - 1 / 150) ** 150, abs=0.01)
    assert bags.mean(axis=0).std() < 0.1


def test_weights_of_zero_leave_rows_out():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 2, 0.0, 1.0)
    forest = estimators.ExtraTreesClassifier(20, random_state=0).fit(X, y, sample_weight=weights)
    assert list(forest.classes_) == [0, 1, 2]
    assert (forest.predict_proba(X)[:, 2] == 0).all()
    assert (forest.forest_.rows[forest.forest_.offsets[:-1]] == 100).all()
    assert forest.forest_.total_weight == 100


def test_whole_weights_are_repetitions():
    X, y = load_iris(return_X_y=True)
    random = np.random.default_rng(0)
    weights = random.integers(0, 4, len(y))
    settings = {"n_estimators": 20, "random_state": 0}
    for kind in (estimators.ExtraTreesClassifier, estimators.RandomSubspaceClassifier):
        weighted = kind(**settings).fit(X, y, sample_weight=weights)
        repeated = kind(**settings).fit(X.repeat(weights, axis=0), y.repeat(weights))
        np.testing.assert_array_equal(weighted.forest_.feature, repeated.forest_.feature)
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_a_bag_without_weight_predicts_the_whole_sample():
    settings = {"n_estimators": 30, "bootstrap": False, "max_samples": 1, "random_state": 0}
    X, weights = [[0], [0], [0]], [1, 3, 0]
    numbers = estimators.RandomForestRegressor(**settings).fit(X, [0, 4, 9], sample_weight=weights)
    classes = estimators.RandomForestClassifier(**settings).fit(X, [0, 1, 1], sample_weight=weights)
    for forest, empty in ((numbers.forest_, [3.0]), (classes.forest_, [0.25, 0.75])):
        forest.check()
        without = forest.weight == 0
        assert 3 < without.sum() < 20
        values = forest.leaf_values[without] + forest.origin
        np.testing.assert_array_equal(values, [empty] * without.sum())
    assert np.isfinite(numbers.feature_importances_).all()


def test_class_weights():
    X, y = load_iris(return_X_y=True)
    y = np.where(y == 2, "rare", "common")
    keep = np.r_[0:100, 100:110]
    X, y = X[keep, :1], y[keep]

    def fraction_of_rare(class_weight, bootstrap=False):
        forest = estimators.ExtraTreesClassifier(
            100, max_depth=2, class_weight=class_weight, bootstrap=bootstrap, random_state=0
        ).fit(X, y)
        root = forest.forest_.weight[forest.forest_.offsets[:-1]]
        return forest.predict_proba(X)[:, 1].mean(), root

    plain, root = fraction_of_rare(None)
    assert (root == 110).all()
    balanced, root = fraction_of_rare("balanced")
    np.testing.assert_allclose(root, 110)
    assert balanced > 2 * plain
    named, root = fraction_of_rare({"rare": 10.0, "common": 1.0})
    np.testing.assert_allclose(root, 200)
    assert named == pytest.approx(balanced, abs=0.02)
    subsample, root = fraction_of_rare("balanced_subsample", bootstrap=True)
    np.testing.assert_allclose(root, 110)
    assert subsample == pytest.approx(balanced, abs=0.1)


def damage(forest, name, node, value):
    array = getattr(forest, name).copy()
    array[node] = value
    return replace(forest, **{name: array})


def test_check_finds_what_is_wrong(grown):
    forest = grown["classes, best, any"].forest_
    inner = int(np.flatnonzero(forest.feature >= 0)[0])
    leaf = int(np.flatnonzero(forest.feature < 0)[0])
    for name, node, value, message in (
        ("feature", inner, 6, "feature must lie in"),
        ("feature", inner, -1, "child of exactly one|numbered 0, 1, 2"),
        ("child", inner, 0, "children must come after"),
        ("child", inner, 10**6, "outside the tree"),
        ("child", leaf, 1000, "leaves must be numbered"),
        ("cut", inner, 2**31, "cut"),
        ("offsets", 1, 0, "offsets must increase"),
        ("impurity", leaf, np.nan, "impurity must be finite"),
        ("impurity", leaf, -1.0, "impurity must not be negative"),
        ("leaf_values", 0, 0.7, "class frequencies of a leaf"),
    ):
        with pytest.raises(ValueError, match=message):
            damage(forest, name, node, value).check()
    multiway = grown["classes, best, multiway"].forest_
    for value, message in ((2**31, "outside the tree"), (1, "two children")):
        with pytest.raises(ValueError, match=message):
            damage(multiway, "pool", 0, value).check()
    with pytest.raises(ValueError, match="heaviest child"):
        damage(multiway, "pool", 1, 99).check()
    with pytest.raises(ValueError, match="rows must have"):
        replace(forest, rows=forest.rows[1:]).check()
