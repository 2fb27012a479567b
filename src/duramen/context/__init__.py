"""Context analysis: importances of features that depend on a context."""

from duramen.context.analysis import context_importances
from duramen.context.kernel_weights import KernelWeights
from duramen.context.network import context_network
from duramen.context.propensity import propensity_strata

__all__ = [
    "KernelWeights",
    "context_importances",
    "context_network",
    "propensity_strata",
]
