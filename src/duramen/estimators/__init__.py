"""Forests with the interface of scikit-learn's estimators."""

from typing import TYPE_CHECKING, Any

from duramen.estimators.catalogue import FORESTS

if TYPE_CHECKING:
    from duramen.estimators.bagged_trees import BaggedTreesClassifier, BaggedTreesRegressor
    from duramen.estimators.extra_trees import (
        ExtraSurvivalTrees,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
    )
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
    for kind in FORESTS:
        if name in kind.names:
            value = globals()[name] = kind.estimators[kind.names.index(name)]
            return value
    raise AttributeError(f"module 'duramen.estimators' has no attribute {name!r}")
