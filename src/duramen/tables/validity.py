"""Whether codes, values and labels from a file agree, so that the kernel can read them safely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.tables.names import KINDS


def invalid_values(
    kind_codes: NDArray[np.uint8],
    value_offsets: NDArray[np.int64],
    cut_values: NDArray[np.float64],
    labels: Mapping[int, NDArray[Any]],
) -> str | None:
    """Return what is wrong with the values of columns, None where nothing is.

    Parameters
    ----------
    kind_codes : uint8 array of shape (p,)
        Place of the kind of each column in `KINDS`.
    value_offsets : int64 array of shape (p + 1,)
        Where the values of each column begin.
    cut_values : float64 array of shape (sum of m_j,)
        Of a numeric column finite and ascending, of the others 0..m_j-1.
    labels : mapping of int to ndarray
        m_j labels for each column that is not numeric, and for no other.
    """
    p = len(kind_codes)
    if value_offsets.shape != (p + 1,) or value_offsets[0] != 0:
        return f"value_offsets must have {p + 1} entries from 0"
    counts = np.diff(value_offsets)
    if (counts < 0).any() or value_offsets[-1] != len(cut_values):
        return f"value_offsets must ascend to the number of values, {len(cut_values)}"
    if (kind_codes >= len(KINDS)).any():
        return f"column {int(np.argmax(kind_codes >= len(KINDS)))} has no known kind"
    if not np.isfinite(cut_values).all():
        return "values must be finite"
    first = np.zeros(len(cut_values) + 1, dtype=bool)
    first[value_offsets[:-1]] = True  # the start of an empty column is that of the next
    # Differences of numbers near the limits of float64 would overflow.
    if not (first[1:-1] | (cut_values[1:] > cut_values[:-1])).all():
        return "the values of a column must ascend"
    if set(labels) != set(np.flatnonzero(kind_codes).tolist()):
        return "ordinal and nominal columns must have labels, numeric ones none"
    for j, known in labels.items():
        begin, count = int(value_offsets[j]), int(counts[j])
        if known.shape != (count,):
            return f"column {j} has {count} values and labels of shape {known.shape}"
        if not np.array_equal(cut_values[begin : begin + count], np.arange(count)):
            return f"the values of column {j}, which has labels, must be 0, 1, ..."
    return None


def unknown_code(codes: NDArray[Any], n_codes: NDArray[np.int64]) -> int | None:
    """Return the first row of `codes` that holds a code that is none, None where all are known.

    Parameters
    ----------
    codes : unsigned integer array of shape (k, n)
        Codes of k columns, one a row.
    n_codes : int64 array of shape (k,)
        Number of codes of each column, that of missing included.
    """
    if not codes.size:
        return None
    wrong = codes.max(axis=1) >= n_codes
    return int(np.argmax(wrong)) if wrong.any() else None
