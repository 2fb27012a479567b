import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles import probes as oracle
from tests.significance.noise import TINY, band, noise, scripted

from duramen.significance import forest_probe_ranking, probe_ranking
from duramen.significance.probes import probe_tail

# --- the distribution of a probe -----------------------------------------------------------------


def test_known_answer_of_the_tail():
    assert probe_tail(0.3, 9) == pytest.approx(0.1012, abs=5e-5)
    assert probe_tail(0.0, 9) == 1.0
    assert probe_tail(1.0, 9) == 0.0


@one_test
@pytest.mark.parametrize("freedom", [2, 3, 9, 40])
@pytest.mark.parametrize("cos2", [0.01, 0.3, 0.9])
def test_tail_by_integration_over_the_angle(cos2, freedom):
    assert probe_tail(cos2, freedom) == pytest.approx(oracle.cosine_tail(cos2, freedom), rel=1e-6)


# --- the ranking ---------------------------------------------------------------------------------


@given(seed=st.integers(0, 999), n=st.integers(4, 14), p=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_ranking_against_projections_from_scratch(seed, n, p):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(n, p)), random.normal(size=n)
    result = probe_ranking(X, y, alpha=1.0)
    ranked, cosines = oracle.forward_ranking(X.T.tolist(), y.tolist())
    assert result.names[: len(ranked)] == tuple(f"x{j}" for j in ranked)
    np.testing.assert_allclose(result.details["cos2"][: len(ranked)], cosines, rtol=1e-8)
    none_yet = 1.0
    for k, cos2 in enumerate(cosines):
        tail = oracle.cosine_tail(cos2, n - 1 - k, steps=2000)
        none_yet *= 1 - tail
        assert result.details["p_probe"][k] == pytest.approx(tail, abs=1e-6)
        assert result.rates[k] == pytest.approx(1 - none_yet, abs=1e-5)
    np.testing.assert_array_equal(result.rates[len(ranked) :], 1)
    assert result.n_known == p


def test_stops_at_the_first_feature_above_the_risk():
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 20))
    y = 3 * X[:, 4] + 2 * X[:, 11] + random.normal(size=100)
    whole = probe_ranking(X, y, alpha=1.0)
    result = probe_ranking(X, y, alpha=1e-6)
    assert result.names[:2] == ("x4", "x11")
    assert result.selected(1e-6) == ("x4", "x11")
    assert result.n_known == 3
    np.testing.assert_allclose(result.rates[:3], whole.rates[:3], rtol=1e-12)
    assert result.rates[2] > 1e-6
    assert result.metadata["alpha"] == 1e-6
    assert set(result.names) == set(whole.names)


def test_several_probes_come_earlier():
    X, y = noise(3)
    first, ten = (probe_ranking(X, y, alpha=1.0, n_probes=m) for m in (1, 10))
    np.testing.assert_allclose(ten.rates, 1 - (1 - first.rates) ** 10, atol=1e-12)
    np.testing.assert_array_equal(first.details["p_probe"], ten.details["p_probe"])
    assert "one of 10 random probes" in ten.meaning


def test_without_centring_the_mean_counts():
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    y = 5 + random.normal(size=12)
    X[:, 2] = 1.0
    plain = probe_ranking(X, y, alpha=1.0, centered=False)
    assert plain.names[0] == "x2"
    cos2 = y.sum() ** 2 / (12 * (y @ y))
    assert plain.details["cos2"][0] == pytest.approx(cos2)
    assert plain.details["p_probe"][0] == pytest.approx(oracle.cosine_tail(cos2, 12), abs=1e-9)
    centered = probe_ranking(X, y, alpha=1.0)
    assert centered.names[2] == "x2"  # a constant has nothing to say
    assert centered.rates[2] == 1


def test_copies_and_sums_are_not_ranked_again():
    random = np.random.default_rng(1)
    X = random.normal(size=(30, 4))
    X = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1]])
    y = X[:, 0] + X[:, 1] + 0.1 * random.normal(size=30)
    result = probe_ranking(X, y, alpha=1.0)
    assert np.count_nonzero(result.details["cos2"]) == 4
    np.testing.assert_array_equal(result.rates[4:], 1)
    assert result.n_known == 6


