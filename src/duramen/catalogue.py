"""Catalogues: ordered records, such as measures and tests, with lookup by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True, eq=False)
class Entry:
    """Record of a catalogue.

    Attributes
    ----------
    name : str
        Name in Python: lower-case words joined by underscores.
    """

    name: str

    @property
    def option(self) -> str:
        """Name on the command line, with hyphens in place of underscores."""
        return self.name.replace("_", "-")


EntryT = TypeVar("EntryT", bound=Entry)


class Catalogue(Generic[EntryT]):
    """Records of one kind, in order, each found by its name.

    Parameters
    ----------
    what : str
        Noun for a record, for messages.
    entries : iterable of Entry
        Records that the package itself has.
    """

    def __init__(self, what: str, entries: Iterable[EntryT]) -> None:
        self._what = what
        self._entries: dict[str, EntryT] = {}
        for entry in entries:
            self.register(entry)

    def __iter__(self) -> Iterator[EntryT]:
        return iter(tuple(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> EntryT:
        if name not in self._entries:
            raise KeyError(f"no {self._what} named {name!r}; known: {', '.join(self._entries)}")
        return self._entries[name]

    def register(self, entry: EntryT, *, replace: bool = False) -> EntryT:
        """Add a record at the end and return it.

        Parameters
        ----------
        entry : Entry
            Record with a name of its own.
        replace : bool
            Whether it takes the place of a record of that name.

        Raises
        ------
        ValueError
            If the name is not of that form, or taken and `replace` is False.
        """
        if not _NAME.fullmatch(entry.name):
            raise ValueError(
                "register: name must be lower-case words joined by underscores, got "
                f"{entry.name!r}."
            )
        if entry.name in self._entries and not replace:
            raise ValueError(
                f"register: name must be new, but there is a {self._what} named {entry.name!r}. "
                "Hint: replace=True."
            )
        self._entries[entry.name] = entry
        return entry

    def remove(self, name: str) -> None:
        """Remove the record of that name."""
        self._entries.pop(self[name].name)
