"""A learning set, and how trees are grown on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, Task
from duramen.data.recoding import with_ordinal
from duramen.forests.criteria import IMPURITIES, criterion_named
from duramen.forests.forest import Forest
from duramen.forests.growth import grow
from duramen.forests.memory import refuse_large_forest, refuse_many_trees
from duramen.forests.settings import GrowthSettings, resolve_max_features
from duramen.results.context_importances import SPLITS
from duramen.support import checks
from duramen.theory import discretize

# A numeric column with more distinct values than this has no child for each of them by default.
FEW_VALUES = 10


@dataclass(frozen=True)
class Growth:
    """Growth parameters of the trees of an analysis, as the user gave them."""

    n_estimators: int = 1000  # number of trees
    criterion: str | None = None  # impurity; None by the target: {"entropy", "gini", "variance"}
    splits: str = "auto"  # family of splits: {"auto", "multiway", "ordered"}
    n_bins: int | None = None  # quantile bins of numeric columns
    # As those of the forest estimators.
    max_features: str | int | float | None = 1
    max_depth: int | None = None
    min_samples_leaf: int = 1

    def settings(self, table: EncodedTable, criterion: str, function: str) -> GrowthSettings:
        """Resolve them for a table."""
        splits = checks.check_choice(function, "splits", self.splits, SPLITS)
        if splits == "auto":
            splits = "ordered" if _has_quantities(table) else "multiway"
        return GrowthSettings(
            criterion=criterion,
            cut="random",
            splits=splits,
            max_features=resolve_max_features(
                function, self.max_features, table.n_columns, table.n_columns
            ),
            max_depth=checks.check_optional_integer(function, "max_depth", self.max_depth, 1),
            min_samples_leaf=checks.check_count_or_fraction(
                function, "min_samples_leaf", self.min_samples_leaf, table.n_rows, 1
            ),
        )

    def task(self, function: str) -> Task | None:
        """Check the criterion; return what the target must be for it, or None for any."""
        if self.criterion is None:
            return None
        names = [criterion.name for criterion in IMPURITIES]
        checks.check_choice(function, "criterion", self.criterion, names)
        return criterion_named(self.criterion).task

    def checked_trees(self, function: str) -> int:
        """The number of trees."""
        return checks.check_integer(function, "n_estimators", self.n_estimators, 1)


@dataclass(frozen=True, eq=False)
class Subject:
    """A learning set with the settings of the trees that are grown on it."""

    data: LearningSet[EncodedTable]  # n rows of p inputs; numbers as a target have mean 0
    settings: GrowthSettings  # how trees are grown
    n_trees: int  # number of trees of a forest
    seed: int  # seed of the analysis

    def forest(
        self, seed: int, *, rows: NDArray[np.intp] | None = None, n_threads: int = 1
    ) -> Forest:
        """Grow the forest of a seed on all rows, or on some of them."""
        data, settings = self.data, self.settings
        if rows is not None:
            data = data.of_rows(rows, key=("rows", seed))
            if settings.min_samples_leaf > len(rows):
                settings = replace(settings, min_samples_leaf=max(1, len(rows)))
        return grow(data, settings, n_trees=self.n_trees, seed=seed, n_threads=n_threads)


def subject_of(
    data: LearningSet[EncodedTable],
    growth: Growth,
    seed: int,
    function: str,
    *,
    scale: bool = False,
) -> Subject:
    """Check the settings of trees, and tie them to a learning set.

    With `scale`, numbers are divided by their standard deviation (unless it is 0).
    """
    criterion = growth.criterion or data.target.criterion
    table = data.table
    if growth.n_bins is not None:
        table = binned(table, checks.check_integer(function, "n_bins", growth.n_bins, 2))
    settings = growth.settings(table, criterion, function)
    n_trees = growth.checked_trees(function)
    target = data.target.centered(scale=scale)
    refuse_many_trees(function, n_trees, target.n_values)
    data = data.with_table(table).with_target(target)
    subject = Subject(data, settings, n_trees, seed)

    def grow_pilot(count: int) -> Forest:
        return replace(subject, n_trees=count).forest(seed)

    refuse_large_forest(function, n_trees, settings, data, grow_pilot)
    return subject


def binned(table: EncodedTable, n_bins: int) -> EncodedTable:
    """Put the numeric columns with more than `n_bins` distinct values into quantile bins."""
    intervals = discretize(table, n_bins=n_bins)
    columns = {}
    for j, name in enumerate(table.names):
        if name in intervals.cuts:
            known = [str(value) for value in intervals.values(j).tolist() if value is not None]
            columns[j] = (np.asarray(intervals.codes(j)), np.array(known, dtype=object))
    return with_ordinal(table, columns) if columns else table


def _has_quantities(table: EncodedTable) -> bool:
    numeric = np.array([kind == "numeric" for kind in table.kinds], dtype=np.bool_)
    return bool((np.diff(table.value_offsets)[numeric] > FEW_VALUES).any())
