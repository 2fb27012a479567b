import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.ensemble import RandomForestRegressor as SklearnRegressor
from tests.grid import one_test
from tests.importances.nesting import nested
from tests.oracles import mdi as walk
from tests.oracles import subtrees as oracle

from duramen import estimators
from duramen.importances import frequency


def table(n=120, seed=0):
    """Five continuous columns of falling influence, one of two values, one constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 7))
    X[:, 5] = X[:, 5] > 0
    X[:, 6] = 1.0
    number = X[:, 0] + 0.5 * X[:, 1] * X[:, 5] + 0.2 * X[:, 2] + 0.3 * random.normal(size=n)
    return X, (number > 0).astype(int), number


def fractions(counts, p):
    total = sum(counts.values())
    return np.array([counts[j] / total for j in range(p)])


# --- Definition 4.1 ------------------------------------------------------------------------------


def test_fractions_of_the_splits_as_counted_from_arrays():
    X, y, _ = table()
    forest = estimators.RandomForestClassifier(20, random_state=0).fit(X, y)
    counts = oracle.features_on_splits([tree.feature for tree in forest.forest_])
    result = frequency(forest)
    np.testing.assert_allclose(result.values, fractions(counts, 7), rtol=1e-12)
    assert result.values.sum() == pytest.approx(1)
    assert result["x6"] == 0.0
    assert (result.measure, result.unit) == ("frequency", "1")


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_agrees_with_the_arrays_of_scikit_learn_within_noise(task):
    X, labels, numbers = table()
    y = labels if task == "classes" else numbers
    theirs, ours = (
        (SklearnForest, estimators.RandomForestClassifier)
        if task == "classes"
        else (SklearnRegressor, estimators.RandomForestRegressor)
    )
    settings = {"n_estimators": 300, "max_features": None, "random_state": 0}
    peer = theirs(**settings).fit(X[:, :5], y)
    result = frequency(ours(**settings).fit(X[:, :5], y))
    counts = oracle.features_on_splits([tree.tree_.feature for tree in peer.estimators_])
    # Two independent forests of one distribution: a difference has sqrt(2) times the error.
    scaled = (result.values - fractions(counts, 5)) / (np.sqrt(2) * result.standard_error)
    assert np.abs(scaled).max() < 4
    assert np.ptp(result.values) > 20 * result.standard_error.max()  # and it tells features apart


@one_test
@pytest.mark.parametrize("splits", ["ordered", "multiway"])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_and_degrees_against_nested_nodes(splits, weighted):
    X, y, _ = table(60)
    X = np.round(X)
    forest = estimators.RandomForestClassifier(8, splits=splits, random_state=3).fit(X, y)
    deepest = int(forest.forest_.degree.max())
    sums = np.zeros((8, 7, deepest + 1))
    for t, root in enumerate(nested(forest, X, X)):
        for node, degree in walk.internal(root):
            fraction = len(node["train"]) / len(root["train"]) if weighted else 1.0
            sums[t, node["feature"], degree] += fraction
    result = frequency(forest, weighted=weighted, normalize=False, by_degree=True)
    np.testing.assert_allclose(result.by_degree, sums.mean(axis=0), atol=1e-12)
    a = sums.sum(axis=2)
    np.testing.assert_allclose(result.values, a.mean(axis=0), atol=1e-12)
    error = a.std(axis=0, ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(result.standard_error, error, atol=1e-12)

    fraction = frequency(forest, weighted=weighted)
    b = a.sum(axis=1)
    ratio = a.sum(axis=0) / b.sum()
    np.testing.assert_allclose(fraction.values, ratio, atol=1e-12)
    residual = a - ratio * b[:, np.newaxis]
    error = np.sqrt((residual**2).sum(axis=0) / (8 * 7)) / b.mean()
    np.testing.assert_allclose(fraction.standard_error, error, atol=1e-9)


def test_weighted_splits_are_those_that_a_training_row_passes():
    X, y, _ = table()
    forest = estimators.ExtraTreesClassifier(10, random_state=0).fit(X, y)
    result = frequency(forest, weighted=True, normalize=False)
    depths = [
        tree.depth[leaves] for tree, leaves in zip(forest.forest_, forest.apply(X).T, strict=True)
    ]
    assert result.values.sum() == pytest.approx(np.mean(depths))


def test_frequency_rewards_deep_splits_and_weights_do_not():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 2, 300), random.normal(size=300)])
    y = np.where(random.random(300) < 0.2, 1 - X[:, 0], X[:, 0]).astype(int)
    forest = estimators.RandomForestClassifier(50, max_features=None, random_state=0).fit(X, y)
    assert frequency(forest).order()[0] == 1
    plain, weighted = frequency(forest)["x0"], frequency(forest, weighted=True)["x0"]
    assert weighted > 5 * plain


# --- spread --------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [False, True])
def test_standard_error_is_the_spread_of_forests(normalize):
    X, y, _ = table(40)
    forest = estimators.ExtraTreesClassifier(6000, random_state=0).fit(X, y).forest_
    runs = [frequency(forest.part(30 * i, 30 * i + 30), normalize=normalize) for i in range(200)]
    spread = np.std([run.values for run in runs], axis=0, ddof=1)[:6]
    stated = np.sqrt(np.mean([run.standard_error**2 for run in runs], axis=0))[:6]
    np.testing.assert_allclose(stated / spread, 1, atol=0.25)  # 5 standard errors of a spread


# --- corners -------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_stumps_without_a_split_have_frequency_zero(weighted, normalize):
    forest = estimators.RandomForestClassifier(3, random_state=0).fit(
        np.ones((10, 2)), np.arange(10) % 2
    )
    result = frequency(forest, weighted=weighted, normalize=normalize, by_degree=True)
    assert result.values.tolist() == [0.0, 0.0]
    assert result.standard_error.tolist() == [0.0, 0.0]
    assert result.by_degree.tolist() == [[0.0], [0.0]]


def test_trees_whose_bag_weighs_nothing():
    X, y, _ = table(12)
    weights = np.zeros(12)
    weights[:3] = 1.0
    y[:3] = [0, 1, 0]
    forest = estimators.RandomForestClassifier(40, random_state=0).fit(X, y, sample_weight=weights)
    assert (forest.forest_.weight[forest.forest_.offsets[:-1]] == 0).any()
    result = frequency(forest, weighted=True)
    assert result.values.sum() == pytest.approx(1)
