import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.theory import convergence as oracle

from duramen.theory import expected_trees, found_curve
from duramen.theory.subspaces import Simulation, random_conditionings, simulate

# Feature 3 has two minimal conditionings, 4 needs a feature that is itself hard to find.
MIXED = ([()], [{0}], [{3}], [{2}, {0, 1}], [{1, 2}])


def frozen(needs):
    return tuple(tuple(frozenset(given) for given in sets) for sets in needs)


# --- against the exact chains ---------------------------------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("keep", [0, 0.3, 1])
@pytest.mark.parametrize(
    "scenario, p, q, r", [("chain", 60, 20, 3), ("clique", 20, 10, 3), ("marginal", 80, 12, 9)]
)
def test_expected_trees_and_curve_of_the_exact_chain(scenario, p, q, r, keep):
    setting = {"n_features": p, "subspace": q, "n_relevant": r, "keep": keep}
    exact = expected_trees(scenario, **setting)
    n_trees = int(20 * exact)
    result = simulate(scenario, **setting, n_trees=n_trees, n_repeats=2000, random_state=7)
    mean, error = result.expected_trees()
    assert abs(mean - exact) < 2 * error
    curve = found_curve(scenario, **setting, n_trees=n_trees)
    late = np.maximum(result.standard_error, 0.01)
    assert np.all(np.abs(result.curve - curve) < 4 * late)
    assert np.mean((np.abs(result.curve - curve) < 2 * late)[: int(2 * exact)]) > 0.8


def test_a_power_below_one_divides_the_trees_of_a_clique():
    """A tree finds one feature of a clique at the most: each step takes 1 / power as many trees."""
    setting = {"n_features": 12, "subspace": 8, "n_relevant": 3, "keep": 0.5}
    exact = expected_trees("clique", **setting)
    result = simulate(
        "clique", **setting, power=0.4, n_trees=int(60 * exact), n_repeats=2000, random_state=7
    )
    mean, error = result.expected_trees()
    assert abs(mean - exact / 0.4) < 3 * error
    with pytest.raises(ValueError, match="power must be a number in"):
        simulate("clique", **setting, power=0, n_trees=1)


@pytest.mark.slow
def test_standard_errors_cover_the_exact_value():
    setting = {"n_features": 40, "subspace": 10, "n_relevant": 3, "keep": 0.5}
    exact = expected_trees("chain", **setting)
    z = []
    for seed in range(100):
        result = simulate("chain", **setting, n_trees=600, n_repeats=200, random_state=seed)
        mean, error = result.expected_trees()
        z.append((mean - exact) / error)
    assert np.mean(np.abs(z) < 2) > 0.9
    assert abs(np.mean(z)) < 4 / np.sqrt(100)
    assert 0.8 < np.std(z) < 1.2


# --- against every tree ---------------------------------------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("K", [1, 2, 3, 4])
@pytest.mark.parametrize("places", [0, 2, 4])
def test_any_conditionings_and_any_K_against_enumeration(K, places):
    p, q = 7, 4
    result = simulate(
        MIXED,
        n_features=p,
        subspace=q,
        keep=places / q,
        max_features=K,
        n_trees=6,
        n_repeats=6000,
        random_state=K,
    )
    for t in (1, 2, 6):
        distribution = oracle.distribution_after(p, q, places, frozen(MIXED), K, t)
        for m in range(5):
            chance = float(sum(part for actual, part in distribution.items() if m in actual))
            error = np.sqrt(chance * (1 - chance) / 6000) + 1e-12
            assert abs(result.feature_curves[t, m] - chance) < 4.5 * error
        number = oracle.number_distribution(distribution, 5)
        mean = float(sum(k * part for k, part in enumerate(number)))
        assert abs(result.curve[t] - mean) < 4.5 * result.standard_error[t]
    assert result.degrees.tolist() == [0, 1, 1, 1, 2]


def test_one_candidate_takes_features_in_random_order():
    """With K = 1 feature i of a chain is found if it happens to be the last of the first i."""
    result = simulate(
        "chain", n_features=9, subspace=9, n_relevant=4, keep=0, n_trees=1, max_features=1,
        n_repeats=20_000, random_state=0,
    )  # fmt: skip
    expected = [1, 1 / 2, 1 / 3, 1 / 4]
    np.testing.assert_allclose(result.feature_curves[1], expected, atol=0.015)


# --- the mixed setting ----------------------------------------------------------------------------


