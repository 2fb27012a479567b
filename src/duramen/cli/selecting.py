"""Run of `duramen select`: the selector that its options describe, fitted and recorded."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import keeping, writable
from duramen.cli.clock import Clock
from duramen.cli.console import note, standard_error, user_errors, warnings_as_notes
from duramen.cli.forests import parsed_max_features
from duramen.cli.inputs import Input
from duramen.cli.options import spreadsheet_words
from duramen.cli.output import results_folder, write_results
from duramen.cli.problem import Problem

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.reports.selection import Selection
    from duramen.selection import BaseSelector, Selector

COMMAND = "select"

MEMORY = "512MB"
TREES, DEMO_TREES, _DEMO_SUBSPACE = 1000, 200, 1000


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
    """Use of the places for features that were found before."""

    hard = "hard"
    soft = "soft"


# Parameter that an option sets, in the order of the command of the record; selectors without the
# parameter have no such option.
_PARAMETERS = {
    "subspace": "n_subspace_features",
    "memory": "memory",
    "alpha": "alpha",
    "trees": "n_estimators",
    "tree": "tree",
    "max_features": "max_features",
    "relevance": "relevance",
    "level": "level",
    "min_draws": "min_draws",
    "confidence": "confidence",
    "probes": "n_probes",
    "sampling": "sampling",
    "batch": "batch_size",
    "patience": "patience",
    "checkpoint": "checkpoint",
}
# Settings of where and how to work, which every selector is given that has them.
_WORKING = frozenset({"random_state", "n_jobs", "checkpoint", "verbose"})


DEFAULT_METHOD = "sequential-random-subspace"


def selector_names() -> tuple[str, ...]:
    """Return the names of the selectors on the command line."""
    from duramen.selection import catalogue

    return tuple(record.option for record in catalogue)


def _selector_named(name: str) -> Selector:
    from duramen.selection import catalogue

    return next(record for record in catalogue if record.option == name)


@dataclass(frozen=True)
class Options:
    """Options of the command, as the user gave them."""

    input: Input
    method: str
    given: frozenset[str]
    memory: str | None
    subspace: str | None
    alpha: float
    trees: int | None
    tree: TreeName
    max_features: str
    relevance: RelevanceName
    test: dict[str, Any]
    sampling: SamplingName
    batch: int
    patience: int | None
    checkpoint: Path | None
    seed: int
    jobs: int
    out: Path
    top: int
    spreadsheet_safe: bool
    quiet: bool


def run_select(options: Options) -> None:
    """Read, select, write, show."""
    clock = Clock()
    record = _selector_named(options.method)
    with ExitStack() as stack:
        with user_errors(COMMAND):
            options.input.check()
            selector = _selector(options, record)
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            problem = options.input.read(COMMAND, options.jobs, clock)
            for line in () if options.quiet else problem.notes:
                note(line)
            if _takes(record, "criterion"):
                criterion = "variance" if problem.task == "regression" else "gini"
                selector.set_params(criterion=criterion)
            if _takes(record, "relevance"):
                _check_decoys(options, problem)
            with (
                keeping(lambda: _kept(options), options.quiet),
                clock.step("search"),
                warnings_as_notes(options.quiet),
            ):
                selector.fit(problem.data)
        from duramen.reports.selection import Selection, summarise_selection

        found = Selection.of(selector, record)
        run = _record(options, record, problem, selector, found, clock)
        report = partial(summarise_selection, found, run)
        write_results(folder, found.columns(), run, report, clock, options.spreadsheet_safe)
    if not options.quiet:
        from duramen.cli.show_select import show_select

        show_select(found, run, options.top, options.out)


def _takes(record: Selector, parameter: str) -> bool:
    return parameter in inspect.signature(record.estimator).parameters


def _selector(options: Options, record: Selector) -> BaseSelector:
    """Return the selector that the options describe.

    Raises
    ------
    ValueError, OSError
        If they do not go together.
    """
    for option, parameter in _PARAMETERS.items():
        if option in options.given and not _takes(record, parameter):
            name = option.replace("_", "-")
            raise ValueError(f"--{name} is not an option of --method {record.option}; leave it out")
    if _takes(record, "relevance"):
        _check_test(options)
    if options.memory is not None and options.subspace is not None:
        raise ValueError("--memory and --subspace both say how many features a tree has; give one")
    subspace = None if options.subspace is None else _parsed_subspace(options.subspace)
    if options.input.demo and options.memory is None and subspace is None:
        subspace = _DEMO_SUBSPACE
    auto = options.max_features == "auto"
    trees = options.trees or (DEMO_TREES if options.input.demo else TREES)
    settings = {
        "n_estimators": trees,
        "n_subspace_features": subspace,
        "memory": (options.memory or MEMORY) if subspace is None else None,
        "alpha": options.alpha,
        "tree": options.tree.value,
        "max_features": None if auto else parsed_max_features(options.max_features),
        "relevance": options.relevance.value,
        **{_PARAMETERS[option]: value for option, value in options.test.items()},
        "sampling": options.sampling.value,
        "batch_size": options.batch,
        "patience": options.patience,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "checkpoint": writable(options.checkpoint),
        "verbose": int(not options.quiet and standard_error().is_terminal),
    }
    options_of = {parameter: option for option, parameter in _PARAMETERS.items()}
    default = record.option == DEFAULT_METHOD
    taken = {
        name: value
        for name, value in settings.items()
        # Other selectors have defaults of their own.
        if value is not None
        and _takes(record, name)
        and (default or options_of.get(name, name) in options.given | _WORKING)
    }
    return record.estimator(**taken)


def _check_test(options: Options) -> None:
    """Check that options of the tests of relevance are those of the test that is asked for.

    Raises
    ------
    ValueError
        If they are of others.
    """
    from duramen.selection.sequential_random_subspace.account import PARAMETERS_OF_TESTS

    for option, value in options.test.items():
        tests = PARAMETERS_OF_TESTS[_PARAMETERS[option]]
        if value is not None and options.relevance not in tests:
            raise ValueError(
                f"--{option.replace('_', '-')} is for --relevance {' and '.join(tests)}, not "
                f"for {options.relevance.value}"
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
    record: Selector,
    problem: Problem[Any],
    selector: BaseSelector,
    found: Selection,
    clock: Clock,
) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    account = found.account
    return Run(
        command=_command(options, record, problem, account.settings),
        task=problem.task,
        target=problem.target,
        file=problem.name,
        n_rows=problem.data.n_rows,
        n_features=problem.data.n_columns,
        fingerprint=problem.data.fingerprint,
        seed=options.seed,
        settings={
            **_method(options, "method"),
            **account.settings,
            **found.metadata.get("forest", {}),
            **options.input.record(problem),
        },
        versions=versions("pyarrow", "matplotlib"),
        classes=problem.data.target.class_sizes(),
        results={"features_found": found.n_found, **account.results, "unit": found.unit},
        timings=dict(clock.seconds),
        citation=problem.citation,
    )


def _method(options: Options, name: str) -> dict[str, str]:
    """Return the method by the name of its option, unless it is the default."""
    return {} if options.method == DEFAULT_METHOD else {name: options.method}


def _command(
    options: Options, record: Selector, problem: Problem[Any], settings: Mapping[str, Any]
) -> str:
    """Return the command line that does the same again, whatever folder it is run in.

    Options that were resolved, such as the number of features of a tree, are in it as they were.
    """
    words = ["duramen", COMMAND, *options.input.words(problem)]
    for name, method in _method(options, "--method").items():
        words += [name, method]
    resolved = {option: settings.get(parameter) for option, parameter in _PARAMETERS.items()}
    typed = {**resolved, "max_features": options.max_features, "memory": None, "checkpoint": None}
    for option, value in typed.items():
        if value is not None and _takes(record, _PARAMETERS[option]):
            words += [f"--{option.replace('_', '-')}", str(value)]
    words += spreadsheet_words(options.spreadsheet_safe)
    return shlex.join([*words, "--seed", str(options.seed)])
