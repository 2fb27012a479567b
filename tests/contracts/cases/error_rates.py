"""Error rates of the beginnings of a ranking."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    NAMES,
    estimator,
    features,
    groups,
    jobs,
    numbers,
    strata,
    table,
    target,
)
from tests.contracts.registry import case

from duramen import significance

SEED = {"random_state": 11, "n_jobs": jobs()}
CER, FDR = significance.conditional_error_rate, significance.fdr_curve
PROBES, FOREST_PROBES = significance.multiple_probes, significance.forest_probe_ranking


@case("conditional_error_rate/classification", function=CER)
@case("conditional_error_rate/regression", function=CER, task="regression")
@case("conditional_error_rate/ranks", function=CER, rank_based="later")
@case("conditional_error_rate/own ranks", function=CER, rank_based="own")
@case("conditional_error_rate/strata", function=CER, strata=strata())
@case("conditional_error_rate/groups, to the end", function=CER, groups=groups(), stop_at=1.0)
@case(
    "conditional_error_rate/feature groups",
    function=CER,
    stop_at=1.0,
    feature_groups={"u": ["a", "c"], "v": ["b"], "w": ["d", "e"]},
)
@case(
    "conditional_error_rate/feature groups by max",
    function=CER,
    stop_at=1.0,
    how="max",
    feature_groups={"u": ["a", "c"], "v": ["b"], "w": ["d", "e"]},
)
@case("fdr_curve/classification", function=FDR)
@case("fdr_curve/balanced", function=FDR, balanced=True)
@case("fdr_curve/regression", function=FDR, task="regression")
@case("fdr_curve/strata", function=FDR, strata=strata())
@case("fdr_curve/groups", function=FDR, groups=groups())
def _curve(function: Any, task: str = "classification", **options: Any) -> Any:
    return extracts.error_rates(
        function(estimator(task), table(), target(task), n_permutations=19, **options, **SEED)
    )


@case("multiple_probes/classification", function=PROBES, n_permutations=12)
@case("multiple_probes/as in the paper", function=PROBES, n_permutations=12, add_one=False)
@case(
    "multiple_probes/regression in strata",
    function=PROBES,
    n_permutations=8,
    task="regression",
    strata=strata(),
)
@case("multiple_probes/groups", function=PROBES, n_permutations=8, groups=groups())
@case("forest_probe_ranking/classification", function=FOREST_PROBES, n_permutations=4)
@case(
    "forest_probe_ranking/regression",
    function=FOREST_PROBES,
    n_permutations=4,
    task="regression",
    n_probes=3,
)
@case("forest_probe_ranking/groups", function=FOREST_PROBES, n_permutations=3, groups=groups())
def _probes(function: Any, task: str = "classification", **options: Any) -> Any:
    return extracts.error_rates(function(estimator(task), table(), target(task), **options, **SEED))


@case("probe_ranking/one probe")
@case("probe_ranking/four probes", n_probes=4, alpha=0.2)
@case("probe_ranking/not centered", centered=False)
def _exact_probes(**options: Any) -> Any:
    return extracts.error_rates(significance.probe_ranking(features(), numbers(), **options))


@case("ErrorRates/methods")
def _kept() -> Any:
    result = significance.ErrorRates(
        names=NAMES,
        scores=np.array([5.0, 4.0, 3.0, 2.0, 1.0]),
        rates=np.array([0.01, 0.03, 0.3, 0.8, 1.0]),
        method="m",
        meaning="rate",
    )
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "rates.npz")
        again = significance.ErrorRates.load(Path(folder) / "rates.npz")
    return (
        list(result.selected(0.05)),
        extracts.error_rates(result.top(2)),
        extracts.frame(result),
        again.equals(result),
    )
