"""Analysis `context`: features, or links between columns, that depend on a context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.analyses.execution import Execution, faults_of_ours
from duramen.contexts import context_importances, context_network
from duramen.contexts.values import contexts_of, read_context
from duramen.data import EncodedTable, Exchangeability, LearningSet
from duramen.data.covariates import covariate_strata
from duramen.data.provenance import records
from duramen.data.target import target_class
from duramen.estimators.catalogue import FORESTS
from duramen.findings.table import left_out
from duramen.forests.criteria import CRITERIA
from duramen.jobs.replicates import checkpoint_beside
from duramen.plots.context import EFFECTS_IN_CONTEXT, LINKS_IN_CONTEXT, link_limit
from duramen.reading.tables import read
from duramen.reports.facts import page, plain, sizes, subject, unit_words
from duramen.reports.report import (
    DRAWN,
    HELD,
    Chart,
    Plot,
    Prose,
    Report,
    Run,
    Section,
    Table,
)
from duramen.results.columns import Column, counted, small
from duramen.results.context_importances import (
    EFFECTS,
    INDEPENDENT,
    ContextImportances,
    ContextNetwork,
    Control,
    check_level,
)
from duramen.results.fields import adjusted
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.provenance import references
from duramen.support.text import fixed, joined, printable, quoted

_OF_TREES = ("n_estimators", "criterion", "max_features", "max_depth", "splits")
_OF_EFFECTS = (
    *("n_permutations", "permute", "empty", "n_bins", "plain", "n_jobs", "client", "verbose"),
)
_RECORDED = (
    *("permute", "empty", "n_bins", "plain", "context_bins", "tolerance", "alpha", "control"),
)
# Findings about a context; others, such as leaks, are about features.
_OF_VALUES = ("stray values", "missing code", "numbers in text", "several units")
# A context of fewer rows is pointed out.
_FEW_ROWS = 15


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContextReport(Report):
    """Report of `duramen.context`: features, or links, that depend on a context.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    effects : tuple of ContextImportances
        Effects of each context on the features; empty for a network.
    network : ContextNetwork or None
        Effects of the context on the links of a network.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> context = np.arange(80) % 2
    >>> y = np.where(context, X[:, 0], X[:, 1])
    >>> report = dm.context(X, y, context, n_estimators=50, n_permutations=199)
    >>> report.effects[0].contexts
    ('0', '1')
    """

    effects: tuple[ContextImportances, ...]
    network: ContextNetwork | None


def context(
    data: Any,
    y: Any = None,
    context: str | Sequence[str] | ArrayLike | Mapping[str, Any] | None = None,
    *,
    network: bool = False,
    targets: Sequence[str] = (),
    estimator: Any = None,
    n_estimators: int = 1000,
    criterion: Literal["auto", "gini", "entropy", "variance"] = "auto",
    max_features: int = 1,
    max_depth: int | None = None,
    splits: Literal["auto", "multiway", "ordered"] = "auto",
    n_permutations: int | None = None,
    permute: Literal["conditional", "within_target", "all"] = "conditional",
    empty: Literal["skip", "zero"] = "skip",
    n_bins: int | None = None,
    context_bins: int = 3,
    plain: Literal["none", "importances", "p_values"] = "importances",
    tolerance: float = 0.05,
    alpha: float = 0.05,
    control: Literal["fdr", "fwer", "none"] = "fdr",
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    n_jobs: int | None = -1,
    client: Any = None,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> ContextReport:
    """Find features whose importance depends on a context.

    Compares the importance of each feature on all rows with that in each context, such as each sex
    or hospital, and tests the differences by permutations of the context. With network, finds links
    between columns that depend on it.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target; a network needs no target.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    context : str, list of str, array-like of shape (n,), or mapping or data frame of columns
        Column whose values are the contexts, such as sex or hospital. It is not used as a feature.
        In Python also its values.
    network : bool
        Use each column except the context in turn as the target, with the others as features.
    targets : list of str
        Column to use as a target of a network; by default, all columns are targets.
    estimator : estimator of duramen, optional
        Totally randomized trees or Extra-Trees in place of `n_estimators`, `criterion`,
        `max_features`, `max_depth` and `splits`.
    n_estimators : int
        Number of trees.
    criterion : {"auto", "gini", "entropy", "variance"}
        Impurity criterion; auto is entropy for classes, variance for numbers.
    max_features : int
        Number of features tried at a node; 1 is totally randomized.
    max_depth : int, optional
        Maximum depth of the trees; no limit by default.
    splits : {"auto", "multiway", "ordered"}
        Family of splits: one branch for each value (multiway), or two branches (ordered); auto is
        ordered if a column has many distinct numbers.
    n_permutations : int, optional
        Number of permutations of the context; 0 for no p-values. By default 1000, or 40 for each
        effect that is tested, at most 10,000.
    permute : {"conditional", "within_target", "all"}
        Permutations of the context for the p-values of effects: within the classes (or bins) of the
        target with probabilities that allow for features that depend on the context (conditional);
        with equal probabilities (within_target), or among all rows (all), which test only that no
        feature depends on the context.
    empty : {"skip", "zero"}
        Treatment of nodes without rows of a context: skip them, or count an importance of zero.
    n_bins : int, optional
        Number of quantile intervals for columns with more distinct numbers than this; none by
        default.
    context_bins : int
        Number of quantile intervals for a numeric context.
    plain : {"none", "importances", "p_values"}
        Forests on the rows of each context, for the plain effect, the difference between the
        importances in a forest of all rows and in one of the rows of a context: none; importances;
        or also p_values, for which new forests are grown for each permutation.
    tolerance : float
        Relative difference, in [0, 1), up to which verdicts treat importances as equal.
    alpha : float
        Level of the verdicts, in [0, 1].
    control : {"fdr", "fwer", "none"}
        Error rate that alpha bounds: false discovery rate (fdr), family-wise error rate (fwer), or
        the type I error of each p-value alone (none).
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int
        Number of threads; -1 for all processors. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that saves the work done; the same call resumes a stopped run from it. For several
        contexts the name of each is added to that of the file.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ContextReport
        Table, conclusion and notes; ``effects`` or ``network``.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or a context is missing in a row or has a single value.

    Notes
    -----
    The effects, their p-values and their null hypotheses are those of
    :func:`duramen.contexts.context_importances`, and for a network of
    :func:`duramen.contexts.context_network`. Covariates of the learning set are strata within which
    the context is permuted.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> context = np.arange(80) % 2
    >>> y = np.where(context, X[:, 0], X[:, 1])
    >>> report = dm.context(X, y, context, n_estimators=50, n_permutations=199)
    >>> report.conclusion
    '2 features depend on Xc (q <= 0.05).'
    """
    arguments = dict(locals())
    execution = Execution.of(globals()["context"], arguments)
    check_level("context", alpha, control)
    checks.check_real("context", "tolerance", tolerance, 0.0, 1.0, ends="[)")
    _check_combination(arguments)
    with execution.step("read"), execution.warnings_as_notes():
        data = read(data, y, n_jobs=n_jobs).in_memory()
    provenance = data.provenance
    contexts, data = _contexts(context, data)
    _check_target(data, network, len(contexts))
    for name, values in contexts.items():  # all of them before work on the first
        read_context(values, data.n_rows, context_bins, "context", name)
    rows = {name: _exchangeable(data, name, values) for name, values in contexts.items()}
    if estimator is None:
        estimator = _estimator(arguments, "classification" if network else data.task)
    findings = [
        found
        for found in provenance.findings
        if found.kind in _OF_VALUES or not {*found.columns} & {*contexts}
    ]
    notes = _notes_of_reading(data, rows)
    execution.notes([*notes, *map(str, findings)])
    settings = {name: arguments[name] for name in _OF_EFFECTS} | {
        "estimator": estimator,
        "context_bins": context_bins,
        "random_state": execution.random_state,
    }
    results: list[ContextImportances] = []
    links = None
    with execution.work("analyze"):
        for name, values in contexts.items():
            file = execution.checkpoint
            if file is not None and len(contexts) > 1:
                file = checkpoint_beside(file, name)
            if network:
                links = context_network(
                    data.table,
                    {name: values},
                    targets=list(targets) or None,
                    strata=rows[name].strata,
                    groups=rows[name].groups,
                    checkpoint=file,
                    **settings,
                )
                analyses = {
                    target: replace(result, tolerance=tolerance)
                    for target, result in links.analyses.items()
                }
                links = replace(links, analyses=analyses)
            else:
                within = data.with_exchangeability(rows[name])
                result = context_importances(
                    within, None, {name: values}, checkpoint=file, **settings
                )
                results.append(replace(result, tolerance=tolerance))
    with faults_of_ours():
        every = results if links is None else [links]
        effects = [ContextEffects.of(result, alpha, control) for result in every]
        remarks = [line for each in effects for line in _remarks(each)]
        execution.notes([*remarks, *(text for each in effects for text in each.limits)])
        first = effects[0].analyses[0]
        trees = {name: getattr(estimator, name) for name in _OF_TREES} | first.metadata["forest"]
        facts = data.table_facts() if network else data.facts()
        if network:  # each column is a target, with a criterion of its own
            facts["fingerprint"] = data.table.fingerprint()
            del trees["criterion"]
        run = execution.record(
            {**facts, "findings": records(findings)},
            settings={
                "context": list(contexts),
                **trees,
                **{name: arguments[name] for name in _RECORDED},
                "n_permutations": first.n_permutations,
                **provenance.settings,
                "incomplete_rows_dropped": provenance.dropped_rows,
                **({"targets": list(links.analyses)} if links is not None else {}),
            },
            results={each.context_name: _figures(each) for each in effects},
        )
        report = report_of(effects, run, [*notes, *remarks], links)
        sources = tuple(references(context_importances))
        return replace(report, notes=tuple(execution.remarks), references=sources)


def _check_combination(arguments: Mapping[str, Any]) -> None:
    """Check that arguments go together with an estimator, and with a network or without."""
    for name in _OF_TREES if arguments["estimator"] is not None else ():
        if arguments[name] != signature(context).parameters[name].default:
            raise ValueError(
                f"context: {name} has no effect beside estimator; set it in the estimator"
            )
    if not arguments["network"]:
        if len(arguments["targets"]):
            raise ValueError(
                "context: targets needs network=True; a single target is target=NAME of the table"
            )
        return
    if arguments["n_permutations"] == 0:
        raise ValueError(
            "context: network=True needs n_permutations of 1 or more, for the p-values of links"
        )
    if arguments["criterion"] != "auto":
        raise ValueError("context: criterion has no effect with network=True; leave it out")


def _check_target(data: LearningSet[EncodedTable], network: bool, n_contexts: int) -> None:
    """Check that features have a target, and that a network has none, nor several contexts."""
    if not network:
        if not data.provenance.target:
            raise ValueError("context: target is missing: which column is the target?")
        return
    if data.provenance.target:
        raise ValueError(
            "context: network=True uses each column except the context as a target; leave out "
            "target=NAME, or name some targets with targets=NAME"
        )
    if data.weights is not None:
        raise ValueError("context: network=True does not support sample_weight; leave it out")
    if n_contexts > 1:
        raise ValueError(f"context: network=True needs a single context, got {n_contexts}")


def _contexts(
    asked: Any, data: LearningSet[EncodedTable]
) -> tuple[dict[str, Any], LearningSet[EncodedTable]]:
    """Return the values of each context by its name, and the data without their columns."""
    if asked is None or (isinstance(asked, str | list | tuple | dict) and not asked):
        raise ValueError("context: context is missing: which column has the contexts?")
    columns = contexts_of(asked)
    if not isinstance(columns, list):
        return columns, data
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(f"context: context {quoted(name)} is given twice")
    values = {name: _column(data, name) for name in columns}
    if not set(data.names) - set(columns):
        raise ValueError("context: no column is left besides the target and the context")
    data = data.without(columns)
    if data.table.constant().all():
        raise ValueError(
            f"context: every column is constant: none can be relevant for {data.provenance.target}"
        )
    return values, data


def _column(data: LearningSet[EncodedTable], name: str) -> NDArray[Any]:
    """Return the values of a context that is a column: numbers, or categories as text."""
    asked, shown = data.provenance.settings, quoted(name)
    roles = {role: asked.get(role) for role in ("strata", "groups", "drop")}
    for role, names in {"target": data.provenance.target, **roles}.items():
        if name not in data.names and name in ([names] if isinstance(names, str) else names or ()):
            what = "the target" if role == "target" else f"{role}={shown}"
            raise ValueError(f"context: context {shown} is {what}; leave out one of them")
    if name in left_out(data.provenance.findings):
        raise ValueError(
            f"context: context {shown} has a different value in each row, and was left out; "
            "keep_identifiers=True keeps it"
        )
    try:
        values = data.column(name)
    except ValueError as error:
        raise ValueError(f"context: context {shown}: {error}") from None
    missing = sum(value is None or value != value for value in values.tolist())
    if missing:
        raise ValueError(
            f"context: context {shown} is missing in {missing:,} of {len(values):,} rows; leave "
            "these rows out with missing='drop'"
        )
    kinds = dict(zip(data.names, data.table.kinds, strict=True))
    if kinds.get(name) == "nominal" or name in asked.get("categorical", ()):
        return values.astype(str).astype(object)
    return values


def _exchangeable(data: LearningSet[EncodedTable], name: str, values: Any) -> Exchangeability:
    """Return the strata and groups within which a context is permuted."""
    rows, covariates = data.exchangeability, data.provenance.covariates
    if covariates is not None and name in covariates.column_names:
        raise ValueError(f"context: covariates={quoted(name)} must not name a context")
    if covariates is None:
        return rows
    try:
        strata = covariate_strata(covariates, values)
    except ValueError as error:
        raise ValueError(f"context: covariates: {error}") from None
    return Exchangeability.checked(data.n_rows, strata, rows.groups, function="context")


def _estimator(arguments: Mapping[str, Any], task: str) -> Any:
    """Return the estimator of the trees: totally randomized ones, or Extra-Trees."""
    criterion = criterion_for("context", arguments["criterion"], task)
    stem = "totally-randomized-trees" if arguments["max_features"] == 1 else "extra-trees"
    kind = next(kind for kind in FORESTS if kind.name == stem).estimator(task)
    parameters = {name: arguments[name] for name in _OF_TREES if arguments[name] is not None}
    return kind(**{**parameters, "criterion": criterion})


def criterion_for(function: str, asked: str, task: str) -> str:
    """Return the impurity criterion for a task: the one of that name, or by default."""
    if target_class(task).censored:
        raise ValueError(f"{function}: the target must be classes or numbers, got {task}")
    if asked == "auto":
        return target_class(task).criterion
    suited = [criterion.name for criterion in CRITERIA if criterion.task == task]
    if asked not in suited:
        raise ValueError(
            f"{function}: criterion must be {' or '.join(['auto', *suited])} for {task}, got "
            f"{asked}"
        )
    return asked


def _notes_of_reading(
    data: LearningSet[EncodedTable], rows: Mapping[str, Exchangeability]
) -> list[str]:
    """Return remarks on how the table was read; strata of covariates are those of the contexts."""
    provenance = data.provenance
    if provenance.covariates is None:
        return list(provenance.notes)
    start = "rows are permuted within"
    covariates = ", ".join(provenance.covariates.column_names)
    notes = [note for note in provenance.notes if not note.startswith(start)]
    for name, each in rows.items():
        count = len(np.unique(np.asarray(each.strata)))
        notes.append(f"{start} {count:,} strata of {covariates}, for the context {name}")
    return notes


def _figures(effects: ContextEffects) -> dict[str, Any]:
    """Return the figures of a context: its values, its relevance, how much depends on it."""
    first, settings = effects.analyses[0], effects.settings
    cuts = settings.get("cuts")
    figures: dict[str, Any] = {
        "rows": effects.rows,
        "cuts": None if cuts is None else list(cuts),
        "depends_if": effects.rule,
    }
    if effects.targets is None:
        figures |= {
            "relevance": first.relevance,
            "relevance_p_value": first.relevance_p_value,
            "unit": first.unit,
            "null": first.null if effects.tested else None,
        }
    by_value = {value: effects.count(value) for value in first.contexts}
    what = f"{effects.what}s"
    return {**figures, f"{what}_that_depend": effects.count(), f"{what}_by_value": by_value}


def _remarks(effects: ContextEffects) -> list[str]:
    """Return remarks on the values of a context."""
    lines = []
    first, name, settings = effects.analyses[0], effects.context_name, effects.settings
    if settings.get("cuts"):
        lines.append(
            f"the numeric context {name} was cut into {len(first.contexts)} quantile intervals; "
            "change this with context_bins=B or categorical=NAME"
        )
    few = [f"{value} ({count})" for value, count in effects.rows.items() if count < _FEW_ROWS]
    if few:
        lines.append(
            f"some contexts of {name} have few rows: {joined(few, shown=5)}; effects there are "
            "hard to detect"
        )
    return lines


# --- effects of a context at a level --------------------------------------------------------------

_NAME, _KIND = 16, len("complementary")  # characters that a narrow terminal leaves to words
_ADJUSTED = {"fdr": "q", "fwer": "Holm's p", "none": "p"}


@dataclass(frozen=True, eq=False)
class ContextEffects:
    """Effects of one context on features, or on links of a network, at a level of significance."""

    # One, or one for each target of a network; p-values are adjusted over all together.
    analyses: tuple[ContextImportances, ...]
    alpha: float
    control: Control  # error rate that `alpha` bounds
    targets: tuple[str, ...] | None  # names of the targets of a network
    limits: tuple[str, ...]  # notes of the results on their p-values
    # Columns of result.csv: a row for each feature and context, the most dependent features first,
    # or for each link and context, the surest first.
    columns: Mapping[str, NDArray[Any]]
    adjusted: FloatArray | None  # p-values of the absolute effects, adjusted; of the rows

    @classmethod
    def of(
        cls, result: ContextImportances | ContextNetwork, alpha: float, control: Control
    ) -> ContextEffects:
        """Return the effects of a result at a level."""
        if isinstance(result, ContextNetwork):
            analyses, targets = tuple(result.analyses.values()), tuple(result.analyses)
        else:
            analyses, targets = (result,), None
        parts = [
            {**analysis.columns(), "kind": analysis.verdicts(alpha, "none").ravel()}
            for analysis in analyses
        ]
        stacked = {
            name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in parts[0]
        }
        names = {"name": stacked.pop("name")}
        if targets is not None:
            sizes = [analysis.absolute.size for analysis in analyses]
            names = {"source": names["name"], "target": np.repeat(targets, sizes)}
        context_name = np.repeat(result.context_name, len(stacked["kind"]))
        columns = {"context_name": context_name, **names, **stacked}
        for effect in EFFECTS:
            if f"{effect}_q_value" in columns:
                columns[f"{effect}_q_value"] = adjusted(columns[f"{effect}_p_value"], "fdr")
        levels = None
        if "absolute_p_value" in columns:
            levels = adjusted(columns["absolute_p_value"], control)
            columns["kind"][levels > alpha] = INDEPENDENT
            if control == "fwer":
                columns["absolute_holm_p_value"] = levels
        if targets is not None:
            order = np.lexsort((-columns["absolute"], columns["absolute_p_value"]))
        else:
            first = len(analyses[0]) * np.arange(len(analyses[0].contexts))
            order = (analyses[0].order()[:, None] + first).ravel()
        columns = {name: values[order] for name, values in columns.items()}
        levels = None if levels is None else levels[order]
        return cls(analyses, alpha, control, targets, tuple(result.notes), columns, levels)

    @property
    def context_name(self) -> str:
        """Name of the context."""
        return self.analyses[0].context_name

    @property
    def settings(self) -> Mapping[str, Any]:
        """How a numeric context was divided."""
        settings: Mapping[str, Any] = self.analyses[0].metadata.get("context", {})
        return settings

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows in each context."""
        first = self.analyses[0]
        rows = (first.fractions * first.metadata["n_rows"]).round().astype(int).tolist()
        return dict(zip(first.contexts, rows, strict=True))

    @property
    def what(self) -> str:
        """Noun for what depends on the context."""
        return "feature" if self.targets is None else "link"

    @property
    def tested(self) -> bool:
        """True if there are p-values."""
        return self.adjusted is not None

    @property
    def level(self) -> str:
        """Level of significance, in a few words."""
        return f"{_ADJUSTED[self.control]} <= {self.alpha:g}"

    @property
    def rule(self) -> str:
        """Criterion of dependence on the context, in a few words."""
        if self.tested:
            return self.level
        return f"more than {self.analyses[0].tolerance:.0%} of the largest importance"

    @property
    def conclusion(self) -> str:
        """Number of features, or links, that depend on the context, in a sentence."""
        n = self.count()
        some = f"{counted(n, self.what)} depend{'s' if n == 1 else ''}"
        return f"{some if n else f'No {self.what} depends'} on {self.context_name} ({self.rule})."

    @cached_property
    def dependent(self) -> IntArray:
        """Rows of `columns` that depend on the context."""
        return np.flatnonzero(self.columns["kind"] != INDEPENDENT)

    def count(self, value: str | None = None) -> int:
        """Return how many features, or links, depend on the context, or on one value of it."""
        names = [
            self.columns[name] for name in ("name", "source", "target") if name in self.columns
        ]
        rows = self.dependent
        if value is not None:
            rows = rows[self.columns["context"][rows] == value]
        return len(set(zip(*(column[rows].tolist() for column in names), strict=True)))

    def table(self, rows: Any, *, within: bool = True, named: bool = False) -> list[Column]:
        """Return the columns of a table of some rows of `columns`.

        With `within` it has the importance in the context, where that is known; with `named`,
        contexts are shown with their name.
        """
        columns = {name: values[rows] for name, values in self.columns.items()}
        if self.targets is None:
            table = [Column("feature", columns["name"].tolist(), "name", least=_NAME)]
        else:
            table = [
                Column("source", columns["source"].tolist(), "name", least=_NAME),
                Column("target", columns["target"].tolist(), "words", least=_NAME),
            ]
        name, values = self.context_name, columns["context"].tolist()
        labels = [f"{name} = {value}" for value in values] if named else values
        table.append(Column("context" if named else name, labels, "words", least=_NAME))
        # Those of the largest number are left out first where a terminal is narrow.
        shown = {"importance": 3, "within": 0, "absolute": 0, "signed": 1}
        for title, minor in shown.items():
            if title != "within" or (within and title in columns):
                table.append(Column(title, fixed(columns[title], 4), minor=minor))
        if self.adjusted is not None:
            minor = 0 if self.control == "none" else 2
            table.append(Column("p", small(columns["absolute_p_value"]), minor=minor))
            if self.control != "none":
                table.append(Column(_ADJUSTED[self.control], small(self.adjusted[rows])))
        return [*table, Column("kind", columns["kind"].tolist(), "words", least=_KIND)]


