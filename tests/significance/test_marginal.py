"""Marginal rank statistics against SciPy and their definition."""

import numpy as np
import pytest
from scipy import stats
from tests.estimators.test_survival import entries, outcome
from tests.oracles import marginal as oracle

import duramen as dm
from duramen.significance import association
from duramen.significance.association import marginal_statistics

N = 60


def identity(b):
    return np.arange(N)


def statistics(X, y, kinds=None, order=identity, n_orders=1, **rows):
    data = dm.learning_set(X, y, kinds=kinds, **rows)
    return marginal_statistics(data, order, n_orders)


def of_scipy(X, y, kinds=None, freedom=1, **rows):
    """The chi-squared statistic of a single column."""
    return oracle.from_normal_score(statistics(X, y, kinds, **rows)[0, 0], freedom)


@pytest.fixture
def random():
    return np.random.default_rng(5)


def with_ties(random, levels=6):
    return random.integers(0, levels, (N, 1)).astype(float)


# --- against SciPy -------------------------------------------------------------------------------


def test_number_and_number_are_spearmans_correlation(random):
    x = with_ties(random)
    y = np.round(x[:, 0] + 2 * random.normal(size=N), 1)
    rho = stats.spearmanr(x[:, 0], y).statistic
    assert of_scipy(x, y) == pytest.approx((N - 1) * rho**2, rel=1e-7)


def test_number_and_two_classes_are_the_test_of_mann_and_whitney(random):
    x = with_ties(random)
    y = np.where(random.random(N) < 0.3 + 0.08 * x[:, 0], "a", "b")
    groups = (x[y == k, 0] for k in "ab")
    p = stats.mannwhitneyu(*groups, use_continuity=False, method="asymptotic").pvalue
    assert stats.chi2.sf(of_scipy(x, y), 1) == pytest.approx(p, rel=1e-6)


def test_number_and_three_classes_are_the_test_of_kruskal_and_wallis(random):
    x = with_ties(random)
    y = random.permutation(np.repeat(["a", "b", "c"], 20))
    expected = stats.kruskal(*(x[y == k, 0] for k in "abc")).statistic
    assert of_scipy(x, y, freedom=2) == pytest.approx(expected, rel=1e-7)


def test_categories_and_numbers_are_the_test_of_kruskal_and_wallis(random):
    x = random.permutation(np.arange(N) % 5)
    y = np.round(random.normal(size=N) + 0.3 * x, 1)
    expected = stats.kruskal(*(y[x == i] for i in range(5))).statistic
    actual = of_scipy(x[:, None].astype(float), y, ["nominal"], 4)
    assert actual == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("levels", [2, 3, 12])
def test_categories_and_classes_are_the_chi_squared_test_of_a_table(random, levels):
    x = random.permutation(np.arange(N) % levels)
    y = random.permutation(np.repeat(["a", "b", "c"], [10, 20, 30]))
    table = [[np.count_nonzero((x == i) & (y == k)) for k in "abc"] for i in range(levels)]
    expected = stats.chi2_contingency(table, correction=False).statistic * (N - 1) / N
    actual = of_scipy(x[:, None].astype(float), y, ["nominal"], 2 * (levels - 1))
    assert actual == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("truncated", [False, True])
def test_survival_is_the_score_test_of_coxs_model(random, truncated):
    """The score is summed over the events: covariate less its mean over the rows at risk."""
    x = with_ties(random)
    time, event = np.ceil(5 * random.exponential(size=N)), random.random(N) < 0.7
    entry = entries(1, time) if truncated else -np.ones(N)
    y = outcome(time, event, entry if truncated else None)
    ranks = np.array(oracle.midranks(x[:, 0]))
    at_risk = [(entry < t) & (time >= t) for t in time]
    score = sum(ranks[i] - ranks[at_risk[i]].mean() for i in np.flatnonzero(event))
    by_hand = (N - 1) * score**2 / (ranks @ ranks)
    residuals = oracle.residuals(time, event, entry)[:, 0]
    assert residuals.sum() == pytest.approx(0, abs=1e-9)
    assert of_scipy(x, y) == pytest.approx(by_hand / (residuals @ residuals), rel=1e-5)


