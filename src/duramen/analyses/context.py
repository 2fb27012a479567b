"""Analysis `context`: features whose importance depends on a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.analyses.execution import Execution, faults_of_ours
from duramen.contexts import context_importances
from duramen.contexts.inputs import contexts_of
from duramen.data import EncodedTable, Exchangeability, LearningSet
from duramen.data.provenance import records
from duramen.data.strata import covariate_strata
from duramen.data.target import target_class
from duramen.estimators.catalogue import FORESTS
from duramen.findings.table import left_out
from duramen.forests.settings import CRITERIA
from duramen.plots.context import CONTEXT_EFFECTS
from duramen.reading.tables import read
from duramen.reports.report import (
    DRAWN,
    HELD,
    Report,
    Run,
    Section,
    Table,
    page,
    plain,
    unit_words,
)
from duramen.results.adjustment import adjusted
from duramen.results.context_importances import (
    INDEPENDENT,
    IRRELEVANT,
    MIXED,
    ContextImportances,
    Control,
    check_level,
)
from duramen.results.summary import Column, counted, small
from duramen.support import checks
from duramen.support.arrays import TableLike
from duramen.support.provenance import cited, references
from duramen.support.text import fixed, joined, printable, quoted

_OF_TREES = ("n_estimators", "criterion", "max_features", "max_depth", "splits")
_OF_EFFECTS = ("permute", "empty", "n_bins", "plain", "context_bins")
# Findings about a context; others, such as leaks, are about features.
_OF_VALUES = ("stray values", "missing code", "numbers in text", "several units")
_FEW_ROWS = 15  # A context of fewer rows is pointed out.
_ROWS, _CHARTS = 200, 8
_NAMED = 3  # features in the conclusion
_NAME, _KIND = 16, len("complementary")  # characters that a narrow terminal leaves to words
_P_VALUES = {  # column of the p-values by which features are found
    "fdr": "absolute_q_value",
    "fwer": "absolute_holm_p_value",
    "none": "absolute_p_value",
}
_ADJUSTED = {"fdr": "q", "fwer": "Holm's p", "none": "p"}
_CAVEATS = (
    "The change is biased in small contexts, where the decrease of impurity is larger on "
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContextReport(Report):
    """Report of `duramen.context`: features that depend on a context.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    effects : ContextImportances
        Effects of the context on the features.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> context = np.arange(80) % 2
    >>> y = np.where(context, X[:, 0], X[:, 1])
    >>> report = dm.context(X, y, context, n_estimators=50, n_permutations=199)
    >>> report.effects.contexts
    ('0', '1')
    """

    effects: ContextImportances


@checks.hints_on_keywords(read)
def context(
    data: TableLike,
    y: ArrayLike | None = None,
    context: str | ArrayLike | Mapping[str, Any] | None = None,
    *,
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
    or hospital, and tests the differences by permutations of the context.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    context : str, array-like of shape (n,), or mapping or data frame of one column
        Column of the contexts, such as sex or hospital. It is not used as a feature.
        In Python also its values.
    estimator : estimator of duramen, optional
        Totally randomized trees, Extra-Trees or a random forest in place of `n_estimators`,
        `criterion`, `max_features`, `max_depth` and `splits`.
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
    alpha : float
        Level of the verdicts, in [0, 1].
    control : {"fdr", "fwer", "none"}
        Error rate that alpha bounds: false discovery rate (fdr), family-wise error rate (fwer), or
        the type I error of each p-value alone (none).
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int
        Number of threads, or -1 for all. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that saves the work done; the same call resumes a stopped run from it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ContextReport
        Table, conclusion and notes; ``effects``.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or a context is missing in a row or has a single value.

    Notes
    -----
    The effects, their p-values and their null hypotheses are those of
    :func:`duramen.contexts.context_importances`; :func:`duramen.contexts.context_network` finds
    links between columns that depend on a context. Covariates of the learning set are strata within
    which the context is permuted.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> context = np.arange(80) % 2
    >>> y = np.where(context, X[:, 0], X[:, 1])
    >>> report = dm.context(X, y, context, n_estimators=50, n_permutations=199)
    >>> report.conclusion[:47]
    'The importance of 2 of 3 features depends on Xc'
    """
    arguments = dict(locals())
    execution = Execution.of(globals()["context"], arguments)
    check_level("context", alpha, control)
    defaults = signature(globals()["context"]).parameters
    for parameter in _OF_TREES if estimator is not None else ():
        if arguments[parameter] != defaults[parameter].default:
            raise ValueError(
                f"context: {parameter} has no effect beside estimator; set it in the estimator"
            )
    with execution.step("read"), execution.warnings_as_notes():
        data = read(data, y, n_jobs=n_jobs).in_memory()
    provenance, notes = data.provenance, list(data.provenance.notes)
    name, values, data = _split_off(context, data)
    if not provenance.target:
        raise ValueError("context: target is missing: which column is the target?")
    if (covariates := provenance.covariates) is not None:
        if name in covariates.column_names:
            raise ValueError(f"context: covariates={quoted(name)} must not name a context")
        strata, groups = covariate_strata(covariates, values), data.exchangeability.groups
        rows = Exchangeability.checked(data.n_rows, strata, groups, function="context")
        data = data.with_exchangeability(rows)
        within, n_strata = "rows are permuted within", len(np.unique(strata))
        notes = [note for note in notes if not note.startswith(within)]
        notes.append(f"{within} {n_strata:,} strata of {', '.join(covariates.column_names)}")
    findings = [
        finding
        for finding in provenance.findings
        if finding.kind in _OF_VALUES or name not in finding.columns
    ]
    execution.tell(*notes, *map(str, findings))

    if estimator is None:
        stem = "totally-randomized-trees" if max_features == 1 else "extra-trees"
        trees = {key: arguments[key] for key in _OF_TREES if arguments[key] is not None}
        trees["criterion"] = criterion_for("context", criterion, data.task)
        kind = next(kind for kind in FORESTS if kind.name == stem).estimator(data.task)
        estimator = kind(**trees)
    with execution.work("analyze"):
        result = context_importances(
            data,
            None,
            {name: values},
            estimator=estimator,
            n_permutations=n_permutations,
            **{key: arguments[key] for key in _OF_EFFECTS},
            **execution.resources,
        )

    with faults_of_ours():
        columns, sizes = effect_columns(result, alpha, control), _sizes(result)
        cuts = result.metadata.get("context", {}).get("cuts")
        if cuts:
            notes.append(
                f"the numeric context {name} was cut into {len(result.contexts)} quantile "
                "intervals; change this with context_bins=B or categorical=NAME"
            )
        few = [f"{value} ({count})" for value, count in sizes.items() if count < _FEW_ROWS]
        if few:
            notes.append(
                f"some contexts of {name} have few rows: {joined(few, shown=5)}; effects there "
                "are hard to detect"
            )
        execution.tell(*notes, *result.notes)
        dependent = columns["kind"] != INDEPENDENT
        by_value = {
            value: int(np.sum(dependent & (columns["context"] == value)))
            for value in result.contexts
        }
        tested = result.absolute_p_values is not None
        run = execution.record(
            {**data.facts(), "findings": records(findings)},
            settings={
                "context": name,
                **{key: getattr(estimator, key) for key in _OF_TREES},
                **result.metadata["forest"],
                **{key: arguments[key] for key in (*_OF_EFFECTS, "alpha", "control")},
                "n_permutations": result.n_permutations,
                **provenance.settings,
                "incomplete_rows_dropped": provenance.dropped_rows,
            },
            results={
                name: {
                    "rows": sizes,
                    "cuts": None if cuts is None else list(cuts),
                    "depends_if": rule_of(result, alpha, control),
                    "features_that_depend": len(set(columns["name"][dependent].tolist())),
                    "features_by_value": by_value,
                    "relevance": result.relevance,
                    "relevance_p_value": result.relevance_p_value,
                    "unit": result.unit,
                    "null": result.null if tested else None,
                }
            },
        )
        report = report_of(result, columns, run, alpha, control, notes)
        return replace(report, notes=tuple(execution.remarks))


