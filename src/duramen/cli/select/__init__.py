"""`duramen select`: features found with only some of them in memory."""

from duramen.cli.command import Command
from duramen.cli.select.options import COMMAND, Options
from duramen.cli.select.run import run_select

SELECT = Command(
    COMMAND,
    "Find the columns that are relevant for one of them, with only some of them in memory at a "
    "time.\n\nGrows trees on columns drawn at random and on those found before, prints what was "
    "found in order, and writes result.csv, result.parquet, run.json and report.html to the folder "
    "--out.",
    Options,
    run_select,
)
