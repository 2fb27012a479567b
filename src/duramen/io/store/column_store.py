"""A table whose columns stay on disk until they are taken."""

from __future__ import annotations

import difflib
import os
import weakref
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.dates import Dates
from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.memory import require_memory
from duramen.data.recoding import joined
from duramen.data.schema import KINDS, Schema
from duramen.io import formats
from duramen.io.formats.genotypes import BedColumns
from duramen.io.store import layout
from duramen.io.store.packed import PackedColumns
from duramen.io.store.reader import Place, place_of
from duramen.io.store.row_ids import (
    Pairing,
    names_of,
    of_store,
    pair,
    refuse_pairing,
    samples_table,
)
from duramen.results.summary import Column, Summarized, Summary, hidden
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.files import expanded
from duramen.support.provenance import fingerprint
from duramen.support.text import quoted

_FEW_NAMES = 20_000  # number of names up to which a close match is searched
Columns: TypeAlias = "PackedColumns | BedColumns | _Selection"


class ColumnStore(Summarized):
    """A table on disk: codes, values and names as in an `EncodedTable`, read when they are taken.

    It comes from `open_store` or `pack`. Anything in this package that takes a table takes a store.
    Whatever is read is checked against its checksum, so that a store that was damaged is refused
    and does not lead to wrong results. A store can be pickled, as its path or URL, and used by
    several threads at a time.

    Attributes
    ----------
    path : Path or Place
        Where it is: the folder of a packed store, or a .bed file. For a store elsewhere, what has
        `fs` and `path` of fsspec, and is the URL as a text.
    n_rows, n_columns : int
    samples_pairing : str or None
        How the rows of `samples` were paired with those of the store; None where they are the
        store's own.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import duramen as dm
    >>> samples = pa.table({"ill": [0, 1, 1]})
    >>> store = dm.pack(np.arange(6.0).reshape(3, 2), "two.store", samples=samples)
    >>> store.shape, store.names, store.kinds
    ((3, 2), ('x0', 'x1'), ('numeric', 'numeric'))
    >>> columns, y = store.target("ill")
    >>> columns.tolist(), y.tolist()
    ([0, 1], [0, 1, 1])
    """

    def __init__(
        self, columns: Columns, path: Path | Place, samples: pa.Table | None = None
    ) -> None:
        self._columns = columns
        self._samples = samples
        self._table: weakref.ref[EncodedTable] | None = None
        self.path: Any = path
        self.samples_pairing: str | None = None
        self._seen: tuple[Any, ...] = ()  # a store, and its view
        self._id_column: str | None = None  # column whose values named the rows of annotations
        self.n_rows: int = columns.n_rows
        self.n_columns: int = columns.n_columns

    def __reduce__(self) -> tuple[Any, ...]:
        if self._seen:
            return _view, self._seen
        # Absolute: another process may work in another folder.
        place = self.path.absolute() if isinstance(self.path, Path) else self.path
        return _reopened, (place, self._samples, self.samples_pairing)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.n_rows, self.n_columns

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, read anew each time: a million take some 70 MB."""
        names: list[str] = []
        for begin in range(0, self.n_columns, 1 << 16):
            names += self._columns.names(np.arange(begin, min(begin + (1 << 16), self.n_columns)))
        return tuple(names)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column: "numeric", "ordinal" or "nominal"."""
        return tuple([KINDS[kind] for kind in self._columns.kind_codes().tolist()])

    def n_codes(self) -> IntArray:
        """Return the number of codes of each column with the code of missing values, shape (p,)."""
        records = self._columns.records()
        return np.asarray(records["n_values"] + records["missing"].astype(np.int64))

    def names_of(self, index: ArrayLike) -> tuple[str, ...]:
        """Return the names of the columns of the given indices, or of a mask."""
        chosen = EncodedTable._positions(index, self.n_columns, "names_of")
        return tuple(self._columns.names(chosen))

    def find(self, name: str) -> int:
        """Return the index of the column of that name.

        Raises
        ------
        KeyError
            If there is none.
        """
        place = self._columns.find(name)
        if place is None:
            few = self.names if self.n_columns <= _FEW_NAMES else ()
            close = difflib.get_close_matches(name, few, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise KeyError(f"{self._columns.where} has no column {quoted(name)}{hint}")
        return place

    def take_columns(self, index: ArrayLike, *, sparse: bool = True) -> EncodedTable:
        """Return the columns of the given indices, or of a boolean mask, in that order, in memory.

        Reads these columns and nothing else; memory does not grow with the store.

        Parameters
        ----------
        index : array-like of int, shape (q,), or mask of shape (p,)
        sparse : bool, default=True
            Whether columns of a packed sparse matrix are sparse again; otherwise they are dense.

        Returns
        -------
        EncodedTable
            The same, bit for bit, as of the encoded table.

        Raises
        ------
        ValueError
            If an index occurs twice, or what is read is damaged.
        IndexError
            If there is no such column.
        """
        chosen = EncodedTable._positions(index, self.n_columns, "take_columns")
        if len(np.unique(chosen)) < len(chosen):
            raise ValueError(
                "take_columns: indices must be different, since column names are unique"
            )
        table = self._columns.take(chosen)
        return table.with_sparse_columns() if sparse and self._columns.sparse else table

    @cached_property
    def schema(self) -> Schema:
        """The columns without the rows; values are mapped into memory where the store permits."""
        return self._columns.schema()

    @property
    def dates(self) -> dict[str, Dates]:
        """How the columns of dates and times were read as numbers, by name."""
        columns = self._columns
        return {name: how for name, how in columns.dates.items() if columns.find(name) is not None}

    @property
    def kind_codes(self) -> NDArray[np.uint8]:
        """0 numeric, 1 ordinal, 2 nominal; shape (p,)."""
        return self._columns.kind_codes()

    def codes(self, j: int, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Return codes of the j-th column, or of its rows `begin` .. `end` - 1; read-only.

        Nothing else is read. Before a part of a column is read, the checksums of the whole store
        are compared, once.
        """
        end = self.n_rows if end is None else end
        codes = self._columns.codes(range(self.n_columns)[j], begin, end)
        codes.flags.writeable = False
        return codes

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column, as `EncodedTable.values`."""
        return self._columns.take(np.array([range(self.n_columns)[j]])).values(0)

    def as_table(self) -> EncodedTable:
        """Return all columns; a packed store is mapped into memory, other stores are read.

        Columns of a packed sparse matrix are in memory, and sparse again.

        Everything is checked when this is first asked for. Names and kinds are in memory: some
        120 MB for a million columns.

        Raises
        ------
        ValueError
            If anything is damaged.
        MemoryError
            If the codes of a .bed file do not fit into memory.
        """
        table = None if self._table is None else self._table()
        if table is None:
            table = self._columns.table()
            self._table = weakref.ref(table)
        return table

    @property
    def samples(self) -> pa.Table | None:
        """Sample annotations with a row for each row of the store, or None.

        The .fam file of a PLINK file, ``obs`` of an .h5ad file, the first line of a transposed
        text, or what `pack` or `open_store` was given.
        """
        return self._columns.samples() if self._samples is None else self._samples

    @property
    def row_names(self) -> tuple[str, ...] | None:
        """The names of the rows; None where they have none.

        IID of a PLINK file (FID_IID where IID alone is not unique), ``obs_names`` of an .h5ad file,
        the first line of a transposed text.
        """
        names = names_of(self.samples)
        return None if names is None else tuple(names.labels)

    @property
    def variants(self) -> pa.Table | None:
        """Place of each column on the genome; None where that is not known.

        The .bim file of a PLINK file, read anew each time: ``name``, ``chromosome``, ``position``
        in base pairs, ``allele_1`` (A1, whose copies are counted) and ``allele_2``, one row a
        column.
        """
        variants = self._columns.variants()
        return None if variants is None else variants.add_column(0, "name", [self.names])

    def target(self, name: str) -> tuple[IntArray, NDArray[Any]]:
        """Return a column of the store or of `samples` as a target, and columns to explain it.

        Parameters
        ----------
        name : str

        Returns
        -------
        columns : ndarray of int64
            The indices of all columns but that one.
        y : ndarray of shape (n,)
            Labels, or numbers: int64 where all of them are whole, else float64. Missing values
            are None or NaN.

        Raises
        ------
        KeyError
            If neither the store nor its samples have a column of that name.
        """
        everything, samples = np.arange(self.n_columns), self.samples
        if samples is not None and self._columns.find(name) is None:
            if name not in samples.column_names:
                raise KeyError(
                    f"{self._columns.where} has no column {quoted(name)}, nor have its samples, "
                    f"whose columns are {', '.join(map(quoted, samples.column_names[:10]))}"
                )
            return everything, encode(samples.select([name])).column_values(0)
        place = self.find(name)
        values = self._columns.take(np.array([place])).column_values(0)
        return np.delete(everything, place), values

    def to_table(self) -> pa.Table:
        """Return name, kind, and numbers of distinct and missing values of all columns."""
        codes = pa.array(self._columns.kind_codes())
        kinds = pa.DictionaryArray.from_arrays(codes, pa.array(KINDS)).cast(pa.string())
        records = self._columns.records()
        counts = {"values": records["n_values"], "missing": records["n_missing"]}
        names = pa.array(self.names, pa.string())
        return pa.table({"name": names, "kind": kinds, **counts})

    def fingerprint(self) -> str:
        """Return 64 hexadecimal digits that depend on shape, names, codes, values and labels.

        The same however and from whatever the table was packed, and for a .bed file in place and
        packed; another number than the fingerprint of an `EncodedTable`, which cannot be had
        without all codes in memory.
        """
        return self._columns.fingerprint()

    def verify(self) -> None:
        """Read everything and compare it with its checksums.

        A .bed file has none: its begin and its size are checked.

        Raises
        ------
        ValueError
            With the file that is damaged.
        """
        self._columns.verify()

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        codes = self._columns.kind_codes()
        counts = [(int(np.count_nonzero(codes == k)), kind) for k, kind in enumerate(KINDS)]
        kinds = ", ".join(f"{count} {kind}" for count, kind in counts if count)
        where = self.path.name
        return f"ColumnStore {where} of {self.n_rows} rows x {self.n_columns} columns ({kinds})"

    def _summary(self, rows: int) -> Summary:
        shown = np.arange(min(rows, self.n_columns))
        kinds = [KINDS[kind] for kind in self._columns.kind_codes()[shown].tolist()]
        columns = [
            Column("column", self.names_of(shown), kind="words"),
            Column("kind", kinds, kind="words"),
        ]
        return Summary((repr(self),), columns, hidden(self.n_columns, len(shown), "columns"))


def open_store(
    path: str | os.PathLike[str] | Place,
    samples: Any = None,
    *,
    samples_id: str | None = None,
    samples_match: str = "exact",
) -> ColumnStore:
    """Open a table on disk, to read columns of it as they are needed.

    Parameters
    ----------
    path : path or URL
        A folder that `pack` wrote, or a PLINK .bed file with its .bim and .fam files beside it,
        which is used in place: its columns are the copies of the first allele (A1 of the .bim
        file), 0, 1 or 2. A packed folder may also lie wherever fsspec gets, by a URL such as
        ``"s3://bucket/cohort.store"``, which is pickled with the options of the file system.
    samples : path or table, optional
        Sample annotations, such as classes, in place of those that the store has itself. Their rows
        are paired with those of the store by name (`ColumnStore.row_names`), in whatever order they
        come; rows that are not in the store are ignored, and rows of the store without annotations,
        fewer than half of them, get missing values. A store without names is searched for a column
        that holds them. By position only where neither side has names.
    samples_id : str, optional
        Column of `samples`, or of the store, with the names of the rows; by default the column
        whose values match, or the index of a pandas frame.
    samples_match : {"exact", "fold", "position"}
        How rows are paired. "exact": by their names as they are. "fold": by names without case,
        spaces, signs between letters and digits, an X before a digit (R's ``make.names``) and
        leading zeros of whole numbers. "position": `samples` has one row for each row of the store,
        in the same order; an error where both sides have the same names in another order.

    Returns
    -------
    ColumnStore

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file.
    TypeError
        If `samples` is neither a path nor a table.
    ValueError
        If `samples` lacks half of the rows of the store, has one twice, has another number of rows
        where they are paired by position, or several columns that could name them, or if folded
        names are not unique; if it is no store, is of a
        later version, is damaged as far as can be told by sizes and by the files that are read at
        once, or a .bed file and its neighbors do not belong together; if the protocol of a URL is
        not known.
    ModuleNotFoundError
        If a URL needs fsspec, and that is not there.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> _ = dm.pack(np.arange(12.0).reshape(3, 4), "cells.store", names=["a", "b", "c", "d"])
    >>> store = dm.open_store("cells.store")
    >>> store.find("c"), store.take_columns([2]).values(0).tolist()
    (2, [2.0, 6.0, 10.0])
    """
    function = "open_store"
    columns, place = _opened(path, function)
    if samples is None:
        refuse_pairing(samples_id, samples_match, function)
        return ColumnStore(columns, place)
    asked = Pairing(samples_id, samples_match, Path(columns.where).name, function)
    if isinstance(samples, str | os.PathLike):
        samples = samples_table(samples, function)
    paired = pair(samples, of_store(columns, samples, asked), columns.n_rows, asked)
    store = ColumnStore(columns, place, paired.table)
    store.samples_pairing, store._id_column = paired.note, paired.column
    return store


def _reopened(path: Any, samples: pa.Table | None, pairing: str | None) -> ColumnStore:
    """Open a store that was pickled; its annotations are in its order."""
    columns, place = _opened(path, "open_store")
    store = ColumnStore(columns, place, samples)
    store.samples_pairing = pairing
    return store


def _opened(path: str | os.PathLike[str] | Place, function: str) -> tuple[Columns, Path | Place]:
    place = place_of(path, function)
    if place is not None:
        try:
            return PackedColumns(place, function), place
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{function}: there is no column store at {place}. Hint: pack a table, and copy "
                "the folder there"
            ) from None
    path = expanded(path, function)  # type: ignore[arg-type]
    if path.is_dir():
        if not (path / layout.HEADER).is_file():
            raise ValueError(
                f"{function}: {path} is a folder, but not a column store: it has no "
                f"{layout.HEADER}. Hint: name a file, or a folder that pack made"
            )
        return PackedColumns(path, function), path
    if not path.exists():
        raise FileNotFoundError(f"{function}: there is no folder or file {path}")
    chosen = formats.format_of(path)
    if chosen is None or chosen.columns is None:
        raise ValueError(
            f"{function}: {path} is not a column store; give the folder of one, or a file of "
            f"{formats.listed('columns')}. Hint: pack({path.name!r}, folder) makes one of a table"
        )
    return chosen.columns(path, function), path


_BLOCK = 1 << 27  # cells of a store that are read together


def _view(
    store: ColumnStore,
    columns: IntArray | None = None,
    rows: IntArray | None = None,
    more: EncodedTable | None = None,
) -> ColumnStore:
    """Return a view of columns and rows of a store, followed by columns in memory."""
    samples = store._samples if rows is None else store.samples
    if rows is not None and samples is not None:
        samples = samples.take(rows)
    view = ColumnStore(_Selection(store._columns, columns, rows, more), store.path, samples)
    view.samples_pairing, view._seen = store.samples_pairing, (store, columns, rows, more)
    return view


def without(store: ColumnStore, index: ArrayLike) -> ColumnStore:
    """Return a view of a store without some columns, which are not copied.

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
        depends on the fingerprint of the store and on the columns left out. `ColumnStore.as_table`
        of it is a copy
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
    return _view(store, np.delete(np.arange(store.n_columns), left_out))


def without_names(
    table: EncodedTable | ColumnStore, names: Collection[str]
) -> EncodedTable | ColumnStore:
    """Return a table, or a view of a store, without columns of some names."""
    if not names:
        return table
    if isinstance(table, ColumnStore):
        return without(table, [table.find(name) for name in names])
    gone = set(names)
    return table.take_columns([j for j, name in enumerate(table.names) if name not in gone])


def of_rows(store: ColumnStore, index: IntArray) -> ColumnStore:
    """Return a view of rows of a store, in the order of `index`; columns stay on disk.

    Codes keep their meaning, as in `EncodedTable.take_rows`. The fingerprint depends on that of the
    store and on the rows.
    """
    return _view(store, rows=index)


def with_columns(store: ColumnStore, table: EncodedTable) -> ColumnStore:
    """Return a view of a store, followed by columns of a table in memory.

    Raises
    ------
    ValueError
        If numbers of rows differ, or names repeat.
    """
    for name in table.names:
        if store._columns.find(name) is not None:
            raise ValueError(
                f"with_columns: {store._columns.where} has a column {quoted(name)} already."
            )
    return _view(store, more=table)


class _Selection:
    """Some columns and rows of a source, in their order, and then the columns of a table in memory.

    What it does not define, such as the sample annotations, is that of the source.
    """

    n_rows: int
    n_columns: int

    def __init__(
        self,
        base: Columns,
        columns: IntArray | None,
        rows: IntArray | None,
        more: EncodedTable | None,
    ) -> None:
        self._base, self._rows, self._more = base, rows, more
        self._places = np.arange(base.n_columns) if columns is None else columns
        self._n_own = len(self._places)
        self.n_rows = base.n_rows if rows is None else len(rows)
        self.n_columns = self._n_own + (0 if more is None else more.n_columns)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column."""
        own = self._base.kind_codes()[self._places]
        return own if self._more is None else np.concatenate([own, self._more.kind_codes])

    def names(self, chosen: IntArray) -> list[str]:
        """Return names of columns."""
        own = chosen < self._n_own
        base_names = iter(self._base.names(self._places[chosen[own]]))
        others = () if self._more is None else self._more.names
        return [
            next(base_names) if here else others[j - self._n_own]
            for here, j in zip(own.tolist(), chosen.tolist(), strict=True)
        ]

    def find(self, name: str) -> int | None:
        """Return the number of the column of that name."""
        if self._more is not None and name in self._more.names:
            return self._n_own + self._more.names.index(name)
        there = self._base.find(name)
        place = self._n_own if there is None else int(np.searchsorted(self._places, there))
        return place if place < self._n_own and self._places[place] == there else None

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return columns, in memory."""
        own = chosen < self._n_own
        table = self._base.take(self._places[chosen[own]])
        if self._rows is not None:
            table = table.take_rows(self._rows)
        if self._more is None or own.all():
            return table
        more = self._more.take_columns(chosen[~own] - self._n_own)
        if not own.any():
            return more
        order = np.argsort(np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)]))
        return joined(table, more, "with_columns").take_columns(order)

    def codes(self, j: int, begin: int, end: int) -> NDArray[Any]:
        """Return the codes of some rows of a column."""
        if self._more is not None and j >= self._n_own:
            return self._more.codes(j - self._n_own)[begin:end]
        place = int(self._places[j])
        if self._rows is None:
            return self._base.codes(place, begin, end)
        return self._base.codes(place, 0, self._base.n_rows)[self._rows[begin:end]]

    def schema(self) -> Schema:
        """Return the columns without their rows."""
        own = self._base.schema()
        own = own if self._n_own == own.n_columns else own.take(self._places)
        return own if self._more is None else own.followed_by(self._more.schema)

    def table(self) -> EncodedTable:
        """Return all columns, in memory; of some rows, all rows of some columns at a time."""
        require_memory(
            self.n_rows * self.n_columns,
            what=f"a copy of {self.n_rows} x {self.n_columns} codes",
            function="as_table",
            hint="take some columns, or pack the table without the others",
        )
        step = self.n_columns
        if self._rows is not None:
            step = max(1, _BLOCK // max(1, self._base.n_rows))
        parts = []
        for begin in range(0, self.n_columns, step):
            part = self.take(np.arange(begin, min(begin + step, self.n_columns)))
            parts.append(part.with_sparse_columns() if self.sparse else part)
        whole = reduce(lambda left, right: joined(left, right, "as_table"), parts)
        return replace(whole, named=parts[0].named or self._more is not None)

    def records(self) -> NDArray[Any]:
        """Return records of all columns, as in `layout.COLUMN`."""
        own = self._base.records()[self._places]
        if self._more is None:
            return own
        return np.concatenate([own, layout.columns_of(self._more)[layout.COLUMNS]])

    def fingerprint(self) -> str:
        """Return a fingerprint of the source and of the view."""
        more = None if self._more is None else self._more.fingerprint()
        return fingerprint(self._base.fingerprint(), self._places, self._rows, more)

    def variants(self) -> pa.Table | None:
        """Return the genomic positions of the columns; null for columns in memory."""
        table = self._base.variants()
        if table is None:
            return None
        nulls = [pa.nulls(self.n_columns - self._n_own, field.type) for field in table.schema]
        return pa.concat_tables([table.take(self._places), pa.table(nulls, schema=table.schema)])
