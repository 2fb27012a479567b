"""Columns of the tables with which results show themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.results.archive import Savable
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

Kind = Literal["rank", "name", "words", "number"]
"""What cells are: places from 1, names that the rows are about, other words, or numbers."""


@dataclass(frozen=True)
class Bar:
    """A bar beside a cell, with an error bar; lengths are fractions of the room for it."""

    length: float
    low: float | None = None  # ends of the error bar
    high: float | None = None
    faint: bool = False  # whether its color is muted


@dataclass(frozen=True, eq=False)
class Column(Savable):
    """Column of a table: in a text, a notebook, a terminal, a page, and, if named, a file.

    One of numbers may come without cells, which `written` adds for the rows that are shown.
    """

    title: str = ""  # on a page; empty for a column of files alone
    cells: Sequence[str] = ()  # one text a row
    kind: Kind = "number"
    minor: int = 0  # those of the largest number are left out first where there is little room
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

    def first(self, n: int) -> Column:
        """Return the column of the first rows."""
        return self.take(np.arange(min(n, len(self.values))))

    def take(self, rows: NDArray[np.integer]) -> Column:
        """Return the column of some rows."""
        chosen, ends = rows.tolist(), self.whiskers
        return replace(
            self,
            cells=[self.cells[i] for i in chosen] if self.cells else (),
            bars=None if self.bars is None else self.bars[rows],
            whiskers=None if ends is None else (ends[0][rows], ends[1][rows]),
            faint=None if self.faint is None else [self.faint[i] for i in chosen],
            numbers=None if self.numbers is None else self.numbers[rows],
        )

    def written(self) -> Column:
        """Return the column with its numbers written as cells, if it has no cells."""
        if len(self.cells) or self.numbers is None:
            return self
        numbers = np.ma.filled(self.numbers, 0)
        if numbers.dtype.kind in "iu":
            texts = [f"{k:,}" for k in numbers.tolist()]
        else:
            texts = fixed(numbers, self.digits) if self.digits else small(numbers)
        masked = np.ma.getmaskarray(self.numbers)
        return replace(
            self, cells=["" if no else text for text, no in zip(texts, masked, strict=True)]
        )

    def drawn(self) -> list[Bar]:
        """Return the bars as fractions of the largest end; numbers below 0 have no length."""
        if self.bars is None:
            return []
        low_ends, high_ends = (self.bars, self.bars) if self.whiskers is None else self.whiskers
        most = float(np.max(high_ends, initial=0.0))
        lengths, lows, highs = (
            (np.clip(ends / most, 0.0, 1.0) if most > 0 else np.zeros(len(ends))).tolist()
            for ends in (self.bars, low_ends, high_ends)
        )
        faint = self.faint or [False] * len(lengths)
        return [
            Bar(length, faint=muted) if self.whiskers is None else Bar(length, low, high, muted)
            for length, low, high, muted in zip(lengths, lows, highs, faint, strict=True)
        ]


def places(n: int, title: str = "") -> Column:
    """Return the column of the places 1, ..., n."""
    return Column(title, [str(i + 1) for i in range(n)], "rank")


def features(
    names: Iterable[str], index: NDArray[np.integer] | None = None, title: str = "feature"
) -> list[Column]:
    """Return the columns of the ranks, from 1, and the names of features, or of some of them."""
    chosen = list(names) if index is None else [tuple(names)[j] for j in index]
    return [places(len(chosen)), Column(title, chosen, "name")]


def hidden(total: int, shown: int, what: str = "") -> tuple[str, ...]:
    """Return the line that counts the rows that are not shown, or no line if all are."""
    tail = f" {what}" if what else ""
    return (f"... and {total - shown} more{tail}",) if total > shown else ()


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural but for 1."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def small(numbers: Iterable[float]) -> list[str]:
    """Return p-values and rates as text of two digits."""
    return [f"{number:.2g}" for number in numbers]
