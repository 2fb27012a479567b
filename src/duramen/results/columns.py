"""Columns of the tables with which results show themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray


@dataclass(frozen=True)
class Column:
    """Column of a summary."""

    title: str
    cells: Sequence[str]  # one text a row
    left: bool = False  # whether texts are flush left, as names are
    bars: FloatArray | None = None  # numbers that a notebook draws as bars beside the texts
    whiskers: tuple[FloatArray, FloatArray] | None = None  # lower and upper ends of the error bars


def features(
    names: Iterable[str], index: NDArray[np.integer] | None = None, title: str = "feature"
) -> list[Column]:
    """Return the columns of the ranks, from 1, and the names of features, or of some of them."""
    chosen = list(names) if index is None else [tuple(names)[j] for j in index]
    places = [str(i + 1) for i in range(len(chosen))]
    return [Column("", places), Column(title, chosen, left=True)]


def hidden(total: int, shown: int, what: str = "") -> tuple[str, ...]:
    """Return the line that counts the rows that are not shown, or no line if all are."""
    tail = f" {what}" if what else ""
    return (f"... and {total - shown} more{tail}",) if total > shown else ()


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural but for 1."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def small(numbers: Iterable[float]) -> list[str]:
    """Return p-values and rates as text of two digits."""
    return [f"{number:.2g}" for number in numbers]
