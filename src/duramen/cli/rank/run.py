"""Run of `duramen rank`: read, grow, measure, test."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import keeping, kept
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.console import notes, standard_error, warnings_as_notes
from duramen.cli.declaration import command_line
from duramen.cli.inputs import noted
from duramen.cli.output import Outcome
from duramen.cli.problem import Problem
from duramen.cli.rank.accuracy import out_of_bag_accuracy
from duramen.cli.rank.effects import effects_of, target_columns
from duramen.cli.rank.forests import make_forest
from duramen.cli.rank.measuring import Found, choose, compute
from duramen.cli.rank.options import COMMAND, Options
from duramen.cli.rank.request import Request, requested
from duramen.cli.rank.significance import announce, run_test
from duramen.cli.signals import with_signals

if TYPE_CHECKING:
    from duramen.importances import Inputs, Measure
    from duramen.reports import Run
    from duramen.reports.signals import Signals
    from duramen.tables import EncodedTable


def rank(options: Options) -> None:
    """Rank the columns of a table by their importance for a target.

    Example: duramen rank patients.csv --target diagnosis

    Grows a forest, tests which importances are larger than expected by chance, prints the ranking,
    and writes result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> Request | None:
    """Check that the options go together; return the test that they ask for."""
    options.input.check()
    options.test.rows.check(options.input.drop)
    options.signals.check()
    if options.signals.representatives is not None and options.test.parameters.groups is not None:
        raise ValueError("--groups and --representatives both group features; give one of them")
    return requested(options.test, options.work.checkpoint)


def _find(
    options: Options, request: Request | None, clock: Clock
) -> tuple[Problem[EncodedTable], Any, Found, Signals]:
    """Read the table, grow the forest, measure it, test a measure and cluster the features."""
    labels = options.test.rows.labels()
    problem = options.input.load(COMMAND, options.work.jobs, clock, labels)
    notes(problem.told, options.output.quiet)
    if request is not None:
        request.check(problem.data.names, problem.target)
    problem, signals = options.signals.represented(problem, clock)
    estimator, found = _measure(options, request, problem, clock)
    signals = signals or options.signals.signals(problem, found.measures[0], clock)
    return problem, estimator, found, signals


def _tell(
    options: Options,
    request: Request | None,
    all_found: tuple[Problem[EncodedTable], Any, Found, Signals],
    clock: Clock,
) -> Outcome:
    """Return the table of results, the record and the report."""
    from duramen.cli.rank.show import show_ranking
    from duramen.reports import summarise
    from duramen.reports.ranked import ranked
    from duramen.reports.ranking import sources_of

    output, (problem, estimator, found, signals) = options.output, all_found
    run = _record(options, problem, estimator, found, clock)
    report = partial(
        summarise,
        found.measures[0],
        run,
        others=found.measures[1:],
        left_out=found.left_out,
        tested=found.tested,
        effects=found.effects,
        oob_errors=getattr(estimator, "oob_error_curve_", None),
    )
    described = None if found.effects is None else found.effects.described
    best = ranked(found.measures, tested=found.tested, described=described)
    columns = {**best.columns(), **target_columns(problem.data, best.first.names)}
    shown = partial(
        show_ranking, found.measures, run, output.top, output.out, found.tested, described
    )
    outcome = Outcome(columns, run, report, shown, sources_of(found.measures, found.tested))
    return with_signals(outcome, signals, found.measures[0], output.top, found.tested)


def _measure(
    options: Options, request: Request | None, problem: Problem[EncodedTable], clock: Clock
) -> tuple[Any, Found]:
    """Grow the forest, measure it and test a measure."""
    from duramen.importances import Inputs
    from duramen.importances.refit import leaves_rows_out

    work, quiet = options.work, options.output.quiet
    verbose = not quiet and standard_error().is_terminal
    estimator = make_forest(
        options.growth, problem.task, seed=work.seed, jobs=work.jobs, verbose=verbose
    )
    choice = choose(
        options.measure,
        forest=options.growth.forest,
        task=problem.task,
        out_of_bag=leaves_rows_out(estimator),
    )
    tested = None if request is None else request.measure(choice.measures, estimator)
    if request is not None and tested is not None and not request.default:
        choice = choice.with_tested(tested)
    with warnings_as_notes(quiet):
        with clock.step("grow"):
            estimator.fit(problem.data)
        given = Inputs(estimator, problem.data, work.seed, work.jobs, int(verbose), by_degree=True)
        found = compute(choice, given, clock)
    notes((*options.test.rows.notes(), *found.left_out), quiet)
    if request is not None and tested is not None:
        found = _tested(request, tested, found, given, quiet, clock)
    with clock.step("effects"):
        found = replace(found, effects=effects_of(estimator, problem.data, found, work.jobs))
    return estimator, found


def _tested(
    request: Request, one: Measure, found: Found, given: Inputs, quiet: bool, clock: Clock
) -> Found:
    """Test a measure."""
    from duramen.reports.measures import as_importances

    known = dict(zip(found.names, found.measures, strict=True))
    scores = as_importances(known[one.name]) if one.name in known else None
    if not quiet:
        announce(request, one, given)
    try:
        with (
            keeping(lambda: kept(request.checkpoint), quiet),
            clock.step(f"test {request.test.option}"),
        ):
            verdict = run_test(request, one, scores, given)
    except MemoryError as error:
        if not request.default:
            raise
        left_out = f"the test of importances is left out: {error}"
        notes([left_out], quiet)
        return replace(found, left_out=(*found.left_out, left_out))
    notes(verdict.notes, quiet)
    return replace(found, tested=verdict)


def _record(
    options: Options, problem: Problem[EncodedTable], estimator: Any, found: Found, clock: Clock
) -> Run:
    import numpy as np

    from duramen.reports import Run
    from duramen.results.provenance import versions

    grown = estimator.forest_
    return Run(
        **problem.facts(),
        command=command_line(
            COMMAND, options, **options.input.settled(problem), measure=found.names
        ),
        seed=options.work.seed,
        settings={
            "forest": options.growth.forest,
            "n_estimators": options.growth.trees,
            **grown.settings.to_dict(),
            **found.settings(),
            **options.input.record(),
            **options.test.rows.record(),
            **options.signals.record(),
            **noted(problem.told),
        },
        versions=versions("pyarrow", "matplotlib"),
        results={
            **out_of_bag_accuracy(estimator, problem.data.target),
            "features_used": int(np.unique(grown.feature[grown.feature >= 0]).size),
            **found.figures(),
        },
        timings=dict(clock.seconds),
    )
