"""Evaluation of selected features: predictive score, size, stability and time under resampling."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.evaluation.evaluate import EvaluationInterrupted, Ranking, evaluate_selection
    from duramen.evaluation.result import EnoughFeatures, PairedTest, SelectionEvaluation

__all__ = [
    "EnoughFeatures",
    "EvaluationInterrupted",
    "PairedTest",
    "Ranking",
    "SelectionEvaluation",
    "evaluate_selection",
]


def __getattr__(name: str) -> Any:
    """Import a name, and SciPy with it, when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'duramen.evaluation' has no attribute {name!r}")
    results = ("EnoughFeatures", "PairedTest", "SelectionEvaluation")
    module = "result" if name in results else "evaluate"
    return getattr(import_module(f"duramen.evaluation.{module}"), name)
