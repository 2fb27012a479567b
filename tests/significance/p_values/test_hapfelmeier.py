from functools import partial

import numpy as np
import pytest
from tests.oracles.monte_carlo import p_value
from tests.significance.noise import one_relevant

import duramen as dm
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.significance import hapfelmeier as with_any
from duramen.support.checks import draw_seed

hapfelmeier = partial(with_any, measure="mdi")  # most forests here have no rows out of bag

FOREST = dm.RandomForestClassifier(8)
problem = partial(one_relevant, n=40, p=5)


def by_hand(X, y, columns, n_permutations, seed):
    """Scores on the data, and of each column after its permutations, by fitting on arrays."""
    seed = draw_seed(seed)

    def scores(forest_seed, X):
        forest = dm.RandomForestClassifier(8, random_state=forest_seed % 2**32)
        return dm.importances.mdi(forest.fit(X, y)).values

    null = {j: [] for j in columns}
    for j in columns:
        for draw in range(n_permutations):
            random = np.random.default_rng(replicate_seed(replicate_seed(seed, j), draw))
            permuted = X.copy()
            permuted[:, j] = X[random.permutation(len(X)), j]
            null[j].append(scores(int(random.integers(2**32)), permuted)[j])
    return scores(replicate_seed(seed, OBSERVED), X), null


@pytest.mark.slow
def test_p_values_are_those_of_permuting_and_fitting_by_hand():
    X, y = problem()
    result = hapfelmeier(FOREST, X, y, n_permutations=24, random_state=2, n_jobs=3)
    observed, null = by_hand(X, y, range(5), 24, 2)
    np.testing.assert_array_equal(result.scores, observed)
    expected = [p_value(observed[j], null[j], 24) for j in range(5)]
    np.testing.assert_allclose(result.p_values, expected, rtol=1e-15)
    assert result.p_values[0] == 1 / 25
    assert result.metadata["n_grown"] == 5 * 24


def test_each_feature_is_on_its_own():
    X, y = problem()
    every = hapfelmeier(FOREST, X, y, n_permutations=9, random_state=1)
    some = hapfelmeier(FOREST, X, y, n_permutations=9, random_state=1, features=["x3", 0, 2])
    assert some.names == ("x3", "x0", "x2")
    assert [some[name] for name in some.names] == [every[name] for name in some.names]


# --- errors --------------------------------------------------------------------------------


def test_wrong_features_are_refused():
    for features, message in (
        (["z"], "features holds 'z', which is none of the 5 features"),
        ([5], "features holds 5, which is none .* 0 to 4"),
        ([0, "x0"], "must hold each feature once"),
    ):
        with pytest.raises(ValueError, match=message):
            hapfelmeier(FOREST, *problem(), n_permutations=2, features=features)
