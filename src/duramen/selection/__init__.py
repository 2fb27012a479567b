"""Selectors: which features to keep."""

from duramen.catalogue import Catalogue
from duramen.selection.selector import Account, BaseSelector, Detail, Selector
from duramen.selection.sequential_random_subspace.selector import (
    SEQUENTIAL_RANDOM_SUBSPACE,
    SequentialRandomSubspace,
)

catalogue = Catalogue("selector", (SEQUENTIAL_RANDOM_SUBSPACE,))
"""All selectors that ``duramen select`` can run; ``register`` adds one."""

__all__ = [
    "Account",
    "BaseSelector",
    "Detail",
    "Selector",
    "SequentialRandomSubspace",
    "catalogue",
]
