"""Survival from columns of times, events and entries."""

from __future__ import annotations

from typing import Any

from duramen.data import SurvivalTarget
from duramen.data.survival import event_indicators
from duramen.data.target import target_array
from duramen.support.arrow import are_missing
from duramen.support.checks import warn
from duramen.support.text import joined, quoted

_SHOWN = 10  # values of events that a note names


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
    absent = are_missing(entries)
    if absent.any():
        raise ValueError(
            f"{entry_column} is missing in {absent.sum():,} of {len(absent):,} rows, first in row "
            f"{absent.argmax()}. Hint: drop_missing_target=True leaves these rows out; 0 stands "
            "for rows that were under observation from the start on"
        )
    starts = target_array(entries, function=entry_column)
    target = SurvivalTarget.of_columns(times, occurred, starts, function=function)
    if not target.truncated:
        warn(f"{entry_column} has no effect: no row enters after the first time")
    notes.append(
        f"rows are at risk after {entry or 'entry'}, up to {name}; tests permute entry, time and "
        f"event together, and assume that {entry or 'entry'} does not depend on irrelevant features"
    )
    return target, notes
