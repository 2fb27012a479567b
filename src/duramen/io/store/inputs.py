"""Inputs of what is to be packed: files of any format, and tables in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.sources import Column, Source, open_source
from duramen.io import formats
from duramen.io.formats.arrow import input_of, table_records, with_missing
from duramen.io.formats.format import Input, Request
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrow import pa
from duramen.support.files import expanded

_CELL_BYTES = 28  # of a group: the cells, their codes and values, and room to sort


def open_input(source: Any, request: Request) -> Input:
    """Open what is to be packed.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If its format is not known, or it cannot be read, or an option does not apply to it.
    """
    function, layer = request.function, request.layer
    in_memory = not isinstance(source, str | os.PathLike)
    path = Path() if in_memory else expanded(source, function)
    chosen = None if in_memory else formats.checked_file(path, function, "groups", "read")
    where = "a table" if in_memory else path.name
    formats.refuse_text_options(where, chosen, request)
    if layer is not None and (chosen is None or not chosen.layers):
        raise ValueError(
            f"{function}: layer={layer!r} is for {formats.layered()}, and {where} is not one"
        )
    if chosen is not None:
        if chosen.groups is not None:
            return chosen.groups(path, request)
        table = with_missing(formats.whole(path, chosen, request), request.na_values)
        if request.transpose:
            return input_of(table_records(table, path, function), request)
        return SourceInput(table, request, path)
    encoded = isinstance(source, EncodedTable | ColumnStore)
    if request.transpose and (encoded or not hasattr(source, "T") or hasattr(source, "columns")):
        raise ValueError(
            f"{function}: transpose=True is for files, arrays and sparse matrices; a "
            f"{type(source).__name__} must be transposed before it is packed"
        )
    if isinstance(source, EncodedTable | ColumnStore):
        return EncodedInput(source, request.budget)
    return SourceInput(source.T if request.transpose else source, request)


class SourceInput(Input):
    """Anything that `encode` takes, also if it was read from a file."""

    def __init__(self, X: Any, request: Request, path: Path | None = None) -> None:
        self.where, self.files = ("the table", ()) if path is None else (str(path), (path,))
        self._source = open_source(X, request.function)
        self.sparse = self._source.stored is not None
        self.n_columns = self._source.n_columns
        self.names = self._source.names
        n_rows = self._source.n_rows
        if not n_rows or not self.n_columns:
            shape = (n_rows, self.n_columns)
            raise ValueError(
                f"{request.function}: {self.where} is empty, of shape {shape}; a table needs "
                "a row and a column"
            )
        self.n_rows, self.cell_bytes, self.budget = int(n_rows), _CELL_BYTES, request.budget

    def part(self, begin: int, end: int) -> Source:
        """Return neighboring columns of the table."""
        return Part(self._source, begin, end)


class Part:
    """The columns `begin` to `end` of a source, as a source."""

    def __init__(self, source: Source, begin: int, end: int) -> None:
        self.n_rows = source.n_rows
        self.n_columns = end - begin
        self.names = None if source.names is None else source.names[begin:end]
        self.matrix: NDArray[Any] | None = (
            None if source.matrix is None else source.matrix[:, begin:end]
        )
        self.stored = None if source.stored is None else source.stored.part(begin, end)
        self._source, self._begin = source, begin

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """Return the j-th of these columns."""
        return self._source.column(self._begin + j, name, function, kind)


class EncodedInput(Input):
    """A table that is encoded, or a store."""

    encoded = True

    def __init__(self, table: EncodedTable | ColumnStore, budget: int) -> None:
        self.where = "the table"
        self._table = table
        if isinstance(table, ColumnStore):
            self.sparse = table._columns.sparse
        else:
            self.sparse = table.sparse is not None
        self.n_columns = table.n_columns
        self.n_rows, self.cell_bytes, self.budget = table.n_rows, _CELL_BYTES, budget
        self.most_values = int(table.n_codes().max(initial=1))
        self.names = table.names if self.part(0, 1).named else None

    def samples(self) -> pa.Table | None:
        """Return the annotations of the store."""
        return self._table.samples if isinstance(self._table, ColumnStore) else None

    def variants(self) -> Iterator[pa.Table] | None:
        """Yield where the columns of the store lie on the genome."""
        variants = self._table._columns.variants() if isinstance(self._table, ColumnStore) else None
        return None if variants is None else iter((variants,))

    def part(self, begin: int, end: int) -> EncodedTable:
        """Return neighboring columns of the table."""
        chosen = np.arange(begin, min(end, self.n_columns))
        if isinstance(self._table, ColumnStore):  # codes are written, so dense ones take least
            return self._table.take_columns(chosen, sparse=False)
        return self._table.take_columns(chosen)
