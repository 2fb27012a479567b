"""Survival from columns of times, events and entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.data import SurvivalTarget
from duramen.data.dates import DateOrder, dates_of
from duramen.data.survival import event_indicators
from duramen.data.target import target_array
from duramen.support.arrays import FloatArray, are_missing, arrow_array
from duramen.support.checks import warn
from duramen.support.text import joined, quoted

_SHOWN = 10  # values of events that a note names


def follow_up(
    of_time: tuple[str, Any], of_entry: tuple[str, Any] | None, groups: Any, order: DateOrder
) -> tuple[FloatArray, FloatArray | None, str] | None:
    """Return times since the entry where both are dates, entries, and how times were counted.

    Where rows of a group follow one another, as intervals of a person, times are those since the
    first entry of the group, and rows are at risk from their own entry on; else entries are None.
    Returned is None where neither times nor entries are dates.

    Raises
    ------
    ValueError
        If one of them is a date alone, an entry is missing, or a time lies before the entry.
    """
    name, values = of_time
    columns = {"target": arrow_array(values)}
    if of_entry is not None:
        columns["entry"] = arrow_array(of_entry[1])
    read = {
        role: how_and_numbers
        for role, how_and_numbers in dates_of(columns, order)[0].items()
        if how_and_numbers[0].kind == "dates"
    }
    if not read:
        if order != "auto" and dates_of({"target": columns["target"]})[0]:
            example = quoted(columns["target"].drop_null()[0].as_py())
            raise ValueError(
                f"read: target={name!r} has dates such as {example}, which date_order={order!r} "
                "does not fit. Hint: leave date_order out"
            )
        return None
    if of_entry is None:
        raise ValueError(
            f"read: target={name!r} has dates; survival needs the time from a start to the event. "
            "Hint: entry=NAME names the column of the date from which each row was observed, such "
            "as that of the diagnosis; times are then days since this date"
        )
    entry = of_entry[0]
    if len(read) == 1:
        (role,) = read
        other, title = ("entry", entry) if role == "target" else ("target", name)
        raise ValueError(
            f"read: {role}={(name if role == 'target' else entry)!r} has dates, but "
            f"{other}={title!r} has not: both must be dates of one form, or both numbers"
        )
    (how, ends), (since, starts) = read["target"], read["entry"]
    starts = how.numbers_from(starts, since, entry)
    _refuse_missing(starts, f"read: entry={entry!r}" if entry else "read: entry", "")
    if (early := ends < starts).any():
        row = int(early.argmax())
        raise ValueError(
            f"read: target={name!r} is before entry={entry!r} in {early.sum():,} of "
            f"{len(early):,} rows, first in row {row}: {how.label(ends[row])} and "
            f"{how.label(starts[row])}. Hint: correct or leave out such rows"
        )
    counted = f"times are {how.unit} since {entry or 'entry'}"
    if groups is not None:
        _, of_row = np.unique(np.asarray(groups).astype(str), return_inverse=True)
        order_of_rows = np.lexsort((starts, of_row))
        same = np.diff(of_row[order_of_rows]) == 0
        if (ends[order_of_rows][:-1] <= starts[order_of_rows][1:])[same].all() and same.any():
            first = np.full(of_row.max() + 1, np.inf)
            np.fmin.at(first, of_row, starts)
            since_first = f"times are {how.unit} since the first {entry or 'entry'} of each group"
            origin = first[of_row]
            return ends - origin, starts - origin, since_first
    elif entry:
        counted += " of each row; with groups=NAME, since the first one of a person"
    return ends - starts, None, counted


def _refuse_missing(entries: Any, column: str, hint: str) -> None:
    absent = are_missing(entries)
    if absent.any():
        raise ValueError(
            f"{column} is missing in {absent.sum():,} of {len(absent):,} rows, first in row "
            f"{absent.argmax()}. Hint: drop_missing_target=True leaves these rows out{hint}"
        )


def survival_of(
    of_time: tuple[str, Any],
    of_event: tuple[str, Any],
    of_entry: tuple[str, Any],
    event_of_interest: str | int | None,
) -> tuple[SurvivalTarget, list[str]]:
    """Encode survival from names and values of its columns, and say how they were read."""
    (name, values), (event, events), (entry, entries) = of_time, of_event, of_entry
    function, event_column, entry_column = (
        f"read: {role}={title!r}" if title else f"read: {role}"
        for role, title in (("target", name), ("event", event), ("entry", entry))
    )
    times = target_array(values, function=function)
    states = target_array(events, function=event_column)
    occurred = event_indicators(states, event_of_interest, function=event_column, times=times)
    notes = []
    if event_of_interest is not None or not {*states.tolist()} <= {0, 1}:
        event_words, censored_words = (
            [*map(quoted, dict.fromkeys(states[rows].tolist()))] for rows in (occurred, ~occurred)
        )
        competing = len(censored_words) > 1 and event_of_interest is not None
        notes.append(
            f"the event is {joined(event_words, shown=_SHOWN)} of {event or 'event'}; rows with "
            f"{joined(censored_words, shown=_SHOWN) or 'no event'} are censored at their time"
            f"{', competing events too (cause-specific)' * competing}"
        )
    elif "cens" in event.lower():
        notes.append(
            f"1 in {event} is read as the event; event_of_interest=0 if 1 stands for censored rows"
        )
    if entries is None:
        return SurvivalTarget.of_columns(times, occurred, function=function), notes
    from_start = "; 0 stands for rows that were under observation from the start on"
    _refuse_missing(entries, entry_column, from_start)
    starts = target_array(entries, function=entry_column)
    target = SurvivalTarget.of_columns(times, occurred, starts, function=function)
    if not target.truncated:
        warn(f"{entry_column} has no effect: no row enters after the first time")
    notes.append(
        f"rows are at risk after {entry or 'entry'}, up to {name}; tests permute entry, time and "
        f"event together, and assume that {entry or 'entry'} does not depend on irrelevant features"
    )
    return target, notes
