"""Inputs of an analysis: the context of each row, and the rows and settings of its forests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from duramen.data import EncodedTable, LearningSet
from duramen.data.categories import coded_variable, variable_name
from duramen.data.recoding import with_ordinal
from duramen.data.target import MOST_CLASSES
from duramen.forests.forest import Forest
from duramen.forests.growth import grow
from duramen.forests.memory import refuse_large_forest
from duramen.forests.settings import GrowthSettings
from duramen.importances.refit import for_task, growing
from duramen.results.context_importances import SPLITS
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.text import quoted
from duramen.theory import discretize

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

UNNAMED = ("Xc", "context")  # names of a context without one


@dataclass(frozen=True, eq=False)
class Context:
    """A variable that is no input, with a category for every row."""

    name: str
    labels: tuple[str, ...]  # its C contexts, as text, in their order
    codes: NDArray[np.uint32]  # (n,): context of each row
    cuts: tuple[float, ...] | None = None  # where a numeric context was cut

    @property
    def count(self) -> int:
        """Number C of contexts."""
        return len(self.labels)

    @property
    def fractions(self) -> FloatArray:
        """Fraction of the rows in each context, of shape (C,)."""
        return np.bincount(self.codes, minlength=self.count) / len(self.codes)


def read_context(
    context: Any, n_rows: int, n_bins: int, function: str, name: str | None = None
) -> Context:
    """Read one context with a category for each row, named by its series or "Xc".

    Floating-point numbers, and whole ones with more than 20 distinct values, are put into quantile
    bins if they have more distinct values than there are bins.
    """
    checks.check_integer(function, "context_bins", n_bins, 2)
    values, codes = coded_variable(context, "context", n_rows, function)
    chosen = variable_name(context, UNNAMED, ()) if name is None else name
    cuts = None
    kind, n_values = values.dtype.kind, len(values)
    if (kind == "f" and n_values > n_bins) or (kind in "iu" and n_values > MOST_CLASSES):
        numbers = values[codes].astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{function}: context must be finite, got an infinite value.")
        binned = discretize(numbers.reshape(-1, 1), n_bins=n_bins, names=["context"])
        values, codes = binned.values(0), binned.codes(0)
        cuts = tuple(binned.cuts["context"].tolist())
    if len(values) < 2:
        raise ValueError(
            f"{function}: context must have at least two values, got only "
            f"{quoted(values.tolist()[0])} in {chosen}; effects compare the rows of one context "
            "with all rows."
        )
    labels = tuple(str(value) for value in values.tolist())
    return Context(chosen, labels, np.ascontiguousarray(codes, dtype=np.uint32), cuts)


def split_off(
    table: EncodedTable, context: Any, n_bins: int, function: str
) -> tuple[EncodedTable, Context]:
    """Read the context, and remove it from the table if it is a column."""
    if context is None:
        raise ValueError(
            f"{function}: context must be given: a column of X by name, or one value for each row."
        )
    contexts = contexts_of(context)
    for name in contexts if isinstance(contexts, list) else ():
        if name not in table.names:
            shown = ", ".join(map(quoted, table.names[:8])) + ", ..." * (len(table.names) > 8)
            raise ValueError(
                f"{function}: context {quoted(name)} is not a column of X, whose columns are "
                f"{shown}. Hint: a list of strings names columns; give the values of a context as "
                "an array."
            )
    if len(contexts) != 1:
        raise ValueError(
            f"{function}: context must be a single context, got {len(contexts)}. Hint: call it for "
            "each; with the same random_state all have the same trees."
        )
    (name,) = contexts
    if isinstance(contexts, dict):
        return table, read_context(contexts[name], table.n_rows, n_bins, function, name)
    if table.n_columns == 1:
        raise ValueError(f"{function}: X must have a column besides the context, got none.")
    j = table.names.index(name)
    values = read_context(table.column_values(j), table.n_rows, n_bins, function, name)
    return table.take_columns([k for k in range(table.n_columns) if k != j]), values


def contexts_of(context: Any) -> list[str] | dict[str, Any]:
    """Return the names of the columns that hold contexts, or the values of contexts by name."""
    if isinstance(context, str):
        return [context]
    if (
        isinstance(context, list | tuple)
        and context
        and all(isinstance(name, str) for name in context)
    ):
        return list(context)
    if isinstance(context, Mapping):
        return {str(name): values for name, values in context.items()}
    shape = getattr(context, "shape", None)
    if hasattr(context, "columns") and isinstance(shape, tuple) and len(shape) == 2:
        import narwhals as nw

        frame = nw.from_native(context, eager_only=True)
        return {name: frame.get_column(name).to_native() for name in frame.columns}
    return {variable_name(context, UNNAMED, ()): context}


# --- forests ----------------------------------------------------------------------------------

CLASSES = (
    "TotallyRandomizedTreesClassifier",
    "TotallyRandomizedTreesRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
)
PARAMETERS = (
    "n_estimators",
    "criterion",
    "splits",
    "max_features",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "bootstrap",
)
"""Parameters of the estimator that say how the trees of an analysis are grown."""


def template_for(estimator: Any, function: str) -> BaseForest:
    """Return the estimator of the trees of an analysis, not fitted.

    Raises
    ------
    TypeError, ValueError
        If it is of another class, or has parameters without effect.
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
    """Bin the numeric columns with more than `n_bins` distinct values at quantiles."""
    intervals = discretize(table, n_bins=n_bins)
    columns = {}
    for j, name in enumerate(table.names):
        if name in intervals.cuts:
            labels = [str(value) for value in intervals.values(j).tolist() if value is not None]
            columns[j] = (np.asarray(intervals.codes(j)), np.array(labels, dtype=object))
    return with_ordinal(table, columns) if columns else table
