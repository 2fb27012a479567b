"""Options that several commands have, with one name, one meaning and one help text each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from duramen.cli.choices import CatalogueChoice, FileFormats


class Task(StrEnum):
    """What the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


Impurity = Literal["entropy", "gini", "variance"]


def criterion_names() -> tuple[str, ...]:
    """Return the impurity criteria, and auto."""
    from duramen.forests.criteria import CRITERIA

    return ("auto", *(one.name for one in CRITERIA))


def settled_criterion(asked: str, task: str) -> Impurity:
    """Return the impurity criterion that an option asks for, given what the target is.

    Raises
    ------
    ValueError
        If it does not suit the target.
    """
    from duramen.forests.criteria import CRITERIA

    suited = [one.name for one in CRITERIA if one.task == task]
    if asked == "auto":
        return "variance" if task == "regression" else "entropy"
    if asked not in suited:
        raise ValueError(
            f"--criterion: must be auto or {' or '.join(suited)} for {task}, got {asked}"
        )
    return cast("Impurity", asked)


FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="File with a table, in one of the formats below."),
    FileFormats(("read",)),
]
PlaceArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="File with a table, in one of the formats below, or a folder made by duramen pack, or "
        "its URL.",
    ),
    FileFormats(("read", "columns")),
]
TargetOption = Annotated[str | None, typer.Option(metavar="NAME", help="Column to explain.")]
TaskOption = Annotated[Task, typer.Option(help="What the target is; auto goes by its values.")]
DropOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Column to leave out; repeat for more.")
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Numbers that are categories; repeat for more."),
]
SamplesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default=False,
        help="Sample annotations, such as classes: a table, paired with FILE by the names of the "
        "rows.",
    ),
]
StrataOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Column, of the table or of --samples, within whose values the test permutes rows, "
        "such as the population or the batch. It is no feature.",
    ),
]
BlocksOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Column, of the table or of --samples, whose values tell the blocks of rows that the "
        "test keeps together, such as the person or the family. It is no feature.",
    ),
]
SamplesIdOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Column of --samples with the names of the rows; by default the one that holds them. "
        "FILE needs a column of that name if it does not name its rows.",
    ),
]
SamplesByPositionOption = Annotated[
    bool,
    typer.Option(
        "--samples-by-position",
        help="Pair the rows of --samples with those of FILE by their order, not by name.",
    ),
]
NaOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        show_default=False,
        help="Further word for a missing value in CSV and TSV files, such as '?'; repeat for more.",
    ),
]
DecimalOption = Annotated[
    str, typer.Option(metavar="SIGN", help="Decimal point of numbers in CSV and TSV files: . or ,")
]
CriterionOption = Annotated[
    str,
    typer.Option(
        parser=CatalogueChoice(criterion_names),
        metavar="NAME",
        help="Impurity criterion; auto is entropy for classes, variance for numbers.",
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default=False,
        help="Where what is done is kept; a run that was stopped goes on from it.",
    ),
]
SeedOption = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of all random numbers.")
]
JobsOption = Annotated[
    int,
    typer.Option(
        metavar="N", help="Threads; -1 for all processors. The result does not depend on it."
    ),
]
OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")]
SpreadsheetSafeOption = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        help="Put an apostrophe before text in result.csv that a spreadsheet would evaluate as a "
        "formula, such as names that begin with =, +, - or @.",
    ),
]
TopOption = Annotated[int, typer.Option(min=0, metavar="K", help="Rows to show in the terminal.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]


def spreadsheet_words(asked: bool) -> list[str]:
    """Return the option for result.csv that a command line needs."""
    return ["--spreadsheet-safe"] if asked else []
