"""`duramen context`: which features, or links between variables, depend on a context."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duramen.cli.checkpoint import keeping, kept, writable
from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, note, standard_error, user_errors, warnings_as_notes
from duramen.cli.context_options import ControlName, Empty, Options, Permute, Splits
from duramen.cli.context_record import COMMAND, record
from duramen.cli.contexts import Given, complete, with_target, without_target
from duramen.cli.exact import Missing
from duramen.cli.options import (
    CategoricalOption,
    CheckpointOption,
    CriterionOption,
    DecimalOption,
    DropOption,
    FileArgument,
    JobsOption,
    NaOption,
    OutOption,
    QuietOption,
    SeedOption,
    SpreadsheetSafeOption,
    TargetOption,
    Task,
    TaskOption,
    TopOption,
    settled_criterion,
)
from duramen.cli.output import results_folder, write_results
from duramen.cli.reading import Reading
from duramen.cli.source import Demo, check_input, read_source

if TYPE_CHECKING:
    from duramen.reports import Level, Report, Run
    from duramen.reports.contextual import Findings
    from duramen.results.context_importances import ContextImportances
    from duramen.results.context_network import ContextNetwork

_DEMO_CONTEXT = "sex"
# A context of fewer rows is pointed out.
_FEW_ROWS = 15


def context(
    file: FileArgument = None,
    target: TargetOption = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Column whose values are the circumstances; repeat for more.",
        ),
    ] = None,
    network: Annotated[
        bool,
        typer.Option("--network", help="Every column but the context is a target of the others."),
    ] = False,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="With --network: column that is a target; repeat for more. By default all.",
        ),
    ] = None,
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
    trees: Annotated[int, typer.Option(min=1, metavar="T", help="Number of trees.")] = 1000,
    permutations: Annotated[
        int,
        typer.Option(min=0, metavar="B", help="Permutations of the context; 0 for no p-values."),
    ] = 1000,
    permute: Annotated[
        Permute,
        typer.Option(
            help="Rows that exchange contexts for the p-values of effects: those of the same class "
            "(or bin) of the target, or all."
        ),
    ] = Permute.within_target,
    strata: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Column within whose values contexts are permuted, such as the population or the "
            "batch. It is no feature.",
        ),
    ] = None,
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Column whose values tell the blocks of rows that are kept together, such as the "
            "person or the family. It is no feature.",
        ),
    ] = None,
    propensity_strata: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="S",
            show_default=False,
            help="Permute the context within S strata of its probability given the columns too; "
            "for contexts that shift columns. By default none.",
        ),
    ] = None,
    empty: Annotated[
        Empty,
        typer.Option(
            help="Nodes without rows of a context: left out, or as if the feature told nothing."
        ),
    ] = Empty.skip,
    criterion: CriterionOption = "auto",
    splits: Annotated[
        Splits,
        typer.Option(
            help="One branch a value, or two; auto is two where a column has many numbers."
        ),
    ] = Splits.auto,
    bins: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="B",
            show_default=False,
            help="Quantile intervals for columns of more numbers; by default none.",
        ),
    ] = None,
    context_bins: Annotated[
        int, typer.Option(min=2, metavar="B", help="Quantile intervals of a context of numbers.")
    ] = 3,
    max_features: Annotated[
        int,
        typer.Option(min=1, metavar="K", help="Candidates at a node; 1 is totally randomised."),
    ] = 1,
    max_depth: Annotated[
        int | None,
        typer.Option(min=1, metavar="D", help="Depth of the trees; by default they are full."),
    ] = None,
    plain_p_values: Annotated[
        bool,
        typer.Option(
            "--plain-p-values",
            help="Test the difference of forests too, which are grown anew for each permutation.",
        ),
    ] = False,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=0.999, metavar="SHARE", help="What verdicts call equal.")
    ] = 0.05,
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="A", help="Level of the verdicts.")
    ] = 0.05,
    control: Annotated[
        ControlName, typer.Option(help="Error rate that --alpha bounds: none is of each p-value.")
    ] = ControlName.fdr,
    checkpoint: CheckpointOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    out: OutOption = Path("duramen-context"),
    top: TopOption = 20,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Take the primary tumor set that ships with duramen, by sex."),
    ] = False,
    spreadsheet_safe: SpreadsheetSafeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Tell which columns, or links between them, depend on a context."""
    options = Options(
        file=file,
        target=target,
        contexts=tuple(context or ([_DEMO_CONTEXT] if demo else [])),
        network=network,
        targets=tuple(targets or ()),
        demo=demo,
        task=task,
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
        reading=Reading(tuple(na or ()), decimal),
        missing=missing or (Missing.drop if demo else Missing.category),
        trees=trees,
        permutations=permutations,
        permute=permute,
        strata=strata,
        blocks=blocks,
        propensity_strata=propensity_strata,
        empty=empty,
        criterion=criterion,
        splits=splits,
        bins=bins,
        context_bins=context_bins,
        max_features=max_features,
        max_depth=max_depth,
        plain_p_values=plain_p_values,
        tolerance=tolerance,
        alpha=alpha,
        control=control,
        checkpoint=checkpoint,
        seed=seed,
        jobs=jobs,
        out=out,
        top=top,
        spreadsheet_safe=spreadsheet_safe,
        quiet=quiet,
    )
    with ending_well(COMMAND, out):
        run_context(options)


