"""Tables in memory as inputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.tables.columns import Column
from duramen.tables.encoded import EncodedTable
from duramen.tables.sources import Source, open_source
from duramen.tables.store.budget import columns_within
from duramen.tables.store.column_store import ColumnStore
from duramen.tables.store.inputs.input import Input

if TYPE_CHECKING:
    import pyarrow as pa

_CELL_BYTES = 28  # of a group: the cells, their codes and values, and room to sort


class SourceInput(Input):
    """Anything that `encode` takes."""

    def __init__(self, X: Any, budget: int, function: str) -> None:
        self.where = "the table"
        self._source = open_source(X, function)
        self.n_columns = self._source.n_columns
        self.names = self._source.names
        n_rows = self._source.n_rows
        if not n_rows or not self.n_columns:
            shape = (n_rows, self.n_columns)
            raise ValueError(f"{function}: the table is empty, of shape {shape}; there is no cell")
        self._width = columns_within(budget, n_rows, _CELL_BYTES)

    def groups(self, start: int, work: Path) -> Iterator[Source]:
        """Neighbouring columns of the table."""
        for begin in range(start, self.n_columns, self._width):
            yield Part(self._source, begin, min(begin + self._width, self.n_columns))


class Part:
    """The columns `begin` to `end` of a source, as a source."""

    def __init__(self, source: Source, begin: int, end: int) -> None:
        self.n_rows = source.n_rows
        self.n_columns = end - begin
        self.names = None if source.names is None else source.names[begin:end]
        self.matrix: NDArray[Any] | None = (
            None if source.matrix is None else source.matrix[:, begin:end]
        )
        self._source, self._begin = source, begin

    def column(self, j: int, name: str, function: str, kind: str | None = None) -> Column:
        """The j-th of these columns."""
        return self._source.column(self._begin + j, name, function, kind)


class EncodedInput(Input):
    """A table that is encoded, or a store."""

    encoded = True

    def __init__(self, table: EncodedTable | ColumnStore, budget: int) -> None:
        self.where = "the table"
        self._table = table
        self.n_columns = table.n_columns
        self._width = columns_within(budget, table.n_rows, _CELL_BYTES)
        named = self._columns(0, 1).named
        self.names = table.names if named else None

    def samples(self) -> pa.Table | None:
        """Those of the store."""
        return self._table.samples if isinstance(self._table, ColumnStore) else None

    def _columns(self, begin: int, end: int) -> EncodedTable:
        return self._table.take_columns(np.arange(begin, min(end, self.n_columns)))

    def groups(self, start: int, work: Path) -> Iterator[EncodedTable]:
        """Neighbouring columns of the table."""
        for begin in range(start, self.n_columns, self._width):
            yield self._columns(begin, begin + self._width)
