"""Evaluation of selected features: predictive score, size, stability and time under resampling."""

from duramen.evaluation.enough import EnoughFeatures
from duramen.evaluation.evaluate import EvaluationInterrupted, evaluate_selection
from duramen.evaluation.methods import Ranking
from duramen.evaluation.result import SelectionEvaluation

__all__ = [
    "EnoughFeatures",
    "EvaluationInterrupted",
    "Ranking",
    "SelectionEvaluation",
    "evaluate_selection",
]