def run_context(options: Options) -> None:
    """Read, grow, permute, write, say."""
    clock = Clock()
    with ExitStack() as stack:
        with user_errors(COMMAND):
            _check(options)
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            given = _read(options, clock)
            with (
                warnings_as_notes(options.quiet),
                clock.step("analyse"),
                keeping(lambda: kept(options.checkpoint), options.quiet),
            ):
                found = _analysed(options, given)
        from duramen.reports.contextual import Findings, Level, stacked

        level = Level(options.alpha, options.control.value)
        findings = [Findings.of(one, level) for one in found]
        notes = _notes(options, given, findings)
        for line in (
            () if options.quiet else (*notes, *(text for one in found for text in one.notes))
        ):
            note(line)
        run = record(options, given, findings, clock)
        report = partial(_summary, options, found, run, level, notes)
        write_results(folder, stacked(findings), run, report, clock, options.spreadsheet_safe)
    if not options.quiet:
        from duramen.cli.show_context import show_context

        show_context(findings, run, options.top, options.out)


def _check(options: Options) -> None:
    """Check that options go together.

    Raises
    ------
    ValueError, OSError
        If they do not.
    """
    apart = None if options.demo else options.contexts[0] if options.contexts else ""
    named = apart if options.network and options.target is None else options.target
    check_input(options.file, named, options.demo, "primary tumor set")
    writable(options.checkpoint)
    if not options.contexts:
        raise ValueError("--context is missing: in which column are the circumstances?")
    for name in options.contexts:
        if options.contexts.count(name) > 1:
            raise ValueError(f"--context {name} is given twice")
        if name in options.drop:
            raise ValueError(f"--drop {name} is a context")
    if options.plain_p_values and not options.permutations:
        raise ValueError("--plain-p-values needs --permutations of 1 or more")
    if options.propensity_strata is not None and (len(options.contexts) > 1 or options.network):
        raise ValueError("--propensity-strata takes one --context and no --network")
    if options.propensity_strata is not None and options.strata is not None:
        raise ValueError("--propensity-strata and --strata go not together; leave out one")
    for option, name in options.labels().items():
        if name in options.drop or name in options.contexts:
            raise ValueError(f"--{option} {name} is a context, or is left out by --drop")
    _check_network(options)


def _check_network(options: Options) -> None:
    if not options.network:
        if options.targets:
            raise ValueError("--targets needs --network; a single target is --target")
        return
    if options.target is not None:
        raise ValueError(
            "--network takes every column but the context for a target; leave out --target, or "
            "name some with --targets"
        )
    if len(options.contexts) > 1:
        raise ValueError(f"--network takes one --context, got {len(options.contexts)} of them")
    if not options.permutations:
        raise ValueError("--network needs --permutations of 1 or more, to tell links from chance")
    for option, asked in (("--task", options.task.value), ("--criterion", options.criterion)):
        if asked != "auto":
            raise ValueError(f"{option} has no use with --network: it goes by each target's kind")


def _read(options: Options, clock: Clock) -> Given:
    from duramen.datasets.bundled import PRIMARY_TUMOR, PRIMARY_TUMOR_CITATION

    apart = options.contexts[0] if options.network else (options.target or "y")
    demo = Demo(PRIMARY_TUMOR, PRIMARY_TUMOR_CITATION, apart) if options.demo else None
    with clock.step("read"):
        source = read_source(
            COMMAND, options.file, apart, demo, options.drop, reading=options.reading
        )
        source, dropped = complete(source, drop=options.missing is Missing.drop)
        source = source.labelled(options.labels())
    with clock.step("encode"):
        if options.network:
            return without_target(
                source, categorical=options.categorical, jobs=options.jobs, dropped_rows=dropped
            )
        return with_target(
            COMMAND,
            source,
            options.contexts,
            task=options.task,
            categorical=options.categorical,
            jobs=options.jobs,
            dropped_rows=dropped,
        )


