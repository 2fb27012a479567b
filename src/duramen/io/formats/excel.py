"""Workbooks of spreadsheets: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods)."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pickle
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.data.memory import available_bytes
from duramen.io.formats import workbook_process
from duramen.io.formats.format import Format, Request
from duramen.io.formats.text import without_empty
from duramen.io.formats.workbook import write_workbook
from duramen.io.formats.workbook_extent import check_extent
from duramen.support.text import first_line, quoted
from duramen.support.warning import warn

if TYPE_CHECKING:
    import pyarrow as pa


def read_excel(path: Path, request: Request) -> pa.Table:
    """Read a sheet of a workbook, the first one by default, whose first row names the columns."""
    import pyarrow as pa

    function = request.function
    _require_calamine(path, function)
    with _reading(path, function) as reader:
        sheet = _chosen(reader.answer(), path, request)
        if path.suffix.lower() in _OF_XML:
            check_extent(path, sheet, function)
        rows = reader.rows(sheet, request.skip_rows)
    if not rows:
        raise ValueError(f"{function}: sheet {quoted(sheet)} of {path} is empty")
    names = ["" if cell is None else _text(cell) for cell in rows[0]]
    cells = zip(*rows[1:], strict=True) if len(rows) > 1 else ((),) * len(names)
    missing = frozenset((*_MISSING, *map(str, request.na_values)))
    return without_empty(pa.table([_column(one, missing) for one in cells], names=names))


class _Reader:
    """Process that reads a workbook; see `workbook_process`."""

    def __init__(self, path: Path, function: str, process: subprocess.Popen[bytes]) -> None:
        self._path, self._function, self._process = path, function, process

    def answer(self) -> list[Any]:
        """Return what the process sends next; raises ValueError where that is an error."""
        assert self._process.stdout is not None
        try:
            sent = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise self._error("its reader has ended: too large, or damaged") from None
        if isinstance(sent, str):
            raise self._error(sent)
        return list(sent)

    def rows(self, sheet: str, skipped: int) -> list[list[Any]]:
        """Return the rows of a sheet that are not empty, but for the first so many of all."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            pickle.dump((sheet, skipped), self._process.stdin)
            self._process.stdin.flush()
        return [row for part in iter(self.answer, []) for row in part]

    def _error(self, reason: str) -> ValueError:
        reason = first_line(ValueError(reason))
        return ValueError(
            f"{self._function}: cannot read {self._path} as a workbook ({reason}); check that its "
            "extension is right, or save the sheet as CSV"
        )


@contextlib.contextmanager
def _reading(path: Path, function: str) -> Iterator[_Reader]:
    """Start the process that reads a workbook, and end it."""
    modules = [os.path.abspath(place) for place in sys.path if os.path.isabs(place)]
    arguments = json.dumps([modules, str(path.absolute()), _memory(path)])
    command = [sys.executable, "-P", workbook_process.__file__, arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield _Reader(path, function, process)
        finally:
            process.kill()


# Texts of cells that are missing values: empty cells, and errors of formulas.
_MISSING = ("", "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "NA", "NaN")


def _memory(path: Path) -> int:
    """Return the bytes of memory that the reader of a workbook may take."""
    size = path.stat().st_size
    with contextlib.suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    wanted = _LEAST_BYTES + _BYTES_OF_A_BYTE * size
    available = available_bytes()
    return wanted if available is None else min(wanted, available)


def _require_calamine(path: Path, function: str) -> None:
    """Raise ModuleNotFoundError unless the package that reads workbooks is installed."""
    try:
        import_module("python_calamine")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{function}: {path.name} needs the package python-calamine; pip install "
            "duramen[excel], or save the sheet as CSV"
        ) from None


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
    import pyarrow as pa

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
