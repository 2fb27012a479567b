"""The tests that decide what a search keeps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test

from duramen.selection.subspace_search import DecoyTest, Evidence, ProbeShare


def counted(drawn, wins):
    evidence = Evidence(len(drawn))
    evidence.drawn[:], evidence.wins[:] = drawn, wins
    return evidence


def compared(scores, times=10):
    """Evidence that leads to these scores W, which were never lower."""
    evidence = Evidence(len(scores))
    evidence.compared[:] = times
    evidence.excess[:] = np.asarray(scores) * (evidence.compared + 5)
    evidence.shortfall[:] = np.maximum(0, -np.asarray(scores))
    return evidence


# --- the fraction of trees ------------------------------------------------------------------


def test_probe_fraction_by_hand():
    evidence = counted([10, 11, 20, 20, 21, 0], [10, 11, 19, 18, 20, 0])
    passes = ProbeShare(10, 0.95, 1).passes(evidence)
    # ten are not more than ten; 19 of 20 are just the share, 18 are not; 20 of 21 are more
    assert passes.tolist() == [False, True, True, False, True, False]
    assert ProbeShare(10, 0.95, 1).n_probes == 1
    assert not ProbeShare(10, 0.95, 1).decoy


@given(st.integers(1, 100), st.data())
def test_a_fraction_that_is_reached_exactly_passes_however_it_is_rounded(hundredths, data):
    times = data.draw(st.integers(1, 50))
    evidence = counted([100 * times] * 2, [hundredths * times, hundredths * times - 1])
    assert ProbeShare(0, hundredths / 100, 1).passes(evidence).tolist() == [True, False]


# --- the decoys -------------------------------------------------------------------------------


def test_threshold_by_hand():
    """70 features: the tail is the 10 lowest, -0.10 to -0.19, a power law above 0.10.

    10 (1 + log(w / 0.10) / S)^-9 <= 0.05 i with S = log(1.0 x 1.1 x ... x 1.9) = 3.512: i = 1 from
    1.671 on, i = 2 from 1.045 on.
    """
    bulk = np.concatenate([-np.arange(10, 20) / 100, np.zeros(58)])
    passing = {
        (1.70, 1.06): [True, True],
        (1.65, 1.06): [True, True],  # neither is enough for one, but both are for two
        (1.70, 1.03): [True, False],
        (1.65, 1.03): [False, False],
    }
    for high, expected in passing.items():
        passes = DecoyTest(0.05).passes(compared([*bulk, *high]))
        assert not passes[:68].any()
        assert passes[68:].tolist() == expected
    spread = math.log(math.prod(range(10, 20)) / 10**10)
    threshold = 0.10 * math.exp(spread * ((10 / 0.05) ** (1 / 9) - 1))
    for factor, passed in ((1.0001, True), (0.9999, False)):
        scores = [*bulk, threshold * factor, 0.0]
        assert DecoyTest(0.05).passes(compared(scores))[68] == passed


def test_how_far_features_ever_fell_short_is_what_counts():
    """Another look has other scores; what chance did at earlier ones stays."""
    scores = [*-np.arange(10, 20) / 1000, *np.zeros(58), 1.70, 1.06]
    evidence = compared(scores)
    assert DecoyTest(0.05).passes(evidence).sum() == 2
    evidence.shortfall[:10] = np.arange(10, 20) / 100  # as in the test by hand
    assert DecoyTest(0.05).passes(evidence).sum() == 2
    evidence.excess[68] = 1.03 * 15
    evidence.excess[69] = 1.03 * 15
    assert not DecoyTest(0.05).passes(evidence).any()


def test_ties_pass_together():
    scores = np.concatenate([-np.arange(10, 20) / 100, np.zeros(56), np.full(4, 0.7)])
    assert DecoyTest(0.05).passes(compared(scores)).tolist() == [False] * 66 + [True] * 4


@one_test
@pytest.mark.parametrize("scores", [np.zeros(200), np.full(200, 0.3), np.full(200, -0.3)])
def test_without_any_difference_none_passes(scores):
    assert not DecoyTest(0.05).passes(compared(scores)).any()
    assert not DecoyTest(1.0).passes(compared(scores)).any()


@one_test
@pytest.mark.parametrize("p", [0, 1, 49])
def test_few_features_have_no_tail(p):
    passes = DecoyTest(0.5).passes(compared(np.linspace(-1, 100, p)))
    assert passes.shape == (p,)
    assert not passes.any()


def test_features_of_fewer_than_three_trees_count_for_nothing():
    evidence = compared(np.concatenate([-np.arange(10, 20) / 100, np.zeros(58), [1.7, 1.7]]))
    evidence.compared[68] = 2
    evidence.excess[68] = 10.0
    assert np.flatnonzero(DecoyTest(0.05).passes(evidence)).tolist() == [69]


@one_test
@pytest.mark.parametrize(
    ("distribution", "most"),
    [("normal", 0.01), ("uniform", 0.01), ("laplace", 0.05), ("standard_cauchy", 0.12)],
)
def test_symmetric_noise_seldom_passes(distribution, most):
    """Looked at once, any of 1000 passes in at most `most` of 400 samples (seed 0).

    A power law, that of Cauchy, is the longest tail that the threshold is made for: there the level
    is 0.05 but for the estimated exponent. Shorter tails pass less.
    """
    random = np.random.default_rng(0)
    draw = (lambda: random.uniform(-1, 1, 1000)) if distribution == "uniform" else None
    draw = draw or (lambda: getattr(random, distribution)(size=1000))
    test = DecoyTest(0.05)
    assert np.mean([test.passes(compared(draw())).any() for _ in range(400)]) <= most
