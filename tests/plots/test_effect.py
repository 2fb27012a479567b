"""Effects of features, and features against the target."""

import numpy as np
import pandas as pd
import pytest
from tests.estimators.test_survival import drawn, entries, outcome
from tests.oracles import survival as oracle

import duramen as dm
from duramen.plots import against_target, effect
from duramen.plots.effects import kaplan_meier


def local(classes=2):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.digitize(X[:, 0], np.linspace(-0.5, 0.5, classes - 1))
    forest = dm.RandomForestClassifier(10, random_state=0).fit(X, y)
    return dm.effects.accumulated_local_effects(forest, X, "x0", n_intervals=5)


def test_the_second_of_two_classes_or_all_of_more_are_drawn():
    two = local()
    ax = effect(two)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), two.values[:, 1])
    assert ax.get_ylabel() == "effect on 1"
    three = local(3)
    names = [text.get_text() for text in effect(three).get_legend().get_texts()]
    assert names == ["0", "1", "2"]
    np.testing.assert_allclose(effect(three, of="2").lines[0].get_ydata(), three.values[:, 2])
    with pytest.raises(ValueError, match="of must be one of '0', '1', got 'z'"):
        effect(two, of="z")
    assert two.plot().get_xlabel() == "x0"


def test_categories_and_missing_values():
    X = np.array([["a"], ["b"], [None]] * 20, dtype=object)
    forest = dm.RandomForestRegressor(10, random_state=0).fit(X, [0.0, 1.0, 5.0] * 20)
    drawn = dm.effects.partial_dependence(forest, X, 0)
    ax = effect(drawn)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    assert drawn.missing[0] in ax.lines[1].get_ydata()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x0 missing"]
    assert effect(drawn, target_name="dose").get_ylabel() == "effect on dose"


def test_boxes_are_quartiles_of_each_class():
    values = np.arange(20.0)
    ax = against_target(values, ["a"] * 8 + ["b"] * 12, name="dose")
    box = ax.patches[1]
    low, high = np.quantile(values[8:], [0.25, 0.75])
    assert (box.get_x(), box.get_width()) == (low, high - low)
    assert sum(len(line.get_xdata()) for line in ax.lines) >= 20
    assert ax.get_xlabel() == "dose"


def test_numbers_against_numbers_and_categories():
    ax = against_target([1.0, np.nan, 3.0], [4.0, 5.0, 6.0])
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 4.0], [3.0, 6.0]]
    ax = against_target(["n", "s", None], [4.0, 5.0, 6.0], name="ward")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["n", "s"]
    ax = against_target(["n", "n", "s"], ["ill", "well", "well"])
    assert [bar.get_height() for bar in ax.patches] == [0.5, 0.0, 0.5, 1.0]
    many = against_target(np.arange(1000.0), np.arange(1000.0))
    assert len(many.lines[0].get_xdata()) == 300


