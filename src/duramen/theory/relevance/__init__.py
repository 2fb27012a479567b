"""Relevance, redundancy, Markov boundaries and context-dependence of features."""

from duramen.theory.relevance.boundaries import markov_boundaries, minimal_optimal
from duramen.theory.relevance.context_dependence import (
    ContextDependence,
    ContextWitness,
    context_dependence,
    feature_context_dependence,
)
from duramen.theory.relevance.faithfulness import Faithfulness, d_separated, faithfulness
from duramen.theory.relevance.ordering import conditioning_order
from duramen.theory.relevance.properties import Counterexample, Properties, properties
from duramen.theory.relevance.redundancy import Redundancy, degree_of_redundancy, redundancy
from duramen.theory.relevance.relevance import (
    Relevance,
    all_relevant,
    feature_relevance,
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
