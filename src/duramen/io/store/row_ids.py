"""Names of the rows of a table, and the join of sample annotations by them."""

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
from itertools import pairwise
from typing import Any

import numpy as np

from duramen.data.schema import KINDS
from duramen.io.formats.format import ROW_NAMES, named_rows
from duramen.results.summary import counted
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_number, is_text, pa, pc, without_dictionary
from duramen.support.text import printable, quoted

MATCHES = ("exact", "fold", "position")
"""Ways to pair rows: by names as they are, by folded names, by their order."""

_MOSTLY_DISTINCT = 0.9  # distinct values per row of a column that may name the rows
_FIRST_ROWS = 32  # looked at before a whole column
_MOST_COLUMNS = 256  # of a store, read to look for names
_MOSTLY = 0.5  # fraction of the rows that must find annotations
_SHOWN = 5
_SEPARATORS = re.compile(r"[\W_]+")
_MADE = re.compile(r"x\.?(?=\d)")  # how R's make.names begins what began with a digit
_WHOLE = re.compile(r"\s*0*(\d+)(\.0*)?\s*", re.ASCII)
_BY_POSITION = "samples_match='position' (--samples-match position) pairs them by their order"
_FOLD = "samples_match='fold' (--samples-match fold)"
_CHOOSE = "samples_id (--samples-id)"


def folded(label: str) -> str:
    """Return a name without the differences that programs make.

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
    def column(self) -> str:
        """The column or columns, for messages."""
        return "column " + " and ".join(map(quoted, self.columns))

    @property
    def title(self) -> str:
        """The column or columns in parentheses."""
        return " and ".join(map(printable, self.columns))

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The different names."""
        return frozenset(label for label in self.labels if label is not None)

    @cached_property
    def whole(self) -> dict[str, str]:
        """The names without leading zeros and decimals; empty unless all are whole numbers."""
        matches = {label: _WHOLE.fullmatch(label) for label in self.distinct}
        whole = {label: match[1] for label, match in matches.items() if match is not None}
        return whole if len(whole) == len(matches) else {}

    @cached_property
    def folded(self) -> list[str | None]:
        """Names without the differences that programs make."""
        forms = {label: folded(label) for label in self.distinct}
        return [None if label is None else forms[label] for label in self.labels]


@dataclass(frozen=True, eq=False)
class Paired:
    """Annotations in the order of the rows of the table."""

    table: pa.Table  # one row for each row of the table; has their names, if there are any
    note: str  # how the rows were paired
    column: str | None = None  # of the table, whose values named its rows
    names: Names | None = None  # of the rows, if there are any


@dataclass(frozen=True)
class Pairing:
    """Request for pairing, as `open_store` and `pack` document it."""

    samples_id: str | None
    match: str
    where: str  # what the table is called
    function: str  # who asks, for errors

    def __post_init__(self) -> None:
        """Check that a single way to pair is requested."""
        if self.match not in MATCHES:
            allowed = ", ".join(map(repr, MATCHES))
            raise self.error(f"samples_match must be one of {allowed}, got {self.match!r}.")
        if self.match == "position" and self.samples_id is not None:
            raise self.error(
                f"samples_id={quoted(self.samples_id)} pairs rows by their names and "
                "samples_match='position' by their order; give one of them."
            )

    def error(self, text: str) -> ValueError:
        """Return an error about the pairing."""
        return ValueError(f"{self.function}: {text}")


def refuse_pairing(samples_id: str | None, match: str, function: str) -> None:
    """Refuse a way to pair rows without sample annotations."""
    if samples_id is not None or match != "exact":
        asked = "samples_match" if samples_id is None else "samples_id"
        raise ValueError(f"{function}: {asked} needs samples=FILE.")


# --- names --------------------------------------------------------------------------------------


def texts_of(array: Any) -> list[str | None] | None:
    """Return text or whole numbers as text, None where missing; None if it is neither.

    Numbers of a floating type count if all of them are whole, as a spreadsheet writes them.
    """
    array = without_dictionary(array)
    if pa.types.is_floating(array.type):
        numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        present = numbers[~np.isnan(numbers)]
        if not len(present) or (present != np.floor(present)).any():
            return None
        if np.abs(present).max() >= 2**53:
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
        first = texts_of(column.slice(0, _FIRST_ROWS))
        if first is None or None in first or len(set(first)) < _MOSTLY_DISTINCT * len(first):
            continue
        labels = texts_of(column)
        if labels is not None and None not in labels:
            names = Names((name,), labels, in_table=True)
            if len(names.distinct) >= _MOSTLY_DISTINCT * len(labels):
                columns.append(names)
    return columns


