"""The number of features that is enough."""

from dataclasses import replace

import numpy as np
import pytest

import duramen as dm
from duramen.analyses.compare import enough_words
from duramen.evaluation.result import enough_of

SIZES = np.array([1, 2, 5, 10])


def rule(scores, factor=None, **options):
    scores = np.asarray(scores, dtype=float)
    options = {"confidence_level": 0.9, "n_bootstraps": 500, "seed": 0, **options}
    return enough_of(scores, SIZES, 1 / len(scores) if factor is None else factor, **options)


def test_by_hand():
    """Means .5, .79, .8, .78; the best has error .1 / sqrt(4) of splits that scatter by .1."""
    scatter = np.array([-0.1, 0.1, -0.1, 0.1]) * np.sqrt(3 / 4)
    scores = np.array([0.5, 0.79, 0.8, 0.78]) + scatter[:, None]
    at, low, high, best, error, probability = rule(scores)
    assert (SIZES[at], SIZES[best]) == (2, 5)
    assert error == pytest.approx(0.05)
    assert low <= at <= high
    assert probability.sum() == pytest.approx(1)


def test_the_correction_widens_the_error():
    scores = np.array([0.5, 0.74, 0.8, 0.78]) + np.linspace(-0.1, 0.1, 8)[:, None]
    assert SIZES[rule(scores)[0]] == 5
    assert SIZES[rule(scores, 1 / 8 + 1)[0]] == 2


def test_one_clear_answer_has_no_width_and_ties_go_to_few_features():
    clear = np.tile([0.5, 0.6, 0.9, 0.9], (5, 1)) + np.arange(5)[:, None] * 1e-3
    assert rule(clear)[:4] == (2, 2, 2, 2)


def test_interval_covers_the_answer_of_many_splits():
    """Splits of one learning set, independent given it: the answer of 2000 is in most intervals."""
    random = np.random.default_rng(0)
    means = np.array([0.6, 0.7, 0.74, 0.75])

    def drawn(n):
        own = random.normal(size=(n, 1)) * 0.08
        return means + own + random.normal(size=(n, 4)) * 0.04

    within = 0
    for _ in range(100):
        scores = drawn(50)
        _, low, high, *_ = rule(scores, n_bootstraps=200)
        expected = rule(drawn(4000), 1 / 50, n_bootstraps=1)[0]
        within += low <= expected <= high
    assert within >= 85


def test_of_an_evaluation():
    data = dm.datasets.linear_sign(80, 8, n_relevant=2, random_state=0)
    result = dm.evaluate_selection(
        ["mdi", None],
        data.X,
        data.y,
        n_features=[1, 2, 4],
        n_resamples=8,
        estimator=dm.RandomForestClassifier(10),
        learner="k_nearest_neighbors",
        random_state=0,
    )
    actual = result.enough("mdi", "balanced_accuracy")
    assert actual.n_features in (1, 2, 4)
    assert "features by mdi" in str(actual)
    assert len(actual.to_frame()) == 3
    with pytest.raises(ValueError, match="method must be one of 'mdi'"):
        result.enough("all features")
    with pytest.raises(ValueError, match="score must be one of"):
        result.enough(score="auc")
    with pytest.raises(ValueError, match="must be one of"):
        result.frequencies("mdi", 3)


def test_words_do_not_call_a_number_the_best_below_a_better_one():
    """A ranking at 1, 2 and 4 features, and a selector that is better than all of them."""
    data = dm.datasets.linear_sign(80, 8, n_relevant=3, random_state=0)
    evaluation = dm.evaluate_selection(
        ["mdi", dm.selection.catalogue["jmi"].make(n_features=3)],
        *(data.X, data.y),
        n_resamples=6,
        n_features=[1, 2],
        random_state=0,
        estimator=dm.RandomForestClassifier(20),
        learner="logistic_regression",
    )
    score, values = next(iter(evaluation.scores.items()))
    better = np.where(np.array(evaluation.methods) == "mdi", values - 0.2, values)
    evaluation = replace(evaluation, scores={**evaluation.scores, score: better})
    lines, means = enough_words(evaluation), evaluation.mean(score)
    assert lines[0].startswith("By mdi, ")
    assert f"{means[evaluation.rows('mdi')].max():.3f}" in lines[0]
    best = int(np.nanargmax(means))
    assert evaluation.methods[best] != "mdi"
    assert f"is {means[best]:.3f}, of {evaluation.methods[best]} with" in lines[1]
