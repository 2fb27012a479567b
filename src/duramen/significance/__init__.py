"""Thresholds, p-values and error rates of importances; what is tested is in each name."""

from duramen.results import AdjustedSignificance, ErrorRates, Intervals, Significance
from duramen.significance.altmann import altmann
from duramen.significance.conditional_error_rate import conditional_error_rate
from duramen.significance.confidence_intervals import confidence_intervals
from duramen.significance.cost import Cost, estimate_cost
from duramen.significance.fdr_curve import fdr_curve
from duramen.significance.frequency_control import frequency_control
from duramen.significance.hapfelmeier import hapfelmeier
from duramen.significance.janitza import janitza
from duramen.significance.max_t import max_t
from duramen.significance.mean_rank_test import mean_rank_test
from duramen.significance.multiple_probes import multiple_probes
from duramen.significance.one_probe import one_probe
from duramen.significance.permutation_test import permutation_test
from duramen.significance.probe_ranking import forest_probe_ranking, probe_ranking
from duramen.significance.stability import Stability, ranking_stability, stability
from duramen.significance.trees_needed import TreesNeeded, trees_needed
from duramen.significance.z_scores import z_scores

__all__ = [
    "AdjustedSignificance",
    "Cost",
    "ErrorRates",
    "Intervals",
    "Significance",
    "Stability",
    "TreesNeeded",
    "altmann",
    "conditional_error_rate",
    "confidence_intervals",
    "estimate_cost",
    "fdr_curve",
    "forest_probe_ranking",
    "frequency_control",
    "hapfelmeier",
    "janitza",
    "max_t",
    "mean_rank_test",
    "multiple_probes",
    "one_probe",
    "permutation_test",
    "probe_ranking",
    "ranking_stability",
    "stability",
    "trees_needed",
    "z_scores",
]
