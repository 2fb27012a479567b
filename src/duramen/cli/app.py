"""The commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from duramen import __version__
from duramen.cli.context import CONTEXT
from duramen.cli.declaration import ChoiceCommand, callback
from duramen.cli.exact import EXACT
from duramen.cli.pack import PACK
from duramen.cli.plan import PLAN
from duramen.cli.rank import RANK
from duramen.cli.select import SELECT

app = typer.Typer(
    name="duramen",
    help="Feature importances from ensembles of randomized trees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"duramen {__version__}")
        raise typer.Exit


@app.callback()
def duramen(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Feature importances from ensembles of randomized trees."""


for _one in (RANK, EXACT, PLAN, CONTEXT, PACK, SELECT):
    app.command(_one.name, cls=ChoiceCommand, help=_one.help)(callback(_one.options, _one))
