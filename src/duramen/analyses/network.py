"""Analysis `network`: which genes regulate which, a forest for each gene."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from duramen.analyses.execution import Execution, faults_of_ours
from duramen.data.provenance import records
from duramen.estimators.catalogue import FORESTS
from duramen.findings.table import names_in, unequal_values
from duramen.io import read_table
from duramen.networks import genie3
from duramen.plots.network import NETWORK_GRAPH, PRECISION_RECALL, ROC
from duramen.reading.tables import read
from duramen.reports.facts import ReportT, page, thousands
from duramen.reports.report import HELD, Chart, Plot, Prose, Report, Run, Section, Table
from duramen.results.columns import Column, counted, places, small
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.support import checks
from duramen.support.files import expanded
from duramen.support.provenance import references
from duramen.support.text import fixed, printable, read_utf8

_AUTO = 1 / 3  # fraction of the regulators tried at a node
_PUBLISHED: dict[str, tuple[Any, ...]] = {  # values of GENIE3 as published
    "forest": ("random_forest",),
    "max_features": ("sqrt",),
    "min_samples_leaf": (None, 1),
    "max_depth": (None,),
    "bootstrap": (None, True),
    "measure": ("mdi",),
    "normalization": ("unit",),
    "source_scaling": ("none",),
}
_HUBS = (
    "J. Sławek, T. Arodź (2013). ENNET: inferring large gene regulatory networks from expression "
    "data using gradient boosting. BMC Systems Biology 7:106."
)
_ROWS, _DRAWN = 200, 40  # of the table and the graph
_NAME = 20  # characters that a narrow terminal leaves to names


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NetworkReport(Report):
    """Report of `duramen.network`: the links between genes.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    network : Network
        Weights of the links, and their p-values if these were asked for.
    scores : NetworkScores or None
        Agreement with known links.

    Examples
    --------
    >>> import duramen as dm
    >>> made = dm.datasets.gene_network(60, 5, n_links=3, random_state=1)
    >>> report = dm.network(made.expression, n_estimators=50, gold=made.links)
    >>> report.scores.n_true
    3
    """

    network: Network
    scores: NetworkScores | None


def network(
    data: Any,
    *,
    regulators: Sequence[str | int] | None = None,
    targets: Sequence[str | int] | None = None,
    gold: str | Path | Any = None,
    forest: Literal[
        "random_forest",
        "extra_trees",
        "totally_randomized_trees",
        "bagged_trees",
        "random_subspace",
        "random_patches",
    ] = "random_forest",
    n_estimators: int = 1000,
    max_features: str | int | float = "auto",
    min_samples_leaf: int | None = None,
    max_depth: int | None = None,
    bootstrap: bool | None = None,
    measure: str = "mdi",
    normalization: Literal["unit", "sum", "none"] = "unit",
    source_scaling: Literal["none", "variance"] = "variance",
    n_permutations: int = 0,
    links: int = 100_000,
    adjacencies: str | Path | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = 0,
    n_jobs: int = -1,
    client: Any = None,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> NetworkReport:
    """Infer the regulatory links between genes with a forest for each gene.

    Predicts each gene from all regulators with a forest; the importances weight the links. The
    defaults are a variant of GENIE3; as published, max_features is sqrt and source_scaling none.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Expression: samples in rows, genes in columns. Its target, if there is one, is not used.
    regulators : list of str or int, optional
        Gene that may regulate others, in place of all, or a file of names, one per line.
    targets : list of str or int, optional
        Gene that may be regulated, in place of all, or a file of names, one per line.
    gold : path, table, graph, matrix or list of tuples, optional
        File of known links to score the network against: columns of source, target and, if there
        is a third, 1 for links and 0 for other pairs.
    forest : {"random_forest", "extra_trees", "totally_randomized_trees", "bagged_trees", \
"random_subspace", "random_patches"}
        Kind of forest.
    n_estimators : int
        Number of trees for each target.
    max_features : str, int or float
        Number of regulators tried at a node: auto, sqrt, log2, all, a number or a fraction; auto is
        a third of them.
    min_samples_leaf : int, optional
        Minimum number of samples in a leaf; 1 by default.
    max_depth : int, optional
        Maximum depth of the trees; no limit by default.
    bootstrap : bool, optional
        Draw the samples of each tree with replacement, or take all of them; by default drawn in
        random forests, all in extra_trees.
    measure : str
        Importance measure that weights links: one of a fitted forest, such as mdi, mdi_oob or mda,
        or last_level; see :func:`duramen.genie3`.
    normalization : {"unit", "sum", "none"}
        Scale of the weights: targets scaled to unit variance or entropy (unit), weights of each
        target scaled to add up to 1 (sum), or the unit of each target (none).
    source_scaling : {"none", "variance"}
        Multiply the weights of a regulator by their variance over the targets, so that links of
        regulators of many genes rank higher; none is GENIE3 as published.
    n_permutations : int
        Number of permutations of each target for the p-values of links; 0 for no p-values.
    links : int
        Number of links in the results, those of the largest weights.
    adjacencies : path, optional
        File to write all links of positive weight to, as columns TF, target and importance: the
        adjacencies that pyscenic ctx reads.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int
        Number of threads; -1 for all processors. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that grows the forests; the result does not depend on it.
    checkpoint : path, optional
        File that keeps the targets that are done; the same call continues from it.
    verbose : int
        Above 0: a progress bar over the targets.

    Returns
    -------
    NetworkReport
        Table of links, conclusion and notes; ``network``, ``scores``.

    Raises
    ------
    ValueError, TypeError, OSError
        If an argument is not as described, a gene is unknown or has missing values, or a file
        cannot be read.

    Notes
    -----
    The weight of a link and its p-value are those of :func:`duramen.genie3`, which also takes an
    estimator, and times and interventions of the samples.

    Examples
    --------
    >>> import duramen as dm
    >>> made = dm.datasets.gene_network(60, 5, n_links=3, random_state=1)
    >>> report = dm.network(made.expression, n_estimators=50, regulators=["x0", "x1"])
    >>> report.network.n_candidates
    8
    """
    arguments = dict(locals())
    execution = Execution.of(network, arguments)
    checks.check_integer("network", "links", links, 1)
    asked = {name: arguments[name] for name in (*_PUBLISHED, "n_estimators", "n_permutations")}
    asked["measure"] = measure.replace("-", "_")
    estimator = _estimator(asked)
    with execution.warnings_as_notes():
        sources, sinks = _genes(regulators, "regulators"), _genes(targets, "targets")
        known = known_links(gold, "network")
        data = read(data, n_jobs=n_jobs, random_state=execution.random_state).in_memory()
    provenance, findings = data.provenance, data.provenance.findings
    if asked["measure"] == "mdi":
        unequal = unequal_values(data.table, named=names_in(findings))
        findings += () if unequal is None else (unequal,)
    execution.notes((*provenance.notes, *map(str, findings)))
    with execution.work("infer"):
        inferred = genie3(
            data.table,
            regulators=sources,
            targets=sinks,
            estimator=estimator,
            **{name: asked[name] for name in ("measure", "normalization", "source_scaling")},
            n_permutations=n_permutations,
            random_state=execution.random_state,
            n_jobs=n_jobs,
            client=client,
            checkpoint=execution.checkpoint,
            verbose=verbose,
        )
    if adjacencies is not None:
        inferred.write_adjacencies(expanded(adjacencies, "network"))
    scores = None
    if known is not None:
        with execution.step("score"):
            scores = inferred.score(known)
    with faults_of_ours():
        run = run_of_network(
            inferred,
            scores,
            execution,
            settings={
                "regulators": [] if regulators is None else np.asarray(regulators).tolist(),
                "targets": [] if targets is None else np.asarray(targets).tolist(),
                "gold": source_name(gold),
                **provenance.settings,
                **asked,
                "links": links,
            },
            file=provenance.file,
            citation=provenance.citation,
            findings=records(findings),
        )
        table = inferred.columns(min(links, inferred.n_candidates))
        if inferred.p_values is not None:
            i, j = inferred.ranked(len(table["source"]))
            table["q_value"] = inferred.q_values()[i, j]
        departures = ", ".join(
            f"{name}={asked[name]}"
            for name, published in _PUBLISHED.items()
            if asked[name] not in published
        )
        n_sources = int(inferred.sources.sum())
        parts = [
            f"{named(run)}{thousands(run.n_rows)} samples x {counted(len(inferred.names), 'gene')}",
            counted(n_sources, "regulator"),
            counted(int(inferred.targets.sum()), "target"),
            f"{counted(n_estimators, 'tree')} per target",
        ]
        cautions = [
            "A link means that the regulator helps to predict the target. Indirect regulation, "
            "common causes and the reverse of a regulation also produce links: directions are "
            "suggested only by the asymmetry of the weights.",
            *inferred.notes,
        ]
        if inferred.p_values is not None:
            cautions.append(
                "P-values test that the target is independent of all regulators. An indirect link "
                "is no false discovery under this null hypothesis."
            )
        return report_of_links(
            NetworkReport,
            inferred,
            scores,
            run,
            facts={
                "samples": thousands(run.n_rows),
                "genes": f"{len(inferred.names):,}",
                "regulators": f"{n_sources:,}",
                "candidate links": f"{inferred.n_candidates:,}",
            },
            graph=graph(inferred, _DRAWN, "goes from {} to {}") if inferred.n_candidates else None,
            reading="The weight of a link is the importance of the regulator in the forest that "
            "predicts the target. Weights rank links; they are not probabilities.",
            cautions=cautions,
            kind="network",
            title=f"Network of {len(inferred.names):,} genes "
            f"({'variant of ' if departures else ''}GENIE3)",
            subject=(
                ", ".join(parts),
                f"GENIE3 but for {departures}" if departures else "GENIE3 as published",
            ),
            table=table,
            notes=tuple(execution.remarks),
            references=(*references(genie3), *([_HUBS] if source_scaling == "variance" else [])),
        )


def _estimator(asked: Mapping[str, Any]) -> Any:
    """Return the estimator of the forests."""
    kinds = {kind.name.replace("-", "_"): kind for kind in FORESTS if kind.regressor is not None}
    kind = kinds[checks.check_choice("network", "forest", asked["forest"], kinds)]
    most = asked["max_features"]
    limits = ("min_samples_leaf", "max_depth", "bootstrap")
    return kind.regressor(
        asked["n_estimators"],
        max_features={"auto": _AUTO, "all": None}.get(most, most),
        **{name: asked[name] for name in limits if asked[name] is not None},
    )


def _genes(asked: Any, parameter: str) -> Any:
    """Return genes; of texts that name a file, the names in it, one a line.

    Raises
    ------
    ValueError
        If a file holds no name.
    """
    if asked is None or isinstance(asked, np.ndarray):
        return asked
    genes: list[Any] = []
    for gene in [asked] if isinstance(asked, str) else asked:
        if not (isinstance(gene, str) and os.path.isfile(gene)):
            genes.append(gene)
            continue
        lines = [line.strip() for line in read_utf8(Path(gene), "network").splitlines()]
        if not any(lines):
            raise ValueError(
                f"network: {parameter} {gene} must hold names of genes, one per line, got none"
            )
        genes += filter(None, lines)
    return genes


# --- what networks of genes and of neurons have in common -----------------------------------------


def known_links(gold: Any, function: str) -> Any:
    """Return known links as `Network.score` takes them; of a file, rows of names.

    Files may lack a header: its words are then the first row. As a row, a header names no genes of
    the network, and rows of other genes are not scored.
    """
    if not isinstance(gold, str | Path):
        return gold
    path = Path(gold)
    table = read_table(path, function=function)
    if table.num_columns not in (2, 3):
        raise ValueError(
            f"{function}: gold must have 2 or 3 columns (source, target, and 1 or 0), got "
            f"{table.num_columns} in {path.name}."
        )
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    first = tuple(table.column_names)
    return rows if table.num_columns == 3 and first[2] not in ("0", "1") else [first, *rows]


def source_name(source: Any) -> str | None:
    """Return the name of a file for a record; None for data in memory."""
    return Path(source).name if isinstance(source, str | Path) else None


def run_of_network(
    inferred: Network, scores: NetworkScores | None, execution: Execution, **facts: Any
) -> Run:
    """Return the record of a run that inferred a network; `facts` are further ones."""
    results: dict[str, Any] = {"candidate_links": inferred.n_candidates}
    if scores is not None:
        names = ("auroc", "aupr", "random_aupr", "early_precision")
        results |= {"known_links": scores.n_true, **{name: getattr(scores, name) for name in names}}
    of_network = {name: inferred.metadata[name] for name in ("fingerprint", "versions", "n_rows")}
    return execution.record(
        {**of_network, "n_features": len(inferred.names), **facts}, results=results
    )


def named(run: Run) -> str:
    """Return the name of the file before what is said of it, if there is one."""
    return f"{printable(run.file)}: " if run.file else ""


def report_of_links(
    report_class: type[ReportT],
    inferred: Network,
    scores: NetworkScores | None,
    run: Run,
    *,
    facts: dict[str, str],
    graph: Chart | None,
    reading: str,
    cautions: Sequence[str],
    more: Sequence[Section] = (),
    **fields: Any,
) -> ReportT:
    """Return the report of a network: its graph and links, their agreement with known ones."""
    if scores is not None:
        facts["AUPR against known links"] = f"{scores.aupr:.3f}"
    links: list[Section] = [] if graph is None else [graph, link_table(inferred)]
    return page(
        report_class,
        run,
        facts=facts,
        sections=[*links, *score_sections(scores), *more],
        reading=[reading],
        cautions=cautions,
        network=inferred,
        scores=scores,
        **fields,
    )


def graph(inferred: Network, most: int, ends: str, positions: ArrayLike | None = None) -> Chart:
    """Return the heaviest links as a graph; `ends` says how the heaviest lies."""
    n = min(most, inferred.n_candidates)
    placed = "" if positions is None else " at the positions of the neurons"
    source, target, weight = inferred.top(1)[0]
    return Chart(
        title="Heaviest links",
        plot=Plot(NETWORK_GRAPH, inferred, {"n": n, "positions": positions}),
        text=f"Graph of the {n} heaviest links. The heaviest {ends.format(source, target)}, with "
        f"weight {weight:.3g}.",
        caption=f"The {n} heaviest links{placed}, drawn wider the larger their weight.",
    )


def link_table(inferred: Network) -> Table:
    """Return the heaviest links as a table."""
    links = inferred.columns(min(HELD, inferred.n_candidates))
    n = min(_ROWS, inferred.n_candidates)
    columns = [
        places(len(links["source"])),
        Column("source", links["source"], "name", least=_NAME),
        Column("target", links["target"], "words", least=_NAME),
        Column("weight", fixed(links["weight"], 4), bars=np.abs(links["weight"])),
    ]
    if "p_value" in links:
        columns.append(Column("p", small(links["p_value"])))
    note = (
        f"The {n:,} heaviest of {inferred.n_candidates:,} links; result.csv and result.parquet "
        "hold more."
    )
    return Table(
        "Links",
        tuple(columns),
        note,
        shown=n,
        total=inferred.n_candidates,
        what="links",
        main=True,
    )


def score_sections(scores: NetworkScores | None) -> list[Section]:
    """Return the agreement with known links, if there are any, as a sentence and curves."""
    if scores is None:
        return []
    line = (
        f"Against {scores.n_true:,} known links among {scores.n_pairs:,} pairs: AUROC "
        f"{scores.auroc:.3f}, AUPR {scores.aupr:.3f} (random order {scores.random_aupr:.3f}), "
        f"precision of the first {scores.n_true:,} links {scores.early_precision:.3f}."
    )
    return [
        Prose("Agreement with known links", (line,), brief=(line,)),
        *(
            Chart(
                title,
                Plot(figure, scores),
                f"Line chart of {curve}; the area under it is {area:.3f}.",
                f"{curve[0].upper()}{curve[1:]} of the ranked links against the known ones; the "
                "gray line is a random order.",
            )
            for title, figure, curve, area in (
                ("Precision and recall", PRECISION_RECALL, "precision against recall", scores.aupr),
                ("ROC curve", ROC, "true positive rate against false positive rate", scores.auroc),
            )
        ),
    ]
