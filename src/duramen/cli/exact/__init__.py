"""`duramen exact`: importances of infinitely many trees, and the relevance of the features."""

from duramen.cli.command import Command
from duramen.cli.exact.options import COMMAND, Options
from duramen.cli.exact.run import run_exact

EXACT = Command(
    COMMAND,
    "Compute the exact importances of infinitely many trees, and the relevance of the features.\n\n"
    "Treats the rows of a table as the population, prints the importances with the relevance of "
    "every feature and the Markov boundaries, and writes result.csv, result.parquet, run.json and "
    "report.html to the folder --out.",
    Options,
    run_exact,
)
