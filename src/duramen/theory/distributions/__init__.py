"""Finite joint distributions: construction, information, discretization and named examples."""

from duramen.theory.distributions import examples, specification
from duramen.theory.distributions.bayes_models import BayesModel, bayes_model
from duramen.theory.distributions.discretization import Discretized, discretize
from duramen.theory.distributions.finite_distribution import FiniteDistribution, Sample
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.specification import specify
from duramen.theory.distributions.variables import CONTEXT, TARGET

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
