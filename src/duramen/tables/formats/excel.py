"""Workbooks of spreadsheets: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

import datetime
import shlex
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.results.text import first_line, quoted
from duramen.results.warning import warn
from duramen.tables.formats.format import Format, Request
from duramen.tables.formats.workbook import write_workbook

if TYPE_CHECKING:
    import pyarrow as pa


def read_excel(path: Path, request: Request) -> pa.Table:
    """Read a sheet of a workbook, the first one by default, whose first row names the columns."""
    import pyarrow as pa

    calamine, function = _calamine(path, request.function), request.function
    try:
        book = calamine.load_workbook(str(path))
        sheet = _chosen(book.sheet_names, path, request)
        rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
    except (calamine.CalamineError, OSError) as error:
        raise ValueError(f"{function}: cannot read {path} ({first_line(error)})") from None
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError(f"{function}: sheet {quoted(sheet)} of {path} is empty")
    names = ["" if cell is None else _text(cell) for cell in rows[0]]
    cells = zip(*rows[1:], strict=True) if len(rows) > 1 else ((),) * len(names)
    missing = frozenset((*_MISSING, *map(str, request.na_values)))
    return pa.table([_column(one, missing) for one in cells], names=names)


# Texts of cells that are missing values: empty cells, and errors of formulas.
_MISSING = ("", "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "NA", "NaN")


def _calamine(path: Path, function: str) -> Any:
    """Return the package that reads workbooks.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed.
    """
    try:
        return import_module("python_calamine")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{function}: {path.name} needs the package python-calamine; pip install "
            "duramen[excel], or save the sheet as CSV"
        ) from None


def _chosen(sheets: list[str], path: Path, request: Request) -> str:
    """Return the name of the sheet to read; warn where it is one of several."""
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
    import pyarrow as pa

    values = [None if isinstance(cell, str) and cell.strip() in missing else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        whole = all(value is None or float(value).is_integer() for value in values)
        typed = [None if value is None else int(value) for value in values] if whole else values
        return pa.array(typed, pa.int64() if whole and kinds else pa.float64())
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {datetime.date, datetime.datetime}:
        return pa.array([_moment(value) for value in values], pa.timestamp("ms"))
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _moment(day: Any) -> Any:
    """Return the begin of a day; other moments and missing values as they are."""
    if day is None or isinstance(day, datetime.datetime):
        return day
    return datetime.datetime(day.year, day.month, day.day)


def _text(cell: Any) -> str:
    """Return a cell as it is shown: whole numbers without a decimal point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


EXCEL = Format(
    "excel",
    "Workbook",
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    read=read_excel,
    write=write_workbook,
    written=(".xlsx",),
    sheets=True,
)
