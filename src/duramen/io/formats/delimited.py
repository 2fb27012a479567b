"""Delimited text: how it becomes values, and what is wrong with text that cannot be read."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from duramen.data.columns import LARGEST_EXACT, describe, merged, refusal_of, too_large
from duramen.io.formats.format import Request
from duramen.io.formats.text_file import TextFile, UnclosedQuote, is_data, lines_of
from duramen.support.arrow import pa, pa_csv
from duramen.support.text import first_line

_MOST_DIGITS = 17  # significant ones that tell a float64 from all others
_FOLLOWING = 20  # rows after one of another length, by which it is told whether it is a header
_LONGEST_NUMBER = 1024  # characters that a field without text takes at the most


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


def comma_separated(text: TextFile | None) -> bool:
    """Return whether commas separate the fields of a text, so that none is a decimal point."""
    return text is not None and text.delimiter == ","


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
        pair = merged(numbers)
        if pair is not None:
            raise refusal_of(pair, describe(name), function)


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


def last_cell(table: pa.Table) -> Any:
    """Return the value in the last row of the last column; None where there is no row."""
    return table.column(table.num_columns - 1)[-1].as_py() if table.num_rows else None


def ends_in_quote(
    table: pa.Table,
    end: Callable[[int], bytes],
    opened: Callable[[], AbstractContextManager[Any]],
    delimiter: str,
) -> bool:
    """Return whether the text of a table ends within a quoted field, which Arrow does not mind.

    The last field then is all that comes after its quote, be it most of the file. `end` returns so
    many bytes from the end of the text, or all where there are fewer; `opened` opens the text, to
    be read from its beginning where its end looks as if.
    """
    if not table.num_rows:
        return False
    borders = (b"\n", b"\r", delimiter.encode())
    last = last_cell(table)
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


def explain_encoding(text: TextFile) -> None:
    """Raise for the first byte that is not UTF-8, if there is one."""
    lines, rest = 1 + text.skipped, b""
    try:
        offset = text.skipped_bytes()
        with text.opened() as stream:
            while block := stream.read(1 << 20):
                data = rest + block
                try:
                    data.decode("utf-8")
                    rest = b""
                    good = len(data)
                except UnicodeDecodeError as error:
                    good = error.start
                    if len(data) - good >= 4 or error.reason != "unexpected end of data":
                        _raise_encoding(text, offset + good, data, good, lines)
                    rest = data[good:]
                lines += data.count(b"\n", 0, good)
                offset += good
    except OSError:
        return
    if rest:
        _raise_encoding(text, offset, rest, 0, lines)


def _raise_encoding(
    text: TextFile, offset: int, data: bytes, position: int, lines: int
) -> NoReturn:
    line = lines + data.count(b"\n", 0, position)
    raise ValueError(
        f"{text.function}: {text.path} is not UTF-8 text: byte {data[position]:#04x} at offset "
        f"{offset} (line {line}); it may be latin-1 or cp1252. Hint: encoding='latin-1' "
        "(--encoding latin-1) or encoding='cp1252' (--encoding cp1252)"
    )


def explain_ragged(text: TextFile) -> None:
    """Raise for the first row that is longer or shorter than the header, if there is one."""
    delimiter = text.delimiter
    try:
        with (
            text.opened() as stream,
            io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as lines,
        ):
            rows = csv.reader(lines, delimiter=delimiter)
            header: list[str] = []
            while not header:  # empty lines before it do not count
                header = next(rows)
            for row in rows:
                if row and len(row) != len(header):
                    at = text.skipped + rows.line_num
                    following = [other for other in islice(rows, _FOLLOWING) if other]
                    raise _ragged(text, header, row, at, following)
    except (OSError, csv.Error, StopIteration):
        return


def _ragged(
    text: TextFile, header: list[str], row: list[str], line: int, following: list[list[str]]
) -> ValueError:
    """Return the error about a row that is longer or shorter than the header."""
    delimiter, fields = text.delimiter, f"{len(row)} {'field' if len(row) == 1 else 'fields'}"
    where = f"{text.function}: {text.path}"
    what = f"{where} has {fields} in line {line}, but its header has {len(header)}"
    alike = len(row) > len(header) and all(len(other) == len(row) for other in following)
    if alike and not (following and is_data(row, following)):
        skip = line - 1
        return ValueError(
            f"{what}. Hint: if that line names the columns, skip_rows={skip} (--skip-rows {skip}) "
            "begins there; if it is a row, add the missing name to the header"
        )
    if alike and header[1:2] == [str(len(row) - 1)]:  # as in files of scikit-learn
        return ValueError(
            f"{what}: the numbers of rows and of features. Hint: put a line with {len(row)} names "
            "in its place"
        )
    if len(row) > len(header) and not any(row[len(header) :]):
        return ValueError(f"{what}; remove the {delimiter!r} at the end of that line")
    return ValueError(
        f"{what}; mend that line (quote fields that hold the delimiter {delimiter!r}), or check "
        "that the delimiter is right"
    )


@contextmanager
def explained(text: TextFile) -> Iterator[None]:
    """Raise ValueError that says what is wrong with a file where reading or parsing fails."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, csv.Error, UnicodeError, UnclosedQuote) as error:
        explain_encoding(text)
        explain_ragged(text)
        what = first_line(error) if str(error) else "a quote is not closed"
        raise ValueError(f"{text.function}: cannot read {text.path} ({what})") from None
