import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.theory import convergence as oracle

from duramen.theory import expected_trees, found_curve
from duramen.theory.subspaces import (
    blind_probability,
    companions_probability,
    draws_needed,
    transition_matrix,
    trees_to_find_all,
)
from duramen.theory.subspaces.convergence import hypergeometric, kept_places

SCENARIOS = ("chain", "clique", "marginal")


def found_distribution(scenario, *, n_trees, **given_setting):
    """P(j found after t trees), shape (n_trees + 1, r + 1), by powers of the transition matrix."""
    power = transition_matrix(scenario, **given_setting)
    rows = np.eye(1, len(power))
    while len(rows) <= n_trees:
        rows, power = np.concatenate([rows, rows @ power]), power @ power
    return rows[: n_trees + 1]


def setting(p, q, r, keep):
    return {"n_features": p, "subspace": q, "n_relevant": r, "keep": keep}


@st.composite
def settings_of(draw, most=40, largest_r=8):
    p = draw(st.integers(1, most))
    q = draw(st.integers(1, p))
    r = draw(st.integers(1, min(p, largest_r)))
    return setting(p, q, r, draw(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])))


# --- known answers --------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "scenario, numbers, rs, srs",
    [
        ("chain", (10_000, 100, 3), "1030406.1", "301.0"),
        ("clique", (10_000, 1000, 4), "83785.1", "11635.8"),
        ("marginal", (10_000, 100, 50), "448.2", "757.0"),
        ("marginal", (10_000, 100, 100), "516.7", "16187.7"),
    ],
)
def test_exact_values(scenario, numbers, rs, srs):
    assert f"{expected_trees(scenario, **setting(*numbers, 0)):.1f}" == rs
    assert f"{expected_trees(scenario, **setting(*numbers, 1)):.1f}" == srs


def test_printed_chain_probabilities_would_give_another_answer():
    """(7.10) takes later relevant features out of the draw and gives 302.00 for 301.02."""
    p, q, r = 10_000, 100, 3
    remaining = [Fraction(0)] * (r + 1)
    for i in range(r - 1, -1, -1):
        total = math.comb(p - i, q - i)
        jump = {j: Fraction(math.comb(p - r, q - j), total) for j in range(i + 1, r + 1)}
        later = sum(chance * remaining[j] for j, chance in jump.items())
        remaining[i] = (1 + later) / sum(jump.values())
    assert f"{float(remaining[0]):.2f}" == "302.00"
    assert f"{expected_trees('chain', **setting(p, q, r, 1)):.2f}" == "301.02"


# --- against closed forms, in whole numbers -------------------------------------------------------


def closed_form(scenario, p, q, r, keep):
    """The closed forms of the specification; SRS for keep 1."""
    ratio = [Fraction(p - k, q - k) for k in range(r)]
    if scenario == "chain":
        return sum(ratio) - (r - 1) if keep else math.prod(ratio)
    return sum(Fraction(r, r - k) * math.prod(ratio[k:] if keep else ratio) for k in range(r))


@one_test
@pytest.mark.parametrize("scenario", ["chain", "clique"])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize(
    "p, q, r", [(10**6, 1000, 5), (10**6, 3, 3), (999_983, 997, 40), (50, 50, 7), (30, 12, 12)]
)
def test_closed_forms(scenario, keep, p, q, r):
    exact = closed_form(scenario, p, q, r, keep)
    assert expected_trees(scenario, **setting(p, q, r, keep)) == pytest.approx(
        float(exact), rel=1e-12
    )


@one_test
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("p, q, r", [(10**6, 1000, 6), (10**6, 20, 4), (9_000, 4_000, 12)])
def test_marginal_chain_in_whole_numbers(keep, p, q, r):
    total = [math.comb(p, q) if not keep else math.comb(p - i, q - i) for i in range(r)]
    remaining = [Fraction(0)] * (r + 1)
    for i in range(r - 1, -1, -1):
        rest = q - i if keep else q
        others = p - r if keep else p - r + i
        jump = {
            j: Fraction(math.comb(r - i, j - i) * math.comb(others, rest - (j - i)), total[i])
            for j in range(i + 1, r + 1)
        }
        later = sum(chance * remaining[j] for j, chance in jump.items())
        remaining[i] = (1 + later) / sum(jump.values())
    assert expected_trees("marginal", **setting(p, q, r, keep)) == pytest.approx(
        float(remaining[0]), rel=1e-12
    )


