"""Arrow files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.io.formats.format import Format, Input, Request
from duramen.io.formats.records import explained, input_of, places_of_columns, schema_of_columns
from duramen.support.arrow import is_number, is_text, pa


def read_arrow(path: Path, request: Request) -> pa.Table:
    """Read an Arrow file of either form whole."""
    with explained(path, "an Arrow", request.function), pa.OSFile(str(path), "rb") as file:
        try:
            table = pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
        validated(table)
    return table.select(places_of_columns(table.schema, path, request.function))


class ArrowFile:
    """An Arrow file, of either form."""

    def __init__(self, path: Path, function: str) -> None:
        self._path, self._function = path, function
        with self._opened(None) as (self._whole, _):
            pass
        with self._opened([0]) as (_, batches):  # rows are counted in one column
            self.n_rows = sum(batch.num_rows for batch in batches)
        self.n_bytes = path.stat().st_size
        self.schema = schema_of_columns(self._whole, path, function)

    @contextmanager
    def _opened(
        self, fields: Sequence[int] | None
    ) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        options = pa.ipc.IpcReadOptions(included_fields=None if fields is None else list(fields))
        with (
            explained(self._path, "an Arrow", self._function),
            pa.OSFile(str(self._path), "rb") as file,
        ):
            try:
                reader = pa.ipc.open_file(file, options=options)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            except pa.ArrowInvalid:
                file.seek(0)
                reader = pa.ipc.open_stream(file, options=options)
                batches = iter(reader)
            yield reader.schema, map(validated, batches)

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Read all rows of some columns."""
        names = [self.schema.names[j] for j in columns]
        with self._opened([self._whole.get_field_index(name) for name in names]) as (_, batches):
            return _copied(batches, names)

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all columns, batch by batch; the parts of a batch are at most `n_rows` rows."""
        names = self.schema.names
        with self._opened([self._whole.get_field_index(name) for name in names]) as (_, batches):
            for batch in batches:
                for begin in range(0, batch.num_rows, n_rows):
                    yield batch.slice(begin, n_rows).select(names)


def validated(data: Any) -> Any:
    """Check that what was read of a file is whole, and return it.

    In a damaged file offsets, lengths, indices and text point anywhere (ArrowInvalid). Numbers
    without missing values can only be too few, which the quick check of Arrow tells. Its full check
    looks at each character of text; text that is all ASCII, at places that ascend, needs two quick
    looks at its buffers.
    """
    data.validate()
    for kind, column in zip(data.schema.types, data.columns, strict=True):
        if is_number(kind) and not column.null_count:
            continue
        for chunk in getattr(column, "chunks", (column,)):
            if not _is_plain_ascii(chunk):
                chunk.validate(full=True)
    return data


def _is_plain_ascii(array: Any) -> bool:
    """Return whether an array is valid as text of ASCII without missing values."""
    if not is_text(array.type):
        return False
    nulls, places, text = array.buffers()
    if nulls is not None or places is None or text is None or array.offset:
        return False
    kind = np.int32 if pa.types.is_string(array.type) else np.int64
    begins: NDArray[Any] = np.frombuffer(places, dtype=kind, count=len(array) + 1)
    used = np.frombuffer(text, dtype=np.uint8)
    return bool(
        begins[0] >= 0
        and begins[-1] <= len(used)
        and (begins[1:] >= begins[:-1]).all()
        and used.max(initial=0) < 128
    )


def _copied(batches: Iterator[pa.RecordBatch], names: Sequence[str]) -> pa.Table:
    """Copy some columns of batches: a batch keeps all that it was read from in memory."""
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


def open_arrow(path: Path, request: Request) -> Input:
    """Open an Arrow file as an input."""
    return input_of(ArrowFile(path, request.function), path, request)


ARROW = Format(
    "arrow",
    "Arrow",
    (".arrow", ".feather", ".ipc"),
    read=read_arrow,
    groups=open_arrow,
    begins=b"ARROW1",
)
