"""Analysis `exact`: importances of infinitely many trees, relevance, Markov boundaries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np

from duramen.analyses.caller import Caller, calling, faults_of_ours
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import target_class
from duramen.findings.table import left_out, of_codes
from duramen.forests.criteria import CRITERIA
from duramen.jobs.progress import shown_bar
from duramen.reading.tables import read
from duramen.reports import Report, Run, summarize_exact
from duramen.reports.report import joined
from duramen.results.context_importances import INDEPENDENT, ContextImportances
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrow import pa
from duramen.support.provenance import references, versions
from duramen.support.text import printable
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
    caller = calling(exact, locals())
    limits: dict[str, Any] = {
        "min_samples_split": min_samples_split,
        "min_impurity_decrease": min_impurity_decrease,
    }
    _check(context, splits, measure, votes, given, [name for name in limits if limits[name] > 0])
    checks.check_integer("exact", "n_bins", n_bins, 2)
    checks.check_integer("exact", "max_features", max_features, 1)
    checks.check_optional_integer("exact", "max_depth", max_depth, 1)
    checks.check_real("exact", "min_samples_split", min_samples_split, 0.0, 1.0)
    checks.check_real("exact", "min_impurity_decrease", min_impurity_decrease, 0.0)
    checks.check_real("exact", "level", level, 0.0)
    checks.check_jobs("exact", n_jobs)
    if not isinstance(data, LearningSet):
        with caller.clock.step("read"):
            data = read(data, y, keep_identifiers=True)
    data = data.in_memory()
    if data.target.censored:
        raise ValueError("exact: the target must be classes or numbers, got survival")
    with caller.clock.step("encode"):
        impurity = _criterion(criterion, data.task)
        finite = _finite(data, context, discretize, n_bins)
    dist = finite.dist
    notes = _notes(data, finite, discretize, n_bins)
    caller.notes(notes)
    trees: dict[str, Any] = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": impurity,
    }
    work: dict[str, Any] = {"n_jobs": n_jobs, "max_hours": max_hours}
    information = dist.impurity_decrease(range(dist.n_features), criterion=impurity)
    with caller.clock.step("importances"):
        if measure == "mda":
            conditioned = None if given == "none" else given
            importances = population_mda(dist, **trees, votes=votes, given=conditioned)
        else:
            if max_features == 1 and splits == "multiway" and not any(limits.values()):
                _announce(dist, max_depth, impurity, n_jobs, caller)
            with _progress("importances", verbose) as progress:
                importances = population_importances(
                    dist, **trees, splits=splits, cut=cut, **limits, **work, progress=progress
                )
    not_computed = []
    searched = _searchable(dist.n_features) if max_degree is None else max_degree
    with caller.clock.step("relevance"):
        relevance = feature_relevance(dist, level=level, max_degree=searched)
    if relevance[0].searched_degree < dist.n_features - 1:
        not_computed.append(_not_searched(relevance))
    boundaries = None
    with caller.clock.step("boundaries"):
        try:
            boundaries = markov_boundaries(dist)
        except ValueError as error:  # too many of them: the table is fine, as was seen before
            not_computed.append(f"Markov boundaries are not listed. {error}")
    effects = None
    if dist.context is not None:
        with caller.clock.step("contexts"):
            effects = population_context_importances(dist, **trees, **work)
    with faults_of_ours():
        provenance = data.provenance
        run = Run(
            command=caller.command,
            task=data.task,
            target=provenance.target,
            file=provenance.file,
            n_rows=data.n_rows,
            n_features=dist.n_features,
            fingerprint=data.fingerprint,
            classes=data.target.class_sizes(),
            citation=provenance.citation,
            findings=provenance.records(_OF_READING),
            settings={
                **trees,
                "splits": splits,
                "cut": cut,
                **{name: value for name, value in limits.items() if value},
                **(
                    {} if measure == "mdi" else {"measure": measure, "votes": votes, "given": given}
                ),
                "level": level,
                "max_degree": relevance[0].searched_degree,
                **({} if context is None else {"context": context}),
                **provenance.settings,
                "incomplete_rows_dropped": provenance.dropped_rows,
                "discretize": finite.method,
                "n_bins": n_bins,
                "cuts": finite.cuts,
            },
            versions=versions("pyarrow", "matplotlib"),
            results={
                "importance_sum": float(importances.values.sum()),
                "information": information,
                "impurity": dist.impurity(criterion=impurity),
                **({"loss": importances.metadata["loss"]} if measure == "mda" else {}),
                "unit": importances.unit,
                "distinct_rows": dist.n_rows,
                "relevance": _counts(relevance),
                "n_markov_boundaries": None if boundaries is None else len(boundaries),
                "markov_boundaries": None if boundaries is None else boundaries[:_LISTED],
                **_of_contexts(effects),
            },
            timings=dict(caller.clock.seconds),
        )
        report = summarize_exact(
            importances,
            run,
            relevance=relevance,
            boundaries=boundaries,
            effects=effects,
            left_out=not_computed,
            notes=notes,
        )
        sources = [*references(population_importances)]
        if effects is not None:
            sources += references(population_context_importances)
        return ExactReport.of(
            report,
            table=_columns(importances, relevance),
            references=tuple(dict.fromkeys(sources)),
            importances=importances,
            relevance=tuple(relevance),
            boundaries=None if boundaries is None else tuple(boundaries),
            effects=effects,
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
    if context is not None:
        for name, value, needed in (("splits", splits, "multiway"), ("measure", measure, "mdi")):
            if value != needed:
                raise ValueError(f"exact: context needs {name}={needed!r}, got {value}")
    if measure == "mda":
        if splits != "multiway":
            raise ValueError(
                f"exact: measure='mda' needs splits='multiway', got {splits}; leave splits out"
            )
        return
    for name, value, default in (("votes", votes, "tree"), ("given", given, "none")):
        if value != default:
            raise ValueError(
                f"exact: {name}={value!r} has no effect with measure='mdi'; use measure='mda'"
            )


def _criterion(asked: str, task: str) -> Any:
    """Return the impurity criterion, given the task."""
    suited = [criterion.name for criterion in CRITERIA if criterion.task == task]
    if asked == "auto":
        return target_class(task).criterion
    if asked not in suited:
        raise ValueError(
            f"exact: criterion must be {' or '.join(['auto', *suited])} for {task}, got {asked}"
        )
    return asked


@dataclass(frozen=True)
class _Finite:
    """Finite distribution, and the cut points of its columns in intervals."""

    dist: FiniteDistribution
    method: str
    cuts: dict[str, list[float]]


def _finite(
    data: LearningSet[EncodedTable], context: str | None, method: str, n_bins: int
) -> _Finite:
    """Treat the rows of a table as a distribution."""
    contexts, table, weights = None, data.table, data.weights
    if context is not None:
        contexts = _contexts(context, data.column(context))
        table = data.without([context]).table
    how: Any = "quantile" if method == "auto" else method
    if how == "mdl" and not data.target.categorical:
        raise ValueError(
            "exact: discretize='mdl' needs a target of classes, got numbers; use "
            "discretize='quantile'"
        )
    if method == "none":
        return _Finite(
            FiniteDistribution.from_table(table, data.y, weights=weights, context=contexts), how, {}
        )
    if method == "auto":  # columns of few numbers are categories
        pairs = enumerate(table.kinds)
        kinds = ("nominal" if len(table.values(j)) <= FEW else kind for j, kind in pairs)
        table = replace(table, kinds=tuple(kinds))
    in_intervals = discretized(table, data.y if how == "mdl" else None, method=how, n_bins=n_bins)
    cuts = {name: points.tolist() for name, points in in_intervals.cuts.items()}
    return _Finite(
        FiniteDistribution.from_table(in_intervals, data.y, weights=weights, context=contexts),
        how,
        cuts,
    )


def _contexts(name: str, column: Any) -> Any:
    """Return the values of a context as a named column of text; missing ones are a value."""
    values = pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column
    texts = ["missing" if value is None else str(value) for value in values.to_pylist()]
    if (count := len(set(texts))) > MOST_CONTEXTS:
        raise ValueError(
            f"exact: context must have at most {MOST_CONTEXTS} values, got {count:,}. Hint: merge "
            "rare values, cut numbers into intervals"
        )
    return nw.from_native(pa.table({name: texts}))[name]


def _notes(data: LearningSet[EncodedTable], finite: _Finite, method: str, n_bins: int) -> list[str]:
    """Return remarks on the preparation of the data."""

    def listed(names: Sequence[str]) -> str:
        return joined([printable(name) or "''" for name in names], shown=5)

    provenance, dist = data.provenance, finite.dist
    lines = [*provenance.notes]
    lines += [str(finding) for finding in provenance.findings if finding.kind in _OF_READING]
    if finite.cuts and method == "auto":
        lines.append(
            f"columns of many distinct numbers were cut into {n_bins} quantile intervals: "
            f"{listed(list(finite.cuts))}; change this with discretize=METHOD or n_bins=B, "
            "or categorical=NAME"
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


def _announce(
    dist: FiniteDistribution, max_depth: int | None, criterion: Any, n_jobs: int, caller: Caller
) -> None:
    """Say how long it will take where that is long and can be estimated."""
    if dist.n_features < _FEW_FEATURES:
        return
    cost = lattice_cost(dist, max_depth, criterion=criterion, n_jobs=n_jobs)
    if cost.seconds > _SHORT:
        caller.notes([str(cost)])


@contextmanager
def _progress(what: str, verbose: int) -> Iterator[Callable[[float], None] | None]:
    """Give a function that shows what fraction of the work is done, or None."""
    with shown_bar(100, what, "%", verbose) as bar:
        if bar is None:
            yield None
            return

        def report(done: float) -> None:
            bar.update(int(100 * done) - bar.n)

        yield report
        report(1.0)


def _searchable(n_features: int) -> int:
    """Return the size of the largest conditionings that are searched unless the user says."""
    degree = 0
    while degree < n_features - 1 and count_subsets(n_features, degree + 2) <= _SETS:
        degree += 1
    return degree


def _not_searched(relevance: Sequence[Relevance]) -> str:
    searched, most = relevance[0].searched_degree, len(relevance) - 1
    unknown = sum(entry.relevance == "unknown" for entry in relevance)
    left = (
        f"{unknown:,} features for which it was not found are called unknown"
        if unknown
        else ("larger sets of conditioning features are not listed")
    )
    return (
        f"Relevance was tested given up to {searched} other features, not up to {most}: "
        f"{left}. max_degree sets the largest number."
    )


def _counts(relevance: Sequence[Relevance]) -> dict[str, int]:
    """Return the number of features of each kind of relevance."""
    counted = Counter(entry.relevance for entry in relevance)
    return {kind: counted[kind] for kind in ("strong", "weak", "irrelevant", "unknown")}


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


def _of_contexts(effects: ContextImportances | None) -> dict[str, Any]:
    """Return the fractions and the importance of a context, and what depends on it."""
    if effects is None:
        return {}
    depends = (effects.kind != INDEPENDENT).any(axis=0)
    return {
        "contexts": dict(zip(effects.contexts, effects.fractions.tolist(), strict=True)),
        "context_importance": effects.relevance,
        "depend_on_context": [
            name for name, yes in zip(effects.names, depends, strict=True) if yes
        ],
    }
