"""Sets of rows as bits of 64-bit words, many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray
from duramen.theory.distributions.variables import IndexArray

Words = NDArray[np.uint64]
"""Sets of rows, shape (n, words): bit i of them stands for row i."""

WORD = 64
"""Bits of a word."""


def packed(bits: NDArray[Any]) -> Words:
    """Return sets of rows, given as one truth value a row, shape (n, rows), as words."""
    n, n_rows = bits.shape
    padded = np.zeros((n, -(-n_rows // WORD) * WORD), dtype=bool)
    padded[:, :n_rows] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpacked(rows: Words, n_rows: int) -> BoolArray:
    """Return sets of rows as one truth value a row, shape (n, rows)."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, count=n_rows, bitorder="little")
    return bits.view(np.bool_)


def in_order(rows: Words) -> tuple[IndexArray, IndexArray]:
    """Return an order of sets of rows that puts equal ones together, and where each begins."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, np.flatnonzero(new)


def distinct(rows: Words) -> tuple[Words, IndexArray]:
    """Return the distinct ones among sets of rows, and the number of each."""
    order, first = in_order(rows)
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
    return rows[order[first]], number


def as_integer(rows: BoolArray) -> int:
    """Return one set of rows as an integer, whose lowest bit is the first row."""
    return int.from_bytes(np.packbits(rows, bitorder="little").tobytes(), "little")
