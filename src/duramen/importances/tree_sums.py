"""Importances that are sums over trees, which need not all be in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from duramen.forests.forest import AnyForest, Forest


class TreeSums(ABC):
    """Importances that are sums over trees; the trees are added in their order.

    The results are the same, bit for bit, however many trees are added at a time.
    """

    def __init__(self, forest: AnyForest) -> None:
        self.forest = forest

    @abstractmethod
    def add(self, trees: Forest) -> None:
        """Add trees, which come after those before."""

    @abstractmethod
    def importances(self) -> Any:
        """Return the importances, once all trees are added."""

    def over_all(self) -> Any:
        """Add the trees of the forest, and return the importances."""
        for trees in self.forest.parts():
            self.add(trees)
        return self.importances()
