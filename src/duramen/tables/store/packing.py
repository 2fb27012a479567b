"""Packing: any table into a store, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen import __version__
from duramen.checks import kernel_threads
from duramen.configuration import shows_progress
from duramen.results.paths import expanded
from duramen.results.replacing import naming
from duramen.results.warning import warn
from duramen.tables.arrow_threads import require_arrow_threads
from duramen.tables.encoded import EncodedTable
from duramen.tables.encoding import encode_source
from duramen.tables.formats.format import Request
from duramen.tables.formats.input import Input
from duramen.tables.names import check_names, resolve_kinds
from duramen.tables.sources import open_source
from duramen.tables.store import layout
from duramen.tables.store.beside import check_samples
from duramen.tables.store.budget import memory_bytes
from duramen.tables.store.column_store import POSITION_HINT, ColumnStore, open_store
from duramen.tables.store.inputs import Part, open_input
from duramen.tables.store.names import Repeats, repetition
from duramen.tables.store.pairing import Paired, names_of, pair
from duramen.tables.store.part import check_place, making, part_of
from duramen.tables.store.writer import StoreWriter

if TYPE_CHECKING:
    import pyarrow as pa

_FUNCTION = "pack"
_HINT = "rename them, or give names="


def pack(
    source: Any,
    path: str | os.PathLike[str],
    *,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    transpose: bool = False,
    layer: str | None = None,
    samples: Any = None,
    samples_id: str | None = None,
    samples_by_position: bool = False,
    na_values: Sequence[str] = (),
    decimal: str = ".",
    separator: str | None = None,
    sheet: str | None = None,
    memory: str | int = "512MB",
    overwrite: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ColumnStore:
    """Pack a table into a column store, a folder on disk, in bounded memory.

    Columns, kinds, values, missing values and codes are those that `encode` gives, of a file as
    `read_table` reads it. The store is made in a hidden folder beside its place and moved there
    when it is whole. Where the work on a file is stopped, that folder stays, and the same call goes
    on from it; a call that asks for something else warns and starts anew.

    Parameters
    ----------
    source : path or table
        A file whose ending names its format, one of `duramen.tables.catalogue`; text may be
        compressed (.gz, .bz2, .zst). Or anything that `encode` takes.
    path : path
        The folder to make.
    names : iterable of str, optional
        Names of the columns, in place of those of the source.
    kinds : str, mapping or sequence, optional
        Kinds of the columns, as in `encode`.
    transpose : bool
        Whether rows of the source are columns of the table, such as genes. A CSV, TSV, Parquet or
        Arrow file has their names in its first column, and names the rows in its first line.
    layer : str, optional
        Of an .h5ad file, the layer to take in place of X, or "raw".
    samples : path or table, optional
        Sample annotations, kept beside the columns in place of those of the source: the .fam file
        of a .bed file, ``obs`` of an .h5ad file. Their rows are paired with those of the source by
        name, as in `open_store`; by position where the source has no names of rows.
    samples_id : str, optional
        Column of `samples` with the names of the rows; by default the only one that holds them.
    samples_by_position : bool
        Whether `samples` has one row for each row of the source, in the same order, whatever the
        names.
    na_values : sequence of str
        Further words that are missing values in a CSV or TSV file, as in `read_table`.
    decimal : str
        Decimal point of the numbers in a CSV or TSV file: "." or ",".
    separator : str, optional
        Character between two fields of a CSV or TSV file, as in `read_table`.
    sheet : str, optional
        Sheet of a workbook, as in `read_table`.
    memory : str or int
        Memory to use for columns that are worked on, such as "512MB" or a number of bytes: beyond
        what the interpreter, its packages and some 60 bytes a column take. A single column has to
        fit, and a single row of a text; text and sparse matrices that are stored by rows need room
        on disk for another copy.
    overwrite : bool
        Whether a store at `path` is replaced.
    n_jobs : int, optional
        Threads; None means 1, -1 all processors. The result does not depend on it.
    verbose : int
        Whether to show progress on standard error.

    Returns
    -------
    ColumnStore
        The store, opened.

    Raises
    ------
    FileExistsError
        If `path` exists and is no store, or is one and `overwrite` is false.
    ValueError
        If the source is empty, damaged, or of unequal rows, names repeat, `samples` cannot be
        paired with its rows as in `open_store`, or a parameter is not as described; and whatever
        `encode` raises it for.
    TypeError
        If a column holds dates, nested values or mixed types.
    OSError
        If the source cannot be read, or the folder not be made.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> np.save("genes.npy", np.arange(12.0).reshape(3, 4))
    >>> dm.pack("genes.npy", "genes.store")
    ColumnStore genes.store of 3 rows x 4 columns (4 numeric)
    """
    asked = Options(
        names=names,
        kinds=kinds,
        transpose=transpose,
        layer=layer,
        samples=samples,
        samples_id=samples_id,
        samples_by_position=samples_by_position,
        na_values=na_values,
        decimal=decimal,
        separator=separator,
        sheet=sheet,
        memory=memory,
        overwrite=overwrite,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return pack_with(source, path, asked)


@dataclass(frozen=True)
class Options:
    """Options of `pack`."""

    names: Iterable[str] | None = None
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None
    transpose: bool = False
    layer: str | None = None
    samples: Any = None
    samples_id: str | None = None
    samples_by_position: bool = False
    na_values: Sequence[str] = ()
    decimal: str = "."
    separator: str | None = None
    sheet: str | None = None
    memory: str | int = "512MB"
    overwrite: bool = False
    n_jobs: int | None = None
    verbose: int = 0


def pack_with(
    source: Any,
    path: str | os.PathLike[str],
    asked: Options,
    finishing: Callable[[Path], None] | None = None,
) -> ColumnStore:
    """Pack as `pack` does; `finishing` may add files to the whole store, before it is in place."""
    place = expanded(path, _FUNCTION)
    names, kinds, transpose, layer = asked.names, asked.kinds, asked.transpose, asked.layer
    samples, overwrite, verbose = asked.samples, asked.overwrite, asked.verbose
    if isinstance(kinds, Iterable) and not isinstance(kinds, str | Mapping):
        kinds = list(kinds)
    budget = memory_bytes(asked.memory, _FUNCTION)
    n_threads = kernel_threads(_FUNCTION, asked.n_jobs)
    check_place(place, overwrite, _FUNCTION)
    require_arrow_threads(_FUNCTION)
    text = (asked.na_values, asked.decimal)
    how: dict[str, Any] = {"separator": asked.separator, "sheet": asked.sheet}
    request = Request(_FUNCTION, *text, transpose, layer, budget, n_threads, **how)
    given = open_input(source, request)
    chosen: Sequence[str] | None = given.names
    if names is not None:
        chosen = check_names(names, given.n_columns, _FUNCTION)
    else:
        _check_unique(given)
    encoder = _Encoder(given, chosen, kinds, n_threads, budget)
    paired = _paired(given, samples, asked.samples_id, asked.samples_by_position)
    beside = given.samples() if paired is None else paired.table
    options: dict[str, Any] = {"transpose": bool(transpose), "layer": layer, "memory": budget}
    options |= {"na_values": list(asked.na_values), "decimal": asked.decimal}
    options |= {name: one for name, one in how.items() if one is not None}
    plan = _plan(given, chosen if names is not None else None, kinds, options)
    with (
        naming(place, part_of(place)),
        making(place, plan, _FUNCTION) as (folder, found),
    ):
        if found == "another":
            message = (
                f"{_FUNCTION}: what an earlier call left beside {place} was packed from another "
                "source or with other options, or the source has changed since: packing starts "
                "anew"
            )
            warn(message)
        writer = StoreWriter(folder, chosen is not None, _FUNCTION)
        with _progress(given, writer.n_columns, verbose) as report:
            for group in given.groups(writer.n_columns, folder):
                writer.append(encoder.encoded(group, writer.n_columns))
                report(writer.n_columns)
        _check_whole(writer, given, beside)
        rows = None if beside is None else iter((beside,))
        tables = {layout.SAMPLES: rows, layout.VARIANTS: given.variants()}
        writer.finish(tables, _described(given, transpose, layer), _HINT)
        if finishing is not None:
            finishing(folder)
    store = open_store(place)
    store.samples_pairing = None if paired is None else paired.note
    if paired is not None and paired.doubtful:
        warn(f"{_FUNCTION}: {paired.note} {POSITION_HINT}")
    return store


def _paired(given: Input, samples: Any, samples_id: str | None, by_position: bool) -> Paired | None:
    """Return the annotations that are given, in the order of the rows; None without any."""
    if samples is None:
        if samples_id is not None or by_position:
            raise ValueError(f"{_FUNCTION}: samples_id and samples_by_position need samples.")
        return None
    names = names_of(given.samples())
    return pair(
        samples,
        names,
        None if names is None else len(names.labels),
        samples_id=samples_id,
        by_position=by_position,
        where=given.files[0].name if given.files else given.where,
        function=_FUNCTION,
    )


class _Encoder:
    """Encodes groups of columns, by the names and kinds that are settled for all of them."""

    def __init__(
        self,
        given: Input,
        names: Sequence[str] | None,
        kinds: Any,
        n_threads: int,
        budget: int,
    ) -> None:
        if kinds is not None and given.encoded:
            raise ValueError(
                f"{_FUNCTION}: the table is encoded already, so kinds cannot be given; give them "
                "when it is encoded first"
            )
        given.kinds_chosen = kinds is not None
        known = names
        if isinstance(kinds, Mapping) and names is None:
            known = [f"x{j}" for j in range(given.n_columns)]
        self._kinds = (
            None
            if kinds is None
            else resolve_kinds(kinds, known or range(given.n_columns), _FUNCTION)  # type: ignore[arg-type]
        )
        self._names, self._n_threads = names, n_threads
        self._pending = max(1 << 16, budget // (8 * n_threads))

    def encoded(self, group: Any, begin: int) -> EncodedTable:
        """Encode a group of columns, the first of which is column `begin`."""
        if isinstance(group, EncodedTable):
            return replace(
                group,
                names=self._names_of(begin, group.n_columns),
                named=self._names is not None,
            )
        source = group if isinstance(group, Part) else open_source(group, _FUNCTION)
        end = begin + source.n_columns
        return encode_source(
            source,
            self._names_of(begin, source.n_columns),
            (None,) * source.n_columns if self._kinds is None else self._kinds[begin:end],
            named=self._names is not None,
            n_threads=self._n_threads,
            function=_FUNCTION,
            pending=self._pending,
        )

    def _names_of(self, begin: int, count: int) -> tuple[str, ...]:
        if self._names is None:
            return tuple([f"x{j}" for j in range(begin, begin + count)])
        return tuple(self._names[begin : begin + count])


def _check_unique(given: Input) -> None:
    if given.names is None:
        return
    repeats = Repeats()
    repeats.see(layout.name_bytes(name) for name in given.names)
    repeated = repeats.among(layout.name_bytes(name) for name in given.names)
    if repeated:
        raise repetition(repeated, given.where, _FUNCTION, _HINT)


def _check_whole(writer: StoreWriter, given: Input, samples: pa.Table | None) -> None:
    if writer.n_columns != given.n_columns:
        raise ValueError(
            f"{_FUNCTION}: {given.where} gave {writer.n_columns} columns, not {given.n_columns}; "
            "it changed while it was packed"
        )
    check_samples(samples, writer.n_rows or 0, _FUNCTION)


def _plan(
    given: Input,
    names: Sequence[str] | None,
    kinds: Any,
    options: Mapping[str, Any],
) -> dict[str, Any] | None:
    """Return a record of source and options; None for a table in memory, which cannot resume."""
    if not given.files:
        return None
    files = []
    for path in given.files:
        there = path.resolve().stat()
        files.append([str(path.resolve()), there.st_size, there.st_mtime_ns])
    asked = repr((names, sorted(kinds.items(), key=repr) if isinstance(kinds, Mapping) else kinds))
    return {
        "version": __version__,
        "format": layout.FORMAT,
        "files": files,
        "asked": sha256(asked.encode("utf-8", "surrogatepass")).hexdigest(),
        **options,
    }


def _described(given: Input, transpose: bool, layer: str | None) -> dict[str, Any]:
    """Return the entries of the header about the source."""
    return {
        "version": __version__,
        "source": [path.name for path in given.files],
        "transpose": bool(transpose),
        "layer": layer,
    }


@contextmanager
def _progress(given: Input, done: int, verbose: int) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many columns are done; show that, and what is spooled."""
    if not shows_progress(verbose):
        yield lambda done: None
        return
    from tqdm.auto import tqdm

    spooled = tqdm(desc=f"{_FUNCTION}: cut", unit="B", unit_scale=True, delay=0.1)
    given.on_spooled = spooled.update
    with spooled, tqdm(total=given.n_columns, initial=done, desc=_FUNCTION, unit="column") as bar:
        yield lambda done: bar.update(done - bar.n)