# --- the definition ------------------------------------------------------------------------------


def columns(random):
    """Columns of every kind with missing values, and one that is constant."""
    numbers = np.round(random.normal(size=N), 1)
    bits = random.integers(0, 2, N).astype(float)
    levels = random.integers(0, 7, N).astype(float)
    numbers[random.random(N) < 0.2] = np.nan
    missing_level = np.where(random.random(N) < 0.2, np.nan, levels)
    missing_bit = np.where(random.random(N) < 0.2, np.nan, bits)
    only_missing = np.where(random.random(N) < 0.4, np.nan, 1.0)
    X = np.stack([numbers, bits, levels, missing_level, missing_bit, only_missing, np.ones(N)]).T
    kinds = ["numeric", "nominal", "ordinal", "nominal", "nominal", "nominal", "numeric"]
    return X, kinds


def by_definition(X, kinds, h):
    row = []
    for x, kind in zip(X.T.tolist(), kinds, strict=True):
        scores, freedom = oracle.column_scores(x, kind)
        if not freedom:
            row.append(0.0)
            continue
        statistic, rank = oracle.chi_squared(scores, h)
        row.append(oracle.normal_score(statistic, freedom * rank))
    return row


def targets(random):
    time, event = random.exponential(size=N).round(2), random.random(N) < 0.7
    numbers = random.normal(size=N).round(1)
    classes = random.permutation(np.repeat(["a", "b", "c"], [10, 20, 30]))
    return {
        "numbers": (numbers, np.array(oracle.midranks(numbers))[:, None]),
        "classes": (classes, oracle.class_scores(classes)),
        "survival": (outcome(time, event), oracle.residuals(time, event)),
    }


@pytest.mark.parametrize("task", ["numbers", "classes", "survival"])
def test_all_kinds_under_permutations_are_those_of_the_definition(random, task):
    (X, kinds), (y, h) = columns(random), targets(random)[task]
    orders = [np.arange(N), *(random.permutation(N) for _ in range(3))]
    actual = statistics(X, y, kinds, lambda b: orders[b], 4)
    expected = [by_definition(X, kinds, h[order]) for order in orders]
    np.testing.assert_allclose(actual, expected, atol=2e-5)
    assert not actual[:, -1].any()


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_weights_go_with_the_target(random, task):
    (X, kinds), (y, h) = columns(random), targets(random)[task]
    weights = random.exponential(size=N)
    influence = weights[:, None] * (h - np.average(h, axis=0, weights=weights))
    order = random.permutation(N)
    result = statistics(X, y, kinds, lambda b: order, sample_weight=weights)
    np.testing.assert_allclose(result[0], by_definition(X, kinds, influence[order]), atol=2e-5)
    alike = statistics(X, y, kinds, sample_weight=np.full(N, 3.0))
    np.testing.assert_allclose(alike, statistics(X, y, kinds), atol=2e-5)


def test_strata_compare_rows_within_them(random):
    (X, kinds), (y, h) = columns(random), targets(random)["classes"]
    strata = random.integers(0, 3, N)
    centered = h.copy()
    for s in range(3):
        centered[strata == s] -= h[strata == s].mean(axis=0)
    result = statistics(X, y, kinds, strata=strata)
    np.testing.assert_allclose(result[0], by_definition(X, kinds, centered), atol=2e-5)


def test_the_same_bits_in_blocks_of_any_size(random, monkeypatch):
    (X, kinds), (y, _) = columns(random), targets(random)["classes"]
    orders = [random.permutation(N) for _ in range(5)]
    result = statistics(X, y, kinds, lambda b: orders[b], 5)
    monkeypatch.setattr(association, "_NUMBERS", 2 * N * 3)  # two permutations, six rows of scores
    np.testing.assert_array_equal(statistics(X, y, kinds, lambda b: orders[b], 5), result)
    # The order of rows and the names of classes do not matter.
    shuffled = random.permutation(N)
    again = statistics(X[shuffled], np.array(["z" + v for v in y])[shuffled], kinds)
    np.testing.assert_array_equal(again[0], statistics(X, y, kinds)[0])
