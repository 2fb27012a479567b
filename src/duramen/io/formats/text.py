"""CSV and TSV files and GEO series matrices, whole and as inputs.

Types are inferred by Arrow over all of a column: whatever is spooled is text, and a column is
parsed when all of it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data.columns import LARGEST_EXACT, describe, refuse_merged, too_large
from duramen.io.formats.format import (
    FIRST_ROWS,
    Format,
    Input,
    Request,
    describing,
    named_rows,
    warn_of,
)
from duramen.io.formats.spool import Spool
from duramen.io.formats.text_file import (
    BOM,
    COMPRESSIONS,
    Lines,
    TextFile,
    UnclosedQuote,
    explain_encoding,
    explain_ragged,
    explained,
    lines_of,
    unquoted,
)
from duramen.io.store.reader import columns_within
from duramen.support.arrow import pa, pa_csv, pc
from duramen.support.warning import warn

_HEAD = 1 << 20
_WIDE = 256  # columns at the most whose types Arrow infers at a time: it takes 12 kB for each
_TILE = 1 << 12  # columns of a tile of a table that is read whole
_LEAST_CHUNK = 1 << 16
_LARGEST_TILE = 1 << 30  # Arrow's reader counts the bytes of a block in 31 bits
_BLOCKS = (1 << 20, 1 << 25, _LARGEST_TILE)  # bytes of blocks, each tried if a line is longer
_LONG_LINE = ("straddl", "Empty CSV file or block")  # Arrow on a line that is longer than a block
_FIELD_BYTES = 8  # of the text of a number
_CELL_BYTES = 36  # of a cell that is parsed: value, code, room to sort, what allocators keep
_TEXT_COPIES = 3  # of a tile: as it was read, as it is parsed, as strings
_WORK = 24  # bytes that cutting a byte of text takes
_SPLIT_WORK = 96  # where every field becomes a Python object
_MOST_DIGITS = 17  # significant ones that tell a float64 from all others


def read_text(path: Path, request: Request, delimiter: str) -> pa.Table:
    """Read a text file whole."""
    text = _text(path, delimiter, request)
    if text.n_fields > _WIDE and (columns := TextInput(text, request)).is_wide:
        return without_empty(columns.whole())
    return without_empty(_whole(text, partial(text.opened, metered=True), request))


Opened: TypeAlias = Callable[[], AbstractContextManager[Any]]


def _whole(text: TextFile, opened: Opened, request: Request, threads: bool = True) -> pa.Table:
    """Parse all of a text, whose first line names the columns."""
    options = text_options(request)
    read = partial(_parsed, opened, text.delimiter, threads=threads)
    with explained(text):
        table = read(options)
        table.column_names  # noqa: B018  decodes the names
    check_digits(table, options, read, request.function)
    if any(pa.types.is_binary(field.type) for field in table.schema):
        explain_encoding(text)
    if ends_in_quote(table, text):
        raise ValueError(f"{request.function}: cannot read {text.path} (a quote is not closed)")
    return table


def _parsed(
    opened: Opened,
    delimiter: str,
    options: Any,
    *,
    names: Sequence[str] | None = None,
    threads: bool = True,
    blocks: Sequence[int] = _BLOCKS,
) -> pa.Table:
    """Parse text in blocks that hold its longest line; its first line has the names if none come.

    Types are those that Arrow infers.
    """
    for size in blocks:
        with opened() as source:
            try:
                return pa_csv.read_csv(
                    pa.BufferReader(source) if isinstance(source, pa.Buffer) else source,
                    read_options=pa_csv.ReadOptions(
                        block_size=size,
                        use_threads=threads,
                        column_names=None if names is None else list(names),
                    ),
                    parse_options=pa_csv.ParseOptions(
                        delimiter=delimiter,
                        newlines_in_values=True,
                        ignore_empty_lines=names is None,
                    ),
                    convert_options=options,
                )
            except pa.ArrowInvalid as error:
                if size == blocks[-1] or not any(sign in str(error) for sign in _LONG_LINE):
                    raise
    raise AssertionError


def without_empty(table: pa.Table) -> pa.Table:
    """Leave out columns without a name and a value, as a separator at the end of lines makes."""
    names = zip(table.column_names, table.columns, strict=True)
    filled = [
        j for j, (name, column) in enumerate(names) if name or column.null_count < len(column)
    ]
    return table if len(filled) in (0, table.num_columns) else table.select(filled)


def write_text(table: pa.Table, file: IO[bytes], delimiter: str) -> None:
    """Write a text file."""
    options = pa_csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    pa_csv.write_csv(table, file, options)


def open_text(path: Path, request: Request, delimiter: str) -> Input:
    """Open a text file as an input."""
    kind = TransposedTextInput if request.transpose else TextInput
    return kind(_text(path, delimiter, request), request)


def _text(path: Path, usual: str, request: Request) -> TextFile:
    """Return the text of a file; warns where its separator is another one than its ending tells."""
    text = TextFile.of(path, usual, request)
    delimiter = text.delimiter
    if usual and delimiter not in (usual, request.separator):
        warn(
            f"{request.function}: {path.name} is separated by {delimiter!r}, not by {usual!r}, "
            f"and was read accordingly. Hint: separator={delimiter!r} confirms this."
        )
    return text


class _Text(Input):
    """A file of delimited text."""

    def __init__(self, text: TextFile, request: Request) -> None:
        self.where = str(text.path)
        self.files = (text.path,)
        self._file, self._path = text, text.path
        self._delimiter = text.delimiter
        self.budget, self._function = request.budget, request.function
        self._threads = request.n_threads > 1
        self._options, self._request = text_options(request), request

    def _lines(self, work: int) -> Iterator[Lines]:
        """Yield the lines of the file, in parts that take `work` times their length to be cut."""
        chunk = max(_LEAST_CHUNK, self.budget // work)
        with self._explained(), self._file.opened() as stream:
            yield from lines_of(stream, self._delimiter.encode(), chunk)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self._file)

    def _first(self, count: int) -> list[list[str]]:
        """Return the fields of the first lines."""
        rows: list[list[str]] = []
        for lines in self._lines(_WORK):
            with self._explained():
                rows += [lines.texts(i) for i in range(min(len(lines), count - len(rows)))]
            if len(rows) == count:
                break
        return rows

    def _header(self) -> list[str]:
        """Return the fields of the first line."""
        for header in self._first(1):
            return header
        raise ValueError(
            f"{self._function}: {self._path} is empty; its first line must name the columns"
        )

    def _ragged(self, n_fields: int, wanted: int) -> ValueError:
        explain_ragged(self._file)
        return ValueError(
            f"{self._function}: {self._path} has a line of {n_fields} fields, but its header has "
            f"{wanted}"
        )

    def _no_rows(self) -> ValueError:
        return ValueError(f"{self._function}: {self._path} has column names but no rows")

    def _part(
        self, text: Any, names: Sequence[str], titles: Sequence[str], chosen: Sequence[int]
    ) -> pa.Table:
        """Parse the columns in some places of a text without names; errors have their titles."""
        options = text_options(self._request)
        options.include_columns = [names[j] for j in chosen]
        read = partial(self._read, text, names)
        with self._explained():
            table = read(options)
        check_digits(table, options, read, self._function, [titles[j] for j in chosen])
        if any(pa.types.is_binary(field.type) for field in table.schema):
            explain_encoding(self._file)
        return table

    def _read(self, text: Any, names: Sequence[str], options: Any) -> pa.Table:
        if bytes(text[:3]) == BOM:
            text = BOM + bytes(text)  # Arrow takes the first one away, wherever text was cut
        return _parsed(
            partial(nullcontext, pa.py_buffer(text)),
            self._delimiter,
            options,
            names=names,
            threads=self._threads,
            blocks=(min(max(1 << 16, len(text) + 1), _LARGEST_TILE),),
        )

    def _group(self, text: Any, titles: Sequence[str]) -> pa.Table | NDArray[Any]:
        """Return neighboring columns, as a matrix if they are many and all are numeric."""
        pa.default_memory_pool().release_unused()  # of the columns before
        cells = None if self.kinds_chosen else self._numbers(text, len(titles))
        return self._table(text, titles) if cells is None else _matrix(cells, len(titles))

    def _table(self, text: Any, titles: Sequence[str]) -> pa.Table:
        """Parse neighboring columns with the types that Arrow infers; they are called 0, 1, ..."""
        n_columns = len(titles)
        names = [f"{j}" for j in range(n_columns)]
        cells = self._numbers(text, n_columns)
        columns = {} if cells is None else _certain(cells, n_columns)
        others = [j for j in range(n_columns) if j not in columns]
        for begin in range(0, len(others), _WIDE):
            chosen = others[begin : begin + _WIDE]
            columns |= zip(chosen, self._part(text, names, titles, chosen).columns, strict=True)
        return pa.table([columns[j] for j in range(n_columns)], names=names)

    def _numbers(self, text: Any, n_columns: int) -> pa.Array | None:
        """Parse the cells of many columns, row by row, as one column of numbers.

        Arrow takes 12 kB and 0.1 ms to infer the type of a column, far more than it takes to parse
        the numbers of some hundred rows. A cell has the same value either way. None if there are
        few columns, or a cell is no number or is beyond 2**53.
        """
        if n_columns <= _WIDE or bytes(text[:3]) == BOM:
            return None
        cells = bytes(text).replace(self._delimiter.encode(), b"\n")
        try:
            column = self._read(cells, ["0"], self._options).column(0)
        except pa.ArrowInvalid:
            return None
        if len(column) != n_columns * text.count(b"\n"):
            return None  # a quoted cell has a delimiter or a line end
        if pa.types.is_null(column.type):
            column = column.cast(pa.float64())
        if column.type not in (pa.int64(), pa.float64()):
            return None
        numbers = column.combine_chunks()
        extremes = pc.min_max(numbers)
        if any(abs(extreme.as_py() or 0) >= LARGEST_EXACT for extreme in extremes.values()):
            return None
        return numbers


def _matrix(cells: pa.Array, n_columns: int) -> NDArray[Any]:
    """Return cells, row by row, as a matrix with NaN for missing values."""
    if cells.null_count:
        cells = cells.cast(pa.float64()).fill_null(float("nan"))
    return np.asarray(cells.to_numpy()).reshape(-1, n_columns)


def _certain(cells: pa.Array, n_columns: int) -> dict[int, pa.Array]:
    """Return the columns of cells whose type is that of all cells, by their places.

    Others, of missing values and of whole numbers among decimal ones, may have another type.
    """
    n_rows = len(cells) // n_columns
    order = np.arange(len(cells)).reshape(n_rows, n_columns).T.ravel()
    values = cells.take(pa.array(order))
    certain = values.is_valid()
    if pa.types.is_floating(cells.type):
        certain = pc.fill_null(pc.not_equal(values, pc.floor(values)), False)
    flags = np.asarray(certain.cast(pa.uint8()).to_numpy()).reshape(n_columns, n_rows)
    places = np.flatnonzero(flags.any(axis=1)).tolist()
    return {j: values.slice(j * n_rows, n_rows) for j in places}


class TextInput(_Text):
    """A file whose lines are rows; the first one names the columns.

    Where the whole would take more than the budget, the text of groups of columns is spooled.
    """

    def __init__(self, text: TextFile, request: Request) -> None:
        super().__init__(text, request)
        self._titles = self._header()
        self.names, self.n_columns = self._titles, len(self._titles)

    @property
    def is_wide(self) -> bool:
        """True if the table has more columns than rows, as far as the size of the file tells."""
        return self.n_columns**2 * _FIELD_BYTES > self._file.size

    def beginning(self) -> tuple[pa.Table, Callable[[Sequence[int]], pa.Table]] | None:
        """Return the first rows, and a function that reads whole columns, of a narrow table."""
        if self.n_columns > _WIDE:
            return None
        options = text_options(self._request)
        with self._explained(), self._file.opened() as stream:
            text = b"".join(islice(TextFile.buffered(stream), FIRST_ROWS + 1))
        try:
            first = _parsed(partial(nullcontext, pa.py_buffer(text)), self._delimiter, options)
        except pa.ArrowInvalid:
            return None  # a line may go on in the next one, or packing says what is wrong

        def read(places: Sequence[int]) -> pa.Table:
            options.include_columns = [self._titles[j] for j in places]
            with self._explained():
                return _parsed(self._file.opened, self._delimiter, options)

        return first, read

    def groups(self, start: int, work: Path) -> Iterator[pa.Table | NDArray[Any]]:
        """Yield groups of columns: all at once, or tile by tile."""
        n_lines, n_bytes = self._size()
        width = min(
            columns_within(
                self.budget, n_lines, _CELL_BYTES, _TEXT_COPIES * n_bytes / self.n_columns
            ),
            max(1, _LARGEST_TILE * self.n_columns // n_bytes),
        )
        if width >= self.n_columns and self.n_columns <= _WIDE:
            table = _whole(self._file, self._file.opened, self._request, self._threads)
            if not table.num_rows:
                raise self._no_rows()
            places = list(range(self.n_columns))
            yield table.rename_columns([f"{j}" for j in places]).select(places[start:])
            return
        bounds = [*range(0, self.n_columns, width), self.n_columns]
        spool = Spool(work, len(bounds) - 1)
        for lines in self._rows(self._lines(_WORK)):
            spool.add(_tiles(lines, bounds))
            self.on_spooled(len(lines.data))
        for tile, (begin, end) in enumerate(pairwise(bounds)):
            if start < end:  # nothing keeps a group while the next one is read
                skip = max(0, start - begin)
                yield _after(self._group(spool.read(tile), self._titles[begin:end]), skip)
        spool.remove()

    def _size(self) -> tuple[int, int]:
        """Return the number of lines at the most, and bytes of text."""
        n_lines = n_bytes = 0
        with self._explained(), self._file.opened() as stream:
            while block := stream.read(1 << 20):
                n_lines += max(block.count(b"\n"), block.count(b"\r"))
                n_bytes += len(block)
        return n_lines + 1, n_bytes

    def _rows(self, parts: Iterable[Lines]) -> Iterator[Lines]:
        """Yield the lines after the one that names the columns, which have as many fields."""
        header = True
        n_rows = 0
        for part in parts:
            lines = part.rest(1) if header else part
            header = False
            if not len(lines):
                continue
            n_fields = lines.n_fields()
            wrong = np.flatnonzero(n_fields != self.n_columns)
            if len(wrong):
                raise self._ragged(int(n_fields[wrong[0]]), self.n_columns)
            n_rows += len(lines)
            yield lines
        if not n_rows:
            raise self._no_rows()

    def whole(self) -> pa.Table:
        """Read all columns, by tiles of columns."""
        bounds = [*range(0, self.n_columns, _TILE), self.n_columns]
        pieces = [_tiles(lines, bounds) for lines in self._rows(self._lines(_WORK))]
        columns: list[Any] = []
        for (begin, end), tile in zip(pairwise(bounds), zip(*pieces, strict=True), strict=True):
            columns += self._table(b"".join(tile), self._titles[begin:end]).columns
        return pa.table(columns, names=self._titles)


def _after(group: pa.Table | NDArray[Any], skip: int) -> pa.Table | NDArray[Any]:
    """Return a group of columns without the first ones."""
    if isinstance(group, np.ndarray):
        return group[:, skip:]
    return group.select(list(range(skip, group.num_columns)))


def _tiles(lines: Lines, bounds: list[int]) -> list[bytes]:
    """Return the text of the columns between the bounds, line by line."""
    view = memoryview(lines.data)
    pieces = []
    first = lines.first_cut[:-1]
    begin = lines.begin
    for bound in bounds[1:]:
        last = bound == bounds[-1]
        end = lines.end if last else lines.cuts[first + bound - 1]
        texts = [view[b:e] for b, e in zip(begin.tolist(), end.tolist(), strict=True)]
        pieces.append(b"\n".join([*texts, b""]))
        begin = end + 1
    return pieces


class TransposedTextInput(_Text):
    """A file whose lines are columns, each beginning with its name; the first one names the rows.

    That first line may lack a field above the names, as R writes it.
    """

    names: Sequence[str]
    _above = 1  # lines before those that are columns

    def __init__(self, text: TextFile, request: Request) -> None:
        super().__init__(text, request)
        self._rows = self._header()
        names: list[str] = []
        wanted = 0
        for lines in self._columns(0, _WORK):
            n_fields = lines.n_fields()
            wanted = wanted or int(n_fields[0])
            wrong = np.flatnonzero(n_fields != wanted)
            if len(wrong):
                raise self._ragged(int(n_fields[wrong[0]]), wanted)
            ends = np.append(lines.cuts, 0)[lines.first_cut[:-1]] if wanted > 1 else lines.end
            data = lines.data
            with self._explained():
                names += [
                    unquoted(data[b:e]).decode("utf-8")
                    for b, e in zip(lines.begin.tolist(), ends.tolist(), strict=True)
                ]
        if not names:
            raise self._no_rows()
        if wanted == 1:
            raise ValueError(
                f"{self._function}: {self._path} has one field in each line where "
                f"{self._delimiter!r} separates them. Hint: separator (--separator) names another "
                "sign."
            )
        if len(self._rows) == wanted:
            self._rows = self._rows[1:]
        if not self._rows or len(self._rows) != wanted - 1:
            raise self._ragged(wanted, len(self._rows))
        self._before = self._n_describing()
        self._rows = self._rows[self._before :]
        self.n_rows, self.cell_bytes = len(self._rows), _CELL_BYTES
        self.names = names
        self.n_columns = len(names)

    def _n_describing(self) -> int:
        """Return how many fields after the name describe a column; warns that they are left out."""
        count = describing(self._rows)
        warn_of(self._rows[:count], self._path.name, self._function)
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

    def _columns(self, start: int, work: int) -> Iterator[Lines]:
        """Yield the lines from `start` on, those above the columns not counted."""
        seen = 0
        for lines in self._lines(work):
            skip = max(0, start + self._above - seen)
            seen += len(lines)
            if skip < len(lines):
                yield lines.rest(skip)

    def groups(self, start: int, work: Path) -> Iterator[pa.Table | NDArray[Any]]:
        """Yield groups of lines as columns."""
        begin = start
        for lines in self._columns(start, _SPLIT_WORK):
            end = begin + len(lines)
            yield self._group(self._turned(lines), self.names[begin:end])
            begin = end

    def _turned(self, lines: Lines) -> bytes:
        """Return the text of some lines as columns."""
        columns = [lines.fields(i)[self._before + 1 :] for i in range(len(lines))]
        rows = map(self._delimiter.encode().join, zip(*columns, strict=True))
        return b"".join(row + b"\n" for row in rows)


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


def text_options(request: Request) -> Any:
    """Return Arrow's options that turn text into values."""
    function, na_values, decimal = request.function, request.na_values, request.decimal
    if decimal not in (".", ","):
        raise ValueError(f"{function}: decimal must be '.' or ',', got {decimal!r}.")
    usual = pa_csv.ConvertOptions().null_values
    return pa_csv.ConvertOptions(
        null_values=[*usual, *map(str, na_values)],
        strings_can_be_null=True,
        quoted_strings_can_be_null=bool(na_values),
        decimal_point=decimal,
    )


