"""Checks that codes, values and labels from a file agree, so that the kernel can read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.names import KINDS

_PIECE = 1 << 17  # values that are compared at a time


def invalid_values(
    kind_codes: NDArray[np.uint8],
    value_offsets: NDArray[np.int64],
    cut_values: NDArray[np.float64],
    labels: Mapping[int, NDArray[Any]],
) -> str | None:
    """Return what is wrong with the values of columns, None where nothing is.

    Columns have kinds (their place in `KINDS`); values of numeric ones are finite and ascend, those
    of others are 0..m_j-1, with m_j labels.
    """
    return (
        invalid_offsets(kind_codes, value_offsets, len(cut_values))
        or unsorted_values(cut_values, value_offsets)
        or invalid_labels(kind_codes, value_offsets, cut_values, labels)
    )


def invalid_offsets(
    kind_codes: NDArray[np.uint8], value_offsets: NDArray[np.int64], n_values: int
) -> str | None:
    """Return what is wrong with the places of the values of columns, None where nothing is."""
    p = len(kind_codes)
    if value_offsets.shape != (p + 1,) or value_offsets[0] != 0:
        return f"value_offsets must have {p + 1} entries from 0"
    if (value_offsets[1:] < value_offsets[:-1]).any() or value_offsets[-1] != n_values:
        return f"value_offsets must ascend to the number of values, {n_values}"
    if p and kind_codes.max() >= len(KINDS):
        return f"column {int(np.argmax(kind_codes >= len(KINDS)))} has no known kind"
    return None


def unsorted_values(
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    begin: int = 0,
    before: float = -np.inf,
) -> str | None:
    """Return what is wrong with values that must be finite and ascend within each column.

    Where they ascend, they are finite if the first and the last of a column are: NaN, which is
    greater than nothing, ends an ascent. So one comparison of neighbors reads them once. The values
    are those from number `begin` on, after the value `before`, of all columns one after the other.
    """
    if len(values) == 0:
        return None
    low, high = np.searchsorted(offsets, (begin, begin + len(values)))
    starts = offsets[low:high] - begin  # of columns that begin here
    ends = np.concatenate([starts - 1, [len(values) - 1]])  # where a column ends, or the values do
    edges = np.concatenate([values[starts], values[ends[ends >= 0]], values[:1]])
    if not np.isfinite(edges).all():
        return "values must be finite"
    rises = np.empty(_PIECE, dtype=bool)
    for i in range(0, len(values), _PIECE):
        piece = values[i : i + _PIECE]
        here = rises[: len(piece)]
        np.greater(piece[1:], piece[:-1], out=here[1:])
        here[0] = piece[0] > (values[i - 1] if i else before)
        low, high = np.searchsorted(starts, (i, i + len(piece)))
        here[starts[low:high] - i] = True
        if not here.all():
            return "the values of a column must be finite and ascend"
    return None


def invalid_labels(
    kind_codes: NDArray[np.uint8],
    value_offsets: NDArray[np.int64],
    cut_values: NDArray[np.float64],
    labels: Mapping[int, NDArray[Any]],
) -> str | None:
    """Return what is wrong with labels, None where each column that needs them has its own."""
    if set(labels) != set(np.flatnonzero(kind_codes).tolist()):
        return "ordinal and nominal columns must have labels, numeric ones none"
    for j, categories in labels.items():
        begin, end = int(value_offsets[j]), int(value_offsets[j + 1])
        if categories.shape != (end - begin,):
            return f"column {j} has {end - begin} values and labels of shape {categories.shape}"
        if not np.array_equal(cut_values[begin:end], np.arange(end - begin)):
            return f"the values of column {j}, which has labels, must be 0, 1, ..."
    return None


def unknown_code(codes: NDArray[Any], n_codes: NDArray[np.int64]) -> int | None:
    """Return the first of k rows of codes, one a column, that holds an unknown code, or None."""
    if not codes.size:
        return None
    if n_codes.min() == n_codes.max() > codes.max():
        return None
    # The largest code of each row, in less than half the time that codes.max(axis=1) takes.
    largest = np.maximum.reduceat(codes.reshape(-1), np.arange(0, codes.size, codes.shape[1]))
    wrong = largest >= n_codes
    return int(np.argmax(wrong)) if wrong.any() else None
