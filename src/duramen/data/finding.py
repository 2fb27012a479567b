"""Record of a finding, and words that findings have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duramen.support.text import quoted

_SHOWN = 5  # columns that a sentence names


@dataclass(frozen=True)
class Finding:
    """Something in a table or its target that is seldom meant.

    Attributes
    ----------
    kind : str
        "identifier", "index", "row order", "date", "stray values", "missing code", "many values",
        "constant", "duplicate", "unequal values", "numbers in text", "several units", "leak",
        "groups of rows", "within groups of rows"; of rows "similar rows", "serial dependence"; of
        the target "target identifier", "target date", "target missing", "one class", "imbalance",
        "rare class", "classes of numbers", "many classes", "whole numbers", "code outside",
        "labels merged"; of a file "separator", "decimal commas" and "names".
    columns : tuple of str
        The columns that it is about.
    message : str
        What was found, a sentence without its full stop.
    hint : str
        What to do about it.
    refused : bool
        Whether commands refuse the table unless told otherwise.
    values : tuple of str
        Values that it is about, where there are such.

    Examples
    --------
    >>> from duramen.data import Finding
    >>> print(Finding("constant", ("site",), "column 'site' is constant", "leave it out"))
    column 'site' is constant. Hint: leave it out
    """

    kind: str
    columns: tuple[str, ...]
    message: str
    hint: str
    refused: bool = False
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.message}. Hint: {self.hint}"


def columns(names: Sequence[str]) -> str:
    """Name columns in a sentence, the first few of many."""
    shown = ", ".join(map(quoted, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"column {shown}" if len(names) == 1 else f"columns {shown}{more}"


def them(names: Sequence[str]) -> str:
    """Return the pronoun for columns."""
    return "it" if len(names) == 1 else "them"
