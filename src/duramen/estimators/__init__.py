"""Forests with the interface of scikit-learn's estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duramen.estimators.catalogue import FORESTS

if TYPE_CHECKING:
    from duramen.estimators.bagged_trees import BaggedTreesClassifier, BaggedTreesRegressor
    from duramen.estimators.extra_trees import (
        ExtraSurvivalTrees,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
    )
    from duramen.estimators.guided_forest import GuidedForestClassifier, GuidedForestRegressor
    from duramen.estimators.pert import PERTClassifier
    from duramen.estimators.random_forest import (
        RandomForestClassifier,
        RandomForestRegressor,
        RandomSurvivalForest,
    )
    from duramen.estimators.random_patches import RandomPatchesClassifier, RandomPatchesRegressor
    from duramen.estimators.random_subspace import RandomSubspaceClassifier, RandomSubspaceRegressor
    from duramen.estimators.totally_randomized_trees import (
        TotallyRandomizedTreesClassifier,
        TotallyRandomizedTreesRegressor,
    )

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

# They take more than the parameters of the catalogue, and no command offers them.
_GUIDED = ("GuidedForestClassifier", "GuidedForestRegressor")


def __getattr__(name: str) -> Any:
    """Import an estimator, and scikit-learn with it, when it is first asked for."""
    for kind in FORESTS:
        if name in kind.names:
            value = globals()[name] = kind.estimators[kind.names.index(name)]
            return value
    if name in _GUIDED:
        value = globals()[name] = getattr(import_module("duramen.estimators.guided_forest"), name)
        return value
    raise AttributeError(f"module 'duramen.estimators' has no attribute {name!r}")
