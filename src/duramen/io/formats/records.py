"""Files of typed columns, Parquet and Arrow, whole and as inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from duramen.io.formats.format import FIRST_ROWS, Input, Request, named_rows
from duramen.io.formats.gene_annotation import describing, warn_of
from duramen.io.store.budget import columns_within
from duramen.support.arrow import is_number, is_text, pa, pc, without_dictionary
from duramen.support.text import as_number, first_line, quoted
from duramen.support.warning import warn

_CELL_BYTES = 56  # of a cell: as it was read, its value, its code, and room to sort
_TURNED_BYTES = 48  # where rows become columns


class Records(Protocol):
    """A file of Arrow's types."""

    schema: pa.Schema
    n_rows: int
    n_bytes: int  # that all columns take at the most

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Read all rows of some columns."""

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Return all columns, at most `n_rows` rows at a time where the file allows it."""


@contextmanager
def explained(path: Path, what: str, function: str) -> Iterator[None]:
    """Turn what Arrow raises about a file into a ValueError that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{function}: {path} is not {what} file, or is damaged ({first_line(error)}); check "
            "that its extension is right"
        ) from None


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
            f"{request.function}: {path} is empty: it has {records.n_rows} rows and "
            f"{len(records.schema)} columns"
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
        extra = 2 * records.n_bytes / self.n_columns
        self._width = columns_within(request.budget, records.n_rows, _CELL_BYTES, extra)

    def beginning(self) -> tuple[pa.Table, Callable[[Sequence[int]], pa.Table]] | None:
        """Return the first rows, and the function that reads columns."""
        first = next(iter(self._records.batches(FIRST_ROWS)), None)
        return None if first is None else (pa.Table.from_batches([first]), self._records.read)

    def groups(self, start: int, work: Path) -> Iterator[pa.Table]:
        """Yield neighboring columns."""
        for begin in range(start, self.n_columns, self._width):
            yield self._records.read(range(begin, min(begin + self._width, self.n_columns)))


class TransposedArrowInput(Input):
    """A Parquet or Arrow file whose rows are columns; its first column has their names."""

    def __init__(self, path: Path, records: Records, request: Request) -> None:
        function = request.function
        self.where = str(path)
        self.files = (path,)
        self._records, self._budget = records, request.budget
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

    def samples(self) -> pa.Table:
        """Return the names of the rows."""
        return named_rows(
            pa.table({"sample": pa.array(self._records.schema.names[self._before :], pa.string())}),
            "sample",
        )

    def groups(self, start: int, work: Path) -> Iterator[NDArray[Any]]:
        """Yield groups of rows as columns."""
        n_rows = len(self._records.schema) - self._before
        height = columns_within(self._budget, n_rows, _TURNED_BYTES)
        seen = 0
        for batch in self._records.batches(height):
            skip = min(max(0, start - seen), batch.num_rows)
            seen += batch.num_rows
            if skip < batch.num_rows:
                yield self._turned(batch.slice(skip))

    def _turned(self, batch: pa.RecordBatch) -> NDArray[Any]:
        """Return the rows of a batch as columns."""
        if self._text:
            rows = [column.to_pylist() for column in batch.columns[self._before :]]
            matrix = np.empty((len(rows), batch.num_rows), dtype=object)
            for i, row in enumerate(rows):
                matrix[i] = row
            return matrix
        return np.stack([_numbers(column) for column in batch.columns[self._before :]])


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
    >>> from duramen.io.formats.records import with_missing
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
