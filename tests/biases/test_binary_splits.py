"""Claims of docs/biases/binary-splits.md."""

import numpy as np
import pytest
from benchmarks.biases import binary_splits

import duramen as dm
from duramen.theory import population_importances


def test_a_random_cut_loses_to_the_copy_and_the_best_does_not():
    rows = {(row[0], row[1]): row[2:] for row in binary_splits.threshold().rows}
    for n_values in (4, 8):
        for name in ("multiway", "best cut", "best subset"):
            assert np.allclose(rows[n_values, name], 0.5)
        # A random cut is right in one of n - 1 cases; a root of the copy ends the tree.
        assert np.allclose(np.sum(np.reshape(rows[n_values, "random cut"], (2, 2)), axis=1), 1)
        assert rows[n_values, "random subset"][0] < rows[n_values, "random cut"][0] < 0.37
    # K = 2: X splits the root only by a tie with the copy, at one of its n - 1 cuts.
    assert np.isclose(rows[4, "random cut"][2], 1 / 6)
    assert np.isclose(rows[8, "random cut"][2], 1 / 14)


def test_the_best_cut_is_not_enough_for_an_interval():
    rows = {(row[0], row[1]): row[2:] for row in binary_splits.interval().rows}
    for n_values in (3, 5):
        assert np.isclose(rows[n_values, "best cut"][2], 0)
        assert np.isclose(*rows[n_values, "best subset"][:2])
        assert np.isclose(*rows[n_values, "multiway"][:2])


def test_exact_values_are_limits_of_forests():
    classes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    dist = binary_splits.with_indicator(8, classes)
    X = np.column_stack([np.arange(8), classes])
    for forest, cut in (
        (dm.ExtraTreesClassifier(2000, max_features=1, criterion="entropy"), "uniform"),
        (
            dm.RandomForestClassifier(2000, max_features=1, criterion="entropy", bootstrap=False),
            "best",
        ),
    ):
        exact = population_importances(dist, splits="ordered", cut=cut).values
        measured = dm.importances.mdi(forest.set_params(random_state=0).fit(X, classes))
        assert np.all(np.abs(measured.values - exact) < 4 * measured.standard_error + 1e-9)


@pytest.mark.slow
def test_the_choice_of_the_cut_decides_which_of_two_equal_features_is_ahead():
    ratios = {row[0]: row[-1] for row in binary_splits.against_its_indicator(4, seed=1).rows}
    assert ratios["random cuts, K = 1"] < 0.7
    assert ratios["random cuts, K = p"] < 0.4
    assert ratios["best cuts, K = 1"] > 1
    assert ratios["best cuts, K = p"] > 1.3
