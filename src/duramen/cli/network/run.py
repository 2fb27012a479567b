"""Run of `duramen network`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import checkpoints
from duramen.analyses.problem import as_records
from duramen.cli.checkpoint import keeping, writable
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.console import notes, warnings_as_notes
from duramen.cli.declaration import command_line, parameters, recorded
from duramen.cli.network.options import COMMAND, Options
from duramen.cli.network.reading import Given, check, names, read
from duramen.cli.numbers import parsed_max_features
from duramen.cli.output import Outcome

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.results.network import Network
    from duramen.results.network_scores import NetworkScores

_AUTO = 1 / 3


def network(options: Options) -> None:
    """Infer the regulatory links between genes (GENIE3).

    Example: duramen network expression.csv --regulators factors.txt

    Predicts each gene from all regulators with a forest; the importances weight the links. Prints
    the heaviest links, and their agreement with known ones, and writes result.csv,
    result.parquet, run.json and report.html to the folder --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> dict[str, Any]:
    """Return the parameters of `genie3` that the options stand for."""
    check(options.input)
    writable(options.work.checkpoint)
    given = parameters(options.scores)
    asked = given.pop("max_features")
    given["max_features"] = _AUTO if asked == "auto" else parsed_max_features(asked)
    return given | {
        "regulators": names(options.input.regulators),
        "targets": names(options.input.targets),
    }


def _find(
    options: Options, settings: dict[str, Any], clock: Clock
) -> tuple[Given, Network, NetworkScores | None]:
    """Read the expression, infer the network, and score it if links are known."""
    from duramen.networks import genie3

    quiet = options.output.quiet
    with clock.step("read"), warnings_as_notes(quiet):
        given = read(options.input)
    notes(map(str, given.findings), quiet)
    with (
        keeping(lambda: checkpoints(options.work.checkpoint), quiet),
        clock.step("infer"),
        warnings_as_notes(quiet),
    ):
        found = genie3(
            given.table,
            names=given.names,
            genes=given.genes,
            **settings,
            **options.work.parameters(quiet),
        )
    if given.gold is None:
        return given, found, None
    with clock.step("score"):
        return given, found, found.score(given.gold)


def _tell(
    options: Options,
    _: dict[str, Any],
    result: tuple[Given, Network, NetworkScores | None],
    clock: Clock,
) -> Outcome:
    """Return the table of links, the record and the report."""
    from duramen.cli.network.show import show_network
    from duramen.networks import genie3
    from duramen.reports.network import summarize_network
    from duramen.support.provenance import references

    given, found, scores = result
    columns = found.columns(min(options.links, found.n_candidates))
    if found.p_values is not None:
        i, j = found.ranked(len(columns["source"]))
        columns["q_value"] = found.q_values()[i, j]
    asked, results = options.scores, score_record(scores)
    run = record_of(COMMAND, options, asked, given.name, found, results, clock)
    run = replace(run, findings=as_records(given.findings))
    report = partial(summarize_network, found, run, scores=scores)
    shown = partial(show_network, found, run, scores, options.output.top, options.output.out)
    return Outcome(columns, run, report, shown, references(genie3))


def record_of(
    command: str,
    options: Any,
    inference: Any,
    file: str,
    found: Network,
    results: dict[str, Any],
    clock: Clock,
) -> Run:
    """Return the record of a command that infers a network; `inference` has its parameters."""
    from duramen.reports import Run

    settings = {**recorded(options.input), **recorded(inference), "links": options.links}
    of_data = ("file", "demo")
    return Run(
        command=command_line(command, options),
        file=file,
        n_rows=int(found.metadata["n_rows"]),
        n_features=len(found.names),
        fingerprint=found.metadata["fingerprint"],
        seed=options.work.seed,
        settings={name: one for name, one in settings.items() if name not in of_data},
        versions=found.metadata["versions"],
        results={"candidate_links": found.n_candidates, **results},
        timings=dict(clock.seconds),
    )


def score_record(scores: NetworkScores | None) -> dict[str, Any]:
    """Return the agreement with known links as a record holds it."""
    if scores is None:
        return {}
    return {
        "known_links": scores.n_true,
        "auroc": scores.auroc,
        "aupr": scores.aupr,
        "random_aupr": scores.random_aupr,
        "early_precision": scores.early_precision,
    }
