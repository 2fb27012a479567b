"""`duramen context`: features, or links between columns, that depend on a context."""

from duramen.cli.command import Command
from duramen.cli.context.options import COMMAND, Options
from duramen.cli.context.run import run_context

CONTEXT = Command(
    COMMAND,
    "Find the columns whose importance for a target depends on a context, or the links between "
    "columns that do.\n\nPrints what depends on the context, after the relevance of the context "
    "itself, and writes result.csv, result.parquet, run.json and report.html to the folder --out.",
    Options,
    run_context,
)