@pytest.mark.slow
def test_mixed_setting_of_the_slides():
    """p = 500, r = 20, degrees up to 5: features kept help, and so do places and candidates."""
    mixed = random_conditionings(20, max_degree=5, random_state=3)
    ends = {}
    for q in (25, 50):
        for K in (q, q // 4, 1):
            for keep in (0, 1):
                result = simulate(
                    mixed, n_features=500, subspace=q, keep=keep, n_trees=400,
                    max_features=K, n_repeats=30, random_state=0,
                )  # fmt: skip
                ends[q, K, keep] = result.curve[-1]
    for q, K in [(25, 25), (25, 6), (25, 1), (50, 50), (50, 12), (50, 1)]:
        assert ends[q, K, 1] > ends[q, K, 0] + 2
    assert ends[50, 50, 1] > ends[25, 25, 1] + 1
    assert ends[50, 50, 1] > ends[50, 1, 1] + 0.5


@given(st.integers(1, 30), st.integers(0, 6), st.integers(0, 2**32))
@settings(max_examples=50)
def test_random_conditionings_are_as_they_must_be(r, top, seed):
    top = min(top, r - 1)
    needs = random_conditionings(r, max_degree=top, random_state=seed)
    degrees = [len(given) for (given,) in needs]
    assert len(needs) == r
    assert max(degrees) <= top
    for m, (given_set,) in enumerate(needs):
        assert m not in given_set
        assert all(degrees[other] <= degrees[m] for other in given_set)
    assert needs == random_conditionings(r, max_degree=top, random_state=seed)


def test_degrees_of_random_conditionings_are_spread():
    degrees = [
        len(given)
        for seed in range(200)
        for (given,) in random_conditionings(20, max_degree=5, random_state=seed)
    ]
    fractions = np.bincount(degrees, minlength=6) / len(degrees)
    np.testing.assert_allclose(fractions, 1 / 6, atol=0.04)


# --- the result -----------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(1, 8), min_size=3, max_size=3), min_size=2, max_size=5))
def test_curves_of_given_times(times):
    found_at = np.array(times, dtype=np.int64)
    result = Simulation(
        found_at=found_at, degrees=np.zeros(3, dtype=np.int64), n_features=9, subspace=3,
        max_features=3, n_trees=7, keep=0.0,
    )  # fmt: skip
    numbers = np.array([(found_at <= t).sum(axis=1) for t in range(8)])
    np.testing.assert_allclose(result.curve, numbers.mean(axis=1), atol=1e-12)
    error = numbers.std(axis=1, ddof=1) / np.sqrt(len(times))
    np.testing.assert_allclose(result.standard_error, error, atol=1e-7)
    fractions = np.array([(found_at <= t).mean(axis=0) for t in range(8)])
    np.testing.assert_allclose(result.feature_curves, fractions, atol=1e-12)
    last = found_at.max(axis=1)
    if last.max() <= 7:
        mean, error = result.expected_trees()
        assert mean == pytest.approx(last.mean())
        assert error == pytest.approx(last.std(ddof=1) / np.sqrt(len(times)))
    else:
        with pytest.raises(ValueError, match=r"of \d ensembles found all 3 features within 7"):
            result.expected_trees()


@pytest.mark.parametrize("cells", [10, 300])
def test_small_batches_follow_the_same_distribution(cells, monkeypatch):
    monkeypatch.setattr("duramen.theory.subspaces.simulation._CELLS", cells)
    setting = {"n_features": 30, "subspace": 8, "n_relevant": 4, "keep": 0.5}
    result = simulate("marginal", **setting, n_trees=300, n_repeats=500, random_state=0)
    mean, error = result.expected_trees()
    assert abs(mean - expected_trees("marginal", **setting)) < 3 * error


def test_what_cannot_be_found_is_not():
    result = simulate(
        "chain", n_features=20, subspace=3, n_relevant=5, keep=0, n_trees=5000, n_repeats=20,
        random_state=0,
    )  # fmt: skip
    assert np.all(result.found_at[:, 3:] == 5001)
    assert np.all(result.found_at[:, 0] <= 5000)
    with pytest.raises(ValueError, match=r"0 of 20 ensembles.*cannot be found at all"):
        result.expected_trees()
    assert "K=3, keep=0" in repr(result)
    crowded = simulate(
        "marginal", n_features=20, subspace=3, n_relevant=5, keep=1, n_trees=500, n_repeats=20,
        random_state=0,
    )  # fmt: skip
    assert np.all((crowded.found_at <= 500).sum(axis=1) == 3)


def test_no_trees_and_one_replicate():
    result = simulate("chain", n_features=5, subspace=2, n_relevant=2, keep=1, n_trees=0)
    assert result.curve.tolist() == [0.0]
    outcome = simulate(
        "chain", n_features=5, subspace=5, n_relevant=2, keep=1, n_trees=3, n_repeats=1
    )
    assert outcome.curve.tolist() == [0.0, 2.0, 2.0, 2.0]
    assert np.all(np.isnan(outcome.standard_error))


# --- errors ---------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "scenario, changes, message",
    [
        ("tree", {"n_relevant": 2}, "scenario must be one of"),
        ("chain", {"n_relevant": 11}, "n_features must be at least the 11 relevant features"),
        ([], {}, "scenario must be 'chain', 'clique', 'marginal', or for each"),
        (MIXED, {"n_relevant": 3}, r"n_relevant must be 5 \(one a conditioning\) or None, got 3"),
        ([()], {}, r"conditionings\[0\] must be a list of minimal sets"),
        ([[()], [0]], {}, r"conditionings\[1\] must be a list of minimal sets"),
        ([[()], [{1}]], {}, r"conditionings\[1\] must be .* indices in 0..1, without 1 itself"),
        ([[()], [{2}]], {}, r"conditionings\[1\] must be .* indices in 0..1"),
    ],
)
def test_clear_errors(scenario, changes, message):
    setting = {"n_features": 10, "subspace": 4, "keep": 1, "n_trees": 5} | changes
    with pytest.raises(ValueError, match=message):
        simulate(scenario, **setting)


def test_degree_counts_others():
    with pytest.raises(ValueError, match=r"max_degree must be an int in 0..3, got 4"):
        random_conditionings(4, max_degree=4)
