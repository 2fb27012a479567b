"""Analysis `exact`: importances of infinitely many trees, relevance, Markov boundaries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np

from duramen.analyses.context import ContextEffects, criterion_for, effect_charts
from duramen.analyses.execution import Execution, faults_of_ours
from duramen.data import EncodedTable, LearningSet
from duramen.findings.table import left_out, of_codes
from duramen.jobs.progress import shown_bar
from duramen.reading.tables import read
from duramen.reports import Report, Run
from duramen.reports.facts import importance_charts, page, rows_note, sizes, subject, thousands
from duramen.reports.report import (
    HELD,
    OF_CONTEXTS,
    Group,
    Part,
    Prose,
    Section,
    Table,
)
from duramen.results.columns import Column, places
from duramen.results.context_importances import INDEPENDENT, ContextImportances
from duramen.results.importances import Importances
from duramen.support import checks
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
from duramen.theory.population.accuracy import population_mda
from duramen.theory.population.context import population_context_importances
from duramen.theory.population.importances import population_importances
from duramen.theory.population.lattice import lattice_cost

MOST_CONTEXTS = 20

FEW = 10
"""Distinct numbers up to which a column of numbers is categorical by default."""

# By default as many conditionings are searched as take some seconds for a hundred rows.
_SETS = 2**18
# More Markov boundaries than these are counted, not listed.
_LISTED = 100
# A run on fewer features than these, or of fewer seconds, is not announced.
_FEW_FEATURES = 15
_SHORT = 2.0
_ROWS = 100
_KINDS = ("strong", "weak", "irrelevant", "unknown")
_CONTEXTS = 4  # whose effects are drawn
_BOUNDARIES = 20
_MEMBERS = 12  # features of a boundary in a terminal
_CONDITIONINGS = 3
_DEGREES = 16

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

# Findings about the rows as a sample do not matter where they are the population.
_OF_READING = (
    "stray values",
    "target missing",
    "target date",
    "separator",
    "decimal commas",
    "numbers in text",
    "several units",
    "labels merged",
    "names",
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
    effects : ContextImportances or None
        Importances in each context.

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
    effects: ContextImportances | None


def exact(
    data: Any,
    y: Any = None,
    *,
    context: str | None = None,
    discretize: Literal["auto", "quantile", "uniform", "mdl", "none"] = "auto",
    n_bins: int = 5,
    criterion: Literal["auto", "gini", "entropy", "variance"] = "auto",
    max_features: int = 1,
    max_depth: int | None = None,
    splits: Literal["multiway", "ordered", "one-vs-rest", "any"] = "multiway",
    cut: Literal["random", "uniform", "best"] = "random",
    min_samples_split: float = 0.0,
    min_impurity_decrease: float = 0.0,
    measure: Literal["mdi", "mda"] = "mdi",
    votes: Literal["tree", "ensemble", "predictor"] = "tree",
    given: Literal["none", "associated"] = "none",
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
    context : str, optional
        Column whose values are contexts, such as sex: also compute how the importances depend on
        them. It is not used as a feature.
    discretize : {"auto", "quantile", "uniform", "mdl", "none"}
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
        Family of splits: one branch for each value (multiway), or two branches (the others).
    cut : {"random", "uniform", "best"}
        Cut of a feature into two branches: any place between its values, all alike (random); one
        that is uniform between its least and its largest value, with ordered splits and without
        intervals (uniform); or the best one (best).
    min_samples_split : float
        Least fraction, in [0, 1], of the rows in a node that is split; a node with fewer is a leaf.
    min_impurity_decrease : float
        Least decrease of impurity of a split, times the fraction of the rows in its node; a node
        whose best candidate has less is a leaf.
    measure : {"mdi", "mda"}
        Importance: mdi, the mean decrease of impurity, or mda, the mean decrease of accuracy when a
        feature is permuted (of multiway splits).
    votes : {"tree", "ensemble", "predictor"}
        Prediction that mda scores: that of single trees (tree); the vote of all trees, each with
        its own permutation (ensemble); or the vote of all trees, with one permutation for all
        (predictor).
    given : {"none", "associated"}
        Features given which mda permutes a feature, among rows with equal values of these: none, or
        those associated with it by more than 0.01 bits.
    level : float
        Information, in bits, up to which a feature counts as irrelevant.
    max_degree : int, optional
        Size of the largest sets of features that relevance is conditioned on; by default, the
        largest size that takes a few seconds.
    max_hours : float
        Longest estimated time, in hours; a longer computation is refused.
    n_jobs : int
        Number of threads; -1 for all processors. The result does not depend on it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ExactReport
        Table, conclusion and notes; ``importances``, ``relevance``, ``boundaries``, ``effects``.

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
    arguments = dict(locals())
    execution = Execution.of(exact, arguments)
    limits = {
        name: arguments[name]
        for name in ("min_samples_split", "min_impurity_decrease")
        if arguments[name]
    }
    _check(context, splits, measure, votes, given, list(limits))
    checks.check_integer("exact", "n_bins", n_bins, 2)
    checks.check_integer("exact", "max_features", max_features, 1)
    checks.check_optional_integer("exact", "max_depth", max_depth, 1)
    checks.check_real("exact", "min_samples_split", min_samples_split, 0.0, 1.0)
    checks.check_real("exact", "min_impurity_decrease", min_impurity_decrease, 0.0)
    checks.check_real("exact", "level", level, 0.0)
    checks.check_jobs("exact", n_jobs)
    data = read(data, y, keep_identifiers=True).in_memory()
    impurity: Any = criterion_for("exact", criterion, data.task)
    with execution.step("encode"):
        dist, cuts = _distribution(data, context, discretize, n_bins)
    notes = _notes(data, dist, cuts if discretize == "auto" else {}, n_bins)
    execution.notes(notes)
    trees: dict[str, Any] = {"max_features": max_features, "max_depth": max_depth}
    trees["criterion"] = impurity
    work: dict[str, Any] = {"n_jobs": n_jobs, "max_hours": max_hours}
    information = dist.impurity_decrease(range(dist.n_features), criterion=impurity)
    with execution.step("importances"):
        if measure == "mda":
            conditioned = None if given == "none" else given
            importances = population_mda(dist, **trees, votes=votes, given=conditioned)
        else:
            closed_form = max_features == 1 and splits == "multiway" and not limits
            if closed_form and dist.n_features >= _FEW_FEATURES:
                cost = lattice_cost(dist, max_depth, criterion=impurity, n_jobs=n_jobs)
                execution.notes([str(cost)] if cost.seconds > _SHORT else [])
            with shown_bar(100, "importances", "%", verbose) as bar:
                importances = population_importances(
                    dist,
                    **trees,
                    splits=splits,
                    cut=cut,
                    **limits,
                    **work,
                    progress=bar and (lambda done: bar.update(int(100 * done) - bar.n)),
                )
                if bar is not None:
                    bar.update(100 - bar.n)
    not_computed = []
    searched = _searchable(dist.n_features) if max_degree is None else max_degree
    with execution.step("relevance"):
        relevance = feature_relevance(dist, level=level, max_degree=searched)
    if relevance[0].searched_degree < dist.n_features - 1:
        not_computed.append(_not_searched(relevance))
    boundaries = None
    with execution.step("boundaries"):
        try:
            boundaries = markov_boundaries(dist)
        except ValueError as error:  # too many of them: the table is fine, as was seen before
            not_computed.append(f"Markov boundaries are not listed. {error}")
    effects = None
    if dist.context is not None:
        with execution.step("contexts"):
            effects = population_context_importances(dist, **trees, **work)
    with faults_of_ours():
        kinds = Counter[str](entry.relevance for entry in relevance)
        results: dict[str, Any] = {
            "importance_sum": float(importances.values.sum()),
            "information": information,
            "impurity": dist.impurity(criterion=impurity),
            "unit": importances.unit,
            "distinct_rows": dist.n_rows,
            "relevance": {kind: kinds[kind] for kind in _KINDS},
            "n_markov_boundaries": None if boundaries is None else len(boundaries),
            "markov_boundaries": None if boundaries is None else boundaries[:_LISTED],
        }
        chosen: dict[str, Any] = {}
        if measure == "mda":
            results["loss"] = importances.metadata["loss"]
            chosen = {"measure": measure, "votes": votes, "given": given}
        if effects is not None:
            chosen["context"] = context
            results |= {
                "contexts": dict(zip(effects.contexts, effects.fractions.tolist(), strict=True)),
                "context_importance": effects.relevance,
                "depend_on_context": _dependent(effects, range(len(effects))),
            }
        provenance = data.provenance
        facts = {"n_features": dist.n_features, "findings": provenance.records(_OF_READING)}
        run = execution.record(
            {**data.facts(), **facts},
            settings={
                **trees,
                "splits": splits,
                "cut": cut,
                **limits,
                **chosen,
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
        return summarize(
            importances,
            run,
            relevance=relevance,
            boundaries=boundaries,
            effects=effects,
            left_out=not_computed,
            notes=notes,
        )


def _check(
    context: str | None, splits: str, measure: str, votes: str, given: str, limits: Sequence[str]
) -> None:
    """Check that arguments go together."""
    for name, asked in (("context", context is not None), ("measure='mda'", measure == "mda")):
        if asked and limits:
            raise ValueError(
                f"exact: {name} does not support {' and '.join(limits)}; limit the trees with "
                "max_depth"
            )
        if asked and splits != "multiway":
            raise ValueError(
                f"exact: {name} needs splits='multiway', got {splits}; leave splits out"
            )
    if measure == "mda":
        if context is not None:
            raise ValueError("exact: context needs measure='mdi', got mda")
        return
    for name, value, default in (("votes", votes, "tree"), ("given", given, "none")):
        if value != default:
            raise ValueError(
                f"exact: {name}={value!r} has no effect with measure='mdi'; use measure='mda'"
            )


def _distribution(
    data: LearningSet[EncodedTable], context: str | None, method: Any, n_bins: int
) -> tuple[FiniteDistribution, dict[str, list[float]]]:
    """Return the rows of a table as a distribution, and the cut points of columns in intervals."""
    contexts: Any = None
    table: Any = data.table
    if context is not None:
        contexts = _contexts(context, data.column(context))
        table = data.without([context]).table
    if method == "mdl" and not data.target.categorical:
        raise ValueError(
            "exact: discretize='mdl' needs a target of classes, got numbers; use "
            "discretize='quantile'"
        )
    cuts: dict[str, list[float]] = {}
    if method != "none":
        if method == "auto":  # columns of few numbers are categories
            kinds = enumerate(table.kinds)
            few = ("nominal" if len(table.values(j)) <= FEW else kind for j, kind in kinds)
            table, method = replace(table, kinds=tuple(few)), "quantile"
        table = discretized(
            table, data.y if method == "mdl" else None, method=method, n_bins=n_bins
        )
        cuts = {name: points.tolist() for name, points in table.cuts.items()}
    dist = FiniteDistribution.from_table(table, data.y, weights=data.weights, context=contexts)
    return dist, cuts


def _contexts(name: str, column: Any) -> Any:
    """Return the values of a context as a named column of text; missing ones are a value."""
    values = pa.array(column, from_pandas=True)
    texts = ["missing" if value is None else str(value) for value in values.to_pylist()]
    if (count := len(set(texts))) > MOST_CONTEXTS:
        raise ValueError(
            f"exact: context must have at most {MOST_CONTEXTS} values, got {count:,}. Hint: merge "
            "rare values, cut numbers into intervals"
        )
    return nw.from_native(pa.table({name: texts}))[name]


def _notes(
    data: LearningSet[EncodedTable], dist: FiniteDistribution, cuts: Collection[str], n_bins: int
) -> list[str]:
    """Return remarks on the preparation of the data; columns of `cuts` were cut by default."""

    def listed(names: Iterable[str]) -> str:
        return joined([printable(name) or "''" for name in names], shown=5)

    provenance = data.provenance
    lines = [*provenance.notes]
    lines += [str(finding) for finding in provenance.findings if finding.kind in _OF_READING]
    if cuts:
        lines.append(
            f"columns of many distinct numbers were cut into {n_bins} quantile intervals: "
            f"{listed(cuts)}; change this with discretize=METHOD or n_bins=B, or categorical=NAME"
        )
    identifiers = left_out(of_codes(data.table))
    pairs = zip(dist.names, dist.cardinalities.tolist(), strict=True)
    naming = [name for name, count in pairs if count == data.n_rows or name in identifiers]
    if naming:
        lines.append(
            f"{listed(naming)} has a different value in every row: it identifies these rows and "
            "predicts nothing for others. Consider leaving it out with drop=NAME"
        )
    return lines


def _searchable(n_features: int) -> int:
    """Return the size of the largest conditionings that are searched unless the user says."""
    degree = 0
    while degree < n_features - 1 and count_subsets(n_features, degree + 2) <= _SETS:
        degree += 1
    return degree


def _not_searched(relevance: Sequence[Relevance]) -> str:
    unknown = sum(entry.relevance == "unknown" for entry in relevance)
    left = "larger sets of conditioning features are not listed"
    if unknown:
        left = f"{unknown:,} features for which it was not found are called unknown"
    return (
        f"Relevance was tested given up to {relevance[0].searched_degree} other features, not up "
        f"to {len(relevance) - 1}: {left}. max_degree sets the largest number."
    )


def _columns(importances: Importances, relevance: Sequence[Relevance]) -> dict[str, Any]:
    """Return the columns of result.csv: a row for each feature, the most important first."""
    ranked = [relevance[j] for j in importances.order()]
    return {
        **importances.top(len(importances)).columns(),
        "relevance": [entry.relevance for entry in ranked],
        "degree": pa.array([entry.degree for entry in ranked], pa.int64()),  # some are missing
        "conditionings": [json.dumps(entry.conditionings, ensure_ascii=False) for entry in ranked],
        "strong_information": [entry.strong_information for entry in ranked],
        "largest_information": [entry.largest_information for entry in ranked],
    }


def _dependent(effects: ContextImportances, order: Iterable[int]) -> list[str]:
    """Return the features that depend on the context, in an order."""
    depends = (effects.kind != INDEPENDENT).any(axis=0)
    return [effects.names[j] for j in order if depends[j]]


# --- the report -----------------------------------------------------------------------------------


def summarize(
    importances: Importances,
    run: Run,
    *,
    relevance: Sequence[Relevance],
    boundaries: Sequence[Sequence[str]] | None = None,
    effects: ContextImportances | None = None,
    left_out: Sequence[str] = (),
    notes: Sequence[str] = (),
    n_rows: int = _ROWS,
) -> ExactReport:
    """Return the report; `left_out` says what was not computed, and why."""
    criterion = importances.metadata["population"]["criterion"]
    unit = {"entropy": "bits", "gini": "Gini impurity", "variance": "variance"}[criterion]
    of_all, impurity = (f"{run.results[name]:.4f}" for name in ("information", "impurity"))
    trees = _trees_words(run.settings)
    kinds = Counter(entry.relevance for entry in relevance)
    sources: list[Any] = [population_importances]
    sources += [] if effects is None else [population_context_importances]
    facts = {
        **sizes(run),
        f"{unit}, of {impurity}": of_all,
        "strongly relevant": f"{kinds['strong']:,}",
        "weakly relevant": f"{kinds['weak']:,}",
    }
    sections: list[Section] = [*importance_charts(importances, columns=_DEGREES)]
    sections.append(_main_table(importances, relevance, n_rows))
    if boundaries is not None:
        facts["Markov boundaries"] = f"{len(boundaries):,}"
        sections.append(_boundaries(boundaries))
    if effects is not None:
        sections.append(_context_group(effects))
    if notes:
        sections.append(Prose("Data preparation", tuple(notes), points=True))
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out), brief=tuple(left_out)))
    sum_words, meaning = _importance_words(importances, run, f"{of_all} {unit}")
    return page(
        ExactReport,
        run,
        facts=facts,
        sections=sections,
        reading=[
            f"The importances are those of {trees}, grown on all rows. They are computed, not "
            "estimated, and so depend neither on a seed nor on a number of trees.",
            meaning,
            *_relevance_words(run.settings["level"]),
        ],
        cautions=_CAVEATS,
        kind="exact importances and relevance",
        title=f"Exact importances of the features for {run.target}",
        conclusion=f"The {thousands(run.n_rows)} rows are taken as the whole population, without "
        "sampling error: of a sample, nearly every feature is relevant, and most are strongly "
        "relevant where there are few rows. duramen rank tests features of a sample.",
        subject=(
            *subject(run),
            f"All features together account for {of_all} of {impurity} {unit} of "
            f"{printable(run.target or '')}",
            f"Importances of {trees}: {sum_words}",
        ),
        table=_columns(importances, relevance),
        further={} if effects is None else {OF_CONTEXTS: effects.columns()},
        references=tuple(dict.fromkeys(line for of in sources for line in references(of))),
        importances=importances,
        relevance=tuple(relevance),
        boundaries=None if boundaries is None else tuple(map(tuple, boundaries)),
        effects=effects,
    )


def _main_table(importances: Importances, relevance: Sequence[Relevance], n_rows: int) -> Table:
    best = importances.top(max(n_rows, HELD))
    of_name = {entry.name: entry for entry in relevance}
    ranked = [of_name[name] for name in best.names]
    conditionings = []
    for entry in ranked:
        sets = [" + ".join(names) or "nothing" for names in entry.conditionings]
        more = len(sets) - _CONDITIONINGS
        sets[_CONDITIONINGS:] = [f"and {more:,} more"] if more > 0 else []
        conditionings.append("; ".join(sets))
    return Table(
        "Importance and relevance",
        (
            places(len(best), "rank"),
            Column("feature", best.names, "name"),
            Column(
                "importance" if best.unit == "1" else best.unit,
                fixed(best.values, 5),
                bars=best.values,
            ),
            Column("relevance", [entry.relevance for entry in ranked], "words"),
            Column("degree", ["" if one.degree is None else str(one.degree) for one in ranked]),
            Column("relevant given", conditionings, "words"),
        ),
        rows_note(min(n_rows, len(best)), len(importances)),
        shown=n_rows,
        total=len(importances),
        main=True,
    )


def _boundaries(boundaries: Sequence[Sequence[str]]) -> Prose:
    n, lines = len(boundaries), [", ".join(names) or "the empty set" for names in boundaries]
    brief = [f"{n:,} Markov boundar{'y' if n == 1 else 'ies'}:"]
    for names in boundaries[:3]:
        listed = joined([printable(name) for name in names], shown=_MEMBERS) or "the empty set"
        brief.append(f"  {len(names)}: {listed}")
    if n > 3:
        brief.append(f"  and {n - 3:,} more in report.html and run.json")
    if n > _BOUNDARIES:
        lines[_BOUNDARIES:] = [f"and {n - _BOUNDARIES:,} more"]
    return Prose("Markov boundaries", tuple(lines), points=True, brief=tuple(brief))


def _context_group(result: ContextImportances) -> Group:
    """Return what a context does to the importances: words, a figure a context, and a table."""
    effects, name = ContextEffects.of(result, 0.05, "none"), result.context_name
    names = _dependent(result, result.order())
    line = (
        f"{len(names):,} of {len(result):,} features depend on the context {printable(name)}"
        f"{': ' if names else ''}{joined(names, shown=_MEMBERS)}; the importance of the context "
        f"itself is {result.relevance:.4f}"
    )
    rows = np.arange(len(effects.columns["kind"]))
    n_shown = min(_ROWS, len(result))
    note = f"{rows_note(n_shown, len(result))} result-contexts.csv has all."
    table = effects.table(rows[: n_shown * len(result.contexts)])
    sections: tuple[Part, ...] = (
        Prose("Result", (f"{line}.",), brief=(line,)),
        *effect_charts(effects, _CONTEXTS),
        Table("Effects of the context", tuple(table), note),
    )
    return Group(f"Context {name}", sections, folded=False)


def _trees_words(settings: Mapping[str, Any]) -> str:
    """Say which trees there are infinitely many of."""
    K, depth = settings["max_features"], settings["max_depth"]
    deep = "" if depth is None else f" of depth {depth}"
    trees = f"trees{deep} with the best of {K} candidates at a node"
    words = f"infinitely many {f'totally randomized trees{deep}' if K == 1 else trees}, "
    words += f"{settings['splits']} splits"
    if settings["cut"] != "random":
        words += f", {settings['cut']} cuts"
    if least := settings.get("min_samples_split"):
        words += f", nodes with fewer than {100 * least:g} % of the rows not split"
    if least := settings.get("min_impurity_decrease"):
        words += f", no split with a decrease of impurity below {least:g}"
    return words


def _importance_words(importances: Importances, run: Run, of_all: str) -> tuple[str, str]:
    """Return what the importances add up to, and what they mean."""
    if "loss" in importances.metadata:
        chosen = importances.metadata["population"]
        name = "squared error" if importances.unit == "squared error" else "error rate"
        loss = f"increase of the {name} of {float(importances.metadata['loss']):.4f}"
        among = "rows with equal values of the features associated with it"
        whose = {
            "tree": "the mean over trees",
            "ensemble": "of their vote, each tree permuting for itself",
            "predictor": "of their vote, all trees permuting alike",
        }[chosen["votes"]]
        return f"{loss} when permuted", (
            f"An importance is the {loss} on the same rows when a feature is permuted among "
            f"{'all rows' if chosen['given'] is None else among}, averaged over all permutations, "
            f"{whose}. A relevant feature has an importance of 0 if trees read another feature in "
            "its place, or its splits change no vote."
        )
    total, settings = f"{float(importances.values.sum()):.4f}", run.settings
    limits = "max_depth", "min_samples_split", "min_impurity_decrease"
    whole = f"all that the features together account for, {of_all}"
    full = f": {whole}" if not any(map(settings.get, limits)) else ""
    limited = "" if full else f" Full trees would make it {whole}."
    return f"{total} in all", (
        f"An importance is a mean decrease of impurity. They add up to {total}{full}.{limited}"
    )


def _relevance_words(level: float) -> tuple[str, ...]:
    none = f"at most {level:g} bits counts" if level else "no information counts"
    return (
        "A feature is relevant if it adds information about the target to some set of other "
        "features, strongly relevant if to all other features together, weakly relevant if only to "
        "smaller sets. Its degree is the size of the smallest set given which it is relevant; the "
        f"table names the minimal such sets. Here {none} as nothing.",
        "A Markov boundary is a minimal set of features with all the information that the "
        "features have about the target. Every boundary contains the strongly relevant features; "
        "copies can replace each other. No level applies to boundaries.",
    )
