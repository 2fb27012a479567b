"""Options whose values are the names of a catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from duramen.catalogue import Catalogue


class CatalogueChoice:
    """Choice among the records of a catalogue, read whenever it is asked for.

    Parameters
    ----------
    catalogue : callable
        Returns the catalogue; called late, so that a command that needs none loads none.
    """

    def __init__(self, catalogue: Callable[[], Catalogue[Any]]) -> None:
        self._catalogue = catalogue

    def record(self, option: str) -> Any:
        """Return the record of a name on the command line.

        Raises
        ------
        typer.BadParameter
            If there is none.
        """
        for record in self._catalogue():
            if record.option == option:
                return record
        raise typer.BadParameter(f"{option!r} is not one of {self.listed(repr)}.")

    def checked(self, option: str) -> str:
        """Check the value of an option, as its callback."""
        self.record(option)
        return option

    def listed(self, shown: Callable[[str], str] = str) -> str:
        """Return the names in their order."""
        return ", ".join(shown(record.option) for record in self._catalogue())
