"""Connectome inference: calcium signals, their association, and the links between neurons."""

from duramen.networks.connectome.correlations import (
    Components,
    components,
    correlation,
    covariance,
    partial_correlation,
)
from duramen.networks.connectome.direction import (
    directed,
    generalized_transfer_entropy,
    precedence,
    transfer_entropy,
)
from duramen.networks.connectome.filters import (
    difference,
    emphasize,
    hard_threshold,
    low_pass,
    power,
)
from duramen.networks.connectome.methods import METHODS

__all__ = [
    "METHODS",
    "Components",
    "components",
    "correlation",
    "covariance",
    "difference",
    "directed",
    "emphasize",
    "generalized_transfer_entropy",
    "hard_threshold",
    "low_pass",
    "partial_correlation",
    "power",
    "precedence",
    "transfer_entropy",
]
