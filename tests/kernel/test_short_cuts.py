"""Best cuts of regression: what small nodes do faster gives the trees that it gave before.

Columns that hold a missing value take the general way, whether the row with it counts or not. So a
row of weight 0 tells which way is taken, and nothing else.
"""

from __future__ import annotations

import numpy as np
import pytest

import duramen as dm
from duramen.forests.structure import ARRAY_NAMES


@pytest.mark.parametrize("n_rows", [3, 9, 100, 250, 300])
@pytest.mark.parametrize("decimals", [0, 1, 6])
@pytest.mark.parametrize("settings", [{}, {"bootstrap": False}, {"max_leaf_nodes": 12}], ids=str)
def test_the_same_trees_beside_a_missing_value_that_does_not_count(n_rows, decimals, settings):
    random = np.random.default_rng([n_rows, decimals])
    X = random.normal(size=(n_rows + 1, 6)).round(decimals)
    y = (X[:, 0] + random.normal(size=n_rows + 1)).round(decimals)
    X[-1] = X[0]  # no value of its own
    weights = random.integers(1, 4, n_rows + 1).astype(np.float64)
    weights[-1] = 0.0
    beside = X.copy()
    beside[-1] = np.nan
    for max_features in (2, 6):
        plain, other = (
            dm.RandomForestRegressor(4, max_features=max_features, random_state=n_rows, **settings)
            .fit(table, y, sample_weight=weights)
            .forest_
            for table in (X, beside)
        )
        for name in ARRAY_NAMES:
            np.testing.assert_array_equal(getattr(plain, name), getattr(other, name), err_msg=name)
