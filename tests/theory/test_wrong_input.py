"""Refusals with common messages in all functions."""

import numpy as np
import pytest
from tests.grid import one_test

from duramen import theory
from duramen.theory.dependence import feature_relevance, minimal_optimal
from duramen.theory.population import gaussian_mda, last_level_importances, lattice_cost
from duramen.theory.subspaces import simulate


@one_test
@pytest.mark.parametrize(
    "function",
    [
        theory.relevance,
        feature_relevance,
        theory.markov_boundaries,
        minimal_optimal,
        theory.redundancy,
        theory.properties,
        theory.population_importances,
        lattice_cost,
        last_level_importances,
    ],
)
def test_a_table_is_no_distribution(function):
    with pytest.raises(TypeError, match="dist must be a FiniteDistribution, got ndarray"):
        function(np.zeros((4, 2)))


DIST = theory.examples.noisy_copy(0.05)


@one_test
@pytest.mark.parametrize(
    "function",
    [
        lambda some: DIST.entropy(some),
        lambda some: DIST.mutual_information("X3", some, other="X1"),
        lambda some: DIST.marginal(some).names,
        lambda some: theory.redundancy(DIST).redundant_to("X3", some),
        lambda some: theory.total_sobol_indices(DIST, feature_groups={"a": some}).values,
        lambda some: theory.population_mda(DIST, given={"X1": some}).values,
        lambda some: gaussian_mda([[1]], [1], names=["X2"], feature_groups={"a": some}).values,
    ],
)
def test_one_variable_is_a_list_of_one(function):
    np.testing.assert_equal(function("X2"), function(["X2"]))


def test_names_are_no_string():
    with pytest.raises(ValueError, match="names must be a list of 2 names, got 'ab'"):
        gaussian_mda(np.eye(2), [1, 2], names="ab")


def test_the_function_that_was_called_is_named(monkeypatch):
    with pytest.raises(ValueError, match=r"simulate: scenario must be one of .*, got 'ring'"):
        simulate("ring", n_relevant=2, n_features=9, subspace=3, keep=0, n_trees=5)
    monkeypatch.setattr("duramen.theory.population.recursion.MOST_NODES", 3)
    monkeypatch.setattr("duramen.theory.population.accuracy.MOST_NODES", 3)
    for function in ("population_importances", "population_mda"):
        with pytest.raises(ValueError, match=f"{function}: trees have more than 3 distinct nodes"):
            getattr(theory, function)(theory.examples.digits7(), max_features=2)


def test_thousands_of_features_are_refused_with_a_depth_within_reach():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (40, 2500)), random.integers(0, 2, 40)
    genes = theory.FiniteDistribution.from_table(X, y)
    with pytest.raises(ValueError, match=r"2\^2500 subsets, longer than a lifetime.* max_depth="):
        theory.population_importances(genes)
    cost = lattice_cost(genes, 2)
    assert cost.n_subsets == 1 + 2500 + 2500 * 2499 // 2
    assert len(cost.by_size) == 2
