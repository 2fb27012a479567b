"""`duramen rank`: from a table to a ranking of its features."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duramen.cli.catalogues import (
    described_measure,
    described_test,
    measure_names,
    test_names,
)
from duramen.cli.choices import CatalogueChoice
from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, note, standard_error, user_errors, warnings_as_notes
from duramen.cli.forests import forest_names, leaves_rows_out, make_forest
from duramen.cli.inputs import Input, located
from duramen.cli.measuring import Found, choose, compute
from duramen.cli.options import (
    BlocksOption,
    CategoricalOption,
    CheckpointOption,
    CriterionOption,
    DecimalOption,
    DropOption,
    JobsOption,
    NaOption,
    OutOption,
    PlaceArgument,
    QuietOption,
    SamplesByPositionOption,
    SamplesIdOption,
    SamplesOption,
    SeedOption,
    SpreadsheetSafeOption,
    StrataOption,
    TargetOption,
    Task,
    TaskOption,
    TopOption,
    spreadsheet_words,
)
from duramen.cli.output import results_folder, write_results
from duramen.cli.problem import Problem
from duramen.cli.reading import Reading, Samples, repeated
from duramen.cli.request import Asked, GroupScore, Law, Request, requested
from duramen.cli.significance import announce, run_test

if TYPE_CHECKING:
    from duramen.importances import Inputs, Measure
    from duramen.reports import Run
    from duramen.tables import EncodedTable

COMMAND = "rank"


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    input: Input
    forest: str
    trees: int
    max_features: str
    criterion: str
    bootstrap: bool | None
    measures: tuple[str, ...]
    significance: str | None
    no_test: bool
    asked: Asked
    seed: int
    jobs: int
    out: Path
    top: int
    spreadsheet_safe: bool
    quiet: bool


def rank(
    file: PlaceArgument = None,
    target: TargetOption = None,
    samples: SamplesOption = None,
    samples_id: SamplesIdOption = None,
    samples_by_position: SamplesByPositionOption = False,
    task: TaskOption = Task.auto,
    drop: DropOption = None,
    categorical: CategoricalOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    forest: Annotated[
        str,
        typer.Option(parser=CatalogueChoice(forest_names), metavar="NAME", help="Kind of forest."),
    ] = "random-forest",
    trees: Annotated[int, typer.Option(min=1, metavar="T", help="Number of trees.")] = 1000,
    max_features: Annotated[
        str,
        typer.Option(
            metavar="K",
            help="Features tried at a node: auto, sqrt, log2, all, count or fraction.",
        ),
    ] = "auto",
    criterion: CriterionOption = "auto",
    bootstrap: Annotated[
        bool | None,
        typer.Option(
            "--bootstrap/--no-bootstrap",
            show_default=False,
            help="Whether trees draw their rows with replacement; by default as the forest does.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            parser=CatalogueChoice(measure_names, described_measure),
            help="Measure of importance. Repeat for more, the first one ranks; by default those "
            "that the forest allows.",
        ),
    ] = None,
    significance: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            show_default=False,
            parser=CatalogueChoice(test_names, described_test),
            help="Test of the importances.",
        ),
    ] = None,
    no_test: Annotated[
        bool, typer.Option("--no-test", help="Skip the test of the importances.")
    ] = False,
    permutations: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="B",
            show_default=False,
            help="Rounds of the test, each with forests of its own; 99 or 100 by default.",
        ),
    ] = None,
    strata: StrataOption = None,
    blocks: BlocksOption = None,
    checkpoint: CheckpointOption = None,
    distribution: Annotated[
        Law | None,
        typer.Option(
            metavar="LAW",
            show_default=False,
            help=f"Law that p-values are taken from: {', '.join(Law)}; by default the first.",
        ),
    ] = None,
    stop_after: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="H",
            show_default=False,
            help="Give a column up once H permutations did as well.",
        ),
    ] = None,
    rank_based: Annotated[
        bool, typer.Option("--rank-based", help="Compare ranks instead of importances.")
    ] = False,
    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Rank groups of columns: a file of two columns, features and their groups.",
        ),
    ] = None,
    group_score: Annotated[
        GroupScore | None,
        typer.Option(
            metavar="HOW",
            show_default=False,
            help=f"What a group's importance is: {', '.join(GroupScore)}; by default the first.",
        ),
    ] = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    out: OutOption = Path("duramen-rank"),
    top: TopOption = 20,
    demo: Annotated[
        bool, typer.Option("--demo", help="Rank the leukemia set that ships with duramen.")
    ] = False,
    spreadsheet_safe: SpreadsheetSafeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Rank the columns of a table by how much they tell about one of them."""
    options = Options(
        input=Input(
            file=located(file),
            target=target,
            samples=Samples(samples, samples_id, samples_by_position),
            demo=demo,
            task=task,
            drop=tuple(drop or ()),
            categorical=tuple(categorical or ()),
            reading=Reading(tuple(na or ()), decimal),
            strata=strata,
            blocks=blocks,
        ),
        forest=forest,
        trees=trees,
        max_features=max_features,
        criterion=criterion,
        bootstrap=bootstrap,
        measures=tuple(measure or ()),
        significance=significance,
        no_test=no_test,
        asked=Asked(
            permutations=permutations,
            checkpoint=checkpoint,
            distribution=distribution,
            stop_after=stop_after,
            rank_based=rank_based or None,
            groups=groups,
            group_score=group_score,
            strata=strata,
            blocks=blocks,
        ),
        seed=seed,
        jobs=jobs,
        out=out,
        top=top,
        spreadsheet_safe=spreadsheet_safe,
        quiet=quiet,
    )
    with ending_well(COMMAND, out):
        run_rank(options)


