"""Correlations between the columns of a table, whatever the scale of their values."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from duramen.results.magnitude import of_unit_size
from duramen.results.text import quoted
from duramen.tables import EncodedTable

Correlation = Literal["spearman", "pearson"]
FloatArray = NDArray[np.float64]

BLOCK = 512  # columns whose correlations with all others are in memory at once
DIGITS = 12  # correlations are rounded to so many decimals: that of duplicates is 1


def standardized(table: EncodedTable, correlation: Correlation) -> FloatArray:
    """Return the columns with mean 0 and length 1, so that products are correlations: (n, p).

    "spearman" takes the ranks of the values, ties averaged, "pearson" the values; ordered
    categories are numbered in their order. Constant columns are 0.

    Raises
    ------
    ValueError
        If a column has missing values, or more than two labels without an order.
    """
    columns = np.empty((table.n_rows, table.n_columns), order="F")
    for j in range(table.n_columns):
        columns[:, j] = _numbers(table, j, correlation)
        columns[:, j] -= columns[:, j].mean()
        length = float(np.linalg.norm(columns[:, j]))
        columns[:, j] /= length if length > 0 else 1.0
    return columns


def _numbers(table: EncodedTable, j: int, correlation: Correlation) -> FloatArray:
    """Return the values or average ranks of a column, of shape (n,), between -1 and 1."""
    name, kind, codes, values = table.names[j], table.kinds[j], table.codes(j), table.values(j)
    if table.missing[j]:
        raise ValueError(
            f"representatives: column {quoted(name)} has missing values. Hint: fill them in "
            "first, or leave it out."
        )
    if kind == "nominal" and len(values) > 2:
        raise ValueError(
            f"representatives: column {quoted(name)} has {len(values)} labels without an order, "
            "so that "
            "it has no correlation. Hint: leave it out, or encode it with kinds={...} as ordinal."
        )
    if correlation == "spearman":
        counts = np.bincount(codes, minlength=len(values))
        of_code = np.cumsum(counts) - (counts - 1) / 2
    elif kind == "numeric":
        of_code = of_unit_size(values.astype(np.float64))
    else:
        of_code = np.arange(len(values), dtype=np.float64)
    used = of_code[codes]
    if used.min() == used.max():
        return np.zeros(len(used))
    middle = used.min() / 2 + used.max() / 2  # digits of far-off numbers are kept
    scaled: FloatArray = (used - middle) / (used.max() / 2 - used.min() / 2)
    return scaled


def absolute(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the absolute correlations between columns, rounded."""
    sizes: FloatArray = np.minimum(np.abs(left.T @ right), 1.0).round(DIGITS)
    return sizes


def distances_between(columns: FloatArray) -> FloatArray:
    """Return 1 - |r| of every pair of columns, in the order of `scipy.spatial.distance.pdist`."""
    p = columns.shape[1]
    distances = np.empty(p * (p - 1) // 2)
    start = 0
    for first in range(0, p, BLOCK):
        block = 1.0 - absolute(columns[:, first : first + BLOCK], columns[:, first:])
        for i, row in enumerate(block):
            stop = start + len(row) - i - 1
            distances[start:stop] = row[i + 1 :]
            start = stop
    return distances
