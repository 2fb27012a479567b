"""Trees for shap against predictions, and Shapley values of the dictionary by brute force."""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.forests import shap_trees, treelite_model


def problem(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(0, 3, n), random.normal(size=(n, 2))]).astype(float)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    X[::9, 1] = np.nan
    return X, y


def expected(tree, row, features, node=0):
    """Value of a tree when only some features are read: others go both ways, by weight."""
    if tree["children_left"][node] < 0:
        return tree["values"][node]
    left, right = tree["children_left"][node], tree["children_right"][node]
    j = tree["features"][node]
    if j in features:
        if np.isnan(row[j]):
            return expected(tree, row, features, tree["children_default"][node])
        low = row[j] <= tree["thresholds"][node]
        return expected(tree, row, features, left if low else right)
    weights = tree["node_sample_weight"]
    parts = [weights[child] * expected(tree, row, features, child) for child in (left, right)]
    return sum(parts) / weights[node]


def shapley(trees, row, p):
    """Path-dependent Shapley values over all subsets, of shape (p, C)."""
    game = {
        subset: sum(expected(tree, row, subset) for tree in trees)
        for size in range(p + 1)
        for subset in combinations(range(p), size)
    }
    values = []
    for j in range(p):
        total = 0.0
        for subset, worth in game.items():
            if j not in subset:
                more = game[tuple(sorted((*subset, j)))]
                total = total + (more - worth) / (p * comb(p - 1, len(subset)))
        values.append(total)
    return np.array(values), game[()]


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_all_features_give_the_prediction(task):
    X, y = problem()
    if task == "classes":
        model = dm.RandomForestClassifier(8, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5]))
        predicted = model.predict_proba(X)
    else:
        model = dm.RandomForestRegressor(8, random_state=0).fit(X, y + 100)
        predicted = model.predict(X)[:, np.newaxis]
    trees = shap_trees(model)["trees"]
    every = range(3)
    sums = [sum(expected(tree, row, every) for tree in trees) for row in X]
    np.testing.assert_allclose(sums, predicted, atol=1e-12)
    for tree in trees:
        inner = np.flatnonzero(tree["children_left"] >= 0)
        for node in inner:
            both = [tree["children_left"][node], tree["children_right"][node]]
            weights = tree["node_sample_weight"][both]
            mean = weights @ tree["values"][both] / tree["node_sample_weight"][node]
            np.testing.assert_allclose(tree["values"][node], mean, atol=1e-12)


def test_brute_force_adds_up_and_agrees_with_shap():
    X, y = problem()
    shap = pytest.importorskip("shap", exc_type=ImportError)
    for model in (
        dm.RandomForestRegressor(5, random_state=0).fit(X, y),
        dm.RandomForestClassifier(5, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5])),
    ):
        exported = shap_trees(model)
        explainer = shap.TreeExplainer(exported, feature_perturbation="tree_path_dependent")
        values = np.asarray(explainer.shap_values(X[:12], check_additivity=False))
        for i in range(12):
            exact, base = shapley(exported["trees"], X[i], 3)
            np.testing.assert_allclose(values[i].reshape(exact.shape), exact, atol=1e-6)
            np.testing.assert_allclose(np.ravel(explainer.expected_value), base, atol=1e-6)


def test_brute_force_of_a_known_game():
    # y = x0 and two equally frequent values: the whole difference from the mean is x0's.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = dm.ExtraTreesRegressor(3, max_features=None, random_state=0).fit(X, X[:, 0])
    values, base = shapley(shap_trees(model)["trees"], X[3], 2)
    np.testing.assert_allclose(values[:, 0], [0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(base, [0.5])


def test_categories_are_codes():
    codes = np.array([0, 1, 2, 0, 1, 2, 2, 0])
    table = dm.encode(np.array(["a", "b", "c"])[codes][:, np.newaxis], kinds=["ordinal"])
    y = (codes == 2).astype(float)
    model = dm.ExtraTreesRegressor(3, random_state=0).fit(table, y)
    trees = shap_trees(model)["trees"]
    sums = [sum(expected(tree, [float(c)], (0,)) for tree in trees)[0] for c in codes]
    np.testing.assert_allclose(sums, y)


def test_what_is_refused():
    X, y = problem()
    with pytest.raises(TypeError, match="forest must be"):
        shap_trees([1])
    many = dm.ExtraTreesClassifier(2, splits="multiway", random_state=0).fit(X[:, :1], y > 0)
    with pytest.raises(ValueError, match=r"such as the numeric 'x0'.*splits=\"ordered\""):
        shap_trees(many)


def test_the_hint_on_nominal_columns_helps():
    tone = pd.Series(list("uvwx") * 15)
    y = tone.isin(["u", "x"]).to_numpy().astype(float)
    model = dm.RandomForestRegressor(2, random_state=0)
    with pytest.raises(ValueError, match=r"the nominal 'tone'.*get_dummies"):
        shap_trees(model.fit(tone.to_frame("tone"), y))
    for table in (pd.get_dummies(tone), pd.DataFrame({"tone": pd.Categorical(tone, ordered=True)})):
        assert len(shap_trees(model.fit(table, y))["trees"]) == 2


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_treelite_predicts_as_the_forest_does(task):
    treelite = pytest.importorskip("treelite")
    X, y = problem()
    if task == "classes":
        model = dm.ExtraTreesClassifier(8, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5]))
        predicted = model.predict_proba(X)
    else:
        model = dm.RandomForestRegressor(8, random_state=0).fit(X, y + 100)
        predicted = model.predict(X)[:, np.newaxis]
    for forest in (model, model.forest_):
        values = treelite.gtil.predict(treelite_model(forest), X)
        np.testing.assert_allclose(values[:, 0], predicted, atol=1e-12)
