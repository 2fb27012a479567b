import numpy as np
import pytest
from tests.importances.measures.test_air import null_columns

import duramen as dm
from duramen.data.recoding import with_shadows
from duramen.forests.forest import mean_decreases
from duramen.importances import air, mdi, sandri
from duramen.importances.refit import repeat_seeds
from duramen.support.checks import draw_seed


@pytest.mark.slow
def test_null_columns_of_few_and_many_values_are_alike():
    """60 data sets: MDI shares lie more than .05 apart, corrected within 3.3 standard errors."""
    plain, mended = [], []
    for seed in range(60):
        X, y = null_columns(np.random.default_rng(seed))
        forest = dm.RandomForestClassifier(20, random_state=seed)
        plain.append(mdi(forest.fit(X, y)).values)
        mended.append(sandri(forest, X, y, n_repeats=4).values)
    plain, mended = np.array(plain), np.array(mended)
    fraction = plain.mean(axis=0) / plain.mean(axis=0).sum()
    np.testing.assert_allclose(fraction, [0.06, 0.13, 0.32, 0.49], atol=0.03)
    assert np.diff(fraction).min() > 0.05
    error = mended.std(axis=0, ddof=1) / np.sqrt(60)
    assert np.abs(mended.mean(axis=0) / error).max() < 3.3
    np.testing.assert_allclose(mended.mean(axis=0) / plain.sum(axis=1).mean(), 0, atol=0.015)


def test_single_repeat_is_air():
    X, y = null_columns(np.random.default_rng(0))
    forest = dm.RandomForestClassifier(20)
    importances = sandri(forest, X, y, n_repeats=1, random_state=3)
    np.testing.assert_allclose(
        importances.values, air(forest, X, y, random_state=3).values, atol=1e-12
    )
    assert importances.standard_error is None


def test_mean_and_standard_error_over_repeats_by_hand():
    X, y = null_columns(np.random.default_rng(1))
    result = sandri(dm.ExtraTreesClassifier(5), X, y, n_repeats=6, random_state=2)
    gains = []
    for order_seed, forest_seed in repeat_seeds(draw_seed(2), 6).tolist():
        order = np.random.default_rng(order_seed).permutation(100)
        forest = dm.ExtraTreesClassifier(5, max_features=2, random_state=forest_seed)
        values = mean_decreases(forest.fit(with_shadows(dm.encode(X), order), y).forest_).values
        gains.append(values[:4] - values[4:])
    np.testing.assert_allclose(result.values, np.mean(gains, axis=0), atol=1e-15)
    np.testing.assert_allclose(
        result.standard_error, np.std(gains, axis=0, ddof=1) / np.sqrt(6), atol=1e-15
    )
