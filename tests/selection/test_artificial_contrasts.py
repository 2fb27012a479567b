"""Artificial contrasts with ensembles: paired tests, residuals, masking, and what is accepted."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.grid import one_test

import duramen as dm
from duramen.selection.rounds import masking, paired_p_values


def contrasts(**options):
    settings = {"n_estimators": 15, "n_permutations": 6, "max_rounds": 4, "random_state": 0}
    return dm.ArtificialContrasts(**{**settings, **options})


def test_paired_tests_against_scipy():
    random = np.random.default_rng(0)
    values, threshold = random.normal(size=(7, 4)), random.normal(size=7)
    values[:, 3] = threshold
    expected = [
        stats.ttest_rel(values[:, j], threshold, alternative="greater").pvalue for j in range(3)
    ]
    np.testing.assert_allclose(paired_p_values(values, threshold), [*expected, 1.0])
    assert paired_p_values(np.ones((3, 1)), np.zeros(3)).tolist() == [0.0]


def test_a_weak_feature_shows_in_residuals():
    """It is hidden in the first round, by trees of depth 2 that split on the strong one."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 10))
    y = 3 * X[:, 0] + 0.9 * X[:, 1] + 0.1 * random.normal(size=200)
    shallow = dm.RandomForestRegressor(20, max_features=None, max_depth=2)
    model = contrasts(estimator=shallow, n_estimators=None).fit(X, y)
    assert (model.found_in_[0], model.found_in_[1] > 1) == (1, True)
    assert not model.support_[2:].any()
    assert model.history_["n_selected"][:2].tolist() == [1, 2]
    assert model.importances_.unit == "1"


def test_residuals_of_classes():
    """Three classes have residuals of three columns; both features are accepted."""
    random = np.random.default_rng(1)
    X = random.normal(size=(120, 6))
    y = (X[:, 0] > 0).astype(int) + ((X[:, 0] > 0) & (X[:, 1] > 0))
    model = contrasts(n_estimators=20).fit(X, y)
    assert {0, 1} <= set(model.selected_.tolist())
    assert model.n_rounds_ > 1


@one_test
@pytest.mark.parametrize(("remove", "n_selected"), [(False, {0, 1, 5}), (True, {1, 5})])
def test_identical_columns(remove, n_selected):
    """All are accepted; one is left where features that others mask are removed."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 7))
    X[:, 5] = X[:, 0]
    model = contrasts(remove_masked=remove, max_rounds=1).fit(X, X[:, 0] + X[:, 1] > 0)
    result = set(model.selected_.tolist())
    assert 1 in result
    assert len(result & {0, 5}) == (1 if remove else 2)


def test_masking_of_a_stump():
    """A copy agrees with every split, noise with none beyond the larger child."""
    X = np.array([[i, 2 * i, i % 2] for i in range(40)], dtype=float)
    table = dm.encode(X)
    forest = dm.RandomForestClassifier(6, max_depth=1, max_features=None, random_state=0)
    forest.fit(table, X[:, 0] > 15)
    result = masking(forest.forest_, table)
    decrease = dm.importances.mdi(forest).values
    np.testing.assert_allclose(result[[0, 1], [1, 0]].sum(), decrease.sum())
    np.testing.assert_allclose(np.diag(result), decrease)
    assert result[2].tolist() == [0, 0, 0]
    assert (result[:2, 2] < 0.05 * decrease.sum()).all()


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": dm.ExtraTreesClassifier()}, "estimator must be a forest whose trees leave"),
        (
            {"estimator": dm.PERTClassifier(bootstrap=True)},
            "estimator must be of a kind that predicts numbers",
        ),
    ],
)
def test_refusals(options, message):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises((ValueError, TypeError), match=f"ArtificialContrasts: {message}"):
        contrasts(**options).fit(X, X[:, 0] > 0)


def test_noise_columns_of_many_values_do_not_hide_relevant_features():
    """Three relevant numbers beside five noise columns of 30 categories, by default and by MDI."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(200, 6))).add_prefix("x")
    y = X.iloc[:, :3].sum(axis=1) + 0.5 * random.normal(size=200) > 0
    for j in range(5):
        X[f"noise{j}"] = pd.Categorical(random.integers(0, 30, 200).astype(str))
    settings = {"n_estimators": 40, "n_permutations": 5, "max_rounds": 1, "random_state": 0}
    model = dm.ArtificialContrasts(**settings).fit(X, y)
    assert model.importances_.measure == "scaled_mda"
    assert sorted(model.selected_.tolist()) == [0, 1, 2]
    assert not len(dm.ArtificialContrasts(measure="mdi", **settings).fit(X, y).selected_)
