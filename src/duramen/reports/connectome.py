"""Report of a connectome."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from duramen.networks.connectome import METHODS
from duramen.plots.network import NETWORK_GRAPH
from duramen.reports.facts import about, thousands
from duramen.reports.network import link_table, score_sections
from duramen.reports.report import Chart, Fact, Plot, Prose, Report, Section
from duramen.reports.run import Run
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.support.text import printable

_ROWS, _DRAWN = 200, 60


def summarize_connectome(
    network: Network,
    run: Run,
    *,
    scores: NetworkScores | None = None,
    ceiling: NetworkScores | None = None,
    positions: ArrayLike | None = None,
    n_rows: int = _ROWS,
) -> Report:
    """Summarize a connectome as a report.

    Parameters
    ----------
    network : Network
        What was inferred, by :func:`duramen.connectome`.
    run : Run
        What was run.
    scores, ceiling : NetworkScores, optional
        Agreement with known links, and that of the perfect undirected network.
    positions : array-like of shape (p, 2), optional
        Places of the neurons.
    n_rows : int
        The most links of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> calcium = 0.3 * np.cumsum(np.random.default_rng(0).random((300, 4)) < 0.1, axis=0)
    >>> network = dm.connectome(calcium, method="pearson")
    >>> run = dm.reports.Run(command="duramen connectome", settings={}, versions={})
    >>> dm.reports.summarize_connectome(network, run).title
    'Connectome of 4 neurons'
    """
    sections: list[Section] = [_graph(network, positions), link_table(network, n_rows)]
    if scores is not None:
        sections += score_sections(scores)
    if ceiling is not None:
        lines = (ceiling_words(ceiling),)
        sections.append(Prose("Best possible agreement", lines, brief=lines))
    record = METHODS[network.metadata["method"]]
    sections += [
        Prose(
            "Interpretation",
            (f"{record.meaning} Weights rank links; they are not connection strengths.",),
        ),
        Prose("Method", (_method_words(network.metadata, record),)),
        Prose("Limitations", _cautions(network), points=True, caution=True),
    ]
    headline = [
        Fact("frames", thousands(run.n_rows)),
        Fact("neurons", f"{len(network.names):,}"),
        Fact("method", record.title),
    ]
    if scores is not None:
        headline.append(Fact("AUPR against known links", f"{scores.aupr:.3f}"))
    return Report(
        kind="connectome",
        title=f"Connectome of {len(network.names):,} neurons",
        run=run,
        headline=tuple(headline),
        sections=(*sections, *about(run)),
        subject=(
            f"{printable(run.file or '')}: {thousands(run.n_rows)} frames x "
            f"{len(network.names):,} neurons; {network.measure}",
        ),
    )


def ceiling_words(ceiling: NetworkScores) -> str:
    """Return the scores of the perfect undirected network as a sentence."""
    return (
        "The perfect undirected network, which has all known links in both directions, reaches "
        f"AUROC {ceiling.auroc:.3f}, AUPR {ceiling.aupr:.3f}."
    )


def _graph(network: Network, positions: ArrayLike | None) -> Chart:
    n = min(_DRAWN, network.n_candidates)
    source, target, weight = network.top(1)[0]
    where = "" if positions is None else " at the positions of the neurons"
    return Chart(
        title="Heaviest links",
        plot=Plot(NETWORK_GRAPH, network, {"n": n, "positions": positions}),
        text=f"Graph of the {n} heaviest links. The heaviest is between {source} and {target}, "
        f"with weight {weight:.3g}.",
        caption=f"The {n} heaviest links{where}, drawn wider the larger their weight.",
    )


def _method_words(settings: Any, record: Any) -> str:
    """Return the settings as a sentence for a methods section."""
    thresholds = settings["thresholds"]
    if record.name == "transfer_entropy":
        return (
            f"Links were weighted by the {record.title}: order 2, same-frame interactions, mean "
            f"fluorescence below {settings['quiet']:g} ({record.reference})."
        )
    filters = ", ".join(f"{name} ({weight:g})" for name, weight in settings["filters"].items())
    span = f"{thresholds[0]:g}"
    if len(thresholds) > 1:
        span = f"{len(thresholds)} thresholds from {min(thresholds):g} to {max(thresholds):g}"
    return (
        f"Links were weighted by the {record.title} ({record.reference}). Low-pass filters and "
        f"their weights: {filters}; thresholds of the differences: {span}."
    )


def _cautions(network: Network) -> tuple[str, ...]:
    lines = [
        "Neurons that were not recorded can drive two recorded ones, which are then associated "
        "without a link.",
        "Light scattered from neighboring neurons makes their signals alike.",
        "In bursts many neurons fire within a few frames; links cannot be distinguished in "
        "these frames.",
        *network.notes,
    ]
    if not network.directed:
        lines.insert(0, "Links have no direction.")
    return tuple(lines)
