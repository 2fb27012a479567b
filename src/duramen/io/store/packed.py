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
from duramen.data.memory import require_memory
from duramen.data.schema import KINDS, Schema, default_names
from duramen.io.store import layout
from duramen.io.store.reader import File, Folder, Runs, offsets_of, pieces_of, read_rows
from duramen.support.arrays import BoolArray, IntArray
from duramen.support.arrow import pa
from duramen.support.text import first_line, quoted


class MappedTable(EncodedTable):
    """Encoded table of a store, whose files must stay as they are.

    The system ends a process (SIGBUS) that reads beyond the end of a file that was truncated since
    it was mapped, and codes that were checked may be others once a file was written to. So lengths
    and times of change are checked whenever codes or values are taken, and whenever the kernel is
    given the table; a change while the kernel works goes unnoticed, or ends the process.
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
            file.check_unchanged()

    @property
    def blocks(self) -> Blocks:
        """The codes; one row of a block is one column of the table."""
        self._check()
        return self._blocks

    @blocks.setter
    def blocks(self, blocks: Blocks) -> None:
        vars(self)["_blocks"] = blocks

    @property
    def kernel(self) -> _kernel.Table:
        """The table as it is lent to the kernel."""
        self._check()
        return super().kernel

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column in code order, without missing."""
        self._check()
        return super().values(j)


_FILES = (*layout.CODES, layout.QUARTERS)  # of codes
_QUARTERS = _FILES.index(layout.QUARTERS)

