"""`duramen select`: the features that tell something, found with only some of them in memory."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duramen.cli.checkpoint import keeping, writable
from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, note, standard_error, user_errors, warnings_as_notes
from duramen.cli.forests import parsed_max_features
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
    TargetOption,
    Task,
    TaskOption,
    TopOption,
)
from duramen.cli.output import results_folder, write_results
from duramen.cli.problem import Problem
from duramen.cli.reading import Reading, Samples

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.reports.selection import Selection
    from duramen.selection import SequentialRandomSubspace

COMMAND = "select"

_MEMORY = "512MB"
_TREES, _DEMO_TREES, _DEMO_SUBSPACE = 1000, 200, 1000


class TreeName(StrEnum):
    """Kinds of trees."""

    extra = "extra"
    cart = "cart"
    random = "random"


class RelevanceName(StrEnum):
    """Tests of a feature."""

    decoy = "decoy"
    probe = "probe"
    binomial = "binomial"


class SamplingName(StrEnum):
    """What the places for features found before are given to."""

    hard = "hard"
    soft = "soft"


@dataclass(frozen=True)
class RelevanceOptions:
    """Options of the tests; None for what was not given."""

    level: float | None
    min_draws: int | None
    confidence: float | None
    probes: int | None

    def given(self) -> dict[str, Any]:
        """Those that were given, by their names as parameters."""
        return {
            _OF_TESTS[option][0]: value for option, value in vars(self).items() if value is not None
        }

    def check(self, test: RelevanceName) -> None:
        """Check that what was given is of this test.

        Raises
        ------
        ValueError
            If it is of others.
        """
        for option, value in vars(self).items():
            tests = _OF_TESTS[option][1]
            if value is not None and test not in tests:
                raise ValueError(
                    f"--{option.replace('_', '-')} is for --relevance {' and '.join(tests)}, not "
                    f"for {test.value}"
                )


_OF_TESTS = {
    "level": ("level", ("decoy", "binomial")),
    "min_draws": ("min_draws", ("probe",)),
    "confidence": ("confidence", ("probe",)),
    "probes": ("n_probes", ("probe", "binomial")),
}


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    input: Input
    memory: str | None
    subspace: str | None
    alpha: float
    trees: int | None
    tree: TreeName
    max_features: str
    relevance: RelevanceName
    test: RelevanceOptions
    sampling: SamplingName
    batch: int
    patience: int | None
    checkpoint: Path | None
    seed: int
    jobs: int
    out: Path
    top: int
    quiet: bool


def select(
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
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            show_default=False,
            help=f"Memory for the columns of a tree, such as 2GiB; {_MEMORY} by default.",
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
            help=f"Number of trees at most; {_TREES} by default, {_DEMO_TREES} with --demo.",
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
        memory=memory,
        subspace=subspace,
        alpha=alpha,
        trees=trees,
        tree=tree,
        max_features=max_features,
        relevance=relevance,
        test=RelevanceOptions(level, min_draws, confidence, probes),
        sampling=sampling,
        batch=batch,
        patience=patience,
        checkpoint=checkpoint,
        seed=seed,
        jobs=jobs,
        out=out,
        top=top,
        quiet=quiet,
    )
    with ending_well(COMMAND):
        run_select(options)


def run_select(options: Options) -> None:
    """Read, search, write, say."""
    clock = Clock()
    with ExitStack() as stack:
        with user_errors(COMMAND):
            options.input.check()
            options.test.check(options.relevance)
            search = _search(options)
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            problem = options.input.read(COMMAND, options.jobs, clock)
            for line in () if options.quiet else problem.notes:
                note(line)
            _check_decoys(options, problem)
            search.set_params(criterion="variance" if problem.task == "regression" else "gini")
            with (
                keeping(lambda: _kept(options), options.quiet),
                clock.step("search"),
                warnings_as_notes(options.quiet),
            ):
                search.fit(problem.data)
        from duramen.reports.selection import Selection, summarise_selection

        found = Selection.of(search)
        run = _record(options, problem, search, found, clock)
        report = partial(summarise_selection, found, run)
        write_results(folder, found.columns(), run, report, clock)
    if not options.quiet:
        from duramen.cli.show_select import show_select

        show_select(found, run, options.top, options.out)


def _search(options: Options) -> SequentialRandomSubspace:
    """Return the estimator that the options describe.

    Raises
    ------
    ValueError, OSError
        If they do not go together.
    """
    from duramen.selection import SequentialRandomSubspace

    if options.memory is not None and options.subspace is not None:
        raise ValueError("--memory and --subspace both say how many features a tree has; give one")
    subspace = None if options.subspace is None else _parsed_subspace(options.subspace)
    if options.input.demo and options.memory is None and subspace is None:
        subspace = _DEMO_SUBSPACE
    auto = options.max_features == "auto"
    return SequentialRandomSubspace(
        options.trees or (_DEMO_TREES if options.input.demo else _TREES),
        n_subspace_features=subspace,
        memory=(options.memory or _MEMORY) if subspace is None else None,
        alpha=options.alpha,
        tree=options.tree.value,
        max_features=None if auto else parsed_max_features(options.max_features),
        relevance=options.relevance.value,
        **options.test.given(),
        sampling=options.sampling.value,
        batch_size=options.batch,
        patience=options.patience,
        random_state=options.seed,
        n_jobs=options.jobs,
        checkpoint=writable(options.checkpoint),
        verbose=int(not options.quiet and standard_error().is_terminal),
    )


def _parsed_subspace(given: str) -> int | float:
    try:
        number = float(given)
    except ValueError:
        number = float("nan")
    if given.isdecimal() and number >= 1:
        return int(given)
    if 0 < number <= 1:
        return number
    raise ValueError(
        f"--subspace must be a whole number or a share from 0 to 1, such as 0.1, got {given!r}"
    )


def _check_decoys(options: Options, problem: Problem[Any]) -> None:
    from duramen.selection.sequential_random_subspace.relevance import FEWEST_FEATURES

    p = problem.data.n_columns
    if options.relevance is RelevanceName.decoy and p < FEWEST_FEATURES:
        raise ValueError(
            f"--relevance decoy needs {FEWEST_FEATURES} columns beside the target to tell how "
            f"far chance goes, got {p}; take --relevance probe or binomial, or duramen rank "
            "--significance"
        )


def _kept(options: Options) -> list[Path]:
    """Return the file that keeps what is done, if there is one."""
    file = writable(options.checkpoint)
    return [] if file is None or not file.is_file() else [file]


def _record(
    options: Options,
    problem: Problem[Any],
    search: SequentialRandomSubspace,
    found: Selection,
    clock: Clock,
) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    asked = ("alpha", "tree", "relevance", "level", "min_draws", "confidence", "n_probes")
    ways = ("sampling", "batch_size", "patience")
    return Run(
        command=_command(options, problem, search),
        task=problem.task,
        target=problem.target,
        file=problem.name,
        n_rows=problem.data.n_rows,
        n_features=problem.data.n_columns,
        fingerprint=found.metadata["fingerprint"],
        seed=options.seed,
        settings={
            "n_estimators": search.n_estimators,
            "memory": search.memory,
            "n_subspace_features": search.n_subspace_features_,
            **{name: getattr(search, name) for name in asked if _applies(name, options)},
            **{name: getattr(search, name) for name in ways},
            **found.metadata["forest"],
            **options.input.record(problem),
        },
        versions=versions("pyarrow", "matplotlib"),
        classes=problem.data.target.class_sizes(),
        results={
            "features_found": found.n_found,
            "trees": found.n_trees,
            "mean_draws": found.mean_draws,
            "unit": found.unit,
        },
        timings=dict(clock.seconds),
        citation=problem.citation,
    )


def _applies(name: str, options: Options) -> bool:
    """Whether a parameter means anything for the test."""
    tests = dict(_OF_TESTS.values()).get(name)
    return tests is None or options.relevance in tests


def _command(options: Options, problem: Problem[Any], search: SequentialRandomSubspace) -> str:
    """Return the command line that does the same again, whatever folder it is run in.

    The number of features of a tree is in it as it turned out.
    """
    words = ["duramen", COMMAND, *options.input.words(problem)]
    words += ["--subspace", str(search.n_subspace_features_), "--alpha", repr(options.alpha)]
    words += ["--trees", str(search.n_estimators), "--tree", options.tree.value]
    words += ["--max-features", options.max_features, "--relevance", options.relevance.value]
    for option, (name, tests) in _OF_TESTS.items():
        if options.relevance in tests:
            words += [f"--{option.replace('_', '-')}", str(getattr(search, name))]
    words += ["--sampling", options.sampling.value, "--batch", str(options.batch)]
    words += [] if options.patience is None else ["--patience", str(options.patience)]
    return shlex.join([*words, "--seed", str(options.seed)])
