import numpy as np
import pytest
from tests.grid import one_test
from tests.importances.nesting import nested
from tests.oracles import mdi as walk

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


# --- Definition 4.1 ------------------------------------------------------------------------------


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
    assert (fraction.measure, fraction.unit) == ("frequency", "1")
    residual = a - ratio * b[:, np.newaxis]
    error = np.sqrt((residual**2).sum(axis=0) / (8 * 7)) / b.mean()
    np.testing.assert_allclose(fraction.standard_error, error, atol=1e-9)


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