_LARGEST_HEADER = 1 << 24  # bytes
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
        if header_file.size > _LARGEST_HEADER:
            raise ValueError(
                f"{function}: {header_file.name} is not the header of a column store: it has "
                f"{header_file.size:,} bytes; pack the table again"
            )
        self.header = layout.header_of_bytes(
            header_file.read(0, header_file.size), header_file.name, function
        )
        self.n_rows: int = self.header["n_rows"]
        self.n_columns: int = self.header["n_columns"]
        self.named: bool = self.header["named"]
        self.sparse = bool(self.header.get("sparse"))  # older stores do not say
        self._files = {name: self._opened(folder, name) for name in self.header["files"]}
        self._verified = False
        least = self.n_columns * layout.quarter_bytes(self.n_rows)
        size = sum(self._files[name].size for name in _FILES)
        if least > size:  # before there is memory for each column
            raise self._inconsistent(
                f"its codes have {size:,} bytes, but {self.n_columns:,} columns need {least:,}"
            )
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

    def _check_sizes(self, totals: dict[str, int]) -> None:
        """Check that the files are as long as the records of the columns say."""
        wanted = {
            layout.VALUES: 8 * totals["n_values"],
            layout.LABELS: totals["n_labels"],
            layout.NAMES: totals["n_name"],
        }
        file_of = self._file_of()
        for number, name in enumerate(_FILES):
            wanted[name] = int(np.count_nonzero(file_of == number)) * self._row_bytes(number)
        for name, size in wanted.items():
            if self._files[name].size != size:
                raise self._inconsistent(
                    f"{name} has {self._files[name].size} bytes, but its columns need {size}"
                )

    def _read_columns(self) -> None:
        """Keep the column metadata that every read needs."""
        p = self.n_columns
        self._flags = np.empty(p, dtype=np.uint8)
        fields = ("codes_check", "words_check", "n_values", "n_labels", "n_name")
        kinds = {field: layout.COLUMN[field].newbyteorder("=") for field in fields}
        read = {field: np.empty(p, dtype=kind) for field, kind in kinds.items()}
        begin = 0
        for records in self.records():
            here, flags = slice(begin, begin + len(records)), records["flags"]
            if here.stop > p:
                raise self._inconsistent(f"{layout.COLUMNS} holds more than {p} columns")
            if flags.max() > 63 or (flags & 3 == 3).any() or (flags & 12 == 12).any():
                raise self._inconsistent("flags of columns that have no meaning")
            few = flags & layout.IN_TWO_BITS != 0
            n_codes = records["n_values"] + _bits(flags, 4, 1)
            if (flags[few] & 3).any() or (n_codes[few] > 4).any():
                raise self._inconsistent("columns in two bits that have more than four codes")
            self._flags[here] = flags
            for field, whole in read.items():
                whole[here] = records[field]
            begin = here.stop
        if begin != p:
            raise self._inconsistent(f"{layout.COLUMNS} holds {begin} columns, not {p}")
        if read["n_labels"].max() > self._files[layout.LABELS].size:  # sums would overflow
            raise self._inconsistent("labels that are longer than their file")
        sizes = ("n_values", "n_labels", "n_name")
        totals = {name: _total(read[name]) for name in sizes}
        self._check_sizes(totals)
        self._codes_check, self._words_check = read.pop("codes_check"), read.pop("words_check")
        # The largest first, each let go before the next: of a million columns it is megabytes.
        offsets = offsets_of(read.pop("n_values"), totals["n_values"])
        self._own = Runs(offsets, self._files[layout.VALUES], item=8)
        self._labels = self._names = None
        if self.kind_codes().any():
            offsets = offsets_of(read.pop("n_labels"), totals["n_labels"])
            self._labels = Runs(offsets, self._files[layout.LABELS])
        if self.named:
            offsets = offsets_of(read.pop("n_name"), totals["n_name"])
            self._names = Runs(offsets, self._files[layout.NAMES])
            small = self._files[layout.NAMES].size <= KEPT_NAMES
            if small and not self._names.keep(self._crc32(layout.NAMES)):
                raise self._damaged(layout.NAMES)
        self._place = _places(self._file_of(), len(_FILES))

    def _in_two_bits(self, chosen: Any) -> BoolArray:
        """Tell which columns lie in two bits a code."""
        return np.asarray(self._flags[chosen] & layout.IN_TWO_BITS, dtype=np.bool_)

    def _file_of(self) -> NDArray[np.uint8]:
        """Return the file of each column, as its place in `_FILES`."""
        file_of = _bits(self._flags, 0, 3)
        file_of[self._in_two_bits(slice(None))] = _QUARTERS
        return file_of

    def _row_bytes(self, number: int) -> int:
        """Return the bytes that a column takes in a file of codes."""
        if number == _QUARTERS:
            return layout.quarter_bytes(self.n_rows)
        return self.n_rows * layout.CODE_TYPES[number].itemsize

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
            is_number = name[:1] == "x" and number.isdecimal() and int(number) < self.n_columns
            return int(number) if is_number and f"x{int(number)}" == name else None
        return self._names.find(layout.name_bytes(name))

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return the columns with these numbers, in that order, in memory."""
        flags = self._flags[chosen]
        block_of, kinds, missing = _bits(flags, 0, 3), _bits(flags, 2, 3), _bits(flags, 4, 1)
        names = self._names.take(chosen) if self._names is not None else None
        joined, values = self._own.joined(chosen)
        places = np.flatnonzero(kinds)
        texts = self._labels.take(chosen[places]) if self._labels is not None else []
        words = dict(zip(places.tolist(), texts, strict=True))
        self._check_words(chosen, names, values, words)
        counts = [len(labels) // 8 for labels in values]
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
        if len(columns) == 0:
            return np.empty((0, self.n_rows), dtype=kind.newbyteorder("="))
        few = self._in_two_bits(columns)
        if few.all() or not few.any():
            codes = self._read(_QUARTERS if few[0] else number, columns)
        else:
            codes = np.empty((len(columns), self.n_rows), dtype=kind)
            codes[few], codes[~few] = (
                self._read(_QUARTERS, columns[few]),
                self._read(number, columns[~few]),
            )
        unknown = unknown_code(codes, n_codes)
        if unknown is not None:
            name = self.names(columns[unknown : unknown + 1])[0]
            raise self._inconsistent(f"column {quoted(name)} has codes beyond its values")
        return codes.astype(kind.newbyteorder("="), copy=False)

    def _read(self, number: int, columns: IntArray) -> NDArray[Any]:
        """Return the codes of columns of one file, which have their checksums."""
        places = columns if self._place is None else self._place[columns].astype(np.int64)
        file = self._files[_FILES[number]]
        codes = self._decoded(read_rows(file, places, self._row_bytes(number)), number)
        size = codes.nbytes // len(columns)
        view = codes.reshape(-1).view(np.uint8).data
        checks = [crc32(view[at : at + size]) for at in range(0, codes.nbytes, size)]
        wrong = np.flatnonzero(self._codes_check[columns] != checks)
        if len(wrong):
            name = self.names(columns[wrong[:1]])[0]
            raise ValueError(
                f"{file.name} is damaged: the codes of column {quoted(name)} do not match their "
                "checksum; pack the table again"
            )
        return codes

    def _decoded(self, data: Any, number: int) -> NDArray[Any]:
        """Return the codes in bytes of a file, of shape (k, n)."""
        if number == _QUARTERS:
            rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, self._row_bytes(number))
            return layout.of_two_bits(rows, self.n_rows)
        return np.frombuffer(data, dtype=layout.CODE_TYPES[number]).reshape(-1, self.n_rows)

    def _check_words(
        self,
        chosen: IntArray,
        names: list[bytes] | None,
        values: Sequence[bytes | memoryview],
        labels: dict[int, bytes],
    ) -> None:
        """Check the names, values and labels of columns."""
        wanted = self._words_check[chosen].tolist()
        for i, list_ in enumerate(values):
            name = b"" if names is None else names[i]
            if layout.words_check(name, list_, labels.get(i, b"")) != wanted[i]:
                raise ValueError(
                    f"{self.where} is damaged: name, values or labels of column {int(chosen[i])} "
                    "do not match their checksum; pack the table again"
                )

    def codes(self, j: int, begin: int, end: int) -> NDArray[Any]:
        """Return the codes of some rows of a column.

        The checksum is of all rows: before some of them are read, the store is verified, once.
        """
        columns = np.array([j])
        block = int(_bits(self._flags[columns], 0, 3)[0])
        if (begin, end) == (0, self.n_rows):
            n_values = np.diff(self._own.offsets[j : j + 2]).astype(np.int64)
            n_codes = n_values + _bits(self._flags[columns], 4, 1)
            return np.asarray(self._codes(block, columns, n_codes)[0])
        if not self._verified:
            self.verify()
        few = bool(self._in_two_bits(columns)[0])
        number = _QUARTERS if few else block
        place = j if self._place is None else int(self._place[j])
        first, file = place * self._row_bytes(number), self._files[_FILES[number]]
        kind = layout.CODE_TYPES[block]
        if not few:
            read = file.read(first + begin * kind.itemsize, (end - begin) * kind.itemsize)
            return np.frombuffer(read, dtype=kind).astype(kind.newbyteorder("="), copy=False)
        start = begin // 4
        packed = np.frombuffer(file.read(first + start, -(-end // 4) - start), dtype=np.uint8)
        codes = layout.of_two_bits(packed[np.newaxis], 4 * len(packed))
        return np.asarray(codes[0, begin - 4 * start : end - 4 * start])

    # Everything

    def records(self) -> Iterator[NDArray[Any]]:
        """Yield the records of the columns, in their order, some at a time."""
        file, total = self._files[layout.COLUMNS], 0
        if file.size % layout.COLUMN.itemsize:
            raise self._inconsistent(f"{layout.COLUMNS} ends within a column")
        for piece in pieces_of(file):
            total = crc32(piece, total)
        if total != self._crc32(layout.COLUMNS):
            raise self._damaged(layout.COLUMNS)
        for piece in pieces_of(file, layout.COLUMN.itemsize):
            yield np.frombuffer(piece, dtype=layout.COLUMN)

    def fingerprint(self) -> str:
        """As `layout.fingerprint_of`."""
        return str(self.header["fingerprint"])

    def verify(self) -> None:
        """Read every file; raises ValueError for the first that does not match its checksum."""
        for name in self._files:
            self._verify_file(name)
        self._verified = True

    def _verify_file(self, name: str) -> None:
        file, total = self._files[name], 0
        if name in _FILES:
            total = self._read_codes(file, _FILES.index(name))
        elif name == layout.VALUES:
            total = self._read_values(file)
        else:
            for piece in pieces_of(file):
                total = crc32(piece, total)
        if total != self._crc32(name):
            raise self._damaged(name)

    def _read_codes(self, file: File, number: int) -> int:
        """Read a file of codes, check that they are known, and return its CRC-32."""
        n_codes = np.diff(self._own.offsets).astype(np.int64) + _bits(self._flags, 4, 1)
        n_codes = n_codes[self._file_of() == number]
        total = begin = 0
        for piece in pieces_of(file, self._row_bytes(number)):
            total = crc32(piece, total)
            codes = self._decoded(piece, number)
            if unknown_code(codes, n_codes[begin : begin + len(codes)]) is not None:
                raise self._inconsistent(f"{file.name} has codes beyond the values of its columns")
            begin += len(codes)
        return total

    def _read_values(self, file: File) -> int:
        """Read the values, check that those of a column ascend, and return their CRC-32."""
        offsets, total, begin, before = self._own.offsets.astype(np.int64), 0, 0, -np.inf
        for piece in pieces_of(file, 8):
            total = crc32(piece, total)
            values = np.frombuffer(piece, dtype="<f8")
            wrong = unsorted_values(values, offsets, begin, before)
            if wrong is not None:
                raise self._inconsistent(wrong)
            begin, before = begin + len(values), float(values[-1])
        return total

    def table(self) -> EncodedTable:
        """Return all columns, codes and values mapped into memory; everything is checked once.

        Codes in two bits are read into memory, a byte each. Where a sparse matrix was packed, its
        columns are sparse again, in memory.
        """
        if not self._verified:
            self.verify()
        schema = self._schema()
        blocks = [self._mapped(layout.CODES[i], layout.CODE_TYPES[i]) for i in range(3)]
        block_of = _bits(self._flags, 0, 3)
        if self._files[layout.QUARTERS].size:
            blocks[0] = self._block_in_memory(blocks[0])
        slot = _places(block_of, len(layout.CODES))
        table = MappedTable(
            n_rows=self.n_rows,
            names=schema.names,
            kinds=schema.kinds,
            blocks=tuple(block.reshape(-1, self.n_rows) for block in blocks),  # type: ignore[arg-type]
            block_of=block_of,
            slot=np.arange(self.n_columns) if slot is None else slot.astype(np.int64),
            cut_values=schema.cut_values,
            value_offsets=schema.value_offsets,
            labels=schema.labels,
            missing=schema.missing,
            named=self.named,
        )
        table = table.over([self._files[name] for name in (*_FILES, layout.VALUES)])
        return table.with_sparse_columns() if self.sparse else table

    def schema(self) -> Schema:
        """Return the columns without their rows; values mapped into memory, and checked."""
        if not self._verified:
            for name in (layout.VALUES, layout.LABELS, layout.NAMES):
                self._verify_file(name)
        return self._schema()

    def _schema(self) -> Schema:
        p = self.n_columns
        everything = np.arange(p)
        offsets = self._own.offsets.astype(np.int64)
        labelled = np.flatnonzero(self.kind_codes())
        texts = self._labels.take(labelled) if self._labels is not None else []
        cut_values = self._mapped(layout.VALUES, np.dtype("<f8"))
        counts = np.diff(offsets).tolist()
        labels = self._labels_of(dict(zip(labelled.tolist(), texts, strict=True)), counts)
        kind_codes = self.kind_codes()  # that the values ascend is known
        wrong = invalid_offsets(kind_codes, offsets, len(cut_values))
        wrong = wrong or invalid_labels(kind_codes, offsets, cut_values, labels)
        if wrong is not None:
            raise self._inconsistent(wrong)
        return Schema(
            tuple(self.names(everything)) if self.named else default_names(p),
            self.named,
            _kinds(kind_codes),
            cut_values,
            offsets,
            labels,
            _bits(self._flags, 4, 1),
        )

    def _block_in_memory(self, others: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the codes of block 0 in the order of the columns; those in bytes are `others`."""
        few = self._in_two_bits(_bits(self._flags, 0, 3) == 0)
        require_memory(
            len(few) * self.n_rows,
            what=f"{self.n_rows} x {len(few)} codes, of which the store has some in two bits",
            function="as_table",
            hint="take some columns",
        )
        block = np.empty((len(few), self.n_rows), dtype=np.uint8)
        block[~few] = others.reshape(-1, self.n_rows)
        places, begin = np.flatnonzero(few), 0
        for piece in pieces_of(self._files[layout.QUARTERS], self._row_bytes(_QUARTERS)):
            codes = self._decoded(piece, _QUARTERS)
            block[places[begin : begin + len(codes)]] = codes
            begin += len(codes)
        return block

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
        except (pa.ArrowException, OSError) as error:
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


def _places(group_of: NDArray[np.uint8], n_groups: int) -> NDArray[np.uint32] | None:
    """Return the place of each column among those of its group; None where all are of one."""
    if not group_of.size or group_of.min() == group_of.max():
        return None
    places = np.empty(len(group_of), dtype=np.uint32)
    for number in range(n_groups):
        here = group_of == number
        places[here] = np.arange(np.count_nonzero(here))
    return places


def _total(lengths: NDArray[np.unsignedinteger]) -> int:
    """Return the sum of lengths; a maximum takes a tenth of the time, and tells where all are 0."""
    return int(lengths.sum(dtype=np.uint64)) if lengths.max(initial=0) else 0


def _bits(flags: NDArray[np.uint8], first: int, mask: int) -> NDArray[np.uint8]:
    """Return a part of the flags of columns; see `layout.COLUMN`."""
    return np.asarray(flags >> first & mask, dtype=np.uint8)
