"""Arrow and Parquet files, and inputs of their rows or, transposed, of their columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.io.formats.format import (
    Format,
    Input,
    Request,
    describing,
    explained,
    named_rows,
    require_room,
    warn_of,
)
from duramen.io.store.layout import HEADER
from duramen.support.arrow import is_number, is_text, pa, pc, pq, without_dictionary
from duramen.support.checks import warn
from duramen.support.text import as_number, quoted

# Bytes of a group of columns at most, unless a single one takes more.
_GROUP_BYTES = 1 << 27
_CELL_BYTES = 56  # of a cell: as it was read, its value, its code, and room to sort
_TURNED_BYTES = 48  # where rows become columns
_SUFFIXES = (".parquet", ".pq")


class Records:
    """Rows of a table or of files, of which some columns, or some rows at a time, are read.

    Parameters
    ----------
    files : pyarrow.dataset.Dataset
        The rows.
    n_rows, n_bytes : int
        Their number, and their size, not compressed where that is known.
    path : Path
        File or folder, for errors.
    function : str
        The function that the user called.
    what : str
        Kind of file, such as "a Parquet".
    """

    def __init__(
        self, files: Any, n_rows: int, n_bytes: int, path: Path, function: str, what: str
    ) -> None:
        self._files, self.n_rows, self.n_bytes = files, n_rows, n_bytes
        self._explained = (path, function, what)
        names = files.schema.names
        labels = [name for name in names if name.startswith("__index_level_")]
        if labels:
            warn(
                f"{function}: {', '.join(map(quoted, labels))} of {path.name}, the index of a "
                "pandas frame, was left out. Hint: frame.reset_index() before the file is written "
                "keeps it as a column."
            )
        self._places = [j for j, name in enumerate(names) if name not in labels]
        self.schema = pa.schema([files.schema.field(j) for j in self._places])

    def whole(self) -> pa.Table:
        """Read all rows of all columns."""
        with explained(*self._explained):
            return validated(self._files.to_table()).select(self._places)

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Read all rows of some columns."""
        pa.default_memory_pool().release_unused()  # of the columns before
        fields = [self.schema.field(j) for j in columns]
        with explained(*self._explained):
            batches = self._batches([field.name for field in fields])
            # Copied, as a batch keeps all that it was read from in memory.
            parts = [batch.take(np.arange(len(batch))) for batch in batches]
            return pa.Table.from_batches(parts, pa.schema(fields))

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all columns, at most `n_rows` rows at a time."""
        with explained(*self._explained):
            yield from self._batches(self.schema.names, batch_size=n_rows)

    def _batches(self, names: list[str], **options: int) -> Iterator[pa.RecordBatch]:
        one_by_one = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
        return map(validated, self._files.to_batches(names, **one_by_one, **options))


def validated(data: Any) -> Any:
    """Check that data read from a file are intact, and return them.

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


def input_of(records: Records, request: Request) -> Input:
    """Return the input of rows of at least one column."""
    if not records.n_rows or not len(records.schema):
        raise ValueError(
            f"{request.function}: {records._explained[0]} is empty: it has {records.n_rows} rows "
            f"and {len(records.schema)} columns"
        )
    return (TransposedArrowInput if request.transpose else ArrowInput)(records, request)


class ArrowInput(Input):
    """A Parquet or Arrow file, or a table."""

    def __init__(self, records: Records, request: Request) -> None:
        path = records._explained[0]
        self.where, self.files = str(path), (path,)
        self._records = records
        self.names = records.schema.names
        self.n_columns = len(records.schema)
        self.n_rows, self.cell_bytes = records.n_rows, _CELL_BYTES
        self.extra_bytes = 2 * records.n_bytes / self.n_columns
        self.budget = min(request.budget, _GROUP_BYTES)

    def part(self, begin: int, end: int) -> pa.Table:
        """Return neighboring columns."""
        return self._records.read(range(begin, end))


class TransposedArrowInput(Input):
    """A Parquet or Arrow file whose rows are columns; its first column has their names."""

    def __init__(self, records: Records, request: Request) -> None:
        function, path, schema = request.function, records._explained[0], records.schema
        self.where, self.files = str(path), (path,)
        self._records, self.budget = records, request.budget
        self._before = 1 + describing(schema.names[1:])
        warn_of(schema.names[1 : self._before], path.name, function)
        others = list(schema)[self._before :]
        names = without_dictionary(records.read([0]).column(0))
        if not is_text(names.type):
            raise TypeError(
                f"{function}: the first column of {path}, {quoted(schema.names[0])}, is of type "
                f"{names.type}; with transpose=True it holds the names of the columns, as text"
            )
        if names.null_count or not others:
            what = "a name is missing" if names.null_count else "there is no other column"
            raise ValueError(f"{function}: {path} cannot be transposed: {what}")
        numbers, texts = [], []
        for field in others:
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if is_text(kind):
                texts.append(field.name)
            elif not pa.types.is_null(kind):
                numbers.append(field.name)
                if not (is_number(kind) or pa.types.is_boolean(kind)):
                    raise TypeError(
                        f"{function}: column {quoted(field.name)} of {path} is of type {kind}; a "
                        "file that is transposed must hold numbers or text"
                    )
        if texts and numbers:
            raise TypeError(
                f"{function}: {path} cannot be transposed: {quoted(texts[0])} holds text and "
                f"{quoted(numbers[0])} numbers, and its rows would be columns of mixed types"
            )
        self._is_text = bool(texts)
        self.names = names.to_pylist()
        self.n_columns = records.n_rows
        self.n_rows, self.cell_bytes = len(others), _TURNED_BYTES

    def samples(self) -> pa.Table:
        """Return the names of the rows."""
        names = self._records.schema.names[self._before :]
        return named_rows(pa.table({"sample": pa.array(names, pa.string())}), "sample")

    def groups(self, work: Path) -> Iterator[NDArray[Any]]:
        """Yield groups of rows as columns."""
        for batch in self._records.batches(self.width):
            columns = batch.columns[self._before :]
            if not batch.num_rows:
                continue
            if self._is_text:
                yield np.array([column.to_pylist() for column in columns], dtype=object)
            else:
                yield np.stack([_numbers(column) for column in columns])


