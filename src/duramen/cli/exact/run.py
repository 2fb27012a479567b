"""Run of `duramen exact`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from duramen.analyses.problem import Problem, loaded
from duramen.cli import console
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.declaration import command_line, recorded
from duramen.cli.exact.finite import Finite, finite, names_of_rows
from duramen.cli.exact.options import COMMAND, Options
from duramen.cli.exact.population import Found, find
from duramen.cli.options import settled_criterion
from duramen.cli.output import Outcome

if TYPE_CHECKING:
    from duramen.data import EncodedTable
    from duramen.reports import Run


@dataclass(frozen=True)
class Given:
    """Table as it is computed on."""

    problem: Problem[EncodedTable]
    finite: Finite
    criterion: str
    notes: list[str]


def exact(options: Options) -> None:
    """Compute the importances of infinitely many trees, exactly.

    Example: duramen exact survey.csv --target answer

    Treats the rows of a table as the population, prints the importances with the relevance of
    every feature and the Markov boundaries, and writes result.csv, result.parquet, run.json and
    report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> None:
    options.input.check()
    trees, measured = options.trees, options.measured
    if measured.measure == "mda":
        if trees.splits != "multiway":
            raise ValueError(
                f"--measure mda needs --splits multiway, got {trees.splits}; leave --splits out"
            )
        return
    for option, value, default in (
        ("--votes", measured.votes, "tree"),
        ("--given", measured.given, "none"),
    ):
        if value != default:
            raise ValueError(
                f"{option} {value} has no effect with --measure mdi; use --measure mda"
            )


def _find(options: Options, _: None, clock: Clock) -> tuple[Given, Found]:
    """Read the table and compute."""
    given, quiet = _read(options, clock), options.output.quiet
    console.notes(given.notes, quiet)
    found = find(
        given.finite.dist,
        given.criterion,
        options.trees,
        options.measured,
        options.search,
        jobs=options.work.jobs,
        quiet=quiet,
        clock=clock,
    )
    return given, found


def _tell(options: Options, _: None, all_found: tuple[Given, Found], clock: Clock) -> Outcome:
    """Return the table of results, the record and the report."""
    from duramen.cli.exact.show import show_exact
    from duramen.reports import summarize_exact
    from duramen.support.provenance import references
    from duramen.theory import population_importances

    output, (given, found) = options.output, all_found
    run = _record(options, given, found, clock)
    report = partial(
        summarize_exact,
        found.importances,
        run,
        relevance=found.relevance,
        boundaries=found.boundaries,
        left_out=found.left_out,
        notes=given.notes,
    )
    shown = partial(show_exact, found, run, output.top, output.out)
    sources = references(population_importances)
    return Outcome(found.columns(), run, report, shown, sources)


def _problem(options: Options, clock: Clock) -> Problem[EncodedTable]:
    """Read the table, or take a store into memory."""
    data = options.input
    if data.is_stored:
        with clock.step("read"):
            return data.complete(loaded(data.stored(COMMAND, population=True)))[0]
    with clock.step("read"):
        source = data.rows(data.own_source(COMMAND, {}))
    with clock.step("encode"):
        return data.encoded(COMMAND, source, options.work.jobs, population=True)


def _read(options: Options, clock: Clock) -> Given:
    intervals = options.intervals
    problem = _problem(options, clock)
    with clock.step("encode"):
        criterion = settled_criterion(options.trees.criterion, problem.task)
        table = finite(problem, intervals.discretize, intervals.bins)
        return Given(problem, table, criterion, _notes(options, problem, table))


def _notes(options: Options, problem: Problem[EncodedTable], table: Finite) -> list[str]:
    from duramen.reports.report import joined
    from duramen.support.text import printable

    def listed(names: Iterable[str]) -> str:
        return joined([printable(name) for name in names], shown=5)

    lines = list(problem.told)
    if table.cuts and options.intervals.discretize == "auto":
        lines.append(
            f"columns of many distinct numbers were cut into {options.intervals.bins} quantile "
            f"intervals: {listed(table.cuts)}; change this with --discretize, --bins or "
            "--categorical"
        )
    naming = names_of_rows(problem, table.dist)
    if naming:
        lines.append(
            f"{listed(naming)} has a different value in every row: it identifies these rows and "
            "predicts nothing for others. Consider leaving it out with --drop"
        )
    return lines


def _record(options: Options, given: Given, found: Found, clock: Clock) -> Run:
    from duramen.reports import Run
    from duramen.support.provenance import versions

    problem, dist = given.problem, given.finite.dist
    return Run(
        **problem.facts(),
        command=command_line(COMMAND, options, **options.input.settled(problem)),
        settings={
            **recorded(options.trees, criterion=given.criterion),
            **recorded(options.measured),
            "level": options.search.level,
            "max_degree": found.searched_degree,
            **options.input.record(),
            "incomplete_rows_dropped": problem.dropped_rows,
            "discretize": given.finite.method,
            "bins": options.intervals.bins,
            "cuts": given.finite.cuts,
        },
        versions=versions("pyarrow", "matplotlib"),
        results={
            "importance_sum": float(found.importances.values.sum()),
            "information": found.information,
            "impurity": found.impurity,
            **_loss(found),
            "unit": found.importances.unit,
            "distinct_rows": dist.n_rows,
            "relevance": found.counts(),
            **found.boundaries_record(),
        },
        timings=dict(clock.seconds),
    )


def _loss(found: Found) -> dict[str, float]:
    """Return the expected loss of the trees before a feature is permuted, for MDA."""
    return {"loss": found.importances.metadata["loss"]} if found.is_mda else {}
