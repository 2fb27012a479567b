"""Analysis `context`: features, or links between columns, that depend on a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.analyses.caller import Caller, calling, faults_of_ours
from duramen.analyses.execution import checkpoints
from duramen.contexts import KernelWeights, context_importances, context_network, propensity_strata
from duramen.contexts.values import (
    UNNAMED,
    are_names,
    checked_bandwidth,
    is_table,
    named_columns,
    read_context,
)
from duramen.data import EncodedTable, Exchangeability, LearningSet
from duramen.data.categories import variable_name
from duramen.data.covariates import covariate_strata
from duramen.estimators.catalogue import FORESTS
from duramen.findings.table import left_out
from duramen.forests.criteria import CRITERIA
from duramen.jobs.replicates import checkpoint_beside
from duramen.plots.context import EFFECTS_IN_CONTEXT, LINKS_IN_CONTEXT, link_limit
from duramen.reading.tables import read
from duramen.reports.facts import about, looked_at, plain, subject, thousands, unit_words
from duramen.reports.report import (
    DRAWN,
    HELD,
    Chart,
    Fact,
    Plot,
    Prose,
    Report,
    Run,
    Section,
    Table,
)
from duramen.results.columns import Column, small
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
from duramen.support.arrays import FloatArray
from duramen.support.provenance import references, versions
from duramen.support.text import fixed, joined, printable, quoted

_OF_TREES = ("n_estimators", "criterion", "max_features", "max_depth", "splits")
# Findings about a context; others, such as leaks, are about features.
_OF_VALUES = ("stray values", "missing code", "numbers in text", "several units")
# A context of fewer rows is pointed out.
_FEW_ROWS = 15
# Level of the note of a result on its number of permutations.
_NOTED_LEVEL = 0.05


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
    propensity_strata: int | None = None,
    empty: Literal["skip", "zero"] = "skip",
    n_bins: int | None = None,
    context_bins: int = 3,
    context_bandwidth: float | Literal["auto"] | None = None,
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
    propensity_strata : int, optional
        Number of strata of the propensity score, the probability of a context given the features,
        within which the context is permuted too; none by default.
    empty : {"skip", "zero"}
        Treatment of nodes without rows of a context: skip them, or count an importance of zero.
    n_bins : int, optional
        Number of quantile intervals for columns with more distinct numbers than this; none by
        default.
    context_bins : int
        Number of quantile intervals for a numeric context.
    context_bandwidth : float or "auto", optional
        Bandwidth of kernel weights of the rows at the middles of the intervals of a numeric
        context, in place of intervals: a fraction of the rows, or auto, 1 over the number of
        intervals. None by default.
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
    caller = _caller(arguments)
    execution = caller.execution(
        "context",
        random_state=random_state,
        n_jobs=n_jobs,
        client=client,
        checkpoint=checkpoint,
        verbose=verbose,
    )
    # --- check ---
    check_level("context", alpha, control)
    checks.check_real("context", "tolerance", tolerance, 0.0, 1.0, ends="[)")
    checks.check_optional_integer("context", "propensity_strata", propensity_strata, 2)
    _check_network(network, targets, criterion, n_permutations, propensity_strata)
    bins: int | KernelWeights = context_bins
    if context_bandwidth is not None:
        bandwidth = checked_bandwidth(context_bandwidth, "context", "context_bandwidth")
        bins = KernelWeights(context_bins, bandwidth)
    _check_trees(arguments)
    # --- read ---
    with execution.clock.step("read"), execution.warnings_as_notes():
        if not isinstance(data, LearningSet) or y is not None or not data.provenance.inspected:
            data = read(data, y, n_jobs=n_jobs)
        data = data.in_memory()
    has_target = bool(data.provenance.target)
    if not network and not has_target:
        raise ValueError("context: target is missing: which column is the target?")
    if network and has_target:
        raise ValueError(
            "context: network=True uses each column except the context as a target; leave out "
            "target=NAME, or name some targets with targets=NAME"
        )
    if network and data.weights is not None:
        raise ValueError("context: network=True does not support sample_weight; leave it out")
    contexts, data = _contexts(context, data)
    if network and len(contexts) > 1:
        raise ValueError(f"context: network=True needs a single context, got {len(contexts)}")
    for name, values in contexts.items():  # all of them before work on the first
        read_context(values, data.n_rows, bins, "context", name)
    rows = {
        name: _exchangeable(data, name, values, propensity_strata, context_bins)
        for name, values in contexts.items()
    }
    forest = estimator
    if forest is None:
        forest = _forest(arguments, data.task if has_target else "classification")
    provenance = data.provenance
    findings = [
        found
        for found in provenance.findings
        if found.kind in _OF_VALUES or not {*found.columns} & {*contexts}
    ]
    notes = _notes_of_reading(data, rows)
    execution.notes([*notes, *map(str, findings)])
    # --- compute ---
    settings: dict[str, Any] = {
        "estimator": forest,
        "n_permutations": n_permutations,
        "permute": permute,
        "empty": empty,
        "n_bins": n_bins,
        "context_bins": bins,
        "plain": plain,
        "random_state": execution.random_state,
        "n_jobs": n_jobs,
        "client": client,
        "verbose": verbose,
    }
    results: list[ContextImportances] = []
    links = None
    with (
        execution.clock.step("analyze"),
        execution.keeping(lambda: checkpoints(execution.checkpoint)),
        execution.warnings_as_notes(),
    ):
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
                own = data.with_exchangeability(rows[name])
                result = context_importances(own, None, {name: values}, checkpoint=file, **settings)
                results.append(replace(result, tolerance=tolerance))
    # --- conclude and report ---
    with faults_of_ours():
        every = results if links is None else [links]
        effects = [ContextEffects.of(result, alpha, control) for result in every]
        remarks = [line for each in effects for line in _remarks(each, data.n_rows)]
        execution.notes([*remarks, *(text for each in effects for text in each.limits)])
        first = effects[0].analyses[0]
        facts = data.facts() if has_target else _facts(data)
        trees = {**{name: getattr(forest, name) for name in _OF_TREES}, **first.metadata["forest"]}
        if network:  # whose targets have their own
            del trees["criterion"]
        run = Run(
            **{**facts, "findings": replace(provenance, findings=tuple(findings)).records()},
            command=caller.command,
            seed=execution.random_state,
            settings={
                "context": list(contexts),
                **trees,
                **{name: settings[name] for name in ("permute", "empty", "n_bins", "plain")},
                "context_bins": context_bins,
                "context_bandwidth": context_bandwidth,
                "tolerance": tolerance,
                "n_permutations": first.n_permutations,
                "propensity_strata": propensity_strata,
                "alpha": alpha,
                "control": control,
                **provenance.settings,
                "incomplete_rows_dropped": provenance.dropped_rows,
                **({"targets": list(links.analyses)} if links is not None else {}),
            },
            versions=versions("pyarrow", "matplotlib"),
            results={each.context_name: _figures(each, data.n_rows) for each in effects},
            timings=dict(execution.clock.seconds),
        )
        preparation = [*notes, *remarks]
        report = (
            report_of_features(effects, run, preparation)
            if links is None
            else report_of_links(links, effects[0], run, preparation)
        )
        return ContextReport.of(
            report,
            notes=tuple(execution.told),
            references=tuple(references(context_importances)),
            effects=tuple(results),
            network=links,
        )


def _caller(arguments: Mapping[str, Any]) -> Caller:
    """Return the caller; inside of the function its name is that of a parameter."""
    return calling(context, arguments)


def _check_trees(arguments: Mapping[str, Any]) -> None:
    """Check that nothing beside an estimator asks for other trees."""
    defaults = signature(context).parameters
    for name in _OF_TREES:
        if arguments["estimator"] is not None and arguments[name] != defaults[name].default:
            raise ValueError(
                f"context: {name} has no effect beside estimator; set it in the estimator"
            )


def _check_network(
    network: bool,
    targets: Sequence[str],
    criterion: str,
    n_permutations: int | None,
    propensity_strata: int | None,
) -> None:
    """Check that arguments go together with a network, or without."""
    if not network:
        if len(targets):
            raise ValueError(
                "context: targets needs network=True; a single target is target=NAME of the table"
            )
        return
    if n_permutations == 0:
        raise ValueError(
            "context: network=True needs n_permutations of 1 or more, for the p-values of links"
        )
    if criterion != "auto":
        raise ValueError(
            "context: criterion has no effect with network=True, which chooses that of each target "
            "by its values"
        )
    if propensity_strata is not None:
        raise ValueError("context: propensity_strata does not support network=True")


def _contexts(
    asked: Any, data: LearningSet[EncodedTable]
) -> tuple[dict[str, Any], LearningSet[EncodedTable]]:
    """Return the values of each context by its name, and the data without their columns."""
    if asked is None or (isinstance(asked, str | list | tuple | dict) and not asked):
        raise ValueError("context: context is missing: which column has the contexts?")
    names = [asked] if isinstance(asked, str) else asked
    if not are_names(names):
        given = named_columns(asked) if is_table(asked) else None
        return dict(given or [(variable_name(asked, UNNAMED, ()), asked)]), data
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"context: context {quoted(name)} is given twice")
    values = {name: _column(data, name) for name in names}
    if not set(data.names) - set(names):
        raise ValueError("context: no column is left besides the target and the context")
    data = data.without(names)
    if data.table.constant().all():
        raise ValueError(
            f"context: every column is constant: none can be relevant for {data.provenance.target}"
        )
    return values, data


def _column(data: LearningSet[EncodedTable], name: str) -> NDArray[Any]:
    """Return the values of a context that is a column: numbers, or categories as text."""
    provenance, given = data.provenance, data.provenance.settings
    if name not in data.names:
        if name == provenance.target:
            raise ValueError(f"context: context {quoted(name)} is the target")
        for role in ("strata", "groups"):
            if given.get(role) == name:
                raise ValueError(
                    f"context: context must not be the column of {role}={quoted(name)}; leave out "
                    f"{role}=NAME"
                )
        if name in given.get("drop", ()):
            raise ValueError(f"context: drop={quoted(name)} must not name a context")
        if name in left_out(provenance.findings):
            raise ValueError(
                f"context: context {quoted(name)} has a different value in each row, and was left "
                "out; keep_identifiers=True keeps it"
            )
    try:
        values = data.column(name)
    except ValueError as error:
        raise ValueError(f"context: context {quoted(name)}: {error}") from None
    missing = sum(value is None or value != value for value in values.tolist())
    if missing:
        raise ValueError(
            f"context: context {quoted(name)} is missing in {missing:,} of {len(values):,} rows; "
            "leave these rows out with missing='drop'"
        )
    kinds = dict(zip(data.names, data.table.kinds, strict=True))
    if kinds.get(name) == "nominal" or name in given.get("categorical", ()):
        return values.astype(str).astype(object)
    return values


def _exchangeable(
    data: LearningSet[EncodedTable], name: str, values: Any, n_strata: int | None, context_bins: int
) -> Exchangeability:
    """Return the strata and groups within which a context is permuted."""
    rows, covariates = data.exchangeability, data.provenance.covariates
    if covariates is not None and name in covariates.column_names:
        raise ValueError(f"context: covariates={quoted(name)} must not name a context")
    if n_strata is not None:
        if rows.strata is not None:
            given = "strata" if covariates is None else "covariates"
            raise ValueError(
                f"context: propensity_strata cannot be combined with {given}=NAME; leave out one"
            )
        strata = propensity_strata(data.table, values, n_strata=n_strata, context_bins=context_bins)
    elif covariates is not None:
        try:
            strata = covariate_strata(covariates, values)
        except ValueError as error:
            raise ValueError(f"context: covariates: {error}") from None
    else:
        return rows
    return Exchangeability.checked(data.n_rows, strata, rows.groups, function="context")


def _forest(arguments: Mapping[str, Any], task: str) -> Any:
    """Return the estimator of the trees: totally randomized ones, or Extra-Trees."""
    suited = [criterion.name for criterion in CRITERIA if criterion.task == task]
    asked = arguments["criterion"]
    criteria = {"classification": "entropy", "regression": "variance"}
    if task not in criteria:
        raise ValueError("context: the target must be classes or numbers, got survival")
    if asked not in ("auto", *suited):
        raise ValueError(
            f"context: criterion must be {' or '.join(['auto', *suited])} for {task}, got {asked}"
        )
    names = ("n_estimators", "max_features", "max_depth", "splits")
    stem = "totally-randomized-trees" if arguments["max_features"] == 1 else "extra-trees"
    kind = next(kind for kind in FORESTS if kind.name == stem).estimator(task)
    parameters = {name: arguments[name] for name in names if arguments[name] is not None}
    return kind(**parameters, criterion=criteria[task] if asked == "auto" else asked)


def _notes_of_reading(
    data: LearningSet[EncodedTable], rows: Mapping[str, Exchangeability]
) -> list[str]:
    """Return remarks on how the table was read; strata of covariates are those of the contexts."""
    provenance = data.provenance
    if provenance.covariates is None:
        return list(provenance.notes)
    start = "rows are permuted within"
    notes = [note for note in provenance.notes if not note.startswith(start)]
    covariates = ", ".join(provenance.covariates.column_names)
    for name, each in rows.items():
        count = len(np.unique(np.asarray(each.strata)))
        notes.append(f"{start} {count:,} strata of {covariates}, for the context {name}")
    return notes


def _facts(data: LearningSet[EncodedTable]) -> dict[str, Any]:
    """Return what the record of a run says of data without a target."""
    return {
        "file": data.provenance.file,
        "n_rows": data.n_rows,
        "n_features": data.n_columns,
        "fingerprint": data.table.fingerprint(),
        "citation": data.provenance.citation,
    }


def _figures(effects: ContextEffects, n_rows: int) -> dict[str, Any]:
    """Return the figures of a context: its values, its relevance, how much depends on it."""
    first = effects.analyses[0]
    cuts = first.metadata["context"]["cuts"]
    rows = (first.fractions * n_rows).round().astype(int).tolist()
    figures: dict[str, Any] = {
        "rows": dict(zip(first.contexts, rows, strict=True)),
        "cuts": None if cuts is None else list(cuts),
        "bandwidth": first.metadata["context"]["bandwidth"],
        "depends_if": effects.rule,
    }
    if effects.targets is None:
        figures |= {
            "relevance": first.relevance,
            "relevance_p_value": first.relevance_p_value,
            "unit": first.unit,
            "null": first.significance().null if effects.tested else None,
        }
    counts = {value: effects.count(c) for c, value in enumerate(first.contexts)}
    what = f"{effects.what}s"
    return {**figures, f"{what}_that_depend": effects.count(), f"{what}_by_value": counts}


def _remarks(effects: ContextEffects, n_rows: int) -> list[str]:
    """Return remarks on the values of a context, and on the number of permutations."""
    lines = []
    first, name = effects.analyses[0], effects.context_name
    if first.metadata["context"]["cuts"]:
        lines.append(
            f"the numeric context {name} was cut into {len(first.contexts)} quantile intervals; "
            "change this with context_bins=B or categorical=NAME"
        )
    bandwidth = first.metadata["context"]["bandwidth"]
    if bandwidth is not None:
        lines.append(
            f"rows count by kernel weights at {len(first.contexts)} values of the numeric context "
            f"{name}, bandwidth {bandwidth:.3g} of the rows"
        )
    rows = (first.fractions * n_rows).round().astype(int).tolist()
    pairs = zip(first.contexts, rows, strict=True)
    few = [f"{value} ({count})" for value, count in pairs if count < _FEW_ROWS]
    if few:
        lines.append(
            f"some contexts of {name} have few rows: {joined(few, shown=5)}; effects there are "
            "hard to detect"
        )
    # Too few permutations for a single effect to be significant; a result has a note of its own.
    alpha, permutations, n = effects.alpha, first.n_permutations, effects.n_tests
    noted = effects.targets is None and alpha == _NOTED_LEVEL and n > 1
    if effects.tested and not effects.count() and n > alpha * (permutations + 1) and not noted:
        more = f"; with n_permutations={round(n / alpha)} it can" if alpha else ""
        lines.append(
            f"with {permutations:,} permutations no p-value is below {1 / (permutations + 1):.2g}, "
            f"too large for a single effect, among {n:,}, to have {effects.level}{more}"
        )
    return lines


# --- effects of a context at a level --------------------------------------------------------------

Cell = tuple[int, int, int]
"""Which analysis, context and feature."""

_NAME, _KIND = 16, len("complementary")  # characters that a narrow terminal leaves to words
_MINOR = {"importance": 3, "p": 2, "signed": 1}  # left out in this order


@dataclass(frozen=True, eq=False)
class ContextEffects:
    """Effects of one context on features, or on links of a network, at a level of significance."""

    # One, or one for each target of a network; p-values are adjusted over all together.
    analyses: tuple[ContextImportances, ...]
    alpha: float = 0.05
    control: Control = "fdr"  # error rate that `alpha` bounds
    targets: tuple[str, ...] | None = None  # names of the targets of a network
    limits: tuple[str, ...] = ()  # notes of the results on their p-values

    @classmethod
    def of(
        cls, result: ContextImportances | ContextNetwork, alpha: float, control: Control
    ) -> ContextEffects:
        """Return the effects of a result at a level."""
        limits = tuple(result.notes)
        if isinstance(result, ContextNetwork):
            analyses, targets = tuple(result.analyses.values()), tuple(result.analyses)
            return cls(analyses, alpha, control, targets, limits)
        return cls((result,), alpha, control, limits=limits)

    @property
    def context_name(self) -> str:
        """Name of the context."""
        return self.analyses[0].context_name

    @property
    def what(self) -> str:
        """Noun for what depends on the context."""
        return "feature" if self.targets is None else "link"

    @property
    def tested(self) -> bool:
        """True if there are p-values."""
        return self.analyses[0].absolute_p_values is not None

    @property
    def n_tests(self) -> int:
        """Number of effects over which p-values are adjusted."""
        sizes = [analysis.absolute.size for analysis in self.analyses]
        return 1 if self.control == "none" else sum(sizes)

    @property
    def adjusted_title(self) -> str:
        """Name of the adjusted p-values."""
        return {"fdr": "q", "fwer": "Holm's p", "none": "p"}[self.control]

    @property
    def level(self) -> str:
        """Level of significance, in a few words."""
        return f"{self.adjusted_title} <= {self.alpha:g}"

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
        some = (
            f"{n:,} {self.what}s depend" if n > 1 else f"{'1' if n else 'No'} {self.what} depends"
        )
        return f"{some} on {self.context_name} ({self.rule})."

    @cached_property
    def adjusted(self) -> tuple[FloatArray, ...]:
        """Adjusted p-values of the absolute effects, an array of shape (C, p) an analysis."""
        return self._over_all("absolute", self.control)

    @cached_property
    def kinds(self) -> tuple[NDArray[np.str_], ...]:
        """Kinds of dependence, an array of shape (C, p) an analysis."""
        verdicts = [analysis.verdicts(self.alpha, "none") for analysis in self.analyses]
        if self.tested:
            for kinds, values in zip(verdicts, self.adjusted, strict=True):
                kinds[values > self.alpha] = INDEPENDENT
        return tuple(verdicts)

    @cached_property
    def dependent(self) -> list[Cell]:
        """Cells that depend on the context: features in their order, or the surest links first."""
        return [(a, c, j) for a, c, j in self.cells if self.kinds[a][c, j] != INDEPENDENT]

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells: features in their order, or the surest links first."""
        if self.targets is None:
            (analysis,) = self.analyses
            return [(0, c, int(j)) for j in analysis.order() for c in range(len(analysis.contexts))]
        every = [
            (a, c, j)
            for a, analysis in enumerate(self.analyses)
            for c, j in np.ndindex(len(analysis.contexts), len(analysis))
        ]
        size = -_flat([analysis.absolute for analysis in self.analyses])
        if not self.tested:
            return [every[i] for i in np.argsort(size, kind="stable")]
        p = _flat([analysis.p_values() for analysis in self.analyses])
        return [every[i] for i in np.lexsort((size, p))]

    def count(self, context: int | None = None) -> int:
        """Return how many features, or links, depend on the context, or on one value of it."""
        return len({(a, j) for a, c, j in self.dependent if context in (None, c)})

    def table(
        self, cells: Sequence[Cell], *, within: bool = True, context: str = "{value}"
    ) -> list[Column]:
        """Return the columns of a table whose rows are `cells`.

        With `within` it has the importance in the context, where that is known; `context` says how
        a context is named, with ``{name}`` and ``{value}`` for its name and value.
        """
        analyses, name = self.analyses, self.context_name
        feature = "feature" if self.targets is None else "source"
        names = [analyses[a].names[j] for a, _, j in cells]
        columns = [Column(feature, names, "name", least=_NAME)]
        if self.targets is not None:
            targets = [self.targets[a] for a, _, _ in cells]
            columns.append(Column("target", targets, "words", least=_NAME))
        labels = [context.format(name=name, value=analyses[a].contexts[c]) for a, c, _ in cells]
        title = "context" if "{name}" in context else name
        columns.append(Column(title, labels, "words", least=_NAME))
        shown = {"importance": "importances", "absolute": "absolute", "signed": "signed"}
        if within and analyses[0].within is not None:
            shown = {"importance": "importances", "within": "within", **shown}
        for title, what in shown.items():
            minor = _MINOR.get(title, 0)
            columns.append(Column(title, fixed(self._values(what, cells), 4), minor=minor))
        if self.tested:
            p_values = small(self._values("absolute_p_values", cells))
            minor = 0 if self.control == "none" else _MINOR["p"]
            columns.append(Column("p", p_values, minor=minor))
            if self.control != "none":
                q = small(self.adjusted[a][c, j] for a, c, j in cells)
                columns.append(Column(self.adjusted_title, q))
        kinds = [str(self.kinds[a][c, j]) for a, c, j in cells]
        return [*columns, Column("kind", kinds, "words", least=_KIND)]

    def columns(self) -> dict[str, Any]:
        """Return the columns of a file: a row for each feature, or link, and context.

        They are ``context_name``, then those of `ContextImportances.columns` with ``name`` as
        ``source`` and ``target`` for a network, q-values over all links, ``kind`` at the level,
        and, where it bounds the family-wise error rate, Holm's p-values as
        ``absolute_holm_p_value``. Rows are in the order of `cells`.
        """
        columns = _stacked([analysis.columns() for analysis in self.analyses])
        own = columns.pop("name")
        first: dict[str, Any] = {"context_name": [self.context_name] * len(own)}
        sizes = [analysis.absolute.size for analysis in self.analyses]
        if self.targets is None:
            first["name"] = own
        else:
            first["source"] = own
            first["target"] = np.repeat(np.array(self.targets, dtype=object), sizes)
        columns["kind"] = _flat(self.kinds)
        for effect in EFFECTS:
            if f"{effect}_q_value" in columns:
                columns[f"{effect}_q_value"] = _flat(self._over_all(effect, "fdr"))
        if self.tested and self.control == "fwer":
            columns["absolute_holm_p_value"] = _flat(self.adjusted)
        starts = np.cumsum([0, *sizes])
        order = [int(starts[a]) + c * len(self.analyses[a]) + j for a, c, j in self.cells]
        return {
            name: np.asarray(values)[np.array(order, dtype=np.intp)]
            for name, values in (first | columns).items()
        }

    def _values(self, what: str, cells: Sequence[Cell]) -> FloatArray:
        """Return some numbers of the analyses: an attribute of shape (C, p) or (p,)."""
        arrays = [np.asarray(getattr(analysis, what)) for analysis in self.analyses]
        return np.array(
            [arrays[a][c, j] if arrays[a].ndim > 1 else arrays[a][j] for a, c, j in cells]
        )

    def _over_all(self, effect: str, control: Control) -> tuple[FloatArray, ...]:
        """Return the p-values of an effect, adjusted over all analyses together."""
        p_values = [analysis.p_values(effect) for analysis in self.analyses]
        flat = adjusted(_flat(p_values), control)
        ends = np.cumsum([values.size for values in p_values])[:-1]
        return tuple(
            part.reshape(values.shape)
            for part, values in zip(np.split(flat, ends), p_values, strict=True)
        )


