"""Relevance, redundancy, Markov boundaries and context-dependence of features."""

from duramen.theory.dependence.contexts import (
    ContextDependence,
    ContextWitness,
    context_dependence,
    feature_context_dependence,
    population_context_importances,
)
from duramen.theory.dependence.independences import (
    Counterexample,
    Properties,
    Redundancy,
    properties,
    redundancy,
)
from duramen.theory.dependence.relevant_features import (
    Relevance,
    all_relevant,
    conditioning_order,
    feature_relevance,
    markov_boundaries,
    minimal_optimal,
    relevance,
    strongly_relevant,
)

__all__ = [
    "ContextDependence",
    "ContextWitness",
    "Counterexample",
    "Properties",
    "Redundancy",
    "Relevance",
    "all_relevant",
    "conditioning_order",
    "context_dependence",
    "feature_context_dependence",
    "feature_relevance",
    "markov_boundaries",
    "minimal_optimal",
    "population_context_importances",
    "properties",
    "redundancy",
    "relevance",
    "strongly_relevant",
]