def of_store(columns: Any, samples: Any, asked: Pairing) -> list[Names]:
    """Return the names of the rows of a store, or its columns that may name them.

    These are columns of text, 256 at most, and columns of whole numbers with a title of the
    annotations, different in nearly all rows; or the column `samples_id`, if it is one.

    Raises
    ------
    ValueError
        If `samples_id` is a column of the store that names no rows.
    """
    row_names = names_of(columns.samples())
    if row_names is not None:
        return [row_names]
    place = None if asked.samples_id is None else columns.find(asked.samples_id)
    if place is None:
        many = columns.records()["n_values"] >= _MOSTLY_DISTINCT * columns.n_rows
        nominal = columns.kind_codes() == KINDS.index("nominal")
        places = set(np.flatnonzero(nominal & many)[:_MOST_COLUMNS].tolist())
        titles = map(columns.find, samples_table(samples, asked.function).column_names)
        places |= {j for j in titles if j is not None and many[j]}
    else:
        places = {place}
    names = []
    table = columns.take(np.array(sorted(places))) if places else None
    for j, name in enumerate(() if table is None else table.names):
        assert table is not None
        labels = texts_of(pa.array(table.column_values(j), from_pandas=True))
        if labels is not None and None not in labels:
            names.append(Names((name,), labels, in_table=True))
    if place is not None and not names:
        raise asked.error(
            f"column {quoted(asked.samples_id)} of {columns.where} must hold the name of every "
            "row, as text or whole numbers, but some are missing or not whole."
        )
    return names


def names_of(samples: pa.Table | None) -> Names | None:
    """Return the names of the rows that annotations have; None without any.

    Raises
    ------
    ValueError
        If the columns that name the rows are not there.
    """
    title = None if samples is None else (samples.schema.metadata or {}).get(ROW_NAMES)
    if samples is None or title is None:
        return None
    try:
        columns = tuple(json.loads(title))
        names = _joined(columns, [samples.column(name) for name in columns])
    except (ValueError, LookupError, TypeError, RecursionError):
        names = None
    if names is None or len(names.labels) != samples.num_rows:
        raise ValueError(
            "the sample annotations of the table are damaged: the row names that they refer to "
            "are missing; pack the table again"
        )
    return names


def _joined(columns: tuple[str, ...], arrays: Sequence[Any]) -> Names | None:
    """Return columns as names, joined by "_"; None if one holds neither text nor numbers."""
    parts = [texts_of(array) for array in arrays]
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    rows = zip(*present, strict=True)
    return Names(columns, [None if None in row else "_".join(map(str, row)) for row in rows])


def _keys(samples: Any, table: pa.Table, *, family: bool) -> list[Names]:
    """Return columns that may name the rows of annotations, and the index of a pandas frame.

    With `family`, FID and IID together instead of the single columns, if both are there.
    """
    titles = {name.lstrip("#").casefold(): name for name in table.column_names}
    groups: list[tuple[str, ...]] = [(name,) for name in table.column_names]
    if family and {"fid", "iid"} <= set(titles):
        groups = [(titles["fid"], titles["iid"])]
    keys = [_joined(group, [table.column(name) for name in group]) for group in groups]
    index: Any = getattr(samples, "index", None)
    if type(samples).__module__.startswith("pandas") and type(index).__name__ == "Index":
        title = "index" if index.name is None else str(index.name)
        with suppress(pa.ArrowException):  # labels of several types name nothing
            key = _joined((title,), [pa.array(index, from_pandas=True)])
            # Numbers without a name number the rows of a frame before it was sorted.
            if key is not None and not (key.whole and index.name is None):
                keys.append(key)
    return [key for key in keys if key is not None]


# --- the join -----------------------------------------------------------------------------------


class _Join:
    """Rows of annotations by the names of the rows of a table.

    Names are compared folded, or as they are; whole numbers on both sides without leading zeros,
    unless two names of the table, such as 7 and 007, would be the same.
    """

    def __init__(self, names: Names, key: Names, *, fold: bool) -> None:
        self.names, self.key, self.fold = names, key, fold
        labels: Sequence[Any] = key.labels
        self.sought: Sequence[Any] = names.labels
        if fold:
            self.sought, labels = names.folded, key.folded
        elif names.whole and key.whole and len(set(names.whole.values())) == len(names.whole):
            self.sought = [names.whole[label] for label in names.labels]
            labels = [None if label is None else key.whole[label] for label in labels]
        self.places: dict[Any, list[int]] = {name: [] for name in self.sought}
        for row, label in enumerate(labels):
            if label in self.places:
                self.places[label].append(row)
        self.absent = [name for name, rows in self.places.items() if not rows]
        self.count = len(self.places) - len(self.absent)
        self.mostly = self.count >= _MOSTLY * len(self.places)
        self.several = [name for name, rows in self.places.items() if len(rows) > 1]
        first = (rows[0] if rows else -1 for rows in map(self.places.__getitem__, self.sought))
        self.rows: IntArray = np.fromiter(first, dtype=np.int64, count=len(self.sought))
        ours, theirs = (
            [part.lstrip("#").strip().casefold() for part in side.columns] for side in (names, key)
        )
        self.same_title = ours == theirs


