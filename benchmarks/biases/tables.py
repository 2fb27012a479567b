"""The table of a page, printed as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float


@dataclass(frozen=True)
class Table:
    """A titled table; numbers are printed with `digits` decimals."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 3

    def __str__(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        body = "\n".join("| " + " | ".join(map(self._text, line)) + " |" for line in lines)
        return f"{self.title}\n\n{body}\n"

    def _text(self, cell: Cell) -> str:
        return f"{cell:.{self.digits}f}" if isinstance(cell, float) else str(cell)
