"""Tables on disk: CSV, TSV, Parquet and Arrow files, by the extension of their name."""

import csv
import difflib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from duramen.results.replacing import replacing
from duramen.results.text import first_line, quoted
from duramen.tables.arrow_threads import require_arrow_threads
from duramen.tables.memory import require_memory
from duramen.tables.spreadsheets import without_formulas

if TYPE_CHECKING:
    import pyarrow as pa

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_COMPRESSIONS = {".gz", ".bz2", ".zst"}
_PARQUET = {".parquet", ".pq"}
_ARROW = {".arrow", ".feather", ".ipc"}
_LONGEST_NUMBER = 1024  # characters that a field without text takes at the most
_PACKABLE = {".npy", ".h5ad", ".bed"}
READABLE = "CSV (.csv, .csv.gz), TSV (.tsv), Parquet (.parquet, .pq) or Arrow (.arrow, .feather)"


def read_table(
    path: str | os.PathLike[str],
    *,
    na_values: Sequence[str] = (),
    decimal: str = ".",
    function: str = "read_table",
) -> "pa.Table":
    """Read a table from a file.

    In CSV and TSV files the first line names the columns; types are inferred; empty fields and the
    unquoted words NA, NaN, N/A, null and their like are missing.

    Parameters
    ----------
    path : path
        A .csv, .tsv or .tab file, also compressed (.gz, .bz2, .zst), or a .parquet, .pq, .arrow,
        .feather or .ipc file.
    na_values : sequence of str
        Further words that are missing values in CSV and TSV files, quoted or not; with any given,
        quoted empty fields and quoted words such as NA are missing too.
    decimal : str
        Decimal point of the numbers in CSV and TSV files: "." or ",".
    function : str
        The function or command that the user called, for errors.

    Returns
    -------
    pyarrow.Table
        At least one row; column names are unique.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the extension is not known, or the file is empty, has no rows, repeats a column name, is
        not UTF-8 text, has rows of unequal length, ends within a quoted field, or is damaged.
    MemoryError
        If the file is larger than the memory that is left.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        raise IsADirectoryError(f"{function}: {path} is a directory; give a file: {READABLE}")
    if not path.exists():
        raise FileNotFoundError(f"{function}: there is no file {path}{_similar_file(path)}")
    kind = _kind_of(path, function)
    size = path.stat().st_size
    if size == 0 and path.is_file():
        raise ValueError(f"{function}: {path} is empty (0 bytes)")
    require_arrow_threads(function)
    require_memory(
        size,
        what=f"the table in {path}",
        function=function,
        hint="use a smaller extract of it",
    )
    if kind in _DELIMITERS:
        options = text_options(na_values, decimal, function)
        table = _read_text(path, _DELIMITERS[kind], options, function)
    else:
        refuse_text_options(path, na_values, decimal, function)
        table = _read_binary(path, kind, function)
    _require_unique(table.column_names, path, function)
    if table.num_rows == 0:
        raise ValueError(f"{function}: {path} names its columns but has no rows")
    return table


def target_column(
    table: "pa.Table", name: str, *, function: str = "target_column"
) -> tuple["pa.Table", "pa.ChunkedArray"]:
    """Split a table into its features and its target.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        The column that is the target.
    function : str
        The function or command that the user called, for errors.

    Returns
    -------
    (features, target)
        The table without that column, and the column.

    Raises
    ------
    ValueError
        If the table lacks the column, with the closest name there is, or has no other.
    """
    names = table.column_names
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        folded = [other for other in names if other.strip().lower() == name.strip().lower()]
        found = (folded or close)[:1]
        if found:
            hint = f"did you mean {quoted(found[0])}?"
        else:
            shown = ", ".join(quoted(other) for other in names[:10])
            hint = f"its columns are {shown}" + (", ..." if len(names) > 10 else "")
        raise ValueError(f"{function}: the table has no column {quoted(name)}; {hint}")
    if len(names) == 1:
        raise ValueError(f"{function}: the table has no column but the target {quoted(name)}")
    position = names.index(name)
    return table.remove_column(position), table.column(position)


def write_table(
    table: Any,
    path: str | os.PathLike[str],
    *,
    spreadsheet_safe: bool = False,
    function: str = "write_table",
) -> None:
    """Write a table to a file, whole or not at all.

    The file is written beside its place under another name and then moved there, so that whoever
    looks sees the old file or the new one, and nothing half-written stays behind.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
        A .csv, .tsv or .parquet file.
    spreadsheet_safe : bool, default=False
        Whether text in CSV and TSV files that a spreadsheet would evaluate as a formula, such as a
        name that begins with ``=``, ``+``, ``-`` or ``@``, gets an apostrophe before it. Without
        it text is written as it is. Parquet files hold no formulas.
    function : str
        The function or command that the user called, for errors.

    Raises
    ------
    ValueError
        If the extension is another one.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from duramen.tables import write_table
    >>> table = pa.table({"name": ["=1+1", "age"], "importance": [0.5, -0.1]})
    >>> write_table(table, "safe.csv", spreadsheet_safe=True)
    >>> print(Path("safe.csv").read_text())
    "name","importance"
    "'=1+1",0.5
    "age",-0.1
    <BLANKLINE>
    """
    path = Path(path).expanduser()
    kind = path.suffix.lower()
    if kind in _DELIMITERS:
        import pyarrow.csv as pa_csv

        if spreadsheet_safe:
            table = without_formulas(table)
        options = pa_csv.WriteOptions(delimiter=_DELIMITERS[kind], quoting_style="needed")
        with replacing(path) as file:
            pa_csv.write_csv(table, file, options)
    elif kind in _PARQUET:
        import pyarrow.parquet as pq

        with replacing(path) as file:
            pq.write_table(table, file)
    else:
        raise ValueError(f"{function}: cannot write {path.name!r}; name it .csv, .tsv or .parquet")


def _kind_of(path: Path, function: str) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSIONS and suffixes[-2] in _DELIMITERS:
        return suffixes[-2]
    last = suffixes[-1] if suffixes else ""
    if last in _DELIMITERS or last in _PARQUET or last in _ARROW:
        return last
    what = f"the extension {last!r} of {path.name!r}" if last else f"{path.name!r}, no extension,"
    takers = "duramen rank and duramen select"
    hint = f". Hint: duramen pack makes a store of it, for {takers}" if last in _PACKABLE else ""
    raise ValueError(f"{function}: {what} is not known; files may be {READABLE}{hint}")


def _similar_file(path: Path) -> str:
    try:
        others = [other.name for other in path.parent.iterdir()]
    except OSError:
        return f": the folder {path.parent} does not exist"
    close = difflib.get_close_matches(path.name, others, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _read_binary(path: Path, kind: str, function: str) -> "pa.Table":
    import pyarrow as pa

    what = "a Parquet" if kind in _PARQUET else "an Arrow"
    try:
        if kind in _PARQUET:
            import pyarrow.parquet as pq

            with pq.ParquetFile(path) as file:
                table = file.read()
        else:
            table = _read_arrow(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{function}: {path} is not {what} file, or is damaged ({first_line(error)}); check "
            "that its extension says what it is"
        ) from None
    nameless = [name for name in table.column_names if name.startswith("__index_level_")]
    return table.drop_columns(nameless) if nameless else table  # pandas' row labels are no columns


def _read_arrow(path: Path) -> "pa.Table":
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as file:
        try:
            table = pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
    table.validate(full=True)  # offsets and lengths of a damaged file point anywhere
    return table


def text_options(na_values: Sequence[str], decimal: str, function: str) -> Any:
    """Return how Arrow turns text into values.

    Raises
    ------
    ValueError, TypeError
        If `decimal` is neither a point nor a comma, or `na_values` a single string.
    """
    import pyarrow.csv as pa_csv

    if isinstance(na_values, str):
        raise TypeError(
            f"{function}: na_values must be a list of words, got {na_values!r}. Hint: "
            f"na_values=[{na_values!r}]"
        )
    if decimal not in (".", ","):
        raise ValueError(f"{function}: decimal must be '.' or ',', got {decimal!r}.")
    usual = pa_csv.ConvertOptions().null_values
    return pa_csv.ConvertOptions(
        null_values=[*usual, *map(str, na_values)],
        strings_can_be_null=True,
        quoted_strings_can_be_null=bool(na_values),
        decimal_point=decimal,
    )


def refuse_text_options(path: Path, na_values: Sequence[str], decimal: str, function: str) -> None:
    """Raise ValueError where options of text are given for a file that holds none."""
    if len(na_values) or decimal != ".":
        option = "na_values" if len(na_values) else "decimal"
        raise ValueError(
            f"{function}: {option} must not be given for {path.name}, whose values have types; it "
            "is for CSV and TSV files."
        )


def _read_text(path: Path, delimiter: str, options: Any, function: str) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    def parsed(source: Any) -> "pa.Table":
        return pa_csv.read_csv(
            source,
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=options,
        )

    try:
        table = parsed(path)
        if _last_cell(table) == "" and path.is_file() and _end_of(path, 1) == delimiter.encode():
            # Without a line end, Arrow takes an empty last field for quoted if one before it is.
            with _bytes_of(path) as stream:
                table = parsed(io.BytesIO(stream.read() + b"\n"))
        table.column_names  # noqa: B018  decodes the names
    except UnicodeDecodeError:
        _explain_encoding(path, function)
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        _explain_encoding(path, function)
        _explain_ragged(path, delimiter, function)
        raise ValueError(f"{function}: cannot read {path} ({first_line(error)})") from None
    if any(pa.types.is_binary(field.type) for field in table.schema):
        _explain_encoding(path, function)
    # What comes through a pipe cannot be read again.
    if path.is_file() and ends_in_quote(
        table, lambda size: _end_of(path, size), lambda: _bytes_of(path), delimiter
    ):
        raise ValueError(f"{function}: cannot read {path} (a quote is not closed)")
    return table


def _last_cell(table: "pa.Table") -> Any:
    return table.column(table.num_columns - 1)[-1].as_py() if table.num_rows else None


def ends_in_quote(
    table: "pa.Table",
    end: Callable[[int], bytes],
    opened: Callable[[], AbstractContextManager[Any]],
    delimiter: str,
) -> bool:
    """Return whether the text of a table ends within a quoted field, which Arrow does not mind.

    The last field then is all that comes after its quote, be it most of the file.

    Parameters
    ----------
    table : pyarrow.Table
        What Arrow made of the text.
    end : callable
        Returns so many bytes from the end of the text, or all where there are fewer.
    opened : callable
        Opens the text, to be read from its beginning where its end looks as if.
    delimiter : str
        What lies between two fields.
    """
    import pyarrow as pa

    from duramen.tables.store.inputs.lines import UnclosedQuote, lines_of

    if not table.num_rows:
        return False
    borders = (b"\n", b"\r", delimiter.encode())
    last = _last_cell(table)
    if pa.types.is_string(table.schema.types[-1]) and last is not None:
        field = b'"' + last.encode("utf-8").replace(b'"', b'""')
        text = end(len(field) + 1)
        begins = text[: -len(field)] if text.endswith(field) else None
    else:
        text = end(_LONGEST_NUMBER)
        at = text.rfind(b'"')
        begins = text[:at][-1:] if at >= 0 else None
    if begins not in (b"", *borders):
        return False
    try:
        with opened() as stream:
            for _ in lines_of(stream, delimiter.encode(), 1 << 20):
                pass
    except UnclosedQuote:
        return True
    return False


def _end_of(path: Path, size: int) -> bytes:
    """Return the last bytes of a file, unpacked where it is compressed."""
    if path.suffix.lower() not in _COMPRESSIONS:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read()
    rest = b""
    with _bytes_of(path) as stream:
        while block := stream.read(1 << 20):
            rest = (rest + block)[-size:]
    return rest


@contextmanager
def _bytes_of(path: Path) -> Iterator[Any]:
    """The bytes of a file, unpacked where it is compressed."""
    import pyarrow as pa

    with pa.input_stream(path, compression="detect") as stream:
        yield stream


def _explain_encoding(path: Path, function: str) -> None:
    """Raise for the first byte that is not UTF-8, if there is one."""
    offset, lines, rest = 0, 1, b""
    try:
        with _bytes_of(path) as stream:
            while block := stream.read(1 << 20):
                data = rest + block
                try:
                    data.decode("utf-8")
                    rest = b""
                    good = len(data)
                except UnicodeDecodeError as error:
                    good = error.start
                    if len(data) - good >= 4 or error.reason != "unexpected end of data":
                        _raise_encoding(path, offset + good, data, good, lines, function)
                    rest = data[good:]
                lines += data.count(b"\n", 0, good)
                offset += good
    except OSError:
        return
    if rest:
        _raise_encoding(path, offset, rest, 0, lines, function)


def _raise_encoding(
    path: Path, offset: int, data: bytes, position: int, lines: int, function: str
) -> NoReturn:
    line = lines + data.count(b"\n", 0, position)
    if offset == 0 and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        guess = "UTF-16"
    else:
        guess = "LATIN1 or WINDOWS-1252"
    raise ValueError(
        f"{function}: {path} is not UTF-8 text: byte {data[position]:#04x} at offset {offset} "
        f"(line {line}); it may be {guess}: convert it, for instance by "
        f"iconv -f {guess.split()[0]} -t UTF-8"
    )


def _explain_ragged(path: Path, delimiter: str, function: str) -> None:
    """Raise for the first row that is longer or shorter than the header, if there is one."""
    try:
        with (
            _bytes_of(path) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text,
        ):
            rows = csv.reader(text, delimiter=delimiter)
            header = next(rows, [])
            for row in rows:
                if row and len(row) != len(header):
                    raise ValueError(
                        f"{function}: {path} has {len(row)} fields in line {rows.line_num}, but "
                        f"its header has {len(header)}; mend that line (quote fields that hold "
                        f"the delimiter {delimiter!r}), or check that the delimiter is right"
                    )
    except (OSError, csv.Error):
        return


def _require_unique(names: list[str], path: Path, function: str) -> None:
    seen: set[str] = set()
    repeated: list[str] = []
    for name in names:
        if name in seen and name not in repeated:
            repeated.append(name)
        seen.add(name)
    if repeated:
        shown = ", ".join(quoted(name) for name in repeated[:5])
        more = f" and {len(repeated) - 5} more" if len(repeated) > 5 else ""
        raise ValueError(
            f"{function}: {path} names more than one column {shown}{more}; rename them"
        )
