import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, comb
from tests.oracles import selections as oracle

import duramen as dm
from duramen.importances import mda, mdi
from duramen.significance import TreesNeeded, trees_needed
from duramen.significance.agreement import (
    agreement_curve,
    chance_among_best,
    drawn_best,
    trees_for,
)


def linear(n=150, p=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, X @ np.linspace(1, 0, p) + random.normal(size=n)


# --- the best, with ties -----------------------------------------------------------------------


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7), st.data())
def test_chance_among_the_best_against_all_ways_to_break_ties(values, data):
    k = data.draw(st.integers(1, len(values)))
    sets = oracle.sets_of_best(values, k)
    expected = [sum(j in best for best in sets) / len(sets) for j in range(len(values))]
    actual = chance_among_best(np.array(values, dtype=float), k)
    np.testing.assert_allclose(actual, expected)
    assert actual.sum() == pytest.approx(k)
    drawn = drawn_best(np.array(values, dtype=float), k, np.random.default_rng(0))
    assert set(np.flatnonzero(drawn).tolist()) in sets


# --- the agreement of forests ------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(max_examples=30)
def test_agreement_of_single_parts_against_all_pairs(seed, k):
    values = np.random.default_rng(seed).integers(0, 4, size=(5, 5)).astype(float)
    groups, curve = agreement_curve(values, k, np.random.default_rng(0))
    assert groups.tolist() == [1, 2]
    assert curve[0] == pytest.approx(oracle.agreement(values.tolist(), k))


@pytest.mark.slow
def test_agreement_of_halves_is_unbiased():
    """Parts with normal noise, 200 forests, seed 0: the mean curve is that of independent forests.

    3000 pairs give the truth, so that a standard error is about .006.
    """
    random = np.random.default_rng(0)
    mean, noise, k = np.linspace(1, 0, 20), 1.5, 5

    def forest(parts):
        return mean + noise * random.standard_normal((parts, 20))

    curves = []
    for _ in range(200):
        groups, curve = agreement_curve(forest(16), k, random)
        curves.append(curve)
    assert groups.tolist() == [1, 2, 3, 4, 6, 8]
    for size, result in zip(groups, np.mean(curves, axis=0), strict=True):
        best = [chance_among_best(forest(size).mean(axis=0), k) for _ in range(6000)]
        truth = np.mean([a @ b / k for a, b in zip(best[::2], best[1::2], strict=True)])
        assert result == pytest.approx(truth, abs=0.02)


def test_a_known_curve_is_read_and_continued():
    sizes = np.array([8, 16, 32, 64])
    curve = 1 - 2 / np.sqrt(sizes)  # 1 - A falls as T^-1/2
    for wanted, n_trees, needed in (
        (0.9, 128, 400.0),
        (0.9, 99, math.inf),  # beyond 4 T
        (0.75, 128, 64.0),
        (0.2, 128, 8.0),  # from the smallest on
    ):
        assert trees_for(wanted, sizes, curve, n_trees, 5)[0] == needed
    assert 32 < trees_for(0.7, sizes, curve, 128, 5)[0] < 64
    assert trees_for(0.7, sizes, curve, 128, 5)[1] == pytest.approx(1 - 2 / np.sqrt(128))
    assert trees_for(0.9, sizes, np.full(4, 0.5), 128, 5)[0] == math.inf
    assert trees_for(0.9, sizes, np.ones(4), 128, 5)[1] > 0.99


def test_equals_never_agree_and_one_above_all_always_does():
    X, y = linear()
    forest = dm.RandomForestRegressor(256, random_state=0).fit(X, y)
    random = np.random.default_rng(0)
    noise = trees_needed(forest, measure=lambda forest, X, y: random.normal(size=12), k=3)
    assert math.isinf(noise.trees_to_rank)
    tied = trees_needed(forest, measure=lambda forest, X, y: np.zeros(12), k=3)
    np.testing.assert_allclose(tied.agreement, 3 / 12)
    assert math.isinf(tied.trees)
    first = trees_needed(forest, measure=lambda forest, X, y: np.eye(12)[0], k=1)
    assert first.agreement.tolist() == [1.0] * len(first.sizes)
    assert first.trees_to_rank == first.sizes[0]


def test_measures_are_taken_of_parts():
    X, y = linear(40, 6)
    forest = dm.RandomForestRegressor(128, random_state=0).fit(X, y)
    for whole, measure in ((mdi(forest), "mdi"), (mda(forest, X, y), "mda")):
        parts = []

        def listed(part, X, y, measure=measure, parts=parts):
            result = mdi(part) if measure == "mdi" else mda(part, X, y)
            parts.append(result.values)
            return result

        own = trees_needed(forest, X, y, measure=listed, k=2)
        assert len(parts) == 64
        np.testing.assert_allclose(np.mean(parts, axis=0), whole.values)
        named = trees_needed(forest.forest_, X, y, measure=measure, k=2)
        np.testing.assert_array_equal(own.agreement, named.agreement)


