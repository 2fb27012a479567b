"""Views of a store: without some columns, such as a target, or without some rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.memory import require_memory
from duramen.data.recoding import joined
from duramen.io.formats.format import Columns
from duramen.io.store import layout
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.provenance import fingerprint
from duramen.support.text import quoted

_BLOCK = 1 << 27  # cells of a store that are read together


class _View(ColumnStore):
    """A store of which other columns, or rows, are seen.

    Parameters
    ----------
    store : ColumnStore
        The whole store.
    columns : Columns
        The columns that are seen.
    samples : Arrow table, optional
        Sample annotations of the rows that are seen.
    made_by : callable and its argument
        Function that makes the view of `store`, for pickling.
    """

    def __init__(
        self,
        store: ColumnStore,
        columns: Columns,
        samples: pa.Table | None,
        made_by: tuple[Callable[..., ColumnStore], Any],
    ) -> None:
        super().__init__(columns, store.path, samples)
        self.samples_pairing = store.samples_pairing
        self._whole, self._made_by = store, made_by

    def __reduce__(self) -> tuple[Any, ...]:
        function, argument = self._made_by
        return function, (self._whole, argument)


def without(store: ColumnStore, index: ArrayLike) -> ColumnStore:
    """See a store without some of its columns; nothing is copied, and the others stay on disk.

    Parameters
    ----------
    store : ColumnStore
        It may be without some columns already.
    index : array-like of int, or mask of shape (p,)
        The columns that are left out.

    Returns
    -------
    ColumnStore
        The other columns, in their order, with the names and kinds that they have. Its fingerprint
        depends on that of the store and on what is left out. `ColumnStore.as_table` of it is a copy
        in memory.

    Raises
    ------
    IndexError
        If there is no such column.
    ValueError
        If `index` is not one-dimensional integers or a mask, or no column is left.
    """
    left_out = np.unique(EncodedTable._positions(index, store.n_columns, "without"))
    if len(left_out) == store.n_columns:
        raise ValueError(
            f"without: all {store.n_columns} columns of {store.path.name} are left out. Hint: keep "
            "at least one"
        )
    return _View(store, _Others(store._columns, left_out), store._samples, (without, left_out))


def without_names(
    table: EncodedTable | ColumnStore, names: Collection[str]
) -> EncodedTable | ColumnStore:
    """Return a table, or see a store, without columns of these names; itself if there are none."""
    if not names:
        return table
    if isinstance(table, ColumnStore):
        return without(table, [table.find(name) for name in names])
    gone = set(names)
    return table.take_columns([j for j, name in enumerate(table.names) if name not in gone])


def of_rows(store: ColumnStore, index: IntArray) -> ColumnStore:
    """See some of the rows of a store; the columns stay on disk.

    Parameters
    ----------
    store : ColumnStore
    index : int64 array
        The rows, in their order.

    Returns
    -------
    ColumnStore
        Codes keep their meaning, as in `EncodedTable.take_rows`. Its fingerprint depends on that of
        the store and on the rows.
    """
    samples = None if store.samples is None else store.samples.take(index)
    return _View(store, _Rows(store._columns, index), samples, (of_rows, index))


class _Rows:
    """Some of the rows of a source, whose columns are otherwise as they are."""

    def __init__(self, base: Columns, index: IntArray) -> None:
        self._base, self._index = base, index
        self.where, self.n_columns = base.where, base.n_columns
        self.n_rows = len(index)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return columns, in memory."""
        return self._base.take(chosen).take_rows(self._index)

    def table(self) -> EncodedTable:
        """Return all columns, in memory, which has all rows of some of them at a time."""
        step = max(1, _BLOCK // max(1, self._base.n_rows))
        begins = range(0, self.n_columns, step)
        parts = [self.take(np.arange(begin, min(begin + step, self.n_columns))) for begin in begins]
        whole = reduce(lambda left, right: joined(left, right, "as_table"), parts)
        return replace(whole, named=parts[0].named)

    def fingerprint(self) -> str:
        """Of the source and of the rows."""
        return fingerprint(self._base.fingerprint(), self._index)


def with_columns(store: ColumnStore, table: EncodedTable) -> ColumnStore:
    """See a store with further columns after its own, which are in memory.

    Raises
    ------
    ValueError
        If numbers of rows differ, or names repeat.
    """
    return _View(store, _Wider(store._columns, table), store._samples, (with_columns, table))


class _OverSource:
    """Columns that are seen over those of a source, whose rows stay."""

    _base: Columns

    def verify(self) -> None:
        """Raise ValueError where something of the source is damaged."""
        self._base.verify()

    def samples(self) -> pa.Table | None:
        """Return the sample annotations."""
        return self._base.samples()


class _Wider(_OverSource):
    """All columns of a source, then those of a table in memory."""

    def __init__(self, base: Columns, more: EncodedTable) -> None:
        for name in more.names:
            if base.find(name) is not None:
                raise ValueError(f"with_columns: {base.where} has a column {quoted(name)} already.")
        self._base, self._more = base, more
        self.where, self.n_rows = base.where, base.n_rows
        self.n_columns = base.n_columns + more.n_columns

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column."""
        return np.concatenate([self._base.kind_codes(), self._more.kind_codes])

    def names(self, chosen: IntArray) -> list[str]:
        """Return names of columns."""
        own = chosen < self._base.n_columns
        known = iter(self._base.names(chosen[own]))
        return [
            next(known) if here else self._more.names[j - self._base.n_columns]
            for here, j in zip(own.tolist(), chosen.tolist(), strict=True)
        ]

    def find(self, name: str) -> int | None:
        """Return the number of the column of that name."""
        if name in self._more.names:
            return self._base.n_columns + self._more.names.index(name)
        return self._base.find(name)

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return columns, in memory."""
        own = chosen < self._base.n_columns
        if own.all():
            return self._base.take(chosen)
        more = self._more.take_columns(chosen[~own] - self._base.n_columns)
        if not own.any():
            return more
        both = joined(self._base.take(chosen[own]), more, "with_columns")
        place = np.empty(len(chosen), dtype=np.int64)
        place[np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)])] = np.arange(len(chosen))
        return both.take_columns(place)

    def table(self) -> EncodedTable:
        """Return all columns, in memory."""
        return joined(self._base.table(), self._more, "with_columns")

    def records(self) -> Iterator[NDArray[Any]]:
        """Yield records of all columns, as in `layout.COLUMN`."""
        yield from self._base.records()
        yield layout.columns_of(self._more, layout.SharedLists()).records

    def fingerprint(self) -> str:
        """Of the source and of the table."""
        return fingerprint(self._base.fingerprint(), self._more.fingerprint())

    def variants(self) -> pa.Table | None:
        """Return where the columns lie on the genome; null for further columns."""
        table = self._base.variants()
        if table is None:
            return None
        count = self._more.n_columns
        nulls = [pa.nulls(count, field.type) for field in table.schema]
        return pa.concat_tables([table, pa.table(nulls, schema=table.schema)])


