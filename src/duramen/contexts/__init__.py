"""Context analysis: importances of features that depend on a context."""

from duramen.contexts.importances import context_importances
from duramen.contexts.network import context_network
from duramen.contexts.values import KernelWeights, propensity_strata

__all__ = [
    "KernelWeights",
    "context_importances",
    "context_network",
    "propensity_strata",
]
