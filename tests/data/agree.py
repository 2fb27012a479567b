"""Invariants of encoded tables, checked against the oracle."""

from __future__ import annotations

import numpy as np
from tests.oracles.encode import dense_codes, width_of

from duramen.data import EncodedTable


def assert_agrees(table: EncodedTable, columns: list) -> None:
    """The table holds these columns, by the oracle's account."""
    assert table.n_columns == len(columns)
    assert table.value_offsets[0] == 0
    assert len(table.cut_values) == table.value_offsets[-1]
    slots = [0, 0, 0]
    for j, column in enumerate(columns):
        codes, values, missing = dense_codes(column)
        np.testing.assert_array_equal(table.codes(j), codes)
        assert table.values(j).tolist() == values
        assert table.missing[j] == missing
        assert table.value_offsets[j + 1] - table.value_offsets[j] == len(values)
        block = width_of(len(values) + missing)
        assert table.block_of[j] == block
        assert table.slot[j] == slots[block]  # in order, whoever wrote them
        slots[block] += 1
        assert table.constant()[j] == (len(values) + missing <= 1)
    for block, rows, dtype in zip(table.blocks, slots, ("u1", "u2", "u4"), strict=True):
        assert block.shape == (rows, table.n_rows)
        assert block.dtype == dtype
        assert block.flags.c_contiguous


def assert_same(a: EncodedTable, b: EncodedTable) -> None:
    """Bit for bit the same codes and values."""
    for x, y in zip(a.blocks, b.blocks, strict=True):
        np.testing.assert_array_equal(x, y)
    for name in ("block_of", "slot", "cut_values", "value_offsets", "missing"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