# --- sections of the report ----------------------------------------------------------------------


_ROWS, _CHARTS = 200, 8
_CAVEATS = (
    "The signed effect is biased in small contexts, where the decrease of impurity is larger on "
    "average. Interpret its sign only where the absolute effect is significant.",
    'Power is low in contexts with few rows: "independent" means that no dependence was found, '
    "which is no evidence of independence.",
    "Dependence on a context is no evidence of a causal effect of the context.",
)
_MODELED = (
    "The probabilities of the permutations come from a logistic regression of the context on the "
    "target, and on features and pairs of features that are associated with it given the target. A "
    "dependence that involves three features or more can lead to false findings."
)
_ORDERED = (
    "The trees cut numeric columns in two at random points. The p-values are valid, but the "
    "effects have no closed form, and a dependence that no interval shows is missed."
)


def report_of(
    every: Sequence[ContextEffects],
    run: Run,
    notes: Sequence[str] = (),
    network: ContextNetwork | None = None,
    n_rows: int = _ROWS,
) -> ContextReport:
    """Return the report of features, or links, with at most `n_rows` rows in a table."""
    first, names = every[0], " and ".join(effects.context_name for effects in every)
    counts = {"trees": "n_estimators", "permutations": "n_permutations"}
    model = {name: f"{run.settings[key]:,}" for name, key in counts.items() if key in run.settings}
    facts = {**sizes(run), **model}
    words = [f"{count} {name}" for name, count in model.items()]
    sections: list[Section] = []
    if network is None:
        title = f"Importances of the features for {run.target or 'the target'}, by "
        title += " and by ".join(effects.context_name for effects in every)
        line = subject(run, *words)
        for effects in every:
            name, p = effects.context_name, effects.analyses[0].relevance_p_value
            if p is not None:
                facts[f"p of {name} itself"] = f"{p:.2g}"
            facts[f"depend on {name}"] = f"{effects.count():,}"
            rows = np.arange(len(effects.columns["kind"]))
            table = tuple(effects.table(rows[:n_rows]))
            note = _note(len(rows), n_rows, "rows")
            sections += [
                _relevance_section(effects),
                *effect_charts(effects, _CHARTS),
                Table(f"All features by {name}", table, note),
            ]
    else:
        title = f"Links that depend on {names}"
        shape = f"{facts['rows']} rows x {facts['features']} variables"
        line = (", ".join([f"{printable(run.file or '')}: {shape}", *words]),)
        facts["targets"] = f"{len(network.analyses):,}"
        facts |= {
            f"depend on {names} = {value}": f"{first.count(value):,}"
            for value in network.contexts[:4]
        }
        sections += _link_charts(network, first)
    sections += _dependent_table(every, n_rows)
    if network is not None:
        sections.append(_targets_table(first))
    caveats = [text for effects in every for text in effects.limits]
    if first.analyses[0].metadata.get("forest", {}).get("splits") == "ordered":
        caveats.append(_ORDERED)
    if first.tested and first.analyses[0].permute == "conditional":
        caveats.append(_MODELED)
    if notes:
        sections.append(Prose("Data preparation", tuple(notes), points=True))
    return page(
        ContextReport,
        run,
        facts=facts,
        sections=sections,
        reading=_reading(every),
        cautions=(*caveats, *_CAVEATS),
        kind=f"{'dependence' if network is None else 'links that depend'} on a context",
        title=title,
        conclusion=" ".join(effects.conclusion for effects in every),
        subject=line,
        table=stacked_columns(every),
        effects=() if network is not None else tuple(each.analyses[0] for each in every),
        network=network,
    )


