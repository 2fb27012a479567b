"""Names of the rows of a table, and the pairing of sample annotations with them."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.schema import KINDS
from duramen.io.formats.format import ROW_NAMES, named_rows
from duramen.results.columns import counted
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_number, is_text, pa, pc, without_dictionary
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
        present = numbers[~np.isnan(numbers)]
        if (
            not len(present)
            or (present != np.floor(present)).any()
            or np.abs(present).max() >= 2**53
        ):
            return None
        array = pc.if_else(pc.is_nan(array), None, array) if len(present) < len(numbers) else array
        array = array.cast(pa.int64())
    if is_text(array.type) or pa.types.is_integer(array.type):
        texts: list[str | None] = array.cast(pa.large_string()).to_pylist()
        return texts
    return None


def of_table(table: pa.Table) -> list[Names]:
    """Return the columns of a table in memory that may name its rows: different in nearly all."""
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        first = texts_of(column.slice(0, _LOOKED_AT))
        if first is None or None in first or len(set(first)) < _MOSTLY_DISTINCT * len(first):
            continue
        labels = texts_of(column)
        if labels is not None and None not in labels:
            names = Names((name,), labels, in_table=True)
            if len(names.distinct) >= _MOSTLY_DISTINCT * len(labels):
                columns.append(names)
    return columns


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
    return [identifiers for identifiers in made if identifiers is not None]


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


def of_store(columns: Columns, samples: Any, asked: Pairing) -> list[Names]:
    """Return the columns of a store that may name its rows, of annotations to pair with them.

    Of columns of numbers those with a title of the annotations, of others 256 at most; or the
    column `samples_id`, if it is one.

    Raises
    ------
    ValueError
        If `samples_id` is a column of the store that names no rows.
    """
    place = None if asked.samples_id is None else columns.find(asked.samples_id)
    if place is not None:
        names = names_in(columns.take(np.array([place])), 0)
        if names is None:
            raise asked.error(
                f"column {quoted(asked.samples_id)} of {columns.where} must hold the name of "
                "every row, as text or whole numbers, but some are missing or not whole."
            )
        return [names]
    n_values = columns.records()["n_values"]
    nominal = columns.kind_codes() == KINDS.index("nominal")
    many = n_values >= _MOSTLY_DISTINCT * columns.n_rows
    places = set(np.flatnonzero(nominal & many)[:_MOST_COLUMNS].tolist())
    titles = map(columns.find, samples_table(samples, asked.function).column_names)
    places |= {j for j in titles if j is not None and many[j]}
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
        places: dict[str | None, list[int]] = {name: [] for name in self.wanted}
        for row, label in enumerate(self.labels):
            if label in places:
                places[label].append(row)
        return places

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
        places = (self.places[name] for name in self.wanted)
        return np.array([rows[0] if rows else -1 for rows in places], dtype=np.int64)

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


MATCHES = ("exact", "fold", "position")
"""Ways to pair rows: by names as they are, by folded names, by their order."""

_SHOWN = 5
_NEAR = 3  # names without a match, for which a similar one is looked for
BY_POSITION = "samples_match='position' (--samples-match position) pairs them by their order"
_FOLD = "samples_match='fold' (--samples-match fold)"
_CHOOSE = "samples_id (--samples-id)"


@dataclass(frozen=True)
class Paired:
    """Annotations in the order of the rows of the table."""

    table: pa.Table  # one row for each row of the table; knows their names, if they have any
    note: str  # how the rows were paired
    column: str | None = None  # of the table, whose values named its rows
    names: Names | None = None  # of the rows, if they are known


def names_of(samples: pa.Table | None) -> Names | None:
    """Return the names of the rows that annotations know; None where they know none.

    Raises
    ------
    ValueError
        If they do not hold what they say names the rows.
    """
    names = None if samples is None else (samples.schema.metadata or {}).get(ROW_NAMES)
    if samples is None or names is None:
        return None
    try:
        columns = tuple(json.loads(names))
        labels = tuple(_joined(samples, columns))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        why = type(error).__name__
    else:
        if len(labels) == samples.num_rows:
            return Names(columns, labels)
        why = f"{len(labels)} names for {samples.num_rows} rows"
    raise ValueError(
        "the sample annotations of the table are damaged: the row names that they refer to are "
        f"missing ({why}); pack the table again"
    )


@dataclass(frozen=True)
class Pairing:
    """Request for pairing, as `open_store` and `pack` document it."""

    samples_id: str | None
    match: str
    where: str  # what the table is called
    function: str  # who asks, for errors

    def __post_init__(self) -> None:
        """Check that one way to pair is asked for."""
        if self.match not in MATCHES:
            raise ValueError(
                f"{self.function}: samples_match must be one of {', '.join(map(repr, MATCHES))}, "
                f"got {self.match!r}."
            )
        if self.by_position and self.samples_id is not None:
            raise ValueError(
                f"{self.function}: samples_id={quoted(self.samples_id)} pairs rows by their names "
                "and samples_match='position' by their order; give one of them."
            )

    @property
    def by_position(self) -> bool:
        """True if rows are paired by their order, not by name."""
        return self.match == "position"

    def check_unused(self) -> None:
        """Check that nothing is asked of annotations that are not there."""
        asked = {"samples_id": self.samples_id is not None, "samples_match": self.match != "exact"}
        for parameter in (name for name, given in asked.items() if given):
            raise self.error(f"{parameter} needs samples=FILE.")

    def error(self, text: str) -> ValueError:
        """Return an error about what is to be paired."""
        return ValueError(f"{self.function}: {text}")


def pair(
    samples: Any, names: Names | Sequence[Names], n_rows: int | None, asked: Pairing
) -> Paired:
    """Put annotations into the order of the rows of a table.

    Rows of the table whose name no annotations have get missing values, where these are fewer than
    half of the rows.

    Parameters
    ----------
    samples : path or table
        The annotations. The index of a pandas frame may name its rows.
    names : Names or sequence of Names
        Names of the rows of the table, or the columns that may hold them.
    n_rows : int or None
        Their number; None where it is not known yet, and the caller checks it.
    asked : Pairing
        What the user asked for.

    Raises
    ------
    TypeError
        If `samples` is neither a path nor a table.
    ValueError
        If fewer than half of the rows of the table find annotations, one finds several, names of
        the table repeat, several columns could name the rows, `samples_id` is no column, or rows
        are to be paired by position though their names are in another order or their number
        differs.
    """
    table = samples_table(samples, asked.function)
    ours = [names] if isinstance(names, Names) else list(names)
    theirs = _keys(samples, table, ours)
    if asked.by_position:
        _check_order(ours, theirs, asked)
        return _in_order(table, names, n_rows, "as asked.", asked.function)
    if asked.samples_id is not None:
        ours, theirs = _asked(ours, theirs, table, asked)
    elif not ours and not any(_different(key) for key in theirs):
        why = f"as neither {asked.where} nor samples has row names."
        return _in_order(table, None, n_rows, why, asked.function)
    matches = [matched(names, key, asked.match) for names in ours for key in theirs]
    chosen = _chosen(matches, asked)
    if chosen is None:
        raise _no_match(ours, theirs, matches, table, asked)
    order = _order(chosen, asked)
    unused, lost = len(chosen.labels) - int((order >= 0).sum()), int((order < 0).sum())
    note = f"Rows of samples were paired with those of {asked.where} by {chosen.by(asked.where)}."
    if lost:
        note += f" {_lost_words(chosen, lost, asked)}"
    if unused:
        are, were = ("is", "was") if unused == 1 else ("are", "were")
        rows = counted(unused, "row")
        note += f" {rows} of samples {are} not in {asked.where} and {were} ignored."
    column = chosen.names.columns[0] if chosen.names.in_table else None
    paired = table.take(pa.array(order, mask=order < 0))  # -1: a row of missing values
    return Paired(_with_names(paired, chosen.names), note, column, chosen.names)


# --- columns that may name the rows ---------------------------------------------------------------


def _keys(samples: Any, table: pa.Table, ours: Sequence[Names]) -> list[Names]:
    """Return what may name the rows: columns, FID and IID together, the index of a frame."""
    without_sign = {name.lstrip("#").casefold(): name for name in table.column_names}
    family = tuple(without_sign[part] for part in ("fid", "iid") if part in without_sign)
    groups: list[tuple[str, ...]] = [(name,) for name in table.column_names]
    if any(len(names.columns) == 2 for names in ours) and len(family) == 2:
        groups = [family]
    keys = [_key(group, [table.column(name) for name in group]) for group in groups]
    index: Any = getattr(samples, "index", None)
    if type(samples).__module__.startswith("pandas") and type(index).__name__ == "Index":
        title = str(index.name) if index.name is not None else "index"
        with suppress(pa.ArrowException):  # labels of several types name nothing
            key = _key((title,), [pa.array(index, from_pandas=True)])
            # Numbers without a name are those of the rows of a frame before it was sorted.
            keys.append(None if key is not None and key.whole and index.name is None else key)
    return [key for key in keys if key is not None]


def _key(columns: tuple[str, ...], arrays: Sequence[Any]) -> Names | None:
    parts = [texts_of(array) for array in arrays]
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    rows = zip(*present, strict=True)
    return Names(columns, [None if None in row else "_".join(map(str, row)) for row in rows])


def _different(names: Names) -> bool:
    """Return whether a column has text that is different in each row."""
    return not names.whole and len(names.distinct) == len(names.labels) > 1


def _joined(samples: pa.Table, columns: Sequence[str]) -> list[str]:
    parts = [texts_of(samples.column(name)) for name in columns]
    if any(part is None for part in parts):
        raise TypeError("names of rows are text or whole numbers")
    present = [part for part in parts if part is not None]
    return ["_".join(map(str, row)) for row in zip(*present, strict=True)]


def _asked(
    ours: list[Names], theirs: list[Names], table: pa.Table, asked: Pairing
) -> tuple[list[Names], list[Names]]:
    """Return the columns that have the name of `samples_id`, where it is one."""
    title = asked.samples_id
    here = [names for names in ours if names.in_table and names.columns == (title,)]
    there = [key for key in theirs if key.columns == (title,)]
    if there or here:
        if not ours:
            raise asked.error(
                f"samples_id={quoted(title)} needs row names in {asked.where}, or a column of "
                f"names, and it has neither. Hint: {BY_POSITION}."
            )
        return here or ours, there or theirs
    if title in table.column_names:
        raise asked.error(
            f"column {quoted(title)} of samples is of type {table.column(title).type}; row names "
            "must be text or whole numbers."
        )
    raise asked.error(
        f"samples has no column {quoted(title)}; its columns are "
        f"{', '.join(map(quoted, table.column_names[:_SHOWN]))}."
    )


# --- matches --------------------------------------------------------------------------------------


def _chosen(matches: Sequence[Match], asked: Pairing) -> Match | None:
    """Return the match of most names, text before numbers; None where there is none."""
    good = [match for match in matches if match.plausible]
    text = [match for match in good if not match.key.whole]
    if not text and asked.samples_id is None:
        good = [m for m in good if m.titled_alike or not _row_numbers(m, matches)]
    pool = text or good
    if not pool:
        return None
    most = max(match.count for match in pool)
    best = [match for match in pool if match.count == most]
    if asked.samples_id is None:
        best += _rivals(best[0], matches)
    first = best[0].rows
    if all(np.array_equal(match.rows, first) for match in best[1:]):
        return next((match for match in best if match.titled_alike), best[0])
    alike = [match for match in best if match.titled_alike]
    if alike:
        return alike[0]
    listed = ", ".join(dict.fromkeys(called(match.key) for match in best))
    if len({match.key.columns for match in best}) == 1:
        listed = ", ".join(dict.fromkeys(called(match.names) for match in best))
        raise asked.error(
            f"several columns of {asked.where} could hold the row names: {listed}. Hint: choose "
            f"one with {_CHOOSE}."
        )
    raise asked.error(
        f"several columns of samples could hold the row names: {listed}. Hint: choose one with "
        f"{_CHOOSE}."
    )


def _rivals(best: Match, matches: Sequence[Match]) -> list[Match]:
    """Return matches of as many names in another order, once these are folded."""
    others = {match.key.columns: match for match in matches if not match.key.whole}
    folds = (matched(best.names, match.key, "fold") for match in others.values())
    return [
        fold
        for fold in folds
        if fold.key is not best.key
        and fold.count >= best.count
        and not fold.repeats
        and not np.array_equal(fold.rows, best.rows)
    ]


def _row_numbers(match: Match, matches: Sequence[Match]) -> bool:
    """Return whether numbers only count rows: on both sides, or beside other names."""
    if not match.key.counts_rows:
        return False
    return (match.names.in_table and match.names.counts_rows) or any(
        _different(names) for other in matches for names in (other.key, other.names)
    )


def _order(match: Match, asked: Pairing) -> IntArray:
    """Return the row of the annotations of each row of the table, or -1 where there is none."""
    where, names = asked.where, match.names
    twice = [label for label, count in Counter(match.wanted).items() if count > 1]
    if twice and match.form == "fold" and len(names.distinct) == len(names.labels):
        alike = [str(o) for o, f in zip(names.labels, match.wanted, strict=True) if f == twice[0]]
        raise asked.error(
            f"{_FOLD} does not tell {_some(alike)} apart, in {names.title} of {where}; rename the "
            "rows so that names agree as they are."
        )
    if twice:
        raise asked.error(
            f"names of the rows of {where} ({names.title}) must be unique to pair them with "
            f"samples, but {_some(map(str, twice))} occur more than once. Hint: {BY_POSITION}."
        )
    several = match.several
    if several:
        rows = match.places[several[0]]
        shown = list(dict.fromkeys(str(match.key.labels[row]) for row in rows))
        what = _some(several) if len(shown) == 1 else " and ".join(map(quoted, shown[:_SHOWN]))
        how = "more than once" if len(shown) == 1 else "which are alike when folded"
        raise asked.error(
            f"samples must have one row for each row of {where}, but {called(match.key)} has "
            f"{what} {how}."
        )
    if not match.mostly:
        absent = match.absent
        raise asked.error(
            f"samples must have a row for most rows of {where}, but {called(match.key)} lacks "
            f"{len(absent):,} of {len(match.places):,}: {_some(absent)}. Hint: add them to "
            f"samples, or leave them out of {where}; {_CHOOSE} names another column."
        )
    return match.rows


def _lost_words(match: Match, lost: int, asked: Pairing) -> str:
    """Say which rows of the table have no annotations, and whether folding would find them."""
    have = "row has" if lost == 1 else "rows have"
    said = (
        f"{len(match.wanted) - lost:,} of {len(match.wanted):,} rows have annotations; {lost:,} "
        f"{have} none, whose values are missing: {_some(match.absent)}."
    )
    more = matched(match.names, match.key, "fold").count
    if asked.match == "exact" and more > match.count:
        said += f" Hint: {_FOLD} pairs {more:,}."
    return said


def _no_match(
    ours: Sequence[Names],
    theirs: Sequence[Names],
    matches: Sequence[Match],
    table: pa.Table,
    asked: Pairing,
) -> ValueError:
    """Return the error where no column of the annotations has the names of the rows."""
    where = asked.where
    if not ours:
        ids = ", ".join(called(key) for key in theirs if _different(key))
        return asked.error(
            f"samples has names of rows ({ids}), but {where} has neither row names nor a column "
            f"that is different in each row. Hint: {BY_POSITION}, if that is the same."
        )
    repeated = [
        match
        for match in matches
        if match.mostly and match.repeats and (match.titled_alike or not match.key.whole)
    ]
    if repeated:
        match = max(repeated, key=lambda match: match.count)
        return asked.error(
            f"samples must have one row for each row of {where}, but {called(match.key)} has "
            f"{_some(match.several)} more than once."
        )
    counting = [match for match in matches if match.plausible]
    if counting:
        return asked.error(
            f"{called(counting[0].key)} of samples only numbers its rows, and its other columns "
            f"hold no names of the rows of {where}. Hint: {_CHOOSE} "
            f"{quoted(counting[0].key.columns[0])} takes the numbers for names."
        )
    near = [matched(names, key, "fold") for names in ours for key in theirs]
    best = max(near, key=lambda match: (match.count, not match.key.whole), default=None)
    said = f"no column of samples holds the names of the rows of {where}, such as "
    if best is not None and best.count and asked.match == "exact" and not best.repeats:
        rows = zip(best.names.labels, best.wanted, strict=True)
        pairs = ((name, best.places[label]) for name, label in rows)
        shown = [
            f"{quoted(name)} is like {quoted(best.key.labels[rows[0]])}"
            for name, rows in islice((pair for pair in pairs if pair[1]), _NEAR)
        ]
        return asked.error(
            f"{said}{_some(map(str, best.names.labels), 2)} ({best.names.title}). Hint: {_FOLD} "
            f"ignores case, spaces, signs and leading zeros, and pairs {best.count:,} of "
            f"{len(best.names.labels):,} with {called(best.key)}: {', '.join(shown)}."
        )
    first = ours[0]
    titles = ", ".join(map(quoted, table.column_names[:_SHOWN]))
    return asked.error(
        f"{said}{_some(map(str, first.labels), 2)} ({first.title}); its columns are {titles}"
        f". Hint: {_CHOOSE} names the column; {BY_POSITION}, if that is the same."
    )


# --- by position ----------------------------------------------------------------------------------


def _check_order(ours: Sequence[Names], theirs: Sequence[Names], asked: Pairing) -> None:
    """Refuse to pair by position where both sides have the same names in another order."""
    for match in (matched(names, key, "fold") for names in ours for key in theirs):
        numbers = match.names.whole and match.key.whole
        if not match.mostly or match.repeats or len(match.places) < len(match.wanted):
            continue
        if numbers and not (match.titled_alike and match.count == len(match.wanted)):
            continue
        rows = match.rows
        moved = np.flatnonzero((rows >= 0) & (rows != np.arange(len(rows))))
        if len(moved):
            i = int(moved[0])
            raise asked.error(
                "samples_match='position' (--samples-match position) is wrong here: "
                f"{called(match.key)} of samples holds the names of the rows of {asked.where} "
                f"({match.names.title}) in another order, {quoted(match.names.labels[i])} in row "
                f"{rows[i] + 1:,} instead of {i + 1:,}. Hint: leave it out, so that rows are "
                "paired by name, or remove the column."
            )


def _in_order(
    table: pa.Table,
    names: Names | Sequence[Names] | None,
    n_rows: int | None,
    why: str,
    function: str,
) -> Paired:
    if n_rows is not None:
        check_samples(table, n_rows, function)
    note = f"Rows of samples were paired by position, {why}"
    own = names if isinstance(names, Names) else names_of(table)
    return Paired(_with_names(table, own), note, names=own)


def _with_names(table: pa.Table, names: Names | None) -> pa.Table:
    """Return annotations that know the names of their rows, in a column more if need be."""
    if names is None:
        return table
    for column, array in zip(table.column_names, table.columns, strict=True):
        if is_number(array.type):
            continue
        if texts_of(array) == list(names.labels):
            return named_rows(table, column)
    if len(names.labels) != table.num_rows:  # refused later
        return table
    title = "_".join(names.columns)
    while title in table.column_names:
        title += "_"
    return named_rows(table.append_column(title, pa.array(names.labels, pa.string())), title)


def _some(labels: Iterable[str], shown: int = _SHOWN) -> str:
    names = list(labels)
    more = ", ..." if len(names) > shown else ""
    return ", ".join(map(quoted, names[:shown])) + more


def samples_table(samples: Any, function: str) -> pa.Table:
    """Return what a user gives for it, a table or the path of one, as an Arrow table."""
    from duramen.io.files import read_table

    if isinstance(samples, str | os.PathLike):
        return read_table(samples, function=function)
    table = as_arrow(samples)
    if table is None:
        raise TypeError(
            f"{function}: samples is a {type(samples).__name__}; give a data frame, an Arrow "
            "table, or the path of a file with one row for each row of the table"
        )
    return table


def as_arrow(frame: Any) -> pa.Table | None:
    """Return a data frame as an Arrow table; None where it is no data frame."""
    import narwhals as nw

    if isinstance(frame, pa.Table):
        return frame
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        return None
    if table.implementation.is_pandas() and not any(frame.index.names):
        table = nw.from_native(frame.reset_index(drop=True), eager_only=True)
    return table.to_arrow()  # without pandas' row labels, which are no column


def check_samples(samples: pa.Table | None, n_rows: int, function: str) -> None:
    """Raise ValueError if there is not one row for each row of the table."""
    if samples is not None and samples.num_rows != n_rows:
        raise ValueError(
            f"{function}: samples has {samples.num_rows} rows, but the table has {n_rows}; "
            "without row names to match, samples must have one row for each row of the table, in "
            "the same order"
        )
