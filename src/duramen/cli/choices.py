"""Options whose values are names in a catalogue, which is read when a command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    """

    __name__ = "name"

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names = names

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


class CatalogueCommand(TyperCommand):
    """Command whose help lists the names that its options take from catalogues."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        hints = get_type_hints(unwrap(self.callback), include_extras=True) if self.callback else {}
        params: list[Any] = self.params
        for param in params:
            for option in getattr(hints.get(param.name), "__metadata__", ()):
                if isinstance(option.parser, CatalogueChoice):
                    param.help = f"{param.help} One of {', '.join(option.parser.names())}."
        super().format_help(ctx, formatter)
