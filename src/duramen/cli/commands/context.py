"""Command `duramen context`: features, or links between columns, that depend on a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import checkpoints
from duramen.analyses.problem import Problem, loaded
from duramen.cli import console
from duramen.cli.command import perform
from duramen.cli.declaration import (
    choice,
    command_line,
    group,
    option,
    parameters,
    recorded,
    without_use,
)
from duramen.cli.ending import Clock
from duramen.cli.inputs import FEATURES, Small
from duramen.cli.options import (
    ClusterWork,
    Printed,
    Strata,
    Trees,
    count_or_fraction,
    estimator_of,
    keeping,
    settled_criterion,
    writable,
)
from duramen.cli.problem import Source, as_arrow, check_columns, encoded, exchanged, looked
from duramen.data.provenance import records
from duramen.support.arrow import is_number, pa, pc, without_dictionary

if TYPE_CHECKING:
    from duramen.contexts import KernelWeights
    from duramen.data import EncodedTable, Finding
    from duramen.reports import Report, Run
    from duramen.reports.context import Findings
    from duramen.results.context_importances import ContextImportances, ContextNetwork


COMMAND = "context"
_DEMO_CONTEXT = "sex"


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.results.context_importances import EMPTY, PERMUTE, SPLITS, Control

    return {"permute": PERMUTE, "empty": EMPTY, "splits": SPLITS, "control": Control}


@dataclass(frozen=True, kw_only=True)
class Contexts:
    """Contexts, and the targets of a network."""

    context: tuple[str, ...] = option(
        (),
        "Column whose values are the contexts, such as sex or hospital; repeat for more. "
        f"With --demo, it is {_DEMO_CONTEXT}.",
        metavar="NAME",
        record="contexts",
    )
    network: bool = option(
        False,
        "Use each column except the context in turn as the target, with the others as features.",
    )
    targets: tuple[str, ...] = option(
        (),
        "With --network: column to use as a target; repeat for more. By default, all columns "
        "are targets.",
        metavar="NAME",
    )


@dataclass(frozen=True, kw_only=True)
class Analysis(Trees):
    """Parameters of the analysis."""

    trees: int = option(1000, "Number of trees.", metavar="T", min=1, parameter="n_estimators")
    permutations: int | None = option(
        None,
        "Number of permutations of the context; 0 for no p-values. By default 1000, or 40 for "
        "each effect that is tested, at most 10,000.",
        metavar="B",
        min=0,
        parameter="n_permutations",
    )
    permute: str = choice(
        "conditional",
        _choices,
        "Permutations of the context for the p-values of effects: within the classes (or bins) of "
        "the target with probabilities that allow for features that depend on the context "
        "(conditional); with equal probabilities (within-target), or among all rows (all), which "
        "test only that no feature depends on the context.",
    )
    empty: str = choice(
        "skip",
        _choices,
        "Treatment of nodes without rows of a context: skip them, or count an importance of zero.",
    )
    splits: str = choice(
        "auto",
        _choices,
        "Family of splits: one branch for each value (multiway), or two branches (ordered); auto "
        "is ordered if a column has many distinct numbers.",
    )
    bins: int | None = option(
        None,
        "Number of quantile intervals for columns with more distinct numbers than this; none "
        "by default.",
        metavar="B",
        min=2,
        parameter="n_bins",
        record="bins",
    )
    context_bins: int = option(
        3,
        "Number of quantile intervals for a numeric context.",
        metavar="B",
        min=2,
    )
    context_bandwidth: str | None = option(
        None,
        "Kernel weights of the rows at the middles of the intervals of a numeric context, in place "
        "of intervals: their bandwidth as a fraction of the rows, or auto, 1 over the number of "
        "intervals. None by default.",
        metavar="H",
    )
    plain_p_values: bool = option(
        False,
        "Also test the plain effect, the difference between the importances in a forest of "
        "all rows and in one of the rows of a context; new forests are grown for each "
        "permutation.",
    )
    tolerance: float = option(
        0.05,
        "Relative difference up to which verdicts treat importances as equal.",
        metavar="FRACTION",
        min=0.0,
        max=0.999,
    )


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Level of the verdicts."""

    alpha: float = option(0.05, "Level of the verdicts.", metavar="A", min=0.0, max=1.0)
    control: str = choice(
        "fdr",
        _choices,
        "Error rate that --alpha bounds: false discovery rate (fdr), family-wise error rate "
        "(fwer), or the type I error of each p-value alone (none).",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen context`."""

    input: Small = group(Small, "Data")
    contexts: Contexts = group(Contexts, "Context")
    analysis: Analysis = group(Analysis, "Forest")
    rows: Strata = group(Strata, "Permutations")
    propensity_strata: int | None = option(
        None,
        "Permute the context also within S strata of its propensity score, the probability of a "
        "context given the features. None by default.",
        metavar="S",
        min=2,
        section="Permutations",
    )
    verdicts: Verdicts = group(Verdicts, "Verdicts")
    work: ClusterWork = group(ClusterWork, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-context"))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contexts."""
        return self.contexts.context or ((_DEMO_CONTEXT,) if self.input.demo else ())


@dataclass(frozen=True)
class Contextual:
    """Table, its contexts, and its target if there is one."""

    source: Source  # without the contexts; the column of a network is its context
    contexts: Mapping[str, Any]  # values of each context, of shape (n,)
    table: EncodedTable  # columns that are no contexts
    problem: Problem[EncodedTable] | None  # the table with the target; None for a network
    notes: tuple[str, ...] = ()  # on how the table was read
    findings: tuple[Finding, ...] = ()  # what the look at the data found
    rows: Mapping[str, Any] = field(default_factory=dict)  # strata and groups, by the parameter


def _with_target(
    command: str, source: Source, contexts: Sequence[str], data: Small, jobs: int
) -> Contextual:
    """Set contexts apart from the features of a target.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If a context, a column or the target cannot be used.
    """
    categorical = data.reading.categorical
    check_columns("--context", contexts, source.features.column_names, source.target)
    values = {
        name: _values(name, source.features.column(name), name in categorical) for name in contexts
    }
    features = source.features.drop_columns(list(contexts))
    if not features.column_names:
        raise ValueError("no column is left besides the target and --context")
    rows, notes = exchanged(source.labels, next(iter(values.values())))
    settled = {option: {option: values} for option, values in rows.items()}
    inputs = replace(source, features=features, labels=settled, notes=(*source.notes, *notes))
    others = [name for name in categorical if name not in contexts]
    columns = {name: source.features.column(name) for name in contexts}
    problem = encoded(
        command,
        inputs,
        task=data.task,
        categorical=others,
        jobs=jobs,
        keep_identifiers=data.keep_identifiers,
        others=_stray(source.name, columns, categorical),
    )
    return Contextual(
        inputs, values, problem.table, problem, problem.remarks, problem.findings, rows
    )


def _without_target(command: str, source: Source, data: Small, jobs: int) -> Contextual:
    """Take the column that was set apart for the context of all others."""
    name, categorical = source.target, data.reading.categorical
    values = {name: _values(name, source.column, name in categorical)}
    others = [column for column in categorical if column != name]
    check_columns("--categorical", others, source.features.column_names, name)
    of_context = _stray(source.name, {name: source.column}, categorical)
    table, notices = looked(command, source, others, jobs, data.keep_identifiers, of_context)
    rows, notes = exchanged(source.labels, values[name])
    said = (*source.notes, *notes, *map(str, notices))
    return Contextual(source, values, table, None, said, notices, rows)


def _from_store(
    command: str,
    target: str,
    contexts: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    data: Small,
) -> Contextual:
    """Read what is stored into memory, and set contexts apart.

    Without contexts, `target` is the context of a network.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If a context, a column or the target cannot be used.
    """

    def settle(labels: Mapping[str, Mapping[str, Any]], y: Any) -> Any:
        return exchanged(labels, next(iter(labels["context"].values())) if contexts else y)

    apart = {**labels, "context": contexts} if contexts else labels
    problem = loaded(data.stored(command, apart, target=target, settle=settle))
    columns = problem.labels["context"] if contexts else {target: problem.data.y}
    values = {
        name: _values(name, as_arrow(values), name in data.reading.categorical)
        for name, values in columns.items()
    }
    problem, places = data.complete(problem)
    values = {name: column[places] for name, column in values.items()}
    source = Source(
        problem.name,
        None,
        None,
        target,
        problem.citation,
        notes=problem.notes,
        dropped_rows=problem.dropped_rows,
    )
    rows = problem.data.exchangeability
    exchange = {"strata": rows.strata, "groups": rows.groups}
    return Contextual(
        source,
        values,
        problem.table,
        problem if contexts else None,
        problem.remarks,
        problem.findings,
        {name: values for name, values in exchange.items() if values is not None},
    )


def _stray(file: str, columns: Mapping[str, Any], categorical: Sequence[str]) -> list[Finding]:
    """Tell which contexts are text, but nearly numbers."""
    from duramen.data.text_numbers import stray_values_of
    from duramen.reading.answers import of_stray_values

    strays = [
        stray_values_of(name, column) for name, column in columns.items() if name not in categorical
    ]
    return of_stray_values([stray for stray in strays if stray is not None], file)


def _values(name: str, column: Any, categorical: bool) -> Any:
    """Return the values of a context: numbers as they are, what is a category as text."""
    column = without_dictionary(column)
    missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0
    if missing:
        raise ValueError(
            f"--context {name} is missing in {missing:,} of {len(column):,} rows; leave these "
            "rows out with --missing drop"
        )
    number = is_number(column.type)
    if not number or categorical:
        return column.cast(pa.string()).to_numpy(zero_copy_only=False)
    return column.to_numpy()


def _record(
    options: Options, contextual: Contextual, findings: list[Findings], clock: Clock
) -> Run:
    """Return the command, settings, data, results and timings of a run."""
    from duramen.reports import Run
    from duramen.support.provenance import versions

    problem, first = contextual.problem, findings[0].analyses[0]
    network = options.contexts.network
    settings = {**recorded(options.analysis), **first.metadata["forest"]}
    if network:
        settings.pop("criterion")
    recorded_rows = {
        "file": contextual.source.name,
        "n_rows": contextual.table.n_rows,
        "n_features": contextual.table.n_columns,
        "citation": contextual.source.citation,
    }
    return Run(
        **(
            {
                **recorded_rows,
                "fingerprint": contextual.table.fingerprint(),
                "findings": records(contextual.findings),
            }
            if problem is None
            else problem.facts()
        ),
        command=_command(options, contextual),
        seed=options.work.seed,
        settings={
            "contexts": list(options.names),
            **settings,
            "n_permutations": first.n_permutations,
            **recorded(options.rows),
            "propensity_strata": options.propensity_strata,
            **recorded(options.verdicts),
            **options.input.record(),
            "incomplete_rows_dropped": contextual.source.dropped_rows,
            **({"targets": list(findings[0].targets or ())} if network else {}),
        },
        versions=versions("pyarrow", "matplotlib"),
        results={
            finding.context_name: _figures(finding, contextual.table.n_rows) for finding in findings
        },
        timings=dict(clock.seconds),
    )


def _figures(findings: Findings, n_rows: int) -> dict[str, Any]:
    """Return the figures of a context: its values, its relevance, how much depends on it."""
    first = findings.analyses[0]
    cuts = first.metadata["context"]["cuts"]
    rows = (first.fractions * n_rows).round().astype(int).tolist()
    figures: dict[str, Any] = {
        "rows": dict(zip(first.contexts, rows, strict=True)),
        "cuts": None if cuts is None else list(cuts),
        "bandwidth": first.metadata["context"]["bandwidth"],
        "depends_if": findings.rule,
    }
    if findings.targets is None:
        figures |= {
            "relevance": first.relevance,
            "relevance_p_value": first.relevance_p_value,
            "unit": first.unit,
            "null": first.significance().null if findings.tested else None,
        }
    what = "features" if findings.targets is None else "links"
    counts = {value: findings.count(c) for c, value in enumerate(first.contexts)}
    return {**figures, f"{what}_that_depend": findings.count(), f"{what}_by_value": counts}


def _command(options: Options, contextual: Contextual) -> str:
    """Return the command line that does the same again, whatever folder it is run in."""
    data, source = options.input, contextual.source
    settled: dict[str, Any] = {"context": options.names, "missing": data.treated.value}
    if contextual.problem is None:
        no = {"target": None, "task": None, "criterion": None}
        settled |= {"file": None if data.demo else source.name, **no}
    else:
        settled |= data.settled(contextual.problem)
    return command_line(COMMAND, options, **settled)


# A context of fewer rows is pointed out.
_FEW_ROWS = 15
# Level of the note of a result on its number of permutations.
_NOTED_LEVEL = 0.05


def context(options: Options) -> None:
    """Find columns whose importance depends on a context.

    Example: duramen context patients.csv --target diagnosis --context sex

    With --network, finds links between columns that depend on it. Prints the relevance of the
    context itself and the columns that depend on it, and writes result.csv, result.parquet,
    run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _compute(
    options: Options, bins: int | KernelWeights, clock: Clock
) -> tuple[Contextual, list[ContextImportances] | list[ContextNetwork]]:
    """Read the table and analyze it."""
    contextual, quiet = _read(options, clock), options.output.quiet
    with (
        console.warnings_as_notes(quiet),
        clock.step("analyze"),
        keeping(lambda: checkpoints(options.work.checkpoint), quiet),
    ):
        return contextual, _analyzed(options, contextual, bins)


def _report(options: Options, _: Any, result: Any, clock: Clock) -> Report:
    """Return the report of the contexts, or of the network."""
    from duramen.contexts import context_importances
    from duramen.reports import Level, summarize_context, summarize_context_network
    from duramen.reports.context import Findings
    from duramen.support.provenance import references

    table, analyses = result
    control: Any = options.verdicts.control
    level = Level(options.verdicts.alpha, control)
    findings = [Findings.of(analysis, level) for analysis in analyses]
    notes = _notes(options, table, findings)
    console.notes(
        (*notes, *(text for analysis in analyses for text in analysis.notes)), options.output.quiet
    )
    run = _record(options, table, findings, clock)
    if options.contexts.network:
        report = summarize_context_network(analyses[0], run, level=level, notes=notes)
    else:
        by_name = {analysis.context_name: analysis for analysis in analyses}
        report = summarize_context(by_name, run, level=level, notes=notes)
    return replace(report, references=references(context_importances))


def _check(options: Options) -> int | KernelWeights:
    """Check that options go together; return the bins or kernel weights of a numeric context."""
    from duramen.contexts.kernel_weights import KernelWeights, checked_bandwidth

    data, names, network = options.input, options.names, options.contexts.network
    apart = None if data.demo else names[0] if names else ""
    data.check(apart if network and data.target is None else None)
    writable(options.work.checkpoint)
    if not names:
        raise ValueError("--context is missing: which column has the contexts?")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--context {name} is given twice")
        if name in data.drop:
            raise ValueError(f"--drop: must not name a context, got {name}")
    if options.analysis.plain_p_values and options.analysis.permutations == 0:
        raise ValueError("--plain-p-values needs --permutations of 1 or more")
    if options.propensity_strata is not None and (len(names) > 1 or network):
        raise ValueError("--propensity-strata needs a single --context, without --network")
    if options.propensity_strata is not None and options.rows.strata is not None:
        raise ValueError("--propensity-strata and --strata cannot be combined; leave out one")
    if options.propensity_strata is not None and options.rows.covariate:
        raise ValueError("--propensity-strata and --covariate cannot be combined; leave out one")
    if options.rows.covariate and len(names) > 1:
        raise ValueError(f"--covariate needs a single --context, got {len(names)}")
    options.rows.check(data.drop, names)
    _check_network(options)
    bins, asked = options.analysis.context_bins, options.analysis.context_bandwidth
    if asked is None:
        return bins
    owner = f"duramen {COMMAND}"
    bandwidth = checked_bandwidth(count_or_fraction(asked), owner, "context_bandwidth")
    return KernelWeights(bins, bandwidth)


def _check_network(options: Options) -> None:
    if not options.contexts.network:
        if options.contexts.targets:
            raise ValueError("--targets needs --network; a single target is --target")
        return
    if options.input.target is not None:
        raise ValueError(
            "--network uses every column except the context as a target; leave out --target, or "
            "name some targets with --targets"
        )
    if len(options.names) > 1:
        raise ValueError(f"--network needs a single --context, got {len(options.names)}")
    if options.analysis.permutations == 0:
        raise ValueError("--network needs --permutations of 1 or more, for the p-values of links")
    asked = {"--task": options.input.task, "--criterion": options.analysis.criterion}
    if refused := [option for option, value in asked.items() if value != "auto"]:
        raise without_use(
            refused, "with --network, which chooses the task of each target by its values"
        )


def _read(options: Options, clock: Clock) -> Contextual:
    data, network = options.input, options.contexts.network
    apart = options.names[0] if network else data.target
    labels, contexts = options.rows.labels(), () if network else options.names
    if data.is_stored:
        with clock.step("open"):
            return _from_store(COMMAND, str(apart), contexts, labels, data)
    with clock.step("read"):
        more = {**labels, "context": contexts, FEATURES: data.samples_feature}
        source = data.source(COMMAND, apart, data.annotations, more)
        source = data.rows(source).labelled(labels)
    with clock.step("encode"):
        if network:
            return _without_target(COMMAND, source, data, options.work.jobs)
        return _with_target(COMMAND, source, options.names, data, options.work.jobs)


def _analyzed(
    options: Options, contextual: Contextual, bins: int | KernelWeights
) -> list[ContextImportances] | list[ContextNetwork]:
    """Run the analysis: one result a context, or a network."""
    from duramen.contexts import context_importances, context_network
    from duramen.contexts.analysis import beside
    from duramen.contexts.values import read_context
    from duramen.data import Exchangeability

    work = options.work.parameters(options.output.quiet)
    settings = {**parameters(options.analysis), **work, "context_bins": bins}
    del settings["context_bandwidth"]
    tested = settings.pop("plain_p_values")
    settings["plain"] = "p_values" if tested else "importances"
    tolerance = settings.pop("tolerance")
    for name, values in contextual.contexts.items():  # all of them before work on the first
        read_context(values, len(values), bins, f"duramen {COMMAND}", name)
    task = "classification" if contextual.problem is None else contextual.problem.task
    names = ("n_estimators", "splits", "max_features", "max_depth")
    settings["estimator"] = estimator_of(
        "totally-randomized-trees" if settings["max_features"] == 1 else "extra-trees",
        task,
        criterion=settled_criterion(settings.pop("criterion"), task),
        **{name: settings.pop(name) for name in names},
    )
    if contextual.problem is None:
        settings |= {"targets": options.contexts.targets or None, **_exchanged(options, contextual)}
        network = context_network(contextual.table, contextual.contexts, **settings)
        analyses = {
            name: replace(analysis, tolerance=tolerance)
            for name, analysis in network.analyses.items()
        }
        return [replace(network, analyses=analyses)]
    data = contextual.problem.data
    if options.propensity_strata is not None:
        labels = _exchanged(options, contextual)
        rows = Exchangeability.checked(data.n_rows, **labels, function=f"duramen {COMMAND}")
        data = data.with_exchangeability(rows)
    checkpoint = settings.pop("checkpoint")
    several = checkpoint is not None and len(contextual.contexts) > 1
    return [
        replace(
            context_importances(
                data,
                None,
                {name: values},
                checkpoint=beside(checkpoint, name) if several else checkpoint,
                **settings,
            ),
            tolerance=tolerance,
        )
        for name, values in contextual.contexts.items()
    ]


def _exchanged(options: Options, contextual: Contextual) -> dict[str, Any]:
    """Return the strata and groups within which contexts are permuted."""
    labels = dict(contextual.rows)
    if options.propensity_strata is not None:
        from duramen.contexts import propensity_strata

        (values,) = contextual.contexts.values()
        labels["strata"] = propensity_strata(
            contextual.table,
            values,
            n_strata=options.propensity_strata,
            context_bins=options.analysis.context_bins,
        )
    return labels


def _notes(options: Options, contextual: Contextual, findings: list[Findings]) -> list[str]:
    from duramen.reports.report import joined

    lines = list(contextual.notes)
    for finding in findings:
        first, name = finding.analyses[0], finding.context_name
        if first.metadata["context"]["cuts"]:
            lines.append(
                f"the numeric context {name} was cut into {len(first.contexts)} quantile "
                "intervals; change this with --context-bins or --categorical"
            )
        bandwidth = first.metadata["context"]["bandwidth"]
        if bandwidth is not None:
            lines.append(
                f"rows count by kernel weights at {len(first.contexts)} values of the numeric "
                f"context {name}, bandwidth {bandwidth:.3g} of the rows"
            )
        rows = (first.fractions * contextual.table.n_rows).round().astype(int).tolist()
        few = [
            f"{value} ({n})" for value, n in zip(first.contexts, rows, strict=True) if n < _FEW_ROWS
        ]
        if few:
            lines.append(
                f"some contexts of {name} have few rows: {joined(few, shown=5)}; effects "
                "there are hard to detect"
            )
        lines += _too_few(options, finding)
    return lines


def _too_few(options: Options, findings: Findings) -> list[str]:
    """Say so where there are too few permutations for a single effect to be significant."""
    alpha, permutations = options.verdicts.alpha, findings.analyses[0].n_permutations
    n = 1 if options.verdicts.control == "none" else sum(a.absolute.size for a in findings.analyses)
    if not findings.tested or findings.count() or n <= alpha * (permutations + 1):
        return []
    if findings.targets is None and alpha == _NOTED_LEVEL and n > 1:
        return []  # the result has a note
    more = "" if not alpha else f"; with --permutations {round(n / alpha)} it can"
    return [
        f"with {permutations:,} permutations no p-value is below {1 / (permutations + 1):.2g}, "
        f"too large for a single effect, among {n:,}, to have {findings.level}{more}"
    ]
