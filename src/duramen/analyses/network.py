"""Analysis `network`: which genes regulate which, a forest for each gene."""

from __future__ import annotations

import difflib
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
from duramen.findings.table import unequal_values
from duramen.io import read_table
from duramen.io.store.row_ids import folded
from duramen.networks import genie3
from duramen.plots.network import NETWORK_GRAPH, PRECISION_RECALL
from duramen.reading.tables import read
from duramen.reports.report import HELD, LEVEL, Report, ReportT, Section, Table, page
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores
from duramen.results.summary import Column, counted, places, small
from duramen.support import checks
from duramen.support.arrays import TableLike
from duramen.support.files import expanded
from duramen.support.provenance import cited, references
from duramen.support.text import fixed, joined, printable, quoted, read_utf8

_NAMED = 5  # genes that a message names, and links in the conclusion
_SETTINGS = (
    "genes_match",
    *("forest", "n_estimators", "max_features", "min_samples_leaf", "max_depth", "bootstrap"),
    *("measure", "normalization", "source_scaling", "n_permutations", "links"),
)
_HUBS = (
    "J. Sławek, T. Arodź (2013). ENNET: inferring large gene regulatory networks from expression "
    "data using gradient boosting. BMC Systems Biology 7:106."
)
_ROWS, _DRAWN = 200, 50  # of the table and the graph
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


