"""P-values, error rates and intervals of importances."""

from duramen.catalogue import Catalogue
from duramen.data.covariates import covariate_strata
from duramen.results.conditional_significance import ConditionalSignificance
from duramen.results.importances import PermutedImportances
from duramen.results.significance import AdjustedSignificance, ErrorRates, Intervals
from duramen.significance.conditional_tests.conditional import CONDITIONAL, conditional
from duramen.significance.conditional_tests.knockoffs import knockoffs
from duramen.significance.conditional_tests.markov_chain import MarkovChain
from duramen.significance.cost import Cost, estimate_cost
from duramen.significance.error_rates.conditional_error_rate import (
    CONDITIONAL_ERROR_RATE,
    conditional_error_rate,
)
from duramen.significance.error_rates.fdr_curve import FDR_CURVE, fdr_curve
from duramen.significance.error_rates.multiple_probes import MULTIPLE_PROBES, multiple_probes
from duramen.significance.error_rates.probe_ranking import (
    FOREST_PROBE_RANKING,
    PROBE_RANKING,
    forest_probe_ranking,
    probe_ranking,
)
from duramen.significance.intervals.average_effects import average_effects
from duramen.significance.intervals.confidence_intervals import confidence_intervals
from duramen.significance.p_values.altmann import ALTMANN, altmann
from duramen.significance.p_values.frequency_control import FREQUENCY_CONTROL, frequency_control
from duramen.significance.p_values.hapfelmeier import HAPFELMEIER, hapfelmeier
from duramen.significance.p_values.interaction_test import interaction_test
from duramen.significance.p_values.janitza import JANITZA, janitza
from duramen.significance.p_values.max_t import MAX_T, max_t
from duramen.significance.p_values.mean_of_maxima import MeanOfMaxima, mean_of_maxima
from duramen.significance.p_values.mean_rank_test import MEAN_RANK_TEST, mean_rank_test
from duramen.significance.p_values.one_probe import ONE_PROBE, one_probe
from duramen.significance.p_values.permutation_test import permutation_test
from duramen.significance.p_values.z_scores import z_scores
from duramen.significance.permuted_labels import permuted_importances
from duramen.significance.reproducibility.intersection_stability import stable_intersections
from duramen.significance.reproducibility.stability import Stability, ranking_stability, stability
from duramen.significance.reproducibility.trees_needed import TreesNeeded, trees_needed
from duramen.significance.significance_test import SignificanceTest

__all__ = [
    "AdjustedSignificance",
    "ConditionalSignificance",
    "Cost",
    "ErrorRates",
    "Intervals",
    "MarkovChain",
    "MeanOfMaxima",
    "PermutedImportances",
    "SignificanceTest",
    "Stability",
    "TreesNeeded",
    "altmann",
    "average_effects",
    "catalogue",
    "conditional",
    "conditional_error_rate",
    "confidence_intervals",
    "covariate_strata",
    "estimate_cost",
    "fdr_curve",
    "forest_probe_ranking",
    "frequency_control",
    "hapfelmeier",
    "interaction_test",
    "janitza",
    "knockoffs",
    "max_t",
    "mean_of_maxima",
    "mean_rank_test",
    "multiple_probes",
    "one_probe",
    "permutation_test",
    "permuted_importances",
    "probe_ranking",
    "ranking_stability",
    "stability",
    "stable_intersections",
    "trees_needed",
    "z_scores",
]

catalogue = Catalogue(
    "significance test",
    (
        MAX_T,
        ALTMANN,
        JANITZA,
        MULTIPLE_PROBES,
        ONE_PROBE,
        CONDITIONAL_ERROR_RATE,
        FDR_CURVE,
        FREQUENCY_CONTROL,
        HAPFELMEIER,
        MEAN_RANK_TEST,
        FOREST_PROBE_RANKING,
        PROBE_RANKING,
        CONDITIONAL,
    ),
)
"""All significance tests that ``duramen rank`` can run; ``register`` adds one."""


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
