"""CSV and TSV files, whole and as inputs, by Arrow's reader.

Arrow infers the type of a column over all of it. Where a table is larger than the budget, or its
lines are columns, its cells are read as strings, block by block, and brought together as columns;
their types are inferred by writing them as text again. Arrow takes 25 kB for each column: the lines
of a table of very many columns are cut into narrower ones first.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.sources import LARGEST_EXACT, describe, refuse_merged, too_large
from duramen.io.formats.format import (
    Format,
    Input,
    Request,
    Spool,
    describing,
    named_rows,
    require_room,
    warn_of,
)
from duramen.io.formats.text_file import COMPRESSIONS, TextFile
from duramen.io.store.reader import columns_within
from duramen.support.arrow import pa, pa_csv, pc
from duramen.support.checks import warn

# Rows of a block of a wide table, whose numbers are of eight characters: a column of a block takes
# 20 microseconds, however few its values are.
_ROW_BLOCK, _SPOOLED_ROWS = 1000, 200
_LEAST_CHUNK = 1 << 16
_LARGEST_BLOCK = 1 << 30  # Arrow counts the bytes of a block in 31 bits
_LONG_LINE = ("straddl", "Empty CSV file or block")  # Arrow on a line that is longer than a block
_CELL_BYTES = 36  # of a cell that is parsed: value, code, room to sort, what allocators keep
_TEXT_COPIES = 4  # of a tile: as strings, in pieces and together, as text, as it is parsed
_WORK = 24  # bytes that reading a byte of text as strings takes
_COLUMN_BYTES = 25_000  # that Arrow takes for each column; half the budget is for the values


def read_text(path: Path, request: Request, delimiter: str) -> pa.Table:
    """Read a text file whole, if it fits into memory.

    A number takes eight bytes, and its code one: fields are counted in the first megabyte.
    """
    text = _text(path, delimiter, request)
    n_bytes = text.size
    if n_bytes > 1 << 20 and path.suffix.lower() not in COMPRESSIONS:
        with text.opened() as stream:
            head = stream.read(1 << 20)
        n_fields = head.count(text.delimiter.encode()) + head.count(b"\n")
        n_bytes = int(n_bytes * max(1.0, 0.9 * 9 * n_fields / len(head)))
    require_room(n_bytes, path, request.function)
    return without_empty(_whole(text, request, metered=True))


def _text(path: Path, usual: str, request: Request) -> TextFile:
    """Return the text of a file; warn if its separator differs from that of its extension."""
    text = TextFile.of(path, usual, request)
    delimiter = text.delimiter
    if usual and delimiter not in (usual, request.separator):
        warn(
            f"{request.function}: {path.name} is separated by {delimiter!r}, not by {usual!r}, "
            f"and was read accordingly. Hint: separator={delimiter!r} confirms this."
        )
    return text


def without_empty(table: pa.Table) -> pa.Table:
    """Leave out columns without a name and a value, as a separator at the end of lines makes."""
    names = zip(table.column_names, table.columns, strict=True)
    filled = [
        j for j, (name, column) in enumerate(names) if name or column.null_count < len(column)
    ]
    return table if len(filled) in (0, table.num_columns) else table.select(filled)


def _whole(
    text: TextFile, request: Request, *, metered: bool = False, threads: bool = True
) -> pa.Table:
    """Parse all of a text, whose first line names the columns."""
    width = text.first_lines[0].count(text.delimiter) + 1 if text.first_lines else 1
    with text.explained():
        table = _parsed(
            partial(text.opened, metered=metered),
            text.delimiter,
            _conversion(request),
            block=8 * _ROW_BLOCK * width,
            threads=threads,
        )
        table.column_names  # noqa: B018  decodes the names
    if any(pa.types.is_binary(field.type) for field in table.schema):
        text.check_encoding()
    if table.num_rows:
        _check_end(text, request, table.column(table.num_columns - 1)[-1].as_py())
    check_digits(
        table, lambda places: pa.Table.from_batches(_strings(text, request, places)), request
    )
    return table


def _parsed(
    opened: Callable[[], AbstractContextManager[Any]],
    delimiter: str,
    conversion: Any,
    *,
    block: int = 1 << 20,
    names: Sequence[str] | None = None,
    threads: bool = True,
) -> pa.Table:
    """Parse text in blocks that hold its longest line; its first line has the names if none come.

    Types are those that Arrow infers.
    """
    for size in _block_sizes(max(block, 1 << 20)):
        with opened() as source:
            try:
                return pa_csv.read_csv(
                    source,
                    pa_csv.ReadOptions(block_size=size, use_threads=threads, column_names=names),
                    pa_csv.ParseOptions(
                        delimiter=delimiter,
                        newlines_in_values=True,
                        ignore_empty_lines=names is None,
                    ),
                    conversion,
                )
            except pa.ArrowInvalid as error:
                if size == _LARGEST_BLOCK or not any(sign in str(error) for sign in _LONG_LINE):
                    raise
    raise AssertionError


def _block_sizes(first: int) -> list[int]:
    """Return increasing sizes of blocks in bytes; a longer line needs the next size."""
    return [*(size for size in (first, 1 << 25) if size < _LARGEST_BLOCK), _LARGEST_BLOCK]


def _strings(
    text: TextFile,
    request: Request,
    places: Sequence[int] = (),
    *,
    block: int = 1 << 20,
    missing: bool = True,
    end: bytes = b"\n",
) -> Iterator[pa.RecordBatch]:
    """Read the columns at some places, all by default, as strings; they are called f0, f1, ...

    Missing values are null; without `missing`, the words for them are strings.
    """
    n_columns = len(_header(text))
    conversion = _conversion(request)
    conversion.column_types = dict.fromkeys([f"f{j}" for j in range(n_columns)], pa.string())
    conversion.include_columns = [f"f{j}" for j in places]
    if not missing:
        conversion.null_values = []
    done, last = 0, None
    for size in _block_sizes(block):
        seen = -1  # the line of names is read as a row
        with text.explained(), text.opened(end=end) as stream:
            try:
                for batch in pa_csv.open_csv(
                    stream,
                    pa_csv.ReadOptions(
                        block_size=size, use_threads=False, autogenerate_column_names=True
                    ),
                    pa_csv.ParseOptions(delimiter=text.delimiter, newlines_in_values=True),
                    conversion,
                ):
                    rows = batch.slice(min(max(0, done - seen), batch.num_rows))
                    seen += batch.num_rows
                    if rows.num_rows:
                        done, last = seen, rows
                        yield rows
                break
            except pa.ArrowInvalid as error:
                if size == _LARGEST_BLOCK or not any(sign in str(error) for sign in _LONG_LINE):
                    raise
    if last is not None and end == b"\n" and n_columns - 1 in (places or [n_columns - 1]):
        _check_end(text, request, last.column(last.num_columns - 1)[-1].as_py())


def _header(text: TextFile) -> list[str]:
    """Return the fields of the line that names the columns."""
    with (
        text.explained(),
        text.opened() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", newline="") as lines,
    ):
        for row in csv.reader(lines, delimiter=text.delimiter):
            if row:
                return row
    raise ValueError(f"{text.function}: {text.path} is empty; its first line must name the columns")


def _check_end(text: TextFile, request: Request, last: str | object) -> None:
    """Raise ValueError if a text ends within a quoted field, which Arrow accepts.

    The last value then is all that comes after its quote, be it most of the file, and the line
    end: of two line ends, it has both.
    """
    if isinstance(last, str) and last.endswith("\n"):
        place, again = len(_header(text)) - 1, None
        for rows in _strings(text, request, [place], end=b"\n\n"):
            again = rows.column(0)[-1].as_py()
        if again != last:
            raise ValueError(f"{text.function}: cannot read {text.path} (a quote is not closed)")


def _typed(strings: pa.Table, request: Request) -> pa.Table:
    """Return columns of strings with the types that Arrow infers for their text."""
    sink = pa.BufferOutputStream()
    options = pa_csv.WriteOptions(include_header=False, quoting_style="all_valid")
    pa_csv.write_csv(strings, sink, options)  # null is an empty field without quotes
    data = sink.getvalue()
    return _parsed(
        lambda: nullcontext(pa.BufferReader(data)),
        ",",
        pa_csv.ConvertOptions(
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            decimal_point=request.decimal,
        ),
        block=min(data.size + 1, _LARGEST_BLOCK),
        names=strings.column_names,
        threads=request.n_threads > 1,
    )


def check_digits(
    table: pa.Table,
    strings: Callable[[Sequence[int]], pa.Table],
    request: Request,
    titles: Sequence[str] = (),
) -> None:
    """Refuse distinct numbers in text that are equal as float64.

    Arrow reads whole numbers beyond 2**63 as float64. `strings` returns the text of columns, which
    it is asked for where a number is beyond 2**53. `titles` are the names of the columns where the
    table has others.
    """
    places = []
    for j, column in enumerate(table.columns):
        if pa.types.is_float64(column.type):
            values = np.abs(column.to_numpy())
            if np.max(values, initial=0.0, where=np.isfinite(values)) >= LARGEST_EXACT:
                places.append(j)
    texts = strings(places).columns if places else []
    for j, text in zip(places, texts, strict=True):
        name = titles[j] if titles else table.column_names[j]
        words = [word.strip() for word in text.unique().to_pylist() if word is not None]
        for word in words:  # whole numbers of more digits than tell a float64 from all others
            digits = word.lstrip("+-")
            if digits.isdecimal() and len(digits.strip("0")) > 17:
                raise ValueError(too_large(request.function, name))
        numbers = [Decimal(word.replace(request.decimal, ".")) for word in words]
        finite = [number for number in numbers if number.is_finite()]
        refuse_merged(finite, describe(name), request.function)


class _TextInput(Input):
    """A file of delimited text."""

    def __init__(self, text: TextFile, request: Request) -> None:
        self.where = str(text.path)
        self.files = (text.path,)
        self.budget = request.budget
        self._text, self._request, self._function = text, request, request.function

    def _blocks(self, places: Sequence[int] = (), *, missing: bool = True) -> Iterator[Any]:
        """Read the rows of the file as strings, in blocks of a part of the budget."""
        wide = 8 * _SPOOLED_ROWS * self.n_columns if not self._text.transposed else 0
        block = min(max(_LEAST_CHUNK, self.budget // _WORK, wide), _LARGEST_BLOCK)
        return _strings(self._text, self._request, places, block=block, missing=missing)

    def _numbers(self, columns: Sequence[Any]) -> NDArray[np.float64] | None:
        """Return columns of strings as the rows of a matrix, NaN where missing.

        None if not all are numbers below 2**53. Inferring the type of a column takes 12 kB and
        0.1 ms, far more than it takes to parse some hundred numbers.
        """
        pa.default_memory_pool().release_unused()  # of the columns before
        if self.kinds_chosen or self._request.decimal != ".":
            return None
        matrix = np.empty((len(columns), len(columns[0])))
        for numbers, column in zip(matrix, columns, strict=True):
            try:
                numbers[:] = pc.utf8_trim_whitespace(column).cast(pa.float64())
            except pa.ArrowInvalid:
                return None
        largest = max(np.nanmax(matrix, initial=0.0), -np.nanmin(matrix, initial=0.0))
        return matrix if largest < LARGEST_EXACT else None

    def _inferred(self, strings: pa.Table, titles: Sequence[str]) -> pa.Table:
        """Return columns of strings with the types of their text; errors have their titles."""
        table = _typed(strings, self._request)
        check_digits(table, strings.select, self._request, titles)
        return table

    def _no_rows(self) -> ValueError:
        return ValueError(f"{self._function}: {self.where} has column names but no rows")


class TextInput(_TextInput):
    """A file whose lines are rows; the first one names the columns.

    Where the whole would take more than the budget, strings of groups of columns are spooled.
    """

    def __init__(self, text: TextFile, request: Request) -> None:
        super().__init__(text, request)
        self._titles = _header(text)
        self.names, self.n_columns = self._titles, len(self._titles)

    def groups(self, work: Path) -> Iterator[pa.Table | NDArray[Any]]:
        """Yield groups of columns: all at once, or tile by tile."""
        n_lines = n_returns = n_quotes = 0
        with self._text.explained(), self._text.opened() as stream:
            head = stream.readline()
            n_bytes = len(head)
            while block := stream.read(1 << 20):
                n_lines += block.count(b"\n")
                n_returns += block.count(b"\r")
                n_quotes += block.count(b'"')
                n_bytes += len(block)
        many = _COLUMN_BYTES * self.n_columns > self.budget // 2
        one_line = head.strip() and head.count(b'"') % 2 == 0  # has all names
        cut = many and bool(one_line) and not n_quotes and n_returns <= n_lines
        # A tile of cut lines is text twice more: in the spool, and before it is parsed.
        text_bytes = (_TEXT_COPIES + 2 * cut) * n_bytes / self.n_columns + cut * _COLUMN_BYTES
        n_rows = max(1, n_lines, n_returns)
        width = columns_within(self.budget, n_rows, _CELL_BYTES, text_bytes)
        width = min(width, max(1, _LARGEST_BLOCK * self.n_columns // (2 * n_bytes)))
        if width >= self.n_columns:
            threads = self._request.n_threads > 1
            table = _whole(self._text, self._request, threads=threads)
            if not table.num_rows:
                raise self._no_rows()
            yield table.rename_columns([f"{j}" for j in range(self.n_columns)])
            return
        bounds = [*range(0, self.n_columns, width), self.n_columns]
        tiles = [list(range(*bound)) for bound in pairwise(bounds)]
        spool = Spool(work, len(tiles))
        if cut:
            self._cut(spool, bounds)
        else:
            for rows in self._blocks():
                spool.add([rows.select(tile).serialize().to_pybytes() for tile in tiles])
        for number, tile in enumerate(tiles):
            # Nothing keeps a group while the next one is read.
            strings = self._tile(spool, number, tile, cut)
            matrix = self._numbers(strings.columns)
            titles = [self._titles[j] for j in tile]
            yield self._inferred(strings, titles) if matrix is None else matrix.T
        spool.remove()

    def _cut(self, spool: Spool, bounds: list[int]) -> None:
        """Cut the lines after the first one, and spool the fields between some bounds as text."""
        sign = self._text.delimiter.encode()
        with self._text.explained(), self._text.opened() as stream:
            stream.readline()
            for line in stream:
                fields = line.rstrip(b"\r\n").split(sign)
                if fields != [b""]:
                    if len(fields) != self.n_columns:
                        raise csv.Error(f"a line has {len(fields)} fields, not {self.n_columns}")
                    spool.add([sign.join(fields[a:b]) + b"\n" for a, b in pairwise(bounds)])

    def _tile(self, spool: Spool, number: int, places: list[int], cut: bool) -> pa.Table:
        """Return the strings of neighboring columns."""
        schema = pa.schema([(f"f{j}", pa.string()) for j in places])
        data = spool.read(number)
        if cut and data:
            data[:0] = b"\xef\xbb\xbf"  # Arrow drops one such mark, be it of a field
            conversion = _conversion(self._request)
            conversion.column_types = schema
            with self._text.explained():
                return _parsed(
                    lambda: nullcontext(pa.BufferReader(pa.py_buffer(data))),
                    self._text.delimiter,
                    conversion,
                    block=min(len(data) + 1, _LARGEST_BLOCK),
                    names=schema.names,
                    threads=False,
                )
        source, batches = pa.BufferReader(pa.py_buffer(data)), []
        while source.tell() < source.size():
            batches.append(pa.ipc.read_record_batch(pa.ipc.read_message(source), schema))
        if not batches:
            raise self._no_rows()
        return pa.Table.from_batches(batches)


class TransposedTextInput(_TextInput):
    """A file whose lines are columns, each beginning with its name; the first one names the rows.

    That first line may lack a field above the names, as R writes it.
    """

    names: Sequence[str]
    _above = 0  # lines between the first line and the lines that become columns

    def __init__(self, text: TextFile, request: Request) -> None:
        super().__init__(replace(text, transposed=True), request)
        self._rows = _header(self._text)[1:]
        names: list[str] = []
        for rows in self._blocks([0], missing=False):
            names += rows.column(0).to_pylist()
        self.names = names[self._above :]
        if not self.names:
            raise self._no_rows()
        if not self._rows:
            raise ValueError(
                f"{self._function}: {self.where} has one field in each line where "
                f"{text.delimiter!r} separates them. Hint: separator (--separator) names another "
                "sign."
            )
        self._before = self._n_describing()
        self._rows = self._rows[self._before :]
        self.n_rows, self.n_columns = len(self._rows), len(self.names)
        self.cell_bytes = _CELL_BYTES

    def _n_describing(self) -> int:
        """Return the number of descriptive fields after the name; warn that they are left out."""
        count = describing(self._rows)
        warn_of(self._rows[:count], self._text.path.name, self._function)
        return count

    def samples(self) -> pa.Table:
        """Return the names of the rows."""
        return self._annotated({})

    def _annotated(self, texts: Mapping[str, Sequence[str | None]]) -> pa.Table:
        """Return the names of the rows, and annotations, numeric if all values of a column are."""
        columns = {name: typed(values) for name, values in texts.items()}
        names = {"sample": pa.array(self._rows, pa.string())}
        # The names come first, and stay what they are where an annotation is called so too.
        return named_rows(pa.table({**names, **columns, **names}), "sample")

    def groups(self, work: Path) -> Iterator[pa.Table | NDArray[Any]]:
        """Yield groups of lines as columns."""
        places = range(1 + self._before, 1 + self._before + len(self._rows))
        seen = -self._above
        for lines in self._blocks(places):
            first = max(seen, 0)
            lines, seen = lines.slice(first - seen), seen + lines.num_rows
            count = lines.num_rows
            if not count:
                continue
            matrix = self._numbers(lines.columns)
            if matrix is not None:
                yield matrix
                continue
            n, cells = len(self._rows), pa.chunked_array(lines.columns).combine_chunks()
            turned = cells.take(pa.array(np.arange(n * count).reshape(n, count).T.ravel()))
            columns = {f"{j}": turned.slice(j * n, n) for j in range(count)}
            yield self._inferred(pa.table(columns), self.names[first : first + count])


_MISSING = ("", "NA", "N/A", "na", "n/a", "null", "NaN", "--")


def typed(words: Sequence[str | None], missing: Sequence[str] = _MISSING) -> pa.Array:
    """Return words as numbers if all are, else as text; some stand for a missing value."""
    column = pa.array([None if word in missing else word for word in words], pa.string())
    for kind in (pa.int64(), pa.float64()):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return column


def _conversion(request: Request) -> Any:
    """Return Arrow's options that turn text into values."""
    if request.decimal not in (".", ","):
        raise ValueError(
            f"{request.function}: decimal must be '.' or ',', got {request.decimal!r}."
        )
    return pa_csv.ConvertOptions(
        null_values=[*pa_csv.ConvertOptions().null_values, *map(str, request.na_values)],
        strings_can_be_null=True,
        quoted_strings_can_be_null=bool(request.na_values),
        decimal_point=request.decimal,
    )