class _Others(_OverSource):
    """All columns of a source but some."""

    def __init__(self, base: Columns, left_out: IntArray) -> None:
        self._base = base
        self._left_out = left_out
        # How many other columns lie before each of those that are left out.
        self._before = left_out - np.arange(len(left_out))
        self.where = base.where
        self.n_rows = base.n_rows
        self.n_columns = base.n_columns - len(left_out)

    def _there(self, chosen: IntArray) -> IntArray:
        """Return the numbers that columns have in the source."""
        return np.asarray(chosen + np.searchsorted(self._before, chosen, side="right"))

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column."""
        return np.delete(self._base.kind_codes(), self._left_out)

    def names(self, chosen: IntArray) -> list[str]:
        """Return names of columns."""
        return self._base.names(self._there(chosen))

    def find(self, name: str) -> int | None:
        """Return the number of the column of that name."""
        there = self._base.find(name)
        if there is None:
            return None
        place = int(np.searchsorted(self._left_out, there))
        gone = place < len(self._left_out) and self._left_out[place] == there
        return None if gone else there - place

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return columns, in memory."""
        return self._base.take(self._there(chosen))

    def table(self) -> EncodedTable:
        """Return all columns, in memory."""
        whole = self._base.table()
        require_memory(
            whole.nbytes(),
            what=f"a copy of {self.n_rows} x {self.n_columns} codes",
            function="as_table",
            hint="take some columns, or pack the table without the others",
        )
        return whole.take_columns(self._there(np.arange(self.n_columns)))

    def records(self) -> Iterator[NDArray[Any]]:
        """Yield records of all columns, as in `layout.COLUMN`."""
        begin = 0
        for part in self._base.records():
            first, last = np.searchsorted(self._left_out, [begin, begin + len(part)]).tolist()
            yield np.delete(part, self._left_out[first:last] - begin)
            begin += len(part)

    def fingerprint(self) -> str:
        """Of the source and of what is left out."""
        return fingerprint(self._base.fingerprint(), self._left_out)

    def variants(self) -> pa.Table | None:
        """Return where the columns lie on the genome."""
        table = self._base.variants()
        return None if table is None else table.take(self._there(np.arange(self.n_columns)))
