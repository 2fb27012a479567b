"""Survival forests: trees, curves and importances, and the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import N, features, jobs, missing, numbers, uniform
from tests.contracts.registry import case

import duramen as dm

KINDS = (dm.RandomSurvivalForest, dm.ExtraSurvivalTrees)


def survival() -> tuple[np.ndarray, np.ndarray]:
    """Times with ties that depend on the features, and events in two rows of three."""
    times = np.round(20 * (numbers() - numbers().min()))
    return times, uniform(N, 1, seed=4)[:, 0] < 0.67


def fitted(kind: Any, X: np.ndarray | None = None, **options: Any) -> Any:
    """A fitted forest of four trees."""
    X = features() if X is None else X
    times, events = survival()
    model = kind(4, **{"random_state": 3, "n_jobs": jobs(), **options})
    return model.fit(X, np.column_stack([times, events]))


def grown(kind: Any, **options: Any) -> Any:
    """Trees, events of their leaves, and importances of a fitted forest."""
    model = fitted(kind, **options)
    events = model.forest_.leaf_events.arrays().values()
    return (model.feature_importances_, *extracts.forest(model.forest_), *events)


for estimator_class in KINDS:
    case(f"{estimator_class.__name__}/grown on missing values", kind=estimator_class, X=missing())(
        grown
    )


@case("RandomSurvivalForest/grown and measured on left-truncated times")
def _truncated() -> Any:
    times, events = survival()
    y = np.empty(N, dtype=[("event", bool), ("time", float), ("entry", float)])
    y["event"], y["time"] = events, times + 1
    y["entry"] = np.floor(uniform(N, 1, seed=5)[:, 0] * y["time"])
    model = dm.RandomSurvivalForest(4, random_state=3, n_jobs=jobs()).fit(features(), y)
    leaf_events = model.forest_.leaf_events.arrays().values()
    return (
        *extracts.forest(model.forest_),
        *leaf_events,
        dm.importances.mda(model, features(), y).values,
    )


for measure in ("mda", "conditional_mda"):

    @case(f"RandomSurvivalForest/{measure}", measure=measure)
    def _measured(measure: str) -> Any:
        model = fitted(dm.RandomSurvivalForest)
        rows = features(), np.column_stack(survival())
        return getattr(dm.importances, measure)(model, *rows).values
