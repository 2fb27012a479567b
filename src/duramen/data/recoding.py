"""Columns replaced by others that are given as codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable

_TYPES = (np.uint8, np.uint16, np.uint32)


def with_ordinal(
    table: EncodedTable, columns: Mapping[int, tuple[NDArray[Any], NDArray[Any]]]
) -> EncodedTable:
    """Return a table with some of its columns replaced by ordinal ones.

    `columns` has, by index, the code of each row, in 0..m-1, or m where the value is missing, and
    the m labels in their order.
    """
    p = table.n_columns
    blocks: list[list[NDArray[Any]]] = [[block] for block in table.blocks]
    heights = [len(block) for block in table.blocks]
    block_of, slot = table.block_of.copy(), table.slot.copy()
    missing, kinds, labels = table.missing.copy(), list(table.kinds), dict(table.labels)
    values = np.split(table.cut_values, table.value_offsets[1:-1])
    for j, (codes, names) in columns.items():
        missing[j] = bool((codes == len(names)).any())
        number = int(np.searchsorted([2**8, 2**16], len(names) + int(missing[j])))
        block_of[j], slot[j] = number, heights[number]
        heights[number] += 1
        blocks[number].append(codes.astype(_TYPES[number])[np.newaxis])
        kinds[j], labels[j] = "ordinal", names
        values[j] = np.arange(len(names), dtype=np.float64)
    joined: list[NDArray[Any]] = [np.concatenate(parts) for parts in blocks]
    sizes = [len(column) for column in values]
    recoded = replace(
        table,
        kinds=tuple(kinds),
        blocks=(joined[0], joined[1], joined[2]),
        block_of=block_of,
        slot=slot,
        cut_values=np.concatenate(values) if p else table.cut_values,
        value_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        labels={j: labels[j] for j in sorted(labels)},
        missing=missing,
    )
    return recoded.take_columns(np.arange(p))  # without the codes that were replaced


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
