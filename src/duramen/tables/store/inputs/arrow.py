"""Parquet and Arrow files as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from duramen.results.text import first_line, quoted
from duramen.tables.store.budget import columns_within
from duramen.tables.store.inputs.input import Input
from duramen.tables.store.pairing import named_rows

if TYPE_CHECKING:
    import pyarrow as pa

_CELL_BYTES = 56  # of a cell: as it was read, its value, its code, and room to sort
_TURNED_BYTES = 48  # where rows become columns


class Records(Protocol):
    """A file of Arrow's types.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the table.
    n_rows, n_bytes : int
        Rows, and bytes that all columns take at the most.
    """

    schema: pa.Schema
    n_rows: int
    n_bytes: int

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Some columns, all of their rows."""
        ...

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """All columns, at most `n_rows` rows at a time where the file allows it."""
        ...


class ParquetFile:
    """A Parquet file."""

    def __init__(self, path: Path, function: str) -> None:
        import pyarrow.parquet as pq

        with _explained(path, "a Parquet", function):
            self._file = pq.ParquetFile(path)
            self._whole: pa.Schema = self._file.schema_arrow
            metadata = self._file.metadata
            self.n_rows = int(metadata.num_rows)
            groups = range(metadata.num_row_groups)
            self.n_bytes = sum(int(metadata.row_group(i).total_byte_size) for i in groups)
        self._path, self._function = path, function
        self.schema = _without_row_labels(self._whole)

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Some columns, all of their rows."""
        names = [self.schema.names[j] for j in columns]
        with _explained(self._path, "a Parquet", self._function):
            return self._file.read(columns=names, use_threads=False).select(names)

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """All columns, at most `n_rows` rows at a time."""
        with _explained(self._path, "a Parquet", self._function):
            for batch in self._file.iter_batches(batch_size=n_rows):
                yield batch.select(self.schema.names)


class ArrowFile:
    """An Arrow file, of either form."""

    def __init__(self, path: Path, function: str) -> None:
        self._path, self._function = path, function
        with self._opened(None) as (self._whole, _):
            pass
        with self._opened([0]) as (_, batches):  # rows are counted in one column
            self.n_rows = sum(batch.num_rows for batch in batches)
        self.n_bytes = path.stat().st_size
        self.schema = _without_row_labels(self._whole)

    @contextmanager
    def _opened(
        self, fields: Sequence[int] | None
    ) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(included_fields=None if fields is None else list(fields))
        with (
            _explained(self._path, "an Arrow", self._function),
            pa.OSFile(str(self._path), "rb") as file,
        ):
            try:
                reader = pa.ipc.open_file(file, options=options)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            except pa.ArrowInvalid:
                file.seek(0)
                reader = pa.ipc.open_stream(file, options=options)
                batches = iter(reader)
            yield reader.schema, map(_validated, batches)

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Some columns, all of their rows."""
        names = [self.schema.names[j] for j in columns]
        with self._opened([self._whole.get_field_index(name) for name in names]) as (_, batches):
            return _copied(batches, names)

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """All columns, batch by batch; the parts of a batch are at most `n_rows` rows."""
        names = self.schema.names
        with self._opened([self._whole.get_field_index(name) for name in names]) as (_, batches):
            for batch in batches:
                for begin in range(0, batch.num_rows, n_rows):
                    yield batch.slice(begin, n_rows).select(names)


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, once its offsets and lengths are known to lie within it."""
    batch.validate(full=True)
    return batch


def _copied(batches: Iterator[pa.RecordBatch], names: Sequence[str]) -> pa.Table:
    """Some columns of batches, in memory of their own: a batch keeps all that it was read from."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    writer = None
    for batch in batches:
        chosen = batch.select(names)
        writer = writer or pa.ipc.new_stream(sink, chosen.schema)
        writer.write_batch(chosen)
    if writer is not None:
        writer.close()
    pa.default_memory_pool().release_unused()
    return pa.ipc.open_stream(sink.getvalue()).read_all()


@contextmanager
def _explained(path: Path, what: str, function: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{function}: {path} is not {what} file, or is damaged ({first_line(error)}); check "
            "that its extension says what it is"
        ) from None


