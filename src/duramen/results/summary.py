"""Summary of a result: heading, table and notes, as text and as HTML."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen.configuration import get_config
from duramen.results.archive import Savable
from duramen.support.arrays import FloatArray, native_frame
from duramen.support.text import aligned, escaped, fixed, printable

ACCENT = "#0072b2"
"""Blue of Okabe and Ito, which colorblind readers see."""
AGAINST = "#b04a00"
"""Vermilion of Okabe and Ito, darker; colorblind readers tell it from the blue."""
ROWS = 10
"""Rows that a result shows unless `set_config` says otherwise."""

Kind = Literal["rank", "name", "words", "number"]
"""What cells are: places from 1, names that the rows are about, other words, or numbers."""


class Bar(NamedTuple):
    """A bar beside a cell, with an error bar; lengths are fractions of the room for it."""

    length: float
    low: float | None = None  # ends of the error bar
    high: float | None = None
    faint: bool = False  # whether its color is muted


@dataclass(frozen=True, eq=False)
class Column(Savable):
    """Column of a table: in a text, a notebook, a terminal, a page, and, if named, a file.

    One of numbers may come without cells, which `take` adds for the rows that are shown.
    """

    title: str = ""  # on a page; empty for a column of files alone
    cells: Sequence[str] = ()  # one text a row
    kind: Kind = "number"
    minor: int = 0  # columns with the largest number are left out first in narrow terminals
    least: int | None = None  # characters that a narrow terminal leaves to words; None for all
    bars: FloatArray | None = None  # numbers that are drawn as bars beside the texts
    whiskers: tuple[FloatArray, FloatArray] | None = None  # lower and upper ends of the error bars
    faint: Sequence[bool] | None = None  # rows whose bars are muted
    name: str = ""  # in files
    numbers: NDArray[Any] | None = None  # what files have in place of the cells
    digits: int = 5  # of cells that are made from the numbers; 0 for p-values and rates

    @property
    def left(self) -> bool:
        """True if texts are flush left."""
        return self.kind in ("name", "words")

    @property
    def values(self) -> NDArray[Any] | list[str]:
        """The numbers, or the texts, for a file."""
        return list(self.cells) if self.numbers is None else self.numbers

    def take(self, rows: int | NDArray[np.integer]) -> Column:
        """Return the column of some rows, or of the first ones, with its numbers as cells."""
        if isinstance(rows, int):
            rows = np.arange(min(rows, len(self.values)))
        places, ends = rows.tolist(), self.whiskers
        numbers = None if self.numbers is None else self.numbers[rows]
        cells = [self.cells[i] for i in places] if self.cells else []
        if numbers is not None and not cells:
            plain = np.ma.filled(numbers, 0)
            if plain.dtype.kind in "iu":
                cells = [f"{k:,}" for k in plain.tolist()]
            else:
                cells = fixed(plain, self.digits) if self.digits else small(plain)
            for i in np.flatnonzero(np.ma.getmaskarray(numbers)).tolist():
                cells[i] = ""
        return replace(
            self,
            cells=cells,
            bars=None if self.bars is None else self.bars[rows],
            whiskers=None if ends is None else (ends[0][rows], ends[1][rows]),
            faint=None if self.faint is None else [self.faint[i] for i in places],
            numbers=numbers,
        )

    def drawn(self) -> list[Bar]:
        """Return the bars as fractions of the largest end; numbers below 0 have no length."""
        if self.bars is None:
            return []
        ends = (self.bars, self.bars) if self.whiskers is None else self.whiskers
        most = float(np.max(ends[1], initial=0.0)) or 1.0
        lengths, lows, highs = (np.clip(x / most, 0.0, 1.0).tolist() for x in (self.bars, *ends))
        faint = self.faint or [False] * len(lengths)
        if self.whiskers is None:
            lows = highs = [None] * len(lengths)
        return [Bar(*parts) for parts in zip(lengths, lows, highs, faint, strict=True)]


def features(
    names: Iterable[str], index: NDArray[np.integer] | None = None, title: str = "feature"
) -> list[Column]:
    """Return the columns of the ranks, from 1, and the names of features, or of some of them."""
    shown = list(names) if index is None else [tuple(names)[j] for j in index]
    return [places(len(shown)), Column(title, shown, "name")]


def places(n: int, title: str = "") -> Column:
    """Return the column of the places 1, ..., n."""
    return Column(title, [str(i + 1) for i in range(n)], "rank")


def hidden(total: int, shown: int, what: str = "") -> tuple[str, ...]:
    """Return the line that counts the rows that are not shown, or no line if all are.

    `what` is in the plural, which a single row would not agree with: its line has the total.
    """
    if (n := total - shown) <= 0:
        return ()
    of_all = f" of {total:,}" if n == 1 else ""
    return (f"... and {n:,} more{f'{of_all} {what}' if what else ''}",)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural but for 1."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def percents(*fractions: float, n: int) -> list[str]:
    """Return fractions of `n` rows as percentages with as few decimals as are honest.

    Below 1,000 rows a decimal is noise. Different fractions are different texts; 0% and 100% are
    exact to nine digits.
    """
    fractions = tuple(round(fraction, 9) for fraction in fractions)  # sums of rounded numbers
    for decimals in range(n >= 1000, 8):
        texts = [f"{100 * fraction:.{decimals}f}%" for fraction in fractions]
        ends = [float(text[:-1]) in (0, 100) for text in texts]
        exact = [fraction in (0, 1) for fraction in fractions]
        if ends == exact and len(set(texts)) == len(set(fractions)):
            break
    return texts


def small(numbers: Iterable[float]) -> list[str]:
    """Return p-values and rates as text of two digits."""
    return [f"{number:.2g}" for number in numbers]


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
        """Yield this summary and the following summaries."""
        yield self
        if self.then is not None:
            yield from self.then.parts()

    def text(self) -> str:
        """Return the summary as lines of text."""
        parts = []
        for part in self.parts():
            lines = [*part.heading]
            if part.columns and len(part.columns[0].cells):
                lines += aligned(
                    [column.title for column in part.columns],
                    [column.cells for column in part.columns],
                    right=[not column.left for column in part.columns],
                )
            lines += part.below
            for note in part.notes:
                lines += textwrap.wrap(f"note: {note}", _WIDTH_OF_NOTES, subsequent_indent="  ")
            parts.append("\n".join(map(escaped, lines)))
        return "\n\n".join(parts)

    def html(self, settings: str = "") -> str:
        """Return the summary as static HTML, with `settings` as its last line.

        Colors are those of the page, but for the bars: nothing here depends on a theme, a style
        sheet or a script.
        """

        def safe(line: str) -> str:
            return escape(printable(line, _LONGEST_LINE))

        lines = ['<div class="duramen-result">']
        for part in self.parts():
            first, *others = map(safe, part.heading)
            lines += [f"<p><strong>{first}</strong>", *(f"<br>{line}" for line in others), "</p>"]
            if part.columns and len(part.columns[0].cells):
                lines += _table(part.columns)
            below = (*part.below, *(f"note: {note}" for note in part.notes))
            lines += [f"<p>{safe(line)}</p>" for line in below]
        if settings:
            lines.append(f'<p style="opacity: 0.7"><small>{safe(settings)}</small></p>')
        return "\n".join([*lines, "</div>"])


_WIDTH_OF_NOTES = 100
_LONGEST_LINE = 1000
_WIDTH, _HEIGHT = 120, 12  # of a bar


def _table(columns: Sequence[Column]) -> list[str]:
    """Return the lines of a table, its numbers flush right, bars beside the columns with some."""
    titles, bodies = [], []
    for column in columns:
        style = f"text-align: {'left' if column.left else 'right'}"
        titles.append(f'<th scope="col" style="{style}">{escape(printable(column.title))}</th>')
        cells = (escape(printable(cell)) for cell in column.cells)
        bodies.append([f'<td style="{style}">{cell}</td>' for cell in cells])
        if column.bars is not None:
            titles.append("<td></td>")
            drawn = bars(column.bars, column.whiskers)
            bodies.append([f'<td style="text-align: left">{bar}</td>' for bar in drawn])
    rows = (f"<tr>{''.join(cells)}</tr>" for cells in zip(*bodies, strict=True))
    head = f"<thead><tr>{''.join(titles)}</tr></thead>"
    return ["<table>", head, "<tbody>", *rows, "</tbody>", "</table>"]


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
    lower, upper = (values, values) if whiskers is None else whiskers
    low = min(0.0, float(np.min([values, lower], initial=0.0)))
    high = max(0.0, float(np.max([values, upper], initial=0.0)))
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


class Summarized(ABC):
    """Base of objects that print as text, and as a table with bars in a notebook.

    A class says once what it shows, in `_summary`.
    """

    _rows_shown = ROWS

    @abstractmethod
    def _summary(self, rows: int) -> Summary:
        """Return the heading, at most `rows` rows of the table, and the notes."""

    def summary(self, rows: int = ROWS) -> Summary:
        """Return the heading, at most `rows` rows of the table, and the notes."""
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
    """Base of objects that also become a data frame."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name."""

    def to_frame(self) -> Any:
        """Return the data frame of `columns`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns())


_SETTINGS = {
    "criterion": "criterion",
    "max_features": "K",
    "n_trees": "trees",
    "n_permutations": "permutations",
    "n_resamples": "resamples",
    "n_rows": "rows",
    "seed": "seed",
}


def settings_line(metadata: Mapping[str, Any]) -> str:
    """Return the settings, seed, data and version of a result on one line."""
    inner = [value for value in metadata.values() if isinstance(value, Mapping)]
    parts = []
    for key, word in _SETTINGS.items():
        settings = (some[key] for some in (metadata, *inner) if some.get(key) is not None)
        if isinstance(setting := next(settings, None), str | int | float):
            parts.append(f"{word} {setting}")
    if isinstance(data := metadata.get("fingerprint"), str):
        parts.append(f"data {data[:8]}")
    if isinstance(versions := metadata.get("versions"), Mapping) and "duramen" in versions:
        parts.append(f"duramen {versions['duramen']}")
    return " · ".join(parts)
