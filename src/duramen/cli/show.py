"""Tables and lines in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duramen.reports import Run
from duramen.support.text import printable, width

_LONGEST = 4000  # characters of a line
_GAP = 3
_NAME = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Shown:
    """Column of a table in the terminal."""

    title: str
    cells: Sequence[str]
    right: bool = False
    style: str = ""
    wraps: bool = True
    least: int | None = None  # cells that it keeps where the terminal is narrow


def show(
    before: Sequence[str],
    columns: Sequence[Shown],
    more: int,
    out: Path,
    after: Sequence[str] = (),
    further: Sequence[str] = (),
) -> None:
    """Print lines, a table if it has cells, further lines, and where the results lie.

    `more` is the number of features that the table leaves out, `further` names files of results
    that only some runs write.
    """
    console = Console()
    for line in before:
        console.print(_line(line), soft_wrap=True)
    if columns[0].cells:
        console.print(_table(columns))
        if more > 0:
            console.print(Text(f"... and {more:,} more features", style="dim"))
    for line in after:
        console.print(_line(line), soft_wrap=True)
    files = ("report.html", "result.csv", *further, "result.parquet", "run.json")
    console.print(_line(f"Wrote {out}: {', '.join(files)}"))


def say(line: str) -> None:
    """Print a line."""
    Console().print(_line(line), soft_wrap=True)


def ranks(n: int) -> Shown:
    """Return the column of the ranks 1, ..., n."""
    return Shown("", [str(i + 1) for i in range(n)], right=True, style="dim")


def named(title: str, names: Sequence[str], most: int = _NAME) -> Shown:
    """Return a column of names, which keeps so many cells where the terminal is narrow."""
    widest = max((width(printable(name)) for name in names), default=0)
    return Shown(title, list(names), least=min(most, widest))


def taken(column: Shown) -> int:
    """Return the cells that a column takes, with the gap beside it, where room is short."""
    heading, least = width(column.title), column.least
    widest = max(map(width, column.cells), default=0) if least is None else least
    return _GAP + max(heading, widest)


def shape_words(run: Run) -> list[str]:
    """Say what table it was, and what the target."""
    target = f"target {printable(run.target or '')}"
    if run.classes is not None:
        target += f" of {len(run.classes)} classes"
    return [
        f"{printable(run.file or '')}: {run.n_rows:,} rows x {run.n_features:,} features",
        target,
    ]


def bars(values: Sequence[float], longest: int = 16) -> list[str]:
    """Return bars of block characters, that of the first and largest value being the longest."""
    most = values[0] if len(values) else 0.0
    return [_bar(value / most, longest) if most > 0 else "" for value in values]


def _line(text: str) -> Text:
    """Return a line whose control characters, which names may hold, are escaped."""
    return Text(printable(text, _LONGEST))


def _table(columns: Sequence[Shown]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            Text(printable(column.title)),
            justify="right" if column.right else "left",
            style=column.style,
            overflow="fold",
            min_width=column.least,
            no_wrap=not column.wraps,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _bar(fraction: float, longest: int) -> str:
    eighths = round(8 * longest * max(0.0, fraction))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
