"""Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from duramen.io.formats.format import Format, Input, Request
from duramen.io.formats.records import explained, input_of, places_of_columns, schema_of_columns
from duramen.io.store.layout import HEADER
from duramen.support.arrow import pa, pq

_CODE_BYTES = 1  # of a code that a value becomes, at the least
_SUFFIXES = (".parquet", ".pq")


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder of Parquet files, as other programs write large tables."""
    folder = Path(path)
    try:
        return folder.is_dir() and not (folder / HEADER).is_file() and bool(_files(folder))
    except (OSError, ValueError):  # of a name that no file can have, or that may not be looked at
        return False


def _files(folder: Path) -> list[Path]:
    """Return the files in a folder of Parquet files, in the order of their names; else none."""
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    if not all(one.suffix.lower() in _SUFFIXES and one.is_file() for one in entries):
        return []
    return sorted(entries)


def read_parquet(path: Path, request: Request) -> pa.Table:
    """Read a Parquet file, or a folder of them, whole."""
    with explained(path, "a Parquet", request.function):
        if path.is_dir():
            table = ParquetFile(path, request.function).whole()
        else:
            with pq.ParquetFile(path) as file:
                table = file.read()
    return table.select(places_of_columns(table.schema, path, request.function))


class ParquetFile:
    """A Parquet file, or a folder of files with the same columns, whose rows follow each other."""

    def __init__(self, path: Path, function: str) -> None:
        paths = _files(path) if path.is_dir() else [path]
        with explained(path, "a Parquet", function):
            self._files = [pq.ParquetFile(one) for one in paths]
            self._whole: pa.Schema = self._files[0].schema_arrow
            parts = [one.metadata for one in self._files]
            self.n_rows = sum(int(part.num_rows) for part in parts)
            groups = [part.row_group(i) for part in parts for i in range(part.num_row_groups)]
            self.n_bytes = sum(int(group.total_byte_size) for group in groups)
        self._path, self._function = path, function
        for one, file in zip(paths, self._files, strict=True):
            if file.schema_arrow.names != self._whole.names:
                raise ValueError(
                    f"{function}: {path} must be a folder of files with the same columns, but "
                    f"those of {one.name} differ from those of {paths[0].name}"
                )
        self.schema = schema_of_columns(self._whole, path, function)

    def whole(self) -> pa.Table:
        """Read all columns."""
        return _joined([file.read() for file in self._files])

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Read all rows of some columns."""
        names = [self.schema.names[j] for j in columns]
        with explained(self._path, "a Parquet", self._function):
            parts = [file.read(columns=names, use_threads=False) for file in self._files]
            return _joined([part.select(names) for part in parts])

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all columns, at most `n_rows` rows at a time."""
        with explained(self._path, "a Parquet", self._function):
            for file in self._files:
                for batch in file.iter_batches(batch_size=n_rows):
                    yield batch.select(self.schema.names)


def _joined(parts: list[pa.Table]) -> pa.Table:
    """Return tables one below the other; numbers of several types take the wider one."""
    return pa.concat_tables(parts, promote_options="permissive") if len(parts) > 1 else parts[0]


def parquet_bytes(path: Path, request: Request) -> int:
    """Return the bytes that a table takes, by the types of its columns and the number of rows."""
    file = ParquetFile(path, request.function)
    widths = sum(_width(field.type) for field in file.schema)
    return file.n_rows * (widths + _CODE_BYTES * len(file.schema))


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a value, where all of its type take as many."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


def open_parquet(path: Path, request: Request) -> Input:
    """Open a Parquet file as an input."""
    return input_of(ParquetFile(path, request.function), path, request)


def write_parquet(table: pa.Table, file: IO[bytes]) -> None:
    """Write a Parquet file."""
    pq.write_table(table, file)


PARQUET = Format(
    "parquet",
    "Parquet",
    _SUFFIXES,
    read=read_parquet,
    groups=open_parquet,
    write=write_parquet,
    n_bytes=parquet_bytes,
    begins=b"PAR1",
)
