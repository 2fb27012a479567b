"""Growth of the forests of an analysis: a learning set, and the settings of its trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from duramen.data import EncodedTable, LearningSet
from duramen.data.recoding import with_ordinal
from duramen.forests.forest import Forest
from duramen.forests.growth import grow
from duramen.forests.memory import refuse_large_forest
from duramen.forests.settings import GrowthSettings
from duramen.importances.refit import for_task, growing
from duramen.results.context_importances import SPLITS
from duramen.support import checks
from duramen.theory import discretize

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

CLASSES = (
    "TotallyRandomizedTreesClassifier",
    "TotallyRandomizedTreesRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
)
PARAMETERS = (
    "n_estimators",
    "criterion",
    "splits",
    "max_features",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
)
"""Parameters of the estimator that say how the trees of an analysis are grown."""


def template_for(estimator: Any, function: str) -> BaseForest:
    """Return the estimator of the trees of an analysis, not fitted.

    Raises
    ------
    TypeError, ValueError
        If its trees are not those of random cuts on all rows, or it has parameters without effect.
    """
    if estimator is None:
        from duramen.estimators import TotallyRandomizedTreesClassifier

        estimator = TotallyRandomizedTreesClassifier(1000)
    template = growing(estimator, function, CLASSES, PARAMETERS)
    checks.check_choice(function, "splits of estimator", template.splits, SPLITS)
    return template


@dataclass(frozen=True, eq=False)
class Growth:
    """Learning set, with the settings of the trees that are grown on it."""

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


def growth_of(
    data: LearningSet[EncodedTable],
    template: BaseForest,
    seed: int,
    function: str,
    *,
    n_bins: int | None = None,
    scale: bool = False,
) -> Growth:
    """Check the settings of trees, and tie them to a learning set.

    With `scale`, numbers are divided by their standard deviation (unless it is 0).
    """
    table = data.table
    if n_bins is not None:
        table = binned(table, checks.check_integer(function, "n_bins", n_bins, 2))
    estimator = clone(for_task(template, data.target, function))
    settings = estimator.growth_settings(table.n_rows, table.n_columns, table)
    n_trees = estimator.n_estimators
    target = data.target.centered(scale=scale)
    data = data.with_table(table).with_target(target)
    refuse_large_forest(function, n_trees, settings, data)
    return Growth(data, settings, n_trees, seed)


def binned(table: EncodedTable, n_bins: int) -> EncodedTable:
    """Put the numeric columns with more than `n_bins` distinct values into quantile bins."""
    intervals = discretize(table, n_bins=n_bins)
    columns = {}
    for j, name in enumerate(table.names):
        if name in intervals.cuts:
            intervals_seen = [
                str(value) for value in intervals.values(j).tolist() if value is not None
            ]
            columns[j] = (np.asarray(intervals.codes(j)), np.array(intervals_seen, dtype=object))
    return with_ordinal(table, columns) if columns else table
