"""Row weights are permuted with the target by every method that permutes it."""

import numpy as np
import pytest

import duramen as dm
from duramen.estimators.base import BaseForest

PERMUTED = {"n_permutations": 4, "random_state": 0}
METHODS = {
    "altmann": PERMUTED,
    "max_t": PERMUTED,
    "fdr_curve": PERMUTED,
    "conditional_error_rate": {**PERMUTED, "stop_at": None},
    "mean_rank_test": {**PERMUTED, "n_resamples": 2},
    "frequency_control": {**PERMUTED, "null": "permuted"},
}
N = 40
Y = np.repeat(["ill", "well"], N // 2)
WEIGHTS = {"ill": 1.0, "well": 12.0}
TOGETHER = "Each target is exchanged together with the weight of its row."


@pytest.fixture
def grown(monkeypatch):
    """Targets and weights that forests are grown on."""
    seen, prepare = [], BaseForest._prepare

    def spy(self, *arguments):
        data, settings = prepare(self, *arguments)
        seen.append((np.asarray(data.target.labels), data.weights))
        return data, settings

    monkeypatch.setattr(BaseForest, "_prepare", spy)
    return seen


def weighted(name, **options):
    """The data, and the result of a test on them."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    data = dm.learning_set(X, Y, sample_weight=[WEIGHTS[label] for label in Y])
    forest = dm.ExtraTreesClassifier(2, max_depth=2)
    return data, getattr(dm.significance, name)(forest, data, **options)


@pytest.mark.parametrize("name", METHODS)
def test_every_target_keeps_its_weight(name, grown):
    _, result = weighted(name, **METHODS[name])
    assert len(grown) > 4
    for labels, weights in grown:
        assert weights.tolist() == [WEIGHTS[label] for label in labels]
    assert len({tuple(labels) for labels, _ in grown}) > 1
    assert TOGETHER in (getattr(result, "meaning", "") or getattr(result, "null", ""))


def test_tests_that_permute_features_leave_weights_in_their_rows(grown):
    data, result = weighted("hapfelmeier", measure="mdi", **PERMUTED)
    for labels, weights in grown:
        assert labels.tolist() == Y.tolist()
        assert weights.tolist() == data.weights.tolist()
    assert TOGETHER not in result.null