def check_digits(
    table: pa.Table,
    options: Any,
    parsed: Callable[[Any], pa.Table],
    function: str,
    titles: Sequence[str] = (),
) -> None:
    """Refuse numbers in text of more digits than float64 has, where these tell them apart.

    Arrow reads whole numbers beyond 2**63 as float64. `parsed` reads the text of the table again,
    with options; it is asked to where a number is beyond 2**53. `titles` are the names of the
    columns where the table has others.
    """
    places = [
        j
        for j, column in enumerate(table.columns)
        if pa.types.is_float64(column.type) and _largest(column) >= LARGEST_EXACT
    ]
    if not places:
        return
    names = [table.schema.field(j).name for j in places]
    texts = parsed(_as_text(options, names))
    for i, j in enumerate(places):
        name = titles[j] if titles else names[i]
        texts_of = [text for text in texts.column(i).unique().to_pylist() if text is not None]
        numbers = [Decimal(text.strip().replace(options.decimal_point, ".")) for text in texts_of]
        numbers = [number for number in numbers if number.is_finite()]
        if any(_is_long_integer(text) for text in texts_of):
            raise ValueError(too_large(function, name))
        refuse_merged(numbers, describe(name), function)


def _is_long_integer(text: str) -> bool:
    """Tell whether a text is an integer of more digits than the text of any float64 needs."""
    digits = text.strip().lstrip("+-")
    return digits.isdecimal() and len(digits.strip("0")) > _MOST_DIGITS


