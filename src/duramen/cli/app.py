"""Application of all commands."""

from __future__ import annotations

from inspect import getdoc
from typing import Annotated

import typer

from duramen import __version__
from duramen.cli.commands.compare import compare
from duramen.cli.commands.connectome import connectome
from duramen.cli.commands.context import context
from duramen.cli.commands.exact import exact
from duramen.cli.commands.network import network
from duramen.cli.commands.pack import pack
from duramen.cli.commands.plan import plan
from duramen.cli.commands.rank import rank
from duramen.cli.commands.select import select
from duramen.cli.declaration import ChoiceCommand, callback

app = typer.Typer(
    name="duramen",
    help="Feature importances from ensembles of randomized trees.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables leave 30 characters for descriptions
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"duramen {__version__}")
        raise typer.Exit


def _manual(ctx: typer.Context, asked: bool) -> None:
    if asked:
        from duramen.cli.manual import manual

        typer.echo(manual(ctx), nl=False)
        raise typer.Exit


@app.callback()
def duramen(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    man: Annotated[
        bool,
        typer.Option(
            "--man",
            callback=_manual,
            is_eager=True,
            help="Print the manual page of all commands, in the language of man.",
        ),
    ] = False,
) -> None:
    """Feature importances from ensembles of randomized trees."""


for _run in (rank, select, compare, context, network, connectome, exact, plan, pack):
    _help = "\n\n".join(" ".join(part.split()) for part in str(getdoc(_run)).split("\n\n"))
    app.command(_run.__name__, cls=ChoiceCommand, help=_help)(callback(_run))
