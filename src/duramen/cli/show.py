"""A report in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import rich.table
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.text import Text

from duramen.reports import Report
from duramen.results.summary import Column, hidden
from duramen.support.text import printable, width

_LONGEST = 4000  # characters of a line
_GAP = 3  # characters between two columns
_NAME = 24  # characters that names keep where the terminal is narrow
_SHORTEST = 8  # characters of names that every terminal shows
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GLUE = "\ue000"  # stands for a space at which no line ends; printable texts do not have it
_SHORT, _LONG = 8, 16  # characters of the longest bar
_FEW = 6  # columns beside which bars are drawn


def show(report: Report, top: int, out: Path, *, explain: bool = False) -> None:
    """Print conclusion, data, the first rows of the main table, remarks, and the files written.

    With `explain` also the other texts of the page: what the numbers mean, and their limits.
    """
    console = Console()

    def say(line: str) -> None:
        console.print(_line(line, console), soft_wrap=not console.is_terminal)

    for line in filter(None, (report.conclusion, *report.subject)):
        say(line)
    if (table := report.main) is not None:
        columns, left_out = fitting([column.take(top) for column in table.columns], console.width)
        if columns[0].cells:
            console.print(_drawn(columns, console.width))
        for line in hidden(table.n_rows, len(columns[0].cells), table.what):
            console.print(Text(line, style="dim"))
        if left_out and columns[0].cells:
            say(f"More columns in the results: {'; '.join(left_out)}")
    for section in report.walk():
        for line in getattr(section, "brief", ()):
            say(line)
    for title, lines in report.explanations().items() if explain else ():
        console.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            say(line)
    files = ("report.html", "result.csv", *report.further, "result.parquet", "run.json")
    console.print(_line(f"Wrote {out}: {', '.join(files)}", console))


def fitting(columns: Sequence[Column], room: int) -> tuple[list[Column], list[str]]:
    """Return the columns that fit a width in characters, and the titles of the other columns.

    Minor columns are left out, those of the largest number first, and of these the last. Names keep
    fewer characters where the others have no room, where most are to spare.
    """
    shown, gone = list(columns), set[int]()
    order = sorted(range(len(columns)), key=lambda j: (columns[j].minor, j), reverse=True)
    for j in order:
        if not columns[j].minor or sum(map(_taken, shown)) <= room:
            break
        gone.add(j)
        shown = [column for i, column in enumerate(columns) if i not in gone]
    spare = [
        max(0, (_least(column) or 0) - max(_SHORTEST, width(_title(column)))) for column in shown
    ]
    for _ in range(min(sum(map(_taken, shown)) - room, sum(spare))):
        i = spare.index(max(spare))
        spare[i] -= 1
        shown[i] = replace(shown[i], least=(_least(shown[i]) or 0) - 1)
    return shown, [columns[j].title for j in sorted(gone)]


def _widest(column: Column) -> int:
    return max((width(printable(cell)) for cell in column.cells), default=0)


def _least(column: Column) -> int | None:
    """Return the characters that a column of names keeps where the terminal is narrow."""
    most = column.least or (_NAME if column.kind == "name" else None)
    return None if most is None else min(most, _widest(column))


def _taken(column: Column) -> int:
    """Return the characters that a column takes, names as short as they may be."""
    least = _least(column)
    return _GAP + max(width(_title(column)), _widest(column) if least is None else least)


def _title(column: Column) -> str:
    return "" if column.kind == "rank" else printable(column.title)


def _drawn(columns: Sequence[Column], room: int) -> rich.table.Table:
    """Return the table, with bars as its last column if they fit."""
    table = rich.table.Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            Text(_title(column)),
            justify="left" if column.left else "right",
            style="dim" if column.kind == "rank" else "",
            overflow="fold",
            min_width=_least(column),
        )
    cells = [[Text(printable(cell)) for cell in column.cells] for column in columns]
    drawn = next((column.drawn() for column in columns if column.bars is not None), [])
    lengths = [bar.length for bar in drawn]
    whole = sum(_GAP + max(width(_title(column)), _widest(column)) for column in columns)
    free = room - whole - _GAP
    if len(columns) <= _FEW and free >= _SHORT and any(lengths):
        longest = min(free, _LONG) / max(lengths)
        table.add_column(style="cyan", no_wrap=True)
        eighths = [round(8 * longest * length) for length in lengths]
        bars = ("█" * (n // 8) + _EIGHTHS[n % 8] for n in eighths)
        cells.append([Text(bar.rstrip()) for bar in bars])
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    return table


def _line(text: str, console: Console) -> Text:
    """Return a line with escaped control characters, which names may hold.

    A terminal gets it wrapped, with both ends of an arrow and the arrow on one line.
    """
    text = printable(text, _LONGEST)
    if not console.is_terminal:
        return Text(text)
    for arrow in (" -> ", " -- "):
        text = text.replace(arrow, arrow.replace(" ", _GLUE))
    lines = Text(text).wrap(console, console.width)
    return Text("\n".join(line.plain for line in lines).replace(_GLUE, " "))
