"""Directions of effects within strata, and where rows of a group depend on each other."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.error_rates.directions_dependent import CONFOUNDED, NULLS, outcomes
from scipy.stats import chi2, rankdata

import duramen as dm
from duramen.data import Exchangeability
from duramen.data.strata import adjusted_means
from duramen.data.survival import martingale_residuals
from duramen.effects import describe_effects
from duramen.effects.association import (
    _scores,
    between_categories,
    highest_category,
    residuals,
    trend,
    turn_p_value,
)

STRATA = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2])
GROUPS = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6])


def by_loops(x, y, strata, groups):
    """Score test of ranks less their mean in the stratum, from its sums over groups."""
    x, y = rankdata(x), rankdata(y)
    for numbers in (x, y):
        for stratum in set(strata.tolist()):
            numbers[strata == stratum] -= numbers[strata == stratum].mean()
    total, variance = 0.0, 0.0
    for stratum in set(strata.tolist()):
        members = sorted(set(groups[strata == stratum].tolist()))
        sums = [float(x[groups == one] @ y[groups == one]) for one in members]
        total += sum(sums)
        variance += sum(u * u for u in sums) * len(sums) / max(len(sums) - 1, 1)
    return total / np.sqrt((x @ x) * (y @ y)), chi2.sf(total**2 / variance, 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_trend_within_strata_and_groups_equals_loops(seed):
    random = np.random.default_rng(seed)
    strata, groups = np.tile(STRATA, 5), np.tile(GROUPS, 5) + 7 * np.repeat(np.arange(5), 12)
    x, y = random.integers(0, 9, 60), random.normal(size=60)
    one = np.zeros(60, dtype=int)
    for given, own in ((strata, groups), (strata, None), (None, groups)):
        statistic, p_value = trend(x, y, given, own)
        expected = by_loops(
            x, y, one if given is None else given, np.arange(60) if own is None else own
        )
        assert (statistic, p_value) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


@pytest.mark.parametrize("censored", [False, True])
@pytest.mark.parametrize(("stratified", "grouped"), [(False, False), (True, False), (True, True)])
def test_tests_of_several_features_and_targets_are_those_of_each(censored, stratified, grouped):
    random = np.random.default_rng(8)
    codes, y = random.integers(0, 9, (40, 4)), 2 * random.integers(0, 15, (40, 3))
    codes[:, 1], y[:, 2] = 3, y[0, 2]  # constant
    y += censored * random.integers(0, 2, y.shape)
    rows = np.arange(40) % 2 if stratified else None, np.arange(40) // 4 if grouped else None
    result = trend(codes, y, *rows, censored=censored)
    for j, k in np.ndindex(4, 3):
        alone = trend(codes[:, j], y[:, k], *rows, censored=censored)
        assert (result[0][j, k], result[1][j, k]) == pytest.approx(alone, rel=1e-12)
    turns = turn_p_value(codes[:, 0], y, *rows, censored=censored)
    alone = [turn_p_value(codes[:, 0], own, *rows, censored=censored) for own in y.T]
    assert turns == pytest.approx(alone)


def test_a_trend_that_turns_within_strata():
    """Up in both strata by hand: centered ranks are -1.5 to 1.5, and down over all rows."""
    x, y = np.array([4, 5, 6, 7, 0, 1, 2, 3]), np.array([0.0, 1, 2, 3, 4, 5, 6, 7])
    strata = np.repeat([0, 1], 4)
    assert trend(x, y)[0] < 0
    correlation, p_value = trend(x, y, strata)
    assert correlation == pytest.approx(1.0)
    u = np.array([2.25, 0.25, 0.25, 2.25] * 2)
    assert p_value == pytest.approx(chi2.sf(u.sum() ** 2 / (u @ u * 4 / 3), 1))
    few = trend(np.array([0, 1, 0, 1, 0, 1]), y[:6], np.repeat([0, 1, 2], 2))
    assert few[1] == pytest.approx(0.25)  # one of 8 orders, or its opposite


def test_copies_of_rows_are_no_evidence():
    """The tests of rows that come five times, as groups, are those of the rows."""
    random = np.random.default_rng(1)
    x, a = random.integers(0, 9, 40), random.integers(0, 3, 40)
    y, strata, row = random.normal(size=40), np.arange(40) % 3, np.repeat(np.arange(40), 5)
    time, event = random.integers(0, 30, 40), random.random(40) < 0.6
    for target, censored in ((y, False), (2 * time + event, True)):
        for own in (None, strata):
            single = target, own, np.arange(40)
            copies = target[row], None if own is None else own[row], row
            for test, feature in ((trend, x), (between_categories, a)):
                expected = test(feature, *single, censored=censored)
                assert test(feature[row], *copies, censored=censored) == pytest.approx(expected)
            assert turn_p_value(x[row], *copies, censored=censored) >= 0.05


def test_log_rank_scores_within_strata_are_the_sums_of_those_of_each_stratum():
    random = np.random.default_rng(2)
    n = 60
    strata, columns = random.integers(0, 4, n), random.normal(size=(n, 2))
    time, event = random.integers(0, 12, n), random.random(n) < 0.7
    expected, of_stratum = np.zeros(2), np.zeros(n)
    codes = (2 * time + event).astype(np.uint32)
    for stratum in range(4):
        here = strata == stratum
        of_stratum[here] = martingale_residuals(codes[here])
        for t in np.unique(time[here & event]):
            at_risk, now = here & (time >= t), here & event & (time == t)
            expected += columns[now].sum(axis=0) - now.sum() * columns[at_risk].mean(axis=0)
    assert _scores(columns, codes, strata, True).sum(axis=0) == pytest.approx(expected)
    assert residuals(codes, strata) == pytest.approx(of_stratum)
    # Of each pair the first row has the event: its score is half the difference, with variance 1/4.
    pairs = np.array([1, 3, 5, 7]), np.array([0, 0, 1, 1])
    assert trend(np.array([1, 0, 1, 0]), *pairs, censored=True)[0] == pytest.approx(np.sqrt(2))


def test_means_adjusted_for_strata_are_those_of_least_squares():
    random = np.random.default_rng(3)
    codes, strata = random.integers(0, 4, 50), random.integers(0, 3, 50)
    y = codes + 5.0 * strata + random.normal(size=50)
    design = np.column_stack([codes[:, None] == np.arange(4), strata[:, None] == np.arange(1, 3)])
    fitted = np.linalg.lstsq(design.astype(float), y)[0][:4]
    means = adjusted_means(codes, y[:, None], strata)[:, 0]
    assert means - means[0] == pytest.approx(fitted - fitted[0])
    assert means[codes].mean() == pytest.approx(y.mean())
    single = adjusted_means(codes, y[:, None], np.zeros(50, int))[:, 0]
    assert single == pytest.approx([y[codes == k].mean() for k in range(4)])
    # "a" is 2 above "b" and that 1 above "c", although a is mostly compared with itself.
    place = np.array([0] * 9 + [1] + [1] * 5 + [2] * 5)
    y = np.array([2.0] * 9 + [0.0] + [10.0] * 5 + [9.0] * 5)
    assert highest_category(place, y, np.repeat([0, 1], 10)) == 0
    assert highest_category(place, y) == 2


@pytest.mark.parametrize("kind", ["class", "numbers"])
def test_the_null_distribution_is_that_of_permutations_of_groups(kind):
    """Of 2,000 permutations as the significance tests draw them.

    Their mean is 0, and their deviation about that from the sums over 40 groups, whose own standard
    error is 1 in 9.
    """
    random = np.random.default_rng(4)
    person = np.repeat(np.arange(40), 5)
    y = (random.permutation(40) % 2)[person] if kind == "class" else random.normal(size=200)
    rows = Exchangeability.checked(200, np.arange(40)[person] % 2, person, function="test")
    cells = rows.exchanged(y)
    if kind == "numbers":
        y += np.arange(200) % 5  # a trend in all groups, which permutations keep
    shared = random.normal(size=40)[person] + np.arange(200) % 5
    x = np.argsort(np.argsort(shared + random.normal(size=200)))[:, None]
    observed = _scores(x, y, cells, False)[:, 0]
    expected = np.sqrt(np.square(np.bincount(person, observed)).sum() * 20 / 19)
    drawn = [_scores(x, y[rows.permutation(random, y)], cells, False).sum() for _ in range(2000)]
    assert abs(np.mean(drawn)) < 4 * expected / np.sqrt(2000)
    assert np.std(drawn) == pytest.approx(expected, rel=0.25)


def test_tests_of_groups_hold_their_level():
    """Of 400 data sets of 40 persons x 5 rows; without groups, more than a third is rejected."""
    random = np.random.default_rng(5)
    person = np.repeat(np.arange(40), 5)
    trends, shapes, rows = [], [], []
    for _ in range(400):
        y = random.permutation(np.arange(40) % 2)[person] + 0.0
        x = np.argsort(np.argsort(random.normal(size=40)[person] + random.normal(size=200)))
        trends.append(trend(x, y, None, person)[1])
        ward = random.integers(0, 3, 40)[person]
        shapes.append(between_categories(ward, y, None, person)[1])
        rows.append(trend(x, y)[1])
    for p_values in (trends, shapes):
        assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.08
    assert np.mean(np.array(rows) <= 0.05) > 0.2


def confounded(n=120):
    random = np.random.default_rng(6)
    center, w = np.repeat([0, 1], n), random.normal(size=2 * n)
    frame = pd.DataFrame({"marker": w + 3 * center, "noise": random.normal(size=2 * n)})
    frame["ward"] = np.where(random.random(2 * n) < 0.2 + 0.6 * center, "north", "south")
    score = 2 * w - 6 * (center - 0.5) + 3 * (frame["ward"] == "north")
    return frame, np.where(score + random.logistic(size=2 * n) > 0, "ill", "well"), center


def test_direction_and_curve_are_those_within_strata():
    X, y, center = confounded()
    words = []
    for strata in (None, center):
        data = dm.learning_set(X, y, strata=strata)
        forest = dm.RandomForestClassifier(40, random_state=0).fit(data)
        result = describe_effects(forest, data, data.names, relevant=data.names, pos_label="ill")
        words.append([direction.words for direction in result])
        marker, _, ward = (direction.effect for direction in result)
    assert words[0][0] != "up for ill"
    assert trend(X["marker"].rank().to_numpy(), (y == "ill") + 0.0)[0] < -0.1
    assert marker.values[-1, 0] - marker.values[0, 0] > 0.5
    assert words[1] == ["up for ill", "no direction", "ill most likely at north"]
    assert marker.method == "within_strata"
    assert marker.values.sum(axis=1) == pytest.approx(np.zeros(10), abs=1e-12)
    assert marker.values.mean(axis=0) == pytest.approx([0, 0])  # intervals of 24 rows each
    assert ward.labels == ("north", "south")  # by the effect on the second class, well
    assert ward.values[0, 0] > 0 > ward.values[1, 0]


def test_curves_within_strata_have_gaps_and_orders():
    """Of an ordinal feature with gaps, whose adjusted means are 0, 1 and 3, and 2 where missing."""
    center = np.repeat([0, 1], 40)
    level = np.tile([0, 1, 2, 3], 20)
    names = np.array(["low", "mid", "top", None], dtype=object)
    column = pd.Series(pd.Categorical(names[level], ["low", "mid", "top"], ordered=True))
    y = np.array([0.0, 1.0, 3.0, 2.0])[level] - 10.0 * center
    data = dm.learning_set(pd.DataFrame({"x": column, "z": np.arange(80.0)}), y, strata=center)
    forest = dm.RandomForestRegressor(5, random_state=0).fit(data)
    (direction,) = describe_effects(forest, data, ["x"])
    assert direction.words == "up"
    assert direction.effect.labels == ("low", "mid", "top")
    assert direction.effect.values[:, 0] == pytest.approx(np.array([0, 1, 3]) - 4 / 3)
    assert direction.effect.missing == pytest.approx([2 - 1.5])


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFOUNDED)
def test_directions_of_confounded_features_are_right(name):
    """benchmarks.error_rates.directions_dependent in small."""
    assert (outcomes(name, 15)[:, 0] == 1.0).sum() >= 14


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_features_without_an_association_have_no_direction(name):
    """Of 20 data sets at most 4, which .05 exceeds with probability .003."""
    assert ((outcomes(name, 20)[:, 1:] > 0).sum(axis=0) <= 4).all()
