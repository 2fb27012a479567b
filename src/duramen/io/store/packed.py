"""The folder of a packed store, read a column at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.encoded import (
    Blocks,
    EncodedTable,
    invalid_labels,
    invalid_offsets,
    invalid_values,
    unknown_code,
    unsorted_values,
)
from duramen.data.schema import KINDS, default_names
from duramen.io.store import layout
from duramen.io.store.reader import File, Folder, Runs, offsets_of, pieces_of, read_rows
from duramen.support.arrays import BoolArray, IntArray
from duramen.support.arrow import pa
from duramen.support.text import first_line, quoted


class MappedTable(EncodedTable):
    """Encoded table of a store, whose files must keep their lengths.

    The system ends a process (SIGBUS) that reads beyond the end of a file that was truncated since
    it was mapped. So the lengths are checked whenever codes or values are taken, and whenever the
    kernel is given the table; a truncation while the kernel works still ends the process.
    """

    _blocks: Blocks
    _files: Sequence[File] = ()

    def over(self, files: Sequence[File]) -> MappedTable:
        """Set the files that are mapped, and return the table."""
        vars(self)["_files"] = tuple(files)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_files"}

    def _check(self) -> None:
        for file in self._files:
            file.check_length()

    @property
    def blocks(self) -> Blocks:
        """The codes; one row of a block is one column of the table."""
        self._check()
        return self._blocks

    @blocks.setter
    def blocks(self, given: Blocks) -> None:
        vars(self)["_blocks"] = given

    @property
    def kernel(self) -> _kernel.Table:
        """The table as it is lent to the kernel."""
        self._check()
        return super().kernel

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column in code order, without missing."""
        self._check()
        return super().values(j)


KEPT_NAMES = 1 << 24  # bytes of names that are kept in memory; beyond, they are read when asked for


