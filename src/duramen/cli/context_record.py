"""What is on record of a run of `duramen context`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from duramen.cli.clock import Clock
from duramen.cli.context_options import Options
from duramen.cli.contexts import Given
from duramen.cli.options import spreadsheet_words
from duramen.cli.reading import repeated

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.reports.contextual import Findings

COMMAND = "context"


def record(options: Options, given: Given, findings: list[Findings], clock: Clock) -> Run:
    """Return the command, settings, data, results and timings of a run."""
    from duramen.reports import Run
    from duramen.results.provenance import versions

    problem, first = given.problem, findings[0].analyses[0]
    settings = dict(first.metadata["forest"])
    if options.network:
        settings.pop("criterion")
    return Run(
        command=_command(options, given),
        task=None if problem is None else problem.task,
        target=None if problem is None else problem.target,
        file=given.source.name,
        n_rows=given.table.n_rows,
        n_features=given.table.n_columns,
        fingerprint=problem.data.fingerprint if problem is not None else given.table.fingerprint(),
        seed=options.seed,
        settings={
            "contexts": list(options.contexts),
            "n_estimators": options.trees,
            "n_permutations": options.permutations,
            "permute": options.permute.name,
            "strata": options.strata,
            "blocks": options.blocks,
            "propensity_strata": options.propensity_strata,
            "empty": options.empty.value,
            **settings,
            "bins": options.bins,
            "context_bins": options.context_bins,
            "plain_p_values": options.plain_p_values,
            "tolerance": options.tolerance,
            "alpha": options.alpha,
            "control": options.control.value,
            "missing": options.missing.value,
            "incomplete_rows_dropped": given.dropped_rows,
            "dropped": list(options.drop),
            "categorical": list(options.categorical),
            **options.reading.record(),
            **({"targets": list(findings[0].targets or ())} if options.network else {}),
        },
        versions=versions("pyarrow", "matplotlib"),
        classes=None if problem is None else problem.data.target.class_sizes(),
        results={one.context_name: _figures(one, given.table.n_rows) for one in findings},
        timings=dict(clock.seconds),
        citation=given.source.citation,
    )


def _figures(one: Findings, n_rows: int) -> dict[str, Any]:
    """What is on record of a context: its values, its own relevance, how much depends on it."""
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
    source = given.source
    words = ["duramen", COMMAND]
    words += ["--demo"] if options.demo else [source.name]
    if given.problem is None:
        words += ["--network", *repeated("--targets", options.targets)]
    else:
        words += [] if options.demo else ["--target", source.target]
        words += ["--task", given.problem.task, "--criterion", options.criterion]
    words += repeated("--context", options.contexts)
    words += repeated("--drop", options.drop) + repeated("--categorical", options.categorical)
    words += options.reading.words()
    words += ["--missing", options.missing.value]
    words += ["--trees", str(options.trees), "--permutations", str(options.permutations)]
    words += ["--permute", options.permute.value]
    for option, name in options.labels().items():
        words += [f"--{option}", name]
    strata = options.propensity_strata
    words += [] if strata is None else ["--propensity-strata", str(strata)]
    words += ["--empty", options.empty.value, "--splits", options.splits.value]
    words += [] if options.bins is None else ["--bins", str(options.bins)]
    words += ["--context-bins", str(options.context_bins)]
    words += ["--max-features", str(options.max_features)]
    words += [] if options.max_depth is None else ["--max-depth", str(options.max_depth)]
    words += ["--plain-p-values"] if options.plain_p_values else []
    words += ["--tolerance", repr(options.tolerance), "--alpha", repr(options.alpha)]
    words += spreadsheet_words(options.spreadsheet_safe)
    return shlex.join([*words, "--control", options.control.value, "--seed", str(options.seed)])
