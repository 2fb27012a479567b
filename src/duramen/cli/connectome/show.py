"""Terminal output of `duramen connectome`."""

from __future__ import annotations

from pathlib import Path

from duramen.cli.show import Shown, named, ranks, show
from duramen.reports import Run
from duramen.reports.connectome import ceiling_words
from duramen.reports.network import score_words
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.support.text import fixed, printable

_NAME = 20


def show_connectome(
    network: Network,
    run: Run,
    top: int,
    out: Path,
    *,
    scores: NetworkScores | None = None,
    ceiling: NetworkScores | None = None,
) -> None:
    """Print what was inferred, how it agrees with known links, and the heaviest links."""
    n = min(top, network.n_candidates)
    lines = [
        f"{printable(run.file or '')}: {run.n_rows:,} frames x {run.n_features:,} neurons; "
        f"{network.measure}",
        *([score_words(scores)] if scores is not None else []),
        *([ceiling_words(ceiling)] if ceiling is not None else []),
    ]
    links = network.columns(n)
    columns = [
        ranks(n),
        named("source", links["source"], _NAME),
        named("target", links["target"], _NAME),
        Shown("weight", fixed(links["weight"], 4), right=True),
    ]
    hidden = network.n_candidates - n
    after = [f"... and {hidden:,} more links"] if hidden else []
    show(lines, columns, 0, out, after)