# --- every feature seen ------------------------------------------------------------------------


def test_known_answers_of_the_coupon_collector():
    X, y = linear(100, 20)
    stumps = dm.RandomForestRegressor(25, max_depth=1, max_features=4, random_state=0).fit(X, y)
    result = trees_needed(stumps, k=3)
    assert result.splits_per_tree == 1.0
    assert result.all_seen == pytest.approx(0.92637, abs=5e-6)
    assert result.trees_to_see == 27
    assert (result.n_features, result.drawn, result.risk) == (20, 4, 0.05)
    assert result.n_unused == 20 - len(set(stumps.forest_.feature[stumps.forest_.feature >= 0]))
    deep = dm.RandomForestRegressor(25, max_features=4, random_state=0).fit(X, y)
    assert trees_needed(deep, k=3).trees_to_see == 1
    assert trees_needed(deep, k=3).all_seen == 1.0


def test_subspaces_leave_out_whole_trees():
    X, y = linear(60, 20)
    whole = {"n_subspace_features": 5, "max_features": None, "random_state": 0}
    result = trees_needed(dm.RandomSubspaceRegressor(30, **whole).fit(X, y), k=3)
    # A tree sees all its 5 features at its root: 3/4 of the trees leave a feature out.
    assert result.trees_to_see == math.ceil(math.log(20 / 0.05) / -math.log(0.75))
    assert result.all_seen == pytest.approx(1 - 20 * 0.75**30)
    stumps = dm.RandomSubspaceRegressor(30, **{**whole, "max_features": 1}, max_depth=1)
    few = trees_needed(stumps.fit(X, y), k=3)
    # One candidate of one split: 19/20 of the trees leave a feature out.
    assert few.trees_to_see == math.ceil(math.log(400) / -math.log(0.95))
    assert few.all_seen == 0.0


def test_trees_without_splits_see_nothing():
    X, _ = linear(30, 6)
    for model in (dm.RandomForestRegressor(20), dm.RandomSubspaceRegressor(20)):
        result = trees_needed(model.fit(X, np.ones(30)), k=2)
        assert math.isinf(result.trees_to_see)
        assert result.all_seen == 0.0
        assert result.n_unused == 6
        np.testing.assert_allclose(result.agreement, 2 / 6)
        assert "no number of trees" in repr(result)


# --- as a result -------------------------------------------------------------------------------


def test_refuses():
    X, y = linear(40, 8)
    forest = dm.RandomForestRegressor(20, random_state=0).fit(X, y)
    for options, message in (
        ({"measure": "air"}, "measure must be one of 'mdi', 'mdi_oob'"),
        ({"measure": "mda"}, "measure='mda' needs the training rows, X and y"),
        ({"X": [[1.0]]}, "X and y must be given together"),
        ({"k": 8}, "must be an int in 1..7, got 8"),
        ({"agreement": 1.0}, r"agreement must be a number in \(0, 1\), got 1.0"),
    ):
        with pytest.raises(ValueError, match=message):
            trees_needed(forest, **{"k": 3, **options})


def test_the_prediction_interval_has_the_beta_binomial_quantiles():
    for k, agreed in ((10, 0.25), (3, 0.75), (10, 1.0)):
        result = TreesNeeded(
            *(100, "mdi", k, 0.9, np.array([50]), np.array([agreed]), 0.8, 500.0),
            *(20, 4, 12.0, 0.05, 0.99, 5.0, 0),
        )
        a, b = 8 * k * agreed + 0.5, 8 * k * (1 - agreed) + 0.5
        mass = [comb(k, m) * np.exp(betaln(m + a, k - m + b) - betaln(a, b)) for m in range(k + 1)]
        ends = np.searchsorted(np.cumsum(mass), [0.05, 0.95]) / k
        assert result.interval() == pytest.approx(ends)


def test_the_prediction_interval_covers_new_pairs_of_forests():
    """Interval of one forest, 40 new pairs of halves of 5 features: at least .9 are inside."""
    X, y = linear(80, 8)
    result = trees_needed(dm.RandomForestRegressor(40, random_state=0).fit(X, y), k=5)
    new = [dm.RandomForestRegressor(20, random_state=s).fit(X, y) for s in range(1, 81)]
    best = np.stack([chance_among_best(mdi(forest).values, 5) for forest in new])
    common = (best[::2] * best[1::2]).sum(axis=1) / 5
    low, high = result.interval()
    assert high - low < 0.8
    assert np.mean((common >= low - 1e-9) & (common <= high + 1e-9)) >= 0.9
