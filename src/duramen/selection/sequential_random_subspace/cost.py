"""Time that a tree of a search takes, from that of a few."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable
from duramen.io import ColumnStore
from duramen.io.store.budget import COLUMN_BYTES

if TYPE_CHECKING:
    from duramen.selection.selector import Data

# A first round that took longer than this, in seconds, is the only one that is timed; else so many
# are, apart from what comes before and the first, which may be slower than the others.
_LONG = 1.0
_PILOT_ROUNDS = 15


def seconds_of_tree(search: Any, data: Data) -> float:
    """Estimate how long a tree takes, by growing a few.

    Parameters
    ----------
    search : SequentialRandomSubspace
        Parameters; it is copied, not fitted.
    data : LearningSet
        The rows.

    Returns
    -------
    float
        Seconds for one of `n_estimators` trees; those of a round grow at a time.
    """
    pilot = copy.copy(search).set_params(checkpoint=None, verbose=0, patience=None)
    batch = search.batch_size

    def took(n_trees: int) -> float:
        start = time.perf_counter()
        pilot.set_params(n_estimators=n_trees).fit(data)
        return time.perf_counter() - start

    first, rounds = took(batch), _PILOT_ROUNDS * batch
    if first > _LONG or search.n_estimators < 2 * rounds:
        return float(first / batch)
    before = took(batch)
    return float(max(took(batch + rounds) - before, 0.0) / rounds)


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
