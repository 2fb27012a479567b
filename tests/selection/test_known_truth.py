"""Scores of selections and rankings against known truth."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score

import duramen as dm
from duramen.selection import scores
from duramen.selection.known_truth import areas


def test_by_hand():
    result = scores([0, 1, 2], [1, 3], names=5)
    assert (result.true_positives, result.n_selected, result.n_relevant) == (1, 3, 2)
    assert result.precision == pytest.approx(1 / 3)
    assert result.recall == 0.5
    assert result.f1 == pytest.approx(0.4)
    assert result.fdr == pytest.approx(2 / 3)
    assert result.bcr == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert np.isnan(result.auprc)


def test_nothing_selected():
    result = scores([], ["a"], names=["a", "b"])
    assert np.isnan(result.precision)
    assert (result.recall, result.f1, result.fdr, result.bcr) == (0, 0, 0, 0.5)


@given(st.integers(0, 2**8 - 1), st.integers(1, 2**8 - 2))
def test_as_scikit_learn(selected, relevant):
    chosen, truth = (np.array([k >> j & 1 for j in range(8)], bool) for k in (selected, relevant))
    result = scores(chosen, truth)
    assert result.f1 == pytest.approx(f1_score(truth, chosen, zero_division=0))
    assert result.bcr == pytest.approx(balanced_accuracy_score(truth, chosen))


def by_all_orders(values, truth):
    """Average precision and trapezoid area, the means over all orders of equal values."""
    averages, trapezoids = [], []
    for order in itertools.permutations(range(len(values))):
        ranked = values[list(order)]
        if (ranked[:-1] < ranked[1:]).any():
            continue
        hits = truth[list(order)]
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        recall = np.concatenate([[0], np.cumsum(hits) / hits.sum()])
        averages.append((precision * hits).sum() / hits.sum())
        trapezoids.append(np.trapezoid(np.concatenate([precision[:1], precision]), recall))
    return np.mean(averages), np.mean(trapezoids)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
def test_ties_count_by_expectation(pairs):
    values = np.array([value for value, _ in pairs], dtype=float)
    truth = np.array([hit for _, hit in pairs])
    truth[0] = True
    assert areas(values, truth) == pytest.approx(by_all_orders(values, truth))


def test_without_ties_as_scikit_learn():
    random = np.random.default_rng(0)
    values, truth = random.normal(size=50), random.random(50) < 0.3
    result = scores(truth, truth, ranking=values)
    assert result.average_precision == pytest.approx(average_precision_score(truth, values))


def test_of_a_selector_and_its_importances():
    data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    model = dm.Boruta(n_estimators=20, measure="mdi", max_rounds=12, random_state=0)
    model.fit(data.X, data.y)
    result = scores(model, [0, 1], ranking=model.importances_)
    assert result.average_precision == 1
    assert result.n_features == 8
    assert "average precision" in str(result)
    assert len(result.to_frame()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relevant": []}, "relevant must be one feature or more"),
        ({"relevant": ["z"]}, "relevant holds 'z'"),
        ({"selected": [7]}, "selected holds 7"),
        ({"selected": [True]}, "selected must have shape"),
        ({"ranking": [1, np.nan]}, "ranking must be numbers"),
        ({"names": None}, "names must be the names"),
    ],
)
def test_refusals(options, message):
    options = {"selected": ["a"], "relevant": ["b"], "names": ["a", "b", "c"], **options}
    with pytest.raises(ValueError, match=message):
        scores(options.pop("selected"), options.pop("relevant"), **options)
