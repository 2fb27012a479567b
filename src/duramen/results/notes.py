"""Notes: limits that a reader of a result must know before relying on it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from duramen.support.warning import warn

_WIDTH = 100


def checked_notes(owner: str, notes: Any) -> tuple[str, ...]:
    """Return notes of a result of the class `owner` as a tuple of sentences, each one once."""
    if isinstance(notes, str):
        raise TypeError(f"{owner}: notes must be a sequence of strings, got {notes!r} alone.")
    given = tuple(notes)
    for note in given:
        if not isinstance(note, str):
            raise TypeError(f"{owner}: notes must be strings, got {note!r}.")
        if not note.strip():
            raise ValueError(f"{owner}: notes must not be empty, got {note!r}.")
    return tuple(dict.fromkeys(given))


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return the lines with which a result prints its notes."""
    return [
        line
        for note in notes
        for line in textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="  ")
    ]


def warn_of(function: str, notes: Iterable[str]) -> None:
    """Emit each note as a warning of a public function."""
    for note in notes:
        warn(f"{function}: {note}")
