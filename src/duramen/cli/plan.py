"""`duramen plan`: how to look for relevant features when memory does not hold all of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, user_errors
from duramen.cli.options import (
    OutOption,
    QuietOption,
    SpreadsheetSafeOption,
    spreadsheet_words,
)
from duramen.cli.output import results_folder, write_results
from duramen.cli.reading import repeated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from duramen.reports import Run
    from duramen.theory.subspaces.planning import Plan

COMMAND = "plan"

_BYTES = {
    "": 1,
    **{letter: 1000**i for i, letter in enumerate("kmgt", start=1)},
    **{f"{letter}i": 1024**i for i, letter in enumerate("kmgt", start=1)},
}
# Curves are drawn for so many trees, and features of one kind, at most.
_MOST_TREES = 1_000_000
_MOST_FEATURES = 500


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    rows: int
    features: int
    memory: str
    relevant: tuple[str, ...]
    classes: int
    values: int
    risk: float
    keep: tuple[float, ...]
    out: Path
    spreadsheet_safe: bool
    quiet: bool


def plan(
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows of the table.")],
    features: Annotated[int, typer.Option(min=1, metavar="P", help="Features of the table.")],
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory for growing a tree, such as 512MB or 2GiB.")
    ],
    relevant: Annotated[
        list[str],
        typer.Option(
            metavar="DEGREE:NUMBER",
            help="Relevant features expected of a degree, such as 0:10,1:5; a number alone is of "
            "degree 0.",
        ),
    ],
    classes: Annotated[
        int, typer.Option(min=1, metavar="C", help="Classes of the target; 1 for a number.")
    ] = 2,
    values: Annotated[
        int, typer.Option(min=2, metavar="V", help="Most distinct values of a feature.")
    ] = 256,
    risk: Annotated[
        float, typer.Option(metavar="R", help="Probability that the trees may not do.")
    ] = 0.05,
    keep: Annotated[
        list[float] | None,
        typer.Option(
            metavar="ALPHA",
            help="Share of a tree's features for those found before; repeat for more. By default "
            "0, 0.5 and 1 are compared.",
        ),
    ] = None,
    out: OutOption = Path("duramen-plan"),
    spreadsheet_safe: SpreadsheetSafeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Advise how many features a tree and how many trees find what is relevant."""
    options = Options(
        rows=rows,
        features=features,
        memory=memory,
        relevant=tuple(relevant),
        classes=classes,
        values=values,
        risk=risk,
        keep=tuple(keep or (0.0, 0.5, 1.0)),
        out=out,
        spreadsheet_safe=spreadsheet_safe,
        quiet=quiet,
    )
    with ending_well(COMMAND, out):
        run_plan(options)


def run_plan(options: Options) -> None:
    """Reckon, write, say."""
    clock = Clock()
    with ExitStack() as stack:
        with user_errors(COMMAND):
            expected = parsed_relevant(options.relevant)
            budget = parsed_memory(options.memory)
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            with clock.step("plan"):
                advice = _advice(options, expected, budget)
        from duramen.reports import summarise_plan

        with clock.step("curves"):
            curves = found_curves(advice)
        run = _record(options, advice, clock)
        report = partial(summarise_plan, advice, run, curves=curves)
        write_results(folder, _columns(advice), run, report, clock, options.spreadsheet_safe)
    if not options.quiet:
        from duramen.cli.show_plan import show_plan

        show_plan(advice, options.out)