def stacked_columns(effects: Sequence[ContextEffects]) -> dict[str, Any]:
    """Return the columns of a file about several contexts, one under the other."""
    stacked = {
        name: np.concatenate([each.columns[name] for each in effects])
        for name in effects[0].columns
    }
    return {
        name: values.tolist() if values.dtype.kind == "U" else values
        for name, values in stacked.items()
    }


def _relevance_section(effects: ContextEffects) -> Prose:
    """Return how relevant a context is itself, its values, and what depends on it."""
    (result,), name = effects.analyses, effects.context_name
    p, unit = result.relevance_p_value, unit_words(result.unit)
    own = f"{name} itself has an importance of {result.relevance:.4g} {unit}"
    if p is None:
        relevance = [f"{own}. No permutations were made, so its significance is not known."]
    else:
        than, meaning = (
            "more than",
            "The importances of features may depend on it, but need not: the context may be "
            "associated with the target by itself.",
        )
        if p >= 1 - effects.alpha and result.importances.max(initial=0) > 0:
            than, meaning = (
                "less than",
                "A p-value near 1 is evidence against the null hypothesis as one near 0 is: rows "
                "may not be exchangeable, for instance where samples were matched for the context. "
                "Permute within the strata that were matched.",
            )
        elif p > effects.alpha:
            than, meaning = (
                "as",
                "Features may depend on it all the same: an irrelevant context changes the "
                "importance of a feature whose distribution it shifts.",
            )
        relevance = [f"{own} (p = {p:.2g}): {than} expected under the null hypothesis.", meaning]
    parts = ", ".join(f"{value} ({rows:,} rows)" for value, rows in effects.rows.items())
    cuts = effects.settings.get("cuts")
    values = f"Its values are {parts}."
    if cuts:
        values += f" It is a number, cut at {plain(cuts)}."
    lines = (*relevance, values, effects.conclusion)
    return Prose(f"The context {name} itself", lines, brief=tuple(relevance))


