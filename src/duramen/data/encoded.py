"""The encoded table: the codes of its columns, dense or sparse, their values, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.data.schema import KINDS, KernelOwner, Schema
from duramen.results.archive import Savable
from duramen.results.summary import Column, Summarized, Summary, hidden
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.provenance import ArrayDigest, fingerprint
from duramen.support.text import quoted

Blocks: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32]]


SPARSE = 3
"""The block of sparse columns, after those of 8, 16 and 32 bits."""

CODE_TYPES = (np.uint8, np.uint16, np.uint32)


def narrowest(n_codes: Any) -> Any:
    """Return the index in CODE_TYPES of the narrowest type for each number of codes."""
    return np.searchsorted([2**8, 2**16], n_codes)


def slots_of(block_of: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the row of each column in its block, in the order of the columns."""
    slot = np.empty(len(block_of), dtype=np.int64)
    for number in range(SPARSE + 1):
        here = block_of == number
        slot[here] = np.arange(np.count_nonzero(here))
    return slot


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
    entries: Blocks

    @cached_property
    def kernel(self) -> _kernel.SparseColumns:
        """Columns as an object of the kernel."""
        return _kernel.SparseColumns(
            self.n_rows, self.bits, self.frequent, self.width, self.begin, *self.entries
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.bits)

    def nbytes(self) -> int:
        """Return the size of the stored arrays in bytes."""
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
        """Return columns from the codes of the rows, of shape (n,), and the most frequent codes.

        The codes of a column are of the type that its width stands for.
        """
        packed = np.zeros((len(frequent), -(-n_rows // 64) * 8), dtype=np.uint8)
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
        """Return all columns, where the chosen columns take their rows at `places`."""
        others = np.setdiff1d(np.arange(self.n_columns), chosen)
        changed = self.take_columns(chosen).take_rows(places)
        both = self.take_columns(others).joined(changed)
        return both.take_columns(np.argsort(np.concatenate([others, chosen])))

    def joined(self, other: SparseColumns) -> SparseColumns:
        """Return these columns, followed by other columns of the same rows."""
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
        begin, of_width = np.zeros(len(entries), dtype=np.int64), []
        for number, kind in enumerate(CODE_TYPES):
            here = np.flatnonzero(width == number).tolist()
            sizes = np.array([len(entries[k]) for k in here], dtype=np.int64)
            begin[here] = np.cumsum(sizes) - sizes
            of_width.append(np.concatenate([np.empty(0, kind), *(entries[k] for k in here)]))
        narrow, middle, wide = of_width
        return SparseColumns(n_rows, bits, frequent, width, begin, (narrow, middle, wide))


def blocks_of(columns: Iterable[NDArray[Any]], n_codes: IntArray, n_rows: int) -> dict[str, Any]:
    """Return the fields of a table that hold the codes, each column in the narrowest type.

    Parameters
    ----------
    columns : iterable of ndarray of shape (n,)
        Code of each row, of p columns.
    n_codes : ndarray of int64, shape (p,)
        Number of codes of each column, that of missing included.
    n_rows : int
    """
    width = narrowest(n_codes).astype(np.uint8)
    slot = slots_of(width)
    blocks = [
        np.empty((np.count_nonzero(width == number), n_rows), dtype=kind)
        for number, kind in enumerate(CODE_TYPES)
    ]
    for column, number, place in zip(columns, width.tolist(), slot.tolist(), strict=True):
        blocks[number][place] = column
    return {"blocks": tuple(blocks), "block_of": width, "slot": slot, "sparse": None}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EncodedTable(Savable, Summarized, Schema):
    """A table whose columns are dense ordinal codes.

    The code of a value is its rank among the m_j sorted distinct values of its column (for
    ordinal columns in the declared order); a missing value has the code m_j.

    Attributes
    ----------
    names, named, kinds, cut_values, value_offsets, labels, missing
        Names, kinds and values of the columns; see :class:`Schema`.
    n_rows : int
    blocks : tuple of ndarray, uint8 (k8, n), uint16 (k16, n) and uint32 (k32, n)
        The codes; one row of a block is one column of the table, held in the narrowest type.
    block_of : ndarray of uint8, shape (p,)
        Which block holds the column; 3 for a sparse column.
    slot : ndarray of int64, shape (p,)
        Which row of that block, or which of the sparse columns.
    sparse : SparseColumns, optional
        Columns of a sparse matrix that are stored by the rows without their most frequent code.

    Examples
    --------
    >>> import duramen as dm
    >>> table = dm.encode([[0.5, 7.0], [0.1, 7.0], [0.5, 8.0]])
    >>> table
    EncodedTable of 3 rows x 2 columns (2 numeric)
    >>> table.codes(0).tolist(), table.values(0).tolist()
    ([1, 0, 1], [0.1, 0.5])
    """

    n_rows: int
    blocks: Blocks
    block_of: NDArray[np.uint8]
    slot: IntArray
    sparse: SparseColumns | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.n_rows, self.n_columns

    @cached_property
    def schema(self) -> Schema:
        """Metadata of the columns without the rows, for prediction."""
        parts = (entry.name for entry in fields(Schema) if entry.init)
        return Schema(**{name: getattr(self, name) for name in parts})

    @cached_property
    def kernel(self) -> _kernel.Table:
        """Table as an object of the kernel."""
        sparse = None if self.sparse is None else self.sparse.kernel
        return _kernel.Table(self.kernel_schema, *self.blocks, self.block_of, self.slot, sparse)

    def codes(self, j: int) -> NDArray[Any]:
        """Return codes of the j-th column, of shape (n,); read-only, and a view unless sparse."""
        view: NDArray[Any]
        if self.sparse is not None and self.block_of[j] == SPARSE:
            view = self.sparse.codes(int(self.slot[j]))
        else:
            view = self.blocks[self.block_of[j]][self.slot[j]]
        view.flags.writeable = False
        return view

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column in code order, without missing.

        Floats for a numeric column, labels for an ordinal or nominal one; shape (m_j,).
        """
        j = range(self.n_columns)[j]
        if j in self.labels:
            return self.labels[j]
        view = self.cut_values[self.value_offsets[j] : self.value_offsets[j + 1]]
        view.flags.writeable = False
        return view

    def column_values(self, j: int) -> NDArray[Any]:
        """Return the values of a column, of shape (n,): labels with None, or numbers with NaN.

        Numbers are int64 if all of them are whole and none is missing.
        """
        values = self.values(j)
        if self.missing[j]:
            as_objects = values.dtype == object
            values = np.append(values.astype(object if as_objects else np.float64), np.nan)
            if as_objects:
                values[-1] = None
        elif values.dtype.kind == "f" and (values == np.floor(values)).all():
            values = values.astype(np.int64)
        return np.asarray(values[self.codes(j)])

    def constant(self) -> BoolArray:
        """True where a column has one code only, missing counted as one; shape (p,).

        Rows chosen by `take_rows` keep the codes of the table they came from, and so does this.
        """
        return self.n_codes() <= 1

    def take_columns(self, index: ArrayLike) -> EncodedTable:
        """Return the columns of the given indices, or of a boolean mask, in that order."""
        chosen = self._positions(index, self.n_columns, "take_columns")
        if len(np.unique(chosen)) < len(chosen):
            raise ValueError(
                "take_columns: indices must be different, since column names are unique"
            )
        return self.take(chosen)

    def take(self, chosen: IntArray) -> Self:
        """Return columns by index, which may occur several times; names are then not unique."""
        block_of = self.block_of[chosen]
        slots = self.slot[chosen]
        narrow, middle, wide = (
            block[slots[block_of == number]] for number, block in enumerate(list[Any](self.blocks))
        )
        sparse = self.sparse
        if sparse is not None:
            sparse = sparse.take_columns(slots[block_of == SPARSE])
        return replace(
            super().take(chosen),
            blocks=(narrow, middle, wide),
            block_of=block_of,
            slot=slots_of(block_of),
            sparse=sparse if sparse is not None and sparse.n_columns else None,
        )

    def followed_by(self, other: EncodedTable) -> Self:  # type: ignore[override]
        """Return these columns, followed by the columns of another table of the same rows."""
        sparse = self.sparse or other.sparse
        if self.sparse is not None and other.sparse is not None:
            sparse = self.sparse.joined(other.sparse)
        n_sparse = 0 if self.sparse is None else self.sparse.n_columns
        heights = np.array([*[len(block) for block in self.blocks], n_sparse], dtype=np.int64)
        pairs: Any = zip(self.blocks, other.blocks, strict=True)
        narrow, middle, wide = map(np.concatenate, pairs)
        return replace(
            super().followed_by(other),
            blocks=(narrow, middle, wide),
            block_of=np.concatenate([self.block_of, other.block_of]),
            slot=np.concatenate([self.slot, other.slot + heights[other.block_of]]),
            sparse=sparse,
        )

    def dense(self) -> EncodedTable:
        """Return this table with all columns dense.

        Examples
        --------
        >>> import duramen as dm
        >>> table = dm.encode([[0.5, 7.0], [0.1, 7.0]])
        >>> table.dense() is table
        True
        """
        if self.sparse is None:
            return self
        columns = map(self.codes, range(self.n_columns))
        return replace(self, **blocks_of(columns, self.n_codes(), self.n_rows))

    def with_sparse_columns(self) -> EncodedTable:
        """Return this table with sparse storage for columns of few entries.

        The columns that a sparse matrix of the same values would keep sparse, if it leaves out the
        most frequent value of each.

        Examples
        --------
        >>> import duramen as dm
        >>> table = dm.encode([[i % 10 == 0, i] for i in range(300)]).with_sparse_columns()
        >>> table.sparse.n_columns, table.dense().sparse is None
        (1, True)
        """
        if self.sparse is not None or self.n_rows <= _kernel.SPARSE_ROWS:
            return self
        of_columns = (np.bincount(self.codes(j)) for j in range(self.n_columns))
        tops = np.array([(counts.argmax(), counts.max()) for counts in of_columns]).reshape(-1, 2)
        frequent, n_entries = tops[:, 0].astype(np.uint32), self.n_rows - tops[:, 1]
        few = n_entries <= _kernel.sparse_density(n_entries.mean() / self.n_rows) * self.n_rows
        if not few.any():
            return self
        codes = map(self.codes, np.flatnonzero(few).tolist())
        block_of = np.where(few, SPARSE, self.block_of).astype(np.uint8)
        return replace(
            self,
            blocks=self.take(np.flatnonzero(~few)).blocks,
            block_of=block_of,
            slot=slots_of(block_of),
            cut_values=np.array(self.cut_values),
            sparse=SparseColumns.of(codes, self.n_rows, frequent[few], self.block_of[few]),
        )

    def take_rows(self, index: ArrayLike) -> EncodedTable:
        """Return the rows of the given indices, or of a boolean mask; codes keep their meaning."""
        chosen = self._positions(index, self.n_rows, "take_rows")
        blocks: list[Any] = [np.take(block, chosen, axis=1) for block in self.blocks]
        sparse = None if self.sparse is None else self.sparse.take_rows(chosen)
        return replace(self, n_rows=len(chosen), blocks=tuple(blocks), sparse=sparse)

    def fingerprint(self) -> str:
        """Return 64 hexadecimal digits that depend on shape, names, kinds, codes and values.

        The same on every machine, and the same of sparse columns; see
        `duramen.support.provenance`.
        """
        if "_digest" in vars(self):
            return str(vars(self)["_digest"])
        labels = [text for j in sorted(self.labels) for text in (str(j), self.labels[j])]
        blocks: list[Any] = list(self.blocks)
        block_of, slot = self.block_of, self.slot
        if self.sparse is not None:  # fingerprints of the dense table, by digests of the kernel
            block_of = narrowest(self.n_codes()).astype(np.uint8)
            slot = slots_of(block_of)
            for number, kind in enumerate(CODE_TYPES):
                n_columns, *digest = self.kernel.digest(number)
                shape = (n_columns, self.n_rows)
                blocks[number] = ArrayDigest(np.dtype(kind), shape, *digest)
        vars(self)["_digest"] = fingerprint(
            repr(self.shape),
            "\0".join(self.names),
            " ".join(self.kinds),
            *blocks,
            block_of,
            slot,
            self.cut_values,
            self.value_offsets,
            self.missing,
            *labels,
        )
        return str(vars(self)["_digest"])

    def nbytes(self) -> int:
        """Return bytes of codes and values."""
        sparse = 0 if self.sparse is None else self.sparse.nbytes()
        return sum(block.nbytes for block in self.blocks) + sparse + self.cut_values.nbytes

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        counts = [(self.kinds.count(kind), kind) for kind in KINDS]
        kinds = ", ".join(f"{count} {kind}" for count, kind in counts if count)
        text = f"EncodedTable of {self.n_rows} rows x {self.n_columns} columns ({kinds})"
        missing, constant = np.count_nonzero(self.missing), np.count_nonzero(self.constant())
        text += f", {missing} with missing values" if missing else ""
        return text + (f", {constant} constant" if constant else "")

    def _summary(self, rows: int) -> Summary:
        shown = range(min(rows, self.n_columns))
        columns = [
            Column("column", [self.names[j] for j in shown], kind="words"),
            Column("kind", [self.kinds[j] for j in shown], kind="words"),
            Column("distinct values", [f"{len(self.values(j)):,}" for j in shown]),
            Column("missing", ["yes" if self.missing[j] else "" for j in shown], kind="words"),
        ]
        return Summary((repr(self),), columns, hidden(self.n_columns, len(shown), "columns"))

    @staticmethod
    def _positions(index: ArrayLike, size: int, function: str) -> IntArray:
        chosen = np.asarray(index)
        if chosen.ndim != 1 or (chosen.dtype.kind not in "iub" and chosen.size):
            raise ValueError(
                f"{function}: index is of shape {chosen.shape} and type {chosen.dtype}; give "
                "one-dimensional integers, or a boolean mask"
            )
        if chosen.dtype == bool:
            if len(chosen) != size:
                raise ValueError(f"{function}: the mask has {len(chosen)} entries, not {size}")
            return np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64)
        if chosen.size and (chosen.min() < -size or chosen.max() >= size):
            raise IndexError(f"{function}: an index lies outside 0..{size - 1}")
        return np.asarray(chosen % size if size else chosen)


def refuse_unordered(table: EncodedTable, function: str, consequence: str) -> None:
    """Refuse columns of more than two labels without an order; `consequence` ends the message."""
    for j, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        count = len(table.values(j))
        if kind == "nominal" and count > 2:
            raise ValueError(
                f"{function}: column {quoted(name)} has {count} labels without an order, "
                f"{consequence}"
            )


def invalid_values(
    kind_codes: NDArray[np.uint8],
    value_offsets: IntArray,
    cut_values: FloatArray,
    labels: Mapping[int, NDArray[Any]],
) -> str | None:
    """Return an error message about the values of columns, or None if they are valid.

    Columns have kinds (their place in `KINDS`); values of numeric ones are finite and ascend, those
    of others are 0..m_j-1, with m_j labels.
    """
    p, n_values = len(kind_codes), len(cut_values)
    if value_offsets.shape != (p + 1,) or value_offsets[0] != 0:
        return f"value_offsets must have {p + 1} entries from 0"
    sizes = np.diff(value_offsets)
    if (sizes < 0).any() or value_offsets[-1] != n_values:
        return f"value_offsets must ascend to the number of values, {n_values}"
    if p and kind_codes.max() >= len(KINDS):
        return f"column {int(np.argmax(kind_codes >= len(KINDS)))} has no known kind"
    # Where values ascend, they are finite if the first and the last of a column are: NaN, which is
    # greater than nothing, ends an ascent. So one comparison of neighbors reads them once.
    starts = value_offsets[:-1][sizes > 0]
    edges = np.append(starts, value_offsets[1:][sizes > 0] - 1)
    if not np.isfinite(cut_values[edges]).all():
        return "values must be finite"
    rises = np.ones(n_values, dtype=np.bool_)
    np.greater(cut_values[1:], cut_values[:-1], out=rises[1:])
    rises[starts] = True
    if not rises.all():
        return "the values of a column must be finite and ascend"
    if set(labels) != set(np.flatnonzero(kind_codes).tolist()):
        return "ordinal and nominal columns must have labels, numeric columns must not"
    for j, categories in labels.items():
        begin, end = int(value_offsets[j]), int(value_offsets[j + 1])
        if categories.shape != (end - begin,):
            return f"column {j} has {end - begin} values and labels of shape {categories.shape}"
        if not np.array_equal(cut_values[begin:end], np.arange(end - begin)):
            return f"the values of column {j}, which has labels, must be 0, 1, ..."
    return None


def unknown_code(codes: NDArray[Any], n_codes: IntArray) -> int | None:
    """Return the first of k rows of codes, one a column, that holds an unknown code, or None."""
    if not codes.size:
        return None
    wrong = codes.max(axis=1) >= n_codes
    return int(np.argmax(wrong)) if wrong.any() else None
