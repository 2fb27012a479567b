"""Selectors: which features to keep."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duramen.catalogue import Catalogue
from duramen.selection.artificial_contrasts.record import ARTIFICIAL_CONTRASTS
from duramen.selection.backward_elimination.record import BACKWARD_ELIMINATION
from duramen.selection.boruta.record import BORUTA
from duramen.selection.filters.record import CMIM, FCBF, JMI, LASSO, MRMR, RELIEFF
from duramen.selection.knock_out.record import KNOCK_OUT
from duramen.selection.markov_boundary.record import MARKOV_BOUNDARY
from duramen.selection.records import Account, Detail, Selector
from duramen.selection.regularized_forest.record import (
    GUIDED_REGULARIZED_FOREST,
    REGULARIZED_FOREST,
)
from duramen.selection.sequential_random_subspace.record import SEQUENTIAL_RANDOM_SUBSPACE
from duramen.selection.sequential_selection.record import (
    BACKWARD_SELECTION,
    FLOATING_SELECTION,
    FORWARD_SELECTION,
)
from duramen.selection.vsurf.record import VSURF_SELECTOR

if TYPE_CHECKING:
    from duramen.selection.artificial_contrasts.selector import ArtificialContrasts
    from duramen.selection.backward_elimination.selector import BackwardElimination
    from duramen.selection.boruta.selector import Boruta
    from duramen.selection.filters.information import InformationFilter
    from duramen.selection.filters.lasso import LassoSelector
    from duramen.selection.filters.relief import ReliefF
    from duramen.selection.knock_out.selector import KnockOut
    from duramen.selection.known_truth import SelectionScores, scores
    from duramen.selection.markov_boundary.selector import MarkovBoundary
    from duramen.selection.regularized_forest.selector import RegularizedForestSelector
    from duramen.selection.representatives.selector import ClusterRepresentatives
    from duramen.selection.selector import BaseSelector
    from duramen.selection.sequential_random_subspace.selector import SequentialRandomSubspace
    from duramen.selection.sequential_selection.selector import SequentialSelection
    from duramen.selection.vsurf.selector import VSURF

catalogue = Catalogue(
    "selector",
    (
        *(SEQUENTIAL_RANDOM_SUBSPACE, BORUTA, KNOCK_OUT, ARTIFICIAL_CONTRASTS),
        *(BACKWARD_ELIMINATION, VSURF_SELECTOR, REGULARIZED_FOREST, GUIDED_REGULARIZED_FOREST),
        *(FORWARD_SELECTION, BACKWARD_SELECTION, FLOATING_SELECTION, MARKOV_BOUNDARY),
        *(MRMR, JMI, CMIM, FCBF, RELIEFF, LASSO),
    ),
)
"""Selectors that ``duramen select`` can run; ``register`` adds one."""

__all__ = [
    "VSURF",
    "Account",
    "ArtificialContrasts",
    "BackwardElimination",
    "BaseSelector",
    "Boruta",
    "ClusterRepresentatives",
    "Detail",
    "InformationFilter",
    "KnockOut",
    "LassoSelector",
    "MarkovBoundary",
    "RegularizedForestSelector",
    "ReliefF",
    "SelectionScores",
    "Selector",
    "SequentialRandomSubspace",
    "SequentialSelection",
    "catalogue",
    "scores",
]


_HOMES = {
    "ClusterRepresentatives": "duramen.selection.representatives.selector",
    "ReliefF": "duramen.selection.filters.relief",
    "LassoSelector": "duramen.selection.filters.lasso",
    "InformationFilter": "duramen.selection.filters.information",
    "MarkovBoundary": "duramen.selection.markov_boundary.selector",
    "SequentialSelection": "duramen.selection.sequential_selection.selector",
    "RegularizedForestSelector": "duramen.selection.regularized_forest.selector",
    "VSURF": "duramen.selection.vsurf.selector",
    "BackwardElimination": "duramen.selection.backward_elimination.selector",
    "ArtificialContrasts": "duramen.selection.artificial_contrasts.selector",
    "BaseSelector": "duramen.selection.selector",
    "Boruta": "duramen.selection.boruta.selector",
    "KnockOut": "duramen.selection.knock_out.selector",
    "SelectionScores": "duramen.selection.known_truth",
    "scores": "duramen.selection.known_truth",
    "SequentialRandomSubspace": "duramen.selection.sequential_random_subspace.selector",
}


def __getattr__(name: str) -> Any:
    """Import a class, and scikit-learn with it, when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'duramen.selection' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
