"""Columns whose rows are permuted in their place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable


def with_permuted(
    table: EncodedTable, columns: ArrayLike, order: ArrayLike, *, function: str = "with_permuted"
) -> EncodedTable:
    """Return the table with the rows of some of its columns permuted, all by one permutation.

    Each of these columns, given by index or as a mask, holds in row i what it held in row
    ``order[i]``. They keep their dependence on each other, and lose that on the other columns and
    on the target. Codes keep their meaning, and what does not change is not copied.
    """
    permutation = np.asarray(order)
    if permutation.dtype.kind not in "iu" or not np.array_equal(
        np.sort(permutation), np.arange(table.n_rows)
    ):
        raise ValueError(
            f"{function}: order must be a permutation of 0 to {table.n_rows - 1}, got an array of "
            f"shape {permutation.shape} and type {permutation.dtype}."
        )
    chosen = EncodedTable._positions(columns, table.n_columns, function)

    def permuted(number: int, block: NDArray[Any]) -> NDArray[Any]:
        slots = table.slot[chosen[table.block_of[chosen] == number]]
        if not slots.size:
            return block
        changed = block.copy()
        changed[slots] = np.take(block[slots], permutation, axis=1)
        return changed

    narrow, middle, wide = table.blocks
    return replace(table, blocks=(permuted(0, narrow), permuted(1, middle), permuted(2, wide)))
