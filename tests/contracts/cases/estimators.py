"""The estimators of forests: what they grow, predict, estimate, export and keep."""

from __future__ import annotations

from typing import Any

from tests.contracts import extracts
from tests.contracts.inputs import (
    binary,
    features,
    jobs,
    missing,
    mixed,
    mixed_target,
    target,
    uniform,
    weights,
)
from tests.contracts.registry import case

import duramen as dm

CLASSIFIERS = (
    dm.BaggedTreesClassifier,
    dm.ExtraTreesClassifier,
    dm.PERTClassifier,
    dm.RandomForestClassifier,
    dm.RandomPatchesClassifier,
    dm.RandomSubspaceClassifier,
    dm.TotallyRandomizedTreesClassifier,
)
REGRESSORS = (
    dm.BaggedTreesRegressor,
    dm.ExtraTreesRegressor,
    dm.RandomForestRegressor,
    dm.RandomPatchesRegressor,
    dm.RandomSubspaceRegressor,
    dm.TotallyRandomizedTreesRegressor,
)


def task_of(kind: Any) -> str:
    """Classification or regression, by the class of an estimator."""
    return "regression" if kind in REGRESSORS else "classification"


def fitted(
    kind: Any, X: Any = None, y: Any = None, *, weighted: bool = False, **options: Any
) -> Any:
    """A fitted forest of four trees."""
    model = kind(4, **{"random_state": 3, "n_jobs": jobs(), **options})
    X = features() if X is None else X
    y = target(task_of(kind)) if y is None else y
    return model.fit(X, y, sample_weight=weights()) if weighted else model.fit(X, y)


def grown(kind: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
    """Trees and importances of a fitted forest."""
    model = fitted(kind, X, y, **options)
    return (model.feature_importances_, *extracts.forest(model.forest_))


for estimator_class in (*CLASSIFIERS, *REGRESSORS):
    name = estimator_class.__name__.removesuffix("Classifier").removesuffix("Regressor")
    where = f"{name}/{task_of(estimator_class)}"
    case(f"{where}/grown on missing values", kind=estimator_class, X=missing())(grown)

FOREST, REGRESSION = dm.RandomForestClassifier, dm.RandomForestRegressor
for kind in (FOREST, REGRESSION):
    name = f"RandomForest/{task_of(kind)}"
    case(f"{name}/grown", kind=kind)(grown)
    case(f"{name}/grown with weights", kind=kind, weighted=True)(grown)
for label, kind, options in (
    ("entropy", FOREST, {"criterion": "entropy"}),
    ("two classes", FOREST, {"y": binary()}),
    ("max_leaf_nodes", FOREST, {"max_leaf_nodes": 5}),
    ("min_impurity_decrease", FOREST, {"min_impurity_decrease": 0.02}),
    ("no bootstrap", FOREST, {"bootstrap": False}),
    ("class_weight=balanced_subsample", FOREST, {"class_weight": "balanced_subsample"}),
    ("stop_alpha", FOREST, {"stop_alpha": 0.05}),
    ("stop_permutations", FOREST, {"stop_alpha": 0.5, "stop_permutations": 9}),
    ("ccp_alpha", FOREST, {"ccp_alpha": 0.02}),
    ("n_best_splits of numbers", REGRESSION, {"n_best_splits": 5, "splits": "any", "X": mixed()}),
    ("feature first", dm.PERTClassifier, {"feature_first": True}),
    ("PERT, splits=any", dm.PERTClassifier, {"splits": "any", "X": mixed(), "y": mixed_target()}),
    ("splits=multiway", FOREST, {"splits": "multiway", "max_depth": 3}),
    ("splits=one-vs-rest", FOREST, {"splits": "one-vs-rest", "max_depth": 3}),
    ("splits=any", FOREST, {"splits": "any", "max_depth": 3, "X": mixed(), "y": mixed_target()}),
    ("splits=any of numbers", REGRESSION, {"splits": "any", "max_depth": 3, "X": mixed()}),
    ("splits=one-vs-rest of numbers", REGRESSION, {"splits": "one-vs-rest", "X": mixed()}),
    ("splits=multiway of numbers", REGRESSION, {"splits": "multiway", "X": mixed()}),
    (
        "random splits=any",
        dm.ExtraTreesClassifier,
        {"splits": "any", "X": mixed(), "y": mixed_target()},
    ),
    (
        "random splits=one-vs-rest",
        dm.ExtraTreesClassifier,
        {"splits": "one-vs-rest", "X": mixed(), "y": mixed_target()},
    ),
    ("random ordered", dm.TotallyRandomizedTreesRegressor, {"splits": "ordered"}),
    ("categorical_features", FOREST, {"categorical_features": [0, 2], "splits": "multiway"}),
):
    case(f"forest options/{label}", kind=kind, **options)(grown)


@case("predictions/unseen categories")
def _unseen() -> Any:
    model = fitted(FOREST, mixed(), mixed_target(), splits="any")
    changed = mixed().head(12).copy()
    changed["color"] = "purple"
    return (model.predict_proba(changed), model.predict(changed), model.feature_names_in_)


@case("out-of-bag/classification")
@case("out-of-bag/regression", kind=REGRESSION)
@case("out-of-bag/patches", kind=dm.RandomPatchesClassifier)
def _oob(kind: Any = FOREST) -> Any:
    model = fitted(kind, oob_score=True, max_depth=5)
    of_rows = (
        model.oob_prediction_ if task_of(kind) == "regression" else model.oob_decision_function_
    )
    return (model.oob_score_, model.oob_error_curve_, of_rows)


@case("estimators/decision_path and proximity")
def _paths() -> Any:
    model = fitted(FOREST, max_depth=3)
    indicator, offsets = model.decision_path(features()[:6])
    return (model.proximity(features()[:8]), indicator.toarray().astype(int), offsets)


@case("GuidedForestClassifier/importance")
def _guided() -> Any:
    X = uniform(40, 6, seed=2)
    kind = dm.GuidedForestClassifier(8, feature_weights="importance", random_state=3, n_jobs=jobs())
    forest = kind.fit(X, X[:, 0] > 0.5)
    return extracts.forest(forest.forest_), forest.feature_weights_


@case("GuidedForestRegressor")
def _guided_numbers() -> Any:
    X = uniform(40, 6, seed=2)
    kind = dm.GuidedForestRegressor(8, random_state=3, max_features=2, n_jobs=jobs())
    forest = kind.fit(X, X[:, 0])
    return extracts.forest(forest.forest_), forest.feature_weights_
