"""One matrix of importances under permuted labels, and the tests that read it."""

import numpy as np
import pytest
from tests.grid import one_test
from tests.significance.noise import TINY, Interrupted, correlation, killed_after, noise, signal

import duramen as dm
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.significance import (
    PermutedImportances,
    altmann,
    fdr_curve,
    max_t,
    permuted_importances,
)
from duramen.significance.association import marginal_statistics
from duramen.support.checks import draw_seed

FOREST = dm.RandomForestClassifier(5)
X, Y = signal()
STRATA, GROUPS = np.arange(80) % 3, np.arange(80) // 2
WEIGHTS = 1.0 + np.arange(80) % 4

CASES = {
    "classes": (FOREST, X, Y, {}),
    "numbers": (dm.RandomForestRegressor(5), X, X[:, 0] + X[:, 1], {}),
    "strata": (FOREST, X, Y, {"strata": STRATA}),
    "groups": (FOREST, X, Y, {"groups": GROUPS}),
    "weights": (FOREST, dm.learning_set(X, Y, sample_weight=WEIGHTS), None, {}),
    "own measure": (TINY, X, Y, {"measure": correlation}),
    "auto": (FOREST, X, Y, {"measure": "auto"}),
    "limits": (FOREST, X, Y, {"measure": "mda"}),
    "noise": (TINY, *noise(3), {"measure": correlation}),
}
FAST = ("own measure", "noise")
READINGS = {
    "altmann": (altmann, {}),
    "lognormal": (altmann, {"distribution": "lognormal"}),
    "fdr_curve": (fdr_curve, {}),
    "max_t": (max_t, {}),
    "importances alone": (max_t, {"marginal": False}),
    "unbalanced, another level": (max_t, {"balanced": False, "alpha": 0.2}),
}


def numbers(result):
    """All that a result holds."""
    return {name: np.asarray(array) for name, array in result.to_arrays().items() if name != "json"}


def assert_same(left, other):
    assert type(left) is type(other)
    first, second = numbers(left), numbers(other)
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_equal(first[name], second[name])
    if hasattr(left, "metadata"):
        assert left.equals(other)
        assert dict(left.metadata) == dict(other.metadata)


@one_test
@pytest.mark.parametrize("case", FAST)
def test_each_reading_is_what_the_test_gives_by_itself(case, tmp_path):
    assert_readings_agree(case, tmp_path)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("case", [case for case in CASES if case not in FAST])
def test_each_reading_is_what_the_test_gives_for_other_data(case, tmp_path):
    assert_readings_agree(case, tmp_path)


def assert_readings_agree(case, tmp_path):
    """Read a matrix, and what was saved of it, and run each test by itself."""
    estimator, table, target, settings = CASES[case]
    common = {"measure": "mdi", "n_permutations": 20, "random_state": 7, **settings}
    permuted = permuted_importances(estimator, table, target, **common)
    permuted.save(tmp_path / "permuted.npz")
    again = PermutedImportances.load(tmp_path / "permuted.npz")
    for test, options in READINGS.values():
        alone = {"max_stages": 1} if test is max_t else {}
        expected = test(estimator, table, target, **common, **options, **alone)
        for matrix in (permuted, again):
            result = test(matrix, **options)
            assert_same(result, expected)
            for words in ("null", "meaning"):
                assert getattr(result, words, "") == getattr(expected, words, "")
            if test is not max_t:
                assert getattr(result, "notes", ()) == getattr(expected, "notes", ())
            elif (result.p_adjusted <= options.get("alpha", 0.05)).any():
                assert result.notes[:-1] == expected.notes
                assert "ended after its first stage" in result.notes[-1]
            else:
                assert result.notes == expected.notes


def test_matrix_is_that_of_fitting_by_hand():
    """Estimators fitted on arrays, with the seeds of the replicates."""
    result = permuted_importances(FOREST, X, Y, measure="mdi", n_permutations=5, random_state=4)
    seed, data = draw_seed(4), dm.learning_set(X, Y)

    def importances(forest_seed, target):
        forest = dm.RandomForestClassifier(5, random_state=forest_seed % 2**32)
        return dm.importances.mdi(forest.fit(X, target)).values

    np.testing.assert_array_equal(
        result.importances.values, importances(replicate_seed(seed, OBSERVED), Y)
    )
    for b in range(5):
        random = np.random.default_rng(replicate_seed(seed, b))
        order = random.permutation(80)
        forest_seed = int(random.integers(2**32))
        np.testing.assert_array_equal(result.permuted[b], importances(forest_seed, Y[order]))
        permuted = data.permuted(order, key="by hand")
        alone = marginal_statistics(permuted, lambda _: np.arange(80), 1)
        np.testing.assert_allclose(result.marginal[b + 1], alone[0], atol=1e-9)
    on_data = marginal_statistics(data, lambda _: np.arange(80), 1)
    np.testing.assert_array_equal(result.marginal[0], on_data[0])
    assert (result.metadata["seed"], result.metadata["n_permutations"]) == (seed, 5)
    assert result.metadata["data"] == data.fingerprint


@one_test
@pytest.mark.parametrize("first", [permuted_importances, altmann, fdr_curve])
def test_interrupted_run_resumes_and_checkpoints_are_shared(tmp_path, first):
    common = {"n_permutations": 12, "random_state": 5}
    kept = {"checkpoint": tmp_path / first.__name__, **common}
    with pytest.raises(Interrupted):
        first(TINY, X, Y, measure=killed_after(correlation, 8), **kept)
    rest = killed_after(correlation, 1 + 12 - 7)  # the data again, and what was not finished
    resumed = permuted_importances(TINY, X, Y, measure=rest, **kept)
    whole = permuted_importances(TINY, X, Y, measure=correlation, n_jobs=2, **common)
    np.testing.assert_array_equal(resumed.permuted, whole.permuted)
    np.testing.assert_array_equal(resumed.marginal, whole.marginal)


def test_what_is_about_growing_forests_is_refused():
    permuted = permuted_importances(TINY, X, Y, measure=correlation, n_permutations=3)
    for test, options, words in (
        (altmann, {"n_permutations": 50}, "n_permutations must not"),
        (altmann, {"X": X, "y": Y}, "X, y must not"),
        (fdr_curve, {"measure": "mdi", "strata": STRATA}, "measure, strata must not"),
        (max_t, {"checkpoint": "file", "n_jobs": 2}, "n_jobs, checkpoint must not"),
    ):
        with pytest.raises(ValueError, match=f"{test.__name__}: {words} be given with Permuted"):
            test(permuted, **options)
        test(permuted, None, None)  # nothing is given
