"""Importances standardized column by column over the data and its permutations."""

from __future__ import annotations

import numpy as np

from duramen.support.arrays import FloatArray

# Importances that are equal but for rounding are to stay ties.
_DECIMALS = 9
_BLOCK = 1024  # columns at a time: little memory beside the matrix


def mean_variance(rows: FloatArray) -> float:
    """Return c^2 of `standardized`: the mean over the columns of their variances in all rows."""
    total: float = sum(
        float(_centered(rows[:, block]).var(axis=0).sum()) for block in _blocks(rows)
    )
    mean: float = total / max(1, rows.shape[1])
    return mean


def standardized(rows: FloatArray, least: float | None = None) -> FloatArray:
    r"""Standardize each column by the mean and standard deviation of its other rows, (B + 1, p).

    .. math:: z_{bj} = \frac{s_{bj} - m_{-bj}}{\max(d_{-bj}, c)}, \qquad
              c = \sqrt{\tfrac1p \sum_j d_j^2}

    with m_{-bj} and d_{-bj} the mean and the standard deviation of column j in all rows but b, and
    d_j its standard deviation in all rows. Columns that vary more than the root mean square c under
    permutation are scaled down to it; the others are not scaled up, since many of them are hardly
    ever split on and have almost only importances of 0. Rows are treated alike: rows that are
    exchangeable stay so. A column that does not vary is 0. `least` takes the place of c^2, for
    columns that are compared with those of other rows.
    """
    others, least = len(rows) - 1, mean_variance(rows) if least is None else least
    result = np.zeros_like(rows)
    for block in _blocks(rows):
        centered = _centered(rows[:, block])
        squares, mean = centered**2, -centered / others
        variance = (squares.sum(axis=0) - squares) / others - mean**2
        scale = np.sqrt(np.maximum(variance, least))
        np.divide(centered - mean, scale, out=result[:, block], where=scale > 0)
    return np.round(result, _DECIMALS, out=result)


def _blocks(rows: FloatArray) -> list[slice]:
    return [slice(first, first + _BLOCK) for first in range(0, rows.shape[1], _BLOCK)]


def _centered(rows: FloatArray) -> FloatArray:
    """Return rows less their mean; exactly 0 in columns that do not vary."""
    constant = rows.max(axis=0) == rows.min(axis=0)
    return np.where(constant, 0.0, rows - rows.mean(axis=0))
