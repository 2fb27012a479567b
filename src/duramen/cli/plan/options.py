"""Options of `duramen plan`."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from duramen.cli.declaration import group, option
from duramen.cli.options import Output

COMMAND = "plan"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen plan`."""

    rows: int = option(MISSING, "Number of rows of the table.", metavar="N", min=1)
    features: int = option(MISSING, "Number of features of the table.", metavar="P", min=1)
    memory: str = option(
        MISSING, "Memory for growing a tree, such as 512MB or 2GiB.", metavar="SIZE"
    )
    relevant: tuple[str, ...] = option(
        MISSING,
        "Expected number of relevant features of each degree, the number of other features that "
        "they need, such as 0:10,1:5; a number alone is for degree 0.",
        metavar="DEGREE:NUMBER",
    )
    classes: int = option(
        2, "Number of classes of the target; 1 for a numeric target.", metavar="C", min=1
    )
    values: int = option(256, "Maximum number of distinct values of a feature.", metavar="V", min=2)
    risk: float = option(
        0.05, "Accepted probability that the trees do not find all relevant features.", metavar="R"
    )
    keep: tuple[float, ...] = option(
        (0.0, 0.5, 1.0),
        "Fraction of the features of a tree that may be features found before; repeat for more. "
        "0, 0.5 and 1 are compared by default.",
        metavar="ALPHA",
    )
    output: Output = group(Output, "Results", out=Path("duramen-plan"))
