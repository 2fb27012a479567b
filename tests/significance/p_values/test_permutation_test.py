from functools import partial

import numpy as np
import pandas as pd
import pytest
from tests.oracles.monte_carlo import p_value

import duramen as dm
from duramen.jobs.replicates import replicate_seed
from duramen.significance import altmann, permutation_test
from duramen.support.checks import draw_seed


def covariances(X, y, seed):
    """A cheap importance without randomness."""
    return np.abs((X - X.mean(axis=0)).T @ (y - y.mean()))


def noisy(X, y, seed):
    return covariances(X, y, seed) + np.random.default_rng(seed).random(X.shape[1])


def of_forest(X, y, seed):
    forest = dm.RandomForestClassifier(10, random_state=seed)
    return dm.importances.mdi(forest.fit(X, y))


def problem(seed=0, n=40, p=5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, (X[:, 0] + random.normal(size=n) > 0).astype(int)


def test_p_values_by_hand():
    X, y = problem()
    result = permutation_test(noisy, X, y, n_permutations=29, random_state=3)
    null = np.empty((29, 5))
    for b in range(29):
        random = np.random.default_rng(replicate_seed(draw_seed(3), b))
        order = random.permutation(len(y))
        null[b] = noisy(X, y[order], int(random.integers(2**32)))
    expected = [p_value(result.scores[j], null[:, j], 29) for j in range(5)]
    np.testing.assert_allclose(result.p_values, expected, rtol=1e-15)
    np.testing.assert_allclose(result.details["null_mean"], null.mean(axis=0))


def test_of_a_forest_it_is_altmann():
    X, y = problem()
    significance = permutation_test(of_forest, X, y, n_permutations=9, random_state=5)
    options = {"measure": "mdi", "n_permutations": 9, "random_state": 5}
    other = altmann(dm.RandomForestClassifier(10), X, y, **options)
    np.testing.assert_array_equal(significance.scores, other.scores)
    np.testing.assert_array_equal(significance.p_values, other.p_values)
    for what, column in significance.details.items():
        np.testing.assert_array_equal(column, other.details[what])


def test_checkpoint_knows_data_and_name_of_the_function(tmp_path):
    X, y = problem()
    settings = {"n_permutations": 3, "random_state": 0, "checkpoint": tmp_path / "run"}
    first = permutation_test(noisy, X, y, **settings)
    assert first.metadata["importance"].endswith("test_permutation_test.noisy")
    # A partial has the name of its function.
    assert permutation_test(partial(noisy), X, y, **settings).equals(first)
    for importance, target in ((covariances, y), (noisy, y[::-1])):
        with pytest.raises(ValueError, match=r"permutation_test: the checkpoint .* another run"):
            permutation_test(importance, X, target, **settings)


def test_x_is_passed_as_it_is_and_names_are_found():
    X, y = problem()
    frame, table = pd.DataFrame(X, columns=list("abcde")), dm.encode(X, names=list("vwxyz"))
    seen = []

    def importance(X, y, seed):
        seen.append(X)
        return np.arange(5.0)

    def named(*arguments, **settings):
        return permutation_test(importance, *arguments, n_permutations=2, **settings).names

    assert named(frame, y) == tuple("abcde")
    assert named(table, y) == tuple("vwxyz")
    assert named(X, pd.Series(y, index=y[::-1])) == ("x0", "x1", "x2", "x3", "x4")
    assert named({"anything": X}, y) == ("x0", "x1", "x2", "x3", "x4")
    assert [type(X) for X in seen[::3]] == [type(frame), type(table), np.ndarray, dict]
    assert seen[0] is frame
    assert permutation_test(of_forest, X, y, n_permutations=2).unit == "gini"


def returning(*values):
    """A function that returns one value after another."""
    left = list(values)
    return lambda X, y, seed: left.pop(0)


def test_what_the_function_returns_is_checked():
    for importance, message in (
        (returning(np.zeros((2, 2))), r"must return p finite numbers.*shape \(2, 2\)"),
        (returning("abc"), r"must return p finite numbers.*got str"),
        (returning([1.0, np.nan]), "must return p finite numbers .* NaN or infinity"),
        (returning([1.0, 2.0], [1.0, 2.0], [3.0]), r"must return 2 finite .*shape \(1,\)"),
    ):
        with pytest.raises(ValueError, match="permutation_test: importance " + message):
            permutation_test(importance, *problem(), n_permutations=2)


def test_wrong_arguments_are_refused(tmp_path):
    X, y = problem()
    with pytest.raises(ValueError, match="importance must be a function importance"):
        permutation_test(None, X, y)
    with pytest.raises(ValueError, match="y must have at least one row"):
        permutation_test(covariances, X, 3)
    with pytest.raises(TypeError, match="cannot be recogni"):
        permutation_test(returning([1.0]), {"a": 1}, y, checkpoint=tmp_path / "run")
