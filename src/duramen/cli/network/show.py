"""Terminal output of `duramen network`."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, named, ranks, show
from duramen.reports import Run
from duramen.reports.network import score_words
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.support.text import fixed, printable

_NAME = 20


def show_network(
    network: Network, run: Run, scores: NetworkScores | None, top: int, out: Path
) -> None:
    """Print what was inferred, how it agrees with known links, and the heaviest links."""
    n = min(top, network.n_candidates)
    lines = [
        f"{printable(run.file or '')}: {run.n_rows:,} samples x {run.n_features:,} genes, "
        f"{int(network.sources.sum()):,} regulators, {int(network.targets.sum()):,} targets, "
        f"{run.settings['n_estimators']:,} trees per target",
        *([score_words(scores)] if scores is not None else []),
    ]
    links = network.columns(n)
    columns = [
        ranks(n),
        named("source", links["source"], _NAME),
        named("target", links["target"], _NAME),
        Shown("weight", fixed(links["weight"], 4), right=True),
    ]
    if "p_value" in links:
        columns.append(Shown("p", [f"{p:.2g}" for p in links["p_value"]], right=True))
    hidden = network.n_candidates - n
    after = [f"... and {hidden:,} more links"] if hidden else []
    show(lines, columns, 0, out, after)
