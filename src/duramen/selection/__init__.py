"""Selectors: which features to keep."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duramen.selection.records import Selector, catalogue

if TYPE_CHECKING:
    from duramen.selection.artificial_contrasts import ArtificialContrasts
    from duramen.selection.backward_elimination import BackwardElimination
    from duramen.selection.boruta import Boruta
    from duramen.selection.information_filters import InformationFilter
    from duramen.selection.knock_out import KnockOut
    from duramen.selection.known_truth import SelectionScores, scores
    from duramen.selection.linear_models import LassoSelector, RidgeSelector
    from duramen.selection.markov_boundary import MarkovBoundary
    from duramen.selection.regularized_forest import RegularizedForestSelector
    from duramen.selection.relief import ReliefF
    from duramen.selection.representatives import ClusterRepresentatives
    from duramen.selection.selector import BaseSelector, SelectionSummary
    from duramen.selection.sequential_random_subspace.selector import SequentialRandomSubspace
    from duramen.selection.sequential_selection import SequentialSelection
    from duramen.selection.stability_selection import StabilitySelection
    from duramen.selection.vsurf import VSURF

__all__ = [
    "VSURF",
    "ArtificialContrasts",
    "BackwardElimination",
    "BaseSelector",
    "Boruta",
    "ClusterRepresentatives",
    "Column",
    "InformationFilter",
    "KnockOut",
    "LassoSelector",
    "MarkovBoundary",
    "RegularizedForestSelector",
    "ReliefF",
    "RidgeSelector",
    "SelectionScores",
    "SelectionSummary",
    "Selector",
    "SequentialRandomSubspace",
    "SequentialSelection",
    "StabilitySelection",
    "catalogue",
    "scores",
]


_HOMES = {
    **dict.fromkeys(("SelectionSummary", "BaseSelector", "Column"), "selector"),
    **dict.fromkeys(("SelectionScores", "scores"), "known_truth"),
    "ArtificialContrasts": "artificial_contrasts",
    "BackwardElimination": "backward_elimination",
    "Boruta": "boruta",
    "ClusterRepresentatives": "representatives",
    "InformationFilter": "information_filters",
    "KnockOut": "knock_out",
    "LassoSelector": "linear_models",
    "MarkovBoundary": "markov_boundary",
    "RegularizedForestSelector": "regularized_forest",
    "ReliefF": "relief",
    "RidgeSelector": "linear_models",
    "SequentialRandomSubspace": "sequential_random_subspace.selector",
    "SequentialSelection": "sequential_selection",
    "StabilitySelection": "stability_selection",
    "VSURF": "vsurf",
}


def __getattr__(name: str) -> Any:
    """Import a class, and scikit-learn with it, when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'duramen.selection' has no attribute {name!r}")
    return getattr(import_module(f"duramen.selection.{_HOMES[name]}"), name)
