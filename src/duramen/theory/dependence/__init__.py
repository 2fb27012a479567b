"""Relevance, redundancy, Markov boundaries and context-dependence of features."""

from duramen.theory.dependence.assumptions import (
    Counterexample,
    Faithfulness,
    Properties,
    d_separated,
    faithfulness,
    properties,
)
from duramen.theory.dependence.contexts import (
    ContextDependence,
    ContextWitness,
    context_dependence,
    feature_context_dependence,
)
from duramen.theory.dependence.redundant_features import (
    Redundancy,
    degree_of_redundancy,
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
    strong_informations,
    strongly_relevant,
)

__all__ = [
    "ContextDependence",
    "ContextWitness",
    "Counterexample",
    "Faithfulness",
    "Properties",
    "Redundancy",
    "Relevance",
    "all_relevant",
    "conditioning_order",
    "context_dependence",
    "d_separated",
    "degree_of_redundancy",
    "faithfulness",
    "feature_context_dependence",
    "feature_relevance",
    "markov_boundaries",
    "minimal_optimal",
    "properties",
    "redundancy",
    "relevance",
    "strong_informations",
    "strongly_relevant",
]
