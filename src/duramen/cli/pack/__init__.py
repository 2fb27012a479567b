"""`duramen pack`: from any table to a column store."""

from duramen.cli.command import Command
from duramen.cli.pack.options import COMMAND, Options
from duramen.cli.pack.run import run_pack

PACK = Command(
    COMMAND,
    "Pack a table into a column store, a folder from which columns are read as they are needed."
    "\n\nTakes little memory however large the file; a run that was stopped goes on where it was. "
    "Makes the folder --out, and writes result.csv, result.parquet, run.json and report.html to "
    "it.",
    Options,
    run_pack,
)
