"""Importances and links that depend on a context."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    N,
    classes,
    features,
    jobs,
    mixed,
    mixed_target,
    numbers,
    strata,
    uniform,
)
from tests.contracts.registry import case

import duramen as dm


def place() -> np.ndarray:
    """A context of two values."""
    return np.where(uniform(N, 1, seed=4)[:, 0] > 0.4, "here", "there")


def default_trees(count: int, y: Any = None) -> dict[str, Any]:
    """The default estimator of an analysis, with another number of trees."""
    classifies = np.asarray(y).dtype.kind != "f"
    kind = dm.TotallyRandomizedTreesClassifier if classifies else dm.TotallyRandomizedTreesRegressor
    return {"estimator": kind(count, splits="auto")}


def analyzed(X: Any = None, y: Any = None, context: Any = None, **options: Any) -> Any:
    """A small analysis of contexts."""
    return dm.contexts.context_importances(
        features() if X is None else X,
        classes() if y is None else y,
        place() if context is None else context,
        **{
            "n_permutations": 9,
            "random_state": 2,
            "n_jobs": jobs(),
            **default_trees(6, y),
            **options,
        },
    )


def trees(**parameters: Any) -> dict[str, Any]:
    """Extra-Trees of an analysis."""
    options = {"criterion": "entropy", "max_features": 1, "splits": "auto", **parameters}
    return {"estimator": dm.ExtraTreesClassifier(6, **options)}


def _contexts(**options: Any) -> Any:
    return extracts.contexts(analyzed(**options))


for label, options in (
    ("classification", {}),
    ("regression", {"y": numbers()}),
    ("strata", {"strata": strata()}),
    ("multiway in bins", {**trees(splits="multiway"), "n_bins": 3}),
    ("ordered, K = 3", trees(splits="ordered", max_features=3, min_samples_leaf=3)),
    ("data frame", {"X": mixed(), "y": mixed_target()}),
):
    case(f"context_importances/{label}", **options)(_contexts)
