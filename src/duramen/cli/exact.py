"""`duramen exact`: the importances of infinitely many trees, and which features are relevant."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, note, user_errors
from duramen.cli.finite import FEW, Discretize, Finite, finite, names_of_rows
from duramen.cli.options import (
    CategoricalOption,
    CriterionOption,
    DecimalOption,
    DropOption,
    FileArgument,
    Impurity,
    JobsOption,
    NaOption,
    OutOption,
    QuietOption,
    SpreadsheetSafeOption,
    TargetOption,
    Task,
    TaskOption,
    TopOption,
    settled_criterion,
    spreadsheet_words,
)
from duramen.cli.output import results_folder, write_results
from duramen.cli.population import Found, Trees, find
from duramen.cli.problem import Problem, encoded
from duramen.cli.reading import Reading, repeated
from duramen.cli.source import Demo, Source, check_input, read_source

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.tables import EncodedTable

COMMAND = "exact"

# What the papers leave out of the primary tumor set.
_DEMO_DROPS = ("sex",)


class Missing(StrEnum):
    """What becomes of missing values."""

    category = "category"
    drop = "drop"


class Splits(StrEnum):
    """Families of splits."""

    multiway = "multiway"
    ordered = "ordered"
    one_vs_rest = "one-vs-rest"
    any = "any"


class Cut(StrEnum):
    """Which cut a candidate offers."""

    random = "random"
    best = "best"


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    file: Path | None
    target: str | None
    demo: bool
    task: Task
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    reading: Reading
    missing: Missing
    discretize: Discretize
    bins: int
    criterion: str
    max_features: int
    max_depth: int | None
    splits: Splits
    cut: Cut
    level: float
    max_degree: int | None
    max_hours: float
    jobs: int
    out: Path
    top: int
    spreadsheet_safe: bool
    quiet: bool


@dataclass(frozen=True)
class Given:
    """The table as it is computed on."""

    problem: Problem[EncodedTable]
    finite: Finite
    criterion: Impurity
    dropped_rows: int


def exact(
    file: FileArgument = None,
    target: TargetOption = None,
    task: TaskOption = Task.auto,
    drop: DropOption = None,
    categorical: CategoricalOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    missing: Annotated[
        Missing | None,
        typer.Option(
            help="Missing values: a category of their own, or drop incomplete rows; category by "
            "default."
        ),
    ] = None,
    discretize: Annotated[
        Discretize,
        typer.Option(
            help="How columns of many numbers become intervals; auto is by quantiles, where there "
            f"are more than {FEW} distinct numbers."
        ),
    ] = Discretize.auto,
    bins: Annotated[int, typer.Option(min=2, metavar="B", help="Number of intervals.")] = 5,
    max_features: Annotated[
        int,
        typer.Option(min=1, metavar="K", help="Candidates at a node; 1 is totally randomised."),
    ] = 1,
    max_depth: Annotated[
        int | None,
        typer.Option(min=1, metavar="D", help="Depth of the trees; by default they are full."),
    ] = None,
    criterion: CriterionOption = "auto",
    splits: Annotated[
        Splits, typer.Option(help="One branch a value, or two branches of some kind.")
    ] = Splits.multiway,
    cut: Annotated[
        Cut, typer.Option(help="With two branches: a random cut of a candidate, or its best.")
    ] = Cut.random,
    level: Annotated[
        float,
        typer.Option(min=0.0, metavar="BITS", help="Information that counts as none."),
    ] = 0.0,
    max_degree: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Most features that one may depend on, in the search for relevance; by default as "
            "many as are searched in some seconds.",
        ),
    ] = None,
    max_hours: Annotated[
        float,
        typer.Option(min=0.0, metavar="H", help="What is estimated to take longer is refused."),
    ] = 6.0,
    jobs: JobsOption = -1,
    out: OutOption = Path("duramen-exact"),
    top: TopOption = 20,
    demo: Annotated[
        bool, typer.Option("--demo", help="Take the primary tumor set that ships with duramen.")
    ] = False,
    spreadsheet_safe: SpreadsheetSafeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compute the importances of infinitely many trees, and which features are relevant."""
    left_out = (*_DEMO_DROPS, *(drop or ())) if demo else tuple(drop or ())
    options = Options(
        file=file,
        target=target,
        demo=demo,
        task=task,
        drop=left_out,
        categorical=tuple(categorical or ()),
        reading=Reading(tuple(na or ()), decimal),
        missing=missing or (Missing.drop if demo else Missing.category),
        discretize=discretize,
        bins=bins,
        criterion=criterion,
        max_features=max_features,
        max_depth=max_depth,
        splits=splits,
        cut=cut,
        level=level,
        max_degree=max_degree,
        max_hours=max_hours,
        jobs=jobs,
        out=out,
        top=top,
        spreadsheet_safe=spreadsheet_safe,
        quiet=quiet,
    )
    with ending_well(COMMAND, out):
        run_exact(options)


