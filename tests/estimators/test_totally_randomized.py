"""Totally randomized trees: K = 1, and Extra-Trees for more."""

import numpy as np
import pytest

import duramen as dm

TREES = {
    "classification": (dm.TotallyRandomizedTreesClassifier, dm.ExtraTreesClassifier, "entropy"),
    "regression": (dm.TotallyRandomizedTreesRegressor, dm.ExtraTreesRegressor, "squared_error"),
}


@pytest.mark.parametrize("task", TREES)
def test_more_candidates_are_extra_trees(task):
    random, extra, criterion = TREES[task]
    X = np.random.default_rng(0).integers(0, 3, (50, 4))
    y = X[:, 0] + X[:, 1] % 2
    forest = random(5, max_features=2, random_state=0).fit(X, y)
    meant = extra(5, max_features=2, criterion=criterion, splits="multiway", random_state=0)
    ours, theirs = (dm.importances.mdi(model) for model in (forest, meant.fit(X, y)))
    assert ours.equals(theirs)


@pytest.mark.parametrize("task", TREES)
def test_one_feature_is_one_candidate_whatever_is_asked(task):
    X = np.arange(12).reshape(12, 1) % 4
    TREES[task][0](2, max_features=None, random_state=0).fit(X, np.arange(12) % 2)


@pytest.mark.parametrize("task", TREES)
@pytest.mark.parametrize(("n_values", "family"), [(10, "multiway"), (11, "ordered")])
def test_numbers_of_many_values_are_cut_in_two(task, n_values, family):
    X = np.column_stack([np.arange(60) % n_values, np.arange(60) % 3])
    forest = TREES[task][0](3, random_state=0).fit(X, X[:, 1] > 0)
    assert forest.forest_.settings.splits == family
    asked = TREES[task][0](3, splits=family, random_state=0).fit(X, X[:, 1] > 0)
    assert dm.importances.mdi(forest).equals(dm.importances.mdi(asked))
    labels = np.array([f"v{value}" for value in range(60)])[:, None]
    assert TREES[task][0](2).fit(labels, X[:, 1] > 0).forest_.settings.splits == "multiway"


def test_numbers_are_predicted_by_default_and_not_by_a_child_for_each_value():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    y = X[:, 0] > 0
    settings = {"bootstrap": True, "oob_score": True, "random_state": 0}
    assert dm.TotallyRandomizedTreesClassifier(40, **settings).fit(X, y).oob_score_ > 0.8
    with pytest.warns(UserWarning, match="'x0' has 150 distinct values in 150 rows"):
        multiway = dm.TotallyRandomizedTreesClassifier(40, splits="multiway", **settings).fit(X, y)
    assert multiway.oob_score_ < 0.65
