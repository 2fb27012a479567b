"""Selectors: which features to keep."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duramen.catalogue import Catalogue
from duramen.selection.artificial_contrasts.record import ARTIFICIAL_CONTRASTS
from duramen.selection.backward_elimination.record import BACKWARD_ELIMINATION
from duramen.selection.boruta.record import BORUTA
from duramen.selection.knock_out.record import KNOCK_OUT
from duramen.selection.records import Account, Detail, Selector
from duramen.selection.sequential_random_subspace.record import SEQUENTIAL_RANDOM_SUBSPACE
from duramen.selection.vsurf.record import VSURF_SELECTOR

if TYPE_CHECKING:
    from duramen.selection.artificial_contrasts.selector import ArtificialContrasts
    from duramen.selection.backward_elimination.selector import BackwardElimination
    from duramen.selection.boruta.selector import Boruta
    from duramen.selection.knock_out.selector import KnockOut
    from duramen.selection.selector import BaseSelector
    from duramen.selection.sequential_random_subspace.selector import SequentialRandomSubspace
    from duramen.selection.vsurf.selector import VSURF

catalogue = Catalogue(
    "selector",
    (
        SEQUENTIAL_RANDOM_SUBSPACE,
        BORUTA,
        KNOCK_OUT,
        ARTIFICIAL_CONTRASTS,
        BACKWARD_ELIMINATION,
        VSURF_SELECTOR,
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
    "Detail",
    "KnockOut",
    "Selector",
    "SequentialRandomSubspace",
    "catalogue",
]


_HOMES = {
    "VSURF": "duramen.selection.vsurf.selector",
    "BackwardElimination": "duramen.selection.backward_elimination.selector",
    "ArtificialContrasts": "duramen.selection.artificial_contrasts.selector",
    "BaseSelector": "duramen.selection.selector",
    "Boruta": "duramen.selection.boruta.selector",
    "KnockOut": "duramen.selection.knock_out.selector",
    "SequentialRandomSubspace": "duramen.selection.sequential_random_subspace.selector",
}


def __getattr__(name: str) -> Any:
    """Import a class, and scikit-learn with it, when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'duramen.selection' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
