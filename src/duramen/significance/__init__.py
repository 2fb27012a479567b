"""Thresholds, p-values and error rates of importances; what is tested is in each name."""

from duramen.results import Intervals, Significance
from duramen.significance.altmann import altmann
from duramen.significance.confidence_intervals import confidence_intervals
from duramen.significance.stability import Stability, ranking_stability, stability
from duramen.significance.trees_needed import TreesNeeded, trees_needed
from duramen.significance.z_scores import z_scores

__all__ = [
    "Intervals",
    "Significance",
    "Stability",
    "TreesNeeded",
    "altmann",
    "confidence_intervals",
    "ranking_stability",
    "stability",
    "trees_needed",
    "z_scores",
]
