"""Exact theory of finite distributions: relevance, and importances of infinitely many trees."""

from duramen.theory import distributions, population, samples, subspaces
from duramen.theory.dependence import (
    context_dependence,
    markov_boundaries,
    population_context_importances,
    properties,
    redundancy,
    relevance,
)
from duramen.theory.distributions import (
    CONTEXT,
    TARGET,
    FiniteDistribution,
    discretize,
    examples,
    specify,
)
from duramen.theory.population import (
    population_importances,
    population_interactions,
    population_local_mdi,
    population_mda,
    shapley_effects,
    total_sobol_indices,
)
from duramen.theory.subspaces import expected_trees, found_curve, search_plan

__all__ = [
    "CONTEXT",
    "TARGET",
    "FiniteDistribution",
    "context_dependence",
    "discretize",
    "distributions",
    "examples",
    "expected_trees",
    "found_curve",
    "markov_boundaries",
    "population",
    "population_context_importances",
    "population_importances",
    "population_interactions",
    "population_local_mdi",
    "population_mda",
    "properties",
    "redundancy",
    "relevance",
    "samples",
    "search_plan",
    "shapley_effects",
    "specify",
    "subspaces",
    "total_sobol_indices",
]