def _analysed(options: Options, given: Given) -> list[ContextImportances] | list[ContextNetwork]:
    """Run the analysis: one result a context, or a network."""
    from duramen.context import context_importances, context_network
    from duramen.tables import Exchangeability

    settings: dict[str, Any] = {
        "n_estimators": options.trees,
        "n_permutations": options.permutations,
        "permute": options.permute.name,
        "empty": options.empty.value,
        "splits": options.splits.value,
        "n_bins": options.bins,
        "n_context_bins": options.context_bins,
        "max_features": options.max_features,
        "max_depth": options.max_depth,
        "plain_p_values": options.plain_p_values,
        "tolerance": options.tolerance,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "checkpoint": writable(options.checkpoint),
        "verbose": int(not options.quiet and standard_error().is_terminal),
    }
    if given.problem is None:
        settings |= {"targets": options.targets or None, **_exchanged(options, given)}
        return [context_network(given.table, given.contexts, **settings)]
    criterion = settled_criterion(options.criterion, given.problem.task)
    data = given.problem.data
    if options.propensity_strata is not None:
        labels = _exchanged(options, given)
        rows = Exchangeability.checked(data.n_rows, **labels, function=f"duramen {COMMAND}")
        data = data.with_exchangeability(rows)
    results = context_importances(data, None, given.contexts, criterion=criterion, **settings)
    return list(results.values()) if isinstance(results, dict) else [results]


def _exchanged(options: Options, given: Given) -> dict[str, Any]:
    """Return the strata and blocks within which contexts are permuted."""
    labels = dict(given.source.labels)
    if options.propensity_strata is not None:
        from duramen.context import propensity_strata

        (values,) = given.contexts.values()
        labels["strata"] = propensity_strata(
            given.table,
            values,
            n_strata=options.propensity_strata,
            n_context_bins=options.context_bins,
        )
    return labels


def _summary(
    options: Options,
    found: list[ContextImportances] | list[ContextNetwork],
    run: Run,
    level: Level,
    notes: list[str],
) -> Report:
    from duramen.reports import summarise_context, summarise_context_network
    from duramen.results.context_network import ContextNetwork

    if isinstance(found[0], ContextNetwork):
        return summarise_context_network(found[0], run, level=level, notes=notes)
    results = {one.context_name: one for one in found if not isinstance(one, ContextNetwork)}
    return summarise_context(results, run, level=level, notes=notes)


def _notes(options: Options, given: Given, findings: list[Findings]) -> list[str]:
    from duramen.reports.report import joined

    lines = list(given.notes)
    if given.dropped_rows:
        total = given.dropped_rows + given.table.n_rows
        lines.append(f"{given.dropped_rows:,} of {total:,} rows are incomplete and were left out")
    for one in findings:
        first, name = one.analyses[0], one.context_name
        if first.metadata["context"]["cuts"]:
            lines.append(
                f"{name} is a number and became {len(first.contexts)} intervals by quantiles; "
                "--context-bins and --categorical choose otherwise"
            )
        rows = (first.shares * given.table.n_rows).round().astype(int).tolist()
        few = [
            f"{value} ({n})" for value, n in zip(first.contexts, rows, strict=True) if n < _FEW_ROWS
        ]
        if few:
            lines.append(
                f"some values of {name} have few rows: {joined(few, shown=5)}; little can be "
                "found there"
            )
        lines += _too_few(options, one)
    return lines


def _too_few(options: Options, one: Findings) -> list[str]:
    """Say so where there are too few permutations for a single effect to be significant."""
    n = 1 if options.control is ControlName.none else sum(a.absolute.size for a in one.analyses)
    if not one.tested or one.count() or n <= options.alpha * (options.permutations + 1):
        return []
    more = "" if not options.alpha else f"; with --permutations {round(n / options.alpha)} it could"
    return [
        f"with {options.permutations:,} permutations no p-value is below "
        f"{1 / (options.permutations + 1):.2g}, which is too large for a single one of {n:,} to "
        f"have {one.level}{more}"
    ]
