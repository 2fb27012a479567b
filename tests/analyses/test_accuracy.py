"""Accuracy of the forest of a ranking out of bag, which its conclusion compares with guessing."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import duramen as dm
from duramen.analyses.ranking.forest import out_of_bag_accuracy


def fitted(y, regression=False):
    X = np.random.default_rng(1).normal(size=(len(y), 3))
    X[:, 0] += 3 * np.asarray(y, dtype=float)
    kind = dm.RandomForestRegressor if regression else dm.RandomForestClassifier
    data = dm.learning_set(X, y, task="regression" if regression else "classification")
    return kind(60, random_state=0, oob_score=True).fit(data), data.target


def test_errors_out_of_bag_are_those_of_the_forest_and_of_a_constant():
    y = np.arange(60) % 3 == 0
    forest, target = fitted(y)
    accuracy = out_of_bag_accuracy(forest, target)
    assert accuracy["oob_error"] == pytest.approx(1 - forest.oob_score_)
    assert accuracy["baseline_error"] == pytest.approx(1 / 3)
    assert accuracy["baseline_p_value"] < 0.001
    numbers = np.linspace(-1, 1, 60)
    forest, target = fitted(numbers, regression=True)
    accuracy = out_of_bag_accuracy(forest, target)
    assert accuracy["baseline_error"] == pytest.approx(numbers.var())
    assert 1 - accuracy["oob_error"] / accuracy["baseline_error"] == pytest.approx(
        forest.oob_score_
    )
    assert accuracy["baseline_p_value"] < 0.001


def test_a_forest_on_noise_is_not_called_better():
    random = np.random.default_rng(3)
    p_values = []
    for seed in range(30):
        X, y = random.normal(size=(40, 4)), random.permutation(np.arange(40) % 2)
        forest = dm.RandomForestClassifier(20, random_state=seed, oob_score=True).fit(X, y)
        target = dm.learning_set(X, y).target
        p_values.append(out_of_bag_accuracy(forest, target)["baseline_p_value"])
    assert np.mean(np.array(p_values) <= 0.05) <= 0.15


def test_gains_are_tested_over_groups():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3 == 0
    forest = dm.RandomForestClassifier(60, random_state=0, oob_score=True).fit(
        X + 2 * y[:, None], y
    )
    wrong = forest.oob_decision_function_.argmax(axis=1) != y
    gains = y.astype(float) - wrong  # the most frequent class is False
    groups = np.arange(60) // 7
    sums = np.bincount(groups, gains)
    expected = ttest_1samp(sums, 0, alternative="greater").pvalue
    target = dm.learning_set(X, y).target
    found = out_of_bag_accuracy(forest, target, groups)["baseline_p_value"]
    assert found == pytest.approx(max(expected, 2**-9))
    alone = out_of_bag_accuracy(forest, target)["baseline_p_value"]
    assert alone == pytest.approx(ttest_1samp(gains, 0, alternative="greater").pvalue)
    # Two groups that gain alike are no evidence.
    assert out_of_bag_accuracy(forest, target, groups // 5)["baseline_p_value"] >= 0.25
    assert out_of_bag_accuracy(forest, target, 0 * groups)["baseline_p_value"] == 1.0


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_persons_are_not_recognized_by_their_other_rows(task):
    # 40 persons with five rows each, whose target is their own: nothing predicts it.
    person = np.repeat(np.arange(40), 5)
    accuracies, predicted, alone = [], 0, 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        X = random.normal(size=(40, 3))[person] + 0.2 * random.normal(size=(200, 3))
        y = random.normal(size=40)
        y = (y > 0)[person] if task == "classification" else y[person]
        kind = dm.RandomForestRegressor if task == "regression" else dm.RandomForestClassifier
        for groups in (person, None):
            data = dm.learning_set(X, y, task=task, groups=groups)
            model = kind(25, oob_score=True, random_state=seed).fit(data)
            p_value = out_of_bag_accuracy(model, data.target, groups)["baseline_p_value"]
            if groups is None:
                alone += p_value <= 0.05
            else:
                accuracies.append(model.oob_score_)
                predicted += p_value <= 0.05
    assert predicted <= 4  # a probability of .003 at a rate of .05
    assert alone >= 20
    low, high = (0.4, 0.53) if task == "classification" else (-0.6, 0.05)
    assert low < np.mean(accuracies) < high


def test_nothing_is_known_without_rows_out_of_bag():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    forest = dm.ExtraTreesClassifier(5, random_state=0).fit(X, y)
    assert set(out_of_bag_accuracy(forest, dm.learning_set(X, y).target).values()) == {None}