def _split_off(
    asked: Any, data: LearningSet[EncodedTable]
) -> tuple[str, Any, LearningSet[EncodedTable]]:
    """Return the name of a context and its values, and the data without its column."""
    if asked is None or (isinstance(asked, str | list | tuple | dict) and not asked):
        raise ValueError("context: context is missing: which column has the contexts?")
    contexts = contexts_of(asked)
    if len(contexts) != 1:
        raise ValueError(
            f"context: context must be a single column, got {len(contexts)}; analyze each by itself"
        )
    (name,) = contexts
    if isinstance(contexts, dict):
        return name, contexts[name], data
    provenance, shown = data.provenance, quoted(name)
    roles = {"target": provenance.target} | {
        role: provenance.settings.get(role) for role in ("strata", "groups", "drop")
    }
    for role, names in roles.items():
        if name not in data.names and name in ([names] if isinstance(names, str) else names or ()):
            raise ValueError(
                f"context: context {shown} is also {role}={shown}; leave out one of them"
            )
    if name in left_out(provenance.findings):
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
    if kinds.get(name) == "nominal" or name in provenance.settings.get("categorical", ()):
        values = values.astype(str).astype(object)
    if not set(data.names) - {name}:
        raise ValueError("context: no column is left besides the target and the context")
    return name, values, data.without([name])


