"""Selectors."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from tests.contracts import extracts
from tests.contracts.inputs import classes, jobs, missing, numbers, uniform
from tests.contracts.registry import case

import duramen as dm

N, P = 48, 60


def wide() -> np.ndarray:
    """Sixty columns, so that their decoys have tails; the first two matter."""
    return uniform(N, P, seed=6)


def two() -> np.ndarray:
    """Classes that depend on the first two columns."""
    X = wide()
    return np.where(X[:, 0] + 0.5 * X[:, 1] > 0.7, "yes", "no")


def searched(X: Any = None, y: Any = None, **options: Any) -> Any:
    """A fitted search."""
    settings = {"n_estimators": 40, "n_subspace_features": 15, "random_state": 4, "alpha": 0.3}
    search = dm.SequentialRandomSubspace(**{**settings, "n_jobs": jobs(), **options})
    return search.fit(wide() if X is None else X, two() if y is None else y)


def _found(**options: Any) -> Any:
    search = searched(**options)
    return (
        search.importances_.values,
        search.get_support(indices=True),
        search.ranking_,
        search.draws_,
        search.wins_,
    )


SMALL = {"relevance": "probe", "n_subspace_features": 3, "min_draws": 5, "min_win_rate": 0.6}
MISSING = {"X": missing(), "y": classes(), **SMALL}
CART = dm.RandomForestClassifier(bootstrap=False, max_features=None)
CART_SQRT = dm.RandomForestClassifier(bootstrap=False)
MULTIWAY = dm.ExtraTreesRegressor(max_features=None, splits="multiway")


def extra(**options: Any) -> dm.ExtraTreesClassifier:
    """Extra-Trees of which all features compete at a node."""
    return dm.ExtraTreesClassifier(max_features=None, **options)


for label, options in (
    ("decoy", {}),
    ("decoy, regression", {"y": wide()[:, 0] + wide()[:, 3] * wide()[:, 4]}),
    ("decoy, CART", {"estimator": CART}),
    ("probe", {"relevance": "probe", "min_draws": 2, "min_win_rate": 0.6}),
    ("binomial", {"relevance": "binomial", "n_probes": 2}),
    ("CART", {"estimator": CART_SQRT, "relevance": "probe", "min_draws": 2}),
    (
        "random trees",
        {"estimator": dm.ExtraTreesClassifier(max_features=1), "relevance": "binomial"},
    ),
    ("keep=0", {"keep": 0.0, "relevance": "binomial"}),
    ("keep=1", {"keep": 1.0, "relevance": "probe", "min_draws": 2, "min_win_rate": 0.6}),
    ("soft", {"sampling": "soft", "relevance": "probe", "min_draws": 2, "min_win_rate": 0.6}),
    ("batches", {"batch_size": 4}),
    ("patience", {"patience": 12}),
    ("memory", {"n_subspace_features": None, "memory": "1MB"}),
    ("share of the features", {"n_subspace_features": 0.4}),
    ("gini, limits", {"estimator": extra(max_depth=3, min_samples_leaf=0.1)}),
    ("entropy", {"estimator": extra(criterion="entropy"), "relevance": "binomial"}),
    ("missing values", MISSING),
    ("splits=one-vs-rest", {**MISSING, "estimator": extra(splits="one-vs-rest")}),
    ("splits=multiway, numbers", {**MISSING, "y": numbers(), "estimator": MULTIWAY}),
    ("splits=any", {**MISSING, "estimator": extra(splits="any")}),
):
    case(f"SequentialRandomSubspace/{label}", **options)(_found)


@case("SequentialRandomSubspace/forest")
def _forest() -> Any:
    search = searched(**{**SMALL, "X": missing(), "y": classes()})
    return (extracts.forest(search.forest_), np.asarray(search.forest_columns_))


@case("SequentialRandomSubspace/transform")
def _transformed() -> Any:
    search = searched(relevance="probe", min_draws=2, min_win_rate=0.5)
    columns = search.transform(wide())
    return (columns, search.get_feature_names_out().tolist(), search.inverse_transform(columns)[:3])


@case("SequentialRandomSubspace/regression")
def _regressed() -> Any:
    search = searched(**{**SMALL, "X": missing(), "y": numbers()})
    return (extracts.forest(search.forest_), search.importances_.values)


@case("SequentialRandomSubspace/from a checkpoint")
def _resumed() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "kept"
        return [_found(checkpoint=checkpoint), _found(checkpoint=checkpoint)]


@case("SequentialRandomSubspace/store")
def _stored() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        store = dm.pack(wide(), Path(folder) / "store", n_jobs=jobs())
        return _found(X=store)


def _verdicts(**options: Any) -> Any:
    X, y = options.pop("X", wide()[:, :8]), options.pop("y", two())
    settings = {"n_estimators": 20, "max_rounds": 14, "random_state": 3, "n_jobs": jobs()}
    model = dm.Boruta(**{**settings, **options}).fit(X, y)
    return (
        model.verdicts_.tolist(),
        model.selected_,
        model.ranking_,
        model.hits_,
        model.decided_in_,
        model.importances_.values,
        {name: np.nan_to_num(values, nan=-1.0) for name, values in model.history_.items()},
    )


for label, options in (
    ("scaled MDA", {}),
    ("mdi, two steps", {"measure": "mdi", "correction": "two-step"}),
    ("percentile, rough fix", {"percentile": 80, "rough_fix": True, "measure": "mdi"}),
    ("Extra-Trees, AIR", {"estimator": dm.ExtraTreesClassifier(), "measure": "air", "alpha": 0.2}),
    ("regression, missing values", {"X": missing(), "y": numbers(), "measure": "mdi"}),
    ("groups", {"feature_groups": {"a": [0, 1, 2], "b": [4, 5]}, "measure": "mdi"}),
):
    case(f"Boruta/{label}", **options)(_verdicts)


def _knocked_out(**options: Any) -> Any:
    X, y = options.pop("X", wide()[:, :8]), options.pop("y", two())
    settings = {"n_estimators": 10, "n_permutations": 19, "random_state": 3, "n_jobs": jobs()}
    model = dm.KnockOut(**{**settings, **options}).fit(X, y)
    return (
        model.found_in_,
        model.selected_,
        model.ranking_,
        model.p_values_,
        model.importances_.values,
        {name: np.nan_to_num(values, nan=-1.0) for name, values in model.history_.items()},
    )


for label, options in (
    ("frequency", {"measure": "frequency"}),
    ("scaled MDA", {"alpha": 0.2, "max_rounds": 3}),
    ("regression, missing values", {"X": missing(), "y": numbers(), "measure": "mdi"}),
):
    case(f"KnockOut/{label}", **options)(_knocked_out)


def _selected(kind: Any, names: tuple[str, ...] = (), **options: Any) -> Any:
    """What a selector finds of few columns, with some of its attributes."""
    X, y = options.pop("X", wide()[:, :8]), options.pop("y", two())
    parameters = kind().get_params()
    settings = {"n_estimators": 10, "random_state": 3, "n_jobs": jobs()}
    settings = {name: value for name, value in settings.items() if name in parameters}
    model = kind(**{**settings, **options}).fit(X, y)
    return (
        model.selected_,
        model.ranking_,
        model.importances_.values.round(9),
        [getattr(model, name) for name in names],
        {
            name: np.nan_to_num(values.astype(float), nan=-1.0).round(9)
            for name, values in model.history_.items()
        },
    )


NUMBERS = {"X": missing(), "y": numbers()}
TREES = {"estimator": dm.ExtraTreesClassifier(5), "cv": 2}
for kind, names, variants in (
    (
        dm.ArtificialContrasts,
        ("found_in_", "p_values_"),
        {
            "classes": {"n_permutations": 4, "max_rounds": 2},
            "masked": {"n_permutations": 4, "max_rounds": 1, "remove_masked": True},
            "regression, missing values": {**NUMBERS, "n_permutations": 3, "alpha": 0.2},
        },
    ),
    (
        dm.BackwardElimination,
        ("eliminated_in_", "error_", "nested_error_", "nested_sizes_"),
        {
            "once": {"nested_folds": 2},
            "recursive": {"recompute": True, "measure": "mdi", "nested_folds": None},
            "regression, missing values": {**NUMBERS, "nested_folds": 2},
        },
    ),
    (
        dm.VSURF,
        ("thresholded_", "interpretation_", "prediction_"),
        {
            "prediction": {"n_thresholding": 3, "n_interpretation": 2, "n_prediction": 2},
            "regression": {**NUMBERS, "n_thresholding": 2, "n_interpretation": 2},
        },
    ),
    (
        dm.RegularizedForestSelector,
        ("entered_", "factors_"),
        {
            "plain": {},
            "guided": {"guidance": 0.5},
            "proxy": {"penalize": "proxy"},
            "regression, missing values": {**NUMBERS, "penalty": 0.5},
        },
    ),
    (
        dm.SequentialSelection,
        ("score_", "n_scored_"),
        {
            "forward": {**TREES, "max_features": 3},
            "backward": {**TREES, "direction": "backward", "n_features": 6},
            "floating": {**TREES, "floating": True, "n_features": 3},
            "plus 2, minus 1": {**TREES, "plus": 2, "minus": 1, "n_features": 2},
            "adaptive": {**TREES, "floating": "adaptive", "n_features": 3},
            "exhaustive": {**TREES, "direction": "exhaustive", "max_features": 2},
            "branch and bound": {
                **{"estimator": DecisionTreeClassifier(random_state=0), "cv": None},
                **{"X": wide()[:, :5], "direction": "exhaustive"},
                **{"monotone": True, "n_features": 2},
            },
        },
    ),
    (dm.MarkovBoundary, (), {"smallest": {"X": (wide()[:, :8] * 3).round()}}),
    (
        dm.InformationFilter,
        ("scores_",),
        {
            **{rule: {"rule": rule, "n_features": 4} for rule in ("mrmr", "jmi", "cmim", "fcbf")},
            "regression, missing values": NUMBERS,
        },
    ),
    (dm.LassoSelector, (), {"classes": {}, "regression, missing values": NUMBERS}),
    (dm.RidgeSelector, (), {"classes": {}, "regression, missing values": NUMBERS}),
    (
        dm.StabilitySelection,
        ("frequency_", "artificial_frequency_", "threshold_"),
        {
            "classes": {"n_draws": 10, "alpha": 1},
            "lasso, regression, missing values": {**NUMBERS, "learner": "lasso", "n_draws": 10},
            "knockoffs": {"n_draws": 10, "alpha": 1, "artificial": "knockoff"},
        },
    ),
):
    for label, options in variants.items():
        case(f"{kind.__name__}/{label}", kind=kind, names=names, **options)(_selected)


@case("selection/parameters")
def _parameters() -> Any:
    """Defaults of all selectors."""
    kinds = {name: getattr(dm.selection, name) for name in dm.selection.__all__}
    selectors = {name: kind for name, kind in kinds.items() if hasattr(kind, "get_params")}
    return {name: kind().get_params() for name, kind in selectors.items() if name != "BaseSelector"}


@case("ClusterRepresentatives")
def _medoids() -> Any:
    X = wide()[:, :8]
    X[:, 5] = X[:, 0] ** 2
    model = dm.ClusterRepresentatives().fit(X)
    return (model.selected_, model.history_["cluster_size"], model.representatives_.members())
