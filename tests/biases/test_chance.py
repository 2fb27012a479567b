"""Expected importances of irrelevant features against enumeration, and flatness of means."""

from itertools import product

import numpy as np
import pytest
from benchmarks.biases import allele_frequency, cardinality
from benchmarks.biases.chance import (
    flatness,
    mean_diversity,
    mean_gini,
    mean_information,
    simulated,
)

import duramen as dm

DISTRIBUTIONS = [
    ([0.5, 0.5], [0.5, 0.5]),
    ([0.7, 0.2, 0.1], [0.8, 0.2]),
    (allele_frequency.genotypes(0.1), [0.9, 0.1]),
]


def over_samples(values, classes, n, of):
    """Mean of a function of a sample, over all samples of n independent rows."""
    cells = list(product(range(len(values)), range(len(classes))))
    total = 0.0
    for rows in product(cells, repeat=n):
        chance = np.prod([values[x] * classes[y] for x, y in rows])
        x, y = np.array(rows).T
        total += chance * of(x, y)
    return total


def gini_decrease(x, y):
    def gini(labels):
        return 1 - np.sum((np.bincount(labels) / len(labels)) ** 2)

    return gini(y) - sum(np.mean(x == value) * gini(y[x == value]) for value in np.unique(x))


@pytest.mark.parametrize(("values", "classes"), DISTRIBUTIONS)
def test_means_are_those_over_all_samples(values, classes):
    def information(x, y):
        table = dm.theory.FiniteDistribution.from_table(x[:, np.newaxis], y)
        return table.mutual_information(0)

    n = 3
    assert mean_information(values, classes, n) == pytest.approx(
        over_samples(values, classes, n, information), abs=1e-12
    )
    assert mean_gini(values, classes, n) == pytest.approx(
        over_samples(values, classes, n, gini_decrease), abs=1e-12
    )
    assert mean_diversity(values, n) == pytest.approx(
        over_samples(values, classes, n, lambda x, y: len(np.unique(x)) - 1), abs=1e-12
    )


def test_the_distribution_over_samples_has_that_mean():
    values = allele_frequency.genotypes(0.2)
    bits, chances = allele_frequency.information_of_samples(values, 0.5, 8)
    assert chances.sum() == pytest.approx(1)
    assert chances @ bits == pytest.approx(mean_information(values, [0.5, 0.5], 8))


def test_cuts_of_two_values_are_multiway_splits():
    for row in cardinality.best_cut(6).rows:
        _, cuts, multiway, random_cut, best = row
        assert multiway + 1e-12 >= best >= random_cut
        if cuts == 1:
            assert multiway == best == random_cut


def test_flatness_is_that_of_known_means():
    values = np.random.default_rng(0).normal([0.0, 0.0, 0.3], size=(4000, 3))
    size, score = flatness(values, [[0], [1], [2]])
    assert size == pytest.approx(0.2, abs=0.03)
    assert 10 < score < 20
    assert flatness(np.ones((5, 2)), [[0], [1]]) == (0.0, 0.0)


def test_simulations_depend_on_the_seed_alone():
    def task(random, seed):
        return [[random.random(), seed % 7]]

    first = simulated(task, 4, 1)
    assert first.shape == (4, 1, 2)
    assert np.array_equal(first[:3], simulated(task, 3, 1))
    assert not np.array_equal(first, simulated(task, 4, 2))
