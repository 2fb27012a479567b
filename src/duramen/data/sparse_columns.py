"""Columns that are stored by the rows that do not have their most frequent code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.schema import KernelOwner
from duramen.results.saved import Savable
from duramen.support.arrays import IntArray

Entries: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32]]

SPARSE = 3
"""The block of sparse columns, after those of 8, 16 and 32 bits."""

CODE_TYPES = (np.uint8, np.uint16, np.uint32)


def narrowest(n_codes: Any) -> Any:
    """Return the place in CODE_TYPES of the narrowest type that holds so many codes, of each."""
    return np.searchsorted([2**8, 2**16], n_codes)


def slots_of(block_of: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the row of each column in its block, in the order of the columns."""
    slot = np.empty(len(block_of), dtype=np.int64)
    for number in range(SPARSE + 1):
        here = block_of == number
        slot[here] = np.arange(np.count_nonzero(here))
    return slot


_WORD = 64


@dataclass(frozen=True, eq=False)
class SparseColumns(Savable, KernelOwner):
    """Sparse columns of a table.

    The entries of a column are the rows that do not have its most frequent code. What is stored is
    a bit a row, set for entries, and the codes of the entries in the order of the rows.

    Attributes
    ----------
    n_rows : int
    bits : ndarray of uint64, shape (k, ceil(n / 64))
        Row i is bit i % 64 of word i // 64.
    frequent : ndarray of uint32, shape (k,)
        Most frequent code of the column, when it was encoded.
    width : ndarray of uint8, shape (k,)
        0, 1 or 2, for codes of 8, 16 or 32 bits.
    begin : ndarray of int64, shape (k,)
        Where the entries of the column begin among those of its width.
    entries : tuple of ndarray, uint8, uint16 and uint32
        Codes of the entries, column after column.
    """

    n_rows: int
    bits: NDArray[np.uint64]
    frequent: NDArray[np.uint32]
    width: NDArray[np.uint8]
    begin: IntArray
    entries: Entries

    @cached_property
    def kernel(self) -> _kernel.SparseColumns:
        """The columns as they are lent to the kernel."""
        return _kernel.SparseColumns(
            self.n_rows, self.bits, self.frequent, self.width, self.begin, *self.entries
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.bits)

    def nbytes(self) -> int:
        """Return bytes of what is stored."""
        return self.bits.nbytes + sum(part.nbytes for part in self.entries)

    def counts(self) -> IntArray:
        """Return the number of entries of each column; shape (k,)."""
        return np.asarray(np.bitwise_count(self.bits).sum(axis=1, dtype=np.int64))

    def codes(self, k: int) -> NDArray[Any]:
        """Return the code of each row of the k-th column; a new array of shape (n,)."""
        bits = self.bits[k].astype("<u8", copy=False).view(np.uint8)
        rows = np.flatnonzero(np.unpackbits(bits, bitorder="little", count=self.n_rows))
        codes = np.full(self.n_rows, self.frequent[k], dtype=CODE_TYPES[self.width[k]])
        codes[rows] = self._entries_of(k, len(rows))
        return codes

    def contents(self, k: int) -> bytes:
        """Return bytes that differ between columns of different codes."""
        count = int(np.bitwise_count(self.bits[k]).sum())
        entries = self._entries_of(k, count)
        return b"".join([self.frequent[k].tobytes(), self.bits[k].tobytes(), entries.tobytes()])

    def _entries_of(self, k: int, count: int) -> NDArray[Any]:
        begin = int(self.begin[k])
        entries: NDArray[Any] = self.entries[self.width[k]][begin : begin + count]
        return entries

    @staticmethod
    def of(
        columns: Iterable[NDArray[Any]],
        n_rows: int,
        frequent: NDArray[np.uint32],
        width: NDArray[np.uint8],
    ) -> SparseColumns:
        """Return columns from the code of each row, of shape (n,), and what is their most frequent.

        The codes of a column are of the type that its width stands for.
        """
        packed = np.zeros((len(frequent), -(-n_rows // _WORD) * (_WORD // 8)), dtype=np.uint8)
        entries: list[NDArray[Any]] = []
        for k, codes in enumerate(columns):
            differs = codes != codes.dtype.type(frequent[k])
            packed[k, : -(-n_rows // 8)] = np.packbits(differs, bitorder="little")
            entries.append(codes[differs])
        bits = packed.view("<u8").astype(np.uint64, copy=False)
        return SparseColumns._with(n_rows, bits, frequent, width, entries)

    def take_columns(self, chosen: IntArray) -> SparseColumns:
        """Return columns by index, which may occur several times."""
        counts = self.counts()
        entries = [self._entries_of(k, int(counts[k])) for k in chosen.tolist()]
        return self._with(
            self.n_rows, self.bits[chosen], self.frequent[chosen], self.width[chosen], entries
        )

    def take_rows(self, places: NDArray[np.integer]) -> SparseColumns:
        """Return the rows of the given indices, of shape (m,), or (k, m) for rows of each column.

        Codes keep their meaning.
        """
        each = np.broadcast_to(places, (self.n_columns, places.shape[-1]))
        codes = (self.codes(k)[order] for k, order in enumerate(each))
        return SparseColumns.of(codes, each.shape[1], self.frequent, self.width)

    def with_rows_of(self, chosen: IntArray, places: NDArray[np.integer]) -> SparseColumns:
        """Return all columns, the chosen ones with rows of the given indices."""
        others = np.setdiff1d(np.arange(self.n_columns), chosen)
        changed = self.take_columns(chosen).take_rows(places)
        both = self.take_columns(others).joined(changed)
        return both.take_columns(np.argsort(np.concatenate([others, chosen])))

    def joined(self, other: SparseColumns) -> SparseColumns:
        """Return these columns and, after them, others of the same rows."""
        sizes = np.array([len(part) for part in self.entries], dtype=np.int64)
        pairs: Any = zip(self.entries, other.entries, strict=True)
        narrow, middle, wide = map(np.concatenate, pairs)
        return SparseColumns(
            self.n_rows,
            np.concatenate([self.bits, other.bits]),
            np.concatenate([self.frequent, other.frequent]),
            np.concatenate([self.width, other.width]),
            np.concatenate([self.begin, other.begin + sizes[other.width]]),
            (narrow, middle, wide),
        )

    @staticmethod
    def _with(
        n_rows: int,
        bits: NDArray[np.uint64],
        frequent: NDArray[np.uint32],
        width: NDArray[np.uint8],
        entries: Sequence[NDArray[Any]],
    ) -> SparseColumns:
        """Return columns from the entries of each."""
        counts = np.array([len(part) for part in entries], dtype=np.int64)
        begin = np.zeros(len(entries), dtype=np.int64)
        for number in range(len(CODE_TYPES)):
            here = width == number
            begin[here] = np.cumsum(counts[here]) - counts[here]

        def of_width(number: int) -> NDArray[Any]:
            parts = [entries[k] for k in np.flatnonzero(width == number).tolist()]
            return np.concatenate([np.empty(0, dtype=CODE_TYPES[number]), *parts])

        return SparseColumns(
            n_rows, bits, frequent, width, begin, (of_width(0), of_width(1), of_width(2))
        )
