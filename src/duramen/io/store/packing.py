"""Packing: any table into a store, in bounded memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from duramen import __version__
from duramen.configuration import shows_progress
from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode_source
from duramen.data.memory import readable_bytes, require_memory
from duramen.data.schema import check_names, resolve_kinds
from duramen.data.sources import open_source
from duramen.data.text_numbers import places_of_text, warned
from duramen.io.formats import text_of
from duramen.io.formats.arrow import with_missing
from duramen.io.formats.format import READING, Input, Request
from duramen.io.store import layout
from duramen.io.store.column_store import ColumnStore, open_store
from duramen.io.store.inputs import Part, open_input
from duramen.io.store.packed import PackedColumns
from duramen.io.store.reader import LocalFolder, memory_bytes
from duramen.io.store.row_ids import (
    Names,
    Paired,
    Pairing,
    check_samples,
    names_of,
    of_store,
    of_table,
    pair,
    texts_of,
)
from duramen.io.store.writer import (
    StoreWriter,
    check_place,
    check_repeated,
    making,
    part_of,
)
from duramen.support.arrow import pa
from duramen.support.checks import check_jobs
from duramen.support.files import expanded, naming
from duramen.support.threads import require_arrow_threads
from duramen.support.warning import warn

_FUNCTION = "pack"
_READ_AT_ONCE = 64  # columns, at the most, that are read before others for names of rows


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
    n_jobs: int | None = None,
    verbose: int = 0,
    function: str = _FUNCTION,
    finishing: Callable[[Path], None] | None = None,
    announce: Callable[[str], None] | None = None,
) -> ColumnStore:
    """Pack a table into a store as :func:`duramen.pack` does.

    Parameters
    ----------
    source, path, names, kinds, transpose, layer, memory, overwrite, n_jobs, verbose
        As for :func:`duramen.pack`.
    samples, samples_id, samples_match
        As for :func:`duramen.pack`; a file is read as :func:`read_table` reads it.
    reading : mapping, optional
        Parameters of :func:`read_table`; an Arrow table takes `as_text` alone.
    function : str
        Name of the function in messages about the source.
    finishing : callable, optional
        Is given the folder of the whole store before it is in place, and may add files to it.
    announce : callable, optional
        Is given a sentence on memory and disk before the work begins.
    """
    place = expanded(path, _FUNCTION)
    if isinstance(kinds, Iterable) and not isinstance(kinds, str | Mapping):
        kinds = list(kinds)
    budget = memory_bytes(memory, _FUNCTION)
    n_threads = check_jobs(_FUNCTION, n_jobs)
    check_place(place, overwrite, _FUNCTION)
    require_arrow_threads(_FUNCTION)
    settings = {**READING, **(reading or {})}
    as_text = settings.pop("as_text")
    request = Request(
        function,
        transpose=transpose,
        layer=layer,
        budget=budget,
        n_threads=n_threads,
        **settings,
    )
    input_ = open_input(source, request)
    chosen: Sequence[str] | None = input_.names
    if names is not None:
        chosen = check_names(names, input_.n_columns, _FUNCTION)
    else:
        _check_unique(input_)
    size = _checked_size(input_, place, budget)
    if announce is not None:
        announce(size)
    encoder = _Encoder(input_, chosen, kinds, request, as_text)
    where = input_.files[0].name if input_.files else input_.where
    pairing = Pairing(samples_id, samples_match, where, function)
    annotations, paired = input_.samples(), None
    row_names = names_of(annotations)
    by_column = False  # columns without names name no rows
    if samples is None:
        pairing.check_unused()
    elif row_names is None and chosen is not None:
        by_column = True
        if columns := _names_at_once(input_):
            pair(samples, columns, None, pairing)  # raises before packing
    else:
        n_rows = None if row_names is None else len(row_names.labels)
        paired = pair(samples, [] if row_names is None else [row_names], n_rows, pairing)
    options = (transpose, layer, budget, sorted(settings.items()), tuple(as_text))
    plan = _plan(input_, (chosen if names is not None else None, kinds, options))
    with (
        naming(place, part_of(place), resumes=plan is not None),
        making(place, plan, _FUNCTION) as (folder, state),
    ):
        if state == "another":
            message = (
                f"{_FUNCTION}: what an earlier call left beside {place} was packed from another "
                "source or with other options, or the source has changed since: packing starts "
                "anew"
            )
            warn(message)
        writer = StoreWriter(folder, chosen is not None, _FUNCTION)
        with _progress(input_, writer.n_columns, verbose) as report:
            for group in input_.groups(writer.n_columns, folder):
                writer.append(encoder.encoded(group, writer.n_columns))
                report(writer.n_columns)
                del group  # which would stay in memory while the next one is read
        described = _described(input_, transpose, layer)
        if by_column:
            writer.finish({}, described)
            paired = _pairing_by_column(folder, samples, pairing)
        beside = annotations if paired is None else paired.table
        _check_whole(writer, input_, beside)
        rows = None if beside is None else iter((beside,))
        writer.finish({layout.SAMPLES: rows, layout.VARIANTS: input_.variants()}, described)
        if finishing is not None:
            finishing(folder)
    store = open_store(place)
    store.samples_pairing = None if paired is None else paired.note
    return store


def _names_at_once(source: Input) -> list[Names]:
    """Return the columns that may name the rows, where they are few and are read before others."""
    beginning = source.beginning()
    if beginning is None:
        return []
    first, read = beginning
    texts = [texts_of(column) for column in first.columns]
    places = [j for j, words in enumerate(texts) if words is not None and len(set(words)) > 1]
    return of_table(read(places)) if 0 < len(places) <= _READ_AT_ONCE else []


def _pairing_by_column(folder: Path, samples: Any, asked: Pairing) -> Paired:
    """Pair annotations with the rows of a store by one of its columns."""
    columns = PackedColumns(LocalFolder(folder), asked.function)
    return pair(samples, of_store(columns, samples, asked), columns.n_rows, asked)


class _Encoder:
    """Encodes groups of columns, by the names and kinds that are settled for all of them."""

    def __init__(
        self,
        source: Input,
        names: Sequence[str] | None,
        kinds: Any,
        request: Request,
        as_text: Sequence[str],
    ) -> None:
        n_threads = request.n_threads
        text = text_of(source.files[0], request) if source.files else None
        self._missing = () if text is not None else request.na_values
        self._text: dict[str, Any] = {
            "as_text": as_text,
            "decimal": request.decimal,
            "thousands": text is not None and text.delimiter == ",",
        }
        if kinds is not None and source.encoded:
            raise ValueError(
                f"{_FUNCTION}: the table is encoded already, so kinds cannot be given; give them "
                "when it is encoded first"
            )
        source.kinds_chosen = kinds is not None
        column_names = names
        if isinstance(kinds, Mapping) and names is None:
            column_names = [f"x{j}" for j in range(source.n_columns)]
        self._kinds = (
            None
            if kinds is None
            else resolve_kinds(kinds, column_names or range(source.n_columns), _FUNCTION)  # type: ignore[arg-type]
        )
        self._names, self._n_threads = names, n_threads
        self._pending = max(1 << 16, request.budget // (8 * n_threads))

    def encoded(self, group: Any, begin: int) -> EncodedTable:
        """Encode a group of columns, the first of which is column `begin`."""
        if isinstance(group, EncodedTable):
            return replace(
                group,
                names=self._names_of(begin, group.n_columns),
                named=self._names is not None,
            )
        group = self._numbers_read(group, begin)
        source = group if isinstance(group, Part) else open_source(group, _FUNCTION)
        end = begin + source.n_columns
        kinds = list((None,) * source.n_columns if self._kinds is None else self._kinds[begin:end])
        names = self._names_of(begin, source.n_columns)
        for j in places_of_text(group, names, self._text["as_text"]):
            kinds[j] = kinds[j] or "nominal"
        return encode_source(
            source,
            names,
            tuple(kinds),
            named=self._names is not None,
            n_threads=self._n_threads,
            function=_FUNCTION,
            pending=self._pending,
        )

    def _numbers_read(self, group: Any, begin: int) -> Any:
        """Read numbers in the text of columns, where they come as an Arrow table."""
        if type(group).__module__.partition(".")[0] != "pyarrow":
            return group
        table = group.rename_columns(list(self._names_of(begin, group.num_columns)))
        table = with_missing(table, self._missing)
        return warned(table, _FUNCTION, **self._text).rename_columns(group.column_names)

    def _names_of(self, begin: int, count: int) -> tuple[str, ...]:
        if self._names is None:
            return tuple([f"x{j}" for j in range(begin, begin + count)])
        return tuple(self._names[begin : begin + count])


def _checked_size(source: Input, place: Path, budget: int) -> str:
    """Return a sentence on the memory and the disk that packing takes.

    Raises
    ------
    MemoryError
        If a column takes more memory than there is. It takes more than stated with a warning.
    OSError
        If the disk has less room than the codes take at least.
    """
    if source.n_rows is None:
        return (
            f"packing {source.n_columns:,} columns takes up to {readable_bytes(budget)} of memory; "
            "the number of rows, and so the size of the store, is known once the file is read"
        )
    if source.column_bytes > budget:
        column = f"a column of {source.n_rows:,} rows"
        require_memory(
            int(source.column_bytes),
            what=f"{column}, which is packed as a whole,",
            function=_FUNCTION,
            hint="pack it on a machine with more",
        )
        warn(
            f"{_FUNCTION}: {column} takes about {readable_bytes(source.column_bytes)} while it is "
            f"packed, more than memory={readable_bytes(budget)}"
        )
    least, most = source.store_bytes()
    folder = next(above for above in (place, *place.absolute().parents) if above.is_dir())
    free, part = shutil.disk_usage(folder).free, part_of(place)
    written = sum(file.stat().st_size for file in part.glob("*")) if part.is_dir() else 0
    if least + source.spooled > free + written:
        copied = f" and {readable_bytes(source.spooled)} for a copy" if source.spooled else ""
        raise OSError(
            f"{_FUNCTION}: the store takes at least {readable_bytes(least)}{copied}, and "
            f"{readable_bytes(free)} are free in {folder}. Hint: another folder, on a disk with "
            "more room"
        )
    memory = max(source.column_bytes, min(budget, source.n_columns * source.column_bytes))
    range_ = readable_bytes(most) if least == most else f"at most {readable_bytes(most)}"
    copied = f", and {readable_bytes(source.spooled)} until it is packed" if source.spooled else ""
    return (
        f"packing {source.n_rows:,} rows x {source.n_columns:,} columns takes about "
        f"{readable_bytes(memory)} of memory, and {range_} on disk{copied} ({readable_bytes(free)} "
        "free)"
    )


def _check_unique(source: Input) -> None:
    names = source.names
    if names is None:
        return
    if not isinstance(names, layout.Names):
        names = layout.names_of(names)
    check_repeated(names.repeated(), source.where, _FUNCTION)


def _check_whole(writer: StoreWriter, source: Input, samples: pa.Table | None) -> None:
    if writer.n_columns != source.n_columns:
        raise ValueError(
            f"{_FUNCTION}: {source.where} gave {writer.n_columns} columns, not {source.n_columns}; "
            "it changed while it was packed"
        )
    check_samples(samples, writer.n_rows or 0, _FUNCTION)


def _plan(source: Input, asked: tuple[Any, ...]) -> dict[str, Any] | None:
    """Return a record of source and options; None for a table in memory, which cannot resume."""
    if not source.files:
        return None
    files = []
    for path in source.files:
        there = path.resolve().stat()
        files.append([str(path.resolve()), there.st_size, there.st_mtime_ns])
    names, kinds, options = asked
    kinds = sorted(kinds.items(), key=repr) if isinstance(kinds, Mapping) else kinds
    words = repr((names, kinds, options)).encode("utf-8", "surrogatepass")
    return {
        "version": __version__,
        "format": layout.FORMAT,
        "files": files,
        "asked": sha256(words).hexdigest(),
    }


def _described(source: Input, transpose: bool, layer: str | None) -> dict[str, Any]:
    """Return the entries of the header about the source."""
    return {
        "version": __version__,
        "source": [path.name for path in source.files],
        "transpose": bool(transpose),
        "layer": layer,
        "sparse": source.sparse,
    }


@contextmanager
def _progress(source: Input, done: int, verbose: int) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many columns are done; show that, and what is spooled."""
    if not shows_progress(verbose):
        yield lambda done: None
        return
    from tqdm.auto import tqdm

    spooled = tqdm(desc=f"{_FUNCTION}: cut", unit="B", unit_scale=True, delay=0.1)
    source.on_spooled = spooled.update
    with spooled, tqdm(total=source.n_columns, initial=done, desc=_FUNCTION, unit="column") as bar:
        yield lambda done: bar.update(done - bar.n)
