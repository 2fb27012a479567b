"""Sample annotations paired with the rows of a table, by the names of the rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.text import printable, quoted
from duramen.tables.row_names import ROW_NAMES, named_rows
from duramen.tables.store.beside import check_samples, samples_table

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 5
_MOSTLY = (
    0.5  # fraction of numbered rows that a column of numbers names, to be taken for their names
)
_UNIQUE = 1.1  # rows per name at most, in a column that is taken for names
BY_POSITION = "Hint: samples_by_position pairs them by position."


@dataclass(frozen=True)
class Names:
    """Names of rows.

    Attributes
    ----------
    columns : tuple of str
        Columns that they are made of, joined by "_".
    labels : tuple of str
        One name a row.
    """

    columns: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def title(self) -> str:
        """The columns, for messages."""
        return " and ".join(map(printable, self.columns))


@dataclass(frozen=True)
class Paired:
    """Annotations in the order of the rows of the table."""

    table: pa.Table  # one row for each row of the table; knows their names, if they have any
    note: str  # how the rows were paired
    # Whether they were paired by position, unasked, though the table has names.
    doubtful: bool = False


def names_of(samples: pa.Table | None) -> Names | None:
    """Return the names of the rows that annotations know; None where they know none.

    Raises
    ------
    ValueError
        If they do not hold what they say names the rows.
    """
    found = None if samples is None else (samples.schema.metadata or {}).get(ROW_NAMES)
    if samples is None or found is None:
        return None
    try:
        columns = tuple(json.loads(found))
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


def pair(
    samples: Any,
    names: Names | None,
    n_rows: int | None,
    *,
    samples_id: str | None,
    by_position: bool,
    where: str,
    function: str,
) -> Paired:
    """Put annotations into the order of the rows of a table.

    Parameters
    ----------
    samples : path or table
        The annotations. The index of a pandas frame may name its rows.
    names : Names or None
        Names of the rows of the table.
    n_rows : int or None
        Their number; None where it is not known yet, and the caller checks it.
    samples_id : str or None
        Column of the annotations that names the rows; None to look for it.
    by_position : bool
        Whether the first row of the annotations belongs to the first of the table, and so on.
    where, function : str
        What the table is called, and who asks, for errors.

    Raises
    ------
    TypeError
        If `samples` is neither a path nor a table.
    ValueError
        If a row of the table has no annotations or several, names of the table repeat, several
        columns could name the rows, `samples_id` is no column, or there are no names to go by and
        the numbers of rows differ.
    """
    if by_position and samples_id is not None:
        raise ValueError(
            f"{function}: samples_id={quoted(samples_id)} pairs rows by their names and "
            "samples_by_position by their order; give one of them."
        )
    table = samples_table(samples, function)
    if samples_id is not None and names is None:
        raise ValueError(
            f"{function}: samples_id={quoted(samples_id)} needs row names or a column "
            f"{quoted(samples_id)} in {where}, which has neither. {BY_POSITION}"
        )
    if by_position or names is None:
        why = "as asked" if by_position else f"as {where} has no row names"
        return _in_order(table, names, n_rows, f"{why}.", False, function)
    keys = _keys(samples, table, names)
    key = _asked(keys, table, samples_id, function) or _found(keys, names, function)
    if key is None:
        why = (
            f"as none of their columns holds the names of the rows of {where}, such as "
            f"{quoted(names.labels[0])} ({names.title})."
        )
        return _in_order(table, names, n_rows, why, True, function)
    order, extra = _order(key, names, where, function)
    note = f"Rows of samples were paired with those of {where} by {_called(key)}."
    if extra:
        note += f" {extra:,} rows of samples are not in {where} and were ignored."
    return Paired(_with_names(table.take(order), names), note)


@dataclass(frozen=True)
class _Key:
    """A column of the annotations that may name the rows, and the rows' names in its form."""

    columns: tuple[str, ...]
    labels: Sequence[str | None]
    wanted: Sequence[str]
    numbers: bool

    def places(self) -> dict[str, list[int]]:
        """Return where the annotations have each name of the table."""
        found: dict[str, list[int]] = {name: [] for name in self.wanted}
        for row, label in enumerate(self.labels):
            if label in found:
                found[label].append(row)
        return found

    def names_rows(self) -> bool:
        """Return whether values look like names of the rows: some are, and seldom twice."""
        rows = [len(places) for places in self.places().values() if places]
        enough = _MOSTLY * len(set(self.wanted)) if self.numbers else 1
        return len(rows) >= max(1, enough) and sum(rows) <= max(len(rows) + 1, _UNIQUE * len(rows))


def _keys(samples: Any, table: pa.Table, names: Names) -> list[_Key]:
    """Return what may name the rows: columns, FID and IID together, the index of a frame."""
    folded = {name.lstrip("#").casefold(): name for name in table.column_names}
    pair_ = tuple(folded[part] for part in ("fid", "iid") if part in folded)
    groups: list[tuple[str, ...]] = [(name,) for name in table.column_names]
    if len(names.columns) == 2 and len(pair_) == 2:
        groups = [pair_]
    keys = [_key(group, [table.column(name) for name in group], names) for group in groups]
    index: Any = getattr(samples, "index", None)
    if type(samples).__module__.startswith("pandas") and type(index).__name__ == "Index":
        import pyarrow as pa

        title = str(index.name) if index.name is not None else "index"
        with suppress(pa.ArrowException):  # labels of several types name nothing
            keys.append(_key((title,), [pa.array(index, from_pandas=True)], names))
    return [key for key in keys if key is not None]


