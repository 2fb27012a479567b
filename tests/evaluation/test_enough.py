"""The number of features that is enough."""

import numpy as np
import pytest

import duramen as dm
from duramen.evaluation import SelectionEvaluation

SIZES = np.array([1, 2, 5, 10])


def enough(scores, fraction=0.0, confidence_level=0.9):
    """The rule on scores of a ranking cut at SIZES, with so many test rows a training row."""
    return evaluation(scores, ["mdi"] * len(SIZES), SIZES, fraction, confidence_level).enough()


def evaluation(scores, methods, sizes, fraction=0.0, confidence_level=0.9):
    """Return the evaluation of methods, one a column of scores, that select so many features."""
    scores, nothing = np.asarray(scores, dtype=float), np.full(len(methods), np.nan)
    return SelectionEvaluation(
        methods=tuple(methods),
        cuts=np.asarray(sizes),
        scores={"balanced_accuracy": scores},
        sizes=np.tile(sizes, (len(scores), 1)),
        kuncheva=nothing,
        nogueira=nothing,
        stability_low=nothing,
        stability_high=nothing,
        frequency=None,
        names=tuple(f"x{j}" for j in range(10)),
        n_train=100,
        n_test=round(100 * fraction),
        confidence_level=confidence_level,
    )


def test_by_hand():
    """Means .5, .79, .8, .78; the best has error .1 / sqrt(4) of splits that scatter by .1."""
    scatter = np.array([-0.1, 0.1, -0.1, 0.1]) * np.sqrt(3 / 4)
    actual = enough(np.array([0.5, 0.79, 0.8, 0.78]) + scatter[:, None])
    assert (actual.n_features, actual.best) == (2, 5)
    assert actual.standard_error == pytest.approx(0.05)
    assert actual.low <= 2 <= actual.high
    assert actual.probability.sum() == pytest.approx(1)


def test_the_correction_widens_the_error():
    scores = np.array([0.5, 0.74, 0.8, 0.78]) + np.linspace(-0.1, 0.1, 8)[:, None]
    assert enough(scores).n_features == 5
    assert enough(scores, fraction=1).n_features == 2


def test_one_clear_answer_has_no_width_and_ties_go_to_few_features():
    clear = np.tile([0.5, 0.6, 0.9, 0.9], (5, 1)) + np.arange(5)[:, None] * 1e-3
    actual = enough(clear)
    assert (actual.n_features, actual.low, actual.high, actual.best) == (5, 5, 5, 5)


def test_interval_covers_the_answer_of_many_splits(monkeypatch):
    """Splits of one learning set, independent given it: the answer of 2000 is in most intervals."""
    monkeypatch.setattr("duramen.evaluation.result._BOOTSTRAPS", 200)
    random = np.random.default_rng(0)
    means = np.array([0.6, 0.7, 0.74, 0.75])

    def drawn(n):
        of_split = random.normal(size=(n, 1)) * 0.08
        return means + of_split + random.normal(size=(n, 4)) * 0.04

    within = 0
    for _ in range(100):
        actual = enough(drawn(50))
        expected = enough(drawn(4000), fraction=0.02)  # a factor of about 1 / 50
        within += actual.low <= expected.n_features <= actual.high
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
