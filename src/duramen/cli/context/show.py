"""Terminal output of `duramen context`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from duramen.cli.show import Shown, named, shape_words, show, taken
from duramen.reports import Run
from duramen.reports.context import found_words, relevance_words
from duramen.reports.contextual import Findings
from duramen.support.text import printable

_NAME = 16
# The longest word of a kind, which may be folded between words.
_KIND = len("complementary")
# What is left out first where the terminal is narrow; the results have it.
_SPARED = ("importance", "p", "signed")
_LINE = 400


def show_context(findings: Sequence[Findings], run: Run, top: int, out: Path) -> None:
    """Print how relevant each context is itself, what depends on it, and where the results lie."""
    lines = [_headline(run)]
    for one in findings:
        lines += relevance_words(one) if one.targets is None else []
        lines.append(f"{found_words(one)}{':' if one.count() and len(findings) == 1 else '.'}")
    rows = sum(len(one.dependent) for one in findings)
    more = [f"... and {rows - top:,} more rows in the results"] if rows > top else []
    show([printable(line, _LINE) for line in lines], _columns(findings, top), 0, out, more)


def _headline(run: Run) -> str:
    words = [f"{printable(run.file or '')}: {run.n_rows:,} rows x {run.n_features:,} variables"]
    if run.target is not None:
        words = shape_words(run)
    drawn = f"{run.settings['n_estimators']:,} trees"
    return ", ".join([*words, drawn, f"{run.settings['n_permutations']:,} permutations"])


def _columns(findings: Sequence[Findings], top: int) -> list[Shown]:
    """Return the table of what depends on the contexts, one context after the other."""
    left, parts = top, []
    context = "{value}" if len(findings) == 1 else "{name} = {value}"
    for one in findings:
        cells = one.dependent[:left]
        left -= len(cells)
        parts.append(one.table(cells, within=False, context=context))
    columns = []
    for pieces in zip(*parts, strict=True):
        column, texts = pieces[0][0], [text for _, some in pieces for text in some]
        most = _KIND if column.title == "kind" else _NAME
        number = column.holds == "number"
        columns.append(
            Shown(column.title, texts, right=True) if number else named(column.title, texts, most)
        )
    return _fitting(columns)


def _fitting(columns: list[Shown]) -> list[Shown]:
    """Leave columns out until the terminal has room for the others."""
    room, p_alone = Console().width, columns[-2].title == "p"
    for title in _SPARED:
        if sum(map(taken, columns)) > room and not (title == "p" and p_alone):
            columns = [column for column in columns if column.title != title]
    return columns