def parsed_memory(given: str) -> int:
    """Return a size such as 512MB or 1.5GiB in bytes.

    Raises
    ------
    ValueError
        If it is none.
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([kmgt]i?)?b?", given.strip().lower())
    if match is None:
        raise ValueError(f"--memory must be a size such as 512MB, 2GiB or 800000, got {given!r}")
    return int(float(match[1]) * _BYTES[match[2] or ""])


def parsed_relevant(given: Sequence[str]) -> dict[int, int]:
    """Return the number of relevant features by degree.

    Raises
    ------
    ValueError
        If an entry is no number and no DEGREE:NUMBER, or a degree comes twice.
    """
    counts: dict[int, int] = {}
    for entry in (part for text in given for part in text.split(",")):
        match = re.fullmatch(r"(?:(\d+):)?(\d+)", entry.strip())
        if match is None:
            raise ValueError(
                "--relevant must be numbers of features by degree, such as 10 or 0:10,1:5, got "
                f"{entry!r}"
            )
        degree = int(match[1] or 0)
        if degree in counts:
            raise ValueError(f"--relevant names degree {degree} twice")
        counts[degree] = int(match[2])
    return counts


def found_curves(advice: Plan) -> dict[str, dict[float, NDArray[np.float64]]]:
    """Return, for a chain up to the highest degree and for degree 0, the features found by share.

    Exact for 0 .. n_trees trees; empty where that is too much to draw.
    """
    from duramen.theory.subspaces.convergence import found_curve

    highest, alone = max(advice.relevant), advice.relevant.get(0, 0)
    wanted: list[tuple[str, Any, int]] = []
    if highest:
        wanted.append((f"a chain of {highest + 1} features", "chain", highest + 1))
    if alone:
        wanted.append(
            (f"{alone:,} feature{'' if alone == 1 else 's'} of degree 0", "marginal", alone)
        )
    if advice.n_trees > _MOST_TREES:
        return {}
    return {
        what: {
            option.keep: found_curve(
                scenario,
                n_features=advice.n_features,
                subspace=advice.subspace,
                n_relevant=number,
                keep=option.keep,
                n_trees=advice.n_trees,
            )
            for option in advice.options
        }
        for what, scenario, number in wanted
        if number <= _MOST_FEATURES
    }


def _advice(options: Options, relevant: dict[int, int], memory: int) -> Plan:
    from duramen.theory.subspaces.planning import plan as advise

    return advise(
        n_rows=options.rows,
        n_features=options.features,
        memory=memory,
        relevant=relevant,
        bytes_per_value=1 if options.values <= 2**8 else 2 if options.values <= 2**16 else 4,
        n_classes=options.classes,
        risk=options.risk,
        keep=options.keep,
    )


def _columns(advice: Plan) -> dict[str, Any]:
    options = advice.options
    columns: dict[str, Any] = {
        "alpha": [option.keep for option in options],
        "subspace": [advice.subspace] * len(options),
        "advised": [option.keep == advice.keep for option in options],
        "places_kept": [option.places for option in options],
    }
    for name in ("trees", "trees_to_find", "trees_to_see", "chain_trees", "marginal_trees"):
        columns[name] = [float(getattr(option, name)) for option in options]
    for i, degree in enumerate(advice.relevant):
        columns[f"chance_degree_{degree}"] = [option.chances[i][1] for option in options]
        columns[f"trees_degree_{degree}"] = [
            float(option.trees_by_degree[i][1]) for option in options
        ]
    return columns


def _record(options: Options, advice: Plan, clock: Clock) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    results = advice.to_dict()
    asked = ("n_rows", "n_features", "memory", "relevant", "bytes_per_value", "n_classes", "risk")
    settings = {name: results.pop(name) for name in asked}
    return Run(
        command=_command(options),
        n_rows=advice.n_rows,
        n_features=advice.n_features,
        settings={**settings, "keep": sorted(options.keep)},
        versions=versions("matplotlib"),
        results=results,
        timings=dict(clock.seconds),
    )


def _command(options: Options) -> str:
    words = ["duramen", COMMAND, "--rows", str(options.rows), "--features", str(options.features)]
    words += ["--memory", options.memory, *repeated("--relevant", options.relevant)]
    words += ["--classes", str(options.classes), "--values", str(options.values)]
    words += ["--risk", repr(options.risk)]
    words += spreadsheet_words(options.spreadsheet_safe)
    return shlex.join([*words, *repeated("--keep", [repr(share) for share in options.keep])])