@given(st.integers(1, 60), st.data())
def test_companions_in_whole_numbers(p, data):
    q, k = data.draw(st.integers(1, p)), data.draw(st.integers(0, p - 1))
    exact = Fraction(math.comb(p - k - 1, q - k - 1) if q > k else 0, math.comb(p, q))
    assert companions_probability(p, q, k) == pytest.approx(float(exact), rel=1e-12)
    r = data.draw(st.integers(0, p))
    exact = Fraction(math.comb(p - r, q), math.comb(p, q))
    assert blind_probability(p, q, r) == pytest.approx(float(exact), rel=1e-12)


def test_hypergeometric_keeps_its_precision_in_large_populations():
    distribution = hypergeometric(10**6, 40, 1000)
    exact = [
        float(Fraction(math.comb(40, k) * math.comb(10**6 - 40, 1000 - k), math.comb(10**6, 1000)))
        for k in range(41)
    ]
    np.testing.assert_allclose(distribution, exact, rtol=1e-12)
    wide = hypergeometric(10**6, 10**5, 10**5)
    assert wide.sum() == pytest.approx(1.0, abs=1e-12)
    assert wide @ np.arange(wide.size) == pytest.approx(10_000.0, rel=1e-10)


# --- against every subset and every tree ----------------------------------------------------------


@one_test
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    "p, q, r", [(6, 4, 3), (7, 3, 3), (5, 5, 3), (5, 2, 3), (4, 1, 1), (6, 3, 4)]
)
@pytest.mark.parametrize("keep", [0.0, 0.4, 0.5, 0.75, 1.0])
def test_against_enumeration(scenario, p, q, r, keep):
    needs = oracle.conditionings(scenario, r)
    places = math.floor(Fraction(keep).limit_denominator(100) * q)
    exact = oracle.expected_trees(p, q, places, needs, q)
    trees = expected_trees(scenario, **setting(p, q, r, keep))
    if exact is None:
        assert trees == math.inf
    else:
        assert trees == pytest.approx(float(exact), rel=1e-12)
    distributions = found_distribution(scenario, **setting(p, q, r, keep), n_trees=4)
    for t in (0, 1, 2, 4):
        distribution = oracle.number_distribution(
            oracle.distribution_after(p, q, places, needs, q, t), r
        )
        np.testing.assert_allclose(
            distributions[t], [float(chance) for chance in distribution], atol=1e-14
        )


# --- properties -----------------------------------------------------------------------------------


@given(st.sampled_from(SCENARIOS), settings_of())
def test_transition_matrix_is_stochastic_and_never_forgets(scenario, given_setting):
    matrix = transition_matrix(scenario, **given_setting)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-13)
    assert np.all(matrix >= 0)
    assert np.array_equal(matrix, np.triu(matrix))
    assert matrix[-1, -1] == 1.0


@given(st.sampled_from(SCENARIOS), settings_of(), st.integers(0, 70))
def test_curve_is_the_mean_of_the_distribution_and_rises(scenario, given_setting, n_trees):
    curve = found_curve(scenario, **given_setting, n_trees=n_trees)
    distribution = found_distribution(scenario, **given_setting, n_trees=n_trees)
    r = given_setting["n_relevant"]
    assert curve.shape == (n_trees + 1,)
    assert distribution.shape == (n_trees + 1, r + 1)
    np.testing.assert_allclose(curve, distribution @ np.arange(r + 1), atol=1e-12)
    assert curve[0] == 0.0
    assert np.all(np.diff(curve) >= 0)
    assert curve[-1] <= r


@given(settings_of())
def test_keeping_helps_chains_and_cliques_and_hinders_marginal_features(given_setting):
    kept_fractions = (0.0, 0.5, 1.0)
    more = 1 + 1e-12
    for scenario in ("chain", "clique"):
        trees = [expected_trees(scenario, **(given_setting | {"keep": k})) for k in kept_fractions]
        assert trees[0] * more >= trees[1]
        assert trees[1] * more >= trees[2]
    trees = [expected_trees("marginal", **(given_setting | {"keep": k})) for k in kept_fractions]
    assert trees[0] <= trees[1] * more
    assert trees[1] <= trees[2] * more