def _without_row_labels(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([field for field in schema if not field.name.startswith("__index_level_")])


def records_of(path: Path, parquet: bool, function: str) -> Records:
    """Open a file of either kind, with a row and a column at the least."""
    found: Records = ParquetFile(path, function) if parquet else ArrowFile(path, function)
    if not found.n_rows or not len(found.schema):
        raise ValueError(
            f"{function}: {path} is empty: it has {found.n_rows} rows and {len(found.schema)} "
            "columns"
        )
    return found


class ArrowInput(Input):
    """A Parquet or Arrow file."""

    def __init__(self, path: Path, records: Records, budget: int) -> None:
        self.where = str(path)
        self.files = (path,)
        self._records = records
        self.names = records.schema.names
        self.n_columns = len(records.schema)
        extra = 2 * records.n_bytes / self.n_columns
        self._width = columns_within(budget, records.n_rows, _CELL_BYTES, extra)

    def groups(self, start: int, work: Path) -> Iterator[pa.Table]:
        """Neighbouring columns."""
        for begin in range(start, self.n_columns, self._width):
            yield self._records.read(range(begin, min(begin + self._width, self.n_columns)))


class TransposedArrowInput(Input):
    """A Parquet or Arrow file whose rows are columns; its first column has their names."""

    def __init__(self, path: Path, records: Records, budget: int, function: str) -> None:
        import pyarrow as pa

        self.where = str(path)
        self.files = (path,)
        self._records, self._budget, self._function = records, budget, function
        first, others = records.schema.field(0), list(records.schema)[1:]
        names = records.read([0]).column(0)
        if pa.types.is_dictionary(names.type):
            names = names.cast(names.type.value_type)
        if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
            raise TypeError(
                f"{function}: the first column of {path}, {quoted(first.name)}, is of type "
                f"{names.type}; with transpose=True it holds the names of the columns, as text"
            )
        if names.null_count or not others:
            what = "a name is missing" if names.null_count else "there is no other column"
            raise ValueError(f"{function}: {path} cannot be transposed: {what}")
        self._text = _is_text(others, path, function)
        self.names = names.to_pylist()
        self.n_columns = records.n_rows

    def samples(self) -> pa.Table:
        """The names of the rows."""
        import pyarrow as pa

        return named_rows(
            pa.table({"sample": pa.array(self._records.schema.names[1:], pa.string())}), "sample"
        )

    def groups(self, start: int, work: Path) -> Iterator[NDArray[Any]]:
        """Groups of rows, turned."""
        n_rows = len(self._records.schema) - 1
        height = columns_within(self._budget, n_rows, _TURNED_BYTES)
        seen = 0
        for batch in self._records.batches(height):
            skip = min(max(0, start - seen), batch.num_rows)
            seen += batch.num_rows
            if skip < batch.num_rows:
                yield self._turned(batch.slice(skip))

    def _turned(self, batch: pa.RecordBatch) -> NDArray[Any]:
        """The rows of a batch as columns."""
        if self._text:
            rows = [column.to_pylist() for column in batch.columns[1:]]
            matrix = np.empty((len(rows), batch.num_rows), dtype=object)
            for i, row in enumerate(rows):
                matrix[i] = row
            return matrix
        return np.stack([_numbers(column) for column in batch.columns[1:]])


def _is_text(fields: Sequence[Any], path: Path, function: str) -> bool:
    """Whether the columns hold text; raises unless all of them do, or all hold numbers."""
    import pyarrow as pa

    numbers, texts = [], []
    for field in fields:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts.append(field.name)
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            numbers.append(field.name)
        elif not pa.types.is_null(kind):
            raise TypeError(
                f"{function}: column {quoted(field.name)} of {path} is of type {kind}; what is "
                "transposed holds numbers or text"
            )
    if texts and numbers:
        raise TypeError(
            f"{function}: {path} cannot be transposed: {quoted(texts[0])} holds text and "
            f"{quoted(numbers[0])} numbers, and its rows would be columns of mixed types"
        )
    return bool(texts)


def _numbers(column: Any) -> NDArray[Any]:
    """A column of a batch as numbers, NaN where missing."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    if pa.types.is_null(kind) or column.null_count:
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))
