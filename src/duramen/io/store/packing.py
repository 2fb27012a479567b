"""Packing: any table into a store, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import __version__
from duramen.configuration import shows_progress
from duramen.data.dates import DateOrder, Dates, frame_with_dates
from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode_source
from duramen.data.memory import readable_bytes, require_memory
from duramen.data.schema import check_names, names_of_labels, resolve_kinds
from duramen.data.sources import Column, Source, open_source
from duramen.data.text_numbers import places_of_text, warned
from duramen.io import formats
from duramen.io.formats import text_of
from duramen.io.formats.arrow import input_of, table_records, with_missing
from duramen.io.formats.format import READING, Input, Request
from duramen.io.store import layout
from duramen.io.store.column_store import ColumnStore, open_store
from duramen.io.store.packed import PackedColumns
from duramen.io.store.reader import memory_bytes
from duramen.io.store.row_ids import (
    Pairing,
    check_samples,
    names_of,
    of_store,
    pair,
    refuse_pairing,
)
from duramen.io.store.writer import StoreWriter, check_place, check_repeated, making
from duramen.support.arrow import nw, pa
from duramen.support.checks import check_jobs, warn
from duramen.support.files import expanded
from duramen.support.threads import require_arrow_threads

_FUNCTION = "pack"


def pack_table(
    source: Any,
    path: str | os.PathLike[str],
    *,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    transpose: bool = False,
    layer: str | None = None,
    samples: Any = None,
    samples_id: str | None = None,
    samples_match: str = "exact",
    reading: Mapping[str, Any] | None = None,
    memory: str | int = "512MB",
    overwrite: bool = False,
    date_order: DateOrder = "auto",
    n_jobs: int | None = None,
    verbose: int = 0,
    function: str = _FUNCTION,
    finishing: Callable[[Path], None] | None = None,
) -> ColumnStore:
    """Pack a table into a store as :func:`duramen.pack` does.

    Parameters
    ----------
    source, path, names, kinds, transpose, layer, memory, overwrite, date_order, n_jobs, verbose
        As for :func:`duramen.pack`.
    samples, samples_id, samples_match
        As for :func:`duramen.pack`; a file is read as :func:`read_table` reads it.
    reading : mapping, optional
        Parameters of :func:`read_table`; an Arrow table takes `as_text` alone.
    function : str
        Name of the function in messages about the source.
    finishing : callable, optional
        Is given the folder of the whole store before it is in place, and may add files to it.
    """
    place = expanded(path, _FUNCTION)
    if isinstance(kinds, Iterable) and not isinstance(kinds, str | Mapping):
        kinds = list(kinds)
    names = None if names is None else list(names)
    budget = memory_bytes(memory, _FUNCTION)
    n_threads = check_jobs(_FUNCTION, n_jobs)
    check_place(place, overwrite, _FUNCTION)
    require_arrow_threads(_FUNCTION)
    settings = {**READING, **(reading or {})}
    as_text = tuple(settings.pop("as_text"))
    request = Request(
        function,
        transpose=transpose,
        layer=layer,
        budget=budget,
        n_threads=n_threads,
        **settings,
    )
    dating = _Dating(kinds, names, as_text, date_order, function)
    source_ = open_input(source, request, dating.of_table)
    chosen: Sequence[str] | None = source_.names
    if names is not None:
        chosen = check_names(names, source_.n_columns, _FUNCTION)
    elif chosen is not None:
        listed = chosen if isinstance(chosen, layout.Names) else layout.names_of(chosen)
        check_repeated(listed.repeated(), source_.where, _FUNCTION)
    if source_.n_rows is not None and source_.column_bytes > budget:
        column = f"a column of {source_.n_rows:,} rows"
        require_memory(
            int(source_.column_bytes),
            what=f"{column}, which is packed as a whole,",
            function=_FUNCTION,
            hint="pack it on a machine with more",
        )
        warn(
            f"{_FUNCTION}: {column} takes about {readable_bytes(source_.column_bytes)} while it is "
            f"packed, more than memory={readable_bytes(budget)}"
        )
    encoded = _encoder(source_, chosen, kinds, request, as_text, dating)
    annotations, paired, pairing = source_.samples(), None, None
    if samples is None:
        refuse_pairing(samples_id, samples_match, function)
    else:
        where = source_.files[0].name if source_.files else source_.where
        pairing = Pairing(samples_id, samples_match, where, function)
        row_names = names_of(annotations)
        if row_names is not None:
            paired = pair(samples, [row_names], len(row_names.labels), pairing)
        elif chosen is None:
            paired = pair(samples, [], None, pairing)
    with ExitStack() as stack:
        folder = stack.enter_context(making(place, _FUNCTION))
        writer = StoreWriter(folder, chosen is not None, _FUNCTION)
        bar = None
        if shows_progress(verbose):
            from tqdm.auto import tqdm

            bar = stack.enter_context(tqdm(desc=_FUNCTION, unit="column", total=source_.n_columns))
        for group in source_.groups(folder):
            writer.append(encoded(group, writer.n_columns))
            if bar is not None:
                bar.update(writer.n_columns - bar.n)
            del group  # which would stay in memory while the next one is read
        if writer.n_columns != source_.n_columns:
            raise ValueError(
                f"{_FUNCTION}: {source_.where} gave {writer.n_columns} columns, not "
                f"{source_.n_columns}; it changed while it was packed"
            )
        described = {
            "version": __version__,
            "source": [path.name for path in source_.files],
            "transpose": bool(transpose),
            "layer": layer,
            "sparse": source_.sparse,
        }
        if dating.dates:
            described["dates"] = {name: asdict(how) for name, how in dating.dates.items()}
        if pairing is not None and paired is None:  # by a column of the table
            writer.finish({}, described)
            columns = PackedColumns(folder, function)
            paired = pair(samples, of_store(columns, samples, pairing), columns.n_rows, pairing)
        beside = annotations if paired is None else paired.table
        check_samples(beside, writer.n_rows or 0, _FUNCTION)
        rows = None if beside is None else iter((beside,))
        writer.finish({layout.SAMPLES: rows, layout.VARIANTS: source_.variants()}, described)
        if finishing is not None:
            finishing(folder)
    store = open_store(place)
    store.samples_pairing = None if paired is None else paired.note
    return store


def _encoder(
    source: Input,
    names: Sequence[str] | None,
    kinds: Any,
    request: Request,
    as_text: Sequence[str],
    dating: _Dating,
) -> Callable[[Any, int], EncodedTable]:
    """Return a function that encodes a group of columns, by the number of its first column."""
    if kinds is not None and source.encoded:
        raise ValueError(
            f"{_FUNCTION}: the table is encoded already, so kinds cannot be given; give them when "
            "it is encoded first"
        )
    source.kinds_chosen = kinds is not None
    chosen: Sequence[str | None] | None = None
    if kinds is not None:
        unnamed: Any = range(source.n_columns)
        if isinstance(kinds, Mapping):
            unnamed = [f"x{j}" for j in unnamed]
        chosen = resolve_kinds(kinds, names or unnamed, _FUNCTION)
    text = text_of(source.files[0], request) if source.files else None
    missing = () if text is not None else request.na_values
    comma = text is not None and text.delimiter == ","
    form: dict[str, Any] = {"as_text": as_text, "decimal": request.decimal, "thousands": comma}

    def encoded(group: Any, begin: int) -> EncodedTable:
        is_source = isinstance(group, EncodedTable | Part)
        columns = group if is_source else open_source(group, _FUNCTION)
        end = begin + columns.n_columns
        of_group = tuple(
            [f"x{j}" for j in range(begin, end)] if names is None else names[begin:end]
        )
        some = [None] * (end - begin) if chosen is None else chosen[begin:end]
        if isinstance(group, EncodedTable):
            return replace(group, names=of_group, named=names is not None)
        if isinstance(group, pa.Table):  # may have numbers as text
            titles = group.column_names
            group = with_missing(group.rename_columns(list(of_group)), missing)
            group = warned(group, _FUNCTION, **form)
            group = dating.read(group, some).rename_columns(titles)
            columns = open_source(group, _FUNCTION)
        of_kind: list[str | None] = [*some]
        for j in places_of_text(group, of_group, as_text):
            of_kind[j] = of_kind[j] or "nominal"
        return encode_source(
            columns,
            of_group,
            tuple(of_kind),
            named=names is not None,
            n_threads=request.n_threads,
            function=_FUNCTION,
            pending=max(1 << 16, request.budget // (8 * request.n_threads)),
        )

    return encoded


class _Dating:
    """Columns of dates that are packed as numbers."""

    def __init__(
        self, kinds: Any, names: Any, as_text: Sequence[str], order: DateOrder, function: str
    ) -> None:
        self.dates: dict[str, Dates] = {}
        self._kinds, self._names, self._as_text = kinds, names, as_text
        self._order, self._function = order, function

    def of_table(self, table: Any) -> Any:
        """Return a whole table with numbers in place of dates, if it is a data frame."""
        if hasattr(table, "columns") and not hasattr(table, "column_names"):
            names_of_labels(table.columns, self._function)  # raises where they repeat
            if not all(isinstance(label, str) for label in table.columns):
                return table
        frame = nw.from_native(table, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return table
        names = self._names or frame.columns
        if len(names) != len(frame.columns):  # which is refused later
            return table
        table = self.read(table, resolve_kinds(self._kinds, names, self._function))
        renamed = dict(zip(frame.columns, names, strict=True))
        self.dates = {renamed[name]: how for name, how in self.dates.items()}
        return table

    def read(self, table: Any, kinds: Sequence[str | None]) -> Any:
        """Return columns of a table with numbers in place of dates, where no kind is asked for."""
        frame: Any = nw.from_native(table, eager_only=True)
        left = {name for name, kind in zip(frame.columns, kinds, strict=True) if kind is not None}
        left |= {*self._as_text}
        # Each column by itself: which ones are read together depends on the memory.
        frame, read, findings = frame_with_dates(frame, left, self._order, jointly=False)
        self.dates |= {name: how for name, (how, _) in read.items()}
        for finding in findings:
            hint = finding.hint
            if "as_text" not in hint:
                hint = f"as_text={[*finding.columns]!r} keeps them as text"
            warn(f"{self._function}: {finding.message}. Hint: {hint}")
        return frame.to_native()


# --- inputs ---------------------------------------------------------------------------------------

_CELL_BYTES = 28  # of a group: the cells, their codes and values, and room to sort


def open_input(
    source: Any, request: Request, dated: Callable[[Any], Any] = lambda table: table
) -> Input:
    """Open what is to be packed; `dated` reads dates of a table that is in memory as a whole.

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
    file_format = None if in_memory else formats.checked_file(path, function, "groups", "read")
    where = "a table" if in_memory else path.name
    formats.refuse_text_options(where, file_format, request)
    if layer is not None and (file_format is None or not file_format.layers):
        raise ValueError(f"{function}: layer={layer!r} is for .h5ad files, and {where} is not one")
    if file_format is not None:
        if file_format.groups is not None:
            return file_format.groups(path, request)
        table = with_missing(formats.whole(path, file_format, request), request.na_values)
        if request.transpose:
            return input_of(table_records(table, path, function), request)
        return SourceInput(dated(table), request, path)
    encoded = isinstance(source, EncodedTable | ColumnStore)
    if request.transpose and (encoded or not hasattr(source, "T") or hasattr(source, "columns")):
        raise ValueError(
            f"{function}: transpose=True is for files, arrays and sparse matrices; a "
            f"{type(source).__name__} must be transposed before it is packed"
        )
    if isinstance(source, EncodedTable | ColumnStore):
        return EncodedInput(source, request.budget)
    return SourceInput(dated(source.T if request.transpose else source), request)


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
        self.named = source.named
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
        self.names = table.names if self.part(0, 1).named else None

    def samples(self) -> pa.Table | None:
        """Return the annotations of the store."""
        return self._table.samples if isinstance(self._table, ColumnStore) else None

    def variants(self) -> Iterator[pa.Table] | None:
        """Yield the genomic positions of the columns of the store."""
        variants = self._table._columns.variants() if isinstance(self._table, ColumnStore) else None
        return None if variants is None else iter((variants,))

    def part(self, begin: int, end: int) -> EncodedTable:
        """Return neighboring columns of the table."""
        columns = np.arange(begin, min(end, self.n_columns))
        if isinstance(self._table, ColumnStore):  # codes are written, so dense ones take least
            return self._table.take_columns(columns, sparse=False)
        return self._table.take_columns(columns)
