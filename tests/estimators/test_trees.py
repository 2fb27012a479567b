"""Trees of a forest one by one."""

import numpy as np
import pytest
from tests.estimators.test_survival import drawn, outcome

import duramen as dm

X, TIME, EVENT = drawn(0, 70, 4, values=20)
TARGETS = {
    dm.RandomForestClassifier: EVENT,
    dm.ExtraTreesRegressor: TIME,
    dm.RandomSurvivalForest: outcome(TIME, EVENT),
    dm.TotallyRandomizedTreesClassifier: EVENT,
}


@pytest.mark.parametrize("kind", TARGETS, ids=lambda kind: kind.__name__)
def test_each_tree_is_an_estimator(kind):
    """Their means are what the forest predicts."""
    model = kind(5, random_state=0).fit(X, TARGETS[kind])
    trees = model.estimators_
    assert len(trees) == 5
    predict = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    each = [getattr(tree, predict)(X) for tree in trees]
    assert np.allclose(np.mean(each, axis=0), getattr(model, predict)(X))
    assert np.array_equal(trees[-1].apply(X)[:, 0], model.apply(X)[:, 4])
