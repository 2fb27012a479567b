"""Run of `duramen select`: the selector that its options describe, fitted and recorded."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import keeping, kept
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.console import estimated, notes, warnings_as_notes
from duramen.cli.declaration import command_line, given, parameters
from duramen.cli.ending import Stopped
from duramen.cli.inputs import noted
from duramen.cli.numbers import count_or_fraction, parsed_max_features
from duramen.cli.output import Outcome
from duramen.cli.problem import Problem
from duramen.cli.select.options import COMMAND, DEFAULT_METHOD, MEMORY, SUBSPACE, Options
from duramen.cli.signals import with_signals

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.reports.selection import Selection
    from duramen.selection import BaseSelector, Selector

# Trees without a new feature that end a search by default: as many as give each feature to so many
# trees on average, and at least so many in all.
_DRAWS, _LEAST_PATIENCE = 10, 200
# Searches of fewer trees, and of fewer cells of tables in all, are not timed before.
_FEW_TREES, _QUICK = 20, 10**8
# A search that is expected to take longer, in seconds, is announced.
_LONG = 3.0


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


def _find(
    options: Options, chosen: tuple[Selector, BaseSelector], clock: Clock
) -> tuple[Problem[Any], bool]:
    """Read the table and fit the selector; return whether Ctrl-C ended the search."""
    (record, selector), quiet = chosen, options.output.quiet
    labels = options.rows.labels()
    problem = options.input.read(COMMAND, options.work.jobs, clock, labels)
    problem = options.input.sampled(problem, options.work.seed)
    notes((*options.rows.notes(), *problem.told), quiet)
    if problem.task not in record.tasks:
        raise ValueError(
            f"--method {record.option} is for classes, the target holds numbers; --task "
            "classification takes them as classes"
        )
    if _takes(record, "criterion"):
        selector.set_params(criterion="variance" if problem.task == "regression" else "gini")
    if record.name == DEFAULT_METHOD:
        _settle(options, selector, problem)
        if not quiet and _long(selector, problem):
            with clock.step("estimate"):
                _announce(selector, problem)
    announced = record.name == DEFAULT_METHOD
    try:
        with (
            estimated() if announced else nullcontext(),
            keeping(lambda: kept(options.work.checkpoint), quiet),
            clock.step("search"),
            warnings_as_notes(quiet),
        ):
            selector.fit(problem.data)
    except KeyboardInterrupt as stop:
        if isinstance(stop, Stopped) or not hasattr(selector, "support_"):
            raise
        steps = len(next(iter(selector.history_.values()), ()))
        problem = problem.interrupted(f"{steps:,} trees")
        notes(problem.notes[-1:], quiet)
        return problem, True
    return problem, False


def _settle(options: Options, selector: BaseSelector, problem: Problem[Any]) -> None:
    """Settle how many features a tree has and when a search ends, where the user left that open."""
    from duramen.selection.sequential_random_subspace.memory import widest_within
    from duramen.tables.store.budget import memory_bytes

    search, table, p = options.search, problem.data.table, problem.data.n_columns
    q = p
    if search.subspace is None:
        budget = memory_bytes(search.memory or MEMORY, f"duramen {COMMAND}: --memory")
        q = min(p, widest_within(budget // search.batch, table))
        if search.memory is None and q > SUBSPACE:
            q = SUBSPACE
            selector.set_params(n_subspace_features=q, memory=None)
    else:
        asked = selector.get_params()["n_subspace_features"]
        q = asked if isinstance(asked, int) else max(1, int(asked * p))
    if search.patience is None:
        rounds = -(-_DRAWS * p // max(1, q))
        selector.set_params(patience=max(_LEAST_PATIENCE, rounds))


def _long(selector: Any, problem: Problem[Any]) -> bool:
    """Tell whether a search may take so long that timing some of its trees is worth it."""
    n_trees, q = selector.n_estimators, selector.n_subspace_features or problem.data.n_columns
    cells = problem.data.n_rows * (q if isinstance(q, int) else q * problem.data.n_columns)
    return bool(n_trees >= _FEW_TREES and n_trees * cells > _QUICK)


def _announce(selector: Any, problem: Problem[Any]) -> None:
    """Say how long a search takes, if that is more than a few seconds."""
    from duramen.results.text import duration
    from duramen.selection.sequential_random_subspace.cost import seconds_of_tree

    seconds = seconds_of_tree(selector, problem.data)
    n_trees, patience = selector.n_estimators, selector.patience
    if seconds * n_trees <= _LONG:
        return
    least = ""
    if patience is not None and patience < n_trees:
        least = f"at least {duration(seconds * patience)}, "
    notes(
        [
            f"{n_trees:,} trees at most: {least}at most {duration(seconds * n_trees)}; Ctrl-C ends "
            "the search and writes what was found"
        ],
        False,
    )


def _tell(
    options: Options,
    chosen: tuple[Selector, BaseSelector],
    result: tuple[Problem[Any], bool],
    clock: Clock,
) -> Outcome:
    """Return the table of results, the record and the report."""
    from duramen.cli.select.show import show_select
    from duramen.reports.selection import Selection, summarize_selection

    (record, selector), output, (problem, interrupted) = chosen, options.output, result
    found = Selection.of(selector, record)
    run = _record(options, record, problem, found, clock)
    shown = partial(show_select, found, run, output.top, output.out)
    report = partial(summarize_selection, found, run)
    sources = (record.reference,) if record.reference else ()
    outcome = Outcome(found.columns(), run, report, shown, sources, interrupted)
    signals = options.signals.signals(problem, selector.importances_, clock)
    return with_signals(outcome, signals, selector.importances_, output.top)


def _takes(record: Selector, parameter: str) -> bool:
    return parameter in inspect.signature(record.kind).parameters


def _selector(options: Options, record: Selector) -> BaseSelector:
    """Return the selector that the options describe."""
    search = options.search
    working = options.work.parameters(options.output.quiet)
    for one, _ in (*given(search), *given(options.work)):
        wanted = one.name in options.typed and one.name not in ("seed", "jobs")
        if wanted and not _takes(record, one.parameter):
            raise ValueError(f"{one.word} does not apply to --method {record.option}; leave it out")
    if _takes(record, "relevance"):
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
    own = settings if record.name == DEFAULT_METHOD else {name: settings[name] for name in typed}
    taken = {
        name: value
        for name, value in {**own, **working}.items()
        if value is not None and _takes(record, name)
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


def _record(
    options: Options, record: Selector, problem: Problem[Any], found: Selection, clock: Clock
) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    account = found.account
    method = {} if options.method == DEFAULT_METHOD else {"method": record.option}
    # Options that were resolved, such as the number of features of a tree, are echoed as resolved.
    resolved = {
        one.name: account.settings.get(one.parameter) if _takes(record, one.parameter) else None
        for one, _ in given(options.search)
        if one.name != "memory"
    }
    if _takes(record, "patience"):
        resolved["patience"] = resolved["patience"] or 0
    resolved["max_features"] = (
        options.search.max_features if _takes(record, "max_features") else None
    )
    return Run(
        **problem.facts(),
        command=command_line(COMMAND, options, **options.input.settled(problem), **resolved),
        seed=options.work.seed,
        settings={
            **method,
            **account.settings,
            **found.metadata.get("forest", {}),
            **options.input.record(),
            **options.rows.record(),
            **options.signals.record(),
            **noted(problem.told),
        },
        versions=versions("pyarrow", "matplotlib"),
        results={"features_found": found.n_found, **account.results, "unit": found.unit},
        timings=dict(clock.seconds),
    )
