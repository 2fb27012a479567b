from types import SimpleNamespace

import numpy as np
import pytest
from tests.importances.nesting import nested
from tests.oracles import mdi as oracle

import duramen as dm
from duramen.forests import prediction
from duramen.importances import air, mdi
from duramen.importances.measures.shadows import shadowed_forest
from duramen.importances.refit import repeat_seeds
from duramen.support.checks import draw_seed


def null_columns(random, n=100):
    """Columns of 2, 4, 20 and n different values, and classes that have nothing to do with them."""
    columns = [random.integers(0, k, n) for k in (2, 4, 20)]
    return np.column_stack([*columns, random.permutation(n)]).astype(float), random.integers(
        0, 2, n
    )


def on_null_columns(estimator, n_sets):
    """MDI and AIR of `n_sets` null data sets, as fractions of the mean sum of MDI."""
    plain, actual = [], []
    for seed in range(n_sets):
        X, y = null_columns(np.random.default_rng(seed))
        plain.append(mdi(estimator.set_params(random_state=seed).fit(X, y)).values)
        actual.append(air(estimator, X, y, random_state=seed).values)
    total = np.sum(plain) / n_sets
    return np.array(plain) / total, np.array(actual) / total


def noise(values):
    """Mean over the data sets in units of its standard error."""
    return values.mean(axis=0) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))


# --- null columns --------------------------------------------------------------------------------


@pytest.mark.slow
def test_null_columns_of_few_and_many_values_are_alike():
    """100 data sets: MDI shares lie more than .05 apart, AIR within 3.3 standard errors of 0."""
    plain, actual = on_null_columns(dm.RandomForestClassifier(40), 100)
    np.testing.assert_allclose(plain.mean(axis=0), [0.06, 0.13, 0.32, 0.49], atol=0.02)
    assert np.diff(plain.mean(axis=0)).min() > 0.05
    assert np.abs(noise(actual)).max() < 3.3
    np.testing.assert_allclose(actual.mean(axis=0), 0, atol=0.015)


def test_irrelevant_columns_beside_relevant_ones():
    """40 data sets: the relevant column stands out, null ones of 2 and n values stay at 0."""
    actual, plain = [], []
    for seed in range(40):
        random = np.random.default_rng(seed)
        X, _ = null_columns(random)
        X[:, 1] = random.integers(0, 2, 100)
        y = np.where(random.random(100) < 0.15, 1 - X[:, 1], X[:, 1])
        forest = dm.RandomForestClassifier(50, random_state=seed)
        actual.append(air(forest, X, y).values)
        plain.append(mdi(forest.fit(X, y)).values)
    actual, plain = np.array(actual), np.array(plain)
    assert (actual[:, 1] > 0.08).all()
    assert np.abs(noise(actual)[[0, 2, 3]]).max() < 3.3
    assert plain.mean(axis=0)[3] > 5 * np.abs(actual.mean(axis=0)[[0, 2, 3]]).max()


# --- what it is ----------------------------------------------------------------------------------


def grown_with_shadows(estimator, X, y, seed):
    """The forest of `air`, with the numbers that it saw."""
    n = len(X)
    seeds = repeat_seeds(draw_seed(seed), 1)[0]
    forest = shadowed_forest(estimator, dm.learning_set(X, y), seeds, "air")
    order = np.random.default_rng(int(seeds[0])).permutation(n)
    rows = np.column_stack([X, X[order]])
    fitted = SimpleNamespace(forest_=forest, apply=lambda X: prediction.leaves(forest, X))
    return nested(fitted, rows, rows)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_against_oracle(task):
    X, y = null_columns(np.random.default_rng(1), n=60)
    if task == "numbers":
        y = y + X[:, 3] / 60
        estimator = dm.RandomForestRegressor(6, max_features=2)
        impurity = oracle.variance
    else:
        estimator = dm.RandomForestClassifier(6, criterion="entropy")
        impurity = oracle.entropy
    roots = grown_with_shadows(estimator, X, y, 3)
    sums = np.zeros((6, 4))
    for t, root in enumerate(roots):
        for node, _ in oracle.internal(root):
            fraction = len(node["train"]) / len(root["train"])
            sign = 1 if node["feature"] < 4 else -1
            sums[t, node["feature"] % 4] += sign * fraction * oracle.decrease(node, y, impurity)
    result = air(estimator, X, y, random_state=3)
    np.testing.assert_allclose(result.values, sums.mean(axis=0), atol=1e-12)
    error = sums.std(axis=0, ddof=1) / np.sqrt(6)
    np.testing.assert_allclose(result.standard_error, error, atol=1e-12)


def test_constant_columns_and_pure_classes_get_nothing():
    X, y = null_columns(np.random.default_rng(0))
    X[:, 2] = 7
    assert air(dm.RandomForestClassifier(12), X, y, random_state=0).values[2] == 0
    silent = air(dm.RandomForestClassifier(5), X, np.zeros(100), random_state=0)
    np.testing.assert_array_equal(silent.values, 0)
    np.testing.assert_array_equal(silent.standard_error, 0)


# --- strata and groups ---------------------------------------------------------------------------


def test_shadows_are_those_of_the_rows_that_may_be_exchanged():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(24, 3)), np.arange(24) % 2
    person = np.repeat(np.arange(8), 3)
    forest = dm.ExtraTreesClassifier(20, random_state=0)
    plain = air(forest, X, y, random_state=3)
    importances = air(forest, X, y, strata=np.zeros(24), random_state=3)
    assert importances.equals(plain)  # a single stratum restricts nothing
    assert not air(forest, X, y, groups=person, random_state=3).equals(plain)
    for function in (air, dm.importances.sandri):
        with pytest.raises(ValueError, match=r"groups must leave rows to exchange"):
            function(forest, X, y, groups=np.repeat([0, 1, 2], [5, 8, 11]))
        with pytest.raises(ValueError, match=r"strata must have a label for each of the 24 rows"):
            function(forest, X, y, strata=[1, 2])
