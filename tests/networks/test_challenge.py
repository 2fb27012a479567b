"""Scores over several networks: null distributions against slow oracles."""

import numpy as np
import pytest
from scipy import stats

import duramen as dm
from duramen.networks import challenge_score
from duramen.networks.challenge import _tail, random_areas
from duramen.results.network_scores import score_ranking


def test_random_areas_are_those_of_random_orders():
    rng = np.random.default_rng(0)
    fast = random_areas(12, 90, 4000, rng)
    truth = np.arange(90) < 12
    slow = [score_ranking(rng.permutation(90).astype(float), truth).aupr for _ in range(4000)]
    assert stats.ks_2samp(fast, slow).pvalue > 0.01


def test_p_value_of_the_roc_curve_is_that_of_the_rank_sum():
    rng = np.random.default_rng(1)
    weights, truth = rng.random(300), rng.random(300) < 0.2
    weights[truth] += 0.2
    score = score_ranking(weights, truth)
    actual = challenge_score({"a": score}, n_random=1000)
    expected = stats.mannwhitneyu(
        weights[truth],
        weights[~truth],
        alternative="greater",
        use_continuity=False,
        method="asymptotic",
    ).pvalue
    assert 10 ** actual.log10_p_auroc[0] == pytest.approx(expected)


@pytest.mark.slow
def test_tail_is_monotone_and_larger_than_the_truth():
    null = np.sort(random_areas(20, 400, 20_000, np.random.default_rng(2)))
    held_out = np.sort(random_areas(20, 400, 100_000, np.random.default_rng(3)))
    for level in (1e-2, 1e-3, 2e-4):
        area = held_out[int((1 - level) * len(held_out))]
        log_p, _ = _tail(area, null)
        assert np.log10(level) - 0.3 < log_p < np.log10(level) + 0.6
    areas = np.linspace(0.05, 0.9, 50)
    logs = [_tail(area, null)[0] for area in areas]
    assert (np.diff(logs) <= 1e-9).all()


def test_score_is_the_mean_over_networks_and_curves():
    rng = np.random.default_rng(4)
    truth = rng.random(200) < 0.1
    scores = {name: score_ranking(rng.random(200) + 0.3 * truth, truth) for name in ("one", "two")}
    result = challenge_score(scores, n_random=2000)
    mean = np.mean(result.log10_p_auroc) + np.mean(result.log10_p_aupr)
    assert result.score == pytest.approx(-0.5 * mean)
    assert result.names == ("one", "two")
    assert "two" in repr(result)
    with pytest.raises(ValueError, match="one network"):
        challenge_score({})
    assert dm.networks.challenge_score(scores, n_random=2000).equals(result)
