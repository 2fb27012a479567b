"""Totally randomized trees: K = 1, and a warning for more."""

import numpy as np
import pytest

import duramen as dm

TREES = {
    "classification": (dm.TotallyRandomizedTreesClassifier, dm.ExtraTreesClassifier, "entropy"),
    "regression": (dm.TotallyRandomizedTreesRegressor, dm.ExtraTreesRegressor, "squared_error"),
}


@pytest.mark.parametrize("task", TREES)
def test_more_candidates_are_extra_trees_and_warn(task):
    random, extra, criterion = TREES[task]
    X = np.random.default_rng(0).integers(0, 3, (50, 4))
    y = X[:, 0] + X[:, 1] % 2
    with pytest.warns(UserWarning, match=rf"2 features at a node.*{extra.__name__}\(.*splits="):
        forest = random(5, max_features=2, random_state=0).fit(X, y)
    meant = extra(5, max_features=2, criterion=criterion, splits="multiway", random_state=0)
    ours, theirs = (dm.importances.mdi(model) for model in (forest, meant.fit(X, y)))
    assert ours.equals(theirs)


@pytest.mark.parametrize("task", TREES)
def test_one_feature_is_one_candidate_whatever_is_asked(task):
    X = np.arange(12).reshape(12, 1) % 4
    TREES[task][0](2, max_features=None, random_state=0).fit(X, np.arange(12) % 2)