def pair(samples: Any, ours: Sequence[Names], n_rows: int | None, asked: Pairing) -> Paired:
    """Sort annotations into the order of the rows of a table.

    Rows of the table whose name no annotations have get missing values, where these are fewer than
    half of the rows.

    Parameters
    ----------
    samples : path or table
        The annotations. The index of a pandas frame may name its rows.
    ours : sequence of Names
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
    where, table = asked.where, samples_table(samples, asked.function)
    keys = _keys(samples, table, family=any(len(names.columns) == 2 for names in ours))
    different = [key for key in keys if not key.whole and 1 < len(key.labels) == len(key.distinct)]
    nameless = not ours and not different and asked.samples_id is None
    if asked.match == "position" or nameless:
        why = f"as neither {where} nor samples has row names." if nameless else "as asked."
        _check_order(ours, keys, asked)
        if n_rows is not None:
            check_samples(table, n_rows, asked.function)
        own = next((names for names in ours if not names.in_table), names_of(table))
        note = f"Rows of samples were paired by position, {why}"
        return Paired(_with_names(table, own), note, names=own)
    if not ours:
        columns = ", ".join(key.column for key in different or keys)
        raise asked.error(
            f"samples has names of rows ({columns}), but {where} has neither row names nor a "
            f"column that is different in each row. Hint: {_BY_POSITION}."
        )
    join = _best_join(ours, keys, table, asked)
    order, names, key, folding = join.rows, join.names, join.key, ""
    if len(join.places) < len(order):
        rows_of = Counter(join.sought)
        pairs = zip(names.labels, join.sought, strict=True)
        listed = list(dict.fromkeys(label for label, name in pairs if rows_of[name] > 1))
        why = "occurs more than once" if len(listed) == 1 else "occur more than once"
        why = "are the same when folded" if join.fold else why
        raise asked.error(
            f"names of the rows of {where} ({names.title}) must be unique to pair them with "
            f"samples, but {_some(listed)} {why}. Hint: {_BY_POSITION}."
        )
    if join.several:
        listed = [key.labels[row] for name in join.several for row in join.places[name]]
        raise asked.error(
            f"samples must have one row for each row of {where}, but {key.column} has "
            f"{_some(listed)} more than once{' when folded' if join.fold else ''}."
        )
    if join.absent and not join.fold and (fold := _Join(names, key, fold=True)).count > join.count:
        i = next(i for i, row in enumerate(fold.rows) if row >= 0 > order[i])
        alike = f"{quoted(names.labels[i])} is like {quoted(key.labels[fold.rows[i]])}"
        folding = (
            f" Hint: {_FOLD} ignores case, spaces, signs and leading zeros, and pairs "
            f"{fold.count:,} of {len(fold.places):,} with {key.column}: {alike}."
        )
    if not join.mostly:
        hint = f" Hint: add them to samples, or leave them out of {where}; {_CHOOSE} names another "
        raise asked.error(
            f"samples must have a row for most rows of {where}, but {key.column} lacks "
            f"{len(join.absent):,} of {len(join.places):,}: {_some(join.absent)}."
            f"{folding or f'{hint}column.'}"
        )
    by = f"{key.column}{', folded' if join.fold else ''}"
    if names.in_table and names.columns != key.columns:
        by = f"{names.column} of {where} and {key.column} of samples{by[len(key.column) :]}"
    note = f"Rows of samples were paired with those of {where} by {by}."
    if lost := len(join.absent):
        note += (
            f" {len(order) - lost:,} of {len(order):,} rows have annotations; "
            f"{counted(lost, 'row')} {'has' if lost == 1 else 'have'} none, whose values are "
            f"missing: {_some(join.absent)}.{folding}"
        )
    if unused := len(key.labels) - len(order) + lost:
        are, were = ("is", "was") if unused == 1 else ("are", "were")
        note += f" {counted(unused, 'row')} of samples {are} not in {where} and {were} ignored."
    paired = table.take(pa.array(order, mask=order < 0))  # -1: a row of missing values
    column = names.columns[0] if names.in_table else None
    return Paired(_with_names(paired, names), note, column, names)


def _best_join(
    ours: Sequence[Names], keys: Sequence[Names], table: pa.Table, asked: Pairing
) -> _Join:
    """Return the join by the columns that have most names in common once these are folded.

    Columns of the same title come first, text before numbers. Numbers could as well be ages, or
    count rows: without that title they have to agree in all rows, and not only count.
    """
    title, listed = asked.samples_id, ", ".join(map(quoted, table.column_names[:_SHOWN]))
    if title is not None:
        here = [names for names in ours if names.in_table and names.columns == (title,)]
        there = [key for key in keys if key.columns == (title,)]
        if not here and not there:
            raise asked.error(
                f"samples has no column {quoted(title)} of text or whole numbers; its columns are "
                f"{listed}."
            )
        ours, keys = here or ours, there or keys
    joins = [_Join(names, key, fold=True) for names in ours for key in keys]
    if title is None:
        likely = []
        for join in joins:
            counts = False  # whether the names number the rows
            if join.key.whole and None not in join.key.labels:
                numbers = [int(join.key.whole[label]) for label in join.key.labels]
                counts = all(b - a == 1 for a, b in pairwise(numbers))
            if not join.key.whole or join.same_title or (not join.absent and not counts):
                likely.append(join)
        joins = [join for join in likely if join.count and not join.key.whole] or likely
    most = max((join.count for join in joins), default=0)
    if not most:
        raise asked.error(
            f"no column of samples holds the names of the rows of {asked.where}, such as "
            f"{_some(ours[0].labels, 2)} ({ours[0].title}); its columns are {listed}. Hint: "
            f"{_CHOOSE} names the column; {_BY_POSITION}, if that is the same."
        )
    best = [join for join in joins if join.count == most]
    best = [join for join in best if not join.several] or best
    best = [join for join in best if join.same_title] or best
    if any(not np.array_equal(join.rows, best[0].rows) for join in best):
        where = "samples" if len({join.names.columns for join in best}) == 1 else asked.where
        sides = [join.key if where == "samples" else join.names for join in best]
        listed = ", ".join(dict.fromkeys(names.column for names in sides))
        raise asked.error(
            f"several columns of {where} could hold the row names: {listed}. Hint: choose one with "
            f"{_CHOOSE}."
        )
    if asked.match == "exact":
        best = [_Join(join.names, join.key, fold=False) for join in best]
    return max(best, key=lambda join: join.count)


def _check_order(ours: Sequence[Names], keys: Sequence[Names], asked: Pairing) -> None:
    """Refuse to pair by position if both sides have the same names in another order."""
    for join in (_Join(names, key, fold=True) for names in ours for key in keys):
        if not join.mostly or join.several or len(join.places) < len(join.sought):
            continue
        if join.key.whole and not (join.same_title and not join.absent):
            continue
        moved = np.flatnonzero((join.rows >= 0) & (join.rows != np.arange(len(join.rows))))
        for i in moved[:1].tolist():
            raise asked.error(
                "samples_match='position' (--samples-match position) is wrong here: "
                f"{join.key.column} of samples holds the names of the rows of {asked.where} "
                f"({join.names.title}) in another order, {quoted(join.names.labels[i])} in row "
                f"{join.rows[i] + 1:,} instead of {i + 1:,}. Hint: leave it out, so that rows are "
                "paired by name, or remove the column."
            )


def _with_names(table: pa.Table, names: Names | None) -> pa.Table:
    """Return annotations that have the names of their rows, in a column more if need be."""
    if names is None or len(names.labels) != table.num_rows:  # these are refused later
        return table
    for column, array in zip(table.column_names, table.columns, strict=True):
        if not is_number(array.type) and texts_of(array) == list(names.labels):
            return named_rows(table, column)
    title = "_".join(names.columns)
    while title in table.column_names:
        title += "_"
    return named_rows(table.append_column(title, pa.array(names.labels, pa.string())), title)


def _some(labels: Iterable[Any], shown: int = _SHOWN) -> str:
    names = list(dict.fromkeys(labels))
    more = ", ..." if len(names) > shown else ""
    return ", ".join(map(quoted, names[:shown])) + more


# --- tables of annotations ----------------------------------------------------------------------


def samples_table(samples: Any, function: str) -> pa.Table:
    """Return sample annotations, a table or a path, as an Arrow table."""
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
    """Raise ValueError unless the annotations have a row for each row of the table."""
    if samples is not None and samples.num_rows != n_rows:
        raise ValueError(
            f"{function}: samples has {samples.num_rows} rows, but the table has {n_rows}; "
            "without row names to match, samples must have one row for each row of the table, in "
            "the same order"
        )
