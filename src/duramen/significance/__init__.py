"""P-values, error rates and intervals of importances."""

from duramen.catalogue import Catalogue
from duramen.data.strata import covariate_strata
from duramen.results.importances import PermutedImportances
from duramen.results.significance import (
    AdjustedSignificance,
    ConditionalSignificance,
    ErrorRates,
    Intervals,
)
from duramen.significance.agreement import (
    Stability,
    TreesNeeded,
    ranking_stability,
    stability,
    trees_needed,
)
from duramen.significance.column_permutations import (
    CONDITIONAL_ERROR_RATE,
    HAPFELMEIER,
    conditional_error_rate,
    hapfelmeier,
)
from duramen.significance.conditional_tests.conditional import CONDITIONAL, conditional
from duramen.significance.conditional_tests.knockoffs import knockoffs
from duramen.significance.importance_tests import (
    FREQUENCY_CONTROL,
    JANITZA,
    frequency_control,
    janitza,
)
from duramen.significance.max_t_test import MAX_T, max_t
from duramen.significance.measured import Cost, SignificanceTest, estimate_cost
from duramen.significance.pair_contrasts import interaction_test
from duramen.significance.permutation_tests import (
    ALTMANN,
    FDR_CURVE,
    MEAN_RANK_TEST,
    altmann,
    fdr_curve,
    mean_rank_test,
    permutation_test,
)
from duramen.significance.permutations import permuted_importances
from duramen.significance.probes import (
    FOREST_PROBE_RANKING,
    MULTIPLE_PROBES,
    ONE_PROBE,
    PROBE_RANKING,
    forest_probe_ranking,
    multiple_probes,
    one_probe,
    probe_ranking,
)
from duramen.significance.resampling import confidence_intervals

__all__ = [
    "AdjustedSignificance",
    "ConditionalSignificance",
    "Cost",
    "ErrorRates",
    "Intervals",
    "PermutedImportances",
    "SignificanceTest",
    "Stability",
    "TreesNeeded",
    "altmann",
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
    "mean_rank_test",
    "multiple_probes",
    "one_probe",
    "permutation_test",
    "permuted_importances",
    "probe_ranking",
    "ranking_stability",
    "stability",
    "trees_needed",
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
