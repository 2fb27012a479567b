"""Thresholds, p-values and error rates of importances; what is tested is in each name."""

from duramen.catalogue import Catalogue
from duramen.results import AdjustedSignificance, ErrorRates, Intervals, Significance
from duramen.significance.altmann import ALTMANN, altmann
from duramen.significance.conditional_error_rate import (
    CONDITIONAL_ERROR_RATE,
    conditional_error_rate,
)
from duramen.significance.confidence_intervals import confidence_intervals
from duramen.significance.cost import Cost, estimate_cost
from duramen.significance.fdr_curve import FDR_CURVE, fdr_curve
from duramen.significance.frequency_control import FREQUENCY_CONTROL, frequency_control
from duramen.significance.hapfelmeier import HAPFELMEIER, hapfelmeier
from duramen.significance.janitza import JANITZA, janitza
from duramen.significance.max_t import MAX_T, max_t
from duramen.significance.mean_rank_test import MEAN_RANK_TEST, mean_rank_test
from duramen.significance.multiple_probes import MULTIPLE_PROBES, multiple_probes
from duramen.significance.one_probe import ONE_PROBE, one_probe
from duramen.significance.permutation_test import permutation_test
from duramen.significance.probe_ranking import forest_probe_ranking, probe_ranking
from duramen.significance.significance_test import SignificanceTest
from duramen.significance.stability import Stability, ranking_stability, stability
from duramen.significance.trees_needed import TreesNeeded, trees_needed
from duramen.significance.z_scores import z_scores

__all__ = [
    "AdjustedSignificance",
    "Cost",
    "ErrorRates",
    "Intervals",
    "Significance",
    "SignificanceTest",
    "Stability",
    "TreesNeeded",
    "altmann",
    "catalogue",
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

catalogue = Catalogue(
    "significance test",
    (
        *(MAX_T, ALTMANN, JANITZA, MULTIPLE_PROBES, ONE_PROBE, CONDITIONAL_ERROR_RATE, FDR_CURVE),
        *(FREQUENCY_CONTROL, HAPFELMEIER, MEAN_RANK_TEST),
    ),
)
"""All significance tests that ``duramen rank`` can run; ``register`` adds one."""