@checks.hints_on_keywords(read)
def network(
    data: TableLike,
    *,
    regulators: Sequence[str | int] | None = None,
    targets: Sequence[str | int] | None = None,
    genes_match: Literal["exact", "fold"] = "exact",
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
        Regulator, or a file of names; all genes by default. The file has one name per line, such as
        a list of transcription factors; at least two must be in the table, and others are ignored.
    targets : list of str or int, optional
        Target gene, or a file of names; all genes by default. The file has one name per line, and
        names that are not in the table are ignored.
    genes_match : {"exact", "fold"}
        Names of regulators and targets: as they are; or folded, without case, spaces, signs such as
        . and -, an X before a digit, and leading zeros.
    gold : path, table, graph, matrix or list of tuples, optional
        File of known links to score the network against. Its columns are source, target and, if
        there is a third, 1 for links and 0 for other pairs.
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
        Importance measure that weights links. Allowed are the measures of a fitted forest, such as
        mdi, mdi_oob or mda, and last_level; see :func:`duramen.genie3`.
    normalization : {"unit", "sum", "none"}
        Scale of the weights: targets scaled to unit variance or entropy (unit), weights of each
        target scaled to add up to 1 (sum), or the unit of each target (none).
    source_scaling : {"none", "variance"}
        Multiply the weights of a regulator by their variance over the targets, so that links of
        regulators of many genes rank higher; none is GENIE3 as published.
    n_permutations : int
        Number of permutations for p-values; 0 for no p-values. Each target is permuted.
    links : int
        Number of links in the results; the largest weights are kept.
    adjacencies : path, optional
        File to write all links of positive weight to, as columns TF, target and importance: the
        adjacencies that pyscenic ctx reads.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int
        Number of threads, or -1 for all. The result does not depend on it.
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
    arguments = {**locals(), "measure": measure.replace("-", "_")}
    execution = Execution.of(network, arguments)
    checks.check_integer("network", "links", links, 1)
    checks.check_choice("network", "genes_match", genes_match, ("exact", "fold"))
    kinds = {kind.name.replace("-", "_"): kind for kind in FORESTS if kind.regresses}
    kind = kinds[checks.check_choice("network", "forest", forest, kinds)]
    limits = ("min_samples_leaf", "max_depth", "bootstrap")
    most: Any = max_features
    estimator = kind.estimator("regression")(
        n_estimators,
        max_features={"auto": 1 / 3, "all": None}.get(most, most),
        **{name: arguments[name] for name in limits if arguments[name] is not None},
    )
    with execution.warnings_as_notes():
        known = known_links(gold, "network")
        data = read(data, n_jobs=n_jobs, random_state=execution.random_state).in_memory()
    provenance, findings = data.provenance, data.provenance.findings
    if arguments["measure"] == "mdi":
        unequal = unequal_values(data.table, findings=findings)
        findings += () if unequal is None else (unequal,)
    asked = {"regulators": regulators, "targets": targets}
    sources, sinks = (
        _genes(parameter, genes, data.names, genes_match, execution)
        for parameter, genes in asked.items()
    )
    execution.tell(*provenance.notes, *map(str, findings))
    with execution.work("infer"):
        inferred = genie3(
            data.table,
            regulators=sources,
            targets=sinks,
            estimator=estimator,
            measure=arguments["measure"],
            normalization=normalization,
            source_scaling=source_scaling,
            n_permutations=n_permutations,
            **execution.resources,
        )
    if adjacencies is not None:
        inferred.write_adjacencies(expanded(adjacencies, "network"))
    scores = None
    if known is not None:
        with execution.step("score"):
            scores = inferred.score(known)
    with faults_of_ours():
        tested = inferred.p_values is not None
        table = inferred.columns(min(links, inferred.n_candidates))
        if tested:
            i, j = inferred.ranked(len(table["source"]))
            table["q_value"] = inferred.q_values()[i, j]
        n_genes, n_rows = len(inferred.names), inferred.metadata["n_rows"]
        n_sources, n_targets = int(inferred.sources.sum()), int(inferred.targets.sum())
        file = f"{printable(provenance.file)}: " if provenance.file else ""
        return report_of_links(
            NetworkReport,
            inferred,
            scores,
            execution,
            settings={
                "regulators": [] if regulators is None else np.asarray(regulators).tolist(),
                "targets": [] if targets is None else np.asarray(targets).tolist(),
                "gold": source_name(gold),
                **provenance.settings,
                **{name: arguments[name] for name in _SETTINGS},
            },
            of_data={
                "file": provenance.file,
                "citation": provenance.citation,
                "findings": records(findings),
            },
            facts={
                "samples": f"{n_rows:,}",
                "genes": f"{n_genes:,}",
                "regulators": f"{n_sources:,}",
                "candidate links": f"{inferred.n_candidates:,}",
            },
            methods=_methods(inferred, forest, n_estimators, source_scaling, n_permutations),
            reading=[
                "The weight of a link is the importance of the regulator in the forest that "
                "predicts the target. Weights rank links; they are not probabilities."
            ],
            cautions=[
                "A link means that the regulator helps to predict the target. Indirect regulation, "
                "common causes and the reverse of a regulation also produce links: directions are "
                "suggested only by the asymmetry of the weights.",
                *inferred.notes,
                *[
                    "P-values test that the target is independent of all regulators. An indirect "
                    "link is no false discovery under this null hypothesis."
                ]
                * tested,
            ],
            kind="network",
            title=f"Network of {n_genes:,} genes",
            subject=(
                f"{file}{n_rows:,} samples x {counted(n_genes, 'gene')}, "
                f"{counted(n_sources, 'regulator')}, {counted(n_targets, 'target')}, "
                f"{counted(n_estimators, 'tree')} per target",
            ),
            table=table,
            references=(*references(genie3), *([_HUBS] if source_scaling == "variance" else [])),
        )


def _methods(
    inferred: Network, forest: str, n_trees: int, source_scaling: str, n_permutations: int
) -> str:
    """Return the methods of a network of genes in the terms of the field, with their sources."""
    of_forest = f"{forest.replace('_', ' ')} of {counted(n_trees, 'tree')}"
    weighted = f"Links were weighted by the importance ({inferred.measure}) of the regulator in a "
    weighted = cited(f"{weighted}{of_forest} that predicts the target", *references(genie3))
    if source_scaling == "variance":
        scaled = "multiplied by the variance of the weights of the regulator over the targets"
        weighted += f", {cited(scaled, _HUBS)}"
    if inferred.p_values is None:
        return f"{weighted}."
    return (
        f"{weighted}. P-values are from {counted(n_permutations, 'permutation')} of each target, "
        "adjusted after Benjamini and Hochberg."
    )


def _genes(
    parameter: str, asked: Any, names: Sequence[str], match: str, execution: Execution
) -> Any:
    """Return genes of the table; text may name a file with a gene on each line.

    Names that the table lacks are left out with a note, as lists of factors are of a whole genome.
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
        genes += dict.fromkeys(filter(None, lines))
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(folded(name), []).append(name)
    there, present, absent, foldable = {*names}, list[Any](), list[str](), 0
    for gene in genes:
        alike = by_form.get(folded(gene), []) if isinstance(gene, str) else []
        if not isinstance(gene, str) or gene in there:
            present.append(gene)
        elif match == "fold" and len(alike) == 1:
            present += alike
        else:
            absent.append(gene)
            foldable += len(alike) == 1
    if match == "fold":  # of which several may be names of one gene
        present = [*dict.fromkeys(present)]
    if not absent:
        return present
    close = difflib.get_close_matches(absent[0], names, n=1, cutoff=0.75)
    hint = ""
    if foldable:
        hint = f". Hint: genes_match='fold' finds {foldable:,} more, which are written otherwise"
    elif Path(absent[0]).suffix.lower() in (".txt", ".csv", ".tsv"):
        hint = f". Hint: there is no file {quoted(absent[0])}"
    elif close and len(absent) == 1:
        hint = f". Hint: did you mean {quoted(close[0])}?"
    least = 2 if parameter == "regulators" else 1
    if len(present) < least:
        some, shown = (joined([*map(quoted, of)], shown=_NAMED) for of in (absent, names))
        raise ValueError(
            f"network: {parameter} must name {counted(least, 'gene')} or more of the table "
            f"({shown}), got {len(present)}: {some} {'is' if len(absent) == 1 else 'are'} not "
            f"among its {len(names):,} genes{hint}"
        )
    some = joined([*map(quoted, absent)], shown=_NAMED)
    execution.tell(
        f"{len(genes) - len(absent):,} of {len(genes):,} {parameter} are genes of the table; "
        f"{len(absent):,} {'is' if len(absent) == 1 else 'are'} not and left out: {some}{hint}"
    )
    return present


# --- networks of genes and of neurons -------------------------------------------------------------


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


def conclusion(inferred: Network, scores: NetworkScores | None = None) -> str:
    """Say which links are the strongest, how sure they are, and how many are known."""
    n = inferred.n_candidates
    if not n:
        return "No link is possible between these."
    of_all, (i, j) = counted(n, "possible link"), inferred.ranked(_NAMED)
    tested = ""
    if inferred.p_values is not None:
        sources, targets = inferred.ranked()
        real = inferred.q_values()[sources, targets] <= LEVEL
        n_real = int(np.count_nonzero(real))
        if n_real:
            i, j = sources[real][:_NAMED], targets[real][:_NAMED]
            tested = f"{n_real:,} of {of_all} {'is' if n_real == 1 else 'are'}"
            if n_real == n:
                tested = f"All {n:,} possible links are" if n > 1 else "The only possible link is"
            tested += (
                f" supported by the test: about {LEVEL:.0%} of such links may be false alarms."
            )
        else:
            tested = f"None of {of_all} is" if n > 1 else "The only possible link is not"
            tested += " distinguishable from noise."
    arrow = "->" if inferred.directed else "--"
    ends = zip(i.tolist(), j.tolist(), strict=True)
    links = [
        f"{printable(inferred.names[a])} {arrow} {printable(inferred.names[b])}" for a, b in ends
    ]
    if tested:
        sentences = [tested, f"Strongest: {', '.join(links)}."]
    else:
        strongest = f"Strongest of {of_all}" if n > 1 else "The only possible link"
        known = "none of them is" if n > 1 else "it is not"
        sentences = [
            f"{strongest}: {', '.join(links)}.",
            f"Weights rank links: without a test, {known} known to be real.",
        ]
    if scores is not None and scores.n_true:
        hits, chance = scores.early_precision * scores.n_true, scores.n_true**2 / scores.n_pairs
        known = counted(scores.n_true, "known link")
        first = f"{scores.n_true:,} pairs hold" if scores.n_true > 1 else "pair holds"
        hold = "they hold" if scores.n_true > 1 else "it holds"
        sentences.append(
            f"The first {first} {hits:.3g} of {known}; in a random order {hold} {chance:.2g}."
        )
    return " ".join(sentences)


def report_of_links(
    report_class: type[ReportT],
    inferred: Network,
    scores: NetworkScores | None,
    execution: Execution,
    *,
    settings: Mapping[str, Any],
    of_data: Mapping[str, Any],
    facts: dict[str, str],
    positions: ArrayLike | None = None,
    results: Mapping[str, float] | None = None,
    more: Sequence[Section] = (),
    **fields: Any,
) -> ReportT:
    """Return the report of a network: its graph and links, their agreement with known ones."""
    figures: dict[str, Any] = {"candidate_links": inferred.n_candidates}
    sections = list[Section | Table]()
    if inferred.n_candidates:
        n, n_rows = min(_DRAWN, inferred.n_candidates), min(_ROWS, inferred.n_candidates)
        placed = "" if positions is None else " at the positions of the neurons"
        source, target, weight = inferred.top(1)[0]
        links = inferred.columns(min(HELD, inferred.n_candidates))
        columns = [
            places(len(links["source"])),
            Column("source", links["source"], "name", least=_NAME),
            Column("target", links["target"], "words", least=_NAME),
            Column("weight", fixed(links["weight"], 4), bars=np.abs(links["weight"])),
        ]
        if "p_value" in links:
            columns.append(Column("p", small(links["p_value"])))
        sections += [
            Section(
                "Heaviest links",
                caption=f"The {n} heaviest links{placed}, drawn wider the larger their weight.",
                figure=(NETWORK_GRAPH, inferred, {"n": n, "positions": positions}),
                text=f"Graph of the {n} heaviest links. The heaviest is between {source} and "
                f"{target}, with weight {weight:.3g}.",
            ),
            Table(
                "Links",
                tuple(columns),
                f"The {n_rows:,} heaviest of {inferred.n_candidates:,} links; result.csv and "
                "result.parquet hold more.",
                shown=n_rows,
                total=inferred.n_candidates,
                what="links",
                main=True,
            ),
        ]
    if scores is not None:
        names = ("auroc", "aupr", "random_aupr", "early_precision")
        figures |= {"known_links": scores.n_true, **{name: getattr(scores, name) for name in names}}
        facts["AUPR against known links"] = f"{scores.aupr:.3f}"
        line = (
            f"Against {scores.n_true:,} known links among {scores.n_pairs:,} pairs: AUROC "
            f"{scores.auroc:.3f}, AUPR {scores.aupr:.3f} (random order {scores.random_aupr:.3f}), "
            f"precision of the first {scores.n_true:,} links {scores.early_precision:.3f}."
        )
        sections += [
            Section("Agreement with known links", (line,), brief=(line,)),
            Section(
                "Precision and recall",
                caption="Precision against recall of the known links; gray: a random order.",
                figure=(PRECISION_RECALL, scores, {}),
                text="Line chart of precision against recall; the area under it is "
                f"{scores.aupr:.3f}.",
            ),
        ]
    of_network = {name: inferred.metadata[name] for name in ("fingerprint", "versions", "n_rows")}
    run = execution.record(
        {**of_network, "n_features": len(inferred.names), **of_data},
        settings=settings,
        results={**figures, **(results or {})},
    )
    return page(
        report_class,
        run,
        facts=facts,
        sections=[*sections, *more],
        notes=tuple(execution.remarks),
        network=inferred,
        scores=scores,
        conclusion=conclusion(inferred, scores),
        **fields,
    )
