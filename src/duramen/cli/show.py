"""Results in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duramen.reports import Run
from duramen.results.text import printable

_LONGEST = 4000  # characters of a line
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Shown:
    """A column of a table in the terminal."""

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
) -> None:
    """Print lines, a table, further lines, and where the results lie.

    Parameters
    ----------
    before, after : sequence of str
        Lines above and below the table.
    columns : sequence of Shown
        The table, at least one column; without cells it is left out.
    more : int
        Number of features that the table leaves out.
    out : Path
        Folder of the results.
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
    console.print(_line(f"Wrote {out}: report.html, result.csv, result.parquet, run.json"))


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


def _bar(share: float, longest: int) -> str:
    eighths = round(8 * longest * max(0.0, share))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
