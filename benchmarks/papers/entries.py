"""Entries: a table or a number of a paper, and the verdicts on its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

# A value that is a multiple of a unit up to rounding errors is not cut below it.
_ROUNDING = 1e-9


def decimals(printed: str) -> int:
    """Return the number of digits after the decimal point."""
    return len(printed.partition(".")[2])


@dataclass(frozen=True)
class Value:
    """A printed value and ours.

    Attributes
    ----------
    what : str
        What it is of, such as a feature.
    printed : str
        As in the paper; no other number of these modules is typed in.
    ours : float
        The same, computed here.
    how : {"rounded", "cut", "above", "about"}
        How the digits were printed; "above" for a power of ten that is exceeded, "about" for a
        multiple of one, which may be rounded or cut.
    error : float
        Largest difference by chance, where the printed value is of a finite forest.
    erratum : str
        Anchor in docs/errata.md, where the printed value is wrong.
    corrected : str
        The value that is right there, printed in the same way.
    """

    what: str
    printed: str
    ours: float
    how: Literal["rounded", "cut", "above", "about"] = "rounded"
    error: float = 0.0
    erratum: str = ""
    corrected: str = ""

    def agrees(self, printed: str | None = None) -> bool:
        """Tell whether our value is a printed one; by default that of the paper, corrected."""
        wanted = printed or self.corrected or self.printed
        if self.how == "above":
            return self.ours > float(wanted)
        if self.how == "about":
            unit = 10.0 ** math.floor(math.log10(self.ours))
            leading = self.ours / unit
            return float(wanted) in (unit * math.floor(leading), unit * round(leading))
        unit = 10.0 ** -decimals(wanted)
        if self.error:
            return abs(self.ours - float(wanted)) <= self.error + unit
        return self.shown(decimals(wanted)) == f"{float(wanted):.{decimals(wanted)}f}"

    def shown(self, digits: int) -> str:
        """Return our value with so many digits, as those of the paper were made."""
        value = self.ours
        if self.how == "cut":
            value = math.trunc(value * 10**digits + math.copysign(_ROUNDING, value)) / 10**digits
        return f"{value + 0.0:.{digits}f}"

    def verdict(self) -> str:
        """Return the word in the table."""
        if not self.agrees():
            return "DIFFERS"
        if self.erratum:
            return f"as [corrected](errata.md#{self.erratum}): {self.corrected}"
        if self.error:
            return "within chance"
        return "equal" if self.how in ("rounded", "cut") else "as printed"


@dataclass(frozen=True)
class Entry:
    """A table or number of a paper.

    Attributes
    ----------
    name : str
        For the command line.
    title : str
        What it shows.
    source : str
        Paper, table or equation.
    values : callable
        Computes the values.
    exact : bool
        Whether every printed digit is compared: a change of the last one would be noticed.
    """

    name: str
    title: str
    source: str
    values: Callable[[], Iterable[Value]]
    exact: bool = True


def row(
    what: str,
    printed: str,
    ours: Sequence[float],
    labels: Sequence[str],
    how: Literal["rounded", "cut"] = "rounded",
) -> list[Value]:
    """Return the values of a row of a table, printed with spaces between them."""
    texts = printed.split()
    return [
        Value(f"{what}, {label}".strip(", "), text, float(number), how)
        for text, number, label in zip(texts, ours, labels, strict=True)
    ]