def _key(columns: tuple[str, ...], arrays: Sequence[Any], names: Names) -> _Key | None:
    parts = [_texts(array) for array in arrays]
    if any(part is None for part in parts):
        return None
    lists = [part[0] for part in parts if part is not None]
    whole = all(part[1] for part in parts if part is not None)
    labels = [None if None in row else "_".join(row) for row in zip(*lists, strict=True)]
    wanted: Sequence[str] = names.labels
    if whole and len(arrays) == 1 and all(label.isdecimal() for label in wanted):
        plain = [str(int(label)) for label in wanted]  # a file of numbers lost their leading zeros
        wanted = plain if len(set(plain)) == len(set(wanted)) else wanted
    digits = all(label.isdecimal() for label in names.labels)
    return _Key(columns, labels, wanted, digits)


def _texts(array: Any) -> tuple[list[str | None], bool] | None:
    """Return values as text, and whether they are whole numbers; None where neither."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    if text or pa.types.is_integer(array.type):
        return array.cast(pa.large_string()).to_pylist(), not text
    return None


def texts_of(array: Any) -> list[str | None] | None:
    """Return text or whole numbers as text, None where missing; None where it is neither."""
    found = _texts(array)
    return None if found is None else found[0]


def _joined(samples: pa.Table, columns: Sequence[str]) -> list[str]:
    parts = [texts_of(samples.column(name)) for name in columns]
    if any(part is None for part in parts):
        raise TypeError("names of rows are text or whole numbers")
    known = [part for part in parts if part is not None]
    return ["_".join(map(str, row)) for row in zip(*known, strict=True)]


def _asked(
    keys: Sequence[_Key], table: pa.Table, samples_id: str | None, function: str
) -> _Key | None:
    if samples_id is None:
        return None
    for key in keys:
        if key.columns == (samples_id,):
            return key
    if samples_id in table.column_names:
        raise ValueError(
            f"{function}: column {quoted(samples_id)} of samples is of type "
            f"{table.column(samples_id).type}; row names must be text or whole numbers."
        )
    raise ValueError(
        f"{function}: samples has no column {quoted(samples_id)}; its columns are "
        f"{', '.join(map(quoted, table.column_names[:_SHOWN]))}."
    )


def _found(keys: Sequence[_Key], names: Names, function: str) -> _Key | None:
    """Return the only key that names the rows; None where there is none."""
    titles = {tuple(part.casefold() for part in names.columns)}
    own = [key for key in keys if tuple(c.lstrip("#").casefold() for c in key.columns) in titles]
    good = [key for key in keys if key.names_rows()]
    if not good:  # the column that has the name of the names, though it holds none of them
        return next((key for key in own if key.columns[-1].lstrip("#").casefold() == "iid"), None)
    first = good[0].places()
    if all(key.wanted == good[0].wanted and key.places() == first for key in good[1:]):
        return good[0]
    preferred = [key for key in own if key in good]
    if preferred:
        return preferred[0]
    listed = ", ".join(_called(key) for key in good)
    raise ValueError(
        f"{function}: several columns of samples could hold the row names: {listed}. Hint: choose "
        "one with samples_id."
    )


def _order(key: _Key, names: Names, where: str, function: str) -> tuple[NDArray[np.int64], int]:
    """Return the row of the annotations of each row, and how many of them belong to none."""
    counts = Counter(key.wanted)
    twice = [label for label, count in counts.items() if count > 1]
    if twice:
        raise ValueError(
            f"{function}: names of the rows of {where} ({names.title}) must be unique to pair them "
            f"with samples, but {_some(twice)} occur more than once. {BY_POSITION}"
        )
    places = key.places()
    several = [label for label, rows in places.items() if len(rows) > 1]
    if several:
        raise ValueError(
            f"{function}: samples must have one row for each row of {where}, but {_called(key)} "
            f"has {_some(several)} more than once."
        )
    absent = [label for label, rows in places.items() if not rows]
    if absent:
        raise ValueError(
            f"{function}: samples must have a row for each row of {where}, but {_called(key)} "
            f"lacks {len(absent):,} of {len(places):,}: {_some(absent)}. Hint: add them to samples "
            f"or leave them out of {where}; samples_id names another column."
        )
    order = np.array([places[label][0] for label in key.wanted], dtype=np.int64)
    return order, len(key.labels) - len(order)


def _in_order(
    table: pa.Table,
    names: Names | None,
    n_rows: int | None,
    why: str,
    doubtful: bool,
    function: str,
) -> Paired:
    if n_rows is not None:
        check_samples(table, n_rows, function)
    note = f"Rows of samples were paired by position, {why}"
    return Paired(_with_names(table, names), note, doubtful)


def _with_names(table: pa.Table, names: Names | None) -> pa.Table:
    """Return annotations that know the names of their rows, in a column more if need be."""
    import pyarrow as pa

    if names is None:
        return table
    for column in table.column_names:
        found = _texts(table.column(column))
        if found is not None and not found[1] and found[0] == list(names.labels):
            return named_rows(table, column)
    if len(names.labels) != table.num_rows:  # refused later
        return table
    title = "_".join(names.columns)
    while title in table.column_names:
        title += "_"
    return named_rows(table.append_column(title, pa.array(names.labels, pa.string())), title)


def _called(key: _Key) -> str:
    return "column " + " and ".join(map(quoted, key.columns))


def _some(labels: Iterable[str]) -> str:
    given = list(labels)
    more = ", ..." if len(given) > _SHOWN else ""
    return ", ".join(map(quoted, given[:_SHOWN])) + more
