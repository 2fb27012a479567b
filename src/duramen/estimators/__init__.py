"""Forests with the interface of scikit-learn's estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.estimators.forests import (
        BaggedTreesClassifier,
        BaggedTreesRegressor,
        ExtraSurvivalTrees,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        PERTClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
        RandomPatchesClassifier,
        RandomPatchesRegressor,
        RandomSubspaceClassifier,
        RandomSubspaceRegressor,
        RandomSurvivalForest,
        TotallyRandomizedTreesClassifier,
        TotallyRandomizedTreesRegressor,
    )
    from duramen.estimators.guided_forest import GuidedForestClassifier, GuidedForestRegressor

__all__ = [
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "ExtraSurvivalTrees",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GuidedForestClassifier",
    "GuidedForestRegressor",
    "PERTClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomPatchesClassifier",
    "RandomPatchesRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomSurvivalForest",
    "TotallyRandomizedTreesClassifier",
    "TotallyRandomizedTreesRegressor",
]


def __getattr__(name: str) -> Any:
    """Import an estimator, and scikit-learn with it, when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'duramen.estimators' has no attribute {name!r}")
    module = "guided_forest" if name.startswith("Guided") else "forests"
    value = globals()[name] = getattr(import_module(f"duramen.estimators.{module}"), name)
    return value