def run_rank(options: Options) -> None:
    """Read, grow, measure, write, say."""
    clock = Clock()
    with ExitStack() as stack:
        with user_errors(COMMAND):
            options.input.check()
            request = requested(options.significance, options.asked, no_test=options.no_test)
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            problem = options.input.load(COMMAND, options.jobs, clock)
            for line in () if options.quiet else problem.notes:
                note(line)
            if request is not None:
                request.check(problem.data.names, problem.target)
            estimator, found = _measure(options, request, problem, clock)
        from duramen.reports import summarise
        from duramen.reports.ranked import ranked

        run = _record(options, request, problem, estimator, found, clock)
        report = partial(
            summarise,
            found.measures[0],
            run,
            others=found.measures[1:],
            left_out=found.left_out,
            tested=found.tested,
            oob_errors=getattr(estimator, "oob_error_curve_", None),
        )
        columns = ranked(found.measures, tested=found.tested).columns()
        write_results(folder, columns, run, report, clock, options.spreadsheet_safe)
    if not options.quiet:
        from duramen.cli.show_ranking import show_ranking

        show_ranking(found.measures, run, options.top, options.out, found.tested)


def _measure(
    options: Options, request: Request | None, problem: Problem[EncodedTable], clock: Clock
) -> tuple[Any, Found]:
    """Grow the forest, measure it and test a measure."""
    from duramen.importances import Inputs

    verbose = not options.quiet and standard_error().is_terminal
    estimator = make_forest(
        options.forest,
        problem.task,
        trees=options.trees,
        max_features=options.max_features,
        criterion=options.criterion,
        bootstrap=options.bootstrap,
        seed=options.seed,
        jobs=options.jobs,
        verbose=verbose,
    )
    choice = choose(
        options.measures,
        forest=options.forest,
        task=problem.task,
        out_of_bag=leaves_rows_out(estimator),
    )
    tested = None if request is None else request.measure(choice.measures)
    if request is not None and tested is not None and not request.default:
        choice = choice.with_tested(tested)
    with warnings_as_notes(options.quiet):
        with clock.step("grow"):
            estimator.fit(problem.data)
        given = Inputs(
            estimator, problem.data, options.seed, options.jobs, int(verbose), by_degree=True
        )
        found = compute(choice, given, clock)
    for line in () if options.quiet else (*options.input.notes(), *found.left_out):
        note(line)
    if request is not None and tested is not None:
        found = _tested(request, tested, found, given, options.quiet, clock)
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
        with clock.step(f"test {request.test.option}"):
            verdict = run_test(request, one, scores, given)
    except MemoryError as error:
        if not request.default:
            raise
        left_out = f"the test of importances is left out: {error}"
        if not quiet:
            note(left_out)
        return replace(found, left_out=(*found.left_out, left_out))
    except KeyboardInterrupt:
        kept = request.checkpoint
        if kept is not None and kept.is_file() and not quiet:
            note(f"{kept} keeps what is done of the test: the same command goes on from it")
        raise
    for line in () if quiet else verdict.notes:
        note(line)
    return replace(found, tested=verdict)


def _record(
    options: Options,
    request: Request | None,
    problem: Problem[EncodedTable],
    estimator: Any,
    found: Found,
    clock: Clock,
) -> Run:
    import numpy as np

    from duramen.reports import Run
    from duramen.results.provenance import versions

    grown = estimator.forest_
    curve = getattr(estimator, "oob_error_curve_", None)
    error = None if curve is None or not np.isfinite(curve[-1]) else float(curve[-1])
    return Run(
        command=_command(options, request, problem, found),
        task=problem.task,
        target=problem.target,
        file=problem.name,
        n_rows=problem.data.n_rows,
        n_features=problem.data.n_columns,
        fingerprint=grown.fingerprint,
        seed=options.seed,
        settings={
            "forest": options.forest,
            "n_estimators": options.trees,
            **grown.settings.to_dict(),
            **found.settings(),
            **options.input.record(problem),
        },
        versions=versions("pyarrow", "matplotlib"),
        classes=problem.data.target.class_sizes(),
        results={
            "oob_error": error,
            "features_used": int(np.unique(grown.feature[grown.feature >= 0]).size),
            **found.figures(),
        },
        timings=dict(clock.seconds),
        citation=problem.citation,
    )


def _command(
    options: Options, request: Request | None, problem: Problem[EncodedTable], found: Found
) -> str:
    """Return the command line that does the same again, whatever folder it is run in."""
    words = ["duramen", COMMAND, *options.input.words(problem)]
    words += ["--forest", options.forest, "--trees", str(options.trees)]
    words += ["--max-features", options.max_features, "--criterion", options.criterion]
    if options.bootstrap is not None:
        words += ["--bootstrap" if options.bootstrap else "--no-bootstrap"]
    words += repeated("--measure", [name.replace("_", "-") for name in found.names])
    words += ["--no-test"] if request is None else request.words()
    words += spreadsheet_words(options.spreadsheet_safe)
    return shlex.join([*words, "--seed", str(options.seed)])
