"""Forests of randomized trees: growth, structure, prediction and storage."""

from duramen.forests.forest import Forest, Tree
from duramen.forests.growth import grow
from duramen.forests.proximities import classical_scaling, outlier_measure
from duramen.forests.settings import GrowthSettings

__all__ = [
    "Forest",
    "GrowthSettings",
    "Tree",
    "classical_scaling",
    "grow",
    "outlier_measure",
]
