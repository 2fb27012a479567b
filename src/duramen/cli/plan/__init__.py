"""`duramen plan`: advice on the search for relevant features where memory is limited."""

from duramen.cli.command import Command
from duramen.cli.plan.options import COMMAND, Options
from duramen.cli.plan.run import run_plan

PLAN = Command(
    COMMAND,
    "Advise how many features a tree, and how many trees, find the relevant features when memory "
    "does not hold all features.\n\nPrints the advice with its reasons, and writes result.csv, "
    "result.parquet, run.json and report.html to the folder --out.",
    Options,
    run_plan,
)