def run_exact(options: Options) -> None:
    """Read, compute, write, say."""
    clock = Clock()
    with ExitStack() as stack:
        with user_errors(COMMAND):
            check_input(options.file, options.target, options.demo, "primary tumor set")
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            given = _read(options, clock)
            notes = _notes(options, given)
            if not options.quiet:
                for line in notes:
                    note(line)
            found = find(
                given.finite.dist,
                Trees(
                    criterion=given.criterion,
                    max_features=options.max_features,
                    max_depth=options.max_depth,
                    splits=options.splits.value,
                    cut=options.cut.value,
                ),
                level=options.level,
                max_degree=options.max_degree,
                max_hours=options.max_hours,
                jobs=options.jobs,
                quiet=options.quiet,
                clock=clock,
            )
        from duramen.reports import summarise_exact

        run = _record(options, given, found, clock)
        report = partial(
            summarise_exact,
            found.importances,
            run,
            relevance=found.relevance,
            boundaries=found.boundaries,
            left_out=found.left_out,
            notes=notes,
        )
        write_results(folder, found.columns(), run, report, clock, options.spreadsheet_safe)
    if not options.quiet:
        from duramen.cli.show_exact import show_exact

        show_exact(found, run, options.top, options.out)


def _read(options: Options, clock: Clock) -> Given:
    from duramen.datasets.bundled import PRIMARY_TUMOR, PRIMARY_TUMOR_CITATION

    demo = Demo(PRIMARY_TUMOR, PRIMARY_TUMOR_CITATION) if options.demo else None
    with clock.step("read"):
        source = read_source(
            COMMAND, options.file, options.target, demo, options.drop, reading=options.reading
        )
        kept = source.complete_rows() if options.missing is Missing.drop else source
    with clock.step("encode"):
        problem = encoded(
            COMMAND,
            kept,
            task=options.task,
            categorical=options.categorical,
            jobs=options.jobs,
        )
        criterion = settled_criterion(options.criterion, problem.task)
        return Given(
            problem=problem,
            finite=finite(problem, options.discretize, options.bins),
            criterion=criterion,
            dropped_rows=_rows(source) - _rows(kept),
        )


def _rows(source: Source) -> int:
    return int(source.features.num_rows)


def _notes(options: Options, given: Given) -> list[str]:
    from duramen.reports.report import joined
    from duramen.results.text import printable

    def listed(names: Iterable[str]) -> str:
        return joined([printable(name) for name in names], shown=5)

    lines = list(given.problem.notes)
    if given.dropped_rows:
        total = given.dropped_rows + given.problem.data.n_rows
        lines.append(f"{given.dropped_rows:,} of {total:,} rows are incomplete and were left out")
    if given.finite.cuts and options.discretize is Discretize.auto:
        lines.append(
            f"columns of many numbers became {options.bins} intervals by quantiles: "
            f"{listed(given.finite.cuts)}; --discretize, --bins and --categorical choose otherwise"
        )
    naming = names_of_rows(given.problem, given.finite.dist)
    if naming:
        lines.append(
            f"{listed(naming)} has another value in every row, which tells everything about these "
            "rows and nothing about others: --drop it?"
        )
    return lines


def _record(options: Options, given: Given, found: Found, clock: Clock) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    problem, dist = given.problem, given.finite.dist
    return Run(
        command=_command(options, problem),
        task=problem.task,
        target=problem.target,
        file=problem.name,
        n_rows=problem.data.n_rows,
        n_features=problem.data.n_columns,
        fingerprint=problem.data.fingerprint,
        settings={
            "criterion": given.criterion,
            "max_features": options.max_features,
            "max_depth": options.max_depth,
            "splits": options.splits.value,
            "cut": options.cut.value,
            "level": options.level,
            "max_degree": found.searched_degree,
            "missing": options.missing.value,
            "incomplete_rows_dropped": given.dropped_rows,
            "dropped": list(options.drop),
            "categorical": list(options.categorical),
            **options.reading.record(),
            "discretize": given.finite.method,
            "bins": options.bins,
            "cuts": given.finite.cuts,
        },
        versions=versions("pyarrow", "matplotlib"),
        classes=problem.data.target.class_sizes(),
        results={
            "importance_sum": float(found.importances.values.sum()),
            "information": found.information,
            "impurity": found.impurity,
            "unit": found.importances.unit,
            "distinct_rows": dist.n_rows,
            "relevance": found.counts(),
            **found.boundaries_record(),
        },
        timings=dict(clock.seconds),
        citation=problem.citation,
    )


def _command(options: Options, problem: Problem[EncodedTable]) -> str:
    """Return the command line that does the same again, whatever folder it is run in."""
    drop = options.drop[len(_DEMO_DROPS) :] if options.demo else options.drop
    words = ["duramen", COMMAND]
    words += ["--demo"] if options.demo else [problem.name, "--target", problem.target]
    words += ["--task", problem.task]
    words += repeated("--drop", drop) + repeated("--categorical", options.categorical)
    words += options.reading.words()
    words += ["--missing", options.missing.value]
    words += ["--discretize", options.discretize.value, "--bins", str(options.bins)]
    words += ["--max-features", str(options.max_features)]
    if options.max_depth is not None:
        words += ["--max-depth", str(options.max_depth)]
    words += ["--criterion", options.criterion, "--splits", options.splits.value]
    words += ["--cut", options.cut.value]
    if options.level:
        words += ["--level", repr(options.level)]
    if options.max_degree is not None:
        words += ["--max-degree", str(options.max_degree)]
    words += spreadsheet_words(options.spreadsheet_safe)
    return shlex.join(words)
