import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.monte_carlo import false_discovery_curve
from tests.significance.noise import two_relevant as problem

import duramen as dm
from duramen.significance import fdr_curve
from duramen.significance.measured import Refits, measured
from duramen.significance.permutations import expected_discoveries
from duramen.support.checks import draw_seed

FOREST = dm.RandomForestClassifier(10)


@given(seed=st.integers(0, 10**6), p=st.integers(1, 8), draws=st.integers(1, 6))
@settings(max_examples=100)
def test_curve_is_that_of_counting(seed, p, draws):
    random = np.random.default_rng(seed)
    scores = np.sort(random.integers(0, 9, p))[::-1].astype(float)  # with ties
    null = random.integers(0, 9, (draws, p)).astype(float)
    curve = np.minimum(expected_discoveries(scores, null) / np.arange(1, p + 1), 1)
    np.testing.assert_allclose(curve, false_discovery_curve(scores, null))


def test_curve_on_the_null_of_permuted_labels():
    X, y = problem()
    result = fdr_curve(FOREST, X, y, measure="mdi", n_permutations=15, random_state=4)
    subject = measured(FOREST, X, y, "mdi", "t")
    null = Refits(function="t", subject=subject, seed=draw_seed(4)).permuted_scores(15)
    expected = false_discovery_curve(result.scores, null)
    np.testing.assert_allclose(result.details["estimate"], expected)
    least = [min(expected[i:]) for i in range(12)]
    np.testing.assert_allclose(result.rates, least, atol=1e-15)
    assert set(result.selected()) == {"x3", "x5"}


def test_features_that_are_never_used_have_rate_one_and_ties_are_equal():
    result = fdr_curve(FOREST, *problem(), measure="mdi", n_permutations=9)
    assert result.scores[-2:].tolist() == [0, 0]
    assert result.rates[-2:].tolist() == [1, 1]

    def levels(forest, X, y):
        return np.round(10 * dm.importances.frequency(forest).values)

    result = fdr_curve(FOREST, *problem(), measure=levels, n_permutations=9, random_state=0)
    ties = np.flatnonzero(np.diff(result.scores) == 0)
    assert ties.size
    np.testing.assert_array_equal(result.rates[ties], result.rates[ties + 1])


@pytest.mark.slow
@pytest.mark.parametrize("n_relevant", [0, 5])
def test_fraction_of_false_ones_is_about_what_was_asked_for(n_relevant):
    """30 linear problems of 30 independent features: mean fraction of false ones at .2.

    At most .2 plus 3.3 standard errors, of which .02 or so are those of 60 permutations.
    """
    fractions, result = [], []
    for seed in range(1000, 1030):
        random = np.random.default_rng(seed)
        X = random.normal(size=(60, 30))
        y = (X[:, :n_relevant].sum(axis=1) + 0.5 * random.normal(size=60) > 0).astype(int)
        forest = dm.ExtraTreesClassifier(20)
        taken = fdr_curve(forest, X, y, n_permutations=60, random_state=seed).selected(0.2)
        false = sum(int(name[1:]) >= n_relevant for name in taken)
        fractions.append(false / max(1, len(taken)))
        result.append(len(taken) - false)
    error = np.std(fractions, ddof=1) / np.sqrt(len(fractions))
    assert np.mean(fractions) <= 0.2 + 3.3 * error
    assert np.mean(fractions) > 0.02  # some are false: the test can tell
    assert np.mean(result) >= 0.3 * n_relevant
