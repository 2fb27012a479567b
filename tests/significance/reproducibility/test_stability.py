import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import selections as oracle

import duramen as dm
from duramen.significance import ranking_stability, stability

KNOWN = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]


def linear(n=100, p=8, classes=False):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, p))
    y = 2 * X[:, 0] + X[:, 1] + random.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


# --- the indices -------------------------------------------------------------------------------


def test_known_answers():
    result = stability(KNOWN, names=["a", "b", "c", "d"])
    assert result.kuncheva == pytest.approx(1 / 3)
    assert result.nogueira == pytest.approx(1 / 3)
    assert result.variance == pytest.approx(0.032922, abs=5e-7)
    without = [stability(np.delete(KNOWN, i, axis=0)).nogueira for i in range(3)]
    half = 4.302653 * math.sqrt(2 * np.var(without))  # quantile of t with 2 degrees of freedom
    assert result.low == max(0.0, 1 / 3 - half)
    assert result.high == pytest.approx(min(1.0, 1 / 3 + half))
    assert "3 selections are few" in result.notes[0]
    np.testing.assert_allclose(result.frequency, [1, 2 / 3, 1 / 3, 0])
    assert (result.n_selections, result.mean_size) == (3, 2.0)


tables = st.tuples(st.integers(2, 6), st.integers(2, 6), st.integers(0, 10**6))


@given(tables)
def test_against_loops(shape):
    m, p, seed = shape
    random = np.random.default_rng(seed)
    chosen = random.random((m, p)) < random.random()
    if chosen.all() or not chosen.any():
        assert math.isnan(stability(chosen).nogueira)
        assert math.isnan(stability(chosen).low)
        return
    phi, variance = oracle.nogueira(chosen.astype(int).tolist())
    result = stability(chosen)
    assert result.nogueira == pytest.approx(phi, abs=1e-12)
    assert result.variance == pytest.approx(variance, abs=1e-12)
    if len(set(chosen.sum(axis=1))) > 1:
        assert math.isnan(result.kuncheva)


@given(tables, st.data())
def test_of_equal_sizes_both_indices_are_the_same(shape, data):
    m, p, seed = shape
    k = data.draw(st.integers(1, p - 1))
    random = np.random.default_rng(seed)
    chosen = np.array([random.permutation(p) < k for _ in range(m)])
    result = stability(chosen)
    assert result.kuncheva == pytest.approx(oracle.kuncheva(chosen.astype(int).tolist()), abs=1e-12)
    assert result.nogueira == pytest.approx(result.kuncheva, abs=1e-12)


def test_intervals_that_are_not_defined_or_have_no_width_carry_a_note():
    two = stability([[1, 0, 0], [1, 1, 0]])
    assert math.isnan(two.low)
    assert "three selections" in two.notes[0]
    lone = stability([[1, 0, 0], [0, 0, 0], [0, 0, 0]])  # without the first nothing is selected
    assert math.isnan(lone.high)
    assert "(no interval)" in str(lone)
    same = stability([[1, 0, 0]] * 30)
    assert "no width" in same.notes[0]
    random = np.random.default_rng(0)
    assert stability(random.random((30, 20)) < 0.3).notes == ()
    assert two.notes[0] in str(two)


def test_the_interval_covers():
    """500 samples of 60 selections, seed 0: 95 % intervals cover in 95 %, within .04."""
    random = np.random.default_rng(0)
    chance = np.linspace(0.9, 0.05, 20)
    mean = chance.mean()
    truth = 1 - (chance * (1 - chance)).mean() / (mean * (1 - mean))
    covered = []
    for _ in range(500):
        result = stability(random.random((60, 20)) < chance)
        covered.append(result.low <= truth <= result.high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)
    selections = random.random((60, 20)) < chance
    wide, narrow = (stability(selections, confidence_level=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_what_is_no_table_of_selections():
    for selections, message in (
        ([1, 0, 1], r"must be a table of 0 and 1 with one row per selection, .*, got shape \(3,\)"),
        ([[1, 2], [0, 1]], "must be a table of 0 and 1"),
        ([["a", "b"], ["b", "c"]], "must be a table of 0 and 1"),
        ([[1, 0]], "two or more"),
        (np.zeros((3, 0)), "one column per feature"),
    ):
        with pytest.raises(ValueError, match=message):
            stability(selections)


# --- rankings ----------------------------------------------------------------------------------


def test_ties_are_broken_by_lot_not_by_column():
    X, y = linear()
    options = {"measure": lambda forest, X, y: np.zeros(8), "n_resamples": 400, "random_state": 0}
    result = ranking_stability(dm.RandomForestRegressor(1, max_depth=1), X, y, k=2, **options)
    assert result.nogueira == pytest.approx(0, abs=0.02)
    np.testing.assert_allclose(result.frequency, 0.25, atol=0.09)