def test_wrong_columns():
    with pytest.raises(ValueError, match="same length"):
        against_target([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="a row with a value"):
        against_target([np.nan], ["a"])


def test_panels_of_a_feature_order_its_categories_alike_and_join_none():
    random = np.random.default_rng(4)
    ward = np.array(["a", "b", "c", "d"])[np.arange(200) % 4]
    y = np.array([3.0, 0.0, 2.0, 1.0])[np.arange(200) % 4] + 0.1 * random.normal(size=200)
    frame = pd.DataFrame({"ward": ward, "x": random.normal(size=200)})
    data = dm.learning_set(frame, y)
    forest = dm.RandomForestRegressor(20, random_state=0).fit(data)
    local = dm.effects.accumulated_local_effects(forest, data, "ward")
    assert local.labels == ("b", "d", "c", "a")
    ax = effect(local)
    assert [line.get_linestyle() for line in ax.lines[:1]] == ["None"]
    wanted = [text.get_text() for text in ax.get_xticklabels()]
    boxes = against_target(ward, y, order=local.labels)
    assert [text.get_text() for text in boxes.get_yticklabels()] == wanted
    classes = np.where(y > 1.5, "high", "low")
    bars = against_target(ward, classes, order=local.labels[1:])
    assert [text.get_text() for text in bars.get_xticklabels()] == ["d", "c", "a", "b"]


def test_values_far_from_all_others_do_not_squeeze_the_axes():
    random = np.random.default_rng(5)
    x = random.normal(size=100)
    x[:2] = 1e6, -1e5
    y = random.normal(size=100)
    y[3] = 1e4
    ax = against_target(x, y, name="dose", target_name="score")
    assert ax.get_xlim()[1] < 5
    assert ax.get_xlabel() == "dose (2 values beyond the axis)"
    assert ax.get_ylabel() == "score (1 value beyond the axis)"
    ax = against_target(x, np.where(y > 0, "a", "b"), name="dose")
    assert ax.get_xlabel() == "dose (2 values beyond the axis)"
    assert against_target(x[4:], y[4:], name="dose").get_xlabel() == "dose"
    data = dm.learning_set(x[:, None], y)
    forest = dm.RandomForestRegressor(10, random_state=0).fit(data)
    ax = effect(dm.effects.accumulated_local_effects(forest, data, 0))
    assert ax.get_xlim()[1] < 5
    assert "beyond the axis" in ax.get_xlabel()


@pytest.mark.parametrize("truncated", [False, True])
def test_survival_is_drawn_as_kaplan_meier_curves(truncated):
    """With entries from the first time on at which ten rows are at risk."""
    X, time, event = drawn(4, 80)
    entry = entries(4, time) if truncated else -np.ones(80)
    sex = np.where(X[:, 1] > 2, "f", "m")
    ax = against_target(sex, outcome(time, event, entry if truncated else None))
    curves = [line for line in ax.get_lines() if line.get_label() in ("f", "m")]
    assert len(curves) == 2
    for line in curves:
        rows = sex == line.get_label()
        own = time[rows], event[rows], np.ones(rows.sum())
        at = line.get_xdata()[1:]
        expected = oracle.kaplan_meier(*own, at, entry[rows])
        if truncated:
            times = np.unique(time[rows])
            at_risk = [np.sum((entry[rows] < t) & (time[rows] >= t)) for t in times]
            assert at[0] == times[np.argmax(np.array(at_risk) >= 10)]
            before = times[times < at[0]]
            expected /= oracle.kaplan_meier(*own, before[-1:], entry[rows]) if len(before) else 1.0
        assert np.allclose(line.get_ydata()[1:], expected)


# Weeks to relapse of the maintained group of Miller (1981), and 95 % limits by survfit of R's
# package survival with conf.type = "log-log".
WEEKS = [9, 13, 13, 18, 23, 28, 31, 34, 45, 48, 161]
RELAPSED = [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0]
LIMITS = {
    9: (0.9091, 0.5081, 0.987),
    13: (0.8182, 0.4474, 0.951),
    18: (0.7159, 0.3502, 0.899),
    23: (0.6136, 0.2658, 0.835),
    31: (0.4909, 0.1673, 0.753),
    34: (0.3682, 0.0928, 0.657),
    48: (0.1841, 0.0117, 0.525),
}


def test_limits_of_survival_are_those_of_survfit():
    times, surviving, low, high = kaplan_meier(outcome(np.array(WEEKS, float), np.array(RELAPSED)))
    assert (low[0], high[0]) == (1.0, 1.0)
    for week, expected in LIMITS.items():
        at = times.tolist().index(week)
        assert (surviving[at], low[at], high[at]) == pytest.approx(expected, abs=6e-4)


def test_a_curve_that_ends_at_zero_has_no_limits_there():
    _, surviving, low, high = kaplan_meier(outcome(np.array([1.0, 2.0]), np.array([1, 1])))
    assert surviving.tolist() == [1.0, 0.5, 0.0]
    assert np.isnan([low[2], high[2]]).all()
    assert np.isfinite(low[:2]).all()


def test_rows_at_risk_and_censored_rows_are_shown():
    group = np.array(["a"] * 11 + ["b"] * 2)
    y = outcome(np.array([*WEEKS, 20, 100], float), np.array([*RELAPSED, 1, 1]))
    ax = against_target(group, y, name="arm", target_name="weeks")
    assert ax.get_xlabel() == "weeks; numbers: rows at risk"
    ticks = ax.get_xticks()
    counts = {round(text.get_position()[1], 2): [] for text in ax.texts}
    for text in ax.texts:
        counts[round(text.get_position()[1], 2)].append(int(text.get_text()))
    a, b = counts.values()
    assert a == [sum(week >= tick for week in WEEKS) for tick in ticks]
    assert b == [sum(week >= tick for week in (20, 100)) for tick in ticks]
    marks = [line for line in ax.lines if line.get_marker() == "|"]
    assert marks[0].get_xdata().tolist() == [13, 28, 45, 161]
    # A row that is censored at the time of an event was at risk then.
    assert marks[0].get_ydata()[0] == pytest.approx(0.8182, abs=1e-4)
