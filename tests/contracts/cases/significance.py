"""P-values, intervals and stability of importances."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    estimator,
    features,
    groups,
    jobs,
    mixed,
    mixed_target,
    numbers,
    strata,
    table,
    target,
)
from tests.contracts.registry import case

from duramen import significance
from duramen.importances import catalogue

SEED = {"random_state": 11, "n_jobs": jobs()}
ALTMANN, MAX_T = significance.altmann, significance.max_t


def _tested(function: Any, task: str = "classification", **options: Any) -> Any:
    return function(estimator(task), table(), target(task), **{**SEED, **options})


def _p_values(name: str, task: str = "classification", **options: Any) -> Any:
    return extracts.significance(_tested(getattr(significance, name), task, **options))


for measure in [record.name for record in catalogue if record.testable]:
    case(f"altmann/{measure}", name="altmann", measure=measure, n_permutations=5)(_p_values)
for label, options in {
    "altmann/regression": {"task": "regression", "n_permutations": 12},
    "altmann/strata": {"strata": strata(), "n_permutations": 12},
    "altmann/groups": {"groups": groups(), "n_permutations": 12},
    "hapfelmeier/classification": {"n_permutations": 5, "measure": "mdi"},
    "mean_rank_test/classification": {"n_resamples": 4, "n_permutations": 6},
    "one_probe/classification": {"n_permutations": 12},
    "frequency_control/of an estimator": {"n_permutations": 6},
}.items():
    case(label, name=label.partition("/")[0], **options)(_p_values)


@case("max_t/classification")
@case("max_t/regression", task="regression")
@case("max_t/strata", strata=strata())
@case("max_t/feature groups", feature_groups={"first": [0, 1, 2], "second": [3, 4]})
def _step_down(task: str = "classification", **options: Any) -> Any:
    return extracts.adjusted(_tested(MAX_T, task, n_permutations=19, **options))


@case("max_t/nominal columns")
def _step_down_mixed() -> Any:
    result = MAX_T(estimator(), mixed(), mixed_target(), n_permutations=19, **SEED)
    return (extracts.adjusted(result), extracts.frame(result), extracts.significance(result.top(2)))


def _correlations(X: Any, y: Any, seed: int) -> Any:
    return np.abs(np.corrcoef(np.column_stack([X, y]), rowvar=False)[-1, :-1])


@case("permutation_test/any function")
def _any_function(**options: Any) -> Any:
    result = significance.permutation_test(
        _correlations, features(), numbers(), n_permutations=20, **options, **SEED
    )
    return extracts.significance(result)


@case("confidence_intervals/double bootstrap", method="double-bootstrap")
def _intervals(**options: Any) -> Any:
    intervals = _tested(significance.confidence_intervals, n_resamples=8, **options)
    return extracts.intervals(intervals)


@case("permuted_importances/of classes")
@case("permuted_importances/regression", task="regression")
@case("permuted_importances/strata", strata=strata())
def _permuted(task: str = "classification", **options: Any) -> Any:
    result = _tested(significance.permuted_importances, task, n_permutations=7, **options)
    return (result.importances.values, result.permuted, result.marginal, result.maxima)
