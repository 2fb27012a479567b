"""Correlations between the columns of a table, whatever the scale of their values."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable
from duramen.support.arrays import FloatArray, of_unit_size

Correlation = Literal["spearman", "pearson"]

BLOCK = 512  # columns whose correlations with all others are in memory at once
DIGITS = 12  # correlations are rounded to so many decimals: that of duplicates is 1
_FEWEST = 10  # rows that a correlation takes where values are missing
_CONSTANT = 1e-12  # variance of columns, scaled to [-1, 1], below which they are constant


def standardized(table: EncodedTable, correlation: Correlation) -> FloatArray:
    """Return the columns with mean 0 and length 1, so that products are correlations: (n, p).

    "spearman" takes the ranks of the values, ties averaged, "pearson" the values; ordered
    categories are numbered in their order. Missing values are NaN, and mean and length are those of
    the others. Constant columns are 0, and so are those of more than two labels without an order.
    """
    columns = with_gaps(table, correlation)
    for j in range(table.n_columns):
        present = ~np.isnan(columns[:, j])
        if not present.any():
            columns[:, j] = 0.0
            continue
        part = columns[present, j] - columns[present, j].mean()
        length = float(np.linalg.norm(part))
        columns[present, j] = part / (length if length > 0 else 1.0)
    return columns


def _values_of_codes(
    table: EncodedTable, j: int, codes: NDArray[Any], correlation: Correlation
) -> FloatArray:
    """Return the number that stands for each code, given the codes of the rows that count."""
    values = table.values(j)
    if correlation == "spearman":
        counts = np.bincount(codes, minlength=len(values))
        return np.asarray(np.cumsum(counts) - (counts - 1) / 2)
    if table.kinds[j] == "numeric":
        return of_unit_size(values.astype(np.float64))
    return np.arange(len(values), dtype=np.float64)


def _scaled(used: FloatArray) -> FloatArray:
    """Shift and scale numbers to [-1, 1]; to 0 if they are all the same."""
    if used.min() == used.max():
        return np.zeros(len(used))
    middle = used.min() / 2 + used.max() / 2  # digits of far-off numbers are kept
    scaled: FloatArray = (used - middle) / (used.max() / 2 - used.min() / 2)
    return scaled


def with_gaps(table: EncodedTable, correlation: Correlation) -> FloatArray:
    """Return the columns as numbers of moderate size, NaN where missing; shape (n, p).

    Columns of more than two labels without an order are NaN throughout.
    """
    columns = np.full((table.n_rows, table.n_columns), np.nan, order="F")
    for j in range(table.n_columns):
        codes, n_values = np.asarray(table.codes(j)), len(table.values(j))
        present = codes < n_values
        if present.any() and not (table.kinds[j] == "nominal" and n_values > 2):
            of_code = _values_of_codes(table, j, codes[present], correlation)
            columns[present, j] = _scaled(of_code[codes[present]])
    return columns


def pairwise(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the correlations between columns over the rows where both are known, rounded.

    They are 0 where one of the two is constant over these rows, and where these are fewer than ten
    and not all: correlations over two or three rows are large by chance.
    """
    here, there = (~np.isnan(columns) for columns in (left, right))
    a, b = np.where(here, left, 0.0), np.where(there, right, 0.0)
    if here.all() and there.all():
        n: Any = np.float64(len(a))
        sums = a.sum(axis=0)[:, None], b.sum(axis=0)
        squares = (a * a).sum(axis=0)[:, None], (b * b).sum(axis=0)
    else:
        of_left, of_right = here.astype(np.float64), there.astype(np.float64)
        n = np.maximum(of_left.T @ of_right, 1.0)
        sums = a.T @ of_right, of_left.T @ b
        squares = (a * a).T @ of_right, of_left.T @ (b * b)
    product = a.T @ b - sums[0] * sums[1] / n
    spread = [square - total**2 / n for square, total in zip(squares, sums, strict=True)]
    varies = (spread[0] > _CONSTANT * n) & (spread[1] > _CONSTANT * n)
    varies &= n >= min(_FEWEST, len(a))
    scale = np.sqrt(np.where(varies, spread[0] * spread[1], 1.0))
    r: FloatArray = np.clip(np.where(varies, product / scale, 0.0), -1.0, 1.0).round(DIGITS)
    return r


def absolute(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the absolute correlations between standardized columns, rounded.

    With missing values, those over the rows where both are known.
    """
    if np.isnan(left).any() or np.isnan(right).any():
        return np.abs(pairwise(left, right))
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
