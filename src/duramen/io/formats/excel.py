"""Workbooks of spreadsheets: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

import contextlib
import datetime
import posixpath
import re
import shlex
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from duramen.data.memory import available_bytes, require_memory
from duramen.io.formats import libraries
from duramen.io.formats.format import Format, Request, explained
from duramen.io.formats.native_reader import NativeReader
from duramen.io.formats.text import without_empty
from duramen.support.arrow import pa
from duramen.support.checks import extra_package
from duramen.support.text import quoted
from duramen.support.warning import warn


def read_excel(path: Path, request: Request) -> pa.Table:
    """Read a sheet of a workbook, the first one by default, whose first row names the columns."""
    function = request.function
    subject = f"{function}: {path.name}"
    extra_package("python_calamine", subject, "excel", ", or save the sheet as CSV")
    n_bytes = _size(path)
    reader = NativeReader(libraries.Workbook, path, _memory(n_bytes), n_bytes)
    hint = "check its extension, or save the sheet as CSV"
    with explained(path, function, "a workbook", hint):
        sheets = reader.answer("sheets")
    sheet = _chosen(sheets, path, request)
    if path.suffix.lower() in _OF_XML:
        check_extent(path, sheet, function)
    rows: list[list[Any]] = []
    n_cells = 0
    with explained(path, function, "a workbook", hint):
        for part in reader.parts("rows", sheet, request.skip_rows):
            rows += part
            n_cells += sum(map(len, part))
            require_memory(
                n_cells * _CELL_BYTES,
                what=f"a table of the {n_cells:,} cells that were read of {path}",
                function=function,
                hint="save it as CSV, or use a smaller extract of it",
            )
    if not rows:
        raise ValueError(f"{function}: sheet {quoted(sheet)} of {path} is empty")
    names = ["" if cell is None else _text(cell) for cell in rows[0]]
    cells = zip(*rows[1:], strict=True) if len(rows) > 1 else ((),) * len(names)
    missing = frozenset((*_MISSING, *map(str, request.na_values)))
    return without_empty(pa.table([_column(column, missing) for column in cells], names=names))


# Texts of cells that are missing values: empty cells, and errors of formulas.
_MISSING = ("", "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "NA", "NaN")


def _size(path: Path) -> int:
    """Return the bytes of a workbook, not compressed."""
    with contextlib.suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(path) as archive:
        return sum(part.file_size for part in archive.infolist())
    return path.stat().st_size


def _memory(n_bytes: int) -> int:
    """Return the bytes of memory that the reader of a workbook of some bytes may take."""
    wanted, available = _LEAST_BYTES + _BYTES_OF_A_BYTE * n_bytes, available_bytes()
    return wanted if available is None else min(wanted, available)


def _chosen(sheets: list[str], path: Path, request: Request) -> str:
    """Return the name of the sheet to read; warn where it is one of several."""
    if not sheets:
        raise ValueError(f"{request.function}: {path} is a workbook without sheets")
    if request.sheet is not None:
        if request.sheet not in sheets:
            raise ValueError(
                f"{request.function}: sheet must be one of {', '.join(map(quoted, sheets))} of "
                f"{path.name}, got {request.sheet!r}."
            )
        return request.sheet
    if len(sheets) > 1:
        warn(
            f"{request.function}: {path.name} has {len(sheets)} sheets, of which the first, "
            f"{quoted(sheets[0])}, was read. Hint: sheet={sheets[-1]!r}, or on the command line "
            f"--sheet {shlex.quote(sheets[-1])}, reads another."
        )
    return sheets[0]


def _column(cells: tuple[Any, ...], missing: frozenset[str]) -> pa.Array:
    """Return the cells of a column as an array of one type, text where they are of several."""
    values = [None if isinstance(cell, str) and cell.strip() in missing else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        whole = all(value is None or _is_whole(value) for value in values)
        typed = [None if value is None else int(value) for value in values] if whole else values
        return pa.array(typed, pa.int64() if whole and kinds else pa.float64())
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {datetime.date, datetime.datetime}:
        return pa.array([_moment(value) for value in values], pa.timestamp("ms"))
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _is_whole(value: float) -> bool:
    """Tell whether a number is whole, and fits into 64 bits."""
    return float(value).is_integer() and -(2**63) <= value < 2**63


def _moment(day: Any) -> Any:
    """Return the begin of a day; other moments and missing values as they are."""
    if day is None or isinstance(day, datetime.datetime):
        return day
    return datetime.datetime(day.year, day.month, day.day)


def _text(cell: Any) -> str:
    """Return a cell as it is shown: whole numbers without a decimal point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


