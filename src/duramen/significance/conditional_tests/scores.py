"""Columns of a table as numbers: normal scores, and indicators of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.data import EncodedTable
from duramen.data.scores import centered_within
from duramen.support.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of the columns of a table, each of mean 0 (within strata) and variance 1, about.

    A numeric or ordinal feature has one column of normal scores of its mid-ranks, and one indicator
    more where values are missing; a feature of two values has an indicator; a nominal one an
    indicator for each value, its missing ones among them. A constant feature has none.

    Attributes
    ----------
    values : float64 array of shape (n, q)
    first : int64 array of shape (p + 1,)
        Where the columns of each feature begin.
    discrete : bool array of shape (p,)
        Whether all columns of a feature are indicators.
    codes : list of p arrays of shape (n,)
        Codes of each feature, that of missing values last.
    """

    values: FloatArray
    first: IntArray
    discrete: np.ndarray
    codes: list[np.ndarray]

    @classmethod
    def of(cls, table: EncodedTable, strata: IntArray | None = None) -> Scores:
        """Return the scores of a table."""
        columns: list[FloatArray] = []
        first, discrete, all_codes = [0], [], []
        for j in range(table.n_columns):
            codes = np.asarray(table.codes(j))
            present = np.bincount(codes, minlength=1) > 0
            here, levels = _columns(codes, present, len(table.values(j)), table.kinds[j])
            columns += here
            first.append(first[-1] + len(here))
            discrete.append(levels)
            all_codes.append(codes)
        values = np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))
        return cls(centered_within(values, strata), np.array(first), np.array(discrete), all_codes)

    def columns(self, j: int) -> slice:
        """Return the columns of the j-th feature."""
        return slice(int(self.first[j]), int(self.first[j + 1]))

    @property
    def widths(self) -> IntArray:
        """Number of columns of each feature, 0 of a constant one; shape (p,)."""
        return np.diff(self.first)


def _columns(
    codes: np.ndarray, present: np.ndarray, n_values: int, kind: str
) -> tuple[list[FloatArray], bool]:
    """Return the columns of a feature, and whether all are indicators."""
    distinct = np.flatnonzero(present)
    if len(distinct) < 2:
        return [], True
    if len(distinct) == 2:
        return [_unit((codes == distinct[1]).astype(np.float64))], True
    if kind == "nominal":
        return [(codes == value).astype(np.float64) for value in distinct], True
    columns, missing = [], codes >= n_values
    scores = normal_scores(codes[~missing], np.bincount(codes[~missing]))
    column = np.zeros(len(codes))
    column[~missing] = scores
    columns.append(_unit(column))
    if missing.any():
        columns.append(_unit(missing.astype(np.float64)))
    return columns, False


def normal_scores(codes: np.ndarray, counts: IntArray) -> FloatArray:
    """Return the normal quantile of the mid-rank of each row, ties averaged."""
    from scipy.special import ndtri

    middle = np.cumsum(counts) - counts / 2.0
    return np.asarray(ndtri(middle / len(codes))[codes])


def normal_scores_of(columns: FloatArray) -> FloatArray:
    """Return the normal quantiles of the ranks of each column, shape (n, q); ties by row."""
    from scipy.special import ndtri

    ranks = np.argsort(np.argsort(columns, axis=0, kind="stable"), axis=0)
    return np.asarray(ndtri((ranks + 0.5) / len(columns)))


def _unit(column: FloatArray) -> FloatArray:
    spread = column.std()
    return np.asarray((column - column.mean()) / (spread if spread > 0 else 1.0))
