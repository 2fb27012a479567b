"""Guided forests: the draw of candidates by weights, and the weights."""

import numpy as np
import pytest
from scipy import stats
from tests.grid import one_test

import duramen as dm
from duramen.estimators.guided_forest import association_p_values
from duramen.forests import GrowthSettings, grow
from duramen.forests.growth import Guidance


def guided(**options):
    return dm.GuidedForestClassifier(**{"n_estimators": 20, "random_state": 0, **options})


def noise(n=60, p=5):
    random = np.random.default_rng(0)
    return random.normal(size=(n, p)), random.permutation(np.arange(n) % 2)


def test_candidates_are_drawn_by_weight():
    """With one candidate the roots have columns as often as their weights say."""
    X, y = noise()
    weights = np.array([1.0, 2.0, 4.0, 0.0, 1.0])
    settings = GrowthSettings(max_features=1, max_depth=1, bootstrap=True)
    forest = grow(dm.learning_set(X, y), settings, n_trees=4000, seed=1, guidance=Guidance(weights))
    roots = forest.feature[forest.offsets[:-1]]
    counts = np.bincount(roots, minlength=5)
    assert counts[3] == 0
    expected = 4000 * weights / weights.sum()
    statistic = ((counts - expected)[weights > 0] ** 2 / expected[weights > 0]).sum()
    assert stats.chi2.sf(statistic, 3) > 0.001


def test_draws_are_without_replacement():
    """Both columns with a weight are candidates of every node: the better one is at the root."""
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 4))
    weights = np.array([1e-6, 0.0, 1.0, 0.0])
    forest = guided(feature_weights=weights, max_features=2, bootstrap=False)
    forest.fit(X, X[:, 0] > 0)
    assert (forest.forest_.feature[forest.forest_.offsets[:-1]] == 0).all()


def test_equal_weights_are_an_ordinary_forest():
    """Frequencies of the columns at the root, of both forests, by a chi-square test."""
    X, y = noise(p=6)
    settings = GrowthSettings(max_features=2, max_depth=1, bootstrap=True)
    data = dm.learning_set(X, y)
    plain, weighted = (
        grow(data, settings, n_trees=3000, seed=k, guidance=guidance)
        for k, guidance in enumerate([None, Guidance(np.full(6, 0.3))])
    )
    table = [
        np.bincount(values.feature[values.offsets[:-1]], minlength=6)
        for values in (plain, weighted)
    ]
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_p_values_against_scipy():
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 3))
    X[3, 1] = np.nan
    X[:, 2] = 7.0
    two, three = np.arange(40) % 2, np.arange(40) % 3
    there = ~np.isnan(X[:, 1])

    def p_value(y, task):
        data = dm.learning_set(X, y, task=task)
        return association_p_values(data.table, data.target, "test")

    t = stats.ttest_ind(X[two == 0, 0], X[two == 1, 0]).pvalue
    f = stats.f_oneway(*(X[there & (three == c), 1] for c in range(3))).pvalue
    r = stats.pearsonr(X[there, 1], X[there, 0]).pvalue
    assert p_value(two, "classification")[0] == pytest.approx(t)
    assert p_value(three, "classification")[1] == pytest.approx(f)
    assert p_value(X[:, 0], "regression")[[1, 0, 2]] == pytest.approx([r, 0.0, 1.0])


def test_few_relevant_features_among_many():
    """Weights bring the relevant features to the nodes, and predictions improve."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 200))
    y = X[:, :3].sum(axis=1) > 0
    plain = dm.RandomForestClassifier(50, random_state=0).fit(X[:100], y[:100])
    for kind in ("importance", "enriched"):
        forest = guided(n_estimators=50, feature_weights=kind).fit(X[:100], y[:100])
        assert forest.score(X[100:], y[100:]) > plain.score(X[100:], y[100:]) + 0.03
        assert set(np.argsort(-forest.feature_weights_)[:2].tolist()) <= {0, 1, 2}


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_weights": "t"}, "feature_weights must be one of"),
        ({"feature_weights": [1.0, 2.0]}, "feature_weights must be 'importance', 'enriched' or 5"),
        ({"feature_weights": [-1, 1, 1, 1, 1]}, "feature_weights must be 'importance'"),
        ({"feature_weights": [0, 0, 0, 0, 1]}, "max_features=2 candidates are drawn"),
        ({"splits": "multiway"}, "these trees cannot be guided"),
    ],
)
def test_refusals(options, message):
    X, y = noise()
    with pytest.raises((ValueError, TypeError), match=f"GuidedForestClassifier: {message}"):
        guided(**options).fit(X, y)