def effect_charts(effects: ContextEffects, most: int) -> list[Chart]:
    """Return a figure of the effects of each context, `most` of them."""
    (result,), name = effects.analyses, effects.context_name
    k, columns = min(DRAWN, len(result)), effects.columns
    charts = []
    for value in result.contexts[:most] if k else ():
        options = {"context": value, "k": k, "alpha": effects.alpha, "control": effects.control}
        rows = effects.dependent[columns["context"][effects.dependent] == value]
        depend = [f"{columns['name'][i]} {columns['signed'][i]:.3g}" for i in rows[:5]]
        charts.append(
            Chart(
                title=f"{name} = {value}",
                plot=Plot(EFFECTS_IN_CONTEXT, result, options),
                text=f"Bars, dots and ticks: the signed and the absolute effect of {name} = "
                f"{value} and the importance of {k} features. Those that depend on it, with the "
                f"signed effect: {', '.join(depend) or 'none'}.",
                caption=f"The {k} features that depend most on {name}, in "
                f"{unit_words(result.unit)}. Bar: signed effect, blue to the right if the feature "
                "is less informative in the context, orange to the left if it is more informative. "
                f"Dot: absolute effect, filled if the feature depends on the context "
                f"({effects.rule}). Tick: importance on all rows.",
            )
        )
    return charts


