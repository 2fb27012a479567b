"""Terminal output of `duramen select`."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, named, shape_words, show
from duramen.reports import Run
from duramen.reports.selection import Selection, found_words
from duramen.support.text import printable

_LINE = 400


def show_select(selection: Selection, run: Run, top: int, out: Path) -> None:
    """Print what was searched and how, the features found in order, and where the results lie."""
    shown = min(top, selection.n_found)
    end = ":" if shown else "."
    lines = [
        ", ".join([*shape_words(run), selection.account.run]),
        f"{found_words(selection)}{end}",
    ]
    columns = [
        Shown(column.title, texts, right=True)
        if column.holds == "number"
        else named(column.title, texts)
        for column, texts in selection.table(top)
    ]
    hidden = selection.n_found - shown
    after = [f"... and {hidden:,} more in the results"] if hidden else []
    if not selection.n_found:
        after.append(selection.account.next_step)
    show([printable(line, _LINE) for line in lines], columns, 0, out, after)
