"""Aligned plain-text tables for results that print themselves."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from duramen.support.arrays import FloatArray

_WIDEST = 40
_LONGEST_QUOTED, _LONGEST_REASON = 100, 200
_DECIMALS = 8


def aligned(
    header: Sequence[str], columns: Sequence[Sequence[str]], *, right: Sequence[bool]
) -> list[str]:
    """Return the lines of a table, each column as wide as its widest cell; some flush right."""
    shown = [
        [*map(printable, (title, *cells))] for title, cells in zip(header, columns, strict=True)
    ]
    widths = [max(map(width, cells)) for cells in shown]
    lines = []
    for row in zip(*shown, strict=True):
        cells = []
        for cell, wide, flush in zip(row, widths, right, strict=False):
            blank = " " * (wide - width(cell))
            cells.append(blank + cell if flush else cell + blank)
        lines.append("  ".join(cells).rstrip())
    return lines


def printable(text: str, widest: int = _WIDEST) -> str:
    """Return `text` on one line: control characters escaped, the middle of long names cut."""
    if len(text) <= widest and text.isascii() and text.isprintable():
        return text
    # Combining characters take no cells, so that the number of characters is bounded as well.
    ends = (text[:widest], text[-widest:])
    safe = escaped(text if len(text) <= 4 * widest else "".join(ends))
    if len(text) <= 4 * widest and width(safe) <= widest:
        return safe
    room = (widest - 1) // 2
    return f"{_first_cells(safe, room)}…{_first_cells(safe[::-1], room)[::-1]}"


def quoted(name: object) -> str:
    """Return a name from the data for a message: as `repr` has it, its middle cut where long."""
    if isinstance(name, str) and len(name) > _LONGEST_QUOTED:
        half = _LONGEST_QUOTED // 2
        return repr(f"{name[:half]}…{name[-half:]}")
    return repr(name)


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an error, on one short line."""
    lines = str(error).strip().splitlines()
    return printable(lines[0], _LONGEST_REASON) if lines else type(error).__name__


def read_utf8(path: Path, function: str) -> str:
    """Read a text file without an option for its encoding.

    Raises
    ------
    ValueError
        If it is not UTF-8 text; names the file and the first wrong byte.
    """
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise ValueError(
            f"{function}: {path} must be UTF-8 text, got byte {data[error.start]:#04x} at offset "
            f"{error.start} (line {line}). Hint: save it with the encoding UTF-8"
        ) from None


def escaped(text: str) -> str:
    """Return `text` with control characters, and others that no terminal shows, escaped."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def _first_cells(text: str, cells: int) -> str:
    used = 0
    for i, c in enumerate(text):
        used += width(c)
        if used > cells:
            return text[:i]
    return text


def as_number(value: Any) -> float | None:
    """Return a value or text as a number, or None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def parsed_size(text: str) -> int | None:
    """Return a size such as 512MB or 1.5GiB in bytes, None where the text is none."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?)\s*(?:([kmgt])(i?))?b?", text.strip().lower())
    if match is None:
        return None
    power = "kmgt".index(match[2]) + 1 if match[2] else 0
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 1:
        return f"{seconds:.1g} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min" if seconds < 600 else f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"


def width(text: str) -> int:
    """Return the number of terminal cells that `text` takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def fixed(values: FloatArray, digits: int) -> list[str]:
    """Return numbers with equal decimals, such that the largest shows `digits` digits."""
    most = float(np.abs(values).max(initial=0.0))
    decimals = 0 if most == 0 else max(0, digits - 1 - math.floor(math.log10(most)))
    return [
        f"{value:.{decimals}f}" if decimals <= _DECIMALS else f"{value:.{digits}g}"
        for value in values
    ]


def joined(words: Sequence[str], *, shown: int) -> str:
    """Return the first words, separated by commas, and the number of further words."""
    more = [f"and {len(words) - shown:,} more"] if len(words) > shown else []
    return ", ".join([*words[:shown], *more])
