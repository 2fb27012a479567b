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
from duramen.support.text import printable

if TYPE_CHECKING:
    import pyarrow as pa

    from duramen.io.formats.columns import Columns

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
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_floating(array.type):
        numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        known = numbers[~np.isnan(numbers)]
        if not len(known) or (known != np.floor(known)).any() or np.abs(known).max() >= 2**53:
            return None
        array = pc.if_else(pc.is_nan(array), None, array) if len(known) < len(numbers) else array
        array = array.cast(pa.int64())
    text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    if text or pa.types.is_integer(array.type):
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
