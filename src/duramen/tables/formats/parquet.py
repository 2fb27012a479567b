"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from duramen.tables.formats.format import Format, Request
from duramen.tables.formats.input import Input
from duramen.tables.formats.records import explained, input_of, places_of_columns, schema_of_columns

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path, request: Request) -> pa.Table:
    """Read a Parquet file whole."""
    import pyarrow.parquet as pq

    with explained(path, "a Parquet", request.function), pq.ParquetFile(path) as file:
        table = file.read()
    return table.select(places_of_columns(table.schema, path, request.function))


class ParquetFile:
    """A Parquet file."""

    def __init__(self, path: Path, function: str) -> None:
        import pyarrow.parquet as pq

        with explained(path, "a Parquet", function):
            self._file = pq.ParquetFile(path)
            self._whole: pa.Schema = self._file.schema_arrow
            metadata = self._file.metadata
            self.n_rows = int(metadata.num_rows)
            groups = range(metadata.num_row_groups)
            self.n_bytes = sum(int(metadata.row_group(i).total_byte_size) for i in groups)
        self._path, self._function = path, function
        self.schema = schema_of_columns(self._whole, path, function)

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Read all rows of some columns."""
        names = [self.schema.names[j] for j in columns]
        with explained(self._path, "a Parquet", self._function):
            return self._file.read(columns=names, use_threads=False).select(names)

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all columns, at most `n_rows` rows at a time."""
        with explained(self._path, "a Parquet", self._function):
            for batch in self._file.iter_batches(batch_size=n_rows):
                yield batch.select(self.schema.names)


def open_parquet(path: Path, request: Request) -> Input:
    """Open a Parquet file as an input."""
    return input_of(ParquetFile(path, request.function), path, request)


def write_parquet(table: pa.Table, file: IO[bytes]) -> None:
    """Write a Parquet file."""
    import pyarrow.parquet as pq

    pq.write_table(table, file)


PARQUET = Format(
    "parquet",
    "Parquet",
    (".parquet", ".pq"),
    read=read_parquet,
    groups=open_parquet,
    write=write_parquet,
)
