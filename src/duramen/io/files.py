"""Tables on disk, whole: read from and written to files of the formats in the catalogue."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from duramen.data.schema import shown_repeated
from duramen.data.text_numbers import warned
from duramen.io import formats
from duramen.io.formats.arrow import with_missing
from duramen.io.formats.format import Request, require_room
from duramen.support.arrow import is_text, pa, pc, without_dictionary
from duramen.support.files import expanded, replacing
from duramen.support.text import as_number
from duramen.support.threads import require_arrow_threads


def read_table(
    path: str | os.PathLike[str],
    *,
    na_values: Sequence[str] = (),
    decimal: str = ".",
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str = "utf-8",
    skip_rows: int = 0,
    member: str | None = None,
    as_text: Sequence[str] = (),
    function: str = "read_table",
) -> pa.Table:
    r"""Read a table from a file.

    In CSV and TSV files the first line names the columns; types are inferred; empty fields and the
    unquoted words NA, NaN, N/A, null and their like are missing.

    Parameters
    ----------
    path : path
        A file whose ending names its format, one of `duramen.io.catalogue` that can be read;
        text may be compressed (.gz, .bz2, .zst, .zip). Lines before the table that begin with #
        are left out, and so are columns without a name and a value.
    na_values : sequence of str
        Further words that are missing values, also as numbers, such as "-99". In CSV and TSV files,
        quoted or not; with any given, quoted empty fields and quoted words such as NA are missing
        too.
    decimal : str
        Decimal point of the numbers in CSV and TSV files: "." or ",".
    separator : str, optional
        Character between two fields of CSV and TSV files; by default a comma or a tab, or the one
        of comma, semicolon, tab, pipe and, where each line has a number, space that cuts the first
        lines into as many fields each, with a warning.
    sheet : str, optional
        Sheet of a workbook; by default the first, with a warning where there are others.
    encoding : str
        Encoding of text, such as "latin-1".
    skip_rows : int
        Number of lines of text, or rows of a sheet, before the one that names the columns.
    member : str, optional
        File to read, in a .zip archive of several.
    as_text : sequence of str
        Columns of text that stay text, although all of their values are numbers with a unit, with
        thousands separators or the like, as in `numbers_in_text`; others are read as numbers, with
        a warning.
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
        If the format is not known, or the file is empty, has no rows, repeats a column name, is
        not UTF-8 text, has rows of unequal length, ends within a quoted field, or is damaged.
    MemoryError
        If the file is larger than the memory that is left.

    Examples
    --------
    >>> from pathlib import Path
    >>> from duramen.io import read_table
    >>> _ = Path("ages.csv").write_text("name,age\nAda,36\nBo,NA\n")
    >>> read_table("ages.csv").to_pydict()
    {'name': ['Ada', 'Bo'], 'age': [36, None]}
    """
    path = expanded(path, function)
    request = Request(
        function,
        na_values=na_values,
        decimal=decimal,
        separator=separator,
        sheet=sheet,
        encoding=encoding,
        skip_rows=skip_rows,
        member=member,
    )
    chosen = formats.checked_file(path, function, "read")
    require_arrow_threads(function)
    require_room(path.stat().st_size, path, function)
    missing = () if chosen.text else request.na_values
    table = with_missing(formats.whole(path, chosen, request), missing)
    repeated = shown_repeated(table.column_names)
    if repeated:
        below = f"skip_rows={request.skip_rows + 1} (--skip-rows {request.skip_rows + 1})"
        more = f", or, if the next line names the columns, give {below}"
        numbers = [name for name in table.column_names if as_number(name) is not None]
        if 2 * len(numbers) > table.num_columns:
            more = "; or, as where the file has no line of names, write one above its first line"
        raise ValueError(
            f"{function}: {path} has more than one column named {repeated}; rename them"
            + (more if chosen.text or chosen.sheets else "")
        )
    if table.num_rows == 0:
        raise ValueError(f"{function}: {path} has column names but no rows")
    text = formats.text_of(path, request)
    sure = text is not None and text.delimiter == ","  # so that no comma is a decimal point
    return warned(table, function, as_text=as_text, decimal=request.decimal, thousands=sure)


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
        A file whose ending names its format, one of `duramen.io.catalogue` that can be
        written.
    spreadsheet_safe : bool, default=False
        Whether text in CSV and TSV files that a spreadsheet would evaluate as a formula, such as a
        name that begins with ``=``, ``+``, ``-`` or ``@``, gets an apostrophe before it. Without
        it text is written as it is. Parquet files hold no formulas, and in workbooks text is never
        one.
    function : str
        The function or command that the user called, for errors.

    Raises
    ------
    ValueError
        If the ending is another one.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from duramen.io import write_table
    >>> table = pa.table({"name": ["=1+1", "age"], "importance": [0.5, -0.1]})
    >>> write_table(table, "safe.csv", spreadsheet_safe=True)
    >>> print(Path("safe.csv").read_text())
    "name","importance"
    "'=1+1",0.5
    "age",-0.1
    <BLANKLINE>
    """
    path = expanded(path, function)
    chosen = formats.format_of(path)
    written = () if chosen is None else chosen.written or chosen.suffixes
    if chosen is None or chosen.write is None or path.suffix.lower() not in written:
        writable = formats.listed("write")
        raise ValueError(f"{function}: cannot write {path.name!r}; files may be {writable}")
    if spreadsheet_safe and chosen.text:
        table = without_formulas(table)
    with replacing(path) as file:
        chosen.write(table, file)


# What a formula begins with, also in full width, after whitespace and invisible characters.
_SIGN = "[=+\\-@＝＋－＠]"
_BLANK = r"[\p{Z}\p{C}]*"
_BEGIN = rf"^(?:[\t\r\n]|{_BLANK}{_SIGN})"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"
# Spreadsheets that separate cells by another sign end a cell at it, even between quotes.
_INSIDE = rf"([;,|\t\r\n\"]{_BLANK})({_SIGN})"


def without_formulas(table: pa.Table) -> pa.Table:
    """Return a table whose text no spreadsheet evaluates; categories become strings.

    An apostrophe is put before text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line
    break and is no number, and before such a sign that follows a separator of cells inside the
    text. Names of columns are treated as text is; numbers stay as they are.
    """
    columns = []
    for column in table.columns:
        text = is_text(without_dictionary(column).type)
        columns.append(_guarded(column.cast(pa.large_string())) if text else column)
    names = _guarded(pa.chunked_array([pa.array(table.column_names, pa.large_string())]))
    return pa.table(columns, names=names.to_pylist())


def _guarded(text: pa.ChunkedArray) -> pa.ChunkedArray:
    inside = pc.replace_substring_regex(text, _INSIDE, r"\1'\2")
    formula = pc.and_(
        pc.match_substring_regex(text, _BEGIN),
        pc.invert(pc.match_substring_regex(text, _NUMBER)),
    )
    mark, nothing = (pa.scalar(text, pa.large_string()) for text in ("'", ""))
    return pc.if_else(formula, pc.binary_join_element_wise(mark, inside, nothing), inside)
