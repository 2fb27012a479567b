"""Columns that may name the rows of a table, as text that can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.names import KINDS
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_text, pa, pc, without_dictionary
from duramen.support.text import printable, quoted

if TYPE_CHECKING:
    from duramen.io.formats.format import Columns

FORMS = ("exact", "number", "fold")
"""Forms in which names are compared: as they are, as whole numbers, folded."""

_MOSTLY_DISTINCT = 0.9  # distinct values per row of a column that may name the rows
_LOOKED_AT = 32  # rows that are looked at first
_MOST_COLUMNS = 256  # of a store, read for a closer look
_SEPARATORS = re.compile(r"[\W_]+")
_MADE = re.compile(r"x\.?(?=\d)")  # how R's make.names begins what began with a digit
_WHOLE = re.compile(r"\s*0*(\d+)(\.0*)?\s*", re.ASCII)


@dataclass(frozen=True, eq=False)
class Names:
    """Names of rows.

    Attributes
    ----------
    columns : tuple of str
        Columns that they are made of, joined by "_".
    labels : sequence of str
        One name a row; None in annotations where a name is missing.
    in_table : bool
        Whether they are a column of the table, not names that it has beside its columns.
    """

    columns: tuple[str, ...]
    labels: Sequence[Any]
    in_table: bool = False

    @property
    def title(self) -> str:
        """The columns, for messages."""
        return " and ".join(map(printable, self.columns))

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The different names."""
        return frozenset(label for label in self.labels if label is not None)

    @cached_property
    def whole(self) -> bool:
        """True if all names are whole numbers, as text."""
        return bool(self.distinct) and all(map(_WHOLE.fullmatch, self.distinct))

    @cached_property
    def counts_rows(self) -> bool:
        """True if the names number the rows: whole numbers, each by one larger than the last."""
        if not self.whole or None in self.labels:
            return False
        numbers = [int(number_of(label)) for label in self.labels]
        return all(b - a == 1 for a, b in pairwise(numbers))

    def compared(self, form: str) -> list[str | None]:
        """Return the names in a form of `FORMS`."""
        if form == "exact":
            return list(self.labels)
        change = number_of if form == "number" else folded
        return [None if label is None else change(label) for label in self.labels]


def folded(label: str) -> str:
    """Return a name without what programs change in names.

    Case, spaces and signs between letters and digits, the X that R's make.names puts before a
    digit, leading zeros of a whole number and its decimals that are zero.

    Examples
    --------
    >>> from duramen.io.store.row_ids import folded
    >>> folded("Pat 7-a"), folded("pat.7.A"), folded("X07"), folded("7.0")
    ('pat.7.a', 'pat.7.a', '7', '7')
    """
    text = unicodedata.normalize("NFKC", label).casefold()
    text = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        text = _MADE.sub("", _SEPARATORS.sub(".", text).strip("."), count=1)
        whole = _WHOLE.fullmatch(text)
    return text if whole is None else whole[1]


def number_of(label: str) -> str:
    """Return a whole number as text without leading zeros and decimals; other text as it is."""
    whole = _WHOLE.fullmatch(label)
    return label if whole is None else whole[1]


def texts_of(array: Any) -> list[str | None] | None:
    """Return text or whole numbers as text, None where missing; None where it is neither.

    Numbers of a floating type count where all of them are whole, as a spreadsheet writes them.
    """
    array = without_dictionary(array)
    if pa.types.is_floating(array.type):
        numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        known = numbers[~np.isnan(numbers)]
        if not len(known) or (known != np.floor(known)).any() or np.abs(known).max() >= 2**53:
            return None
        array = pc.if_else(pc.is_nan(array), None, array) if len(known) < len(numbers) else array
        array = array.cast(pa.int64())
    if is_text(array.type) or pa.types.is_integer(array.type):
        texts: list[str | None] = array.cast(pa.large_string()).to_pylist()
        return texts
    return None


def of_table(table: pa.Table) -> list[Names]:
    """Return the columns of a table in memory that may name its rows: different in nearly all."""
    found = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        first = texts_of(column.slice(0, _LOOKED_AT))
        if first is None or None in first or len(set(first)) < _MOSTLY_DISTINCT * len(first):
            continue
        labels = texts_of(column)
        if labels is not None and None not in labels:
            names = Names((name,), labels, in_table=True)
            if len(names.distinct) >= _MOSTLY_DISTINCT * len(labels):
                found.append(names)
    return found


def of_encoded(table: EncodedTable) -> list[Names]:
    """Return the columns of an encoded table that may name its rows."""
    starts, counts = table.value_offsets[:-1], np.diff(table.value_offsets)
    places = np.flatnonzero(
        ~table.missing.astype(bool) & (counts >= _MOSTLY_DISTINCT * table.n_rows) & (counts > 0)
    )
    numeric = table.kind_codes[places] == KINDS.index("numeric")
    ends = table.cut_values[np.stack([starts[places], starts[places] + counts[places] - 1])]
    places = places[~numeric | (ends == np.floor(ends)).all(axis=0)]  # few measurements stay
    made = (names_in(table, int(j)) for j in places)
    return [one for one in made if one is not None]


def names_in(table: EncodedTable, j: int) -> Names | None:
    """Return a column without missing values as names; None where it is neither text nor whole."""
    values: NDArray[Any] = table.values(j)
    if table.missing[j]:
        return None
    if values.dtype.kind == "f":
        if (values != np.floor(values)).any() or np.abs(values).max(initial=0) >= 2**53:
            return None
        values = values.astype(np.int64)
    texts = np.array([str(value) for value in values.tolist()], dtype=object)
    return Names((table.names[j],), texts[table.codes(j)].tolist(), in_table=True)


def of_store(columns: Columns, titles: Iterable[str]) -> list[Names]:
    """Return the columns of a store that may name its rows.

    Of columns of numbers those that are called as one of `titles`, of others 256 at most.
    """
    n_values = np.concatenate([part["n_values"] for part in columns.records()])
    nominal = columns.kind_codes() == KINDS.index("nominal")
    many = n_values >= _MOSTLY_DISTINCT * columns.n_rows
    places = set(np.flatnonzero(nominal & many)[:_MOST_COLUMNS].tolist())
    called = (columns.find(title) for title in titles)
    places |= {j for j in called if j is not None and many[j]}
    return of_encoded(columns.take(np.array(sorted(places)))) if places else []


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
    def rows(self) -> IntArray:
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