def _dependent_table(every: Sequence[ContextEffects], n_rows: int) -> list[Section]:
    """Return the table of what depends on the contexts, one context after the other."""
    total, left, parts = sum(len(effects.dependent) for effects in every), max(n_rows, HELD), []
    of_links = every[0].targets is not None
    if not total and not of_links:
        return []
    for effects in every:
        rows = effects.dependent[:left]
        left -= len(rows)
        parts.append(effects.table(rows, within=False, named=len(every) > 1))
    columns = tuple(
        replace(same[0], cells=[cell for part in same for cell in part.cells])
        for same in zip(*parts, strict=True)
    )
    names = " and ".join(effects.context_name for effects in every)
    title = "Links that depend on the context" if of_links else f"Features that depend on {names}"
    note = _note(total, n_rows, "rows")
    return [Table(title, columns, note, shown=n_rows, total=total, what="rows", main=True)]


def _note(total: int, most: int, what: str) -> str:
    if total > most:
        return f"The first {most:,} of {total:,} {what}; result.csv and result.parquet hold all."
    return f"All {total:,} {what}; result.csv and result.parquet hold more columns."


def _link_charts(network: ContextNetwork, effects: ContextEffects) -> list[Chart]:
    alpha, control, name = effects.alpha, effects.control, network.context_name
    whats = ["absolute"] + ["plain"] * (effects.analyses[0].plain_p_values is not None)
    shown = network.contexts[:_CHARTS]
    limit = link_limit(network, whats, shown, alpha, control)
    options = {"limit": limit, "alpha": alpha, "control": control, "scale": True}
    charts = []
    for what, value in product(whats, shown):
        n = int(network.mask(what, value, alpha, control).sum())
        links = f"links whose {what} effect of {name} = {value} is significant"
        charts.append(
            Chart(
                title=f"Links in {name} = {value}{'' if what == 'absolute' else ', plain effects'}",
                plot=Plot(LINKS_IN_CONTEXT, network, {"context": value, "effect": what, **options}),
                text=f"Matrix of the {n} {links} (the table and result.csv hold the numbers).",
                caption=f"{n:,} {links} ({effects.level}): from the source of a column to the "
                f"target of a row. Color: the {'signed' if what == 'absolute' else what} effect, "
                "blue if the source is less informative about the target in this context, orange "
                "if it is more informative; stronger colors mean larger effects. Empty: not "
                "significant. Gray: a variable with itself.",
            )
        )
    return charts


