"""Measures of importance, and what is done with importances afterwards."""

from __future__ import annotations

from typing import Any

from tests.contracts import extracts
from tests.contracts.inputs import (
    classes,
    estimator,
    forest,
    jobs,
    missing,
    mixed,
    mixed_target,
    table,
    target,
)
from tests.contracts.registry import case

from duramen import importances as measures

TASKS = ("classification", "regression")
ROWS = {"random_state": 5, "n_jobs": jobs()}


def _of_forest(measure: str, task: str = "classification", **options: Any) -> Any:
    return extracts.importances(getattr(measures, measure)(forest(task), **options))


def _on_rows(measure: str, task: str = "classification", **options: Any) -> Any:
    function = getattr(measures, measure)
    return extracts.importances(function(forest(task), table(), target(task), **options))


SOME_GROUPS = {"first": ["a", "b"], "rest": ["c", "d"]}
for label, compute, options in (
    ("mdi/{}", _of_forest, {}),
    ("mdi/{} rows=oob", _on_rows, {"rows": "oob"}),
    ("noising/{}", _on_rows, {}),
    ("mda/{}", _on_rows, ROWS),
    ("mda/{} ensemble votes", _on_rows, {"votes": "ensemble", **ROWS}),
    ("mda/{} groups", _on_rows, {"feature_groups": SOME_GROUPS, **ROWS}),
    ("conditional_mda/{}", _on_rows, ROWS),
):
    for task in TASKS:
        case(label.format(task), measure=label.partition("/")[0], task=task, **options)(compute)
for label, compute, options in (
    ("mdi/classification by degree", _of_forest, {"by_degree": True}),
    ("frequency/weighted", _of_forest, {"weighted": True}),
    ("minimal_depth/classification", _of_forest, {}),
    ("mda/by class", _on_rows, {"by_class": True, **ROWS}),
    ("mdi_plus/stumps alone", _on_rows, {"raw": False}),
    ("conditional_mda/every order", _on_rows, {"threshold": 0.5, **ROWS}),
):
    case(label, measure=label.partition("/")[0], **options)(compute)


def _local(task: str = "classification", y: Any = None, **options: Any) -> Any:
    result = measures.local_mdi(forest(task), table(), y, n_jobs=jobs(), **options)
    columns = extracts.frame(result)
    return columns, result.weights, result.start, result.unit


case("local_mdi/classification rows=oob", rows="oob", sparse=True)(_local)
case("local_mdi/regression rows=in-bag", task="regression", rows="in-bag")(_local)
case("local_mdi/class prediction", y="top", of="prediction")(_local)


@case("interactions/classification features=None", table=True)
@case("interactions/sparse", sparse=True)
def _interactions(**options: Any) -> Any:
    rows = (table(),) if options.pop("table", False) else ()
    return extracts.frame(measures.interactions(forest(), *rows, **options))


@case("mdi/nominal columns", splits="any")
@case("mdi/multiway", splits="multiway")
@case("minimal_depth/multiway", measure="minimal_depth", splits="multiway")
def _mixed(measure: str = "mdi", splits: str = "ordered") -> Any:
    model = estimator(splits=splits).fit(mixed(), mixed_target())
    return extracts.importances(getattr(measures, measure)(model))


@case("mda/nominal columns")
@case("mda/missing values", frame=missing)
@case("noising/nominal columns", measure="noising")
@case("conditional_mda/nominal columns", measure="conditional_mda")
def _mixed_rows(measure: str = "mda", frame: Any = mixed) -> Any:
    X, y = frame(), mixed_target() if frame is mixed else classes()
    options = {} if measure == "noising" else ROWS
    return extracts.importances(getattr(measures, measure)(estimator().fit(X, y), X, y, **options))
