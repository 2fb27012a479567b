"""The commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from duramen import __version__
from duramen.cli.choices import CatalogueCommand
from duramen.cli.context import context
from duramen.cli.exact import exact
from duramen.cli.pack import pack
from duramen.cli.plan import plan
from duramen.cli.rank import rank
from duramen.cli.select import select

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


app.command(
    cls=CatalogueCommand,
    help="Rank the columns of a table by how much they tell about one of them.\n\n"
    "Grows a forest, prints the ranking, and leaves result.csv, result.parquet, run.json and "
    "report.html in the folder --out.",
)(rank)
app.command(
    cls=CatalogueCommand,
    help="Compute the importances of infinitely many trees, exactly, and which features are "
    "relevant.\n\nTakes the rows of a table for all there is, prints the importances with the "
    "relevance of every feature and the Markov boundaries, and leaves result.csv, result.parquet, "
    "run.json and report.html in the folder --out.",
)(exact)
app.command(
    help="Advise how many features a tree, and how many trees, find what is relevant when memory "
    "does not hold all features.\n\nPrints the advice with its reasons, and leaves result.csv, "
    "result.parquet, run.json and report.html in the folder --out."
)(plan)
app.command(
    cls=CatalogueCommand,
    help="Tell which columns say something else of a target in some circumstances than in all, or "
    "which links between columns do.\n\nPrints what depends on the context, after the context's "
    "own relevance, and leaves result.csv, result.parquet, run.json and report.html in the folder "
    "--out.",
)(context)
app.command(
    cls=CatalogueCommand,
    help="Pack a table into a column store, a folder from which columns are read as they are "
    "needed.\n\nTakes little memory however large the file; a run that was stopped goes on where "
    "it was. Makes the folder --out, and leaves result.csv, result.parquet, run.json and "
    "report.html in it.",
)(pack)
app.command(
    cls=CatalogueCommand,
    help="Find the columns that tell something about one of them, with only some of them in memory "
    "at a time.\n\nGrows trees on columns drawn at random and on those found before, prints what "
    "was found in order, and leaves result.csv, result.parquet, run.json and report.html in the "
    "folder --out.",
)(select)
