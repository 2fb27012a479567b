"""Backward elimination: its sets, its rule, the nested error, and what it selects."""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.selection.nested_sets import sizes, smallest_within


def elimination(**options):
    settings = {"n_estimators": 20, "nested_folds": None, "random_state": 0}
    return dm.BackwardElimination(**{**settings, **options})


def test_sizes():
    assert sizes(10, 2, 0.2) == [10, 8, 6, 5, 4, 3, 2]
    assert sizes(3, 2, 0.9) == [3, 2]
    assert sizes(5, 1, 0.01) == [5, 4, 3, 2, 1]
    assert sizes(2, 2, 0.5) == [2]


@one_test
@pytest.mark.parametrize(
    ("errors", "factor", "chosen"),
    [
        ([0.3, 0.2, 0.1, 0.15, 0.4], 1.0, 3),
        ([0.3, 0.2, 0.1, 0.15, 0.4], 0.0, 2),
        ([0.1, 0.1, 0.1, 0.3, 0.15], 0.0, 2),
        ([0.1, 0.3, 0.3, 0.3, 0.16], 1.0, 4),
        ([0.1, 0.3, 0.3, 0.3, 0.17], 1.0, 0),
    ],
)
def test_rule_on_fixed_errors(errors, factor, chosen):
    """The fewest features within a standard error of .06; equal ones go to fewer features."""
    assert smallest_within(np.array(errors), np.full(5, 0.06), factor) == chosen


@one_test
@pytest.mark.parametrize("recompute", [False, True])
def test_relevant_features_and_one_of_copies_are_left(recompute):
    random = np.random.default_rng(1)
    X = random.normal(size=(100, 5))
    X[:, 4] = X[:, 0]
    model = elimination(min_features=1, recompute=recompute).fit(X, X[:, 0] > 0)
    assert model.selected_.tolist() in ([0], [4])
    measured = ~np.isnan(model.history_["importance"]).all(axis=1)
    assert measured.tolist() == [recompute or k == 0 for k in range(len(measured))]


def test_course_of_a_run():
    X = np.random.default_rng(0).normal(size=(60, 8))
    y = X[:, 2] + X[:, 4] > 0
    model = elimination().fit(X, y)
    assert model.history_["n_features"].tolist() == [8, 6, 5, 4, 3, 2]
    assert (model.eliminated_in_[model.selected_] == 0).sum() <= 2
    order = np.argsort(model.ranking_, kind="stable")
    later = model.eliminated_in_[order][len(model.selected_) :]
    assert (np.diff(later[later > 0]) <= 0).all()
    assert model.error_ == model.history_["error"][-1]
    assert np.isnan(model.nested_error_)
    # The first round is a forest of all features.
    assert np.isfinite(model.importances_.values).all()
    at_once = elimination(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(at_once.history_["error"], model.history_["error"])


def test_nested_error_has_no_part_in_the_selection():
    """On noise the error of the selected set is too small, the nested one is that of chance."""
    errors = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(40, 40)), np.arange(40) % 2
        model = elimination(nested_folds=4, drop=0.5).fit(X, y)
        errors.append((model.error_, model.nested_error_))
        assert len(model.nested_sizes_) == 4
    biased, nested = np.mean(errors, axis=0)
    assert biased < 0.4 < 0.44 < nested < 0.6


def test_nested_error_of_numbers():
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = elimination(nested_folds=3).fit(X, X[:, 0])
    assert 0.0 < model.nested_error_ < np.var(X[:, 0])


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nested_folds": 31}, "nested_folds must be None or an int in 2..30"),
        ({"measure": "air"}, "measure must be a measure of a fitted forest"),
        ({"estimator": dm.ExtraTreesClassifier()}, "estimator must be a forest whose trees leave"),
    ],
)
def test_refusals(options, message):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises((ValueError, TypeError), match=f"BackwardElimination: {message}"):
        elimination(**options).fit(X, X[:, 0] > 0)