def open_text(path: Path, request: Request, delimiter: str) -> Input:
    """Open a text file as an input."""
    kind = TransposedTextInput if request.transpose else TextInput
    return kind(_text(path, delimiter, request), request)


def write_text(table: pa.Table, file: IO[bytes], delimiter: str) -> None:
    """Write a text file."""
    options = pa_csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    pa_csv.write_csv(table, file, options)


def _delimited(name: str, title: str, suffixes: tuple[str, ...], delimiter: str) -> Format:
    """Return the record of text with a delimiter."""
    return Format(
        name,
        title,
        suffixes,
        read=partial(read_text, delimiter=delimiter),
        groups=partial(open_text, delimiter=delimiter),
        write=partial(write_text, delimiter=delimiter),
        text=True,
        separator=delimiter,
    )


_FRAMES = {
    ".dta": "pandas.read_stata",
    ".sav": "pandas.read_spss",
    ".sas7bdat": "pandas.read_sas",
    ".pkl": "pandas.read_pickle",
    ".json": "pandas.read_json",
    ".h5": "pandas.read_hdf, or scanpy.read_10x_h5 for cells,",
    ".mtx": "scanpy.read_10x_mtx",
}
_OF_R = dict.fromkeys((".rds", ".rdata", ".rda"), "write.csv of R makes a .csv file of its table")

CSV = replace(
    _delimited("csv", "CSV", (".csv",), ","),
    others=_OF_R
    | {
        suffix: f"in Python {reader} reads it, and dm.rank and dm.select take its table"
        for suffix, reader in _FRAMES.items()
    },
)
TSV = _delimited("tsv", "TSV", (".tsv", ".tab"), "\t")
TEXT = _delimited("text", "Text", (".txt", ".zip"), "")
