"""Sums over trees that are computed for runs of trees."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from duramen.forests.forest import AnyForest, Forest
from duramen.importances.passes.nodes import Runs
from duramen.importances.tree_sums import TreeSums


class RunSums(TreeSums):
    """Sums that are computed for runs of trees, all nodes of a run at once."""

    def __init__(self, forest: AnyForest, n_rows: int = 0) -> None:
        super().__init__(forest)
        self._runs = Runs(n_rows)

    def add(self, trees: Forest) -> None:
        """Add trees, which come after those before."""
        for run in self._runs.add(trees):
            self._add_run(run)

    def importances(self) -> Any:
        """Return the importances, once all trees are added."""
        for run in self._runs.rest():
            self._add_run(run)
        return self._result()

    @abstractmethod
    def _add_run(self, run: Forest) -> None:
        """Add a run of trees."""

    @abstractmethod
    def _result(self) -> Any:
        """Return the importances."""
