"""Results of computations: printed, drawn, made a data frame, saved and loaded."""

from duramen.results.adjusted_significance import AdjustedSignificance
from duramen.results.context_importances import ContextImportances
from duramen.results.context_network import ContextNetwork
from duramen.results.error_rates import ErrorRates
from duramen.results.importances import Importances
from duramen.results.intervals import Intervals
from duramen.results.monte_carlo import MonteCarloSelection
from duramen.results.replacing import replacing
from duramen.results.significance import Significance

__all__ = [
    "AdjustedSignificance",
    "ContextImportances",
    "ContextNetwork",
    "ErrorRates",
    "Importances",
    "Intervals",
    "MonteCarloSelection",
    "Significance",
    "replacing",
]