def test_a_target_that_is_explained_ends_the_ranking():
    X = np.random.default_rng(0).normal(size=(20, 5))
    result = probe_ranking(X, 2 * X[:, 3], alpha=0.5)
    assert result.names[0] == "x3"
    assert result.selected(0.5) == ("x3",)
    assert result.n_known == 5


def test_shift_and_scale_do_not_matter():
    X, y = noise(5, p=6)
    first = probe_ranking(X, y, alpha=1.0)
    other = probe_ranking(1e9 + 1e-3 * X, 1e6 - 7.0 * y, alpha=1.0)
    assert other.names == first.names
    np.testing.assert_allclose(other.rates, first.rates, rtol=1e-3)


def test_labels_and_ordered_categories_are_numbered():
    random = np.random.default_rng(0)
    levels = ["low", "mid", "high"]
    grade = pd.Categorical(random.choice(levels, 60), categories=levels, ordered=True)
    X = pd.DataFrame({"grade": grade, "sex": random.choice(["f", "m"], 60)})
    y = np.where(grade.codes + random.normal(size=60) > 1, "ill", "well")
    result = probe_ranking(X, y, alpha=1.0)
    numbers = np.column_stack([grade.codes, X["sex"] == "m"]).astype(float)
    same = probe_ranking(numbers, (y == "well").astype(int), alpha=1.0)
    assert result.names[0] == "grade"
    np.testing.assert_allclose(result.rates, same.rates, rtol=1e-9)


def test_wrong_tables_and_arguments_are_refused():
    X, y = noise(0, n=20, p=2)
    labels, gaps = np.array(list("abc") * 6 + ["a", "b"]), np.where(X > 1.0, np.nan, X)
    for table, target, options, message in (
        (X, y, {"alpha": 2.0}, "alpha"),
        (X, y, {"n_probes": 0}, "n_probes"),
        (X, np.full(20, 0.1), {}, "y is constant"),
        (X, labels, {}, "y must be numbers or two labels, got 3"),
        (gaps, y, {}, "column 'x.' has missing values. Hint"),
        (pd.DataFrame({"w": labels}), y, {}, "column 'w' has 3 labels without an order"),
    ):
        with pytest.raises(ValueError, match=f"probe_ranking: .*{message}"):
            probe_ranking(table, target, **options)


# --- probes in forests ---------------------------------------------------------------------------


def test_fraction_of_the_probes_that_are_as_good():
    X, y = noise(0, n=20, p=2)
    runs = [[1, 5, 0, 1, 7], [1, 5, 0, 0, 5]]  # two features, three probes
    result = forest_probe_ranking(TINY, X, y, measure=scripted(runs), n_probes=3, n_permutations=2)
    assert result.names == ("x1", "x0")
    np.testing.assert_allclose(result.rates, [2 / 6, 3 / 6])
    np.testing.assert_allclose(result.scores, [4 / 6, 3 / 6])
    np.testing.assert_allclose(result.details["importance"], [5, 1])


# --- calibration ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_risk_against_real_probes():
    """1500 probes are ranked: a fraction of P_1 come first, and no more than P_k up to place k."""
    random = np.random.default_rng(7)
    X, y = random.normal(size=(15, 4)), random.exponential(size=15)
    result = probe_ranking(X, y, alpha=1.0)
    before = np.zeros(4)
    for _ in range(1500):
        along = probe_ranking(np.column_stack([X, random.normal(size=15)]), y, alpha=1.0)
        place = along.names.index("x4")
        assert along.names[:place] == result.names[:place]
        before[place:] += 1
    fraction = before / 1500
    assert abs(fraction[0] - result.rates[0]) < band(result.rates[0], 1500)
    assert (fraction < result.rates + band(result.rates, 1500)).all()
    assert fraction[1] < result.rates[1] - 0.08  # the steps are not independent
