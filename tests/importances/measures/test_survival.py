"""Importances of survival forests."""

import numpy as np
import pytest
from tests.estimators.test_survival import drawn, outcome
from tests.oracles import survival as oracle

import duramen as dm


@pytest.fixture(scope="module")
def fitted():
    """Return a survival forest with its rows."""
    X, time, event = drawn(0, 150, 4, distinct=30, values=20)
    y = outcome(time, event)
    return dm.RandomSurvivalForest(60, random_state=1).fit(X, y), X, y


def test_mdi_adds_up_log_rank_statistics(fitted):
    """The mean over the trees of the sums by feature, in all and by degree."""
    model, *_ = fitted
    importances = dm.importances.mdi(model, by_degree=True)
    sums = np.zeros(4)
    for tree in model.forest_:
        inner = tree.feature >= 0
        np.add.at(sums, tree.feature[inner], tree.impurity[inner])
    assert np.allclose(importances.values, sums / 60)
    assert np.allclose(importances.by_degree.sum(axis=1), importances.values)
    assert importances.unit == "chi-square"
    assert importances.top(1).names == ("x0",)


def test_mda_is_what_the_concordance_of_a_tree_loses(fitted):
    """By each tree's own out-of-bag rows, with the permutation that the kernel draws."""
    model, X, y = fitted
    importances = dm.importances.mda(model, X, y, n_repeats=40)
    assert importances.unit == "concordance"
    assert importances.top(1).names == ("x0",)
    forest, losses = model.forest_, []
    random = np.random.default_rng(0)
    for t in range(forest.n_trees):
        out = np.flatnonzero(forest.bags.draw(len(X), t) == 0)
        single = dm.RandomSurvivalForest()
        single._adopt(forest.part(t, t + 1))
        rows, options = X[out], (y["time"][out], y["event"][out])
        before = oracle.concordance(*options, single.predict(rows))
        shuffled = rows.copy()
        shuffled[:, 0] = random.permutation(rows[:, 0])
        losses.append(before - oracle.concordance(*options, single.predict(shuffled)))
    error = np.std(losses) / np.sqrt(len(losses))
    assert abs(importances.values[0] - np.mean(losses)) < 4 * error


@pytest.mark.parametrize("measure", ["mda", "conditional_mda", "holdout_mda"])
def test_no_importance_on_average_without_an_effect(measure):
    """The mean over independent sets is 0 within its error."""
    means = []
    for seed in range(30):
        random = np.random.default_rng(seed)
        X, time = random.normal(size=(60, 5)), random.exponential(size=60)
        y = outcome(time, random.random(60) < 0.6)
        model = dm.RandomSurvivalForest(10, random_state=seed)
        if measure != "holdout_mda":
            model.fit(X, y)
        means.append(getattr(dm.importances, measure)(model, X, y).values.mean())
    assert abs(np.mean(means)) < 3.5 * np.std(means, ddof=1) / np.sqrt(len(means))


def test_measures_of_the_trees_alone(fitted):
    """They need no target."""
    model, *_ = fitted
    assert dm.importances.minimal_depth(model).top(1).names == ("x0",)
    used = model.forest_.feature[model.forest_.feature >= 0]
    expected = np.bincount(used, minlength=4) / len(used)
    assert np.allclose(dm.importances.frequency(model).values, expected)


@pytest.mark.parametrize("measure", ["vote_change", "noising", "air", "sandri"])
def test_other_measures_say_why_not(fitted, measure):
    """They are not defined for survival."""
    with pytest.raises(ValueError, match="is not defined for survival"):
        getattr(dm.importances, measure)(*fitted)


def test_a_score_of_another_task_is_refused(fitted):
    """Both ways."""
    model, X, y = fitted
    with pytest.raises(ValueError, match="does not suit a forest that was grown on survival"):
        dm.importances.mda(model, X, y, scoring="accuracy")
    classes = dm.RandomForestClassifier(3, random_state=0).fit(X, y["event"])
    with pytest.raises(ValueError, match="does not suit a forest that was grown on classes"):
        dm.importances.mda(classes, X, y["event"], scoring="concordance")
    with pytest.raises(ValueError, match="must be None for survival"):
        dm.importances.mdi(model, X, y)
