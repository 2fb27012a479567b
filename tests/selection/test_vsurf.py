"""VSURF: the rules of its three steps, and what it selects."""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.jobs.replicates import Batches
from duramen.selection.nested_sets import above, interpreted, mean_jump, noise_level, predicting


def vsurf(**options):
    settings = {"n_estimators": 15, "n_thresholding": 4, "n_interpretation": 2, "n_prediction": 2}
    return dm.VSURF(**{**settings, "random_state": 0, **options})


def test_noise_level_of_two_levels():
    """The pruned tree is that of the two levels; their smaller mean is the level."""
    random = np.random.default_rng(0)
    deviations = np.r_[np.full(10, 5.0), np.full(40, 1.0)] + 0.01 * random.normal(size=50)
    assert noise_level(deviations, 0) == pytest.approx(1.0, abs=0.05)
    assert noise_level(np.array([2.0]), 0) == 2.0


@one_test
@pytest.mark.parametrize(("level", "count"), [(0.2, 2), (0.5, 2), (0.05, 5), (3.0, 1)])
def test_features_up_to_the_first_below(level, count):
    assert above(np.array([2.0, 0.5, 0.1, 0.1, 0.09]), level) == count


def test_known_interpretation():
    errors = np.array([0.5, 0.3, 0.22, 0.2, 0.21, 0.2])
    deviations = np.array([0.1, 0.1, 0.1, 0.03, 0.1, 0.1])
    assert interpreted(errors, deviations, 1.0) == 3
    assert interpreted(errors, deviations, 0.0) == 4
    assert mean_jump(errors, 3) == pytest.approx((0.02 + 0.01 + 0.01) / 3)
    assert mean_jump(errors, 6) == 0.0


def test_known_prediction():
    """The first feature is kept, and those that the error drops by more than .05 with."""
    steps = Batches(predicting(np.array([7, 3, 5, 1]), 2, 0.05))
    asked, rows = [], []
    for error in (0.5, 0.46, 0.3, 0.26):
        assert steps.ready(np.array(rows).reshape(-1, 1)) == len(rows) + 2
        asked.append(steps.arguments(len(rows) + 1)[0].tolist())
        rows += [error - 0.01, error + 0.01]
    assert asked == [[7], [7, 3], [7, 5], [7, 5, 1]]
    assert steps.ready(np.array(rows).reshape(-1, 1)) == 8
    chosen, errors = steps.outcome
    assert chosen == [7, 5]
    assert errors == pytest.approx([0.5, 0.46, 0.3, 0.26])


def test_steps_of_a_run():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 8))
    X[:, 6] = X[:, 0]
    model = vsurf(n_estimators=40).fit(X, X[:, 0] + X[:, 1] > 0)
    assert {0, 1, 6} <= set(model.thresholded_.tolist())
    assert len(set(model.prediction_.tolist()) & {0, 6}) == 1
    assert 1 in model.prediction_
    assert set(model.prediction_) <= set(model.interpretation_) <= set(model.thresholded_)
    assert model.selected_.tolist() == model.prediction_.tolist()
    importances = model.history_["importance"].mean(axis=0)[model.thresholded_]
    assert (importances >= model.threshold_).all()
    assert len(model.history_["error"]) == len(model.thresholded_)
    assert len(model.history_["prediction_error"]) == len(model.interpretation_)
    for name in ("threshold", "interpretation"):
        other = vsurf(n_estimators=40, select=name).fit(X, X[:, 0] + X[:, 1] > 0)
        wanted = model.thresholded_ if name == "threshold" else model.interpretation_
        assert other.selected_.tolist() == wanted.tolist()


def test_regression_of_one_feature():
    X = np.random.default_rng(0).normal(size=(40, 1))
    model = vsurf().fit(X, X[:, 0])
    assert (model.selected_.tolist(), model.jump_) == ([0], 0.0)


def test_a_measure_without_a_forest_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match="VSURF: measure must be a measure of a fitted forest"):
        vsurf(measure="sandri").fit(X, X[:, 0] > 0)
