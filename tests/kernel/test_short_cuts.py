"""Best cuts: the short cuts for small nodes and few values grow the trees of the general way.

Columns that hold a missing value, or many values, take the general way, whether the rows with these
count or not. So rows of weight 0 decide which way is taken, and nothing else.
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


@pytest.mark.parametrize("target", ["two classes", "five classes", "numbers"])
@pytest.mark.parametrize("missing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize(
    "settings", [{}, {"min_samples_leaf": 7}, {"max_leaf_nodes": 12}, {"bootstrap": False}], ids=str
)
def test_the_same_trees_beside_many_values_that_do_not_count(target, missing, settings):
    n, p = 300, 8
    random = np.random.default_rng([len(target), int(10 * missing)])
    X = random.binomial(3, 0.3, (n, p)).astype(np.float64)
    score = X[:, 0] - X[:, 1] + random.normal(size=n)
    X[random.random((n, p)) < missing] = np.nan
    X[0] = np.arange(p) % 4  # no column is missing as a whole
    n_classes = {"two classes": 2, "five classes": 5, "numbers": 0}[target]
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes) if n_classes else []
    y = np.digitize(score, cuts) if n_classes else score.round(2)
    weights = random.integers(1, 4, n).astype(np.float64)
    many = np.tile(10.0 + np.arange(n)[:, np.newaxis], (1, p))
    forest = dm.RandomForestClassifier if n_classes else dm.RandomForestRegressor
    few, other = (
        forest(4, max_features=3, random_state=0, **settings)
        .fit(np.vstack([X, more]), np.tile(y, 2), sample_weight=np.append(weights, 0 * weights))
        .forest_
        for more in (X, many)
    )
    assert np.count_nonzero(few.feature >= 0) > 4
    for name in ("feature", "child", "split", "node_weight", "impurity", "leaf_values"):
        np.testing.assert_array_equal(getattr(few, name), getattr(other, name), err_msg=name)
