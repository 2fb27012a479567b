"""Run of `duramen rank`: read, grow, measure, test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import keeping, kept, writable
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.console import estimated, notes, standard_error, warnings_as_notes
from duramen.cli.declaration import command_line
from duramen.cli.ending import Stopped, obeyed
from duramen.cli.inputs import noted
from duramen.cli.output import Outcome
from duramen.cli.problem import Problem
from duramen.cli.rank.accuracy import out_of_bag_accuracy
from duramen.cli.rank.effects import effects_of, target_columns
from duramen.cli.rank.forests import make_forest
from duramen.cli.rank.group_mda import check_rows_out_of_bag, clusters_of, importances_of
from duramen.cli.rank.groups import Groups, read_groups
from duramen.cli.rank.measuring import Found, choose, grow_and_compute, with_bias
from duramen.cli.rank.options import COMMAND, Options
from duramen.cli.rank.request import Request, requested
from duramen.cli.rank.resampling import Resampled
from duramen.cli.rank.samples import described, tested_rows
from duramen.cli.rank.significance import announce, run_test
from duramen.cli.signals import with_signals

if TYPE_CHECKING:
    from duramen.importances import Inputs, Measure
    from duramen.reports import Run
    from duramen.reports.signals import Signals
    from duramen.tables import EncodedTable


@dataclass(frozen=True)
class Asked:
    """Test and groups that the options ask for."""

    request: Request | None
    groups: Groups | None  # from a file


def rank(options: Options) -> None:
    """Rank the columns of a table by their importance for a target.

    Example: duramen rank patients.csv --target diagnosis

    Grows a forest, tests which importances are larger than expected by chance, prints the ranking,
    and writes result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> Asked:
    """Check that the options go together; return the test and the groups that they ask for."""
    options.input.check()
    options.test.rows.check(options.input.drop)
    options.signals.check()
    options.resampling.check()
    file, checkpoint = options.signals.groups, writable(options.work.checkpoint)
    groups = None if file is None or options.signals.of_clusters else read_groups(file)
    resampled = bool(options.resampling.asked)
    request = requested(options.test, checkpoint, groups, resampled=resampled)
    if options.signals.of_clusters and request is not None and request.test.takes("groups"):
        raise ValueError(
            f"--groups clusters and --significance {request.test.option} do not go together: the "
            "clusters follow from the ranking that would be tested. Hint: --groups FILE"
        )
    return Asked(request, groups)


def _find(
    options: Options, asked: Asked, clock: Clock
) -> tuple[Problem[EncodedTable], Any, Found, Signals]:
    """Read the table, grow the forest, measure it, test a measure and cluster the features."""
    labels = options.test.rows.labels()
    problem = options.input.load(COMMAND, options.work.jobs, clock, labels)
    problem = options.input.sampled(problem, options.work.seed)
    more = options.growth.notes(problem.data.n_rows)
    problem = replace(problem, notes=(*problem.notes, *more))
    notes(problem.told, options.output.quiet)
    if asked.groups is not None:
        asked.groups.check(problem.data.names, problem.target)
    problem, signals = options.signals.represented(problem, clock)
    problem, estimator, found = _measure(options, asked, problem, clock)
    signals = signals or options.signals.signals(problem, found.measures[0], clock)
    if options.signals.groups is not None:
        groups = clusters_of(signals) if asked.groups is None else asked.groups
        found = _grouped(options, groups, problem, estimator, found, clock)
    return problem, estimator, found, signals


def _tell(
    options: Options,
    asked: Asked,
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
        precision=found.precision,
        groups=found.groups,
        oob_errors=getattr(estimator, "oob_error_curve_", None),
    )
    described = None if found.effects is None else found.effects.described
    best = ranked(
        found.measures, tested=found.tested, described=described, precision=found.precision
    )
    columns = {**best.columns(), **target_columns(problem.data, best.first.names)}
    shown = partial(show_ranking, found, run, output.top, output.out)
    sources = sources_of(found.measures, found.tested, found.precision)
    of_groups = None if found.groups is None else found.groups.columns()
    outcome = Outcome(
        columns, run, report, shown, sources, interrupted=found.interrupted, groups=of_groups
    )
    return with_signals(outcome, signals, found.measures[0], output.top, found.tested)


