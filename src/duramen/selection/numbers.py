"""Tables as matrices of numbers, for learners and filters that take no codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable


def numbers_of(table: EncodedTable) -> NDArray[np.float64]:
    """Return the values of numeric columns and the codes of others, shape (n, p); NaN for missing.

    Ordered categories are numbered in their order, others in that of their labels.
    """
    found = np.empty((table.n_rows, table.n_columns))
    for j in range(table.n_columns):
        values = table.values(j)
        numeric = table.kinds[j] == "numeric"
        numbers = values.astype(np.float64) if numeric else np.arange(len(values), dtype=float)
        found[:, j] = np.append(numbers, np.nan)[table.codes(j)]
    return found
