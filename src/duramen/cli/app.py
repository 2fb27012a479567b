"""The commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from duramen import __version__
from duramen.cli.rank import rank

app = typer.Typer(
    name="duramen",
    help="Which variables matter, why, and how surely.",
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
    """Which variables matter, why, and how surely."""


app.command(
    help="Rank the columns of a table by how much they tell about one of them.\n\n"
    "Grows a forest, prints the ranking, and leaves result.csv, result.parquet, run.json and "
    "report.html in the folder --out."
)(rank)
