"""Command `duramen plan`: advice on a search for relevant features where memory is limited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.command import perform
from duramen.cli.declaration import command_line, group, option
from duramen.cli.ending import Clock
from duramen.cli.options import Output

if TYPE_CHECKING:
    from duramen.reports import Report, Run
    from duramen.support.arrays import FloatArray
    from duramen.theory.subspaces.planning import Plan


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


# Curves are drawn for so many trees, and features of one kind, at most.
_MOST_TREES = 1_000_000
_MOST_FEATURES = 500


def plan(options: Options) -> None:
    """Plan the number of trees, and the number of features of each, to grow.

    Example: duramen plan --rows 1000 --features 500000 --memory 512MB --relevant 0:10,1:5

    For tables with more features than memory holds. Prints the advice with its reasons, and writes
    result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> tuple[dict[int, int], int]:
    """Return the relevant features by degree, and the memory in bytes."""
    return parsed_relevant(options.relevant), parsed_memory(options.memory)


def _compute(options: Options, asked: tuple[dict[int, int], int], clock: Clock) -> Plan:
    from duramen.theory.subspaces.planning import plan as advise

    with clock.step("plan"):
        return advise(
            n_rows=options.rows,
            n_features=options.features,
            memory=asked[1],
            relevant=asked[0],
            bytes_per_value=1 if options.values <= 2**8 else 2 if options.values <= 2**16 else 4,
            n_classes=options.classes,
            risk=options.risk,
            keep=options.keep,
        )


def _report(options: Options, _: Any, advice: Plan, clock: Clock) -> Report:
    """Return the report of the plan, with the table of the fractions kept."""
    from duramen.reports import summarize_plan

    with clock.step("curves"):
        curves = found_curves(advice)
    report = summarize_plan(advice, _record(options, advice, clock), curves=curves)
    return replace(report, table=_columns(advice))


def parsed_memory(text: str) -> int:
    """Return a size such as 512MB or 1.5GiB in bytes."""
    from duramen.io.store.reader import memory_bytes  # a slow import

    return memory_bytes(text, f"duramen {COMMAND}", least=0)


def parsed_relevant(texts: Sequence[str]) -> dict[int, int]:
    """Return the number of relevant features by degree, of entries NUMBER or DEGREE:NUMBER."""
    counts: dict[int, int] = {}
    for entry in (part for text in texts for part in text.split(",")):
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


def found_curves(advice: Plan) -> dict[str, dict[float, FloatArray]]:
    """Return, for a chain up to the highest degree and for degree 0, the features found by `keep`.

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


def _columns(advice: Plan) -> dict[str, Any]:
    options = advice.options
    columns: dict[str, Any] = {
        "keep": [option.keep for option in options],
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
    from duramen.support.provenance import versions

    results = advice.to_dict()
    asked = ("n_rows", "n_features", "memory", "relevant", "bytes_per_value", "n_classes", "risk")
    settings = {name: results.pop(name) for name in asked}
    return Run(
        command=command_line(COMMAND, options),
        n_rows=advice.n_rows,
        n_features=advice.n_features,
        settings={**settings, "keep": sorted(options.keep)},
        versions=versions("matplotlib"),
        results=results,
        timings=dict(clock.seconds),
    )
