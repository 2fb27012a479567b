"""Forests with the interface of scikit-learn's estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.estimators.ensembles import (
        BaggedTreesClassifier,
        BaggedTreesRegressor,
        PERTClassifier,
        RandomPatchesClassifier,
        RandomPatchesRegressor,
        RandomSubspaceClassifier,
        RandomSubspaceRegressor,
        TotallyRandomizedTreesClassifier,
        TotallyRandomizedTreesRegressor,
    )
    from duramen.estimators.forests import (
        ExtraSurvivalTrees,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
        RandomSurvivalForest,
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

_HOMES = ("forests", "ensembles", "guided_forest")


def __getattr__(name: str) -> Any:
    """Import an estimator, and scikit-learn with it, when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'duramen.estimators' has no attribute {name!r}")
    homes = (import_module(f"duramen.estimators.{home}") for home in _HOMES)
    value = globals()[name] = next(getattr(home, name) for home in homes if hasattr(home, name))
    return value
