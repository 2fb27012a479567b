"""Number of features of a tree that a stated memory holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable
from duramen.io import ColumnStore
from duramen.io.store.budget import COLUMN_BYTES

# Bytes of a row of a column while a tree grows: single-precision copies by column and by row, and
# up to four copies of its code, with those where rows are permuted; of each distinct value, what
# is copied and worked out as columns are put together. Measured in `benchmarks/README.md`.
_BY_ROW, _COPIES_OF_CODES, _BY_VALUE = 8, 4, 24


def column_bytes(source: EncodedTable | ColumnStore) -> NDArray[np.int64]:
    """Return what each column may take in memory while a tree grows on it, of shape (p,)."""
    n_codes = source.n_codes()
    code = np.select([n_codes <= 1 << 8, n_codes <= 1 << 16], [1, 2], 4)
    rows = source.n_rows * (_BY_ROW + _COPIES_OF_CODES * code)
    return np.asarray(rows + _BY_VALUE * n_codes + COLUMN_BYTES, dtype=np.int64)


def widest_within(budget: int, source: EncodedTable | ColumnStore) -> int:
    """Return how many columns fit, whichever they are; 0 if the widest does not."""
    widest_first = np.sort(column_bytes(source))[::-1]
    return int(np.searchsorted(np.cumsum(widest_first), budget, side="right"))
