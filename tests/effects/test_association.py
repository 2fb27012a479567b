"""Tests of the association of a feature with survival: log-rank statistics."""

import numpy as np
import pytest
from scipy.stats import CensoredData, chi2, kruskal, logrank, spearmanr

import duramen as dm
from duramen.data import SurvivalTarget
from duramen.effects import describe_effects
from duramen.effects.association import _scores, between_categories, residuals, trend
from duramen.effects.interactions import interaction_p_value, main_effects


def censored(random, hazard, most=3.0):
    """Exponential times, censored at uniform ones."""
    time, end = random.exponential(1 / hazard), random.uniform(0, most, len(hazard))
    return np.minimum(time, end).round(1), time <= end


def codes_of(time, event):
    return 2 * np.unique(time, return_inverse=True)[1] + event


def by_loops(columns, time, event, entry=-1.0):
    """Log-rank scores of columns and their covariance, event time by event time."""
    k = columns.shape[1]
    scores, covariance = np.zeros(k), np.zeros((k, k))
    for t in np.unique(time[event]):
        at_risk, now = columns[(entry < t) & (time >= t)], columns[(time == t) & event]
        n, d = len(at_risk), len(now)
        scores += now.sum(axis=0) - d * at_risk.mean(axis=0)
        if n > 1:
            covariance += d * (n - d) / (n - 1) * np.cov(at_risk.T, bias=True).reshape(k, k)
    return scores, covariance


@pytest.mark.parametrize("seed", range(5))
def test_two_groups_are_compared_as_by_scipy(seed):
    random = np.random.default_rng(seed)
    group = random.integers(0, 2, 60)
    time, event = censored(random, np.exp(0.5 * group))
    parts = [
        CensoredData(time[here & event], right=time[here & ~event])
        for here in (group == 0, group == 1)
    ]
    expected = logrank(*parts)
    p_value = pytest.approx(float(expected.pvalue))
    statistic = between_categories(group, codes_of(time, event), censored=True)
    assert statistic == (pytest.approx(float(expected.statistic) ** 2), p_value)
    z = trend(group, codes_of(time, event), censored=True)
    assert (z[0] ** 2, z[1]) == (pytest.approx(statistic[0]), p_value)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_compared_as_by_scipy(seed):
    random = np.random.default_rng(seed)
    group, codes = random.integers(0, 4, 50), random.integers(0, 9, 50)
    y = (codes + random.normal(0, 3, 50)).round()
    parts = [y[group == level] for level in range(4)]
    assert between_categories(group, y) == pytest.approx(tuple(kruskal(*parts)))
    assert trend(codes, y)[0] == pytest.approx(spearmanr(codes, y).statistic)
    assert between_categories(np.zeros(50, int), y) == (0.0, 1.0)
    assert between_categories(group, y * 0) == (0.0, 1.0)


@pytest.mark.parametrize("truncated", [False, True])
def test_trend_and_groups_equal_loops(truncated):
    random = np.random.default_rng(9)
    codes = random.integers(0, 4, 50)
    time, event = censored(random, np.exp(0.3 * codes))
    time = time + 0.1 * truncated
    entry = (time * random.random(50)).round(2) if truncated else -np.ones(50)
    y = codes_of(time, event)
    if truncated:
        y = SurvivalTarget.of_columns(time, event, entry).values
    indicators = (codes[:, None] == np.arange(4)).astype(float)
    scores, covariance = by_loops(indicators[:, 1:], time, event, entry)
    statistic = scores @ np.linalg.solve(covariance, scores)
    expected = pytest.approx((statistic, chi2.sf(statistic, 3)))
    assert between_categories(codes, y, censored=True) == expected
    sizes = np.bincount(codes)
    ranks = (np.cumsum(sizes) - sizes / 2)[codes]
    (score,), ((variance,),) = by_loops(ranks[:, None], time, event, entry)
    assert trend(codes, y, censored=True)[0] == pytest.approx(score / np.sqrt(variance))
    assert residuals(y, None).sum() == pytest.approx(0.0, abs=1e-9)
    strata = random.integers(0, 3, 50)
    parts = [strata == stratum for stratum in range(3)]
    for here in parts:
        assert np.allclose(residuals(y, strata)[here], residuals(y[here], None))
    each = [by_loops(indicators[h, 1:], time[h], event[h], entry[h])[0] for h in parts]
    assert np.allclose(_scores(indicators[:, 1:], y, strata, True).sum(axis=0), sum(each))


def test_nothing_to_compare():
    same, rising = np.zeros(6, dtype=int), np.arange(6)
    for test in (trend, between_categories):
        assert test(same, 2 * rising + rising % 2, censored=True) == (0.0, 1.0)
        assert test(rising % 2, 2 * rising, censored=True) == (0.0, 1.0)  # no event


def test_the_level_holds_where_censoring_depends_on_the_feature():
    """A test of the ranks of times, or of residuals, would take censoring for an effect."""
    random = np.random.default_rng(3)
    trends, shapes, pairs = [], [], []
    for _ in range(200):
        a, b = random.integers(0, 6, size=(2, 80))
        time, event = censored(random, np.ones(80), most=0.5 + a)
        trends.append(trend(a, codes_of(time, event), censored=True)[1])
        shapes.append(between_categories(a, codes_of(time, event), censored=True)[1])
        y = np.column_stack([time, event])
        data = dm.learning_set(np.column_stack([a, b]), y, task="survival")
        pairs.append(interaction_p_value(data, main_effects(data, (0, 1)), 0, 1))
    for p_values in (trends, shapes, pairs):
        assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.1


def directions(X, time, event, trees=60):
    y = np.column_stack([time, event])
    data = dm.learning_set(X, y, task="survival")
    forest = dm.RandomSurvivalForest(trees, random_state=0).fit(data)
    result = describe_effects(forest, data, data.table.names)
    return {direction.name: direction.words for direction in result}


def test_risk_up_down_and_by_interaction():
    random = np.random.default_rng(0)
    X = random.normal(size=(250, 4))
    said = directions(X, *censored(random, np.exp(X[:, 0] - 0.8 * X[:, 1])))
    assert said == {"x0": "risk up", "x1": "risk down", "x2": "no direction", "x3": "no direction"}
    said = directions(X, *censored(random, np.exp(1.5 * np.sign(X[:, 2] * X[:, 3]))))
    assert said["x2"] == "by interaction with x3"
    assert said["x0"] == "no direction"


@pytest.mark.slow
def test_noise_has_no_direction_in_19_of_20_survival_tables():
    random = np.random.default_rng(6)
    wrong = 0
    for _ in range(25):
        X = random.normal(size=(60, 6))
        said = directions(X, *censored(random, np.ones(60)), trees=30)
        wrong += set(said.values()) != {"no direction"}
    assert wrong <= 4