def criterion_for(function: str, asked: str, task: str) -> str:
    """Return the impurity criterion of a name, or the default criterion of a task."""
    if target_class(task).censored:
        raise ValueError(f"{function}: the target must be classes or numbers, got {task}")
    if asked == "auto":
        return target_class(task).criterion
    suited = [criterion.name for criterion in CRITERIA.values() if criterion.task == task]
    if asked not in suited:
        raise ValueError(
            f"{function}: criterion must be {' or '.join(['auto', *suited])} for {task}, got "
            f"{asked}"
        )
    return asked


# --- effects at a level of significance -----------------------------------------------------------


def effect_columns(
    result: ContextImportances, alpha: float, control: Control
) -> dict[str, NDArray[Any]]:
    """Return the columns of result.csv: a row for each feature and context.

    The most dependent features come first.
    """
    columns: dict[str, Any] = {"context_name": [result.context_name] * result.absolute.size}
    columns |= result.columns()
    columns["kind"] = result.verdicts(alpha, control).ravel()
    if control == "fwer" and result.absolute_p_values is not None:
        columns["absolute_holm_p_value"] = adjusted(result.absolute_p_values, control).ravel()
    places = len(result) * np.arange(len(result.contexts))
    order = (result.order()[:, None] + places).ravel()
    return {name: np.asarray(values)[order] for name, values in columns.items()}


def _sizes(result: ContextImportances) -> dict[str, int]:
    """Return the number of rows in each context."""
    rows = (result.fractions * result.metadata["n_rows"]).round().astype(int).tolist()
    return dict(zip(result.contexts, rows, strict=True))


def rule_of(result: ContextImportances, alpha: float, control: Control) -> str:
    """Return the criterion of dependence on the context in a few words."""
    if result.absolute_p_values is not None:
        return f"{_ADJUSTED[control]} <= {alpha:g}"
    return f"more than {result.tolerance:.0%} of the largest importance"


# --- the words ------------------------------------------------------------------------------------


def conclusion(
    result: ContextImportances,
    columns: Mapping[str, NDArray[Any]],
    alpha: float,
    control: Control,
) -> str:
    """Say which features matter more or less in a context, and how sure that is.

    `columns` are those of `effect_columns`, the most dependent features first.
    """
    name, p = printable(result.context_name), len(result)
    tested = result.absolute_p_values is not None
    dependent = np.flatnonzero(columns["kind"] != INDEPENDENT).tolist()
    n = len({columns["name"][i] for i in dependent})
    if n == 0:
        none = f"none of {counted(p, 'feature')}" if p > 1 else "the only feature"
        negation = "" if p > 1 else " not"
        return (
            f"The importance of {none} was{negation} found to depend on {name}. That is no "
            "evidence of equal importances: differences are hard to detect in few rows."
        )
    depends = "differs in these rows by"
    sure = "No significance test was run: these differences may be due to chance."
    if tested:
        depends = "depends on"
        sure = {
            "fdr": f"Of findings like these, about {alpha:.0%} may be false alarms.",
            "fwer": f"The chance that any finding is a false alarm is at most {alpha:.0%}.",
            "none": f"Each feature was tested by itself: of those whose importance does not "
            f"depend on {name}, about {alpha:.0%} are found as well.",
        }[control]
    largest = dict[str, int]()  # of each feature, the row of the context where it differs most
    for i in dependent:
        j = largest.setdefault(columns["name"][i], i)
        if columns["absolute"][i] > columns["absolute"][j]:
            largest[columns["name"][i]] = i
    findings = list[str]()
    for feature, i in list(largest.items())[:_NAMED]:
        where = f"where {name} is {printable(str(columns['context'][i]))}"
        kind = columns["kind"][i]
        if kind == IRRELEVANT:
            words = f"does not matter {where}"
        elif kind == MIXED:
            words = f"matters in another way {where} than overall"
        else:
            side = "more" if columns["signed"][i] < 0 else "less"
            words = f"matters {side} {where} than overall"
        if tested:
            (value,) = small(columns[_P_VALUES[control]][[i]])
            words += f" ({_ADJUSTED[control]} = {value})"
        findings.append(f"{printable(feature)} {words}")
    of_all = f"{n:,} of {counted(p, 'feature')}" if n < p else f"all {p:,} features"
    more = f"; {n - _NAMED:,} more in the table" if n > _NAMED else ""
    return (
        f"The importance of {of_all if p > 1 else 'the only feature'} {depends} {name}: "
        f"{'; '.join(findings)}{more}. {sure}"
    )