_OF_XML = (".xlsx", ".xlsm")
# Memory of the reader: at least, and more for each byte of the file, not compressed.
_LEAST_BYTES, _BYTES_OF_A_BYTE = 1 << 30, 50


# Of a sheet: rows with the names of the columns, columns, characters of a cell.
MOST_ROWS, MOST_COLUMNS, _MOST_TEXT = 1_048_576, 16_384, 32_767
# Characters that the format cannot hold.
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def require_writer(function: str) -> Any:
    """Return the package that writes workbooks.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed.
    """
    return extra_package("openpyxl", f"{function}: .xlsx", "excel", ", or use CSV")


def write_workbook(table: pa.Table, file: IO[bytes]) -> None:
    """Write a table to a workbook of one sheet.

    Text is stored as text: a spreadsheet evaluates none of it, whatever it begins with. Missing
    values and numbers that are not finite are empty cells.

    Raises
    ------
    ValueError
        If the table has more rows or columns than a sheet.
    """
    openpyxl = require_writer("write_table")
    if table.num_rows >= MOST_ROWS or table.num_columns > MOST_COLUMNS:
        raise ValueError(
            f"write_table: a sheet holds {MOST_ROWS - 1:,} rows and {MOST_COLUMNS:,} columns, "
            f"got {table.num_rows:,} and {table.num_columns:,}. Hint: write .csv or .parquet"
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("result")
    text = partial(openpyxl.cell.WriteOnlyCell, sheet)
    sheet.append([_cell(text, name) for name in table.column_names])
    for batch in table.to_batches(max_chunksize=4096):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([_cell(text, value) for value in row])
    book.save(file)


def _cell(text: Callable[[str], Any], value: Any) -> Any:
    """Return a cell with a value, text as text, of which `text` makes a cell."""
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    cell = text(_ODD.sub("\ufffd", str(value))[:_MOST_TEXT])
    cell.data_type = "s"  # also where it begins with a sign of equality
    return cell


_CELL_BYTES = 32  # of a cell of the rectangle, filled or not
_FILLED_BYTES = 250  # of a filled one, in the reader and in the table
_SMALL, _FEWEST = 1 << 22, 1 / 100  # cells; below this fraction of filled ones, some are far away
_PIECE, _LONGEST_ROW, _LONGEST_LIST = 1 << 22, 1 << 26, 1 << 24  # bytes
_PLACE = re.compile(rb"\br=[\"']([A-Za-z]+)([0-9]+)[\"']")


@dataclass
class Extent:
    """Filled cells of a sheet: their number, and their first and last rows and columns, from 1."""

    n_rows: int = 0  # with cells or without
    filled: int = 0
    rows: tuple[int, int] = (MOST_ROWS, 0)
    columns: tuple[int, int] = (MOST_COLUMNS, 0)

    @property
    def cells(self) -> int:
        """Cells of the rectangle."""
        return _length(self.rows) * _length(self.columns)

    @property
    def last(self) -> str:
        """Name of the last cell of the rectangle."""
        return f"{_letters(self.columns[1])}{self.rows[1]}"

    def include(self, row: int, column: int) -> None:
        """Extend the rectangle to a cell."""
        self.rows = min(self.rows[0], row), max(self.rows[1], row)
        self.columns = min(self.columns[0], column), max(self.columns[1], column)


def check_extent(path: Path, sheet: str, function: str) -> None:
    """Check that a sheet fits into memory, before it is read.

    Nothing is checked where its part of the file is not found: its reader says what is wrong.

    Raises
    ------
    ValueError
        If a cell lies outside of what a sheet can hold, or far away from the others.
    MemoryError
        If there is too little memory.
    """
    extent = Extent()
    broken = (zipfile.BadZipFile, ElementTree.ParseError, zlib.error, KeyError, EOFError)
    with (
        contextlib.suppress(*broken, NotImplementedError, RuntimeError, OSError, ValueError),
        zipfile.ZipFile(path) as archive,
        archive.open(_part(archive, sheet)) as file,
    ):
        extent = _extent_of(file)
    where = f"sheet {quoted(sheet)} of {path}"
    if extent.n_rows > MOST_ROWS + 1:  # what follows the last one is counted, too
        raise ValueError(f"{function}: {where} is damaged: it has more than {MOST_ROWS:,} rows")
    if extent.rows[1] > MOST_ROWS or extent.columns[1] > MOST_COLUMNS:
        raise ValueError(
            f"{function}: {where} is damaged: it has a cell {extent.last}, and sheets end at "
            f"{_letters(MOST_COLUMNS)}{MOST_ROWS}"
        )
    spans = f"it spans {_length(extent.rows):,} rows and {_length(extent.columns):,} columns"
    if extent.cells > _SMALL and extent.filled < _FEWEST * extent.cells:
        raise ValueError(
            f"{function}: {where} has a cell far away from the others: {spans}, down to "
            f"{extent.last}, and {extent.filled:,} cells are filled. Hint: clear the cells beyond "
            "the table, or save the table as CSV"
        )
    require_memory(
        extent.cells * _CELL_BYTES + extent.filled * _FILLED_BYTES,
        what=f"{where}, as {spans},",
        function=function,
        hint="save it as CSV, or use a smaller extract of it",
    )


def _part(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the part of the file with a sheet (KeyError)."""
    book, relations = map(
        partial(_parsed, archive), ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
    )
    names = {_value(node, "name"): _value(node, "id") for node in book.iter() if _is(node, "sheet")}
    targets = {node.get("Id"): node.get("Target", "") for node in relations}
    return posixpath.normpath(posixpath.join("/xl", targets[names[sheet]])).lstrip("/")


def _parsed(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    """Return a part of the file that lists sheets; a small file may hold one without end."""
    if archive.getinfo(name).file_size > _LONGEST_LIST:
        raise KeyError(name)
    return ElementTree.fromstring(archive.read(name))


def _is(node: Any, name: str) -> bool:
    return str(node.tag).rpartition("}")[2] == name


def _value(node: Any, name: str) -> str | None:
    """Return an attribute, in whatever namespace."""
    return next((v for key, v in node.attrib.items() if key.rpartition("}")[2] == name), None)


def _extent_of(file: IO[bytes]) -> Extent:
    """Return the extent of the filled cells: in each row the first and the last are looked at."""
    extent, left = Extent(), file.read(_PIECE)
    root = re.search(rb"<(\w+:)?worksheet\b", left)
    prefix = root[1] or b"" if root else b""
    while piece := file.read(_PIECE):
        *rows, rest = left.split(b"</%srow>" % prefix)
        _look(rows, prefix, extent)
        left = rest + piece
        if len(rest) > _LONGEST_ROW or extent.n_rows > MOST_ROWS + 1:
            return extent
    _look(left.split(b"</%srow>" % prefix), prefix, extent)
    return extent


def _look(rows: list[bytes], prefix: bytes, extent: Extent) -> None:
    extent.n_rows += len(rows)
    cell, ends = b"<%sc " % prefix, (b"</%sv>" % prefix, b"</%sis>" % prefix)
    for row in rows:
        extent.filled += sum(row.count(end) for end in ends)
        first = min((at for at in map(row.find, ends) if at >= 0), default=-1)
        for value in (first, max(map(row.rfind, ends))):
            begin = row.rfind(cell, 0, value) if value >= 0 else -1
            place = _PLACE.search(row, begin, row.find(b">", begin)) if begin >= 0 else None
            if place is not None:
                extent.include(int(place[2][:20]), _number(place[1][:20]))


def _number(letters: bytes) -> int:
    """Return the number of a column, from 1."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _letters(number: int) -> str:
    text = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def _length(ends: tuple[int, int]) -> int:
    return max(0, ends[1] - ends[0] + 1)


EXCEL = Format(
    "excel",
    "Workbook",
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    read=read_excel,
    write=write_workbook,
    written=(".xlsx",),
    sheets=True,
    begins=b"PK",
)
