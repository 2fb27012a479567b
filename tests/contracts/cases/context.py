"""Importances and links that depend on a context."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    N,
    classes,
    features,
    groups,
    jobs,
    missing,
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
    ("permute=all", {"permute": "all"}),
    ("strata", {"strata": strata()}),
    (
        "groups",
        {
            "groups": groups(),
            "permute": "all",
            "context": np.array(["p", "q", "q"])[np.arange(N) // 2 % 3],
        },
    ),
    ("entropy", trees(criterion="entropy", max_depth=3)),
    ("multiway in bins", {**trees(splits="multiway"), "n_bins": 3}),
    (
        "multiway of numbers",
        {"estimator": dm.TotallyRandomizedTreesRegressor(6), "n_bins": 3, "y": numbers()},
    ),
    ("ordered, K = 3", trees(splits="ordered", max_features=3, min_samples_leaf=3)),
    ("missing values", {"X": missing()}),
    ("data frame", {"X": mixed(), "y": mixed_target()}),
):
    case(f"context_importances/{label}", **options)(_contexts)


def _links(network: Any) -> Any:
    return (
        {
            effect: [
                network.in_context(context, effect).weights[:, network.targets]
                for context in network.contexts
            ]
            for effect in ("absolute", "signed", "conditional", "within")
        },
        network.weights[:, network.targets],
        network.names,
        tuple(network.analyses),
    )


@case("context_network/data frame")
def _network(**options: Any) -> Any:
    network = dm.contexts.context_network(
        mixed().fillna({"size": 0.5, "color": "none"}),
        place(),
        **{"n_permutations": 9, "random_state": 2, "n_jobs": jobs(), **default_trees(4), **options},
    )
    to, contexts = network.targets, network.contexts
    tested = [network.in_context(context).p_values[:, to] for context in contexts]
    return (_links(network), tested, network.mask("signed", contexts[0], 0.5, "none")[:, to])
