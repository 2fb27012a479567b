"""Names of the rows of a table compared with those that annotations may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from duramen.io.store.row_ids import Names
from duramen.support.text import quoted

_MOSTLY = 0.5  # fraction of the rows that must find annotations
_UNIQUE = 1.1  # rows per name at most, in a column that is taken for names


@dataclass(frozen=True, eq=False)
class Match:
    """Names of the table and of annotations in the form in which they are compared."""

    names: Names
    key: Names
    form: str  # one of `row_ids.FORMS`
    wanted: Sequence[str | None]
    labels: Sequence[str | None]

    @cached_property
    def places(self) -> dict[str | None, list[int]]:
        """Rows of the annotations with each name of the table."""
        found: dict[str | None, list[int]] = {name: [] for name in self.wanted}
        for row, label in enumerate(self.labels):
            if label in found:
                found[label].append(row)
        return found

    @cached_property
    def count(self) -> int:
        """Number of names of the table that the annotations have."""
        return sum(bool(rows) for rows in self.places.values())

    @property
    def titled_alike(self) -> bool:
        """True if the columns of the names have the same titles."""
        ours, theirs = (
            tuple(part.lstrip("#").strip().casefold() for part in names.columns)
            for names in (self.names, self.key)
        )
        return ours == theirs

    @property
    def mostly(self) -> bool:
        """True if annotations have the names of most rows."""
        return self.count >= max(1, _MOSTLY * len(self.places))

    @property
    def repeats(self) -> bool:
        """True if annotations have names several times, and not just a few of them."""
        rows = sum(map(len, self.places.values()))
        return rows > max(self.count + 1, _UNIQUE * self.count)

    @property
    def plausible(self) -> bool:
        """True if these are names: text that occurs, or numbers all of which do.

        Under the same title most numbers are enough. Elsewhere ages or numbers of rows could match.
        """
        if not self.count or self.repeats:
            return False
        if not (self.names.whole and self.key.whole):
            return True
        return self.mostly if self.titled_alike else self.count == len(self.places)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """First row of the annotations with the name of each row of the table, or -1."""
        found = (self.places[name] for name in self.wanted)
        return np.array([rows[0] if rows else -1 for rows in found], dtype=np.int64)

    @property
    def absent(self) -> list[str]:
        """Names of the table that no annotations have."""
        return [str(label) for label, rows in self.places.items() if not rows]

    @property
    def several(self) -> list[str]:
        """Names of the table that several rows of annotations have."""
        return [str(label) for label, rows in self.places.items() if len(rows) > 1]

    def by(self, where: str) -> str:
        """Return the columns by which rows are paired, and how."""
        how = {"exact": "", "number": "", "fold": ", folded"}[self.form]
        if not self.names.in_table or self.names.columns == self.key.columns:
            return f"{called(self.key)}{how}"
        return f"{called(self.names)} of {where} and {called(self.key)} of samples{how}"


def matched(names: Names, key: Names, match: str) -> Match:
    """Compare names as they are, as whole numbers where all are, or folded."""
    form = match
    if match == "exact" and names.whole and key.whole:
        numbers = set(names.compared("number"))  # 7 and 007 may be two names
        form = "number" if len(numbers) == len(names.distinct) else "exact"
    return Match(names, key, form, names.compared(form), key.compared(form))


def called(names: Names) -> str:
    """Return names as the column or columns that they are."""
    return "column " + " and ".join(map(quoted, names.columns))
