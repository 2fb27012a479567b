"""Trees that are added to a fitted forest, and trees one by one."""

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


@pytest.mark.filterwarnings("ignore:.*bag of every tree")
@pytest.mark.parametrize("kind", TARGETS, ids=lambda kind: kind.__name__)
def test_added_trees_are_those_of_growing_all_at_once(kind, tmp_path):
    """Also after saving; whatever random_state is by then."""
    y = TARGETS[kind]
    bags = {"oob_score": True, "bootstrap": True}
    whole = kind(9, random_state=3, **bags).fit(X, y)
    grown = kind(4, random_state=3, warm_start=True, **bags).fit(X, y)
    grown.set_params(n_estimators=6, random_state=None).fit(X, y)
    grown.save(tmp_path / "forest.npz")
    grown = kind.load(tmp_path / "forest.npz").set_params(n_estimators=9).fit(X, y)
    for name, array in whole.forest_.arrays().items():
        assert array.tobytes() == getattr(grown.forest_, name).tobytes(), name
    if whole.forest_.leaf_events is not None:
        for name, array in whole.forest_.leaf_events.arrays().items():
            assert array.tobytes() == getattr(grown.forest_.leaf_events, name).tobytes(), name
    assert whole.oob_error_curve_.tobytes() == grown.oob_error_curve_.tobytes()
    assert grown.fit(X, y).forest_.n_trees == 9  # none is missing


def test_without_it_a_fit_begins_anew():
    """As ever."""
    model = dm.RandomForestClassifier(4, random_state=0).fit(X, EVENT)
    assert model.set_params(n_estimators=2).fit(X, EVENT).forest_.n_trees == 2


@pytest.mark.parametrize(
    ("change", "rows", "said"),
    [
        ({"n_estimators": 2}, 70, "n_estimators must be at least 4"),
        ({"n_estimators": 9}, 69, "X, y and the weights must be as in the previous fit"),
        ({"n_estimators": 9, "max_depth": 2}, 70, "max_depth must be as in the previous fit"),
        ({"warm_start": "yes"}, 70, "True or False"),
    ],
)
def test_what_cannot_be_added_is_refused(change, rows, said):
    """The fitted forest stays."""
    model = dm.RandomForestClassifier(4, random_state=0, warm_start=True).fit(X, EVENT)
    forest = model.forest_
    with pytest.raises(ValueError, match=said):
        model.set_params(**change).fit(X[:rows], EVENT[:rows])
    assert model.forest_ is forest


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
