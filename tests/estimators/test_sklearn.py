"""The estimators keep scikit-learn's contract, and work among its tools."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from duramen import estimators
from duramen.estimators.catalogue import FORESTS

CLASSIFIERS = [kind.estimator("classification") for kind in FORESTS]
REGRESSORS = [kind.estimator("regression") for kind in FORESTS if kind.regresses]


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS, ids=lambda kind: kind.__name__)
class TestEveryEstimator:
    def problem(self, kind):
        load = load_iris if kind in CLASSIFIERS else load_diabetes
        X, y = load(return_X_y=True)
        return X, y

    @pytest.mark.smoke
    def test_clone_grows_the_same_forest(self, kind):
        X, y = self.problem(kind)
        estimator = kind(n_estimators=5, random_state=3).fit(X, y)
        again = clone(estimator)
        assert not hasattr(again, "forest_")
        again.fit(X, y)
        for name, array in estimator.forest_.arrays().items():
            np.testing.assert_array_equal(array, again.forest_.arrays()[name], err_msg=name)

    def test_refit_forgets_the_former_fit(self, kind):
        X, y = self.problem(kind)
        estimator = kind(n_estimators=3, random_state=0)
        estimator.fit(pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), y)
        assert list(estimator.feature_names_in_) == [f"c{j}" for j in range(X.shape[1])]
        estimator.fit(X[:, :2], y)
        assert not hasattr(estimator, "feature_names_in_")
        assert estimator.n_features_in_ == 2
        assert estimator.feature_importances_.shape == (2,)


def test_metadata_routing_of_sample_weight():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 0, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        forest = estimators.RandomForestClassifier(n_estimators=3, random_state=0)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, forest.set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=weights)
    assert pipeline[-1].forest_.total_weight == weights.sum()
