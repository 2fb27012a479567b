"""Run of `duramen context`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import checkpoints
from duramen.cli import console
from duramen.cli.checkpoint import keeping, writable
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.context.options import COMMAND, Options
from duramen.cli.context.record import record
from duramen.cli.context.tables import Given, from_store, with_target, without_target
from duramen.cli.declaration import parameters, without_use
from duramen.cli.inputs import FEATURES
from duramen.cli.options import settled_criterion
from duramen.cli.output import Outcome

if TYPE_CHECKING:
    from duramen.reports import Level, Report, Run
    from duramen.reports.contextual import Findings
    from duramen.results.context_importances import ContextImportances
    from duramen.results.context_network import ContextNetwork

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
    perform(COMMAND, options, _check, _find, _tell)


def _find(
    options: Options, _: None, clock: Clock
) -> tuple[Given, list[ContextImportances] | list[ContextNetwork]]:
    """Read the table and analyze it."""
    given, quiet = _read(options, clock), options.output.quiet
    with (
        console.warnings_as_notes(quiet),
        clock.step("analyze"),
        keeping(lambda: checkpoints(options.work.checkpoint), quiet),
    ):
        return given, _analyzed(options, given)


def _tell(options: Options, _: None, all_found: Any, clock: Clock) -> Outcome:
    """Return the table of results, the record and the report."""
    from duramen.cli.context.show import show_context
    from duramen.context import context_importances
    from duramen.reports.contextual import Findings, Level, stacked
    from duramen.support.provenance import references

    output, (given, found) = options.output, all_found
    control: Any = options.verdicts.control
    level = Level(options.verdicts.alpha, control)
    findings = [Findings.of(one, level) for one in found]
    notes = _notes(options, given, findings)
    console.notes((*notes, *(text for one in found for text in one.notes)), output.quiet)
    run = record(options, given, findings, clock)
    report = partial(_summary, found, run, level, notes)
    shown = partial(show_context, findings, run, output.top, output.out)
    sources = references(context_importances)
    return Outcome(stacked(findings), run, report, shown, sources)


def _check(options: Options) -> None:
    """Check that options go together."""
    data, names, network = options.input, options.names, options.contexts.network
    apart = None if data.demo else names[0] if names else ""
    data.check_given(apart if network and data.target is None else data.target)
    data.annotations.check()
    data.matrix.check(data.place)
    data.reading.check(data.place, data.annotations.samples)
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


def _read(options: Options, clock: Clock) -> Given:
    data, network = options.input, options.contexts.network
    apart = options.names[0] if network else data.target
    labels, contexts = options.rows.labels(), () if network else options.names
    if data.is_stored:
        with clock.step("open"):
            return from_store(COMMAND, str(apart), contexts, labels, data)
    with clock.step("read"):
        more = {**labels, "context": contexts, FEATURES: data.samples_feature}
        source = data.source(COMMAND, apart, data.annotations, more)
        source = data.rows(source).labelled(labels)
    with clock.step("encode"):
        if network:
            return without_target(COMMAND, source, data, options.work.jobs)
        return with_target(COMMAND, source, options.names, data, options.work.jobs)


def _analyzed(options: Options, given: Given) -> list[ContextImportances] | list[ContextNetwork]:
    """Run the analysis: one result a context, or a network."""
    from duramen.context import context_importances, context_network
    from duramen.data import Exchangeability

    work = options.work.parameters(options.output.quiet)
    settings = {**parameters(options.analysis), **work}
    asked = settings.pop("criterion")
    if given.problem is None:
        settings |= {"targets": options.contexts.targets or None, **_exchanged(options, given)}
        return [context_network(given.table, given.contexts, **settings)]
    criterion = settled_criterion(asked, given.problem.task)
    data = given.problem.data
    if options.propensity_strata is not None:
        labels = _exchanged(options, given)
        rows = Exchangeability.checked(data.n_rows, **labels, function=f"duramen {COMMAND}")
        data = data.with_exchangeability(rows)
    results = context_importances(data, None, given.contexts, criterion=criterion, **settings)
    return list(results.values()) if isinstance(results, dict) else [results]


def _exchanged(options: Options, given: Given) -> dict[str, Any]:
    """Return the strata and groups within which contexts are permuted."""
    labels = dict(given.rows)
    if options.propensity_strata is not None:
        from duramen.context import propensity_strata

        (values,) = given.contexts.values()
        labels["strata"] = propensity_strata(
            given.table,
            values,
            n_strata=options.propensity_strata,
            n_context_bins=options.analysis.context_bins,
        )
    return labels


def _summary(
    found: list[ContextImportances] | list[ContextNetwork],
    run: Run,
    level: Level,
    notes: list[str],
) -> Report:
    from duramen.reports import summarize_context, summarize_context_network
    from duramen.results.context_network import ContextNetwork

    if isinstance(found[0], ContextNetwork):
        return summarize_context_network(found[0], run, level=level, notes=notes)
    results = {one.context_name: one for one in found if not isinstance(one, ContextNetwork)}
    return summarize_context(results, run, level=level, notes=notes)


def _notes(options: Options, given: Given, findings: list[Findings]) -> list[str]:
    from duramen.reports.report import joined

    lines = list(given.notes)
    for one in findings:
        first, name = one.analyses[0], one.context_name
        if first.metadata["context"]["cuts"]:
            lines.append(
                f"the numeric context {name} was cut into {len(first.contexts)} quantile "
                "intervals; change this with --context-bins or --categorical"
            )
        rows = (first.shares * given.table.n_rows).round().astype(int).tolist()
        few = [
            f"{value} ({n})" for value, n in zip(first.contexts, rows, strict=True) if n < _FEW_ROWS
        ]
        if few:
            lines.append(
                f"some contexts of {name} have few rows: {joined(few, shown=5)}; effects "
                "there are hard to detect"
            )
        lines += _too_few(options, one)
    return lines


def _too_few(options: Options, one: Findings) -> list[str]:
    """Say so where there are too few permutations for a single effect to be significant."""
    alpha, permutations = options.verdicts.alpha, one.analyses[0].n_permutations
    n = 1 if options.verdicts.control == "none" else sum(a.absolute.size for a in one.analyses)
    if not one.tested or one.count() or n <= alpha * (permutations + 1):
        return []
    if one.targets is None and alpha == _NOTED_LEVEL and n > 1:
        return []  # the result has a note
    more = "" if not alpha else f"; with --permutations {round(n / alpha)} it can"
    return [
        f"with {permutations:,} permutations no p-value is below {1 / (permutations + 1):.2g}, "
        f"too large for a single effect, among {n:,}, to have {one.level}{more}"
    ]