def _targets_table(effects: ContextEffects) -> Table:
    relevance = np.array([result.relevance for result in effects.analyses])
    order = np.argsort(-relevance, kind="stable")
    links = {
        (effects.columns["source"][i], effects.columns["target"][i]) for i in effects.dependent
    }
    counts = Counter(target for _, target in links)
    targets = [(effects.targets or ())[a] for a in order]
    p_values = [effects.analyses[a].relevance_p_value for a in order]
    return Table(
        title=f"Importance of {effects.context_name} itself for each target",
        columns=(
            Column("target", targets, "name"),
            Column("importance", fixed(relevance[order], 4)),
            Column("p", ["" if p is None else f"{p:.2g}" for p in p_values]),
            Column("links that depend on it", [str(counts[target]) for target in targets]),
        ),
        note="Links to a target can depend on the context although the context itself is "
        "irrelevant to it. These p-values are not adjusted for their number.",
    )


def _reading(every: Sequence[ContextEffects]) -> tuple[str, ...]:
    effects, result = every[0], every[0].analyses[0]
    tolerance, unit = result.tolerance, unit_words(result.unit)
    empty = "is left out" if result.empty == "skip" else "counts as one without information"
    several = " Every variable in turn is the target of the others." if effects.targets else ""
    lines = [
        f"Trees are grown on all rows, without the context.{several} The importance of a feature "
        f"is the mean decrease of impurity at the nodes that split on it, in {unit}. At each node "
        "it is compared with that over the rows of one context: the absolute effect is the sum of "
        "the absolute differences, the signed effect that of the differences, all rows minus "
        f"context. A node without rows of the context {empty}.",
        "Complementary: the feature is always more informative in that context. Redundant: it is "
        "always less informative. Irrelevant: it has no information there. Mixed: it is more "
        "informative at some nodes and less informative at others; the word after it names the "
        'stronger direction. "Always" means that the signed effect has at least '
        f"{1 - tolerance:.0%} of the size of the absolute one. Independent: not found to depend on "
        f"the context, at {effects.rule}, or an effect of at most {tolerance:.0%} of the largest "
        "importance.",
    ]
    if result.within is not None:
        lines.append(
            '"Within" is the importance in a forest that is grown only on the rows of the '
            "context. Importance minus within is the plain effect, which misses differences that "
            "average out."
        )
    if not effects.tested:
        return (*lines, "There are no p-values, because no permutations were made.")
    alpha, n = effects.alpha, len(effects.columns["kind"])
    of = f"{n:,} {effects.what}s and values{' of one context' if len(every) > 1 else ''}"
    promise = {
        "fdr": f"q is p adjusted for all {of} (Benjamini and Hochberg): of the effects with q "
        f"up to {alpha:g}, at most {alpha:.0%} are expected to be false.",
        "fwer": f"p is adjusted for all {of} (Holm): the chance of any false one among those up "
        f"to {alpha:g} is at most {alpha:.0%}.",
        "none": f"p is not adjusted: of {of} that do not depend on the context, {alpha * n:.0f} "
        f"are expected to have p up to {alpha:g}.",
    }[effects.control]
    rows = {
        "all": "among the rows",
        "within_target": "among the rows of the same class",
        "conditional": "among the rows of the same class, with probabilities that allow for other "
        "features that depend on the context,",
    }[result.permute]
    testing = (
        f"p is that of this null hypothesis: {result.null} The values of the context were permuted "
        f"{rows} {result.n_permutations:,} times, on the same trees; p is the proportion of "
        "permutations with an effect as large, its own included. The p-value of the context itself "
        f"is from permutations among all rows. {promise}"
    )
    return (*lines, testing)
