"""Claims of docs/biases/number-of-trees.md."""

import numpy as np
import pytest
from benchmarks.biases import number_of_trees
from benchmarks.biases.number_of_trees import SingleTree, trees_for_nonzero

import duramen as dm
from duramen.theory import examples, population_importances


def test_means_of_a_single_tree_are_the_importances_of_all():
    for dist in (examples.digits7(), examples.noisy_copy(), examples.problem_1()):
        for K in (1, 2, dist.n_features):
            exact = population_importances(dist, max_features=K).values
            assert np.allclose(SingleTree(dist, K).moments().mean, exact, atol=1e-12)


def test_a_tree_of_an_exclusive_or_gives_one_of_two_features_all():
    result = SingleTree(examples.xor()).moments()
    assert np.allclose(result.square, np.diag([0.5, 0.5]))
    assert np.allclose(result.zero, 0.5)
    assert trees_for_nonzero(0.5, risk=0.01) == 7


def test_moments_are_those_of_grown_trees():
    digits = dm.datasets.digits7()
    for K in (1, 2):
        expected = SingleTree(examples.digits7(), K).moments()
        settings = {"criterion": "entropy", "splits": "multiway", "max_features": K}
        forest = dm.ExtraTreesClassifier(2000, random_state=0, **settings)
        grown = forest.fit(digits.X, digits.y).forest_
        deviation = np.sqrt(np.diag(expected.square) - expected.mean**2)
        error = dm.importances.mdi(grown).standard_error * np.sqrt(2000)
        assert np.allclose(error, deviation, rtol=0.06)
        values = [dm.importances.mdi(grown.part(t, t + 1)).values for t in range(300)]
        spread = np.sqrt(expected.zero * (1 - expected.zero) / 300)
        zeros = np.mean(np.abs(values) < 1e-12, axis=0)
        assert np.all(np.abs(zeros - expected.zero) <= 4 * spread)


@pytest.mark.slow
def test_variance_falls_with_the_number_of_trees_and_rankings_agree():
    rows = np.array(number_of_trees.variance_by_trees(3, seed=1).rows)
    _, mdi, mda, same_mdi, same_mda, unused, no_candidate = rows.T
    assert np.ptp(mdi) < 0.25 * mdi.mean()  # times the root of T: constant
    assert np.ptp(mda) < 0.5 * mda.mean()
    assert np.all(np.diff(same_mdi) > 0)
    assert np.all(np.diff(same_mda) > 0)
    assert np.all(np.diff(unused) < 0)
    assert np.all(np.diff(no_candidate) < 0)
    assert unused[0] > 300
    assert no_candidate[0] < 10
