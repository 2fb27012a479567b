"""Run of `duramen select`: the selector that its options describe, fitted and recorded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from duramen.analyses.defaults import MEMORY, SELECTOR
from duramen.analyses.execution import Execution
from duramen.analyses.problem import Problem, noted
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.console import notes
from duramen.cli.declaration import command_line, given, parameters
from duramen.cli.numbers import count_or_fraction, parsed_max_features
from duramen.cli.output import Outcome
from duramen.cli.select.options import COMMAND, Options
from duramen.cli.signals import show_words

if TYPE_CHECKING:
    from duramen.analyses.selection import Selected, SelectionRequest
    from duramen.selection import BaseSelector, Selector


@dataclass(frozen=True, eq=False)
class Done:
    """Features selected, with what was asked for, and how it was executed."""

    selected: Selected
    request: SelectionRequest
    execution: Execution


def select(options: Options) -> None:
    """Select the columns that are relevant for a target.

    Example: duramen select genotypes.bed --samples people.csv --target disease

    Grows each tree on some columns only, drawn at random or found before, so that the table need
    not fit into memory. Other selectors: --method. Prints the features found, and writes
    result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> tuple[Selector, BaseSelector]:
    """Return the selector that the options describe."""
    from duramen.selection import catalogue

    options.input.check()
    options.signals.check()
    options.rows.check(options.input.drop)
    record = catalogue[options.method]
    for option in options.rows.labels():
        exchanges = attrgetter("exchanges_blocks" if option == "blocks" else "exchanges")
        if not exchanges(record):
            able = " or ".join(one.option for one in catalogue if exchanges(one))
            raise ValueError(
                f"--{option} has no effect with --method {record.option}, which does not permute "
                f"rows by {'blocks' if option == 'blocks' else 'strata'}; use --method {able}"
            )
    return record, _selector(options, record)


def _find(options: Options, chosen: tuple[Selector, BaseSelector], clock: Clock) -> Done:
    """Read the table and fit the selector."""
    from duramen.analyses.selection import SelectionRequest, select_features

    (record, selector), quiet, search = chosen, options.output.quiet, options.search
    work, labels = options.work, options.rows.labels()
    problem = options.input.sample(COMMAND, work.jobs, clock, labels, work.seed)
    notes((*options.rows.notes(), *problem.told), quiet)
    request = SelectionRequest(
        record,
        selector,
        settles_subspace=search.subspace is None,
        memory=search.memory,
        settles_patience=search.patience is None,
        settles_criterion=True,
        clustering=options.signals.request(),
    )
    execution = options.work.execution(quiet, clock)
    return Done(select_features(problem, request, execution), request, execution)


def _tell(
    options: Options, chosen: tuple[Selector, BaseSelector], done: Done, clock: Clock
) -> Outcome:
    """Return the table of results, the record and the report."""
    from duramen.analyses.selection import report_of
    from duramen.cli.select.show import show_select

    (record, selector), output, selected = chosen, options.output, done.selected
    problem = selected.problem
    report = report_of(
        selected,
        done.request,
        done.execution,
        command=_command(options, record, selector, problem),
        settings={
            **options.input.record(),
            **options.rows.record(),
            **options.signals.record(),
            **noted(problem.told),
        },
        notes=problem.told,
    )
    shown = partial(show_select, report.selection, report.run, output.top, output.out)

    def show() -> None:
        show_words(selected.signals, report.importances, output.top)
        shown()

    return Outcome.of(report, show, selected.stop)


def _selector(options: Options, record: Selector) -> BaseSelector:
    """Return the selector that the options describe."""
    search = options.search
    working = options.work.parameters(options.output.quiet)
    for one, _ in (*given(search), *given(options.work)):
        wanted = one.name in options.typed and one.name not in ("seed", "jobs")
        if wanted and not record.takes(one.parameter):
            raise ValueError(f"{one.word} does not apply to --method {record.option}; leave it out")
    if record.takes("relevance"):
        _check_test(options)
    if search.memory is not None and search.subspace is not None:
        raise ValueError("--memory and --subspace both say how many features a tree has; give one")
    subspace = None if search.subspace is None else _parsed_subspace(search.subspace)
    auto = search.max_features == "auto"
    settings = {
        **parameters(search),
        "patience": search.patience or None,
        "n_estimators": options.trees,
        "n_subspace_features": subspace,
        "memory": (search.memory or MEMORY) if subspace is None else None,
        "max_features": None if auto else parsed_max_features(search.max_features),
        "measure": (search.by_round.measure or "").replace("-", "_") or None,
    }
    typed = {one.parameter for one, _ in given(search) if one.name in options.typed}
    # Other selectors have defaults of their own.
    own = settings if record.name == SELECTOR else {name: settings[name] for name in typed}
    taken = {
        name: value
        for name, value in {**own, **working}.items()
        if value is not None and record.takes(name)
    }
    selector: BaseSelector = record.make(**taken)
    return selector


def _check_test(options: Options) -> None:
    """Check that options of the tests of relevance are those of the test that is asked for."""
    from duramen.selection.sequential_random_subspace.account import PARAMETERS_OF_TESTS

    relevance = options.search.relevance
    for one, value in given(options.search.test):
        tests = PARAMETERS_OF_TESTS[one.parameter]
        if value is not None and relevance not in tests:
            raise ValueError(
                f"{one.word} is for --relevance {' and '.join(tests)}, not for {relevance}"
            )


def _parsed_subspace(text: str) -> int | float:
    number = count_or_fraction(text)
    if number is None:
        raise ValueError(
            f"--subspace: must be an integer from 1 or a fraction in (0, 1], such as 0.1, got "
            f"{text!r}"
        )
    return number


def _command(
    options: Options, record: Selector, selector: BaseSelector, problem: Problem[Any]
) -> str:
    """Return the command line; options that were resolved are echoed as resolved."""
    settings = selector.account(record).settings
    resolved = {
        one.name: settings.get(one.parameter) if record.takes(one.parameter) else None
        for one, _ in given(options.search)
        if one.name != "memory"
    }
    if record.takes("patience"):
        resolved["patience"] = resolved["patience"] or 0
    resolved["max_features"] = options.search.max_features if record.takes("max_features") else None
    return command_line(COMMAND, options, **options.input.settled(problem), **resolved)
