"""Predictions of a forest on rows of which single columns are replaced."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.learning_sets import table_of
from duramen.data.routing import routing_values
from duramen.forests.forest import Forest, joined
from duramen.forests.prediction import deviations
from duramen.importances.samples import encode_like
from duramen.support import checks
from duramen.support.arrays import FloatArray

_COPIED = 0.25  # fraction of the nodes of a forest that are copied to predict by some of its trees
_AT_ONCE = 1 << 21  # numbers of copies of the rows that are predicted in one call


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in the terms of a forest's columns, some of which can be replaced.

    Attributes
    ----------
    forest : Forest
    values : ndarray of float64, shape (n, p)
        Numbers, codes of categories, NaN for missing.
    n_threads : int
    """

    forest: Forest
    values: FloatArray
    n_threads: int

    @classmethod
    def of(
        cls, forest: Forest, X: Any, function: str, max_rows: int | None, n_jobs: int | None
    ) -> Rows:
        """Read rows; of more than `max_rows`, so many at equal distances are taken."""
        if max_rows is not None:
            checks.check_integer(function, "max_rows", max_rows, 1)
        X = table_of(X)
        take = getattr(X, "take_rows", None)
        if take is not None and max_rows is not None:
            X = take(_spaced(len(X), max_rows))
        forest = with_all_labels(forest, X)
        values = routing_values(forest.schema, X, function=function)
        if max_rows is not None:
            values = values[_spaced(len(values), max_rows)]
        own = np.array(values, dtype=np.float64, order="C", copy=True)
        return cls(forest, own, checks.check_jobs(function, n_jobs))

    def __len__(self) -> int:
        return len(self.values)

    def predict(self) -> FloatArray:
        """Return the predictions on the rows as they are, shape (n, C).

        Less the forest's origin, as all predictions here: effects are differences.
        """
        return self._predicted(self.values)

    def replaced(self, columns: tuple[int, ...], by: FloatArray) -> FloatArray:
        """Return the predictions with columns replaced, shape (n, C).

        `by` has a number for each column, or an array of shape (n,) for each.
        """
        before = self.values[:, columns].copy()
        try:
            for j, value in zip(columns, by, strict=True):
                self.values[:, j] = value
            return self._predicted(self.values)
        finally:
            self.values[:, columns] = before

    def mean_at(self, columns: tuple[int, ...], points: FloatArray) -> FloatArray:
        """Return the mean prediction with columns set to each of some points, shape (G, C).

        `points` has the shape (G, number of columns).
        """
        n, at_once = len(self), _AT_ONCE // max(1, self.values.size)
        if at_once < 2:  # wide rows are not copied
            return np.array([self.replaced(columns, point).mean(axis=0) for point in points])
        means = np.empty((len(points), self.forest.n_values))
        for start in range(0, len(points), at_once):
            some = points[start : start + at_once]
            copies = np.tile(self.values, (len(some), 1))
            copies[:, columns] = np.repeat(some, n, axis=0)
            parts = self._predicted(copies).reshape(len(some), n, -1)
            means[start : start + at_once] = parts.mean(axis=1)
        return means

    def _predicted(self, values: FloatArray) -> FloatArray:
        return deviations(self.forest, values, self.n_threads)

    def splitting_on(self, j: int) -> tuple[Rows, float]:
        """Return the same rows with the trees that split on a column, and their fraction.

        The other trees predict the same for any of its values: a difference of two predictions is
        that of these trees, times their fraction. Where they are many, all trees are returned.
        """
        forest = self.forest
        nodes = np.flatnonzero(forest.feature == j)
        trees = np.unique(np.searchsorted(forest.offsets, nodes, side="right") - 1)
        sizes = np.diff(forest.offsets)[trees]
        if not len(trees):
            return Rows(forest.part(0, 1), self.values, self.n_threads), 0.0
        if sizes.sum() > _COPIED * forest.n_nodes:
            return self, 1.0
        own = [forest.part(tree, tree + 1).arrays() for tree in trees.tolist()]
        arrays: dict[str, Any] = joined(own)
        few = replace(forest, **arrays, leaf_events=None)
        return Rows(few, self.values, self.n_threads), len(trees) / forest.n_trees

    def present(self, j: int) -> NDArray[np.bool_]:
        """Return where a column holds a value that training has seen, shape (n,)."""
        column = self.values[:, j]
        has_value = ~np.isnan(column)
        return has_value & (column >= 0) if j in self.forest.schema.labels else has_value


def with_all_labels(forest: Forest, X: Any) -> Forest:
    """Return a forest with the labels of the rows for columns that its trees do not split on."""
    if all(len(labels) for labels in forest.schema.labels.values()):
        return forest
    table = encode_like(forest, X)
    if table.n_columns != forest.n_features:
        return forest
    return replace(forest, schema=forest.schema.with_labels_of(table.schema))


def column_of(forest: Forest, feature: str | int, function: str) -> int:
    """Return the index of a feature that is given by its name or index."""
    if isinstance(feature, str):
        if feature in forest.names:
            return forest.names.index(feature)
        first_names = ", ".join(forest.names[:8]) + (", ..." if forest.n_features > 8 else "")
        raise ValueError(
            f"{function}: feature must be a column of the forest, got {feature!r}. Hint: its "
            f"columns are {first_names}."
        )
    return checks.check_integer(function, "feature", feature, 0, most=forest.n_features - 1)


def _spaced(n_rows: int, at_most: int) -> NDArray[np.int64]:
    """Return the indices of rows at equal distances."""
    taken = min(n_rows, at_most)
    return np.asarray((np.arange(taken) + 0.5) * n_rows / taken, dtype=np.int64)
