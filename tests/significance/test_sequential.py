import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.monte_carlo import p_value

from duramen.significance.null_distributions import sequential_p_values


@given(
    seed=st.integers(0, 10**6),
    planned=st.integers(1, 30),
    p=st.integers(1, 5),
    stop_after=st.none() | st.integers(1, 8),
    levels=st.integers(1, 40),
)
@settings(max_examples=200)
def test_agrees_with_counting_one_draw_at_a_time(seed, planned, p, stop_after, levels):
    random = np.random.default_rng(seed)
    observed = random.integers(0, levels, p).astype(float)
    null = random.integers(0, levels, (planned, p)).astype(float)  # many ties
    expected = [p_value(observed[j], null[:, j], planned, stop_after) for j in range(p)]
    result = sequential_p_values(observed, null, planned, stop_after)
    np.testing.assert_allclose(result, expected, rtol=1e-15)


def test_known_answers():
    null = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 0.0], [3.0, 5.0, 0.0]])
    observed = np.array([2.0, 6.0, 0.0])
    np.testing.assert_allclose(sequential_p_values(observed, null, 3), [3 / 4, 1 / 4, 1])
    np.testing.assert_allclose(sequential_p_values(observed, null, 3, 1), [1 / 2, 1 / 4, 1])
    np.testing.assert_allclose(sequential_p_values(observed, null, 3, 2), [2 / 3, 1 / 4, 1])


@one_test
@pytest.mark.parametrize("stop_after", [None, 1, 3, 10])
@pytest.mark.parametrize("levels", [None, 5])
def test_valid_under_the_null(stop_after, levels):
    """40,000 scores from the distribution of their draws: P(p <= a) <= a for every a that p can be.

    Without ties P(p <= a) = a there, to within 4 standard errors (seed 0); with ties less.
    """
    planned, p = 39, 40_000
    random = np.random.default_rng(0)
    every = random.random((planned + 1, p)) if levels is None else None
    if every is None:
        every = random.integers(0, levels, (planned + 1, p)).astype(float)
    p_values = sequential_p_values(every[0], every[1:], planned, stop_after)
    h = planned + 1 if stop_after is None else stop_after
    levels_of_p = {g / (planned + 1) for g in range(1, h + 1)}
    levels_of_p |= {stop_after / draw for draw in range(h, planned + 1)}
    for a in sorted(levels_of_p):
        tolerance = 4 * np.sqrt(a * (1 - a) / p) + 1e-12
        fraction = np.mean(p_values <= a + 1e-12)
        assert fraction <= a + tolerance
        if levels is None:
            assert fraction >= a - tolerance
