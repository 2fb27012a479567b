"""Rows taken from a larger table grow the same trees as the same rows encoded by themselves.

Where both tables have codes of the same width, that is: it decides on the order of random draws.
"""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm

FORESTS = [
    (dm.RandomForestClassifier, {}),
    (dm.RandomForestClassifier, {"criterion": "entropy", "max_features": None}),
    (dm.ExtraTreesClassifier, {}),
    (dm.ExtraTreesClassifier, {"max_features": 1, "min_samples_leaf": 2}),
    (dm.TotallyRandomizedTreesClassifier, {"splits": "multiway"}),
    (dm.PERTClassifier, {}),
    (dm.RandomForestRegressor, {}),
    (dm.ExtraTreesRegressor, {}),
    (dm.ExtraTreesClassifier, {"splits": "multiway"}),
    (dm.RandomForestClassifier, {"splits": "one-vs-rest"}),
]


@one_test
@pytest.mark.parametrize(("kind", "options"), FORESTS)
@pytest.mark.parametrize(("n", "n_taken"), [(80, 60), (256, 40), (250, 5), (1000, 400)])
def test_same_trees_as_the_rows_encoded_alone(kind, options, n, n_taken):
    random = np.random.default_rng(n + n_taken)
    X = np.column_stack(
        [random.normal(size=(n, 4)), random.integers(0, 3, (n, 2)), random.integers(0, 40, n)]
    )
    y = (X[:, 0] + X[:, 4] + random.normal(size=n) > 1).astype(int)
    chosen = np.sort(random.permutation(n)[:n_taken])
    whole = dm.encode(X)
    taken = kind(8, random_state=1, **options).fit(whole.take_rows(chosen), y[chosen])
    alone = kind(8, random_state=1, **options).fit(X[chosen], y[chosen])
    np.testing.assert_array_equal(taken.forest_.feature, alone.forest_.feature)
    np.testing.assert_array_equal(taken.apply(X[chosen]), alone.apply(X[chosen]))
    np.testing.assert_array_equal(taken.forest_.leaf_values, alone.forest_.leaf_values)
