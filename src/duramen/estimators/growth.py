"""Learning set, settings and number of trees from which an estimator grows its forest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from duramen.data import EncodedTable, LearningSet
from duramen.estimators.warm_start import completed
from duramen.forests.forest import Forest, TreeStream
from duramen.forests.growth import Guidance, grow
from duramen.forests.memory import PILOT_TREES, most_tree_bytes, refuse_large_forest, require_tree
from duramen.forests.settings import GrowthSettings

# Bytes of a part of a forest that is grown part by part, and the most trees of one.
_PART, _MOST_TREES = 1 << 28, 64


@dataclass(frozen=True, eq=False)
class Growth:
    """Learning set, settings and number of trees of a forest."""

    data: LearningSet[EncodedTable]
    settings: GrowthSettings
    n_trees: int
    seed: int
    n_threads: int
    guidance: Guidance | None = None
    kept: Forest | None = None  # first trees that there are already

    @property
    def first(self) -> int:
        """Number of the first tree to grow."""
        return 0 if self.kept is None else self.kept.n_trees

    @property
    def n_missing(self) -> int:
        """Number of trees to grow."""
        return self.n_trees - self.first

    def require_memory(self, function: str) -> None:
        """Raise MemoryError if the forest cannot fit in memory."""
        grow_pilot = partial(self.trees, self.first)
        refuse_large_forest(function, self.n_trees, self.settings, self.data, grow_pilot)

    def forest(self, report: Callable[[int], None] | None = None) -> Forest:
        """Grow the trees that are missing, and return all of them."""
        return completed(
            self.kept, self.n_trees, lambda count: self.trees(self.first, count, report)
        )

    def trees(self, first: int, count: int, report: Callable[[int], None] | None = None) -> Forest:
        """Grow some trees."""
        return grow(
            self.data,
            self.settings,
            n_trees=count,
            seed=self.seed,
            first_tree=first,
            n_threads=self.n_threads,
            progress=report,
            guidance=self.guidance,
        )

    def stream(self, function: str, most_bytes: int) -> TreeStream | None:
        """Return the forest part by part if its trees would take more than so many bytes.

        None where they would not, judging by the first ones, or depend on each other.
        """
        own = self.guidance is None and self.kept is None and not self.data.target.censored
        largest = most_tree_bytes(self.data.target.n_values, self.settings, self.data.table)
        if not own or largest * self.n_trees <= most_bytes:
            return None
        require_tree(function, self.settings, self.data)
        pilot = min(PILOT_TREES, self.n_trees, max(1, _PART // largest))
        first = self.trees(0, pilot)
        of_tree = max(1, first.nbytes // pilot)
        if of_tree * self.n_trees <= most_bytes or pilot == self.n_trees:
            return None
        size = max(1, min(_MOST_TREES, _PART // of_tree))
        return TreeStream.after(first, self.n_trees, size, self.trees)
