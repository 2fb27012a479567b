"""Scores of networks: known answers and slow oracles."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from duramen import Network
from duramen.results.network_scores import score_ranking


def dream_area(weights, truth):
    """Area under the precision-recall curve of distinct weights, by one loop (DREAM's rule)."""
    true = false = area = 0.0
    for is_link in truth[np.argsort(-weights)]:
        if is_link:
            before = true + false
            area += 1 - false * math.log((before + 1) / before) if before else 1
            true += 1
        else:
            false += 1
    return area / true


@pytest.mark.parametrize("seed", range(5))
def test_areas_equal_slow_oracles(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(150) < 0.1
    truth[0] = True
    distinct = rng.permutation(150) + rng.random(150)
    tied = rng.integers(0, 12, 150).astype(float)
    assert score_ranking(distinct, truth).aupr == pytest.approx(dream_area(distinct, truth))
    for weights in (distinct, tied):
        expected = roc_auc_score(truth, weights)
        assert score_ranking(weights, truth).auroc == pytest.approx(expected, abs=1e-12)


def test_equal_weights_are_in_random_order():
    truth = np.array([True, False, False, False] * 50)
    result = score_ranking(np.zeros(200), truth)
    assert result.auroc == 0.5
    assert result.aupr == pytest.approx(0.25)
    assert result.early_precision == pytest.approx(0.25)


def test_ties_are_the_limit_of_random_orders():
    """Small random differences between equal weights give on average the area of ties."""
    rng = np.random.default_rng(0)
    weights = np.repeat([3.0, 2.0, 1.0], [400, 600, 1000])
    truth = rng.random(2000) < np.repeat([0.5, 0.2, 0.05], [400, 600, 1000])
    tied = score_ranking(weights, truth).aupr
    drawn = [dream_area(weights + 0.5 * rng.random(2000), truth) for _ in range(30)]
    assert tied == pytest.approx(np.mean(drawn), abs=0.005)


def test_perfect_and_inverted_order():
    truth = np.array([True, True, False, False, False])
    best = score_ranking(np.arange(5.0)[::-1], truth)
    assert (best.auroc, best.aupr, best.early_precision) == (1, 1, 1)
    assert score_ranking(np.arange(5.0), truth).auroc == 0


def network(p=6, seed=0, **options):
    weights = np.random.default_rng(seed).random((p, p))
    np.fill_diagonal(weights, 0)
    return Network(tuple(f"g{i}" for i in range(p)), weights, **options)


def test_all_forms_of_a_gold_standard_score_alike():
    actual = network()
    links = np.zeros((6, 6), dtype=bool)
    links[0, 1] = links[2, 3] = links[4, 0] = True
    pairs = [(f"g{i}", f"g{j}") for i, j in zip(*np.nonzero(links), strict=True)]
    table = pd.DataFrame(pairs, columns=["regulator", "target"])
    full = [(f"g{i}", f"g{j}", int(links[i, j])) for i in range(6) for j in range(6) if i != j]
    expected = actual.score(links)
    assert expected.n_pairs == 30
    for gold in (pairs, table, full, [*pairs, ("unknown", "g1")]):
        assert actual.score(gold).equals(expected)
    assert actual.score(full, pairs="listed").equals(expected)


def test_undirected_networks_count_each_pair_once():
    result = network().undirected()
    assert result.n_candidates == 15
    assert result.score([("g1", "g0"), ("g0", "g2")]).n_pairs == 15


def test_dream5_scores_the_pairs_of_gold_and_credits_missing_ones_at_chance():
    sources = np.array([True, True, False, False, False, False])
    weights = np.zeros((6, 6))
    weights[:2] = np.arange(12).reshape(2, 6) + 1.0
    np.fill_diagonal(weights, 0)
    result = Network(tuple("abcdef"), weights, sources)
    # Links of a, b and c; c is no source of the network: its pairs come last, in random order.
    gold = [("a", "f"), ("b", "e"), ("c", "d")]
    scores = result.score(gold, pairs="dream5")
    assert scores.n_pairs == 3 * 5
    assert scores.n_true == 3
    assert scores.true_positives[-1] - scores.true_positives[-2] == 1
    assert scores.ranked[-1] - scores.ranked[-2] == 5


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([("x", "y")], "contains no pair"),
        ([], "contains no pair"),
        ([("g0",)], "2 or 3 columns"),
        (np.ones((6, 6), dtype=bool), "but not all, of"),
        (np.zeros((6, 6), dtype=bool), "got 0"),
    ],
)
def test_refuses_gold_that_cannot_be_scored(gold, message):
    with pytest.raises(ValueError, match=message):
        network().score(gold)
