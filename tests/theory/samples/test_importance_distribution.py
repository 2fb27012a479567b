"""Distribution of importances over samples: all sequences of rows, exact means, known limits."""

import itertools
import math

import numpy as np
import pytest
from tests.theory.samples.test_information_tests import mean_plug_in

import duramen as dm
from duramen.theory.samples import (
    expected_information,
    importance_distribution,
    information_p_value,
)

ROWS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_moments_are_those_of_all_sequences_of_rows():
    """Each of the 5^3 sequences of 3 rows, with the product of its probabilities."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 1, 1, 0]
    weights = np.array([0.3, 0.2, 0.1, 0.25, 0.15])
    dist = dm.theory.FiniteDistribution.from_table(X, y, weights=weights)
    values, chances = [], []
    for drawn in itertools.product(range(5), repeat=3):
        sample = dm.theory.FiniteDistribution.from_table(
            [X[i] for i in drawn], [y[i] for i in drawn]
        )
        values.append(dm.theory.population_importances(sample).values)
        chances.append(math.prod(weights[list(drawn)]))
    values, chances = np.array(values), np.array(chances)
    result = importance_distribution(dist, 3)
    assert result.exact
    assert len(result.values) == math.comb(7, 4)
    assert result.probabilities.sum() == pytest.approx(1)
    mean = chances @ values
    np.testing.assert_allclose(result.mean(), mean, atol=1e-12)
    wanted = np.einsum("i,ij,ik->jk", chances, values - mean, values - mean)
    np.testing.assert_allclose(result.covariance(), wanted, atol=1e-12)
    for threshold in (0.0, 0.3, 1.0):
        tail = chances @ (values >= threshold - 1e-12)
        np.testing.assert_allclose(result.tail(threshold), tail, atol=1e-12)


COINS = dm.theory.FiniteDistribution.from_table([[0], [0], [1], [1]], [0, 1, 0, 1])


def test_the_mean_of_an_irrelevant_feature_is_that_of_binomials():
    exact = mean_plug_in(6, (0.5, 0.5), (0.5, 0.5)) / math.log(2)
    assert importance_distribution(COINS, 6).mean()[0] == pytest.approx(exact, abs=1e-12)


@pytest.mark.slow
def test_an_irrelevant_feature_alone_has_the_chi_square_distribution():
    """With 20 rows mean, variance and tail are those of chi-square up to terms of order 1 / N."""
    result = importance_distribution(COINS, 20)
    assert result.mean()[0] == pytest.approx(expected_information(20, 2, 2), rel=0.15)
    variance = 2 / (2 * 20 * math.log(2)) ** 2  # that of chi-square with one degree of freedom
    assert result.covariance()[0, 0] == pytest.approx(variance, rel=0.35)
    assert result.tail(0.1)[0] == pytest.approx(information_p_value(0.1, 20, 2, 2), abs=0.03)


def test_draws_approach_the_enumeration():
    """3,000 samples: five standard errors of the mean."""
    dist = dm.theory.FiniteDistribution.from_table(ROWS, [0, 1, 1, 0])
    exact = importance_distribution(dist, 5)
    drawn = importance_distribution(dist, 5, n_samples=3000, random_state=0)
    error = np.sqrt(np.diag(exact.covariance()) / 3000)
    assert (np.abs(drawn.mean() - exact.mean()) < 5 * error).all()
    again = importance_distribution(dist, 5, n_samples=3000, random_state=0)
    assert np.array_equal(drawn.values, again.values)


def test_refusals():
    dist = dm.theory.FiniteDistribution.from_table(ROWS, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="n_samples must be an int where there are more than"):
        importance_distribution(dist, 1000)
    with pytest.raises(ValueError, match="n_rows must be an int >= 1"):
        importance_distribution(dist, 0)
