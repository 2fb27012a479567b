"""Run of `duramen connectome`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import checkpoints
from duramen.cli.checkpoint import keeping, writable
from duramen.cli.clock import Clock
from duramen.cli.command import perform
from duramen.cli.connectome.options import COMMAND, Options
from duramen.cli.connectome.reading import Given, check, read
from duramen.cli.console import warnings_as_notes
from duramen.cli.declaration import parameters
from duramen.cli.network.run import record_of, score_record
from duramen.cli.output import Outcome

if TYPE_CHECKING:
    from duramen.results.network import Network
    from duramen.results.network_scores import NetworkScores

    Scored = tuple[NetworkScores, NetworkScores]
    Result = tuple[Given, Network, Scored | None]


def connectome(options: Options) -> None:
    """Infer the links between neurons from calcium fluorescence.

    Example: duramen connectome F.npy

    Smooths and differences the fluorescence of each neuron, keeps its peaks, and weights links by
    the association of the processed signals. Prints the heaviest links, and their agreement
    with known ones, and writes result.csv, result.parquet, run.json and report.html to the folder
    --out.
    """
    perform(COMMAND, options, _check, _find, _tell)


def _check(options: Options) -> dict[str, Any]:
    """Return the parameters of `connectome` that the options stand for."""
    check(options.input)
    writable(options.work.checkpoint)
    given = parameters(options.inference)
    return {**given, "thresholds": given["thresholds"] or None}


def _find(options: Options, settings: dict[str, Any], clock: Clock) -> Result:
    """Read the recording, infer the network, and score it if links are known."""
    from duramen.networks import undirected_ceiling
    from duramen.networks.connectome import connectome as infer

    quiet = options.output.quiet
    with clock.step("read"), warnings_as_notes(quiet):
        given = read(options.input)
    with (
        keeping(lambda: checkpoints(options.work.checkpoint), quiet),
        clock.step("infer"),
        warnings_as_notes(quiet),
    ):
        work = options.work.parameters(quiet)
        found = infer(given.fluorescence, names=given.names, **settings, **work)
    if given.gold is None:
        return given, found, None
    with clock.step("score"):
        scores = found.score(given.gold, pairs="directed")
        return given, found, (scores, undirected_ceiling(given.gold, found.names))


def _tell(options: Options, _: dict[str, Any], result: Result, clock: Clock) -> Outcome:
    """Return the table of links, the record and the report."""
    from duramen.cli.connectome.show import show_connectome
    from duramen.networks.connectome import connectome as infer
    from duramen.reports.connectome import summarize_connectome
    from duramen.support.provenance import references

    given, found, scored = result
    columns = found.columns(min(options.links, found.n_candidates))
    scores, ceiling = scored or (None, None)
    results = score_record(scores)
    if ceiling is not None:
        results |= {"undirected_auroc": ceiling.auroc, "undirected_aupr": ceiling.aupr}
    run = record_of(COMMAND, options, options.inference, given.name, found, results, clock)
    known: dict[str, Any] = {"scores": scores, "ceiling": ceiling}
    report = partial(summarize_connectome, found, run, positions=given.positions, **known)
    output = options.output
    shown = partial(show_connectome, found, run, output.top, output.out, **known)
    return Outcome(columns, run, report, shown, references(infer))
