"""Forests of randomized trees: growth, structure, prediction and storage."""

from duramen.forests.export import shap_trees, treelite_model
from duramen.forests.forest import Forest, Tree
from duramen.forests.growth import grow
from duramen.forests.patches import patch_memory
from duramen.forests.prediction import classical_scaling, outlier_measure
from duramen.forests.pruning import PruningPath, cost_complexity_pruning_path, pruned
from duramen.forests.settings import GrowthSettings

__all__ = [
    "Forest",
    "GrowthSettings",
    "PruningPath",
    "Tree",
    "classical_scaling",
    "cost_complexity_pruning_path",
    "grow",
    "outlier_measure",
    "patch_memory",
    "pruned",
    "shap_trees",
    "treelite_model",
]
