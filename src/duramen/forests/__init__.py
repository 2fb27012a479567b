"""Forests of randomised trees: growth, structure, prediction, and the estimators."""

from duramen.forests.bagged_trees import BaggedTreesClassifier, BaggedTreesRegressor
from duramen.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from duramen.forests.forest import Forest, Tree
from duramen.forests.growth import grow
from duramen.forests.pert import PERTClassifier
from duramen.forests.proximities import classical_scaling, outlier_measure
from duramen.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from duramen.forests.random_patches import RandomPatchesClassifier, RandomPatchesRegressor
from duramen.forests.random_subspace import RandomSubspaceClassifier, RandomSubspaceRegressor
from duramen.forests.settings import GrowthSettings
from duramen.forests.totally_randomized_trees import (
    TotallyRandomizedTreesClassifier,
    TotallyRandomizedTreesRegressor,
)

__all__ = [
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Forest",
    "GrowthSettings",
    "PERTClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomPatchesClassifier",
    "RandomPatchesRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "TotallyRandomizedTreesClassifier",
    "TotallyRandomizedTreesRegressor",
    "Tree",
    "classical_scaling",
    "grow",
    "outlier_measure",
]