def _flat(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([array.ravel() for array in arrays])


def _stacked(parts: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Return columns of equal names, one table under the other; text as objects."""

    def array(values: Any) -> NDArray[Any]:
        return np.array(values, dtype=object) if isinstance(values, list) else np.asarray(values)

    return {name: np.concatenate([array(part[name]) for part in parts]) for name in parts[0]}


def stacked_columns(effects: Sequence[ContextEffects]) -> dict[str, Any]:
    """Return the columns of a file about several contexts, one under the other."""
    return {
        name: values.tolist() if values.dtype.kind in "OU" else values
        for name, values in _stacked([each.columns() for each in effects]).items()
    }


# --- sections of the report ----------------------------------------------------------------------

_ROWS = 200
_CHARTS = 8
_FACTS = 4

_COUNTED = {"estimators": "trees", "permutations": "permutations"}
_NULLS = {
    "all": "The null hypothesis is also false if the context only shifts the class frequencies, "
    "or the distribution of features, while each feature is associated with the target in the "
    "same way in all contexts. If it shifts class frequencies, effects of noise features are "
    "found far too often: use conditional permutations instead.",
    "within_target": "The null hypothesis allows for a context that shifts the class "
    "frequencies, but it is global: if one feature depends on the context, or the context shifts "
    "the distribution of features, others are found too often. Conditional permutations allow "
    "for both.",
    "conditional": "The probabilities of the permutations come from a logistic regression of the "
    "context on the target, and on features and pairs of features that are associated with it "
    "given the target. A dependence that involves three features or more is not part of it, and "
    "can lead to false findings among other features.",
}
_CAVEATS = (
    "The signed effect is biased in small contexts: a node holds fewer rows of a context than of "
    "all contexts, and the decrease of impurity is larger on average on fewer rows. Without any "
    "dependence its mean is mostly below 0, the more so the smaller the context, but above 0 "
    "where trees are so deep that single rows of the context are left. Interpret its sign only "
    "where the absolute effect is significant.",
    'Power is low in contexts with few rows: "independent" means that no dependence was found, '
    "which is no evidence of independence.",
    "Dependence on a context is no evidence of a causal effect of the context.",
)
_ORDERED = (
    "The trees cut numeric columns in two at random points. The p-values are valid, but the "
    "effects have no closed form, and a dependence that no interval shows is missed. The exact "
    "theory holds for bins (n_bins) with multiway splits."
)


def report_of_features(
    every: Sequence[ContextEffects], run: Run, notes: Sequence[str] = (), n_rows: int = _ROWS
) -> Report:
    """Return the report of one or several contexts, with at most `n_rows` rows in a table."""
    names = [effects.context_name for effects in every]
    sections: list[Section] = []
    for effects in every:
        sections += [
            own_relevance(effects),
            *_effect_charts(effects),
            _feature_table(effects, n_rows),
        ]
    return Report(
        kind="dependence on a context",
        title=f"Importances of the features for {run.target or 'the target'}, by "
        f"{' and by '.join(names)}",
        run=run,
        headline=(*_headline(run), *_own_facts(every)),
        sections=(
            *looked_at(run),
            *sections,
            *_dependent_table(every, n_rows),
            *_closing(every, notes),
            *about(run),
        ),
        conclusion=" ".join(effects.conclusion for effects in every),
        subject=subject(run, *_model(run)),
        table=stacked_columns(every),
    )


def report_of_links(
    network: ContextNetwork,
    effects: ContextEffects,
    run: Run,
    notes: Sequence[str] = (),
    n_rows: int = _ROWS,
) -> Report:
    """Return the report of the links that depend on a context, with at most `n_rows` in a table."""
    facts = [
        Fact(f"depend on {network.context_name} = {value}", f"{effects.count(c):,}")
        for c, value in enumerate(network.contexts)
    ]
    table = (
        f"{printable(run.file or '')}: {thousands(run.n_rows)} rows x "
        f"{thousands(run.n_features)} variables"
    )
    return Report(
        kind="links that depend on a context",
        title=f"Links that depend on {network.context_name}",
        run=run,
        headline=(*_headline(run), Fact("targets", f"{len(network.analyses):,}"), *facts[:_FACTS]),
        sections=(
            *looked_at(run),
            *_link_charts(network, effects),
            _link_table(effects, n_rows),
            _targets_table(effects),
            *_closing([effects], notes),
            *about(run),
        ),
        conclusion=effects.conclusion,
        subject=(", ".join([table, *_model(run)]),),
        table=stacked_columns([effects]),
    )


def _model(run: Run) -> list[str]:
    """Return the numbers of trees and permutations, as far as they are on record."""
    counts = {name: run.settings.get(f"n_{key}") for key, name in _COUNTED.items()}
    return [f"{count:,} {name}" for name, count in counts.items() if count is not None]


def relevance_words(effects: ContextEffects) -> list[str]:
    """Say how relevant a context is itself, and what follows for the features."""
    (result,) = effects.analyses
    name, p = effects.context_name, result.relevance_p_value
    own = f"{name} itself has an importance of {result.relevance:.4g} {unit_words(result.unit)}"
    if p is None:
        return [f"{own}. No permutations were made, so its significance is not known."]
    own = f"{own} (p = {p:.2g})"
    if p >= 1 - effects.alpha and result.importances.max(initial=0) > 0:
        return [
            f"{own}: less than expected under the null hypothesis.",
            "A p-value near 1 is evidence against the null hypothesis as one near 0 is: rows may "
            "not be exchangeable, for instance where samples were matched or balanced for the "
            "context. Permute within the strata that were matched.",
        ]
    if p > effects.alpha:
        return [
            f"{own}: as expected under the null hypothesis.",
            "Features may depend on it all the same: an irrelevant context changes the importance "
            "of a feature whose distribution it shifts, and a relevant one can go unnoticed. The "
            "effects on the features have p-values of their own.",
        ]
    return [
        f"{own}: more than expected under the null hypothesis.",
        "The importances of features may depend on it, but need not: the context may be associated "
        "with the target by itself.",
    ]


def values_words(result: ContextImportances, n_rows: int | None) -> str:
    """Say how many rows each context has, and how a numeric one was divided."""
    parts = []
    for value, fraction in zip(result.contexts, result.fractions, strict=True):
        rows = f"{fraction:.0%}" if n_rows is None else f"{round(fraction * n_rows):,} rows"
        parts.append(f"{value} ({rows})")
    about_context = result.metadata.get("context", {})
    cuts, bandwidth = about_context.get("cuts"), about_context.get("bandwidth")
    divided = f" It is a number, cut at {plain(cuts)}." if cuts else ""
    if bandwidth is not None:
        divided = (
            " It is a number: rows count at each of these values by triangular kernel weights of "
            f"bandwidth {bandwidth:.3g}, as a fraction of the rows."
        )
    return f"Its values are {', '.join(parts)}.{divided}"


def own_relevance(effects: ContextEffects) -> Prose:
    """Return the section about the context itself."""
    (result,) = effects.analyses
    rows = result.metadata.get("n_rows")
    lines = [*relevance_words(effects), values_words(result, rows), effects.conclusion]
    title = f"The context {effects.context_name} itself"
    return Prose(title, tuple(lines), brief=tuple(relevance_words(effects)))


def _headline(run: Run) -> list[Fact]:
    facts = [Fact("rows", thousands(run.n_rows)), Fact("features", thousands(run.n_features))]
    for key, name in _COUNTED.items():
        if f"n_{key}" in run.settings:
            facts.append(Fact(name, f"{run.settings[f'n_{key}']:,}"))
    return facts


def _own_facts(every: Sequence[ContextEffects]) -> list[Fact]:
    facts = []
    for effects in every:
        p = effects.analyses[0].relevance_p_value
        if p is not None:
            facts.append(Fact(f"p of {effects.context_name} itself", f"{p:.2g}"))
        facts.append(Fact(f"depend on {effects.context_name}", f"{effects.count():,}"))
    return facts


def _effect_charts(effects: ContextEffects) -> list[Chart]:
    (result,) = effects.analyses
    shown = range(min(len(result.contexts), _CHARTS)) if len(result) else ()
    return [_effect_chart(effects, c) for c in shown]


def _effect_chart(effects: ContextEffects, c: int) -> Chart:
    (result,), name = effects.analyses, effects.context_name
    value, k = result.contexts[c], min(DRAWN, len(result))
    options = {
        "context": value,
        "k": k,
        "alpha": effects.alpha,
        "control": effects.control,
    }
    depend = [
        f"{result.names[j]} {result.signed[c, j]:.3g}" for _, at, j in effects.dependent if at == c
    ]
    listed = ", ".join(depend[:5]) or "none"
    return Chart(
        title=f"{name} = {value}",
        plot=Plot(EFFECTS_IN_CONTEXT, result, options),
        text=f"Bars, dots and ticks: the signed and the absolute effect of {name} = "
        f"{value} and the importance of {k} features. Those that depend on it, with the signed "
        f"effect: {listed}.",
        caption=f"The {k} features that depend most on {name}, in "
        f"{unit_words(result.unit)}. Bar: signed effect, blue to the right if the feature is less "
        "informative in the context, orange to the left if it is more informative. Dot: absolute "
        f"effect, filled if the feature depends on the context ({effects.rule}). Tick: importance "
        "on all rows.",
    )


def _dependent_table(every: Sequence[ContextEffects], n_rows: int) -> list[Section]:
    """Return the table of what depends on the contexts, one context after the other."""
    label = "{value}" if len(every) == 1 else "{name} = {value}"
    total, left, parts = (
        sum(len(effects.dependent) for effects in every),
        max(n_rows, HELD),
        [],
    )
    if not total:
        return []
    for effects in every:
        cells = effects.dependent[:left]
        left -= len(cells)
        parts.append(effects.table(cells, within=False, context=label))
    columns = tuple(
        replace(same[0], cells=[cell for part in same for cell in part.cells])
        for same in zip(*parts, strict=True)
    )
    names = " and ".join(effects.context_name for effects in every)
    return [
        Table(
            f"Features that depend on {names}",
            columns,
            _note(total, n_rows, "rows"),
            shown=n_rows,
            total=total,
            what="rows",
            main=True,
        )
    ]


def _feature_table(effects: ContextEffects, n_rows: int) -> Table:
    cells = effects.cells
    columns = tuple(effects.table(cells[:n_rows]))
    title = f"All features by {effects.context_name}"
    return Table(title, columns, _note(len(cells), n_rows, "rows"))


def _note(total: int, most: int, what: str) -> str:
    if total > most:
        return f"The first {most:,} of {total:,} {what}; result.csv and result.parquet hold all."
    return f"All {total:,} {what}; result.csv and result.parquet hold more columns."


def _link_charts(network: ContextNetwork, effects: ContextEffects) -> list[Chart]:
    alpha, control, name = effects.alpha, effects.control, network.context_name
    whats = ["absolute"] + ["plain"] * (effects.analyses[0].plain_p_values is not None)
    shown = network.contexts[:_CHARTS]
    limit = link_limit(network, whats, shown, alpha, control)
    charts = []
    for what, value in product(whats, shown):
        n = int(network.mask(what, value, alpha, control).sum())
        color = "signed" if what == "absolute" else what
        options = {"context": value, "effect": what, "limit": limit}
        suffix = "" if what == "absolute" else f", {what} effects"
        charts.append(
            Chart(
                title=f"Links in {name} = {value}{suffix}",
                plot=Plot(
                    LINKS_IN_CONTEXT, network, {**options, "alpha": alpha, "control": control}
                ),
                text=f"Matrix of the {n} links whose {what} effect of {name} = {value} is "
                "significant (the table and result.csv hold the numbers).",
                caption=f"{n:,} links whose {what} effect of {name} = {value} is significant "
                f"({effects.level}): from the source of a column to the target of a row. Color: "
                f"the {color} effect, blue if the source is less informative about the target in "
                "this context, orange if it is more informative; stronger colors mean larger "
                "effects. Empty: not significant. Gray: a variable with itself.",
            )
        )
    return charts


def _link_table(effects: ContextEffects, n_rows: int) -> Table:
    cells = effects.dependent
    columns = tuple(effects.table(cells[: max(n_rows, HELD)], within=False))
    return Table(
        "Links that depend on the context",
        columns,
        f"{effects.conclusion[:-1]}; an effect of at most "
        f"{effects.analyses[0].tolerance:.0%} of the largest importance for its target is none. "
        + _note(len(cells), n_rows, "of them by value of the context"),
        shown=n_rows,
        total=len(cells),
        what="rows",
        main=True,
    )


def _targets_table(effects: ContextEffects) -> Table:
    relevance = np.array([result.relevance for result in effects.analyses])
    order = np.argsort(-relevance, kind="stable")
    counts = np.zeros(len(effects.analyses), dtype=np.intp)
    for a in {(a, j) for a, _, j in effects.dependent}:
        counts[a[0]] += 1
    targets, values = effects.targets or (), fixed(relevance, 4)
    p_values = [result.relevance_p_value for result in effects.analyses]
    return Table(
        title=f"Importance of {effects.context_name} itself for each target",
        columns=(
            Column("target", [targets[a] for a in order], "name"),
            Column("importance", [values[a] for a in order]),
            Column("p", ["" if (p := p_values[a]) is None else f"{p:.2g}" for a in order]),
            Column("links that depend on it", [str(counts[a]) for a in order]),
        ),
        note="Links to a target can depend on the context although the context itself is "
        "irrelevant to it. These p-values are not adjusted for their number.",
    )


def _closing(every: Sequence[ContextEffects], notes: Sequence[str]) -> list[Section]:
    first = every[0].analyses[0]
    splits = first.metadata.get("forest", {}).get("splits")
    ordered = [_ORDERED] if splits == "ordered" else []
    null = [_NULLS[first.permute]] if every[0].tested else []
    limits = [text for effects in every for text in effects.limits]
    caveats = (*limits, *ordered, *null, *_CAVEATS)
    sections = [Prose("Data preparation", tuple(notes), points=True)] if notes else []
    return [
        *sections,
        Prose("Interpretation", _reading(every)),
        Prose("Limitations", caveats, points=True, caution=True),
    ]


def _reading(every: Sequence[ContextEffects]) -> tuple[str, ...]:
    effects, result = every[0], every[0].analyses[0]
    tolerance, unit = result.tolerance, unit_words(result.unit)
    empty = (
        "is left out"
        if result.empty == "skip"
        else "counts as one without information in the feature"
    )
    several = (
        "" if effects.targets is None else " Every variable in turn is the target of the others."
    )
    lines = [
        f"Trees are grown on all rows, without the context.{several} The importance of a feature "
        f"is the mean decrease of impurity at the nodes that split on it, in {unit}. At each of "
        "these nodes the decrease over all rows is compared with that over the rows of one "
        "context. The absolute effect is the sum of the absolute differences; the signed effect "
        "is the sum of the differences, all rows minus context. A node without rows of the "
        f"context {empty}.",
        "Complementary: the feature is always more informative in that context. Redundant: it is "
        "always less informative. Irrelevant: it has no information there. Mixed: it is more "
        "informative at some nodes and less informative at others; the word after it names the "
        'stronger direction. "Always" means that the signed effect has at least '
        f"{1 - tolerance:.0%} of the size of the absolute one, nothing that at most "
        f"{tolerance:.0%} of the importance is left. Independent: not found to depend on the "
        f"context, at {effects.rule}"
        + (
            f", or an effect of at most {tolerance:.0%} of the largest importance."
            if effects.tested
            else "."
        ),
    ]
    if result.within is not None:
        lines.append(
            '"Within" is the importance in a forest that is grown only on the rows of the '
            "context. Importance minus within is the plain effect. It misses differences that "
            "average out, and it compares different trees; usually it is smaller than the "
            "absolute effect."
        )
    return (*lines, *_testing(effects, len(every)))


def _testing(effects: ContextEffects, n_contexts: int) -> list[str]:
    if not effects.tested:
        return ["There are no p-values, because no permutations were made."]
    result, alpha = effects.analyses[0], effects.alpha
    n = sum(each.absolute.size for each in effects.analyses)
    each = " of one context" if n_contexts > 1 else ""
    what = "features" if effects.targets is None else "links"
    promise = {
        "fdr": f"q is p adjusted for all {n:,} {what} and values{each} (Benjamini and Hochberg): "
        f"of the effects with q up to {alpha:g}, at most {alpha:.0%} are "
        "expected to be false.",
        "fwer": f"p is adjusted for all {n:,} {what} and values{each} (Holm): the chance of any "
        f"false one among those up to {alpha:g} is at most {alpha:.0%}.",
        "none": f"p is not adjusted: of {n:,} {what} and values{each} that do not depend on the "
        f"context, {alpha * n:.0f} are expected to have p up to {alpha:g}.",
    }[effects.control]
    rows = {
        "all": "among the rows",
        "within_target": "among the rows of the same class (of a numeric target, of the same bin)",
        "conditional": "among the rows of the same class (of a numeric target, of the same bin), "
        "with probabilities that allow for other features that depend on the context,",
    }[result.permute]
    return [
        f"p is that of this null hypothesis: {result.null} The values of the context were permuted "
        f"{rows} {result.n_permutations:,} times, on the same trees; p is the proportion of "
        "permutations with an effect as large, its own included; of effects with a sign, twice the "
        "smaller of the proportions as large and as small. The p-value of the context itself is "
        "from permutations among all rows. " + promise
    ]
