"""Static HTML of summaries: tables with bars, everything escaped, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from duramen.results.columns import Column
from duramen.support.arrays import FloatArray
from duramen.support.text import printable

ACCENT = "#0072b2"
"""Blue of Okabe and Ito, which colorblind readers see."""
AGAINST = "#b04a00"
"""Vermilion of Okabe and Ito, darker; colorblind readers tell it from the blue."""

_MOST_ROWS, _MOST_COLUMNS, _LONGEST_LINE = 1000, 20, 1000
_WIDTH, _HEIGHT = 120, 12


def page(parts: Iterable[tuple[Sequence[str], str, Sequence[str]]], settings: str) -> str:
    """Return headings, tables and the lines below them, with the settings as the last line.

    Colors are those of the page, but for the bars: nothing here depends on a theme, a style sheet
    or a script.
    """
    found = ['<div class="duramen-result">']
    for heading, rows, below in parts:
        found += [f"<p><strong>{_line(heading[0])}</strong>", *map(_below, heading[1:]), "</p>"]
        found += [rows, *(f"<p>{_line(line)}</p>" for line in below)]
    if settings:
        found.append(f'<p style="opacity: 0.7"><small>{_line(settings)}</small></p>')
    return "\n".join([*filter(None, found), "</div>"])


def table(columns: Sequence[Column]) -> str:
    """Return a table, its numbers flush right, and bars beside the columns that have them.

    At most 1000 rows and 20 columns are written.
    """
    if not columns or not columns[0].cells:
        return ""
    shown = columns[:_MOST_COLUMNS]
    titles = [cell for one in shown for cell in _titles(one)]
    bodies = [body for one in shown for body in _bodies(one)]
    rows = ["".join(cells) for cells in zip(*bodies, strict=True)]
    return "\n".join(
        [
            "<table>",
            f"<thead><tr>{''.join(titles)}</tr></thead>",
            "<tbody>",
            *(f"<tr>{row}</tr>" for row in rows),
            "</tbody>",
            "</table>",
            *_left_out(len(columns[0].cells) - len(rows), "row"),
            *_left_out(len(columns) - len(shown), "column"),
        ]
    )


def _left_out(count: int, noun: str) -> list[str]:
    return [f"<p>{noun}s not shown here: {count}</p>"] if count else []


def _titles(column: Column) -> list[str]:
    title = f'<th scope="col" style="{_side(column)}">{escape(printable(column.title))}</th>'
    return [title] if column.bars is None else [title, "<td></td>"]


def _bodies(column: Column) -> list[list[str]]:
    """Return the cells of a column, and those of its bars."""
    style = _side(column)
    texts = [
        f'<td style="{style}">{escape(printable(cell))}</td>' for cell in column.cells[:_MOST_ROWS]
    ]
    if column.bars is None:
        return [texts]
    drawn = bars(column.bars[:_MOST_ROWS], column.whiskers)
    return [texts, [f'<td style="text-align: left">{bar}</td>' for bar in drawn]]


def bars(values: FloatArray, whiskers: tuple[FloatArray, FloatArray] | None = None) -> list[str]:
    """Return numbers as bars from 0 on one scale, drawn as SVG, with their error bars.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Lengths, finite; below 0 in the other color.
    whiskers : pair of ndarrays of float64, shape (n,), optional
        Lower and upper ends of the error bars, in the color of the text.

    Returns
    -------
    list of str
        One svg element a number, hidden from screen readers: the number stands beside it.
    """
    n = len(values)
    lower, upper = (values, values) if whiskers is None else whiskers
    low = min(0.0, float(np.min([values, lower[:n]], initial=0.0)))
    high = max(0.0, float(np.max([values, upper[:n]], initial=0.0)))
    scale = (_WIDTH - 2) / ((high - low) or 1.0)
    zero = 1 - low * scale
    found = []
    for i, value in enumerate(values.tolist()):
        length = abs(value) * scale
        start, color = (zero, ACCENT) if value >= 0 else (zero - length, AGAINST)
        whisker = ""
        if whiskers is not None:
            a, b = (1 + (float(end[i]) - low) * scale for end in whiskers)
            ends = f"M{a:.1f} 6H{b:.1f}M{a:.1f} 4v4M{b:.1f} 4v4"
            whisker = f'<path d="{ends}" stroke="currentColor"/>'
        found.append(
            f'<svg width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true">'
            f'<rect x="{start:.1f}" y="2" width="{length:.1f}" height="8" fill="{color}"/>'
            f"{whisker}</svg>"
        )
    return found


def _side(column: Column) -> str:
    return f"text-align: {'left' if column.left else 'right'}"


def _line(text: str) -> str:
    return escape(printable(text, _LONGEST_LINE))


def _below(text: str) -> str:
    return f"<br>{_line(text)}"
