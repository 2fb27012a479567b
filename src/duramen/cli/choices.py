"""Options whose values are names in a catalogue, which is read when a command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import unwrap
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand


class CatalogueChoice:
    """Parser of an option that takes one of the names of a catalogue.

    Parameters
    ----------
    names : callable
        Returns the names. A catalogue takes long to import, and most commands need none.
    describe : callable
        Returns a name as the help shows it.
    """

    __name__ = "name"

    def __init__(
        self, names: Callable[[], Iterable[str]], describe: Callable[[str], str] = str
    ) -> None:
        self.names = names
        self.describe = describe

    def __call__(self, value: str) -> str:
        """Return the value if it is a name.

        Raises
        ------
        typer.BadParameter
            If it is none, naming all of them.
        """
        names = tuple(self.names())
        if value not in names:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, names))}.")
        return value


@dataclass(frozen=True)
class FileFormats:
    """File formats that an argument takes, for the help.

    Parameters
    ----------
    uses : tuple of str
        Functions of a `Format`, of which each of the formats has one.
    """

    uses: tuple[str, ...]

    def __str__(self) -> str:
        from duramen.tables import formats

        return formats.listed(*self.uses)


class CatalogueCommand(TyperCommand):
    """Command whose help lists what its options and files may be by the catalogues."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; the names stand below it, as long ones fit no column."""
        hints = get_type_hints(unwrap(self.callback), include_extras=True) if self.callback else {}
        listed = []
        for param in self.params:
            for option in getattr(hints.get(param.name), "__metadata__", ()):
                if isinstance(option, FileFormats):
                    listed.append(f"{param.metavar}: {option}.")
                elif isinstance(option.parser, CatalogueChoice):
                    names = map(option.parser.describe, option.parser.names())
                    listed.append(f"{param.opts[0]}: {', '.join(names)}.")
        self.epilog = "\n\n".join(listed)
        super().format_help(ctx, formatter)
