"""Mean of the largest importances under permuted labels (Rodenburg et al. 2008)."""

import numpy as np

import duramen as dm
from duramen.significance import max_t, mean_of_maxima

FOREST = dm.ExtraTreesClassifier(10)


def noise(seed, n=30, p=5):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, p)), random.integers(0, 2, n)


def test_maxima_are_those_of_the_permutations_of_max_t():
    X, y = noise(0)
    options = {
        "measure": "mdi",
        "n_permutations": 19,
        "random_state": 1,
    }  # max_t does not end early
    result = mean_of_maxima(FOREST, X, y, **options)
    joint = max_t(FOREST, X, y, balanced=False, marginal=False, max_stages=1, **options)
    np.testing.assert_array_equal(result.importances.values, joint.scores)
    largest = joint.scores.max()
    reached = np.count_nonzero(result.maxima >= largest)
    assert joint.p_adjusted.min() == (1 + reached) / 20
    assert result.threshold == result.maxima.mean()
