"""Workbooks of spreadsheets: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

import datetime
import re
import zipfile
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import IO, Any

from duramen.data.memory import available_bytes, require_memory
from duramen.io.formats import reader_process
from duramen.io.formats.format import Format, Request, explained
from duramen.io.formats.native_reader import NativeReader
from duramen.io.formats.text import without_empty
from duramen.support.arrow import pa
from duramen.support.checks import extra_package, warn
from duramen.support.text import quoted


def read_excel(path: Path, request: Request) -> pa.Table:
    """Read a sheet of a workbook, the first one by default, whose first row names the columns."""
    function = request.function
    extra_package("python_calamine", f"{function}: {path.name}", "excel", ", or save it as CSV")
    n_bytes, available = path.stat().st_size, available_bytes()
    with suppress(zipfile.BadZipFile, NotImplementedError, OSError), zipfile.ZipFile(path) as book:
        n_bytes = sum(part.file_size for part in book.infolist())
    memory = _LEAST_BYTES + _BYTES_OF_A_BYTE * n_bytes
    memory = memory if available is None else min(memory, available)
    reader = NativeReader(reader_process.Workbook, path, memory, n_bytes)
    rows: list[list[Any]] = []
    n_cells = 0
    hint = (
        "check its extension; clear cells far beyond the table, which make a sheet too large; or "
        "save the sheet as CSV"
    )
    with explained(path, function, "a workbook", hint):
        sheets: list[str] = reader.answer("sheets")
        if not sheets:
            raise ValueError(f"{function}: {path} is a workbook without sheets")
        sheet = sheets[0] if request.sheet is None else request.sheet
        if sheet not in sheets:
            raise ValueError(
                f"{function}: sheet must be one of {', '.join(map(quoted, sheets))} of "
                f"{path.name}, got {sheet!r}."
            )
        for part in reader.parts("rows", sheet, request.skip_rows):
            rows += part
            n_cells += sum(map(len, part))
            require_memory(
                n_cells * _CELL_BYTES,
                what=f"a table of the {n_cells:,} cells that were read of {path}",
                function=function,
                hint="save it as CSV, or use a smaller extract of it",
            )
    if request.sheet is None and len(sheets) > 1:
        warn(
            f"{function}: {path.name} has {len(sheets)} sheets, of which the first, "
            f"{quoted(sheet)}, was read. Hint: sheet={sheets[-1]!r} reads another."
        )
    if not rows:
        raise ValueError(f"{function}: sheet {quoted(sheet)} of {path} is empty")
    names = ["" if cell is None else _text(cell) for cell in rows[0]]
    cells = zip(*rows[1:], strict=True) if len(rows) > 1 else ((),) * len(names)
    missing = frozenset((*_MISSING, *map(str, request.na_values)))
    return without_empty(pa.table([_column(column, missing) for column in cells], names=names))


# Memory of the reader: at least, and more for each byte of the file, not compressed.
_LEAST_BYTES, _BYTES_OF_A_BYTE = 1 << 30, 50
_CELL_BYTES = 32  # of a cell that was read
# Texts of cells that are missing values: empty cells, and errors of formulas.
_MISSING = ("", "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "NA", "NaN")


def _column(cells: tuple[Any, ...], missing: frozenset[str]) -> pa.Array:
    """Return the cells of a column as an array of one type, text where they are of several."""
    values = [None if isinstance(cell, str) and cell.strip() in missing else cell for cell in cells]
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    if kinds <= {int, float}:
        whole = all(float(x).is_integer() and -(2**63) <= x < 2**63 for x in present)
        typed = [None if value is None else int(value) for value in values] if whole else values
        return pa.array(typed, pa.int64() if whole and present else pa.float64())
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {datetime.date, datetime.datetime}:
        midnight = datetime.time()
        moments = [
            datetime.datetime.combine(value, midnight) if type(value) is datetime.date else value
            for value in values
        ]
        return pa.array(moments, pa.timestamp("ms"))
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(cell: Any) -> str:
    """Return a cell as text, with whole numbers without a decimal point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


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

    def cell_of(value: Any) -> Any:
        if value is None or (isinstance(value, float) and not isfinite(value)):
            return None
        if isinstance(value, bool | int | float):
            return value
        cell = openpyxl.cell.WriteOnlyCell(sheet, _ODD.sub("\ufffd", str(value))[:_MOST_TEXT])
        cell.data_type = "s"  # also where it begins with a sign of equality
        return cell

    sheet.append([cell_of(name) for name in table.column_names])
    for batch in table.to_batches(max_chunksize=4096):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([cell_of(value) for value in row])
    book.save(file)


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