def _numbers(column: Any) -> NDArray[Any]:
    """Return a column of a batch as numbers, NaN where missing."""
    column = without_dictionary(column)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_null(column.type) or column.null_count:
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
    numbers = [number for word in words if (number := as_number(word)) is not None]
    columns = []
    for column in map(without_dictionary, table.columns):
        kind, values = column.type, column
        if is_text(kind):
            sought = pa.array(list(map(str, words)), kind)
        elif pa.types.is_floating(kind):
            sought = pa.array(numbers, pa.float64()).cast(kind)
        elif is_number(kind):
            sought, values = pa.array(numbers, pa.float64()), column.cast(pa.float64(), safe=False)
        else:
            columns.append(column)
            continue
        columns.append(pc.if_else(pc.is_in(values, sought), pa.scalar(None, kind), column))
    return pa.table(columns, names=table.column_names)


# --- Arrow ----------------------------------------------------------------------------------------


def table_records(table: pa.Table, path: Path, function: str) -> Records:
    """Return the rows of a table that was read whole."""
    import pyarrow.dataset as ds

    return Records(ds.dataset(table), table.num_rows, table.nbytes, path, function, "a table")


def _arrow_records(path: Path, function: str) -> Records:
    """Open an Arrow file, or the form of a stream."""
    import pyarrow.dataset as ds

    with explained(path, function, "an Arrow"):
        try:
            files = ds.dataset(str(path), format="ipc")
        except pa.ArrowInvalid:
            with pa.memory_map(str(path)) as file:  # mapped pages are no memory of this process
                files = ds.dataset(validated(pa.ipc.open_stream(file).read_all()))
        n_rows = files.count_rows()
    return Records(files, n_rows, path.stat().st_size, path, function, "an Arrow")


ARROW = Format(
    "arrow",
    "Arrow",
    (".arrow", ".feather", ".ipc"),
    read=lambda path, request: _arrow_records(path, request.function).whole(),
    groups=lambda path, request: input_of(_arrow_records(path, request.function), request),
    begins=b"ARROW1",
)


# --- Parquet --------------------------------------------------------------------------------------


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


def _parquet_records(path: Path, function: str) -> Records:
    """Open a Parquet file, or the files of a folder, which have the same columns, in order.

    Columns that the names of folders give (``site=A``) come after those of the files.
    """
    import pyarrow.dataset as ds

    folder = path.is_dir()
    paths = _files(path) if folder else [path]
    schemas = []
    if folder:
        with explained(path, function, "a Parquet"):
            schemas = [pq.read_schema(file) for file in paths]
        for file, schema in zip(paths, schemas, strict=True):
            if schema.names != schemas[0].names:
                raise ValueError(
                    f"{function}: {path} must be a folder of files with the same columns, but "
                    f"those of {file.name} differ from those of {paths[0].name}"
                )
        places = [part for file in paths for part in file.relative_to(path).parts[:-1]]
        if twice := sorted({place.partition("=")[0] for place in places} & {*schemas[0].names}):
            raise ValueError(
                f"{function}: {path} has {quoted(twice[0])} both in the names of its folders and "
                "as a column of its files; rename one of them"
            )
    scan = ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
    with explained(path, function, "a Parquet"):
        files = ds.dataset(
            list(map(str, paths)),
            format=ds.ParquetFileFormat(default_fragment_scan_options=scan),
            partitioning=ds.partitioning(flavor="hive") if folder else None,
            partition_base_dir=str(path) if folder else None,
        )
        if folder:
            of_folders = [files.schema.field(j) for j in range(len(schemas[0]), len(files.schema))]
            joined = pa.unify_schemas(schemas, promote_options="permissive")
            files = files.replace_schema(pa.schema([*joined, *of_folders], joined.metadata))
        parts = [part for file in files.get_fragments() for part in file.row_groups]
        n_rows = sum(part.num_rows for part in parts)
        n_bytes = sum(part.total_byte_size for part in parts)
    return Records(files, n_rows, n_bytes, path, function, "a Parquet")


def read_parquet(path: Path, request: Request) -> pa.Table:
    """Read a Parquet file, or a folder of them, if it fits into memory.

    A table takes what the types of its columns and the number of rows say; text, whose length is
    not in the file, what its encoded values take without compression. A value takes at least a byte
    more, for its code.
    """
    records, row = _parquet_records(path, request.function), 0
    for kind in records.schema.types:
        try:
            row += 1 + int(kind.bit_width) // 8
        except ValueError:  # not all values take as many
            row += 1
    require_room(max(records.n_bytes, records.n_rows * row), path, request.function)
    return records.whole()


PARQUET = Format(
    "parquet",
    "Parquet",
    _SUFFIXES,
    read=read_parquet,
    groups=lambda path, request: input_of(_parquet_records(path, request.function), request),
    write=lambda table, file: pq.write_table(table, file, write_page_checksum=True),
    begins=b"PAR1",
)