def _largest(column: pa.ChunkedArray) -> float:
    values = np.abs(column.to_numpy())
    return float(np.max(values, initial=0.0, where=np.isfinite(values)))


def _as_text(options: Any, names: list[str]) -> Any:
    """Return options of conversion that read some columns, as text."""
    return pa_csv.ConvertOptions(
        null_values=options.null_values,
        strings_can_be_null=True,
        quoted_strings_can_be_null=options.quoted_strings_can_be_null,
        decimal_point=options.decimal_point,
        column_types=dict.fromkeys(names, pa.string()),
        include_columns=names,
    )


def ends_in_quote(table: pa.Table, text: TextFile) -> bool:
    """Return whether the text of a table ends within a quoted field, which Arrow does not mind.

    The last field then is all that comes after its quote, be it most of the file, and the line end.
    """
    last = table.column(table.num_columns - 1)[-1].as_py() if table.num_rows else None
    if not (isinstance(last, str) and last.endswith("\n")):
        return False
    try:
        with text.opened() as stream:
            for _ in lines_of(stream, text.sign, 1 << 20):
                pass
    except UnclosedQuote:
        return True
    return False


def text_bytes(path: Path, request: Request, delimiter: str) -> int:
    """Return the bytes that a table of text takes at least, judged by the fields of its begin.

    A number takes eight bytes, and its code one.
    """
    text = TextFile.of(path, delimiter, request)
    if text.size <= _HEAD or path.suffix.lower() in COMPRESSIONS:
        return text.size
    with text.opened() as stream:
        head = stream.read(_HEAD)
    n_fields = head.count(text.sign) + head.count(b"\n")
    return int(text.size * max(1.0, 0.9 * 9 * n_fields / len(head)))


def _delimited(name: str, title: str, suffixes: tuple[str, ...], delimiter: str) -> Format:
    """Return the record of text with a delimiter."""
    return Format(
        name,
        title,
        suffixes,
        read=partial(read_text, delimiter=delimiter),
        groups=partial(open_text, delimiter=delimiter),
        write=partial(write_text, delimiter=delimiter),
        n_bytes=partial(text_bytes, delimiter=delimiter),
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
    ".arff": "scipy.io.arff.loadarff, text as bytes,",
    ".libsvm": "sklearn.datasets.load_svmlight_file",
    ".svmlight": "sklearn.datasets.load_svmlight_file",
    ".mtx": "scanpy.read_10x_mtx",
    ".loom": "anndata.io.read_loom",
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
