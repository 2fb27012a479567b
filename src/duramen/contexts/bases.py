"""Functions of a feature and of the target, for models of a context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.contexts.subject import Subject
from duramen.data import EncodedTable
from duramen.support.arrays import FloatArray, IntArray

# Rarer categories are taken together.
_FEWEST_ROWS = 10
_MOST_CATEGORIES = 5


def feature_basis(table: EncodedTable, j: int) -> FloatArray:
    """Return normal scores of a feature and their squares, or indicators of categories.

    A missing value has an indicator of its own. Columns, of shape (n, d), have mean 0 and variance
    1; d is 0 for a constant feature.
    """
    codes = np.asarray(table.codes(j), dtype=np.int64)
    if table.kinds[j] == "nominal":
        return _standardized(_indicators(codes))
    present = codes < len(table.values(j))
    columns = _scores(codes, present)
    if not present.all():
        columns = np.column_stack([columns, ~present])
    return _standardized(columns)


def target_basis(subject: Subject) -> FloatArray:
    """Return indicators of classes, or normal scores of numbers and their squares."""
    values = np.asarray(subject.data.target.values)
    if subject.data.classes is not None:
        return _standardized(_indicators(values.astype(np.int64)))
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    return _standardized(_scores(codes, np.ones(len(codes), dtype=np.bool_)))


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products of each column of one matrix with each of another."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _scores(codes: IntArray, present: NDArray[np.bool_]) -> FloatArray:
    """Return normal scores, and their squares if there are more than two values; 0 if unknown."""
    from scipy import special

    columns = np.zeros((len(codes), 2))
    if present.any():
        _, number, counts = np.unique(codes[present], return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2) / present.sum()
        score = special.ndtri(middle)[number.reshape(-1)]
        columns[present] = np.column_stack([score, score**2 - (score**2).mean()])
        if len(counts) < 3:
            columns[:, 1] = 0.0
    return columns


def _indicators(codes: IntArray) -> FloatArray:
    """Return indicators of the categories after the most frequent one, the rare ones as one."""
    values, number, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    frequent = int(np.count_nonzero(counts >= _FEWEST_ROWS))
    n_columns = min(len(values), max(2, min(frequent + 1, _MOST_CATEGORIES)))
    place = np.minimum(place, n_columns - 1)[number.reshape(-1)]
    indicators: FloatArray = (place[:, None] == np.arange(1, n_columns)).astype(np.float64)
    return indicators


def _standardized(columns: FloatArray) -> FloatArray:
    columns = columns - columns.mean(axis=0)
    spread = columns.std(axis=0)
    standardized: FloatArray = columns[:, spread > 1e-9] / spread[spread > 1e-9]
    return standardized
