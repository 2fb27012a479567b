"""Evaluation of selected features: predictive score, size, stability and time under resampling."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.evaluation.evaluate import EvaluationInterrupted, evaluate_selection
    from duramen.evaluation.methods import Ranking
    from duramen.evaluation.result import EnoughFeatures, SelectionEvaluation

__all__ = [
    "EnoughFeatures",
    "EvaluationInterrupted",
    "Ranking",
    "SelectionEvaluation",
    "evaluate_selection",
]

_HOMES = {
    "EnoughFeatures": "result",
    "EvaluationInterrupted": "evaluate",
    "Ranking": "methods",
    "SelectionEvaluation": "result",
    "evaluate_selection": "evaluate",
}


def __getattr__(name: str) -> Any:
    """Import a name, and SciPy with it, when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'duramen.evaluation' has no attribute {name!r}")
    return getattr(import_module(f"duramen.evaluation.{_HOMES[name]}"), name)
