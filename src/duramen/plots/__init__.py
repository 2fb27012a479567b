"""Results as matplotlib axes. Nothing here touches pyplot or its settings."""

from duramen.plots.chromosomes import MANHATTAN, manhattan
from duramen.plots.comparison import (
    PARALLEL_RANKS,
    RANK_CORRELATIONS,
    parallel_ranks,
    rank_correlations,
)
from duramen.plots.connectome import COMPONENT_SPECTRUM, calcium_stages, component_spectrum
from duramen.plots.context import (
    CONTEXT_EFFECTS,
    CONTEXT_LINKS,
    EFFECTS_IN_CONTEXT,
    LINKS_IN_CONTEXT,
    context_effects,
    context_links,
    effects_in_context,
    links_in_context,
)
from duramen.plots.degrees import BY_DEGREE, by_degree
from duramen.plots.effects import EFFECT, effect
from duramen.plots.found_features import FOUND, found
from duramen.plots.network import (
    NETWORK_GRAPH,
    PRECISION_RECALL,
    ROC,
    network_graph,
    precision_recall,
    roc,
)
from duramen.plots.oob import OOB_ERROR, oob_error
from duramen.plots.p_value_histogram import P_VALUES, p_values
from duramen.plots.rankings import RANKING, ranking
from duramen.plots.selection import SELECTION_CURVES, selection_curves
from duramen.plots.target import AGAINST_TARGET, against_target
from duramen.results.figures import FIGURES

__all__ = [
    "against_target",
    "by_degree",
    "calcium_stages",
    "component_spectrum",
    "context_effects",
    "context_links",
    "effect",
    "effects_in_context",
    "found",
    "links_in_context",
    "manhattan",
    "network_graph",
    "oob_error",
    "p_values",
    "parallel_ranks",
    "precision_recall",
    "rank_correlations",
    "ranking",
    "roc",
    "selection_curves",
]

# The first that fits a result is what its method `plot` draws by default.
for _figure in (
    P_VALUES,
    RANKING,
    BY_DEGREE,
    RANK_CORRELATIONS,
    PARALLEL_RANKS,
    CONTEXT_EFFECTS,
    EFFECTS_IN_CONTEXT,
    CONTEXT_LINKS,
    LINKS_IN_CONTEXT,
    NETWORK_GRAPH,
    PRECISION_RECALL,
    ROC,
    COMPONENT_SPECTRUM,
    EFFECT,
    SELECTION_CURVES,
    AGAINST_TARGET,
    FOUND,
    MANHATTAN,
    OOB_ERROR,
):
    FIGURES.register(_figure)
