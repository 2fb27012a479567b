"""Reports of networks: of genes, and of neurons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.networks.connectome import METHODS
from duramen.plots.network import NETWORK_GRAPH, PRECISION_RECALL, ROC
from duramen.reports.facts import about, looked_at, thousands
from duramen.reports.report import HELD, Chart, Fact, Plot, Prose, Report, Run, Section, Table
from duramen.results.columns import Column, counted, places, small
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.support.text import fixed, printable

_ROWS, _DRAWN, _SOURCES = 200, 40, 20
_NAME = 20  # characters that a narrow terminal leaves to names


def summarize_network(
    network: Network, run: Run, *, scores: NetworkScores | None = None, n_rows: int = _ROWS
) -> Report:
    """Summarize a network as a report.

    Parameters
    ----------
    network : Network
        What was inferred.
    run : Run
        What was run.
    scores : NetworkScores, optional
        Agreement with known links.
    n_rows : int
        The most links of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> network = dm.Network(("a", "b", "c"), np.triu(np.ones((3, 3)), 1))
    >>> run = dm.reports.Run(command="duramen network", settings={}, versions={})
    >>> dm.reports.summarize_network(network, run).title
    'Network of 3 genes'
    """
    sections: list[Section] = []
    if network.n_candidates:
        sections += [
            _graph(network, _DRAWN, "goes from {} to {}"),
            link_table(network, n_rows),
            _regulators(network),
        ]
    if scores is not None:
        sections += score_sections(scores)
    sections += [
        Prose(
            "Interpretation",
            (
                "The weight of a link is the importance of the regulator in the forest that "
                "predicts the target: the part of the target's variability that splits on the "
                "regulator explain. Weights rank links; they are not probabilities.",
            ),
        ),
        Prose("Limitations", _cautions(network), points=True, caution=True),
    ]
    headline = [
        Fact("samples", thousands(run.n_rows)),
        Fact("genes", f"{len(network.names):,}"),
        Fact("regulators", f"{int(network.sources.sum()):,}"),
        Fact("candidate links", f"{network.n_candidates:,}"),
    ]
    if scores is not None:
        headline.append(Fact("AUPR against known links", f"{scores.aupr:.3f}"))
    sources = counted(int(network.sources.sum()), "regulator")
    targets = counted(int(network.targets.sum()), "target")
    trees = run.settings.get("n_estimators", 0)
    return Report(
        kind="network",
        title=f"Network of {len(network.names):,} genes",
        run=run,
        headline=tuple(headline),
        sections=(*looked_at(run), *sections, *about(run)),
        subject=(
            f"{printable(run.file or '')}: {thousands(run.n_rows)} samples x "
            f"{counted(len(network.names), 'gene')}, {sources}, {targets}, "
            f"{counted(trees, 'tree')} per target",
        ),
    )


def score_words(scores: NetworkScores) -> str:
    """Return the agreement with known links as a sentence."""
    return (
        f"Against {scores.n_true:,} known links among {scores.n_pairs:,} pairs: AUROC "
        f"{scores.auroc:.3f}, AUPR {scores.aupr:.3f} (random order {scores.random_aupr:.3f}), "
        f"precision of the first {scores.n_true:,} links {scores.early_precision:.3f}."
    )


def _cautions(network: Network) -> tuple[str, ...]:
    lines = [
        "A link means that the regulator helps to predict the target. Indirect regulation, "
        "common causes and the reverse of a regulation also produce links.",
        "The data are observational: directions are suggested only by the asymmetry of the "
        "weights.",
        *network.notes,
    ]
    if network.p_values is not None:
        lines.append(
            "P-values test that the target is independent of all regulators. An indirect link is "
            "no false discovery under this null hypothesis."
        )
    return tuple(lines)


def _graph(network: Network, most: int, ends: str, positions: ArrayLike | None = None) -> Chart:
    """Return the heaviest links as a graph; `ends` says how the heaviest lies."""
    n, where = min(most, network.n_candidates), "" if positions is None else _PLACED
    source, target, weight = network.top(1)[0]
    return Chart(
        title="Heaviest links",
        plot=Plot(NETWORK_GRAPH, network, {"n": n, "positions": positions}),
        text=f"Graph of the {n} heaviest links. The heaviest {ends.format(source, target)}, with "
        f"weight {weight:.3g}.",
        caption=f"The {n} heaviest links{where}, drawn wider the larger their weight.",
    )


def link_table(network: Network, n_rows: int) -> Table:
    """Return the heaviest links as a table."""
    links = network.columns(min(max(n_rows, HELD), network.n_candidates))
    n = min(n_rows, network.n_candidates)
    columns = [
        places(len(links["source"])),
        Column("source", links["source"], "name", least=_NAME),
        Column("target", links["target"], "words", least=_NAME),
        Column("weight", fixed(links["weight"], 4), bars=np.abs(links["weight"])),
    ]
    if "p_value" in links:
        columns.append(Column("p", small(links["p_value"])))
    note = (
        f"The {n:,} heaviest of {network.n_candidates:,} links; result.csv and result.parquet hold "
        "more."
    )
    return Table(
        "Links",
        tuple(columns),
        note,
        shown=n,
        total=network.n_candidates,
        what="links",
        main=True,
    )


def _regulators(network: Network) -> Table:
    """Count the links of each source among the heaviest p."""
    n = min(len(network.names), network.n_candidates)
    sources, _ = network.ranked(n)
    counts = np.bincount(sources, minlength=len(network.names))
    order = np.argsort(-counts, kind="stable")[:_SOURCES]
    order = order[counts[order] > 0]
    totals = network.weights[order].sum(axis=1)
    columns = (
        Column("regulator", [network.names[i] for i in order.tolist()], "name"),
        Column("links", [str(k) for k in counts[order].tolist()]),
        Column("sum of all weights", fixed(totals.astype(np.float64), 4)),
    )
    note = f"Regulators by their number of links among the {n:,} heaviest."
    return Table("Regulators", columns, note)


def score_sections(scores: NetworkScores) -> list[Section]:
    """Return the agreement with known links, as a sentence and curves."""
    lines = (score_words(scores),)
    return [
        Prose("Agreement with known links", lines, brief=lines),
        Chart(
            "Precision and recall",
            Plot(PRECISION_RECALL, scores),
            f"Line chart of precision against recall; the area under it is {scores.aupr:.3f}.",
            "Precision and recall of the ranked links against the known ones; the gray line is a "
            "random order.",
        ),
        Chart(
            "ROC curve",
            Plot(ROC, scores),
            f"Line chart of the true positive rate against the false positive rate; the area "
            f"under it is {scores.auroc:.3f}.",
            "True positive rate against false positive rate of the ranked links; the gray line is "
            "a random order.",
        ),
    ]


_PLACED = " at the positions of the neurons"
_NEURAL_LINKS = 60  # links of a connectome that are drawn


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
    sections: list[Section] = [
        _graph(network, _NEURAL_LINKS, "is between {} and {}", positions),
        link_table(network, n_rows),
    ]
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
        Prose("Limitations", _cautions_of_connectome(network), points=True, caution=True),
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


def _cautions_of_connectome(network: Network) -> tuple[str, ...]:
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
