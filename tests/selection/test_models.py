"""Selectors that refit models of other packages in place of forests."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import duramen as dm

random = np.random.default_rng(0)
X = random.normal(size=(120, 6))
SIGNAL = 2 * X[:, 0] + 1.5 * X[:, 1]
Y = np.where(SIGNAL + random.normal(size=120) > 0, "ill", "well")
SELECTORS = [
    dm.Boruta(max_rounds=12),
    dm.KnockOut(n_permutations=19, max_rounds=3),
    dm.BackwardElimination(nested_folds=2, drop=0.5),
    dm.StabilitySelection(n_draws=8),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_relevant_features_by_coefficients_and_any_threads(selector):
    selector.set_params(estimator=LogisticRegression(), random_state=0, n_jobs=1)
    fitted = selector.fit(X, Y)
    assert {*fitted.importances_.order()[:2].tolist()} == {0, 1}
    if not isinstance(selector, dm.StabilitySelection):  # which needs four features at least
        assert sorted(fitted.selected_[:2].tolist()) == [0, 1]
    assert fitted.summary().settings["estimator"] == "LogisticRegression"
    values = fitted.importances_.values
    assert selector.set_params(n_jobs=2).fit(X, Y).importances_.values.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("model", "measure"),
    [
        (LogisticRegression(), "feature_importances"),
        (DecisionTreeClassifier(), "feature_importances"),
        (GaussianNB(), "holdout_mda"),  # which tells none
    ],
)
def test_the_measure_is_what_the_model_tells(model, measure):
    selector = dm.Boruta(model, max_rounds=1, random_state=0, n_jobs=1).fit(X, Y)
    assert selector.importances_.measure == measure


def test_coefficients_count_in_standard_deviations_of_their_columns():
    scales = np.array([1, 1000, 1, 1, 1, 1])
    selector = dm.KnockOut(Lasso(0.01), n_permutations=19, max_rounds=1, random_state=0, n_jobs=1)
    selector.fit(X * scales, SIGNAL)
    values = selector.importances_.values
    assert values[1] / values[0] == pytest.approx(
        1.5 * X[:, 1].std() / (2 * X[:, 0].std()), rel=0.05
    )


def test_refused():
    with pytest.raises(ValueError, match="n_estimators must be None beside a GaussianNB"):
        dm.Boruta(GaussianNB(), n_estimators=5).fit(X, Y)
    with pytest.raises(TypeError, match="VSURF: estimator must be a forest estimator of duramen"):
        dm.VSURF(GaussianNB()).fit(X, Y)
    with pytest.raises(ValueError, match="Boruta: measure must be 'auto', 'holdout_mda'"):
        dm.Boruta(GaussianNB(), measure="mdi").fit(X, Y)
    with pytest.raises(ValueError, match=r"Boruta.fit: the target of this learning set is classes"):
        dm.Boruta(Lasso()).fit(dm.learning_set(X, Y))
