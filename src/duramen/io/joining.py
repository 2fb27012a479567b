"""Columns of two encoded tables side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.support.text import quoted


def joined(left: EncodedTable, right: EncodedTable, function: str) -> EncodedTable:
    """Return the columns of two tables of the same rows, those of the first one first.

    Raises
    ------
    ValueError
        If the numbers of rows differ, or both have a column of the same name.
    """
    if left.n_rows != right.n_rows:
        raise ValueError(
            f"{function}: tables must have the same number of rows, got {left.n_rows} and "
            f"{right.n_rows}."
        )
    check_apart(left.names, right.names, function)
    heights = np.array([len(block) for block in left.blocks], dtype=np.int64)
    blocks: list[Any] = [
        np.concatenate([left.blocks[i], right.blocks[i]]) for i in range(len(left.blocks))
    ]
    p = left.n_columns
    return EncodedTable(
        n_rows=left.n_rows,
        names=left.names + right.names,
        kinds=left.kinds + right.kinds,
        blocks=(blocks[0], blocks[1], blocks[2]),
        block_of=np.concatenate([left.block_of, right.block_of]),
        slot=np.concatenate([left.slot, right.slot + heights[right.block_of]]),
        cut_values=np.concatenate([left.cut_values, right.cut_values]),
        value_offsets=np.concatenate(
            [left.value_offsets, left.value_offsets[-1] + right.value_offsets[1:]]
        ),
        labels={**left.labels, **{p + j: one for j, one in right.labels.items()}},
        missing=np.concatenate([left.missing, right.missing]),
        named=True,
    )


def check_apart(left: tuple[str, ...], right: tuple[str, ...], function: str) -> None:
    """Raise ValueError if names occur on both sides."""
    both = sorted(set(left) & set(right))
    if both:
        raise ValueError(f"{function}: column {quoted(both[0])} occurs twice.")
