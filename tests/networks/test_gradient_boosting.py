"""GRNBoost2: scores of boosted trees against scikit-learn's, early stopping, links."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

import duramen as dm
from duramen.networks import GradientBoosting


def test_scores_are_those_of_scikit_learn_where_nothing_is_drawn():
    # Nodes are large: in small ones, which later trees have, several features split equally well.
    X = np.random.default_rng(0).normal(size=(400, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    boosting = GradientBoosting(8, 0.1, subsample=1.0, max_depth=2, max_features=1.0)
    scores = boosting.importances(dm.learning_set(X, y), 0)
    model = GradientBoostingRegressor(n_estimators=8, max_depth=2, random_state=0).fit(X, y)
    assert np.allclose(scores, 8 * model.feature_importances_, atol=1e-9)


def test_boosting_stops_where_the_rows_out_of_the_bag_gain_nothing():
    X = np.random.default_rng(1).normal(size=(100, 6))
    noise, signal = np.random.default_rng(2).normal(size=100), 3 * X[:, 0]
    n_trees = [
        GradientBoosting(150).importances(dm.learning_set(X, y), 0).sum() for y in (noise, signal)
    ]
    assert 25 <= n_trees[0] < 100
    assert n_trees[1] == pytest.approx(150)
    unlimited = GradientBoosting(150, early_stopping_window=None)
    assert unlimited.importances(dm.learning_set(X, noise), 0).sum() == pytest.approx(150)


def test_links_are_those_of_the_network_for_any_number_of_threads(tmp_path):
    made = dm.datasets.gene_network(80, 6, n_links=4, random_state=1)
    options = {
        "names": made.names,
        "estimator": GradientBoosting(60, max_features=0.5),
        "random_state": 0,
    }
    network = dm.genie3(made.expression, **options)
    assert network.score(made.links).auroc > 0.85
    for others in ({"n_jobs": 2}, {"checkpoint": tmp_path / "done"}):
        again = dm.genie3(made.expression, **options, **others)
        assert again.weights.tolist() == network.weights.tolist()
    assert network.metadata["forest"] == "gradient_boosting"


def test_what_boosting_cannot_measure_is_refused():
    made = dm.datasets.gene_network(20, 3, n_links=2, random_state=1)
    with pytest.raises(ValueError, match="measure must be 'mdi' for GradientBoosting"):
        dm.genie3(made.expression, estimator=GradientBoosting(), measure="mda")
    table = dm.encode([["a", 1.0], ["b", 2.0], ["a", 3.0]])
    with pytest.raises(ValueError, match="targets must be numbers for GradientBoosting"):
        dm.genie3(table, estimator=GradientBoosting())
    for parameter in ("learning_rate", "subsample"):
        with pytest.raises(ValueError, match=parameter):
            GradientBoosting(**{parameter: 0.0})
    for refused in (1.5, 0.0, 0, np.nan):
        with pytest.raises(ValueError, match="max_features must be an int >= 1, or a fraction abo"):
            GradientBoosting(max_features=refused)
