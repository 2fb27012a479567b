"""Results as matplotlib axes. Nothing here touches pyplot or its settings."""

from duramen.plots.comparison import parallel_ranks, rank_correlations
from duramen.plots.context import context_effects, context_links
from duramen.plots.degrees import by_degree
from duramen.plots.found import found
from duramen.plots.oob import oob_error
from duramen.plots.p_values import p_values
from duramen.plots.ranking import ranking

__all__ = [
    "by_degree",
    "context_effects",
    "context_links",
    "found",
    "oob_error",
    "p_values",
    "parallel_ranks",
    "rank_correlations",
    "ranking",
]
