import numpy as np
import pytest
from tests.significance.noise import TINY, noise, scripted

from duramen.significance import mean_rank_test

# --- ranks and p-values --------------------------------------------------------------------------


def test_known_answer_under_permutation():
    X, y = noise(0, n=20, p=3)
    observed = [[3, 2, 1], [3, 2, 1]]
    permuted = [[[1, 2, 3], [3, 1, 2]], [[3, 2, 1], [3, 2, 1]], [[1, 1, 1], [1, 1, 1]]]
    runs = [*observed, *[run for pair in permuted for run in pair]]
    result = mean_rank_test(TINY, X, y, measure=scripted(runs), n_resamples=2, n_permutations=3)
    # Mean ranks 1, 2, 3; permuted: 2 2.5 1.5, then 1 2 3 (ties count), then 2 2 2.
    np.testing.assert_allclose(result.p_values, [2 / 4, 3 / 4, 4 / 4])
    np.testing.assert_allclose(result.scores, [1, 0.5, 0])
    np.testing.assert_allclose(result.details["mean_rank"], [1, 2, 3])
    np.testing.assert_allclose(result.details["sd_rank"], 0)


def test_runs_see_subsamples_of_every_class_and_permuted_targets():
    X = np.arange(50.0)[:, np.newaxis] * np.ones((1, 2))
    y = np.array(["a"] * 30 + ["b"] * 20)
    unpermuted, seen = [], []

    def look(forest, table, labels):
        rows = table.values(0)[table.codes(0)].astype(int)
        assert len(np.unique(rows)) == len(rows) == 25
        assert np.count_nonzero(labels == "a") == 15
        seen.append(tuple(rows))
        unpermuted.append(np.array_equal(labels, y[rows]))
        return np.zeros(2)

    mean_rank_test(TINY, X, y, measure=look, n_resamples=3, n_permutations=4, subsample=25)
    assert unpermuted == [True] * 3 + [False] * 12
    assert len(set(seen)) == 15
    result = mean_rank_test(TINY, X, y, measure="frequency", n_resamples=1, n_permutations=1)
    assert result.metadata["n_rows_drawn"] == 32


# --- the run -------------------------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    X, y = noise(0, n=20, p=3)
    with pytest.raises(ValueError, match="mean_rank_test: subsample must leave some"):
        mean_rank_test(TINY, X, y, subsample=20)
    with pytest.raises(ValueError, match="mean_rank_test: ranks need two features or more, got 1"):
        mean_rank_test(TINY, X[:, :1], y)
