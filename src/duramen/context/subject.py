"""What is analysed: a table, a target, and how trees are grown on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from duramen.forests import parameters
from duramen.forests.forest import Forest
from duramen.forests.growth import grow
from duramen.forests.memory import refuse_large_forest, refuse_many_trees
from duramen.forests.settings import GrowthSettings
from duramen.tables import EncodedTable, encode_target, infer_task
from duramen.theory import discretize

FloatArray = NDArray[np.float64]

# A numeric column with more distinct values than this has no child for each of them by default.
FEW_VALUES = 10
SPLITS = ("auto", "multiway", "ordered")
CRITERIA = ("entropy", "gini", "variance")


@dataclass(frozen=True)
class Growth:
    """How the trees of an analysis are grown, as the user gave it.

    Attributes
    ----------
    n_estimators : int
        Number of trees.
    criterion : {"entropy", "gini", "variance"} or None
        Impurity; None by the target.
    splits : {"auto", "multiway", "ordered"}
        Family of splits.
    n_bins : int or None
        Quantile bins of numeric columns.
    max_features, max_depth, min_samples_leaf
        As those of the forest estimators.
    """

    n_estimators: int = 1000
    criterion: str | None = None
    splits: str = "auto"
    n_bins: int | None = None
    max_features: str | int | float | None = 1
    max_depth: int | None = None
    min_samples_leaf: int = 1

    def settings(self, table: EncodedTable, criterion: str, function: str) -> GrowthSettings:
        """Resolve them for a table."""
        splits = parameters.check_choice(function, "splits", self.splits, SPLITS)
        if splits == "auto":
            splits = "ordered" if _has_quantities(table) else "multiway"
        return GrowthSettings(
            criterion=criterion,
            cut="random",
            splits=splits,
            max_features=parameters.resolve_max_features(
                function, self.max_features, table.n_columns, table.n_columns
            ),
            max_depth=parameters.check_optional_integer(function, "max_depth", self.max_depth, 1),
            min_samples_leaf=parameters.check_count_or_share(
                function, "min_samples_leaf", self.min_samples_leaf, table.n_rows, 1
            ),
        )

    def checked_trees(self, function: str) -> int:
        """The number of trees."""
        return parameters.check_integer(function, "n_estimators", self.n_estimators, 1)


@dataclass(frozen=True, eq=False)
class Subject:
    """A learning set with the settings of the trees that are grown on it.

    Attributes
    ----------
    table : EncodedTable
        n rows of p inputs.
    target : array of shape (n,)
        uint32 class codes, or float64 numbers with mean 0.
    classes : array of shape (C,) or None
        Labels of the classes; None in regression.
    settings : GrowthSettings
        How trees are grown.
    n_trees : int
        Number of trees of a forest.
    seed : int
        Seed of the analysis.
    """

    table: EncodedTable
    target: NDArray[Any]
    classes: NDArray[Any] | None
    settings: GrowthSettings
    n_trees: int
    seed: int

    def forest(
        self, seed: int, *, rows: NDArray[np.intp] | None = None, n_threads: int = 1
    ) -> Forest:
        """Grow the forest of a seed on all rows, or on some of them."""
        table = self.table if rows is None else self.table.take_rows(rows)
        target = self.target if rows is None else self.target[rows]
        settings = self.settings
        if rows is not None and settings.min_samples_leaf > len(rows):
            settings = replace(settings, min_samples_leaf=max(1, len(rows)))
        return grow(
            table,
            target,
            settings,
            n_trees=self.n_trees,
            seed=seed,
            classes=self.classes,
            n_threads=n_threads,
        )


def subject_of(
    table: EncodedTable, y: Any, growth: Growth, seed: int, function: str, *, scale: bool = False
) -> Subject:
    """Check a target and the settings, and tie them to a table.

    Parameters
    ----------
    table : EncodedTable
        n rows of p inputs.
    y : array-like of shape (n,)
        Labels or numbers.
    growth : Growth
        How the user wants trees to be grown.
    seed : int
        Seed of the analysis.
    function : str
        Who asks, for errors.
    scale : bool
        Whether numbers are divided by their standard deviation (unless it is 0).
    """
    criterion = growth.criterion
    if criterion is None:
        task = infer_task(y, function=function)
        criterion = "entropy" if task == "classification" else "variance"
    parameters.check_choice(function, "criterion", criterion, CRITERIA)
    if growth.n_bins is not None:
        table = binned(table, parameters.check_integer(function, "n_bins", growth.n_bins, 2))
    settings = growth.settings(table, criterion, function)
    n_trees = growth.checked_trees(function)
    classes: NDArray[Any] | None = None
    target: NDArray[Any]
    if criterion == "variance":
        numbers = encode_target(y, "regression", n_rows=table.n_rows, function=function)
        target = numbers - numbers.mean()
        spread = float(target.std())
        if scale and spread > 0:
            target = target / spread
    else:
        classes, target = encode_target(y, "classification", n_rows=table.n_rows, function=function)
    n_values = 1 if classes is None else len(classes)
    refuse_many_trees(function, n_trees, n_values)
    subject = Subject(table, target, classes, settings, n_trees, seed)

    def grow_pilot(count: int) -> Forest:
        return replace(subject, n_trees=count).forest(seed)

    refuse_large_forest(function, n_trees, n_values, settings, table, grow_pilot)
    return subject


def binned(table: EncodedTable, n_bins: int) -> EncodedTable:
    """Put the numeric columns with more than `n_bins` distinct values into quantile bins."""
    from duramen.tables import encode

    intervals = discretize(table, n_bins=n_bins)
    columns: list[pa.Array] = []
    for j, name in enumerate(table.names):
        codes = table.codes(j) if name not in intervals.cuts else intervals.codes(j)
        values = table.values(j) if name not in intervals.cuts else intervals.values(j)
        known = [value for value in values.tolist() if value is not None]
        absent = np.asarray(codes) >= len(known)
        if name not in intervals.cuts and table.kinds[j] == "numeric":
            numbers = np.append(np.asarray(known, dtype=np.float64), np.nan)
            columns.append(pa.array(numbers[np.asarray(codes)]))
            continue
        indices = pa.array(np.where(absent, 0, codes).astype(np.int32), mask=absent)
        ordered = table.kinds[j] != "nominal"
        columns.append(
            pa.DictionaryArray.from_arrays(indices, pa.array(map(str, known)), ordered=ordered)
        )
    return encode(pa.table(columns, names=list(table.names)))


def _has_quantities(table: EncodedTable) -> bool:
    numeric = np.array([kind == "numeric" for kind in table.kinds], dtype=np.bool_)
    return bool((np.diff(table.value_offsets)[numeric] > FEW_VALUES).any())
