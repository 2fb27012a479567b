"""Extent of a sheet of a workbook (.xlsx, .xlsm), which its reader takes as one full rectangle."""

from __future__ import annotations

import contextlib
import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from duramen.data.memory import require_memory
from duramen.io.formats.workbook import MOST_COLUMNS, MOST_ROWS
from duramen.support.text import quoted

_CELL_BYTES = 32  # of a cell of the rectangle, filled or not
_FILLED_BYTES = 250  # of a filled one, in the reader and in the table
_SMALL, _FEWEST = 1 << 22, 1 / 100  # cells; below this fraction of filled ones, some are far away
_PIECE, _LONGEST_ROW = 1 << 22, 1 << 26  # bytes
_PLACE = re.compile(rb"\br=[\"']([A-Za-z]+)([0-9]+)[\"']")


@dataclass
class Extent:
    """Filled cells of a sheet: their number, and their first and last rows and columns, from 1."""

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
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    names = {_value(node, "name"): _value(node, "id") for node in book.iter() if _is(node, "sheet")}
    targets = {node.get("Id"): node.get("Target", "") for node in relations}
    return posixpath.normpath(posixpath.join("/xl", targets[names[sheet]])).lstrip("/")


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
        if len(rest) > _LONGEST_ROW:
            return extent
    _look(left.split(b"</%srow>" % prefix), prefix, extent)
    return extent


def _look(rows: list[bytes], prefix: bytes, extent: Extent) -> None:
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
