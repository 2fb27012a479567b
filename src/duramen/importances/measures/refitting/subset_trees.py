"""Trees on random subsets of the columns, several to a subset, as one forest on all columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.forests.forest import Forest, arrays_on, joined, values_for_prediction
from duramen.forests.growth import grow
from duramen.forests.settings import GrowthSettings
from duramen.jobs.replicates import Plan
from duramen.support.arrays import IntArray

# Rows x trees of one forest of subsets: 32 MiB of int64.
_BLOCK = 4_000_000
_MOST_SUBSETS = 256


@dataclass(frozen=True, eq=False)
class Learner:
    """Learning set and settings of the trees."""

    data: LearningSet[EncodedTable]  # n rows of p columns, with their classes
    # How a tree is grown; ``row_samples`` is the number of training rows, or groups, of a split.
    settings: GrowthSettings
    subset_size: int  # columns m of a subset
    n_splits: int  # trees t on each subset, each with its own training rows
    plan: Plan  # workers that grow the trees

    def draw(self, n_subsets: int, seed: int) -> IntArray:
        """Draw subsets without replacement within each: shape (s, m), ascending."""
        random = np.random.default_rng(seed)
        p, m = self.data.n_columns, self.subset_size
        drawn = [random.choice(p, m, replace=False, shuffle=False) for _ in range(n_subsets)]
        return np.sort(np.array(drawn, dtype=np.int64).reshape(n_subsets, m), axis=1)

    def forests(self, subsets: IntArray, seed: int) -> Iterator[tuple[int, Forest]]:
        """Yield the trees of many subsets at a time, with the number of the first subset.

        Tree k of subset i has the number i t + k in the stream of random numbers, so that the trees
        depend neither on the threads nor on how many subsets are taken at a time.
        """
        data, settings, n_trees = self.data, self.settings, self.n_splits
        step = max(1, min(_MOST_SUBSETS, _BLOCK // (n_trees * data.n_rows)))

        def trees(i: int, columns: IntArray) -> Forest:
            some = data.with_table(data.table.take_columns(columns), key=("subset", seed, i))
            return grow(some, settings, n_trees=n_trees, seed=seed, first_tree=i * n_trees)

        with self.plan.workers.running(trees) as run:
            for start in range(0, len(subsets), step):
                some = subsets[start : start + step]
                grown = list(run(zip(range(start, start + len(some)), some, strict=True)))
                arrays: dict[str, Any] = joined([*map(arrays_on, grown, some)])
                values = values_for_prediction(data.table.schema, arrays)
                yield start, replace(grown[0], **arrays, schema=values)
