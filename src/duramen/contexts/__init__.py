"""Context analysis: importances of features that depend on a context."""

from duramen.contexts.analysis import context_importances
from duramen.contexts.kernel_weights import KernelWeights
from duramen.contexts.network import context_network
from duramen.contexts.propensity import propensity_strata

__all__ = [
    "KernelWeights",
    "context_importances",
    "context_network",
    "propensity_strata",
]
