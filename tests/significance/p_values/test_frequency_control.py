import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import probes as oracle
from tests.significance.noise import band, noise, signal

import duramen as dm
from duramen.importances import frequency
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.significance import altmann, frequency_control
from duramen.significance.importance_tests import split_probability

# --- the binomial distribution -------------------------------------------------------------------


def test_known_answer_of_the_probability_of_a_split():
    assert split_probability(30, 5, 4) == pytest.approx(0.01775, abs=5e-6)
    assert split_probability(30, 5) == pytest.approx(1 / 30)
    assert split_probability(30, 27, 4) == 0.0  # a winner is always there


@one_test
@pytest.mark.parametrize(("p", "k"), [(5, 1), (5, 2), (6, 3), (7, 5), (4, 4)])
def test_probability_of_a_split_by_counting_draws(p, k):
    for winners in range(p):
        expected = oracle.win_probability(p, k, winners)
        assert split_probability(p, k, winners) == pytest.approx(expected, abs=1e-14)


def test_tails_against_the_binomial_distribution_term_by_term():
    X, y = noise(0, n=40, p=6)
    model = dm.RandomForestClassifier(4, max_features=3)
    result = frequency_control(model, X, y, null="binomial", n_winners=2, random_state=1)
    total = result.metadata["n_splits"]
    p0 = oracle.win_probability(6, 3, 2)
    counts = result.details["count"].astype(int).tolist()
    expected = [oracle.upper_binomial(count, total, p0) for count in counts]
    np.testing.assert_allclose(result.p_values, expected, rtol=1e-9)
    np.testing.assert_allclose(result.details["expected"], total * p0)
    seed = replicate_seed(result.metadata["seed"], OBSERVED) % 2**32
    forest = model.set_params(random_state=seed).fit(X, y)
    np.testing.assert_allclose(result.scores, frequency(forest).values)
    assert sum(counts) == total
    assert result.metadata["p0"] == pytest.approx(p0)
    assert f"{p0:.4g}" in result.null


def test_one_candidate_takes_the_binomial_distribution_by_default():
    X, y = noise(0)
    model = dm.ExtraTreesClassifier(20, max_features=1)
    result = frequency_control(model, X, y, random_state=3)
    assert result.metadata["null"] == "binomial"
    assert "columns that can be split in every branch" in result.notes[0]
    assert frequency_control(model, dm.learning_set(X, y), random_state=3).equals(result)
    pert = frequency_control(dm.PERTClassifier(5), X, y, random_state=0)
    assert pert.metadata["max_features"] == 1


# --- permuted targets ----------------------------------------------------------------------------


def test_more_candidates_take_permuted_targets_by_default():
    X, y = signal()
    forest = dm.RandomForestClassifier(30)
    result = frequency_control(forest, X, y, n_permutations=39, random_state=2)
    assert result.metadata["null"] == "permuted"
    assert set(result.selected(0.05, "none")) == {"x0", "x1"}
    same = altmann(forest, X, y, measure="frequency", n_permutations=39, random_state=2)
    np.testing.assert_allclose(result.p_values, same.p_values)
    np.testing.assert_allclose(result.scores, same.scores)
    total = result.details["count"].sum()
    np.testing.assert_allclose(result.details["count"] / total, result.scores)
    np.testing.assert_allclose(result.details["expected"].sum(), total)


# --- refusals ------------------------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    X, y = noise(0, n=20, p=3)
    several = dm.RandomForestClassifier(2, max_features=2, random_state=0)
    for options in ({"null": "binomial", "n_winners": 3}, {"n_winners": 1, "n_permutations": 1}):
        with pytest.raises(ValueError, match=r"n_winners must be less than .*, 3, and 0"):
            frequency_control(several, X, y, **options)
    subspaces = dm.RandomSubspaceClassifier(2, random_state=0)
    with pytest.raises(ValueError, match="the trees of this forest see 1 of 3 columns each"):
        frequency_control(subspaces, X, y, null="binomial")


# --- calibration ---------------------------------------------------------------------------------


def false_positives(max_features, n_trees, replicates=100):
    """Fraction of binomial p-values <= .05 in noise of 60 x 30."""
    small = []
    for seed in range(replicates):
        X, y = noise(seed)
        model = dm.RandomForestClassifier(n_trees, max_features=max_features)
        result = frequency_control(model, X, y, null="binomial", random_state=seed)
        small.append(np.mean(result.p_values <= 0.05))
    return np.mean(small)


@pytest.mark.slow
def test_binomial_distribution_keeps_the_level_for_one_candidate():
    """200 x 30 p-values: .05 within the band, less the steps of a distribution of counts."""
    assert 0.04 < false_positives(1, 100, 200) < 0.05 + band(0.05, 6000)


@pytest.mark.slow
def test_binomial_distribution_fails_for_more_candidates_the_more_trees_the_worse():
    few, many = false_positives(5, 50), false_positives(5, 1000)
    assert 0.06 < few < 0.12
    assert 0.2 < many < 0.3
