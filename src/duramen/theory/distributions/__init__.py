"""Finite joint distributions: construction, information, discretization and named examples."""

from duramen.theory.distributions import examples, specification
from duramen.theory.distributions.discretization import Discretized, discretize
from duramen.theory.distributions.finite_distribution import (
    CONTEXT,
    TARGET,
    BayesModel,
    FiniteDistribution,
    Sample,
    bayes_model,
)
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.specification import specify

__all__ = [
    "CONTEXT",
    "TARGET",
    "TOLERANCE",
    "BayesModel",
    "Discretized",
    "FiniteDistribution",
    "Sample",
    "bayes_model",
    "discretize",
    "examples",
    "specification",
    "specify",
]
