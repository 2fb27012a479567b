"""Results as matplotlib axes. Nothing here touches pyplot or its settings."""

from duramen.plots.chromosomes import manhattan
from duramen.plots.comparison import parallel_ranks, rank_correlations
from duramen.plots.connectome import calcium_stages, component_spectrum
from duramen.plots.context import (
    context_effects,
    context_links,
    effects_in_context,
    links_in_context,
)
from duramen.plots.degrees import by_degree
from duramen.plots.effects import effect
from duramen.plots.found_features import found
from duramen.plots.network import network_graph, precision_recall, roc
from duramen.plots.oob import oob_error
from duramen.plots.p_value_histogram import p_values
from duramen.plots.rankings import ranking
from duramen.plots.selection import selection_curves
from duramen.plots.target import against_target
from duramen.results.figures import FIGURES, ResultFigure

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
for _draw, _of in (
    (p_values, ("Significance",)),
    (ranking, ("FeatureResult", "MonteCarloSelection", "PermutedImportances")),
    (by_degree, ("Importances",)),
    (rank_correlations, ("Comparison",)),
    (parallel_ranks, ("Comparison",)),
    (context_effects, ("ContextImportances",)),
    (effects_in_context, ("ContextImportances",)),
    (context_links, ("ContextNetwork",)),
    (links_in_context, ("ContextNetwork",)),
    (network_graph, ("Network",)),
    (precision_recall, ("NetworkScores",)),
    (roc, ("NetworkScores",)),
    (component_spectrum, ("Components",)),
    (effect, ("FeatureEffect",)),
    (selection_curves, ("SelectionEvaluation",)),
):
    _panels = _draw in (context_effects, context_links)
    FIGURES.register(ResultFigure(_draw.__name__, _draw, _of, _panels))
