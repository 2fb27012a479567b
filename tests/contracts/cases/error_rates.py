"""Error rates of the beginnings of a ranking."""

from __future__ import annotations

from typing import Any

from tests.contracts import extracts
from tests.contracts.inputs import (
    estimator,
    features,
    jobs,
    numbers,
    table,
    target,
)
from tests.contracts.registry import case

from duramen import significance

SEED = {"random_state": 11, "n_jobs": jobs()}
CER, FDR = significance.conditional_error_rate, significance.fdr_curve
PROBES, FOREST_PROBES = significance.multiple_probes, significance.forest_probe_ranking


@case("conditional_error_rate/classification", function=CER)
@case("fdr_curve/classification", function=FDR)
def _curve(function: Any, task: str = "classification", **options: Any) -> Any:
    return extracts.error_rates(
        function(estimator(task), table(), target(task), n_permutations=19, **options, **SEED)
    )


@case("multiple_probes/classification", function=PROBES, n_permutations=12)
@case("forest_probe_ranking/classification", function=FOREST_PROBES, n_permutations=4)
def _probes(function: Any, task: str = "classification", **options: Any) -> Any:
    return extracts.error_rates(function(estimator(task), table(), target(task), **options, **SEED))


@case("probe_ranking/one probe")
def _exact_probes(**options: Any) -> Any:
    return extracts.error_rates(significance.probe_ranking(features(), numbers(), **options))