@given(st.sampled_from(SCENARIOS), settings_of(most=25, largest_r=4), st.sampled_from([0.5, 0.05]))
@settings(max_examples=50)
def test_quantile_is_the_first_tree_that_will_do(scenario, given_setting, risk):
    trees = trees_to_find_all(scenario, **given_setting, risk=risk)
    if math.isinf(expected_trees(scenario, **given_setting)):
        assert trees == math.inf
    elif trees <= 20_000:
        distribution = found_distribution(scenario, **given_setting, n_trees=trees)
        assert distribution[trees, -1] >= 1 - risk - 1e-12
        assert distribution[trees - 1, -1] < 1 - risk + 1e-12


def test_quantile_of_a_chance_far_below_rounding():
    # RS finds a chain in one step of chance c: ln(risk) / ln(1 - c) trees.
    chance = companions_probability(10**6, 10, 4)
    assert chance < 1e-25
    trees = trees_to_find_all("chain", **setting(10**6, 10, 5, 0), risk=0.05)
    assert trees == pytest.approx(math.log(0.05) / math.log1p(-chance), rel=1e-9)


# --- the ends -------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("keep", [0, 0.5, 1])
def test_more_relevant_features_than_places(keep):
    crowded = setting(20, 4, 6, keep)
    for scenario in ("chain", "clique"):
        assert expected_trees(scenario, **crowded) == math.inf
    assert found_curve("chain", **crowded, n_trees=200_000)[-1] == pytest.approx(4.0, abs=1e-6)
    assert found_curve("clique", **crowded, n_trees=100)[-1] == 0.0
    trees = expected_trees("marginal", **crowded)
    assert math.isinf(trees) == (keep == 1)
    result = found_curve("marginal", **crowded, n_trees=5000)[-1]
    assert result == pytest.approx(4.0 if keep == 1 else 6.0, abs=1e-9)


def test_numbers_beyond_all_doubles_are_infinite():
    assert expected_trees("chain", **setting(10**6, 1000, 1000, 0)) == math.inf
    assert math.isfinite(expected_trees("chain", **setting(10**6, 1000, 1000, 1)))
    assert trees_to_find_all("chain", **setting(10**6, 1000, 1000, 0)) == math.inf


def test_long_curves_do_not_take_long_steps():
    curve = found_curve("chain", **setting(10_000, 100, 3, 0), n_trees=3_000_000)
    # P(all found) = 1 - (1 - c)^t, and so on for the first two and the first one.
    t = np.array([1, 1000, 10_000, 1_000_000, 3_000_000])
    chances = [companions_probability(10_000, 100, k) for k in range(3)]
    expected = sum(-np.expm1(t * np.log1p(-chance)) for chance in chances)
    np.testing.assert_allclose(curve[t], expected, rtol=1e-9)


def test_a_risk_that_is_met_exactly_takes_no_further_tree():
    """One feature is missed with probability (1 - q/p)^t by t trees, whatever the scenario."""
    for p in range(2, 15):
        for q in range(1, p):
            for t in (1, 2, 3, 6):
                risk = float(Fraction(p - q, p) ** t)
                for scenario in ("marginal", "chain", "clique"):
                    result = trees_to_find_all(scenario, **setting(p, q, 1, 0), risk=risk)
                    assert result == t, (scenario, p, q, t)
                if p * risk < 1:
                    assert draws_needed(p, q, p * risk) == t


def test_kept_places_are_whole():
    assert kept_places(100, 0.29) == 29
    assert kept_places(100, 0.299) == 29
    assert kept_places(7, 0.5) == 3
    assert kept_places(7, 1.0) == 7


# --- errors ---------------------------------------------------------------------------------------


def test_clear_errors():
    for function in (expected_trees, transition_matrix, trees_to_find_all):
        message = f"{function.__name__}: scenario must be 'chain', .*, got 'tree'.*simulate"
        with pytest.raises(ValueError, match=message):
            function("tree", **setting(10, 4, 2, 1))
