"""`duramen rank`: from a table to a ranking of its features."""

from duramen.cli.command import Command
from duramen.cli.rank.options import COMMAND, Options
from duramen.cli.rank.run import run_rank

RANK = Command(
    COMMAND,
    "Rank the columns of a table by their importance for one of them.\n\n"
    "Grows a forest, prints the ranking, and writes result.csv, result.parquet, run.json and "
    "report.html to the folder --out.",
    Options,
    run_rank,
)
