import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.theory import convergence as oracle

from duramen.theory import expected_trees
from duramen.theory.subspaces import (
    all_seen_probability,
    draws_needed,
    expected_draws,
    unseen_probability,
)


def whole_numbers(p, K, M):
    """Inclusion and exclusion in fractions."""
    return sum(
        (-1) ** s * math.comb(p, s) * Fraction(math.comb(p - s, K), math.comb(p, K)) ** M
        for s in range(p - K + 1)
    )


def test_known_answers():
    assert all_seen_probability(20, 4, 25) == pytest.approx(0.92637, abs=5e-6)
    assert draws_needed(20, 4, 0.05) == 27
    assert unseen_probability(20, 4, 25) == pytest.approx(0.8**25, rel=1e-13)


@one_test
@pytest.mark.parametrize("p, K", [(4, 1), (5, 2), (6, 4), (3, 3)])
def test_against_every_draw(p, K):
    for M in range(6):
        distribution = oracle.cover_distribution(p, K, M)
        assert all_seen_probability(p, K, M) == pytest.approx(float(distribution[p]), rel=1e-13)
        unseen = sum((1 - Fraction(k, p)) * chance for k, chance in enumerate(distribution))
        assert unseen_probability(p, K, M) == pytest.approx(float(unseen), rel=1e-13)


@given(st.integers(1, 60), st.data())
@settings(max_examples=60)
def test_in_whole_numbers(p, data):
    K, M = data.draw(st.integers(1, p)), data.draw(st.integers(1, 150))
    exact = float(whole_numbers(p, K, M))
    assert all_seen_probability(p, K, M) == pytest.approx(exact, rel=1e-14, abs=0)


@one_test
@pytest.mark.parametrize("p, K, M", [(200, 1, 200), (300, 10, 60), (150, 20, 8)])
def test_what_is_left_of_huge_terms(p, K, M):
    exact = float(whole_numbers(p, K, M))
    assert 0 < exact < 1e-12
    assert all_seen_probability(p, K, M) == pytest.approx(exact, rel=1e-14)


def test_a_million_features():
    # Close to Poisson: the number unseen has mean 2.03e-3 after 20 000 draws of 1000.
    unseen = 10**6 * unseen_probability(10**6, 1000, 20_000)
    assert all_seen_probability(10**6, 1000, 20_000) == pytest.approx(math.exp(-unseen), rel=1e-6)
    assert all_seen_probability(10**6, 1000, 2000) == 0.0
    assert all_seen_probability(10**6, 1000, 999) == 0.0


@given(st.integers(2, 300), st.data(), st.floats(1e-6, 0.99))
@settings(max_examples=60)
def test_draws_needed_will_do(p, data, risk):
    K = data.draw(st.integers(1, p))
    M = draws_needed(p, K, risk)
    assert all_seen_probability(p, K, M) >= 1 - risk
    if p > K:
        assert p * unseen_probability(p, K, M - 1) > risk


def test_expected_draws_of_coupon_collectors():
    assert expected_draws(50, 1) == pytest.approx(50 * sum(1 / k for k in range(1, 51)), rel=1e-12)
    assert expected_draws(30, 30) == 1.0
    assert expected_draws(1, 1) == 1.0
    # Two of three: 1 draw, then 3/2 until the one left is drawn.
    assert expected_draws(3, 2) == pytest.approx(2.5, rel=1e-14)


@one_test
@pytest.mark.parametrize("p, K", [(7, 2), (12, 5), (25, 3)])
def test_expected_draws_are_the_sum_of_the_tails(p, K):
    tails = sum(1 - all_seen_probability(p, K, M) for M in range(400))
    assert expected_draws(p, K) == pytest.approx(tails, rel=1e-12)


@one_test
@pytest.mark.parametrize("K", [1, 7, 250, 1000, 2999])
def test_sum_over_every_so_many_draws_is_as_exact_as_the_chain(K):
    p = 3000
    chain = expected_trees("marginal", n_features=p, subspace=K, n_relevant=p, keep=0)
    assert expected_draws(p, K) == pytest.approx(chain, rel=1e-12)


def test_expected_draws_of_a_million_features():
    p = 10**6
    harmonic = math.log(p) + np.euler_gamma + 1 / (2 * p)
    assert expected_draws(p, 1) == pytest.approx(p * harmonic, rel=1e-11)
    assert expected_draws(p, 1000) == pytest.approx(14_386.04, abs=0.01)