def _methods(result: ContextImportances, run: Run, control: Control) -> str:
    """Return the methods in the terms of the field, with their sources."""
    name, n_trees = printable(result.context_name), run.settings.get("n_estimators", 0)
    random = run.settings.get("max_features", 1) == 1
    kind = "totally randomized tree" if random else "extremely randomized tree"
    compared = cited(
        f"Importances of features (mean decrease of impurity, {result.unit}) in "
        f"{counted(n_trees, kind)} were compared with those in each context of {name}",
        "A. Sutera et al. (2016)",
    )
    if result.absolute_p_values is None:
        return f"{compared}, without a test."
    within = {
        "all": "permutations of the context",
        "within_target": "permutations of the context within the classes of the target",
        "conditional": cited(
            "permutations of the context, conditional on the target and on associated features",
            "T. B. Berrett et al. (2020)",
        ),
    }[result.permute]
    adjustment = {
        "fdr": "adjusted after Benjamini and Hochberg",
        "fwer": "adjusted after Holm",
        "none": "not adjusted",
    }[control]
    return (
        f"{compared}; the differences were tested by {result.n_permutations:,} {within}, with "
        f"p-values {adjustment}."
    )


# --- the report -----------------------------------------------------------------------------------


def report_of(
    result: ContextImportances,
    columns: Mapping[str, NDArray[Any]],
    run: Run,
    alpha: float,
    control: Control,
    notes: Sequence[str] = (),
) -> ContextReport:
    """Return the report of the features that depend on a context; `columns` are its table."""
    name, total, rule = result.context_name, len(columns["kind"]), rule_of(result, alpha, control)
    unit, tolerance = unit_words(result.unit), result.tolerance
    tested, p = result.absolute_p_values is not None, result.relevance_p_value
    n = len(set(columns["name"][columns["kind"] != INDEPENDENT].tolist()))
    sizes = [f"{value} {rows:,}" for value, rows in _sizes(result).items()]
    facts = {f"rows by {name}": joined(sizes, shown=3)} | {
        word: f"{run.settings[key]:,}"
        for word, key in (("trees", "n_estimators"), ("permutations", "n_permutations"))
        if key in run.settings
    }
    model = [f"{facts[word]} {word}" for word in ("trees", "permutations") if word in facts]
    if p is not None:
        facts[f"p of {name} itself"] = f"{p:.2g}"
    facts[f"depend on {name}"] = f"{n:,}"

    # --- the context itself, the charts and the table ---
    lines = [f"{name} itself has an importance of {result.relevance:.4g} {unit}"]
    if p is None:
        lines[0] += ". No permutations were made, so its significance is not known."
    else:
        than = "as" if p > alpha else "more than"
        lines[0] += f" (p = {p:.2g}): {than} expected under the null hypothesis."
    brief = tuple(lines)
    values = ", ".join(f"{value} ({rows:,} rows)" for value, rows in _sizes(result).items())
    cuts = result.metadata.get("context", {}).get("cuts")
    divided = f" It is a number, cut at {plain(cuts)}." if cuts else ""
    lines.append(f"Its values are {values}.{divided}")
    sections: list[Section | Table] = [
        Section(f"The context {name} itself", tuple(lines), brief=brief)
    ]
    k = min(DRAWN, len(result))
    for value in result.contexts[:_CHARTS] if k else ():
        options = {"context": value, "k": k, "alpha": alpha, "control": control}
        chart = Section(
            f"{name} = {value}",
            caption=f"The {k} features that depend most on {name}, in {unit}. Bar: change of the "
            "importance, orange to the right if the feature matters more in the context, blue to "
            "the left if it matters less. Dot: absolute effect, filled if the feature depends on "
            f"the context ({rule}). Tick: importance on all rows.",
            figure=(CONTEXT_EFFECTS, result, options),
            text=f"Bars, dots and ticks: the change of the importance where {name} = {value}, the "
            f"absolute effect, and the importance on all rows, of {k} features.",
        )
        sections.append(chart)
    shown = {key: numbers[:HELD] for key, numbers in columns.items()}
    table = [
        Column("feature", shown["name"].tolist(), "name", least=_NAME),
        Column(name, shown["context"].tolist(), "words", least=_NAME),
    ]
    # Where a terminal is narrow, those of the largest number are left out first.
    for key, minor in {"importance": 3, "within": 4, "absolute": 0}.items():
        if key in shown:
            table.append(Column(key, fixed(shown[key], 4), minor=minor))
    table.append(Column("change", fixed(-shown["signed"], 4), minor=1))
    if "absolute_p_value" in shown:
        table.append(Column("p", small(shown["absolute_p_value"]), minor=2 * (control != "none")))
        if control != "none":
            table.append(Column(_ADJUSTED[control], small(shown[_P_VALUES[control]])))
    table.append(Column("kind", shown["kind"].tolist(), "words", least=_KIND))
    first = f"The first {_ROWS} of {total:,}" if total > _ROWS else f"All {total:,}"
    sections.append(
        Table(
            f"Features by {name}",
            tuple(table),
            f"{first} rows; result.csv and result.parquet hold all, with more columns.",
            shown=_ROWS,
            total=total,
            what="rows",
            main=True,
        )
    )
    if notes:
        sections.append(Section("Data preparation", tuple(notes), points=True))

    # --- how to read it ---
    empty = "is left out" if result.empty == "skip" else "counts as one without information"
    reading = [
        "Trees are grown on all rows, without the context. The importance of a feature is the "
        f"mean decrease of impurity at the nodes that split on it, in {unit}. At each node it is "
        "compared with that over the rows of one context: the absolute effect is the sum of the "
        "absolute differences, the change the sum of the differences, context minus all rows "
        "(result.csv has it as signed, with the opposite sign). A node without rows of the context "
        f"{empty}.",
        "Complementary: the feature is always more informative in that context. Redundant: it is "
        "always less informative. Irrelevant: it has no information there. Mixed: it is more "
        "informative at some nodes and less informative at others; the word after it names the "
        'stronger direction. "Always" means that the change has at least '
        f"{1 - tolerance:.0%} of the size of the absolute one. Independent: not found to depend on "
        f"the context, at {rule}, or an effect of at most {tolerance:.0%} of the largest "
        "importance.",
    ]
    if p is not None:
        reading.append(
            "The importance of a feature can depend on an irrelevant context, which shifts the "
            "distribution of the feature, and need not depend on a relevant one."
        )
    if result.within is not None:
        reading.append(
            '"Within" is the importance in a forest that is grown only on the rows of the '
            "context. Importance minus within is the plain effect, which misses differences that "
            "average out."
        )
    if tested:
        of = f"{total:,} features and values"
        promise = {
            "fdr": f"q is p adjusted for all {of} (Benjamini and Hochberg): of the effects with q "
            f"up to {alpha:g}, at most {alpha:.0%} are expected to be false.",
            "fwer": f"p is adjusted for all {of} (Holm): the chance of any false one among those "
            f"up to {alpha:g} is at most {alpha:.0%}.",
            "none": f"p is not adjusted: of {of} that do not depend on the context, "
            f"{alpha * total:.0f} are expected to have p up to {alpha:g}.",
        }[control]
        among = {
            "all": "among the rows",
            "within_target": "among the rows of the same class",
            "conditional": "among the rows of the same class, with probabilities that allow for "
            "other features that depend on the context,",
        }[result.permute]
        reading.append(
            f"p is that of this null hypothesis: {result.null} The values of the context were "
            f"permuted {among} {result.n_permutations:,} times, on the same trees. The p-value of "
            f"the context itself is from permutations among all rows. {promise}"
        )
    else:
        reading.append("There are no p-values, because no permutations were made.")
    cautions = [*result.notes]
    if result.metadata.get("forest", {}).get("splits") == "ordered":
        cautions.append(_ORDERED)
    if tested and result.permute == "conditional":
        cautions.append(_MODELED)
    return page(
        ContextReport,
        run,
        facts=facts,
        sections=sections,
        methods=_methods(result, run, control),
        references=references(context_importances),
        reading=reading,
        cautions=(*cautions, *_CAVEATS),
        model=model,
        kind="dependence on a context",
        title=f"Importances of the features for {run.target or 'the target'}, by {name}",
        conclusion=conclusion(result, columns, alpha, control),
        table={
            key: values.tolist() if values.dtype.kind == "U" else values
            for key, values in columns.items()
        },
        effects=result,
    )
