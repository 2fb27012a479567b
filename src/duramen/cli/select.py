"""`duramen select`: the features that tell something, found with only some of them in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from duramen.cli.choices import CatalogueChoice
from duramen.cli.console import ending_well
from duramen.cli.inputs import Input, located
from duramen.cli.options import (
    CategoricalOption,
    CheckpointOption,
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
    TargetOption,
    Task,
    TaskOption,
    TopOption,
)
from duramen.cli.reading import Reading, Samples
from duramen.cli.selecting import (
    COMMAND,
    DEFAULT_METHOD,
    DEMO_TREES,
    MEMORY,
    TREES,
    Options,
    RelevanceName,
    SamplingName,
    TreeName,
    run_select,
    selector_names,
)


def select(
    ctx: typer.Context,
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
    method: Annotated[
        str,
        typer.Option(parser=CatalogueChoice(selector_names), metavar="NAME", help="Selector."),
    ] = DEFAULT_METHOD,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            show_default=False,
            help=f"Memory for the columns of a tree, such as 2GiB; {MEMORY} by default.",
        ),
    ] = None,
    subspace: Annotated[
        str | None,
        typer.Option(
            metavar="Q",
            show_default=False,
            help="Features of a tree, or their share of all; by default as many as memory holds.",
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="A",
            help="Share of these that may be features found before; 0 is the random subspace.",
        ),
    ] = 0.5,
    trees: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="T",
            show_default=False,
            help=f"Number of trees at most; {TREES} by default, {DEMO_TREES} with --demo.",
        ),
    ] = None,
    tree: Annotated[
        TreeName, typer.Option(help="Kind of trees: Extra-Trees, CART or totally randomised.")
    ] = TreeName.extra,
    max_features: Annotated[
        str,
        typer.Option(
            metavar="K",
            help="Candidates at a node: auto, sqrt, log2, all, a number or a share; auto is all, "
            "of random trees one.",
        ),
    ] = "auto",
    relevance: Annotated[
        RelevanceName,
        typer.Option(
            help="Test of a feature: against its decoy, in most trees against a random probe, or "
            "in more than chance gives."
        ),
    ] = RelevanceName.decoy,
    level: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="R",
            show_default=False,
            help="False discovery rate (decoy, binomial); 0.05 by default.",
        ),
    ] = None,
    min_draws: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="L",
            show_default=False,
            help="A feature is given to more trees than that (probe); 10 by default.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="B",
            show_default=False,
            help="Share of its trees in which it beats the probes (probe); 0.95 by default.",
        ),
    ] = None,
    probes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="M",
            show_default=False,
            help="Probes of a tree (probe, binomial); 1 by default.",
        ),
    ] = None,
    sampling: Annotated[
        SamplingName,
        typer.Option(help="Keep features found, or draw features by their importance so far."),
    ] = SamplingName.hard,
    batch: Annotated[
        int,
        typer.Option(min=1, metavar="B", help="Trees that can grow at a time. Changes the result."),
    ] = 1,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="End once so many trees brought nothing new; by default never.",
        ),
    ] = None,
    checkpoint: CheckpointOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    out: OutOption = Path("duramen-select"),
    top: TopOption = 20,
    demo: Annotated[
        bool, typer.Option("--demo", help="Search the leukemia set that ships with duramen.")
    ] = False,
    spreadsheet_safe: SpreadsheetSafeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the columns that tell something about one of them, some of them in memory at a time."""
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
        ),
        method=method,
        given=_given_options(ctx),
        memory=memory,
        subspace=subspace,
        alpha=alpha,
        trees=trees,
        tree=tree,
        max_features=max_features,
        relevance=relevance,
        test={
            "level": level,
            "min_draws": min_draws,
            "confidence": confidence,
            "probes": probes,
        },
        sampling=sampling,
        batch=batch,
        patience=patience,
        checkpoint=checkpoint,
        seed=seed,
        jobs=jobs,
        out=out,
        top=top,
        spreadsheet_safe=spreadsheet_safe,
        quiet=quiet,
    )
    with ending_well(COMMAND, out):
        run_select(options)


def _given_options(ctx: Any) -> frozenset[str]:
    """Return the options that the user typed, by the names of their parameters."""
    sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
    return frozenset(
        name for name, source in sources.items() if source and source.name == "COMMANDLINE"
    )
