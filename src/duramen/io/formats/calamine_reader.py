"""Workbooks as python-calamine reads them, for `NativeReader`."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

_CELLS = 1 << 16  # of a part


class Workbook:
    """Sheets of a workbook."""

    def __init__(self, path: str) -> None:
        _check_parts(path)
        self._book: Any = import_module("python_calamine").load_workbook(path)

    def sheets(self) -> Iterator[list[str]]:
        """Yield the list of names."""
        yield self._book.sheet_names

    def rows(self, name: str, skipped: int) -> Iterator[list[list[Any]]]:
        """Yield the rows of a sheet that have a cell, but for the first `skipped` rows."""
        sheet = self._book.get_sheet_by_name(name)
        width = sheet.width  # of the columns that are used; some versions give those before, too
        first = sheet.start[0] if sheet.start else 0
        at = -1  # number of the row; some versions begin with the first that is used
        rows: list[list[Any]] = []
        cells = 0
        for row in sheet.iter_rows() if sheet.start else ():
            used = any(cell != "" for cell in row)
            at = at + 1 if at >= 0 else first if used else at
            if used and at >= skipped:
                rows.append(row[-width:])
                cells += len(row)
            if cells > _CELLS:
                yield rows
                rows, cells = [], 0
        yield rows


def _check_parts(path: str) -> None:
    """Check the checksums of the parts of a workbook; its reader stops before those of some.

    Raises
    ------
    ValueError
        If the content of a part is not what was written.
    """
    if not zipfile.is_zipfile(path):  # as an .xls file
        return
    with suppress(NotImplementedError, RuntimeError), zipfile.ZipFile(path) as archive:
        if (name := archive.testzip()) is not None:
            raise ValueError(f"the content of its part {name} does not fit its checksum")
