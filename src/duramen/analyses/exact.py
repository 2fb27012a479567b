"""Analysis `exact`: importances of infinitely many trees, relevance, Markov boundaries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from duramen.analyses.context import criterion_for
from duramen.analyses.execution import Execution, faults_of_ours
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import NumberTarget, target_class
from duramen.findings.table import left_out, of_codes
from duramen.jobs.progress import progress_bar
from duramen.reading.tables import read
from duramen.reports.report import (
    HELD,
    Report,
    Run,
    Section,
    Table,
    degree_charts,
    page,
    rows_note,
)
from duramen.results.importances import Importances
from duramen.results.summary import Column, counted, percents, places
from duramen.support import checks
from duramen.support.arrays import TableLike
from duramen.support.arrow import pa
from duramen.support.provenance import references
from duramen.support.text import fixed, joined, printable
from duramen.theory import FiniteDistribution
from duramen.theory.dependence.relevant_features import (
    Relevance,
    feature_relevance,
    markov_boundaries,
)
from duramen.theory.distributions.discretization import discretize as discretized
from duramen.theory.distributions.subsets import count_subsets
from duramen.theory.population.importances import population_importances
from duramen.theory.population.lattice import lattice_cost

FEW = 10
"""Distinct numbers up to which a column of numbers is categorical by default."""
# By default as many conditionings are searched as take some seconds for a hundred rows.
_SETS = 2**18
# A run on fewer features than these, or of fewer seconds, is not announced.
_FEW_FEATURES = 15
_SHORT = 2.0
_LISTED = 100  # Markov boundaries in run.json
_BOUNDARIES = 20  # on the page
_MEMBERS = 12  # features of a boundary in a terminal
_CONDITIONINGS = 3
_NAMED = 3  # features in the conclusion
_DEGREES = 16
_ROWS = 100
_KINDS = ("strong", "weak", "irrelevant", "unknown")
# Findings about the rows as a sample do not matter where they are the population.
_OF_READING = (
    *("stray values", "target missing", "target date", "separator", "decimal commas"),
    *("numbers in text", "several units", "labels merged", "names"),
)
_CAVEATS = (
    "The numbers are exact for the distribution of these rows. Where the rows are a sample, they "
    "are the limits of a forest grown on it, sampling error included: with few rows, nearly "
    "every feature appears relevant. --level sets the information up to which a feature counts "
    "as irrelevant.",
    "Features with many distinct values separate rows even if they are irrelevant.",
    "Features that carry the same information share the importance, and none of them is strongly "
    "relevant.",
    "Neither importance nor relevance is evidence of a causal effect.",
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactReport(Report):
    """Report of `duramen.exact`: exact importances and relevance of the features.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    importances : Importances
        Importances of infinitely many trees.
    relevance : tuple of Relevance
        Relevance of each feature, in the order of the columns.
    boundaries : tuple of tuples of str, or None
        All Markov boundaries; None if there are too many.

    Examples
    --------
    >>> import duramen as dm
    >>> digits = dm.datasets.digits7()
    >>> report = dm.exact(digits.X, digits.y)
    >>> report.importances.top(2).names
    ('x4', 'x1')
    """

    importances: Importances
    relevance: tuple[Relevance, ...]
    boundaries: tuple[tuple[str, ...], ...] | None


@checks.hints_on_keywords(read)
def exact(
    data: TableLike,
    y: ArrayLike | None = None,
    *,
    discretize: Literal["auto", "quantile", "uniform", "none"] = "auto",
    n_bins: int = 5,
    criterion: Literal["auto", "gini", "entropy", "variance"] = "auto",
    max_features: int = 1,
    max_depth: int | None = None,
    splits: Literal["multiway", "ordered", "one-vs-rest", "any"] = "multiway",
    cut: Literal["random", "uniform", "best"] = "random",
    level: float = 0.0,
    max_degree: int | None = None,
    max_hours: float = 6.0,
    n_jobs: int = -1,
    verbose: int = 0,
) -> ExactReport:
    r"""Compute the importances of infinitely many trees, exactly.

    Treats the rows of a table as the population: importances without sampling error, the relevance
    of every feature and the Markov boundaries.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    discretize : {"auto", "quantile", "uniform", "none"}
        Method that cuts numeric columns into intervals; auto cuts columns of more than 10 distinct
        numbers at quantiles.
    n_bins : int
        Number of intervals, at least 2.
    criterion : {"auto", "gini", "entropy", "variance"}
        Impurity criterion; auto is entropy for classes, variance for numbers.
    max_features : int
        Number of features tried at a node; 1 is totally randomized.
    max_depth : int, optional
        Maximum depth of the trees; no limit by default.
    splits : {"multiway", "ordered", "one-vs-rest", "any"}
        Family of splits. Multiway splits have one branch for each value, others two branches.
    cut : {"random", "uniform", "best"}
        Cut of a feature into two branches: any place between its values, all alike (random); one
        that is uniform between its least and its largest value, with ordered splits and without
        intervals (uniform); or the best one (best).
    level : float
        Information, in bits, up to which a feature counts as irrelevant.
    max_degree : int, optional
        Size of the largest sets of features that relevance is conditioned on; by default, the
        largest size that takes a few seconds.
    max_hours : float
        Longest estimated time, in hours; a longer computation is refused.
    n_jobs : int
        Number of threads, or -1 for all. The result does not depend on it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ExactReport
        Table, conclusion and notes; ``importances``, ``relevance``, ``boundaries``.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the computation is out of reach.

    Notes
    -----
    Louppe et al. (2013), Theorem 1: the importance of X_m in infinitely many totally randomized
    trees is the mean over subsets B of the other features of I(X_m; Y | B), with weights
    1 / (C(p, k) (p - k)) for \\|B\\| = k; see :func:`duramen.theory.population_importances`.

    Examples
    --------
    >>> import duramen as dm
    >>> digits = dm.datasets.digits7()
    >>> report = dm.exact(digits.X, digits.y, max_depth=2)
    >>> report.to_frame()["relevance"].tolist()[:2]
    ['strong', 'strong']
    """
    execution = Execution.of(exact, locals())
    checks.check_integer("exact", "n_bins", n_bins, 2)
    checks.check_integer("exact", "max_features", max_features, 1)
    checks.check_optional_integer("exact", "max_depth", max_depth, 1)
    checks.check_real("exact", "level", level, 0.0)
    data = read(data, y, keep_identifiers=True).in_memory()
    provenance = data.provenance
    impurity: Any = criterion_for("exact", criterion, data.task)
    with execution.step("encode"):
        dist, cuts = _distribution(data, discretize, n_bins)

    # --- remarks on the preparation of the data ---
    notes = [*provenance.notes]
    notes += [str(finding) for finding in provenance.findings if finding.kind in _OF_READING]
    if cuts and discretize == "auto":
        listed = joined([printable(name) or "''" for name in cuts], shown=5)
        notes.append(
            f"columns of many distinct numbers were cut into {n_bins} quantile intervals: "
            f"{listed}; change this with discretize=METHOD or n_bins=B, or categorical=NAME"
        )
    identifiers = left_out(of_codes(data.table))
    pairs = zip(dist.names, dist.cardinalities.tolist(), strict=True)
    naming = [name for name, count in pairs if count == data.n_rows or name in identifiers]
    if naming:
        listed = joined([printable(name) or "''" for name in naming], shown=5)
        notes.append(
            f"{listed} has a different value in every row: it identifies these rows and predicts "
            "nothing for others. Consider leaving it out with drop=NAME"
        )
    execution.tell(*notes)

    # --- importances, relevance and boundaries ---
    trees: dict[str, Any] = {"max_features": max_features, "max_depth": max_depth}
    trees["criterion"] = impurity
    with execution.step("importances"):
        closed_form = max_features == 1 and splits == "multiway"
        if closed_form and dist.n_features >= _FEW_FEATURES:
            cost = lattice_cost(dist, max_depth, criterion=impurity, n_jobs=n_jobs)
            if cost.seconds > _SHORT:
                execution.tell(str(cost))
        with progress_bar(100, "importances", verbose, "%") as report:
            importances = population_importances(
                dist,
                **trees,
                splits=splits,
                cut=cut,
                n_jobs=n_jobs,
                max_hours=max_hours,
                progress=report and (lambda done: report(int(100 * done))),
            )
    if max_degree is None:
        max_degree = 0
        while (
            max_degree < dist.n_features - 1
            and count_subsets(dist.n_features, max_degree + 2) <= _SETS
        ):
            max_degree += 1
    with execution.step("relevance"):
        relevance = feature_relevance(dist, level=level, max_degree=max_degree)
    kinds, not_computed = Counter[str](entry.relevance for entry in relevance), []
    if relevance[0].searched_degree < dist.n_features - 1:
        left = "larger sets of conditioning features are not listed"
        if kinds["unknown"]:
            left = f"{kinds['unknown']:,} features for which it was not found are called unknown"
        not_computed.append(
            f"Relevance was tested given up to {relevance[0].searched_degree} other features, not "
            f"up to {dist.n_features - 1}: {left}. max_degree sets the largest number."
        )
    boundaries = None
    with execution.step("boundaries"):
        try:
            boundaries = markov_boundaries(dist)
        except ValueError as error:  # too many of them: the table is fine, as was seen before
            not_computed.append(f"Markov boundaries are not listed. {error}")

    with faults_of_ours():
        information = dist.impurity_decrease(range(dist.n_features), criterion=impurity)
        uncertainty = dist.impurity(criterion=impurity)
        results: dict[str, Any] = {
            "importance_sum": float(importances.values.sum()),
            "information": information,
            "impurity": uncertainty,
            "unit": importances.unit,
            "distinct_rows": dist.n_rows,
            "relevance": {kind: kinds[kind] for kind in _KINDS},
            "n_markov_boundaries": None if boundaries is None else len(boundaries),
            "markov_boundaries": None if boundaries is None else boundaries[:_LISTED],
        }
        of_data = {"n_features": dist.n_features, "findings": provenance.records(_OF_READING)}
        run = execution.record(
            {**data.facts(), **of_data},
            settings={
                **trees,
                "splits": splits,
                "cut": cut,
                "level": level,
                "max_degree": relevance[0].searched_degree,
                **provenance.settings,
                "incomplete_rows_dropped": provenance.dropped_rows,
                "discretize": "quantile" if discretize == "auto" else discretize,
                "n_bins": n_bins,
                "cuts": cuts,
            },
            results=results,
        )

        # --- the table and the sections ---
        ranked = [relevance[j] for j in importances.order()]
        best = importances.top(HELD)
        shown, conditionings = ranked[: len(best)], []
        for entry in shown:
            sets = [" + ".join(names) or "nothing" for names in entry.conditionings]
            more = len(sets) - _CONDITIONINGS
            sets[_CONDITIONINGS:] = [f"and {more:,} more"] if more > 0 else []
            conditionings.append("; ".join(sets))
        degrees = ["" if entry.degree is None else str(entry.degree) for entry in shown]
        title = "importance" if best.unit == "1" else best.unit
        sections: list[Section | Table] = [
            *degree_charts(importances, columns=_DEGREES),
            Table(
                "Importance and relevance",
                (
                    places(len(best), "rank"),
                    Column("feature", best.names, "name"),
                    Column(title, fixed(best.values, 5), bars=best.values),
                    Column("relevance", [entry.relevance for entry in shown], "words"),
                    Column("degree", degrees),
                    Column("relevant given", conditionings, "words"),
                ),
                rows_note(min(_ROWS, len(ranked)), len(ranked)),
                shown=_ROWS,
                total=len(ranked),
                main=True,
            ),
        ]
        unit = {"entropy": "bits", "gini": "Gini impurity", "variance": "variance"}[impurity]
        of_all = f"{information:.4f} of {uncertainty:.4f} {unit}"
        facts = {f"{unit}, of {uncertainty:.4f}": f"{information:.4f}"}
        facts |= {f"{kind}ly relevant": f"{kinds[kind]:,}" for kind in ("strong", "weak")}
        if boundaries is not None:
            n = len(boundaries)
            facts["Markov boundaries"] = f"{n:,}"
            brief = [f"{n:,} Markov boundar{'y' if n == 1 else 'ies'}:"]
            for names in boundaries[:3]:
                members = joined([printable(name) for name in names], shown=_MEMBERS)
                brief.append(f"  {len(names)}: {members or 'the empty set'}")
            lines = [", ".join(names) or "the empty set" for names in boundaries[:_BOUNDARIES]]
            for texts, most, indent in ((brief, 3, "  "), (lines, _BOUNDARIES, "")):
                texts += [f"{indent}and {n - most:,} more"] if n > most else []
            section = Section("Markov boundaries", tuple(lines), points=True, brief=tuple(brief))
            sections.append(section)
        if notes:
            sections.append(Section("Data preparation", tuple(notes), points=True))
        if not_computed:
            lines = not_computed
            sections.append(Section("Not computed", tuple(lines), brief=tuple(lines)))

        # --- how to read it ---
        deep = "" if max_depth is None else f" of depth {max_depth}"
        kind_of_trees = f"totally randomized trees{deep}"
        if max_features > 1:
            kind_of_trees = f"trees{deep} with the best of {max_features} candidates at a node"
        cuts_of_trees = "" if cut == "random" else f", {cut} cuts"
        kind_of_trees = f"infinitely many {kind_of_trees}, {splits} splits{cuts_of_trees}"
        added = f"{float(importances.values.sum()):.4f}"
        whole = "all that the features together account for, " + f"{information:.4f} {unit}"
        meaning = f": {whole}." if max_depth is None else f". Full trees would make it {whole}."
        both = "relevance and Markov boundaries are those"
        none = f"at most {level:g} bits counts" if level else "no information counts"
        return page(
            ExactReport,
            run,
            facts=facts,
            sections=sections,
            reading=[
                f"The importances are those of {kind_of_trees}, grown on all rows. They are "
                "computed, not estimated, and so depend neither on a seed nor on a number of "
                "trees.",
                f"An importance is a mean decrease of impurity. They add up to {added}{meaning}",
                "A feature is relevant if it adds information about the target to some set of "
                "other features, strongly relevant if to all other features together, weakly "
                "relevant if only to smaller sets. Its degree is the size of the smallest set "
                "given which it is relevant; the table names the minimal such sets. Here "
                f"{none} as nothing.",
                "A Markov boundary is a minimal set of features with all the information that the "
                "features have about the target. Every boundary contains the strongly relevant "
                "features; copies can replace each other. No level applies to boundaries.",
            ],
            cautions=_CAVEATS,
            kind="exact importances and relevance",
            title=f"Exact importances of the features for {run.target}",
            conclusion=conclusion(run, importances, relevance),
            methods=(
                f"Importances (mean decrease of impurity, {importances.unit}) are those of "
                f"{kind_of_trees}, computed exactly (Louppe et al. 2013); "
                f"{'relevance is that' if boundaries is None else both} of the joint distribution "
                f"of {data.n_rows:,} rows."
            ),
            references=references(population_importances),
            subject=(
                f"All features together account for {of_all} of {printable(run.target or '')}",
                f"Importances of {kind_of_trees}: {added} in all",
            ),
            table={
                **importances.top(len(importances)).columns(),
                "relevance": [entry.relevance for entry in ranked],
                "degree": pa.array([entry.degree for entry in ranked], pa.int64()),
                "conditionings": [
                    json.dumps(entry.conditionings, ensure_ascii=False) for entry in ranked
                ],
                "strong_information": [entry.strong_information for entry in ranked],
                "largest_information": [entry.largest_information for entry in ranked],
            },
            importances=importances,
            relevance=tuple(relevance),
            boundaries=None if boundaries is None else tuple(map(tuple, boundaries)),
        )


def conclusion(run: Run, importances: Importances, relevance: Sequence[Relevance]) -> str:
    """Describe the relevant features: their number, the information they have, and the rows."""
    p, target = len(relevance), printable(run.target or "the target")
    kinds = Counter[str](entry.relevance for entry in relevance)
    strong, n = kinds["strong"], kinds["strong"] + kinds["weak"]
    of_all = f"{n:,} of {counted(p, 'feature')} {'is' if n == 1 else 'are'}"
    if n == p:
        of_all = f"All {p:,} features are" if p > 1 else "The only feature is"
    elif n == 0:
        of_all = f"None of {counted(p, 'feature')} is" if p > 1 else "The only feature is not"
    sentences = [f"{of_all} relevant for {target} in these rows, taken as the whole population."]
    if n:
        part = run.results["information"] / run.results["impurity"]
        (part_words,) = percents(part, n=run.n_rows or 0)
        categorical = target_class(run.task or NumberTarget.task).categorical
        whole = "uncertainty about" if categorical else "variance of"
        subject = "Together they account" if n > 1 else "It accounts"
        sentences.append(f"{subject} for {part_words} of the {whole} {target}.")
        best = ", ".join(printable(name) for name in importances.top(min(_NAMED, n)).names)
        if n > 1:
            number = f"{strong:,}" if strong else "None"
            carry = "carry" if strong > 1 else "carries"
            sentences.append(f"{number} of them {carry} information that all others lack.")
            sentences.append(f"Most important: {best}.")
        elif p > 1:
            sentences.append(f"It is {best}.")
    if kinds["unknown"]:
        sentences.append(f"The relevance of {kinds['unknown']:,} more is not known.")
    sentences.append(
        "In a sample nearly every feature is relevant by chance: duramen rank tests features of a "
        "sample."
    )
    return " ".join(sentences)


def _distribution(
    data: LearningSet[EncodedTable], method: Any, n_bins: int
) -> tuple[FiniteDistribution, dict[str, list[float]]]:
    """Return the rows of a table as a distribution, and the cut points of columns in intervals."""
    table: Any = data.table
    cuts: dict[str, list[float]] = {}
    if method != "none":
        if method == "auto":  # columns of few numbers are categories
            kinds = enumerate(table.kinds)
            few = ("nominal" if len(table.values(j)) <= FEW else kind for j, kind in kinds)
            table, method = replace(table, kinds=tuple(few)), "quantile"
        table = discretized(table, method=method, n_bins=n_bins)
        cuts = {name: points.tolist() for name, points in table.cuts.items()}
    dist = FiniteDistribution.from_table(table, data.y, weights=data.weights)
    return dist, cuts
