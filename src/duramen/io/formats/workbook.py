"""Workbooks (.xlsx) as files of results: one sheet, whose text is never a formula."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

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
    try:
        return import_module("openpyxl")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{function}: .xlsx needs the package openpyxl; pip install duramen[excel], or use CSV"
        ) from None


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
