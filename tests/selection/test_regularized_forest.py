"""Regularized forests: the rule of the splits, and the features that they use."""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.forests import GrowthSettings, grow
from duramen.forests.growth import Guidance


def regularized(**options):
    return dm.RegularizedForestSelector(**{"n_estimators": 20, "random_state": 0, **options})


def gini(y):
    return 1.0 - sum((np.mean(y == c)) ** 2 for c in np.unique(y))


def slow_forest(X, y, n_trees, factors, proxy=False, least=5):
    """Features by split, of trees that see all rows and all columns, by plain loops."""
    used, splits = set(), []
    for _ in range(n_trees):
        stack = [np.arange(len(y))]
        while stack:
            rows = stack.pop()
            if gini(y[rows]) == 0 or len(rows) < 2 * least:
                continue
            best = (0.0, None, None)
            for j in [*sorted(used), *(j for j in range(X.shape[1]) if j not in used)]:
                for cut in np.unique(X[rows, j])[:-1]:
                    first = X[rows, j] <= cut
                    if min(first.sum(), (~first).sum()) < least:
                        continue
                    impurity_after = sum(
                        part.sum() * gini(y[rows[part]]) for part in (first, ~first)
                    )
                    gain = len(rows) * gini(y[rows]) - impurity_after
                    value = gain
                    if j not in used:
                        score = len(rows) - impurity_after
                        value = factors[j] * score - (score - gain) if proxy else factors[j] * gain
                    if value > best[0] + 1e-9:
                        best = (value, j, first)
            if best[1] is None:
                continue
            used.add(best[1])
            splits.append(best[1])
            stack += [rows[~best[2]], rows[best[2]]]
    return splits, used


@one_test
@pytest.mark.parametrize("proxy", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_splits_against_plain_loops(proxy, seed):
    random = np.random.default_rng(seed)
    X = random.permuted(np.tile(np.arange(40.0), (5, 1)), axis=1).T
    y = (X[:, 0] + 0.7 * X[:, 1] + random.normal(size=40) > 34).astype(int)
    factors = random.uniform(0.3, 0.9, size=5)
    settings = GrowthSettings(max_features=5, min_samples_leaf=5)
    data = dm.learning_set(X, y)
    forest = grow(data, settings, n_trees=2, seed=0, guidance=Guidance(np.ones(5), factors, proxy))
    splits, used = slow_forest(X, y, 2, factors, proxy)
    assert set(forest.feature[forest.feature >= 0].tolist()) == used
    assert forest.feature[forest.feature >= 0].tolist() == splits


def test_factors_of_importances():
    data = dm.datasets.linear_sign(100, 6, n_relevant=2, random_state=0)
    plain = regularized().fit(data.X, data.y)
    assert plain.factors_.tolist() == [0.8] * 6
    guided = regularized(guidance=0.5).fit(data.X, data.y)
    assert guided.factors_.max() == 1.0
    assert (guided.factors_ >= 0.5).all()
    other = regularized(guidance=0.25, penalty=0.4).fit(data.X, data.y)
    np.testing.assert_allclose(other.factors_, 0.3 + (guided.factors_ - 0.5) / 2)


def test_history_and_entries():
    data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    model = regularized().fit(data.X, data.y)
    sizes = model.history_["n_selected"]
    assert len(sizes) == 20
    assert (np.diff(sizes) >= 0).all()
    assert sizes[-1] == len(model.selected_)
    assert (np.diff(model.entered_[model.selected_]) >= 0).all()
    used = np.unique(model.forest_.feature[model.forest_.feature >= 0])
    assert used.tolist() == np.flatnonzero(model.support_).tolist()
    assert (model.importances_.values > 0).tolist() == model.support_.tolist()


@one_test
@pytest.mark.parametrize(
    "options",
    [
        {"estimator": dm.RandomForestClassifier(max_leaf_nodes=5)},
        {"estimator": dm.PERTClassifier()},
        {"estimator": dm.RandomSubspaceClassifier()},
        {"estimator": dm.RandomForestClassifier(criterion="entropy"), "penalize": "proxy"},
    ],
)
def test_refusals(options):
    X = np.random.default_rng(0).normal(size=(30, 8))
    message = "RegularizedForestSelector: these trees cannot be guided"
    with pytest.raises((ValueError, TypeError), match=message):
        regularized(**options).fit(X, X[:, 0] > 0)
