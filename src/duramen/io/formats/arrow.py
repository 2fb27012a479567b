"""Arrow and Parquet files, and inputs of records by columns or, transposed, by rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.io.formats.format import (
    FIRST_ROWS,
    Format,
    Input,
    Request,
    describing,
    explained,
    named_rows,
    warn_of,
)
from duramen.io.store.layout import HEADER
from duramen.results.columns import counted
from duramen.support.arrow import is_number, is_text, pa, pc, pq, without_dictionary
from duramen.support.text import as_number, quoted
from duramen.support.warning import warn

# Bytes of a group of columns at most, unless a single one takes more.
_GROUP_BYTES = 1 << 27
_CELL_BYTES = 56  # of a cell: as it was read, its value, its code, and room to sort
_TURNED_BYTES = 48  # where rows become columns

Records: TypeAlias = "FileRecords | TableRecords"


def places_of_columns(schema: pa.Schema, path: Path, function: str) -> list[int]:
    """Return the places of the columns, which pandas' row labels are not, with a warning."""
    labels = [name for name in schema.names if name.startswith("__index_level_")]
    if labels:
        warn(
            f"{function}: {', '.join(map(quoted, labels))} of {path.name}, the index of a pandas "
            "frame, was left out. Hint: frame.reset_index() before the file is written keeps it "
            "as a column."
        )
    return [j for j, name in enumerate(schema.names) if name not in labels]


def schema_of_columns(schema: pa.Schema, path: Path, function: str) -> pa.Schema:
    """Return a schema without pandas' row labels."""
    return pa.schema([schema.field(j) for j in places_of_columns(schema, path, function)])


def input_of(records: Records, path: Path, request: Request) -> Input:
    """Return the input of a file that has a row and a column at the least."""
    if not records.n_rows or not len(records.schema):
        raise ValueError(
            f"{request.function}: {path} is empty: it has "
            f"{counted(records.n_rows, 'row')} and {counted(len(records.schema), 'column')}"
        )
    kind = TransposedArrowInput if request.transpose else ArrowInput
    return kind(path, records, request)


class ArrowInput(Input):
    """A Parquet or Arrow file."""

    def __init__(self, path: Path, records: Records, request: Request) -> None:
        self.where = str(path)
        self.files = (path,)
        self._records = records
        self.names = records.schema.names
        self.n_columns = len(records.schema)
        self.n_rows, self.cell_bytes = records.n_rows, _CELL_BYTES
        self.extra_bytes = 2 * records.n_bytes / self.n_columns
        self.budget = min(request.budget, _GROUP_BYTES)

    def beginning(self) -> tuple[pa.Table, Callable[[Sequence[int]], pa.Table]] | None:
        """Return the first rows, and the function that reads columns."""
        first = next(iter(self._records.batches(FIRST_ROWS)), None)
        return None if first is None else (pa.Table.from_batches([first]), self._records.read)

    def part(self, begin: int, end: int) -> pa.Table:
        """Return neighboring columns."""
        return self._records.read(range(begin, end))


class TransposedArrowInput(Input):
    """A Parquet or Arrow file whose rows are columns; its first column has their names."""

    def __init__(self, path: Path, records: Records, request: Request) -> None:
        function = request.function
        self.where = str(path)
        self.files = (path,)
        self._records, self.budget = records, request.budget
        first, others = records.schema.field(0), list(records.schema)[1:]
        self._before = 1 + describing([field.name for field in others])
        warn_of(records.schema.names[1 : self._before], path.name, function)
        others = others[self._before - 1 :]
        names = without_dictionary(records.read([0]).column(0))
        if not is_text(names.type):
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
        self.n_rows, self.cell_bytes = len(others), _TURNED_BYTES

    def samples(self) -> pa.Table:
        """Return the names of the rows."""
        return named_rows(
            pa.table({"sample": pa.array(self._records.schema.names[self._before :], pa.string())}),
            "sample",
        )

    def groups(self, start: int, work: Path) -> Iterator[NDArray[Any]]:
        """Yield groups of rows as columns."""
        seen = 0
        for batch in self._records.batches(self.width):
            skip = min(max(0, start - seen), batch.num_rows)
            seen += batch.num_rows
            columns = batch.slice(skip).columns[self._before :]
            if skip == batch.num_rows:
                continue
            if self._text:
                yield np.array([column.to_pylist() for column in columns], dtype=object)
            else:
                yield np.stack([_numbers(column) for column in columns])


def _is_text(fields: Sequence[Any], path: Path, function: str) -> bool:
    """Return whether the columns hold text; raises unless all of them do, or all hold numbers."""
    numbers, texts = [], []
    for field in fields:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if is_text(kind):
            texts.append(field.name)
        elif is_number(kind) or pa.types.is_boolean(kind):
            numbers.append(field.name)
        elif not pa.types.is_null(kind):
            raise TypeError(
                f"{function}: column {quoted(field.name)} of {path} is of type {kind}; a file "
                "that is transposed must hold numbers or text"
            )
    if texts and numbers:
        raise TypeError(
            f"{function}: {path} cannot be transposed: {quoted(texts[0])} holds text and "
            f"{quoted(numbers[0])} numbers, and its rows would be columns of mixed types"
        )
    return bool(texts)


