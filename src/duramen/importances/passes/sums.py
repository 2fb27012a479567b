"""Sums over trees: of runs of trees, and of what permutations cost each tree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from duramen.forests.forest import AnyForest, Forest
from duramen.importances.measure import TreeSums
from duramen.importances.passes.nodes import Runs
from duramen.importances.passes.permutation import Losses
from duramen.jobs.progress import progress_bar


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


class LossSums(TreeSums):
    """Losses of the trees, from which `finish` computes the importances.

    `n_splits` is the number of splits of all trees so far.
    """

    def __init__(
        self,
        function: str,
        forest: AnyForest,
        losses: Losses,
        finish: Callable[[LossSums], Any],
        *,
        n_threads: int,
        verbose: int,
    ) -> None:
        super().__init__(forest)
        self.losses, self.n_splits = losses, 0
        self._function, self._finish = function, finish
        self._n_threads, self._verbose = n_threads, verbose
        self._report: Callable[[int], None] | None = None

    def add(self, trees: Forest) -> None:
        """Add trees, which come after those before."""
        self.losses.add(trees, self._n_threads, self._report)
        self.n_splits += int(np.count_nonzero(trees.feature >= 0))

    def importances(self) -> Any:
        """Return the importances, once all trees are added."""
        return self._finish(self)

    def over_all(self) -> Any:
        """Add the trees of the forest, with a bar if asked for, and return the importances."""
        with progress_bar(self.forest.n_trees, self._function, self._verbose) as report:
            done = 0
            for trees in self.forest.parts():
                if report is not None:
                    self._report = lambda count, done=done: report(done + count)
                self.add(trees)
                done += trees.n_trees
        self._report = None
        return self.importances()
