"""Claims of docs/biases/masking.md."""

import numpy as np
import pytest
from benchmarks.biases import masking
from benchmarks.biases.masking import root_probability

import duramen as dm
from duramen.theory import population_importances, specify
from duramen.theory.distributions.specification import copy, uniform


def test_probability_at_the_root_is_that_of_the_theory():
    agreements = (0.95, 0.9, 0.8, 0.7)
    copies = {f"X{j}": copy("Y", a) for j, a in enumerate(agreements)}
    dist = specify({"Y": uniform(2), **copies})
    alone = [dist.mutual_information(j) for j in range(4)]
    for K in range(1, 5):
        root = population_importances(dist, max_features=K, max_depth=1).values
        expected = [root_probability(rank, 4, K) for rank in range(1, 5)]
        assert np.allclose(root / alone, expected)
        assert np.isclose(sum(expected), 1)


def test_a_masked_feature_has_the_importance_of_an_irrelevant_one():
    rows = {(row[0], row[1]): row[2:] for row in masking.masked_copy().rows}
    assert rows[2, 0][1] == rows[6, 4][1] == 0  # K = p
    assert rows[1, 0][1] > 0.26
    damped = [rows[2, n][1] for n in (0, 1, 2, 4)]
    assert damped == sorted(damped)
    assert damped[-1] < rows[1, 4][1]
    assert np.allclose([row[2:] for row in rows.values()], [0.5, 0])  # MDA


def test_masking_makes_small_differences_large():
    ratios = [row[-1] for row in masking.rivals().rows]
    assert ratios == sorted(ratios)
    assert ratios[0] < 1.7
    assert ratios[-1] > 9.8


def test_the_exact_values_are_limits_of_forests():
    X, y = masking.copied(1).sample(4000, seed=0)[:2]
    dist = dm.theory.FiniteDistribution.from_table(X, y)
    exact = population_importances(dist, max_features=2).values
    settings = {"criterion": "entropy", "splits": "multiway", "max_features": 2}
    forest = dm.ExtraTreesClassifier(300, random_state=0, **settings).fit(X, y)
    importances = dm.importances.mdi(forest)
    assert np.all(np.abs(importances.values - exact) < 4 * importances.standard_error + 1e-9)


@pytest.mark.slow
def test_a_masked_feature_is_found_by_few_candidates_and_not_by_all():
    rows = {row[0]: row[1:] for row in masking.found_by_candidates(8, seed=1).rows}
    ahead = [rows[K][3] for K in (1, 2, 4)]
    assert ahead == [1, 1, 1]
    assert rows[12][3] < 0.2  # MDI
    assert rows[12][1] < rows[12][2]  # less than an irrelevant feature
    assert max(rows[12][4:6]) < 0.9  # nor by out-of-bag rows or MDA
    assert rows[12][6] == 1
