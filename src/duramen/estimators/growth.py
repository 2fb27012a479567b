"""Growth of the forest of an estimator: at once, after earlier trees, or part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from duramen.data import EncodedTable, LearningSet
from duramen.data.memory import require_memory
from duramen.forests.arrays import LeafEvents
from duramen.forests.forest import Forest, TreeStream, joined
from duramen.forests.growth import Guidance, forest_of, grow
from duramen.forests.memory import (
    PILOT_TREES,
    counted_in_rows,
    most_tree_bytes,
    refuse_large_forest,
    require_tree,
)
from duramen.forests.patches import patch_memory
from duramen.forests.settings import GrowthSettings
from duramen.io import ColumnStore
from duramen.jobs.workers import Cluster
from duramen.support.arrays import Arrays

# Jobs for each thread of a cluster: as many as keep its workers busy to the end.
_JOBS = 8

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
    cluster: Cluster | None = None  # what grows the trees, if not the threads of this process

    def require_memory(self, function: str) -> None:
        """Raise MemoryError if the forest cannot fit in memory."""
        if isinstance(self.data.table, ColumnStore):
            settings = counted_in_rows(self.settings, self.data)
            needed = patch_memory(self.data.table, settings, self.n_threads)
            require_memory(
                needed.total,
                what=f"random patches on {self.n_threads} threads",
                function=function,
                hint="lower max_samples, n_subspace_features or n_jobs",
            )
        grow_pilot = partial(self.trees, 0)
        refuse_large_forest(function, self.n_trees, self.settings, self.data, grow_pilot)

    def trees(self, first: int, count: int, report: Callable[[int], None] | None = None) -> Forest:
        """Grow some trees."""
        in_turn = self.guidance is not None and self.guidance.factors is not None
        if self.cluster is None or in_turn or not self.cluster.connected:
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
        there = replace(self, n_threads=1, cluster=None)
        at_a_time = self.cluster.at_a_time
        size = max(1, count // (_JOBS * at_a_time))
        stop = first + count
        jobs = ((start, min(size, stop - start)) for start in range(first, stop, size))
        arrays, events = [], []
        with self.cluster.running(partial(_arrays, there)) as run:
            for of_trees, of_leaves in run(jobs):
                arrays.append(of_trees)
                events.append(of_leaves)
                if report is not None:
                    report(min(len(arrays) * size, count))
        leaf_events = LeafEvents.joined(events) if self.data.target.censored else None
        return forest_of(
            joined(arrays), self.data, self.settings, self.seed, first, leaf_events=leaf_events
        )

    def stream(self, function: str, most_bytes: int) -> TreeStream | None:
        """Return the forest part by part if its trees would take more than so many bytes.

        None where they would not, judging by the first ones, or depend on each other.
        """
        own = self.guidance is None and not self.data.target.censored
        settings = counted_in_rows(self.settings, self.data)
        largest = most_tree_bytes(self.data.target.n_values, settings, self.data.table)
        if not own or largest * self.n_trees <= most_bytes:
            return None
        require_tree(function, self.settings, self.data)
        part = min(_PART, most_bytes)
        pilot = min(PILOT_TREES, self.n_trees, max(self.n_threads, part // largest))
        first = self.trees(0, pilot)
        of_tree = max(1, first.nbytes // pilot)
        if of_tree * self.n_trees <= most_bytes or pilot == self.n_trees:
            return None
        size = max(self.n_threads, min(_MOST_TREES, part // of_tree))
        schema = self.data.table.schema
        return TreeStream.after(first, self.n_trees, size, self.trees, schema)


def _arrays(growth: Growth, first: int, count: int) -> tuple[Arrays, LeafEvents | None]:
    """Grow some trees on a worker; return what the sender does not know of the forest."""
    forest = growth.trees(first, count)
    return forest.arrays(), forest.leaf_events
