"""Exact theory: finite distributions, relevance and the importances of infinitely many trees."""

from duramen.theory import examples, specification
from duramen.theory.additions import irrelevant_importances, redundant_importances
from duramen.theory.boundaries import markov_boundaries, minimal_optimal
from duramen.theory.context import population_context_importances
from duramen.theory.context_dependence import (
    ContextDependence,
    ContextWitness,
    context_dependence,
    feature_context_dependence,
)
from duramen.theory.convergence import (
    blind_probability,
    companions_probability,
    expected_trees,
    found_curve,
    found_distribution,
    transition_matrix,
    trees_to_find_all,
)
from duramen.theory.coverage import (
    all_seen_probability,
    draws_needed,
    expected_draws,
    unseen_probability,
)
from duramen.theory.discretization import Discretized, discretize
from duramen.theory.distribution import CONTEXT, TARGET, TOLERANCE, FiniteDistribution, Sample
from duramen.theory.finite_samples import (
    NodeTest,
    degrees_of_freedom,
    expected_information,
    information_p_value,
    information_threshold,
    miller_madow,
    node_test,
)
from duramen.theory.last_level import last_level_importances
from duramen.theory.lattice import LatticeCost, lattice_cost
from duramen.theory.permutation import additive_mda, block_mda, gaussian_mda
from duramen.theory.planning import Plan, PlanOption, plan
from duramen.theory.population import population_importances
from duramen.theory.properties import Counterexample, Properties, properties
from duramen.theory.recursion import tree_importances
from duramen.theory.redundancy import Redundancy, degree_of_redundancy, redundancy
from duramen.theory.relevance import (
    Relevance,
    all_relevant,
    feature_relevance,
    relevance,
    strong_informations,
    strongly_relevant,
)
from duramen.theory.simulation import (
    Simulation,
    named_conditionings,
    random_conditionings,
    simulate,
)
from duramen.theory.specification import specify
from duramen.theory.terms import ConditioningTerms, conditioning_terms

__all__ = [
    "CONTEXT",
    "TARGET",
    "TOLERANCE",
    "ConditioningTerms",
    "ContextDependence",
    "ContextWitness",
    "Counterexample",
    "Discretized",
    "FiniteDistribution",
    "LatticeCost",
    "NodeTest",
    "Plan",
    "PlanOption",
    "Properties",
    "Redundancy",
    "Relevance",
    "Sample",
    "Simulation",
    "additive_mda",
    "all_relevant",
    "all_seen_probability",
    "blind_probability",
    "block_mda",
    "companions_probability",
    "conditioning_terms",
    "context_dependence",
    "degree_of_redundancy",
    "degrees_of_freedom",
    "discretize",
    "draws_needed",
    "examples",
    "expected_draws",
    "expected_information",
    "expected_trees",
    "feature_context_dependence",
    "feature_relevance",
    "found_curve",
    "found_distribution",
    "gaussian_mda",
    "information_p_value",
    "information_threshold",
    "irrelevant_importances",
    "last_level_importances",
    "lattice_cost",
    "markov_boundaries",
    "miller_madow",
    "minimal_optimal",
    "named_conditionings",
    "node_test",
    "plan",
    "population_context_importances",
    "population_importances",
    "properties",
    "random_conditionings",
    "redundancy",
    "redundant_importances",
    "relevance",
    "simulate",
    "specification",
    "specify",
    "strong_informations",
    "strongly_relevant",
    "transition_matrix",
    "tree_importances",
    "trees_to_find_all",
    "unseen_probability",
]