class PackedColumns:
    """The columns of a packed store.

    Of each column some 11 to 30 bytes are in memory; names as long as they take 16 MB in all. What
    is kept is checked when the store is opened, and what is read is checked whenever it is read:
    codes by a CRC-32 a column, names, values and labels by another one.
    """

    def __init__(self, folder: Folder, function: str) -> None:
        self.where = folder.name
        self._function = function
        header_file = folder.open(layout.HEADER)
        self.header = layout.header_of_bytes(
            header_file.read(0, header_file.size), header_file.name, function
        )
        self.n_rows: int = self.header["n_rows"]
        self.n_columns: int = self.header["n_columns"]
        self.named: bool = self.header["named"]
        self._files = {name: self._opened(folder, name) for name in self.header["files"]}
        self._verified = False
        self._read_columns()

    def _opened(self, folder: Folder, name: str) -> File:
        """Return a file of the store, its size checked."""
        wanted = self.header["files"][name]["size"]
        try:
            file = folder.open(name)
        except FileNotFoundError:
            raise ValueError(
                f"{self._function}: {self.where} is damaged: {name} is not there; pack the table "
                "again"
            ) from None
        if file.size != wanted:
            raise ValueError(
                f"{self._function}: {file.name} is damaged: it has {file.size} bytes, not "
                f"{wanted}; pack the table again"
            )
        return file

    def _damaged(self, file: str) -> ValueError:
        return ValueError(
            f"{self._function}: {self._files[file].name} is damaged: its bytes do not match their "
            "checksum; pack the table again"
        )

    def _crc32(self, file: str) -> int:
        return int(self.header["files"][file]["crc32"])

    def _inconsistent(self, what: str) -> ValueError:
        """Return the error for bytes that match their checksums but contradict each other."""
        return ValueError(
            f"{self._function}: {self.where} is damaged: {what}; pack the table again"
        )

    def _check_records(self, own: BoolArray, n_values: NDArray[np.uint32]) -> None:
        """Check what the records say of columns, each by itself."""
        flags, lists = self._flags, self._lists
        if flags.max() > 31 or ((flags & 3) == 3).any() or ((flags & 12) == 12).any():
            raise self._inconsistent("flags of columns that have no meaning")
        if own.all():
            return
        listed = self._shared[~own]
        if listed.max() >= len(lists):
            raise self._inconsistent("columns with lists of values that are not there")
        sizes = np.array([len(one) // 8 for one in lists])
        if (n_values[~own] != sizes[listed]).any():
            raise self._inconsistent("columns whose number of values is not that of their list")

    def _check_sizes(self, totals: dict[str, int]) -> None:
        """Check that the files are as long as the records of the columns say."""
        wanted = {
            layout.VALUES: 8 * totals["n_values"],
            layout.LABELS: totals["n_labels"],
            layout.NAMES: totals["n_name"],
        }
        blocks = _bits(self._flags, 0, 3)
        for number, name in enumerate(layout.CODES):
            columns = int(np.count_nonzero(blocks == number))
            wanted[name] = columns * self.n_rows * layout.CODE_TYPES[number].itemsize
        for name, size in wanted.items():
            if self._files[name].size != size:
                raise self._inconsistent(
                    f"{name} has {self._files[name].size} bytes, but its columns need {size}"
                )

    def _read_columns(self) -> None:
        """Keep of the records of the columns what every read needs."""
        p = self.n_columns
        if self._files[layout.COLUMNS].size != p * layout.COLUMN.itemsize:
            raise self._inconsistent(f"{layout.COLUMNS} does not hold {p} columns")
        stored = self._files[layout.SHARED].read(0, self._files[layout.SHARED].size)
        if crc32(stored) != self._crc32(layout.SHARED):
            raise self._damaged(layout.SHARED)
        self._lists = layout.SharedLists(stored).values
        self._flags = np.empty(p, dtype=np.uint8)
        self._shared = np.empty(p, dtype=np.uint16)
        fields = ("codes_check", "words_check", "n_values", "n_labels", "n_name")
        kinds = {field: layout.COLUMN[field].newbyteorder("=") for field in fields}
        read = {field: np.empty(p, dtype=kind) for field, kind in kinds.items()}
        every = {**read, "flags": self._flags, "shared": self._shared}
        begin = total = 0
        for records, part in self._parts():
            total = crc32(part, total)
            for field, kept in every.items():
                kept[begin : begin + len(records)] = records[field]
            begin += len(records)
        if total != self._crc32(layout.COLUMNS):
            raise self._damaged(layout.COLUMNS)
        own = self._shared == layout.OWN
        self._check_records(own, read["n_values"])
        if read["n_labels"].max() > self._files[layout.LABELS].size:  # sums would overflow
            raise self._inconsistent("labels that are longer than their file")
        sizes = ("n_values", "n_labels", "n_name")
        totals = {name: _total(read[name]) for name in sizes}
        self._check_sizes(totals)
        del every
        self._codes_check = read.pop("codes_check")
        # The largest first, each let go before the next: of a million columns it is megabytes.
        self._own = self._labels = self._names = None
        if own.any():
            offsets = offsets_of(read["n_values"], totals["n_values"])
            self._own = Runs(offsets, self._files[layout.VALUES], item=8)
        del read["n_values"]
        if self.kind_codes().any():
            offsets = offsets_of(read["n_labels"], totals["n_labels"])
            self._labels = Runs(offsets, self._files[layout.LABELS])
        del read["n_labels"]
        if self.named:
            offsets = offsets_of(read.pop("n_name"), totals["n_name"])
            self._names = Runs(offsets, self._files[layout.NAMES])
            small = self._files[layout.NAMES].size <= KEPT_NAMES
            if small and not self._names.keep(self._crc32(layout.NAMES)):
                raise self._damaged(layout.NAMES)
        read_later = self._own or self._labels or (self._names and not self._names.resident)
        self._words_check = read["words_check"] if read_later else None
        blocks = _bits(self._flags, 0, 3)
        self._slot: NDArray[np.uint32] | None = None
        if blocks.size and blocks.min() != blocks.max():
            self._slot = np.empty(p, dtype=np.uint32)
            for number in range(3):
                here = blocks == number
                self._slot[here] = np.arange(np.count_nonzero(here))

    def _parts(self) -> Iterator[tuple[NDArray[Any], bytes]]:
        for part in pieces_of(self._files[layout.COLUMNS], layout.COLUMN.itemsize):
            yield np.frombuffer(part, dtype=layout.COLUMN), part

    # Columns

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column, as its place in `KINDS`."""
        return _bits(self._flags, 2, 3)

    def names(self, chosen: IntArray) -> list[str]:
        """Return the names of the columns with these numbers."""
        if self._names is None:
            return [f"x{j}" for j in chosen.tolist()]
        return [layout.name_of_bytes(name) for name in self._names.take(chosen)]

    def find(self, name: str) -> int | None:
        """Return the number of the column of that name."""
        if self._names is None:
            number = name[1:]
            known = name[:1] == "x" and number.isdecimal() and int(number) < self.n_columns
            return int(number) if known and f"x{int(number)}" == name else None
        return self._names.find(layout.name_bytes(name))

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return the columns with these numbers, in that order, in memory."""
        flags = self._flags[chosen]
        block_of, kinds, missing = _bits(flags, 0, 3), _bits(flags, 2, 3), _bits(flags, 4, 1)
        names = self._names.take(chosen) if self._names is not None else None
        joined, values = self._values(chosen)
        places = np.flatnonzero(kinds)
        texts = self._labels.take(chosen[places]) if self._labels is not None else []
        words = dict(zip(places.tolist(), texts, strict=True))
        self._check_words(chosen, names, values, words)
        counts = [len(one) // 8 for one in values]
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        cut_values = joined.view("<f8").astype(np.float64, copy=False)
        labels = self._labels_of(words, counts)
        wrong = invalid_values(kinds, offsets, cut_values, labels)
        if wrong is not None:
            raise self._inconsistent(wrong)
        slot = np.empty(len(chosen), dtype=np.int64)
        blocks: list[Any] = []
        n_codes = (np.diff(offsets) + missing).astype(np.int64)
        for number in range(3):
            here = np.flatnonzero(block_of == number)
            slot[here] = np.arange(len(here))
            blocks.append(self._codes(number, chosen[here], n_codes[here]))
        return EncodedTable(
            n_rows=self.n_rows,
            names=tuple(
                self.names(chosen) if names is None else [layout.name_of_bytes(n) for n in names]
            ),
            kinds=_kinds(kinds),
            blocks=(blocks[0], blocks[1], blocks[2]),
            block_of=block_of,
            slot=slot,
            cut_values=cut_values,
            value_offsets=offsets,
            labels=labels,
            missing=missing,
            named=self.named,
        )

    def _labels_of(self, words: dict[int, bytes], counts: list[int]) -> dict[int, NDArray[Any]]:
        try:
            return {j: layout.labels_of_bytes(text, counts[j]) for j, text in words.items()}
        except ValueError as error:
            raise self._inconsistent(str(error)) from None

    def _codes(self, number: int, columns: IntArray, n_codes: IntArray) -> NDArray[Any]:
        """Return the codes of columns of one block, checked; shape (len(columns), n)."""
        kind = layout.CODE_TYPES[number]
        size = self.n_rows * kind.itemsize
        if len(columns) == 0:
            return np.empty((0, self.n_rows), dtype=kind.newbyteorder("="))
        slots = columns if self._slot is None else self._slot[columns].astype(np.int64)
        file = self._files[layout.CODES[number]]
        data = read_rows(file, slots, size)
        view = data.data
        checks = [crc32(view[at : at + size]) for at in range(0, len(data), size)]
        wrong = np.flatnonzero(self._codes_check[columns] != checks)
        if len(wrong):
            name = self.names(columns[wrong[:1]])[0]
            raise ValueError(
                f"{file.name} is damaged: the codes of column {quoted(name)} do not match their "
                "checksum; pack the table again"
            )
        codes = data.view(kind).reshape(len(columns), self.n_rows)
        unknown = unknown_code(codes, n_codes)
        if unknown is not None:
            name = self.names(columns[unknown : unknown + 1])[0]
            raise self._inconsistent(f"column {quoted(name)} has codes beyond its values")
        return codes.astype(kind.newbyteorder("="), copy=False)

    def _values(self, chosen: IntArray) -> tuple[NDArray[np.uint8], Sequence[bytes | memoryview]]:
        """Return the values of columns as bytes: of all in one array, and of each."""
        numbers, lists = self._shared[chosen], self._lists
        own = numbers == layout.OWN
        if self._own is not None and own.all():
            return self._own.joined(chosen)
        if self._own is None or not own.any():
            values = [lists[number] for number in numbers.tolist()]
        else:
            read = iter(self._own.take(chosen[own]))
            values = [next(read) if n == layout.OWN else lists[n] for n in numbers.tolist()]
        return np.frombuffer(b"".join(values), dtype=np.uint8), values

    def _check_words(
        self,
        chosen: IntArray,
        names: list[bytes] | None,
        values: Sequence[bytes | memoryview],
        labels: dict[int, bytes],
    ) -> None:
        """Check names, values and labels of the columns of which something was read from disk."""
        if self._words_check is None:
            return
        wanted = self._words_check[chosen].tolist()
        for i, list_ in enumerate(values):
            name = b"" if names is None else names[i]
            if layout.words_check(name, list_, labels.get(i, b"")) != wanted[i]:
                raise ValueError(
                    f"{self.where} is damaged: name, values or labels of column {int(chosen[i])} "
                    "do not match their checksum; pack the table again"
                )

    # Everything

    def records(self) -> Iterator[NDArray[Any]]:
        """Yield the records of the columns, in their order, some at a time."""
        for records, _ in self._parts():
            yield records

    def fingerprint(self) -> str:
        """As `layout.fingerprint_of`."""
        return str(self.header["fingerprint"])

    def verify(self) -> None:
        """Read every file; raises ValueError for the first that does not match its checksum."""
        for name, file in self._files.items():
            total = 0
            if name in layout.CODES:
                total = self._read_codes(file, layout.CODES.index(name))
            elif name == layout.VALUES:
                total = self._read_values(file)
            else:
                for piece in pieces_of(file):
                    total = crc32(piece, total)
            if total != self._crc32(name):
                raise self._damaged(name)
        self._verified = True

    def _read_codes(self, file: File, number: int) -> int:
        """Read the codes of a block, check that they are known, and return their CRC-32."""
        kind = layout.CODE_TYPES[number]
        n_codes = np.diff(self._value_offsets()) + _bits(self._flags, 4, 1)
        n_codes = n_codes[_bits(self._flags, 0, 3) == number]
        total = begin = 0
        for piece in pieces_of(file, self.n_rows * kind.itemsize):
            total = crc32(piece, total)
            codes = np.frombuffer(piece, dtype=kind).reshape(-1, self.n_rows)
            if unknown_code(codes, n_codes[begin : begin + len(codes)]) is not None:
                raise self._inconsistent(f"{file.name} has codes beyond the values of its columns")
            begin += len(codes)
        return total

    def _read_values(self, file: File) -> int:
        """Read the values, check that those of a column ascend, and return their CRC-32."""
        offsets, total, begin, before = self._value_offsets(), 0, 0, -np.inf
        for piece in pieces_of(file, 8):
            total = crc32(piece, total)
            values = np.frombuffer(piece, dtype="<f8")
            wrong = unsorted_values(values, offsets, begin, before)
            if wrong is not None:
                raise self._inconsistent(wrong)
            begin, before = begin + len(values), float(values[-1])
        return total

    def _value_offsets(self) -> IntArray:
        if self._own is not None:
            return self._own.offsets.astype(np.int64)
        offsets = np.zeros(self.n_columns + 1, dtype=np.int64)
        np.cumsum(
            np.concatenate([records["n_values"] for records in self.records()]), out=offsets[1:]
        )
        return offsets

    def table(self) -> EncodedTable:
        """Return all columns, codes and values mapped into memory; everything is checked once."""
        if not self._verified:
            self.verify()
        p = self.n_columns
        everything = np.arange(p)
        offsets = self._value_offsets()
        labelled = np.flatnonzero(self.kind_codes())
        texts = self._labels.take(labelled) if self._labels is not None else []
        blocks = tuple(self._mapped(layout.CODES[i], layout.CODE_TYPES[i]) for i in range(3))
        cut_values = self._mapped(layout.VALUES, np.dtype("<f8"))
        counts = np.diff(offsets).tolist()
        labels = self._labels_of(dict(zip(labelled.tolist(), texts, strict=True)), counts)
        kind_codes = self.kind_codes()  # that the values ascend is known
        wrong = invalid_offsets(kind_codes, offsets, len(cut_values))
        wrong = wrong or invalid_labels(kind_codes, offsets, cut_values, labels)
        if wrong is not None:
            raise self._inconsistent(wrong)
        table = MappedTable(
            n_rows=self.n_rows,
            names=tuple(self.names(everything)) if self.named else default_names(p),
            kinds=_kinds(kind_codes),
            blocks=tuple(block.reshape(-1, self.n_rows) for block in blocks),  # type: ignore[arg-type]
            block_of=_bits(self._flags, 0, 3),
            slot=everything if self._slot is None else self._slot.astype(np.int64),
            cut_values=cut_values,
            value_offsets=offsets,
            labels=labels,
            missing=_bits(self._flags, 4, 1),
            named=self.named,
        )
        return table.over([self._files[name] for name in (*layout.CODES, layout.VALUES)])

    def _mapped(self, name: str, kind: np.dtype[Any]) -> NDArray[Any]:
        read = np.frombuffer(self._files[name].whole(), dtype=kind)
        return read.astype(kind.newbyteorder("="), copy=False)

    def samples(self) -> pa.Table | None:
        """Return the sample annotations."""
        return self._beside(layout.SAMPLES, self.n_rows)

    def variants(self) -> pa.Table | None:
        """Return where the columns lie on the genome."""
        table = self._beside(layout.VARIANTS, self.n_columns)
        if table is not None and not table.schema.equals(layout.variants_schema()):
            raise self._inconsistent(f"{layout.VARIANTS} has other columns")
        return table

    def _beside(self, name: str, n_rows: int) -> pa.Table | None:
        """Return a table of so many rows that lies beside the codes; None where there is none."""
        if name not in self._files:
            return None
        file = self._files[name]
        data = file.read(0, file.size)
        if crc32(data) != self._crc32(name):
            raise self._damaged(name)
        try:
            table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
            table.validate(full=True)
        except pa.ArrowException as error:
            what = f"{name} is no Arrow table ({first_line(error)})"
            raise self._inconsistent(what) from None
        if len(table) != n_rows:
            raise self._inconsistent(f"{name} has {len(table)} rows")
        return table


def _kinds(codes: NDArray[np.uint8]) -> tuple[str, ...]:
    """Return the kinds that are in these places of `KINDS`."""
    if len(codes) and codes.min() == codes.max():
        return (KINDS[int(codes[0])],) * len(codes)
    return tuple(map(KINDS.__getitem__, codes.tolist()))


def _total(lengths: NDArray[np.unsignedinteger]) -> int:
    """Return the sum of lengths; a maximum takes a tenth of the time, and tells where all are 0."""
    return int(lengths.sum(dtype=np.uint64)) if lengths.max(initial=0) else 0


def _bits(flags: NDArray[np.uint8], first: int, mask: int) -> NDArray[np.uint8]:
    """Return a part of the flags of columns; see `layout.COLUMN`."""
    return np.asarray(flags >> first & mask, dtype=np.uint8)