def _numbers(column: Any) -> NDArray[Any]:
    """Return a column of a batch as numbers, NaN where missing."""
    column = without_dictionary(column)
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    if pa.types.is_null(kind) or column.null_count:
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def with_missing(table: pa.Table, words: Sequence[str]) -> pa.Table:
    """Return a table where some words, and the numbers that they stand for, are missing values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from duramen.io.formats.arrow import with_missing
    >>> with_missing(pa.table({"age": [36, -99], "site": ["?", "A"]}), ["-99", "?"]).to_pydict()
    {'age': [36, None], 'site': [None, 'A']}
    """
    if not words:
        return table
    columns = [_with_missing(column, list(map(str, words))) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _with_missing(column: Any, words: list[str]) -> Any:
    column = without_dictionary(column)
    kind = column.type
    if is_text(kind):
        sought = pa.array(words, kind)
    elif is_number(kind):
        numbers = [number for number in map(as_number, words) if number is not None]
        sought = pa.array(_of_kind(numbers, kind), kind)
    else:
        return column
    return pc.if_else(pc.is_in(column, sought), pa.scalar(None, kind), column)


def _of_kind(numbers: list[float], kind: Any) -> list[Any]:
    """Return the numbers that a type can hold."""
    if pa.types.is_floating(kind):
        return list(numbers)
    signed = pa.types.is_signed_integer(kind)
    least = -(2 ** (kind.bit_width - 1)) if signed else 0
    most = 2 ** (kind.bit_width - signed) - 1
    return [int(number) for number in numbers if number.is_integer() and least <= number <= most]


def read_arrow(path: Path, request: Request) -> pa.Table:
    """Read an Arrow file of either form whole."""
    return _arrow_records(path, request.function).read()


class TableRecords:
    """A table that is read whole, in place of a file."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.schema, self.n_rows, self.n_bytes = table.schema, table.num_rows, table.nbytes

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Return all rows of some columns."""
        return self._table.select(list(columns))

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all columns, at most `n_rows` rows at a time."""
        yield from self._table.to_batches(max_chunksize=n_rows)


_ONE_AFTER_THE_OTHER: dict[str, Any] = {
    "use_threads": False,
    "batch_readahead": 1,
    "fragment_readahead": 1,
}


@dataclass(frozen=True, eq=False)
class FileRecords:
    """Files of which some columns, or some rows at a time, are read.

    Attributes
    ----------
    files : pyarrow.dataset.Dataset, or what has its `schema` and `to_batches`
        The files.
    schema : pyarrow.Schema
        The columns of the table, without row labels of pandas.
    n_rows, n_bytes : int
        Size of the table, not compressed where that is known.
    path, function, what
        For errors: the file or folder, the function that the user called, and "a Parquet".
    """

    files: Any
    schema: pa.Schema
    n_rows: int
    n_bytes: int
    path: Path
    function: str
    what: str

    def read(self, columns: Sequence[int] | None = None) -> pa.Table:
        """Read all rows of some columns, by default of all."""
        chosen = range(len(self.schema)) if columns is None else columns
        fields = [self.schema.field(j) for j in chosen]
        pa.default_memory_pool().release_unused()  # of the columns before
        with explained(self.path, self.function, self.what):
            whole = len(fields) == len(self.files.schema)
            names = None if columns is None and whole else [field.name for field in fields]
            batches = self.files.to_batches(names, **_ONE_AFTER_THE_OTHER)
            # Copied, as a batch keeps all that it was read from in memory.
            parts = [batch.take(np.arange(len(batch))) for batch in map(validated, batches)]
            return pa.Table.from_batches(parts, pa.schema(fields, self.schema.metadata))

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all columns, at most `n_rows` rows at a time."""
        with explained(self.path, self.function, self.what):
            yield from map(
                validated,
                self.files.to_batches(self.schema.names, batch_size=n_rows, **_ONE_AFTER_THE_OTHER),
            )


def validated(data: Any) -> Any:
    """Check that what was read of a file is whole, and return it.

    In a damaged file offsets, lengths, indices and text point anywhere (ArrowInvalid). Numbers
    without missing values can only be too few, which the quick check of Arrow tells; its full check
    looks at each character of text.
    """
    data.validate()
    for kind, column in zip(data.schema.types, data.columns, strict=True):
        if is_number(kind) and not column.null_count:
            continue
        for chunk in getattr(column, "chunks", (column,)):
            chunk.validate(full=True)
    return data


@dataclass(frozen=True)
class _ArrowFile:
    """An Arrow file of either form, of which batches are read as of a dataset."""

    path: Path

    def to_batches(
        self, names: Sequence[str] | None, batch_size: int = 1 << 17, **_: Any
    ) -> Iterator[pa.RecordBatch]:
        """Yield columns, by default all, at most `batch_size` rows at a time."""
        with pa.OSFile(str(self.path), "rb") as file:
            options = pa.ipc.IpcReadOptions(
                included_fields=None
                if names is None
                else [self.schema.get_field_index(name) for name in names]
            )
            for batch in self._opened(file, options)[1]:
                for begin in range(0, batch.num_rows, batch_size):
                    part = batch.slice(begin, batch_size)
                    yield part if names is None else part.select(names)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns."""
        with pa.OSFile(str(self.path), "rb") as file:
            return self._opened(file, pa.ipc.IpcReadOptions())[0]

    def _opened(self, file: Any, options: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        try:
            reader = pa.ipc.open_file(file, options=options)
            return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
        except pa.ArrowInvalid:
            file.seek(0)
            reader = pa.ipc.open_stream(file, options=options)
            return reader.schema, iter(reader)


def open_arrow(path: Path, request: Request) -> Input:
    """Open an Arrow file as an input."""
    return input_of(_arrow_records(path, request.function), path, request)


def _arrow_records(path: Path, function: str) -> FileRecords:
    files = _ArrowFile(path)
    with explained(path, function, "an Arrow"):
        first = files.schema.names[:1]  # rows are counted in one column
        n_rows = sum(batch.num_rows for batch in files.to_batches(first))
    schema, n_bytes = schema_of_columns(files.schema, path, function), path.stat().st_size
    return FileRecords(files, schema, n_rows, n_bytes, path, function, "an Arrow")


ARROW = Format(
    "arrow",
    "Arrow",
    (".arrow", ".feather", ".ipc"),
    read=read_arrow,
    groups=open_arrow,
    begins=b"ARROW1",
)


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
    """Return the files in a folder of Parquet files, in the order of their names; else none.

    Folders in it that are called ``column=value`` (Hive partitions) are part of it.
    """
    files = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir() and "=" in entry.name:
            inside = _files(entry)
        else:
            inside = [entry] if entry.suffix.lower() in _SUFFIXES and entry.is_file() else []
        if not inside:
            return []
        files += inside
    return files


def read_parquet(path: Path, request: Request) -> pa.Table:
    """Read a Parquet file, or a folder of them, whole."""
    with explained(path, request.function, "a Parquet"):
        if path.is_dir():
            return parquet_records(path, request.function).read()
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read()
    return table.select(places_of_columns(table.schema, path, request.function))


def parquet_records(path: Path, function: str) -> FileRecords:
    """Open a Parquet file, or a folder of files with the same columns, one after the other.

    Columns that the names of folders give (``site=A``) come after those of the files.
    """
    import pyarrow.dataset as ds

    folder = path.is_dir()
    paths = _files(path) if folder else [path]
    with explained(path, function, "a Parquet"):
        schemas = [pq.read_schema(file) for file in paths]
    for file, schema in zip(paths, schemas, strict=True):
        if schema.names != schemas[0].names:
            raise ValueError(
                f"{function}: {path} must be a folder of files with the same columns, but those "
                f"of {file.name} differ from those of {paths[0].name}"
            )
    places = [part for file in paths for part in file.relative_to(path).parts[:-1]]
    if twice := sorted({place.partition("=")[0] for place in places} & {*schemas[0].names}):
        raise ValueError(
            f"{function}: {path} has {quoted(twice[0])} both in the names of its folders and as a "
            "column of its files; rename one of them"
        )
    scan = ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
    with explained(path, function, "a Parquet"):
        files = ds.dataset(
            list(map(str, paths)),
            format=ds.ParquetFileFormat(default_fragment_scan_options=scan),
            partitioning=ds.partitioning(flavor="hive") if folder else None,
            partition_base_dir=str(path) if folder else None,
        )
        of_folders = [files.schema.field(j) for j in range(len(schemas[0]), len(files.schema))]
        joined = pa.unify_schemas(schemas, promote_options="permissive")
        files = files.replace_schema(pa.schema([*joined, *of_folders], joined.metadata))
        parts = [part for file in files.get_fragments() for part in file.row_groups]
        n_rows = sum(part.num_rows for part in parts)
        n_bytes = sum(part.total_byte_size for part in parts)
    schema = schema_of_columns(files.schema, path, function)
    return FileRecords(files, schema, n_rows, n_bytes, path, function, "a Parquet")


def parquet_bytes(path: Path, request: Request) -> int:
    """Return the bytes that a table takes, by the types of its columns and the number of rows.

    Of text, whose length is not known, as many as its encoded values take without compression.
    """
    file = parquet_records(path, request.function)
    widths = sum(_width(field.type) for field in file.schema)
    return max(file.n_bytes, file.n_rows * (widths + _CODE_BYTES * len(file.schema)))


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a value, where all of its type take as many."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


def open_parquet(path: Path, request: Request) -> Input:
    """Open a Parquet file as an input."""
    return input_of(parquet_records(path, request.function), path, request)


def write_parquet(table: pa.Table, file: IO[bytes]) -> None:
    """Write a Parquet file."""
    pq.write_table(table, file, write_page_checksum=True)


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
