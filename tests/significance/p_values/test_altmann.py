import warnings

import numpy as np
import pytest
from scipy import stats
from tests.grid import one_test
from tests.significance.noise import one_relevant as problem

import duramen as dm
from duramen.significance import altmann
from duramen.significance.measured import Refits, measured
from duramen.significance.permutation_tests import fitted_tails
from duramen.support.checks import draw_seed

FOREST = dm.RandomForestClassifier(20)


# --- fitted distributions ------------------------------------------------------------------


def oracle(values, score, family):
    """Tail and whether the distribution fits, by scipy's own fits and test."""
    if family != "normal" and values.min() <= 0:
        return 1.0, False
    kind = {"normal": stats.norm, "lognormal": stats.lognorm, "gamma": stats.gamma}[family]
    fitted = kind(*kind.fit(values, **({} if family == "normal" else {"floc": 0})))
    if stats.kstest(values, fitted.cdf).pvalue < 0.05:
        return 1.0, False
    return fitted.sf(score), True


@one_test
@pytest.mark.parametrize("family", ["normal", "lognormal", "gamma"])
@pytest.mark.parametrize("shape", [0.3, 2.0, 200.0])
def test_fitted_tails_are_those_of_scipy(family, shape):
    random = np.random.default_rng(3)
    null = random.gamma(shape, size=(80, 25)) - 0.1 * (np.arange(25) % 5 == 4)
    observed = random.gamma(shape, size=25) + np.linspace(-0.5, 3 * np.sqrt(shape), 25)
    tails, used = fitted_tails(observed, null, family)
    expected = [oracle(null[:, j], observed[j], family) for j in range(25)]
    np.testing.assert_array_equal(used, [fits for _, fits in expected])
    np.testing.assert_allclose(tails, [tail for tail, _ in expected], rtol=1e-5, atol=1e-12)
    assert shape < 200.0 or used.sum() >= 20


@one_test
@pytest.mark.parametrize("family", ["normal", "lognormal", "gamma"])
def test_what_no_distribution_fits_is_left_alone(family):
    random = np.random.default_rng(0)
    heaps = np.where(np.arange(50) < 25, 1.0, 2.0)
    nearly = 0.3 + 1e-15 * random.normal(size=50)
    null = np.column_stack([np.zeros(50), np.full(50, 0.3), nearly, heaps])
    tails, used = fitted_tails(np.array([0.0, 0.3, 0.3, 1.5]), null, family)
    assert not used.any()
    assert (tails == 1).all()
    assert not fitted_tails(np.ones(1), random.random((2, 1)), family)[1].any()


@one_test
@pytest.mark.parametrize("family", ["normal", "lognormal", "gamma"])
def test_fitted_p_values_fall_back_to_empirical_ones(family):
    X, y = problem()
    options = {"measure": "mdi", "n_permutations": 30, "random_state": 1}
    empirical = altmann(FOREST, X, y, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = altmann(FOREST, X, y, distribution=family, **options)
    subject = measured(FOREST, X, y, "mdi", "test")
    null = Refits(function="test", subject=subject, seed=draw_seed(1)).permuted_scores(30)
    tails, used = fitted_tails(empirical.scores, null, family)
    np.testing.assert_array_equal(result.details["fitted"], used)
    np.testing.assert_array_equal(result.p_values, np.where(used, tails, empirical.p_values))
    assert used[0]
    assert not used[5]
    assert result.p_values[0] < 0.001 < empirical.p_values[0]
    assert result.p_values[5] == 1
    # Where q-values are known to be too small, it is said at once and carried by the result.
    assert f"tail probabilities of a {family} distribution fitted to 30 values" in result.notes[0]
    too_small = [f"altmann: {note}" for note in result.notes if "q-values" in note]
    assert len(too_small) == (family != "lognormal")
    assert [str(warning.message) for warning in caught] == too_small
    assert all(warning.filename == __file__ for warning in caught)
    assert empirical.notes == ()
