"""Selection of features: a selector, fitted and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from sklearn.base import clone

from duramen.analyses import SELECTOR
from duramen.analyses.clustering import Clustering
from duramen.analyses.execution import Execution, checkpoints
from duramen.analyses.inputs import call_words, execution_of, problem_of, table_of
from duramen.analyses.problem import Problem, noted, stopped
from duramen.analyses.report import AnalysisInterrupted, run_of
from duramen.data import LearningSet
from duramen.forests.settings import resolve_subspace
from duramen.io.store.reader import memory_bytes
from duramen.jobs.progress import estimates
from duramen.reports import Report
from duramen.reports.report import DRAWN
from duramen.reports.selection import Selection, summarize_selection
from duramen.reports.signals import Signals
from duramen.results.columns import counted
from duramen.results.importances import Importances
from duramen.selection import BaseSelector, Selector, catalogue
from duramen.selection.records import MEMORY, SUBSPACE
from duramen.selection.sequential_random_subspace.selector import seconds_of_tree, widest_within
from duramen.support import checks
from duramen.support.text import duration

# Trees without a new feature that end a search by default: as many as give each feature to so many
# trees on average, and at least so many in all.
_DRAWS, _LEAST_PATIENCE = 10, 200
# Searches of fewer trees, and of fewer cells of tables in all, are not timed before.
_FEW_TREES, _QUICK = 20, 10**8
# A search that is expected to take longer, in seconds, is announced.
_LONG = 3.0


@dataclass(frozen=True)
class SelectionRequest:
    """Selector, and what of its parameters the table is to settle."""

    record: Selector
    selector: BaseSelector  # not fitted
    settles_subspace: bool = False  # whether memory decides how many features a tree has
    memory: str | None = None  # that was asked for; None for the default
    settles_patience: bool = False
    estimator: Callable[[str], Any] | None = None  # of its trees, for a task
    clustering: Clustering = field(default_factory=Clustering)


@dataclass(frozen=True, eq=False)
class Selected:
    """Problem, clusters of its features, and the request, whose selector is fitted."""

    problem: Problem[Any]
    signals: Signals
    request: SelectionRequest
    execution: Execution
    stop: KeyboardInterrupt | None = None  # what ended the search


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SelectionReport(Report):
    """Report of `duramen.select`: the features that a selector found.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    selected : tuple of str
        Features that were found, in the order in which they were.
    importances : Importances
        Importances of all features by the selector.
    selector : estimator or None
        The fitted selector, which no file holds.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> report = dm.select(data.X, data.y, n_jobs=1)
    >>> sorted(report.selected)
    ['x0', 'x1']
    """

    selected: tuple[str, ...]
    importances: Importances
    selector: BaseSelector | None = field(default=None, metadata={"saved": False})


def select_features(
    problem: Problem[Any],
    request: SelectionRequest,
    execution: Execution,
) -> Selected:
    """Fit the selector and cluster the features.

    Once the selector has a result, a stop such as Ctrl-C ends the search with what was found.
    """
    record, selector, clock = request.record, request.selector, execution.clock
    if problem.task not in record.tasks:
        method = execution.wording.method(record)
        raise ValueError(
            f"{method} is for classes, the target holds numbers; "
            f"{execution.wording.as_classes} takes them as classes"
        )
    if request.estimator is not None:
        selector.set_params(estimator=request.estimator(problem.task))
    searches = record.name == SELECTOR
    if searches:
        _settle(request, problem, execution)
        if execution.announce is not None and _long(selector, problem):
            with clock.step("estimate"):
                _announce(selector, problem, execution)
    stop = None
    try:
        with (
            estimates(None) if searches else nullcontext(),
            execution.keeping(lambda: checkpoints(execution.checkpoint)),
            clock.step("search"),
            execution.warnings_as_notes(),
        ):
            selector.fit(problem.data)
    except KeyboardInterrupt as error:
        if not hasattr(selector, "support_"):
            raise
        execution.obey(error)
        stop = error
        steps = len(next(iter(selector.history_.values()), ()))
        problem = stopped(problem, counted(steps, "tree"))
        execution.notes(problem.notes[-1:])
    clustering = request.clustering if stop is None else replace(request.clustering, clusters=None)
    signals = clustering.signals(_placed(problem), selector.importances_, clock)
    return Selected(problem, signals, request, execution, stop)


def _placed(problem: Problem[Any]) -> LearningSet[Any]:
    """Return the data with the places of their columns on the genome."""
    provenance = replace(problem.data.provenance, variants=problem.variants)
    return replace(problem.data, provenance=provenance)


def _settle(request: SelectionRequest, problem: Problem[Any], execution: Execution) -> None:
    """Settle how many features a tree has and when a search ends, where the user left that open."""
    selector: Any = request.selector
    table, p = problem.data.table, problem.data.n_columns
    if request.settles_subspace:
        budget = memory_bytes(request.memory or MEMORY, execution.wording.memory)
        q = min(p, widest_within(budget // selector.batch_size, table))
        if request.memory is None and q > SUBSPACE:
            q = SUBSPACE
            selector.set_params(n_subspace_features=q, memory=None)
    else:
        q = resolve_subspace(type(selector).__name__, selector.n_subspace_features, p) or p
    if request.settles_patience:
        rounds = -(-_DRAWS * p // max(1, q))
        selector.set_params(patience=max(_LEAST_PATIENCE, rounds))


def _long(selector: Any, problem: Problem[Any]) -> bool:
    """Tell whether a search may take so long that timing some of its trees is worth it."""
    n_trees, p = selector.n_estimators, problem.data.n_columns
    q = resolve_subspace(type(selector).__name__, selector.n_subspace_features, p) or p
    cells = problem.data.n_rows * q
    return bool(n_trees >= _FEW_TREES and n_trees * cells > _QUICK)


def _announce(selector: Any, problem: Problem[Any], execution: Execution) -> None:
    """Say how long a search takes, if that is more than a few seconds."""
    seconds = seconds_of_tree(selector, problem.data)
    n_trees, patience = selector.n_estimators, selector.patience
    if seconds * n_trees <= _LONG or execution.announce is None:
        return
    least = ""
    if patience is not None and patience < n_trees:
        least = f"at least {duration(seconds * patience)}, "
    execution.announce(
        f"{n_trees:,} trees at most: {least}at most {duration(seconds * n_trees)}; Ctrl-C ends "
        "the search and writes what was found"
    )


def report_of(
    selected: Selected,
    *,
    command: str,
    settings: Mapping[str, Any],
    notes: tuple[str, ...] = (),
    top: int = DRAWN,
) -> SelectionReport:
    """Return the report of a selection; command and settings are for the record of its run.

    It says how many signals the first `top` features stand for, if there are clusters.
    """
    record, selector = selected.request.record, selected.request.selector
    selection = Selection.of(selector, record)
    account = selection.account
    method = {} if record.name == SELECTOR else {"method": record.option}
    run = run_of(
        selected.problem,
        selected.execution,
        command,
        settings={
            **method,
            **account.settings,
            **selection.metadata.get("forest", {}),
            **settings,
        },
        results={"features_found": selection.n_found, **account.results, "unit": selection.unit},
    )
    report = summarize_selection(selection, run)
    return SelectionReport.of(
        selected.signals.report(report, selector.importances_, top=top),
        table=selected.signals.columns(report.table),
        notes=notes,
        references=(record.reference,) if record.reference else (),
        selected=selection.names[: selection.n_found],
        importances=selector.importances_,
        selector=selector,
    )


def select(
    X: Any,
    y: Any = None,
    *,
    selector: Any = None,
    clusters: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: Any = None,
    verbose: int = 0,
) -> SelectionReport:
    """Select the features that are relevant for a target.

    Fits a selector and reports what it found: what the command ``duramen select`` does, with the
    same result for the same table. A `ColumnStore` stays on disk where the selector allows it.

    Parameters
    ----------
    X : table of shape (n, p), AnnData, LearningSet, ColumnStore or Table
        Table as for :func:`duramen.encode`. A :class:`duramen.Table` says more of its columns and
        rows.
    y : array-like of shape (n,), or str
        Target, or the name of its column, as for :class:`duramen.Table`, with which it is None.
    selector : str or selector of duramen, optional
        Name in `duramen.selection.records`, for that selector with its defaults; or a selector, a
        copy of which is fitted. By default `SequentialRandomSubspace` with decoys, 1000 features a
        tree at most, which ends when trees that give each feature ten draws find nothing new.
    clusters : float, optional
        Correlation from which on features are put in clusters with a more important one.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that runs the forests of the selector, if it takes one; the result does not depend
        on it.
    checkpoint : path, optional
        File that keeps the work done; the same call resumes from it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    SelectionReport
        Features, conclusion, table and notes; `save` writes the files of the command.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the table is refused, as for dates and identifiers.
    AnalysisInterrupted
        Ctrl-C once the selector has a result; its attribute ``report`` has what is finished.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 20, n_relevant=2, random_state=0)
    >>> dm.select(data.X, data.y, selector="boruta").selected
    ('x0', 'x1')
    """
    call = call_words(select, locals())
    notes: list[str] = []
    execution = execution_of(
        "select", notes, random_state=random_state, n_jobs=n_jobs, client=client,
        checkpoint=checkpoint, verbose=verbose,
    )  # fmt: skip
    request = _requested(selector, execution)
    if clusters is not None:
        least = checks.check_real("select", "clusters", clusters, 0, 1, ends="(]")
        request = replace(request, clustering=Clustering(least))
    table = table_of("select", X, y, "sample_weight", "feature_groups", "pos_label")
    problem = problem_of("select", table, n_jobs=n_jobs, seed=execution.random_state, stored=True)
    notes += problem.remarks
    for name in problem.data.exchangeability.identity():
        exchanges = attrgetter("exchanges_groups" if name == "groups" else "exchanges")
        if not exchanges(request.record):
            able = " or ".join(repr(entry.name) for entry in catalogue if exchanges(entry))
            raise ValueError(
                f"select: {name} have no effect with selector={request.record.name!r}; use {able}."
            )
    chosen = select_features(problem, request, execution)
    report = report_of(
        chosen,
        command=call,
        settings=noted(chosen.problem.remarks),
        notes=tuple(dict.fromkeys(notes)),
    )
    if chosen.stop is not None:
        raise AnalysisInterrupted(report) from None
    return report


def _requested(selector: Any, execution: Execution) -> SelectionRequest:
    """Return the selector that is asked for, not fitted, with its record."""
    work = {
        "random_state": execution.random_state,
        "n_jobs": execution.n_jobs,
        "client": execution.client,
        "checkpoint": execution.checkpoint,
        "verbose": execution.verbose,
    }
    if selector is None or isinstance(selector, str):
        name = SELECTOR if selector is None else selector.replace("-", "_")
        names = [entry.name for entry in catalogue]
        record = catalogue[checks.check_choice("select", "selector", name, names)]
        for option in ("client", "checkpoint"):
            if work[option] is not None and not record.takes(option):
                raise ValueError(f"select: {option} does not apply to {record.name}; leave it out.")
        settings = {name: value for name, value in work.items() if record.takes(name)}
        default = record.name == SELECTOR
        memory = {"memory": MEMORY} if default else {}
        made: BaseSelector = record.make(**settings, **memory)
        return SelectionRequest(record, made, default, settles_patience=default)
    if not isinstance(selector, BaseSelector):
        raise TypeError(
            "select: selector must be a selector of duramen or its name, got "
            f"{type(selector).__name__}. Hint: dm.evaluate_selection takes those of scikit-learn."
        )
    alike = [entry for entry in catalogue if entry.kind is type(selector)]
    if not alike:
        raise TypeError(
            f"select: {type(selector).__name__} is not in duramen.selection.records; register its "
            "record there."
        )
    parameters = selector.get_params(deep=False)
    for option in ("client", "checkpoint"):
        if work[option] is not None and option not in parameters:
            raise ValueError(
                f"select: {option} does not apply to {type(selector).__name__}; leave it out."
            )
    record = next(
        (entry for entry in alike if entry.parameters.items() <= parameters.items()), alike[0]
    )
    left_open = {
        name: value
        for name, value in work.items()
        if name in parameters and parameters[name] in (None, 0) and value is not None
    }
    return SelectionRequest(record, clone(selector).set_params(**left_open))
