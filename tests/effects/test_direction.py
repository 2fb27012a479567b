"""Direction of effects: said where the data support it, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.accuracy.directions import Setting, outcomes
from scipy.stats import rankdata, spearmanr, t

import duramen as dm
from duramen.effects import describe_effects
from duramen.effects.association import between_categories, trend, turn_p_value
from duramen.effects.interactions import interaction_p_value, main_effects

TREES = 60


def described(X, y, relevant=None, task="auto", trees=TREES):
    data = dm.learning_set(X, y, task=task)
    classes = data.target.classes is not None
    kind = dm.RandomForestClassifier if classes else dm.RandomForestRegressor
    forest = kind(trees, random_state=0, max_features=None).fit(data)
    names = data.table.names
    directions = describe_effects(forest, data, names, relevant=relevant)
    return {direction.name: direction.words for direction in directions}


def test_up_and_down_and_noise():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    said = described(X, 3 * X[:, 0] - X[:, 1] + random.normal(size=300))
    assert said == {"x0": "up", "x1": "down", **{f"x{j}": "no direction" for j in (2, 3, 4)}}


@pytest.mark.parametrize("continuous", [True, False])
def test_xor_is_by_interaction(continuous):
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 4))
    X = X if continuous else (X > 0).astype(float)
    y = np.where((X[:, 0] > 0.5 * (not continuous)) != (X[:, 1] > 0.5 * (not continuous)), "a", "b")
    said = described(X, y)
    assert said["x0"] == "by interaction with x1"
    assert said["x1"] == "by interaction with x0"
    assert said["x2"] == said["x3"] == "no direction"


def test_classes_are_named():
    random = np.random.default_rng(2)
    X = random.normal(size=(200, 3))
    said = described(X, np.where(X[:, 0] + 0.3 * random.normal(size=200) > 0, "ill", "healthy"))
    assert said["x0"] == "up for ill"
    three = np.select([X[:, 1] < -0.5, X[:, 1] > 0.5], ["low", "high"], "middle")
    said = described(X, three)
    assert said["x1"] in ("up for high", "down for low", "non-monotone for middle")
    assert said["x0"] == said["x2"] == "no direction"


def test_u_shapes_and_categories():
    random = np.random.default_rng(3)
    n = 300
    frame = pd.DataFrame(
        {
            "dose": random.normal(size=n),
            "ward": random.choice(["north", "south", "west"], n),
            "noise": random.choice(["a", "b", "c"], n),
        }
    )
    y = frame["dose"] ** 2 + 2 * (frame["ward"] == "west") + 0.3 * random.normal(size=n)
    said = described(frame, y.to_numpy())
    assert said["dose"] == "non-monotone"
    assert said["ward"] == "highest at west"
    assert said["noise"] == "no direction"


def test_missing_values_and_constant_columns():
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 3))
    y = X[:, 0].copy()
    X[random.random(300) < 0.2, 0] = np.nan
    X[:, 1] = 1.0
    X[:, 2] = np.nan
    data = dm.learning_set(X, y)
    forest = dm.RandomForestRegressor(30, random_state=0).fit(data)
    result = describe_effects(forest, data, data.table.names)
    assert [direction.words for direction in result] == ["up", "no direction", "no direction"]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [True, False])
def test_noise_has_no_direction_in_19_of_20_tables(classes):
    """All six features are noise: the error rate over tables stays below the level of .05."""
    random = np.random.default_rng(6)
    wrong = 0
    for _ in range(25):
        X = random.normal(size=(60, 6))
        y = random.permutation(np.arange(60) % 2) if classes else random.normal(size=60)
        wrong += set(described(X, y, trees=12).values()) != {"no direction"}
    assert wrong <= 4  # 0.05 exceeds this with a probability below .01


@pytest.mark.slow
def test_the_first_of_many_noise_features_have_no_direction():
    """The most important of 150 noise features are correlated with the target by selection."""
    random = np.random.default_rng(8)
    wrong = 0
    for seed in range(25):
        data = dm.learning_set(random.normal(size=(50, 150)), random.permutation(50) % 2)
        forest = dm.RandomForestClassifier(20, random_state=seed).fit(data)
        first = dm.importances.mdi(forest).top(10).names
        result = describe_effects(forest, data, first)
        wrong += any(direction.kind != "none" for direction in result)
    assert wrong <= 4


def test_tests_on_rows_hold_their_level():
    random = np.random.default_rng(7)
    shapes, pairs = [], []
    for _ in range(150):
        a, b = random.integers(0, 10, size=(2, 60))
        y = random.normal(size=60) + 0.2 * a - 0.1 * b
        shapes.append(between_categories(a, random.normal(size=60))[1])
        data = dm.learning_set(np.column_stack([a, b]), y)
        pairs.append(interaction_p_value(data, main_effects(data, (0, 1)), 0, 1))
    assert 0.005 < np.mean(np.array(shapes) <= 0.05) < 0.1
    assert np.mean(np.array(pairs) <= 0.05) < 0.1


def test_the_trend_is_spearmans_correlation_with_the_larger_of_two_p_values():
    """Ordinary least squares of the ranks by loops, and HC3 with the hat matrix."""
    random = np.random.default_rng(9)
    for n in (8, 40):
        x = random.integers(0, 7, n)
        y = 0.1 * x + (0.2 + x) * random.normal(size=n)
        design = np.column_stack([np.ones(n), rankdata(x)])
        ranks, inverse = rankdata(y), np.linalg.inv(design.T @ design)
        slope = inverse @ design.T @ ranks
        residual = ranks - design @ slope
        hat = np.diag(design @ inverse @ design.T)
        meat = sum(
            np.outer(row, row) * (e / (1 - h)) ** 2
            for row, e, h in zip(design, residual, hat, strict=True)
        )
        robust = (inverse @ meat @ inverse)[1, 1]
        expected = spearmanr(x, y)
        statistic, p_value = trend(x, y)
        assert statistic == pytest.approx(expected.statistic)
        studentized = 2 * t.sf(abs(slope[1]) / np.sqrt(robust), n - 2)
        assert p_value == pytest.approx(max(expected.pvalue, studentized))


def test_the_order_of_few_rows_is_no_evidence():
    """Three rows are in one of 6 orders, six rows of two classes in one of 20."""
    assert trend(np.arange(3), np.arange(3.0)) == (pytest.approx(1), pytest.approx(2 / 6))
    result = trend(np.array([0, 0, 0, 1, 1, 1]), np.array([0.0, 0, 0, 1, 1, 1]))
    assert result == (pytest.approx(1), pytest.approx(2 / 20))


@pytest.mark.slow
@pytest.mark.parametrize("spread", [False, True])
def test_turns_are_found_and_monotone_curves_do_not_turn(spread):
    """At the level .05: of 200 data sets at most 18, which .05 exceeds with probability .01."""
    random = np.random.default_rng(10)
    curves = {
        "step": lambda x: 2.0 * (x > 1),
        "exponential": np.exp,
        "none": lambda x: 0.0 * x,
        "square": np.square,
        # Above 0.5, the noise that spreads has twice the standard deviation of the other.
        "hump": lambda x: (-2.0 if spread else -1.0) * np.abs(x - 0.5),
    }
    for name, curve in curves.items():
        rejected = 0
        for _ in range(200):
            x = random.normal(size=150)
            y = curve(x) + (0.3 + np.abs(x) if spread else 1.0) * random.normal(size=150)
            rejected += turn_p_value(np.argsort(np.argsort(x)), y) <= 0.05
        if name in ("square", "hump"):
            assert rejected > 100, name
        else:
            assert rejected <= 18, name


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [Setting("linear"), Setting("step", "spread"), Setting("linear", target="survival")]
)
def test_proxies_of_monotone_effects_are_not_called_non_monotone(setting):
    """benchmarks.accuracy.directions in small: of 40 data sets at most 6, the 99 % band of .05."""
    wrong = (outcomes(setting, 40, False)[:, 0] == 1.0).sum(axis=0)
    assert wrong.max() <= 6


def test_an_effect_that_is_a_step_near_the_end_of_its_feature_has_a_direction():
    """Its rank correlation with the feature is about .5, though it never falls."""
    random = np.random.default_rng(11)
    X = random.normal(size=(300, 3))
    y = 4.0 * (X[:, 0] > np.quantile(X[:, 0], 0.92)) + 0.5 * random.normal(size=300)
    assert described(X, y)["x0"] == "up"


def test_two_values_do_not_turn():
    bits = np.arange(60) % 2
    assert turn_p_value(bits, bits + 0.0) == 1.0
    levels = np.repeat([0, 1, 2], 30)
    assert turn_p_value(levels, (levels == 1) + 0.01 * np.arange(90)) < 0.01
    assert turn_p_value(levels, levels + 0.01 * np.arange(90)) == 1.0


def test_a_feature_that_no_tree_splits_on_has_the_direction_of_its_trend():
    random = np.random.default_rng(12)
    ill = np.arange(100) % 2
    X = random.normal(size=(100, 3)) + ill[:, None]
    X[:, 1] = -X[:, 0] + 0.5 * random.normal(size=100)
    data = dm.learning_set(X, np.where(ill, "ill", "well"))
    stumps = dm.RandomForestClassifier(3, max_depth=1, max_features=None, random_state=0).fit(data)
    unused = sorted(set(range(3)) - set(stumps.forest_.feature.tolist()))
    assert 1 in unused
    result = describe_effects(stumps, data, ["x1"], relevant={"x1"}, pos_label="ill")
    assert [direction.words for direction in result] == ["down for ill"]
    assert not result[0].effect.values.any()


def test_directions_are_about_the_rarer_class_or_the_one_that_is_named():
    random = np.random.default_rng(13)
    X = random.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0.8, "case", "zero")
    data = dm.learning_set(X, y)
    forest = dm.RandomForestClassifier(40, random_state=0).fit(data)
    words = [
        describe_effects(forest, data, ["x0"], pos_label=positive)[0].words
        for positive in (None, "zero")
    ]
    assert words == ["up for case", "down for zero"]
    with pytest.raises(ValueError, match="pos_label must be a class of the target, one of case, z"):
        describe_effects(forest, data, ["x0"], pos_label="ctrl")
    numbers = dm.learning_set(X, X[:, 0])
    grown = dm.RandomForestRegressor(5, random_state=0).fit(numbers)
    with pytest.raises(
        ValueError, match="pos_label must be a class of the target, and None for numbers"
    ):
        describe_effects(grown, numbers, ["x0"], pos_label="case")


def test_of_many_features_found_the_rate_of_false_directions_is_controlled():
    """BH over the features found: with 40 of 60 associated, nearly all of these have one."""
    random = np.random.default_rng(14)
    ill = np.arange(60) % 2
    X = random.normal(size=(60, 60))
    X[:, :40] += 0.9 * ill[:, None]
    data = dm.learning_set(X, ill)
    forest = dm.RandomForestClassifier(200, random_state=0).fit(data)
    names = data.table.names
    result = describe_effects(forest, data, names, relevant=set(names))
    words = [direction.words for direction in result]
    up = sum(word == "up for 1" for word in words[:40])
    few = describe_effects(forest, data, names)  # Bonferroni
    assert up > 30
    assert up > 1.5 * sum(direction.words == "up for 1" for direction in few[:40])
    assert sum(word != "no direction" for word in words[40:]) <= 6
    assert "down for 1" not in words[:40]
