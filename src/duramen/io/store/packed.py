"""The folder of a packed store, read a column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.dates import Dates
from duramen.data.encoded import (
    Blocks,
    EncodedTable,
    invalid_values,
    slots_of,
    unknown_code,
)
from duramen.data.memory import require_memory
from duramen.data.schema import KINDS, Schema
from duramen.io.store import layout
from duramen.io.store.reader import File, Place, check_of, opened, read_runs, read_whole
from duramen.support.arrays import IntArray
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
        """Table as an object of the kernel."""
        self._check()
        return super().kernel

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column in code order, without missing."""
        self._check()
        return super().values(j)


_LARGEST_HEADER = 1 << 24  # bytes


class PackedColumns:
    """The columns of a packed store.

    Names and records of the columns are in memory, some 50 bytes and the name a column. They are
    checked when the store is opened, and everything else is checked whenever it is read: codes by a
    CRC-32 a column; names, values and labels by another one.
    """

    def __init__(self, folder: Path | Place, function: str) -> None:
        self.where, self._function = str(folder), function
        file = opened(folder, layout.HEADER)
        if file.size > _LARGEST_HEADER:
            raise ValueError(
                f"{function}: {file.name} is not the header of a column store: it has "
                f"{file.size:,} bytes; pack the table again"
            )
        self.header = layout.header_of_bytes(read_whole(file), file.name, function)
        self.n_rows: int = self.header["n_rows"]
        self.n_columns: int = self.header["n_columns"]
        self.named: bool = self.header["named"]
        self.sparse = bool(self.header.get("sparse"))
        try:
            self.dates = {name: Dates(**how) for name, how in self.header.get("dates", {}).items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise self._inconsistent(f"dates in the header are damaged ({error})") from None
        self._files: dict[str, File] = {}
        for name, entry in self.header["files"].items():
            try:
                self._files[name] = file = opened(folder, name)
            except FileNotFoundError:
                raise self._inconsistent(f"{name} is not there") from None
            if file.size != entry["size"]:
                raise ValueError(
                    f"{function}: {file.name} is damaged: it has {file.size} bytes, not "
                    f"{entry['size']}; pack the table again"
                )
        self._verified = False
        self._records = self._read_records()
        self.all_names = layout.Names(self._checked(layout.NAMES), self._records["n_name"])
        self._values = layout.offsets_of(self._records["n_values"])
        self._labels = layout.offsets_of(self._records["n_labels"])
        # Block of an encoded table, and place among the columns of its file, of each column.
        self._block_of = np.asarray(self._records["file"] % layout.QUARTERS, dtype=np.uint8)
        self._place = slots_of(self._records["file"]).astype(np.uint32)

    def _inconsistent(self, what: str) -> ValueError:
        return ValueError(
            f"{self._function}: {self.where} is damaged: {what}; pack the table again"
        )

    def _mismatch(self, file: str, what: str = "its bytes") -> ValueError:
        return ValueError(
            f"{self._function}: {self._files[file].name} is damaged: {what} do not match their "
            "checksum; pack the table again"
        )

    def _checked(self, name: str) -> bytes:
        """Return the bytes of a file."""
        data = read_whole(self._files[name])
        if crc32(data) != self.header["files"][name]["crc32"]:
            raise self._mismatch(name)
        return data

    def _read_records(self) -> NDArray[Any]:
        """Return the records of the columns, after a check against the sizes of the files."""
        p, files = self.n_columns, self._files
        if files[layout.COLUMNS].size != p * layout.COLUMN.itemsize:
            raise self._inconsistent(
                f"{layout.COLUMNS} has {files[layout.COLUMNS].size:,} bytes, but {p:,} columns "
                f"need {p * layout.COLUMN.itemsize:,}"
            )
        records = np.frombuffer(self._checked(layout.COLUMNS), dtype=layout.COLUMN)
        file, n_codes = records["file"], records["n_values"] + records["missing"].astype(np.int64)
        if file.max() >= len(layout.CODES) or records["kind"].max() >= len(KINDS):
            raise self._inconsistent("columns of an unknown kind")
        if records["missing"].max() > 1 or (n_codes[file == layout.QUARTERS] > 4).any():
            raise self._inconsistent("columns in two bits that have more than four codes")
        if records["n_labels"].max() > files[layout.LABELS].size:  # sums would overflow
            raise self._inconsistent("labels that are longer than their file")
        wanted: dict[str, int] = {
            layout.VALUES: 8 * int(records["n_values"].sum(dtype=np.uint64)),
            layout.LABELS: int(records["n_labels"].sum(dtype=np.uint64)),
            layout.NAMES: int(records["n_name"].sum(dtype=np.uint64)),
        }
        for number, name in enumerate(layout.CODES):
            wanted[name] = int((file == number).sum()) * layout.row_bytes(number, self.n_rows)
        for name, size in wanted.items():
            if files[name].size != size:
                raise self._inconsistent(
                    f"{name} has {files[name].size} bytes, but its columns need {size}"
                )
        return records

    # --- some columns -----------------------------------------------------------------------------

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column, as its place in `KINDS`."""
        return np.ascontiguousarray(self._records["kind"])

    def names(self, chosen: IntArray) -> list[str]:
        """Return the names of the columns with these numbers."""
        names: list[str] = self.all_names[chosen]
        return names

    def find(self, name: str) -> int | None:
        """Return the number of the column of that name."""
        return self.all_names.find(name)

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return the columns with these numbers, in that order, in memory."""
        records = self._records[chosen]
        begins, ends = (8 * self._values[chosen + i].astype(np.int64) for i in (0, 1))
        joined, values = read_runs(self._files[layout.VALUES], begins, ends)
        texts, wanted = self._texts(chosen), records["words_check"].tolist()
        for i, (name, numbers) in enumerate(zip(self.all_names.words(chosen), values, strict=True)):
            check = crc32(texts.get(i, b""), crc32(numbers, crc32(name)))
            if check != wanted[i]:
                raise self._inconsistent(
                    f"name, values or labels of column {int(chosen[i])} do not match their checksum"
                )
        schema = self._schema(chosen, joined.view("<f8"), texts)
        labels, cut_values = schema.labels, schema.cut_values
        wrong = invalid_values(records["kind"], schema.value_offsets, cut_values, labels)
        if wrong is not None:
            raise self._inconsistent(wrong)
        block_of = self._block_of[chosen]
        blocks = [self._codes(number, chosen[block_of == number]) for number in range(3)]
        return EncodedTable(**_table(self.n_rows, schema, block_of, blocks))

    def _texts(self, chosen: IntArray) -> dict[int, bytes]:
        """Return the labels of columns as they lie on disk, by their places among the chosen."""
        places = np.flatnonzero(self._records["kind"][chosen])
        begins, ends = (self._labels[chosen[places] + i].astype(np.int64) for i in (0, 1))
        _, parts = read_runs(self._files[layout.LABELS], begins, ends)
        return {place: bytes(part) for place, part in zip(places.tolist(), parts, strict=True)}

    def _schema(
        self, chosen: IntArray, values: NDArray[np.float64], texts: dict[int, bytes]
    ) -> Schema:
        """Return columns without their rows, from their values and labels on disk."""
        records = self._records[chosen]
        counts = records["n_values"].tolist()
        try:
            labels = {j: layout.labels_of_bytes(text, counts[j]) for j, text in texts.items()}
        except ValueError as error:
            raise self._inconsistent(str(error)) from None
        names = tuple(self.names(chosen))
        return Schema(
            names=names,
            named=self.named,
            kinds=tuple(map(KINDS.__getitem__, records["kind"].tolist())),
            cut_values=values.astype(np.float64, copy=False),
            value_offsets=layout.offsets_of(records["n_values"]).astype(np.int64),
            labels=labels,
            missing=np.ascontiguousarray(records["missing"]),
            dates={name: how for name, how in self.dates.items() if name in names},
        )

    def _codes(self, block: int, columns: IntArray) -> NDArray[Any]:
        """Return the codes of columns of one block, checked; shape (len(columns), n)."""
        kind = layout.CODE_TYPES[block]
        files = self._records["file"][columns]
        if len(set(files.tolist())) == 1:
            codes = self._read(int(files[0]), columns)
        else:
            codes = np.empty((len(columns), self.n_rows), dtype=kind)
            for number in set(files.tolist()):
                codes[files == number] = self._read(number, columns[files == number])
        return self._known(codes, columns, block)

    def _read(self, number: int, columns: IntArray) -> NDArray[Any]:
        """Return the codes of columns of one file, after a check of their checksums."""
        size = layout.row_bytes(number, self.n_rows)
        begins = self._place[columns].astype(np.int64) * size
        joined, _ = read_runs(self._files[layout.CODES[number]], begins, begins + size)
        codes = layout.codes_of_bytes(joined, number, self.n_rows)
        checks = [crc32(row) for row in codes]
        wrong = np.flatnonzero(self._records["codes_check"][columns] != checks)
        if len(wrong):
            what = f"the codes of column {quoted(self.all_names[int(columns[wrong[0]])])}"
            raise self._mismatch(layout.CODES[number], what)
        return codes

    def _n_codes(self, columns: Any) -> IntArray:
        records = self._records[columns]
        return np.asarray(records["n_values"] + records["missing"].astype(np.int64))

    def codes(self, j: int, begin: int, end: int) -> NDArray[Any]:
        """Return the codes of some rows of a column.

        The checksum is of all rows: before some of them are read, the store is verified, once.
        """
        column, number, block = np.array([j]), int(self._records["file"][j]), int(self._block_of[j])
        if (begin, end) == (0, self.n_rows):
            return np.asarray(self._codes(block, column)[0])
        if not self._verified:
            self.verify()
        first = begin - begin % 4  # a byte may hold four codes
        at = int(self._place[j]) * layout.row_bytes(number, self.n_rows)
        offset, size = (layout.row_bytes(number, n) for n in (first, end - first))
        read = self._files[layout.CODES[number]].ranges([at + offset], [size])
        codes = layout.codes_of_bytes(read, number, end - first)[0, begin - first :]
        return np.asarray(self._known(codes[np.newaxis], column, block)[0])

    def _known(self, codes: NDArray[Any], columns: IntArray, block: int) -> NDArray[Any]:
        """Return codes of columns of a block, after a check for unknown codes."""
        unknown = unknown_code(codes, self._n_codes(columns))
        if unknown is not None:
            name = quoted(self.all_names[int(columns[unknown])])
            raise self._inconsistent(f"column {name} has unknown codes")
        return codes.astype(layout.CODE_TYPES[block].newbyteorder("="), copy=False)

    # --- all columns ------------------------------------------------------------------------------

    def records(self) -> NDArray[Any]:
        """Return the records of the columns."""
        return self._records

    def fingerprint(self) -> str:
        """Return the fingerprint of `layout.fingerprint_of`."""
        return str(self.header["fingerprint"])

    def verify(self) -> None:
        """Read every file; raises ValueError for the first that does not match its checksum."""
        self._verify(*self._files)
        self._verified = True

    def _verify(self, *names: str) -> None:
        for name in names:
            if check_of(self._files[name]) != self.header["files"][name]["crc32"]:
                raise self._mismatch(name)

    def table(self) -> EncodedTable:
        """Return all columns, codes and values mapped into memory; everything is checked once.

        Codes in two bits are read into memory, a byte each. Where a sparse matrix was packed, its
        columns are sparse again, in memory.
        """
        if not self._verified:
            self.verify()
        blocks = [self._block(number) for number in range(3)]
        for number, block in enumerate(blocks):
            if unknown_code(block, self._n_codes(self._block_of == number)) is not None:
                raise self._inconsistent(f"{layout.CODES[number]} has unknown codes")
        table = MappedTable(**_table(self.n_rows, self.schema(), self._block_of, blocks))
        mapped = tuple(self._files[name] for name in (*layout.CODES, layout.VALUES))
        vars(table)["_files"] = mapped
        return table.with_sparse_columns() if self.sparse else table

    def _block(self, number: int) -> NDArray[Any]:
        """Return the codes of a block, mapped unless some of them take two bits."""
        kind = layout.CODE_TYPES[number]
        data = self._files[layout.CODES[number]].whole()
        mapped = layout.codes_of_bytes(data, number, self.n_rows)
        few = self._records["file"][self._block_of == number] == layout.QUARTERS
        if not few.any():
            return mapped.astype(kind.newbyteorder("="), copy=False)
        require_memory(
            len(few) * self.n_rows,
            what=f"{self.n_rows} x {len(few)} codes, of which the store has some in two bits",
            function="as_table",
            hint="take some columns",
        )
        block = np.empty((len(few), self.n_rows), dtype=np.uint8)
        block[~few] = mapped
        step = max(1, (1 << 22) // self.n_rows)
        quarters = np.flatnonzero(self._records["file"] == layout.QUARTERS)
        for begin in range(0, len(quarters), step):
            places = np.flatnonzero(few)[begin : begin + step]
            block[places] = self._read(layout.QUARTERS, quarters[begin : begin + step])
        return block

    def schema(self) -> Schema:
        """Return the columns without their rows; values mapped into memory, and checked."""
        if not self._verified:
            self._verify(layout.VALUES, layout.LABELS)
        everything = np.arange(self.n_columns)
        values = np.frombuffer(self._files[layout.VALUES].whole(), dtype="<f8")
        schema = self._schema(everything, values, self._texts(everything))
        offsets, cut_values = schema.value_offsets, schema.cut_values
        wrong = invalid_values(self.kind_codes(), offsets, cut_values, schema.labels)
        if wrong is not None:
            raise self._inconsistent(wrong)
        return schema

    # --- beside the columns -----------------------------------------------------------------------

    def samples(self) -> pa.Table | None:
        """Return the sample annotations."""
        return self._beside(layout.SAMPLES, self.n_rows)

    def variants(self) -> pa.Table | None:
        """Return the genomic positions of the columns."""
        table = self._beside(layout.VARIANTS, self.n_columns)
        if table is not None and not table.schema.equals(layout.variants_schema()):
            raise self._inconsistent(f"{layout.VARIANTS} has other columns")
        return table

    def _beside(self, name: str, n_rows: int) -> pa.Table | None:
        """Return a table of `n_rows` rows that is stored beside the codes, or None."""
        if name not in self._files:
            return None
        try:
            table = pa.ipc.open_file(pa.BufferReader(self._checked(name))).read_all()
            table.validate(full=True)
        except (pa.ArrowException, OSError) as error:
            what = f"{name} is no Arrow table ({first_line(error)})"
            raise self._inconsistent(what) from None
        if len(table) != n_rows:
            raise self._inconsistent(f"{name} has {len(table)} rows")
        return table


def _table(
    n_rows: int, schema: Schema, block_of: NDArray[np.uint8], blocks: Sequence[Any]
) -> dict[str, Any]:
    """Return the fields of an encoded table of columns and the blocks of their codes."""
    own = {field.name: getattr(schema, field.name) for field in fields(Schema) if field.init}
    places = {"block_of": block_of, "slot": slots_of(block_of)}
    return {**own, **places, "n_rows": n_rows, "blocks": tuple(blocks)}