def _measure(
    options: Options, asked: Asked, problem: Problem[EncodedTable], clock: Clock
) -> tuple[Problem[EncodedTable], Any, Found]:
    """Grow the forest, measure it and test a measure."""
    from duramen.importances import Inputs, catalogue
    from duramen.importances.refit import leaves_rows_out
    from duramen.reports.measures import as_importances

    options.check_positive(problem.data.target)
    work, quiet = options.work, options.output.quiet
    verbose = not quiet and standard_error().is_terminal
    n_trees = options.growth.n_trees(problem.data.n_rows)
    estimator = make_forest(
        options.growth, problem.task, n_trees, seed=work.seed, jobs=work.jobs, verbose=verbose
    )
    choice = choose(
        options.measure,
        forest=options.growth.forest,
        task=problem.task,
        out_of_bag=leaves_rows_out(estimator),
    )
    request = asked.request
    tested = None if request is None else request.measure(choice.measures, estimator)
    if request is not None and tested is not None and not request.default:
        choice = choice.with_tested(tested)
    problem = with_bias(problem, choice, estimator, quiet)
    if options.signals.groups is not None and (request is None or request.groups is None):
        check_rows_out_of_bag(estimator, options.growth.forest)
    resampled = Resampled(options.resampling, work.checkpoint, quiet, clock)
    resampled.check(choice.measures[0], problem.data.n_columns)
    with warnings_as_notes(quiet):
        given = Inputs(estimator, problem.data, work.seed, work.jobs, int(verbose), by_degree=True)
        found = grow_and_compute(choice, given, clock)
    resampled.check_target(as_importances(found.measures[0]), problem.data)
    notes((*options.test.rows.notes(), *found.left_out), quiet)
    if request is not None:
        found = _tested(request, tested, found, given, quiet, clock)
    if found.interrupted:
        return problem, estimator, found
    with clock.step("effects"):
        found = replace(
            found, effects=effects_of(*described(given), found, work.jobs, options.positive)
        )
    first = as_importances(found.measures[0])
    ranked_by = catalogue[found.names[0]]
    precision = resampled.precision(ranked_by, first, given, found.n_selected)
    return problem, estimator, replace(found, precision=precision)


def _grouped(
    options: Options,
    groups: Groups,
    problem: Problem[EncodedTable],
    estimator: Any,
    found: Found,
    clock: Clock,
) -> Found:
    """Measure groups of features; leave it out where only the test takes them."""
    from duramen.importances import Inputs
    from duramen.importances.refit import leaves_rows_out

    if not leaves_rows_out(estimator):
        left_out = "MDA of groups left out: every tree sees all rows; add --bootstrap to compute it"
        notes([left_out], options.output.quiet)
        return replace(found, left_out=(*found.left_out, left_out))
    given = Inputs(estimator, problem.data, n_jobs=options.work.jobs)
    with clock.step("groups"):
        return replace(found, groups=importances_of(groups, given, found))


def _tested(
    request: Request, one: Measure | None, found: Found, given: Inputs, quiet: bool, clock: Clock
) -> Found:
    """Run a test, of a measure if it is about one."""
    from duramen.reports.measures import as_importances

    known = dict(zip(found.names, found.measures, strict=True))
    scores = None if one is None or one.name not in known else as_importances(known[one.name])
    given, sampled = tested_rows(request, given)
    if one is not None and not quiet:
        announce(request, one, given)
    try:
        with (
            estimated(),
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
    except KeyboardInterrupt as stop:
        if isinstance(stop, Stopped) or request.checkpoint is not None:
            raise  # the same command goes on from a checkpoint
        obeyed()
        left_out = "the significance test and the directions of effects: interrupted"
        notes([f"left out of the results are {left_out}"], quiet)
        return replace(found, left_out=(*found.left_out, left_out), interrupted=True)
    verdict = replace(verdict, notes=(*sampled, *verdict.notes))
    notes(verdict.notes, quiet)
    return replace(found, tested=verdict)


def _record(
    options: Options, problem: Problem[EncodedTable], estimator: Any, found: Found, clock: Clock
) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    grown = estimator.forest_
    return Run(
        **problem.facts(),
        command=command_line(
            COMMAND,
            options,
            **options.input.settled(problem),
            measure=found.names,
            trees=estimator.n_estimators,
        ),
        seed=options.work.seed,
        settings={
            "forest": options.growth.forest,
            "n_estimators": estimator.n_estimators,
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
            "features_used": found.features_used,
            **found.figures(),
        },
        timings=dict(clock.seconds),
    )
