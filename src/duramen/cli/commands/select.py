"""Command `duramen select`: its options, some made from records, and the selector they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses import SELECTOR
from duramen.analyses.problem import Problem, noted
from duramen.cli.command import perform
from duramen.cli.console import notes
from duramen.cli.declaration import choice, command_line, group, option, option_values
from duramen.cli.ending import Clock
from duramen.cli.inputs import SampledInput
from duramen.cli.options import (
    Clustering,
    ClusterWork,
    Printed,
    Strata,
    count_or_fraction,
    estimator_of,
    parsed_max_features,
)
from duramen.selection.records import DEMO_TREES, MEMORY, Option, Selector, catalogue

if TYPE_CHECKING:
    from duramen.analyses.selection import Selected, SelectionRequest
    from duramen.reports import Report


COMMAND = "select"


def _field(parameter: Option) -> tuple[str, Any, Any]:
    """Return the name, the type and the declaration of an option of a method."""
    if parameter.choices:
        declared = choice(parameter.default, parameter.choices, parameter.help)
    else:
        declared = option(
            parameter.default,
            parameter.help,
            parameter=parameter.parameter,
            echo="always" if parameter.on_record else "never",
            metavar=None if parameter.kind is bool else parameter.metavar,
            min=parameter.least,
            max=parameter.most,
        )
    return (
        parameter.name,
        parameter.kind if parameter.default is not None else parameter.kind | None,
        declared,
    )


_OPTIONS = {parameter.name: parameter for record in catalogue for parameter in record.options}
Search: Any = make_dataclass(
    "Search", [_field(parameter) for parameter in _OPTIONS.values()], frozen=True, kw_only=True
)
"""Parameters of selectors; each takes those that it has."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen select`."""

    input: SampledInput = group(SampledInput, "Data")
    method: str = choice(SELECTOR, catalogue, "Selector.", echo="changed", section="Search")
    search: Search = group(Search, "Search")
    rows: Strata = group(Strata, "Permutations")
    signals: Clustering = group(Clustering, "Correlated features")
    work: ClusterWork = group(ClusterWork, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-select"))
    typed: frozenset[str] = frozenset()


def select(options: Options) -> None:
    """Select the columns that are relevant for a target.

    Example: duramen select genotypes.bed --samples people.csv --target disease

    Grows each tree on some columns only, drawn at random or found before, so that the table need
    not fit into memory. Other selectors: --method. Prints the features found, and writes
    result.csv, result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> SelectionRequest:
    """Return the selector that the options describe, and what the table is to settle of it."""
    options.input.check()
    options.signals.check()
    options.rows.check(options.input.drop)
    record = catalogue[options.method]
    for name in options.rows.labels():
        exchanges = attrgetter("exchanges_groups" if name == "groups" else "exchanges")
        if not exchanges(record):
            able = " or ".join(entry.option for entry in catalogue if exchanges(entry))
            raise ValueError(
                f"--{name} has no effect with --method {record.option}, which does not permute "
                f"rows by {'groups' if name == 'groups' else 'strata'}; use --method {able}"
            )
    return _selector(options, record)


def _compute(options: Options, request: SelectionRequest, clock: Clock) -> Selected:
    """Read the table and fit the selector."""
    from duramen.analyses.selection import select_features

    work, quiet = options.work, options.output.quiet
    problem = options.input.sample(COMMAND, work.jobs, clock, options.rows.labels(), work.seed)
    notes((*options.rows.notes(), *problem.remarks), quiet)
    execution = work.execution(quiet, clock)
    if execution.client is not None:  # which there was not when the options were checked
        request.selector.set_params(client=execution.client)
    return select_features(problem, request, execution)


def _report(options: Options, request: SelectionRequest, selected: Selected, _: Clock) -> Report:
    """Return the report of the selection."""
    from duramen.analyses.selection import report_of

    problem = selected.problem
    return report_of(
        selected,
        command=_command(options, request, problem),
        settings={
            **options.input.record(),
            **options.rows.record(),
            **options.signals.record(),
            **noted(problem.remarks),
        },
        notes=problem.remarks,
        top=options.output.top,
    )


def _selector(options: Options, record: Selector) -> SelectionRequest:
    """Return the selector that the options describe, and what the table is to settle of it."""
    from duramen.analyses.selection import SelectionRequest

    search, quiet = options.search, options.output.quiet
    typed = {
        option.parameter: value
        for option, value in option_values(search)
        if option.name in options.typed
    }
    for declared, _ in (*option_values(search), *option_values(options.work)):
        wanted = declared.name in options.typed and declared.name not in ("seed", "jobs")
        if wanted and not record.has(declared.name, declared.parameter):
            raise ValueError(
                f"{declared.word} does not apply to --method {record.option}; leave it out"
            )
    if record.takes("relevance"):
        _check_test(options)
    if search.feature_groups is not None:
        from duramen.io.groups import named_groups  # a slow import

        named_groups(search.feature_groups, f"--feature-groups {search.feature_groups}")
    values = {
        name: _PARSED[name](value) if name in _PARSED else value for name, value in typed.items()
    }
    estimator = None
    if record.name == SELECTOR:
        if search.subspace is None:
            values.setdefault("memory", MEMORY)
        if options.input.demo:
            values.setdefault("n_estimators", DEMO_TREES)
        if typed.keys() & {"tree", "max_features"}:
            estimator = _trees_of(search.tree, search.max_features)
    taken = {
        name: value
        for name, value in {**values, **options.work.parameters(quiet)}.items()
        if value is not None and record.takes(name)
    }
    return SelectionRequest(
        record,
        record.make(**taken),
        settles_subspace=search.subspace is None,
        memory=search.memory,
        settles_patience=search.patience is None,
        estimator=estimator,
        clustering=options.signals.request(),
    )


def _trees_of(tree: str, max_features: str) -> Callable[[str], Any]:
    """Return a function from a task to the estimator of the trees of a search in subspaces."""
    random = tree == "random"
    if random and max_features not in ("auto", "1"):
        raise ValueError(
            f"--max-features: must be auto or 1 with --tree random, got {max_features}"
        )
    K = 1 if random else _PARSED["max_features"](max_features)

    def estimator(task: str) -> Any:
        if tree == "cart":
            made = estimator_of("random-forest", task, bootstrap=False)
        else:
            made = estimator_of("extra-trees", task)
        return made.set_params(max_features=K)

    return estimator


def _check_test(options: Options) -> None:
    """Check that options of the tests of relevance are those of the test that is asked for."""
    from duramen.selection.sequential_random_subspace.search import PARAMETERS_OF_TESTS

    relevance = options.search.relevance
    for declared, value in option_values(options.search):
        tests = PARAMETERS_OF_TESTS.get(declared.parameter)
        if tests is not None and value is not None and relevance not in tests:
            raise ValueError(
                f"{declared.word} is for --relevance {' and '.join(tests)}, not for {relevance}"
            )


# Values of parameters from those of options, where they differ; None for the default.
_PARSED: dict[str, Callable[[Any], Any]] = {
    "n_subspace_features": count_or_fraction,
    "max_features": lambda text: None if text == "auto" else parsed_max_features(text),
    "measure": lambda text: text.replace("-", "_"),
    "patience": lambda count: count or None,
}


def _command(options: Options, request: SelectionRequest, problem: Problem[Any]) -> str:
    """Return the command line; options that were resolved are echoed as resolved."""
    record, resolved = request.record, {}
    settings = request.selector.account(record).settings
    for declared, value in option_values(options.search):
        if declared.echo != "never":
            name, parameter = declared.name, declared.parameter
            as_typed = name in ("tree", "max_features", "feature_groups")
            shown = value if as_typed else settings.get(parameter)
            resolved[name] = shown if record.has(name, parameter) else None
    if record.takes("patience"):
        resolved["patience"] = resolved["patience"] or 0
    return command_line(COMMAND, options, **options.input.settled(problem), **resolved)
