"""Summary of a result: heading, table and notes, as text and as HTML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from duramen.configuration import get_config
from duramen.results.columns import Column
from duramen.results.fields import note_lines
from duramen.support.arrays import FloatArray, native_frame
from duramen.support.text import aligned, escaped, printable

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
    lines = ['<div class="duramen-result">']
    for heading, rows, below in parts:
        lines += [f"<p><strong>{_line(heading[0])}</strong>", *map(_below, heading[1:]), "</p>"]
        lines += [rows, *(f"<p>{_line(line)}</p>" for line in below)]
    if settings:
        lines.append(f'<p style="opacity: 0.7"><small>{_line(settings)}</small></p>')
    return "\n".join([*filter(None, lines), "</div>"])


def table(columns: Sequence[Column]) -> str:
    """Return a table, its numbers flush right, and bars beside the columns that have them.

    At most 1000 rows and 20 columns are written.
    """
    if not columns or not columns[0].cells:
        return ""
    shown = columns[:_MOST_COLUMNS]
    titles = [cell for column in shown for cell in _titles(column)]
    bodies = [body for column in shown for body in _bodies(column)]
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
    bodies = []
    for i, value in enumerate(values.tolist()):
        length = abs(value) * scale
        start, color = (zero, ACCENT) if value >= 0 else (zero - length, AGAINST)
        whisker = ""
        if whiskers is not None:
            a, b = (1 + (float(end[i]) - low) * scale for end in whiskers)
            ends = f"M{a:.1f} 6H{b:.1f}M{a:.1f} 4v4M{b:.1f} 4v4"
            whisker = f'<path d="{ends}" stroke="currentColor"/>'
        bodies.append(
            f'<svg width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true">'
            f'<rect x="{start:.1f}" y="2" width="{length:.1f}" height="8" fill="{color}"/>'
            f"{whisker}</svg>"
        )
    return bodies


def _side(column: Column) -> str:
    return f"text-align: {'left' if column.left else 'right'}"


def _line(text: str) -> str:
    return escape(printable(text, _LONGEST_LINE))


def _below(text: str) -> str:
    return f"<br>{_line(text)}"


ROWS = 10
"""Rows that a result shows unless `set_config` says otherwise."""

_SETTINGS = {
    "criterion": "criterion",
    "max_features": "K",
    "n_trees": "trees",
    "n_permutations": "permutations",
    "n_resamples": "resamples",
    "n_rows": "rows",
    "seed": "seed",
}
_DIGITS_OF_FINGERPRINT = 8


@dataclass(frozen=True)
class Summary:
    """Heading, table and notes of a result."""

    # Lines above the table, the first one the name of the result and its sizes.
    heading: tuple[str, ...]
    columns: Sequence[Column] = ()  # the table; without rows it is left out
    below: tuple[str, ...] = ()  # lines below the table, such as `hidden`
    notes: tuple[str, ...] = ()  # limits of the result, a sentence each
    then: Summary | None = None  # a second table with its own heading

    def parts(self) -> Iterator[Summary]:
        """Yield this summary and those that follow it."""
        yield self
        if self.then is not None:
            yield from self.then.parts()

    def text(self) -> str:
        """Return the summary as lines of text."""
        return "\n\n".join("\n".join(map(escaped, part._lines())) for part in self.parts())

    def _lines(self) -> Iterator[str]:
        yield from self.heading
        if self.columns and len(self.columns[0].cells):
            yield from aligned(
                [column.title for column in self.columns],
                [column.cells for column in self.columns],
                right=[not column.left for column in self.columns],
            )
        yield from self.below
        yield from note_lines(self.notes)

    def html(self, settings: str = "") -> str:
        """Return the summary as static HTML, with `settings` as its last line."""
        return page(
            (
                (
                    part.heading,
                    table(part.columns),
                    (*part.below, *(f"note: {note}" for note in part.notes)),
                )
                for part in self.parts()
            ),
            settings,
        )


class Summarized(ABC):
    """Base of what shows itself: as text, and as a table with bars in a notebook.

    A class says once what it shows, in `_summary`.
    """

    _rows_shown = ROWS

    @abstractmethod
    def _summary(self, rows: int) -> Summary:
        """Return the heading, at most so many rows of the table, and the notes."""

    def summary(self, rows: int = ROWS) -> Summary:
        """Return the heading, at most so many rows of the table, and the notes."""
        return self._summary(rows)

    def _shown(self) -> Summary:
        rows = get_config()["max_rows"]
        return self._summary(self._rows_shown if rows is None else rows)

    def __repr__(self) -> str:
        return self._shown().text()

    def _repr_html_(self) -> str | None:
        if get_config()["display"] != "html":
            return None
        return self._shown().html(settings_line(getattr(self, "metadata", {})))


class Framed(Summarized):
    """Base of what becomes a data frame too."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name."""

    def to_frame(self) -> Any:
        """Return a data frame; its columns are those of `columns`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns())


def settings_line(metadata: Mapping[str, Any]) -> str:
    """Return the settings, seed, data and version of a result on one line."""
    inner = [value for value in metadata.values() if isinstance(value, Mapping)]
    parts = []
    for key, word in _SETTINGS.items():
        setting = next(
            (settings[key] for settings in (metadata, *inner) if settings.get(key) is not None),
            None,
        )
        if isinstance(setting, str | int | float):
            parts.append(f"{word} {setting}")
    if isinstance(data := metadata.get("fingerprint"), str):
        parts.append(f"data {data[:_DIGITS_OF_FINGERPRINT]}")
    if isinstance(versions := metadata.get("versions"), Mapping) and "duramen" in versions:
        parts.append(f"duramen {versions['duramen']}")
    return " · ".join(parts)
