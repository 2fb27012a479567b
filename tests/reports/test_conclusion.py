"""Conclusion of a ranking: what was found, and how accurate the forest is."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from tests.reports.test_reports import a_run

import duramen as dm
from duramen import Significance
from duramen.analyses.ranking.forest import out_of_bag_accuracy
from duramen.analyses.ranking.report import conclusion
from duramen.effects import Direction
from duramen.results.significance import AdjustedSignificance


def verdict(*p_values):
    names = tuple("abcdefg"[: len(p_values)])
    scores = np.arange(len(names), 0, -1.0)
    how = {"method": "altmann", "null": "Nothing.", "metadata": {"measure": "mdi"}}
    return Significance(names, scores, np.array(p_values), **how)


def judged(*verdicts):
    by_verdict = {"confirmed": 0.01, "candidate": 0.2, "noise": 0.9}
    p_adjusted = np.array([by_verdict[word] for word in verdicts])
    q_values = np.where(p_adjusted < 0.5, 0.02, 0.9)
    names = tuple("abcdefg"[: len(verdicts)])
    scores = np.arange(len(names), 0, -1.0)
    return AdjustedSignificance(
        names,
        scores,
        q_values,
        p_adjusted=p_adjusted,
        q_values=q_values,
        statistics=scores,
        method="max_t",
        null="Nothing.",
        metadata={"measure": "mdi"},
    )


def ran(task="classification", **results):
    return a_run(task=task, results=results)


GOOD = {"oob_error": 0.1, "baseline_error": 0.4, "baseline_p_value": 0.001}
BAD = {"oob_error": 0.39, "baseline_error": 0.4, "baseline_p_value": 0.4}
SEEN = "The forest classifies 90% of the rows that it had not seen correctly; always guessing the "
SURE = "the chance that {} is a false alarm is at most 5%."


@pytest.mark.parametrize(
    ("results", "tested", "said"),
    [
        (
            GOOD,
            judged("confirmed", "confirmed", "candidate", "noise"),
            "2 of 4 features are reliably associated with type: "
            + SURE.format("even one of them")
            + " Another 1 is promising: of all 3, about 5% may be false alarms. "
            + SEEN
            + "most frequent class gives 60%. Strongest: a (higher in x), b.",
        ),
        (GOOD, judged("confirmed", "noise"), "1 of 2 features is reliably associated with type: "),
        (GOOD, judged("confirmed", "noise"), SURE.format("it")),
        (GOOD, judged("confirmed", "confirmed"), "All 2 features are reliably associated"),
        (GOOD, judged("confirmed"), "The only feature is reliably associated with type: "),
        (GOOD, judged("candidate", "noise"), "None of 2 features is reliably associated"),
        (GOOD, judged("noise", "noise"), "None of 2 features can be told from noise. " + SEEN),
        (GOOD, judged("noise"), "the features predict type, but no single one stands out."),
        (GOOD, verdict(0.001, 0.9), "1 of 2 features is associated with type; about 5% of"),
        (GOOD, None, "The features predict type."),
        (BAD, verdict(0.001, 0.9), "That is no better than without any feature"),
        (BAD, verdict(0.9, 0.9), "Nothing here is evidence that any feature is associated with"),
        (BAD, None, "That is no evidence that the features predict type"),
        ({}, None, "every tree sees all rows"),
    ],
)
def test_sentences_for_each_outcome(results, tested, said):
    described = [Direction("a", "up", "x"), Direction("b")]
    conclusion_ = conclusion(ran(**results), tested, described)
    assert said in conclusion_
    assert conclusion_.endswith(".")
    assert conclusion_.startswith("No significance test was run") == (tested is None)


def test_numbers_and_survival():
    numbers = {"oob_error": 0.9, "baseline_error": 1.2, "baseline_p_value": 0.01}
    directed = [Direction("a", "down"), Direction("b", "down")]
    said = conclusion(ran("regression", **numbers), judged("confirmed", "confirmed"), directed)
    assert "In rows that it had not seen, the forest explains 25% of the variance of type." in said
    assert said.endswith("Strongest: a, b (both falling with type).")
    said = conclusion(ran("survival", oob_error=0.3, groups=9), None, ())
    assert "Of two rows of groups that it had not seen, the forest tells in 70% of all" in said


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
