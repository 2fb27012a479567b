"""`dm.rank` of models of other packages."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import duramen as dm

random = np.random.default_rng(2)
X = random.normal(size=(100, 4))
Y = np.where(X[:, 0] + 0.3 * random.normal(size=100) > 0, "ill", "well")


class Sign(ClassifierMixin, BaseEstimator):
    """The sign of the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, "ill", "well")


def test_the_report_is_about_the_model():
    signs = np.where(X[:, 0] > 0, "ill", "well")
    report = dm.rank(X, signs, estimator=Sign(), n_permutations=19, n_jobs=1)
    assert report.verdicts == {"x0": "confirmed", "x1": "noise", "x2": "noise", "x3": "noise"}
    assert report.run.results["cross_fitted_error"] == 0
    assert "oob_error" not in report.run.results
    assert "The model classifies 100% of the rows that it had not seen" in report.conclusion
    assert report.conclusion.endswith("Strongest: x0.")
    assert report.run.settings["estimator"] == "Sign()"
    assert any("directions of effects" in note for note in report.notes)
    # Half of the votes of x0 are others after a permutation, those of other columns never.
    scores = report.importances["holdout_mda"]
    assert 0.35 < scores.values[0] < 0.65
    assert (scores.values[1:] == 0).all()


def test_a_class_by_its_name_is_the_same_as_the_model():
    how = {"test": "none", "n_jobs": 1}
    model = LogisticRegression(C=0.5)
    named = "sklearn.linear_model.LogisticRegression"
    first, *others = (
        dm.rank(X, Y, estimator=model, **how),
        dm.rank(X, Y, estimator=named, estimator_params={"C": 0.5}, **how),
        dm.rank(X, Y, estimator=named, estimator_params=json.dumps({"C": 0.5}), **how),
    )
    for other in others:
        assert other.run.settings["estimator"] == "LogisticRegression(C=0.5)"
        values = other.importances["holdout_mda"].values
        assert values.tobytes() == first.importances["holdout_mda"].values.tobytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"direct": True}, "direct needs a forest of duramen, got a GaussianNB"),
        ({"stability": 3}, "stability needs a forest"),
        ({"explain": [1]}, "explain needs a forest"),
        ({"measure": "mda"}, "measure='mda' needs a forest"),
        ({"test": "janitza"}, "test='janitza' needs a forest"),
        ({"n_estimators": 5}, "n_estimators has no effect beside a GaussianNB"),
        ({"estimator_params": {}}, "estimator_params is for a class"),
    ],
)
def test_refused(arguments, words):
    with pytest.raises(ValueError, match=f"rank: {words}"):
        dm.rank(X, Y, estimator=GaussianNB(), n_jobs=1, **arguments)


def test_groups_of_features_and_of_rows():
    report = dm.rank(
        dm.learning_set(X, Y, groups=np.repeat(np.arange(50), 2)),
        estimator=GaussianNB(),
        feature_groups={"first": ["x0", "x1"], "last": ["x2", "x3"]},
        n_permutations=19,
        n_jobs=1,
    )
    assert report.verdicts["x0"] == "confirmed"
    assert any("MDA of groups left out" in note for note in report.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    [
        *("altmann", "multiple-probes", "one-probe", "conditional-error-rate", "fdr-curve"),
        *("hapfelmeier", "mean-rank-test", "forest-probe-ranking", "probe-ranking"),
    ],
)
def test_other_tests(test):
    how = {} if test == "probe-ranking" else {"n_permutations": 19}
    report = dm.rank(X, Y, estimator=GaussianNB(), test=test, n_jobs=1, **how)
    assert report.importances["holdout_mda"].top(1).names == ("x0",)
    assert report.significance.method == test.replace("-", "_")
