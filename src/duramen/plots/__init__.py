"""Results as matplotlib axes. Nothing here touches pyplot or its settings."""

from duramen.plots.context import context_effects, context_links
from duramen.plots.curves import found_curves, oob_error, selection_curves
from duramen.plots.effects import against_target, effect
from duramen.plots.importances import (
    by_degree,
    direct_features,
    manhattan,
    p_values,
    ranking,
)
from duramen.plots.local import beeswarm, waterfall
from duramen.plots.network import interaction_network, network_graph, precision_recall
from duramen.plots.samples import correlations, heat_map, row_map, volcano

__all__ = [
    "against_target",
    "beeswarm",
    "by_degree",
    "context_effects",
    "context_links",
    "correlations",
    "direct_features",
    "effect",
    "found_curves",
    "heat_map",
    "interaction_network",
    "manhattan",
    "network_graph",
    "oob_error",
    "p_values",
    "precision_recall",
    "ranking",
    "row_map",
    "selection_curves",
    "volcano",
    "waterfall",
]
