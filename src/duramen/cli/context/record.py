"""Record of a run of `duramen context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import as_records
from duramen.cli.clock import Clock
from duramen.cli.context.options import COMMAND, Options
from duramen.cli.context.tables import Given
from duramen.cli.declaration import command_line, recorded

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.reports.contextual import Findings


def record(options: Options, given: Given, findings: list[Findings], clock: Clock) -> Run:
    """Return the command, settings, data, results and timings of a run."""
    from duramen.reports import Run
    from duramen.support.provenance import versions

    problem, first = given.problem, findings[0].analyses[0]
    network = options.contexts.network
    settings = {**recorded(options.analysis), **first.metadata["forest"]}
    if network:
        settings.pop("criterion")
    known = {
        "file": given.source.name,
        "n_rows": given.table.n_rows,
        "n_features": given.table.n_columns,
        "citation": given.source.citation,
    }
    return Run(
        **(
            {
                **known,
                "fingerprint": given.table.fingerprint(),
                "findings": as_records(given.findings),
            }
            if problem is None
            else problem.facts()
        ),
        command=_command(options, given),
        seed=options.work.seed,
        settings={
            "contexts": list(options.names),
            **settings,
            "n_permutations": first.n_permutations,
            **recorded(options.rows),
            "propensity_strata": options.propensity_strata,
            **recorded(options.verdicts),
            **options.input.record(),
            "incomplete_rows_dropped": given.source.dropped_rows,
            **({"targets": list(findings[0].targets or ())} if network else {}),
        },
        versions=versions("pyarrow", "matplotlib"),
        results={one.context_name: _figures(one, given.table.n_rows) for one in findings},
        timings=dict(clock.seconds),
    )


def _figures(one: Findings, n_rows: int) -> dict[str, Any]:
    """Return the figures of a context: its values, its relevance, how much depends on it."""
    first = one.analyses[0]
    cuts = first.metadata["context"]["cuts"]
    rows = (first.shares * n_rows).round().astype(int).tolist()
    figures: dict[str, Any] = {
        "rows": dict(zip(first.contexts, rows, strict=True)),
        "cuts": None if cuts is None else list(cuts),
        "depends_if": one.rule,
    }
    if one.targets is None:
        figures |= {
            "relevance": first.relevance,
            "relevance_p_value": first.relevance_p_value,
            "unit": first.unit,
            "null": first.significance().null if one.tested else None,
        }
    what = "features" if one.targets is None else "links"
    counts = {value: one.count(c) for c, value in enumerate(first.contexts)}
    return {**figures, f"{what}_that_depend": one.count(), f"{what}_by_value": counts}


def _command(options: Options, given: Given) -> str:
    """Return the command line that does the same again, whatever folder it is run in."""
    data, source = options.input, given.source
    settled: dict[str, Any] = {"context": options.names, "missing": data.treated.value}
    if given.problem is None:
        no = {"target": None, "task": None, "criterion": None}
        settled |= {"file": None if data.demo else source.name, **no}
    else:
        settled |= data.settled(given.problem)
    return command_line(COMMAND, options, **settled)
