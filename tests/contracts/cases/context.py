"""Importances and links that depend on a context."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    NAMES,
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
from duramen.contexts import KernelWeights, propensity_strata


def place() -> np.ndarray:
    """A context of two values."""
    return np.where(uniform(N, 1, seed=4)[:, 0] > 0.4, "here", "there")


def degrees() -> np.ndarray:
    """A context of numbers."""
    return uniform(N, 1, seed=5)[:, 0]


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
    ("context of numbers", {"context": degrees(), "context_bins": 2}),
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
    ("empty=zero", {"empty": "zero"}),
    ("entropy", trees(criterion="entropy", max_depth=3)),
    ("gini", trees(criterion="gini", max_depth=3)),
    ("multiway in bins", {**trees(splits="multiway"), "n_bins": 3}),
    (
        "multiway of numbers",
        {"estimator": dm.TotallyRandomizedTreesRegressor(6), "n_bins": 3, "y": numbers()},
    ),
    ("ordered, K = 3", trees(splits="ordered", max_features=3, min_samples_leaf=3)),
    ("missing values", {"X": missing()}),
    ("plain p-values", {"plain": "p_values", "n_permutations": 4}),
    ("no plain importances", {"plain": "none"}),
    ("no permutations", {"n_permutations": 0}),
    ("data frame", {"X": mixed(), "y": mixed_target()}),
    ("data frame, numbers", {"X": mixed(), "y": numbers()}),
):
    case(f"context_importances/{label}", **options)(_contexts)


case(
    "context_importances/kernel weights",
    context=degrees(),
    context_bins=KernelWeights(),
)(_contexts)


@case("context_importances/several contexts")
def _several() -> Any:
    import pandas as pd

    frame = pd.DataFrame({"place": place(), "degree": degrees()})
    return {name: extracts.contexts(analyzed(context=frame[[name]])) for name in frame.columns}


@case("ContextImportances/methods")
def _methods() -> Any:
    result = analyzed(dm.encode(features(), names=NAMES))
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "context.npz")
        again = dm.ContextImportances.load(Path(folder) / "context.npz")
    return (
        result.q_values("signed"),
        result.order(),
        [str(text) for text in result.verdicts(0.5).ravel()],
        result.mask("absolute", 0.5, "none"),
        extracts.significance(result.significance("signed")),
        extracts.frame(result)[2:],
        again.equals(result),
    )


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
@case("context_network/some targets", targets=["count", "flag"])
@case("context_network/strata", targets=["count"], strata=strata())
@case(
    "context_network/multiway",
    targets=["flag"],
    estimator=dm.TotallyRandomizedTreesClassifier(4),
    n_bins=3,
    empty="zero",
)
def _network(**options: Any) -> Any:
    network = dm.contexts.context_network(
        mixed().fillna({"size": 0.5, "color": "none"}),
        place(),
        **{"n_permutations": 9, "random_state": 2, "n_jobs": jobs(), **default_trees(4), **options},
    )
    to, contexts = network.targets, network.contexts
    tested = [network.in_context(context).p_values[:, to] for context in contexts]
    return (_links(network), tested, network.mask("signed", contexts[0], 0.5, "none")[:, to])


@case("ContextNetwork/methods")
def _network_kept() -> Any:
    network = dm.contexts.context_network(
        features()[:, :3],
        place(),
        n_permutations=9,
        random_state=2,
        n_jobs=jobs(),
        **default_trees(4),
    )
    links = network.links("absolute", alpha=0.9, control="none")
    with tempfile.TemporaryDirectory() as folder:
        network.save(Path(folder) / "network.npz")
        again = dm.ContextNetwork.load(Path(folder) / "network.npz")
    return (
        extracts.frame(network),
        [links[name].tolist() for name in links.columns],
        again.equals(network),
    )


@case("propensity_strata/two contexts", n_strata=3)
@case("propensity_strata/numbers", numeric=True)
def _strata(numeric: bool = False, **options: Any) -> Any:
    return propensity_strata(features(), degrees() if numeric else place(), **options)
