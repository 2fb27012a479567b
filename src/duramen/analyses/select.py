"""Analysis `select`: a selector fitted to a table, and a report of the selected features."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from inspect import getdoc
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.analyses.execution import AnalysisInterrupted, Execution
from duramen.analyses.feature_groups import clusters_of, sections_of, with_clusters
from duramen.data import LearningSet
from duramen.data.target import target_class
from duramen.forests.settings import resolve_subspace
from duramen.io.groups import DISTANCE
from duramen.io.store.reader import memory_bytes
from duramen.jobs.progress import estimates
from duramen.plots.curves import FOUND
from duramen.reading.tables import read
from duramen.reports.report import (
    HELD,
    OTHER_METHODS,
    Report,
    Section,
    Table,
    page,
    unit_words,
)
from duramen.results.importances import Importances
from duramen.results.summary import Column, counted
from duramen.selection import BaseSelector, Selector, catalogue
from duramen.selection.random_subspace import widest_within
from duramen.selection.subspace_search import TEST_OF, TESTS
from duramen.support import checks
from duramen.support.arrays import RandomState, TableLike
from duramen.support.arrow import pa
from duramen.support.provenance import cited
from duramen.support.text import fixed, printable

SELECTOR = "sequential_random_subspace"
"""Selector by default."""
# What a search in random subspaces has where the user gives no other value.
_MEMORY, _SUBSPACE = "512MB", 1000  # for the columns of a tree; features of a tree, at most
# Trees without a new feature that end a search by default: as many as give each feature to so many
# trees on average, and at least so many in all.
_DRAWS, _LEAST_PATIENCE = 10, 200
_ROWS = 200  # of a table on the page
_NAMED = 3  # features in the conclusion
_RELEVANCE = {  # test of a search, in the methods
    "decoy": "each tested against a permuted copy at a false discovery rate of {alpha:g}",
    "positive": "each with an importance above zero in some tree",
    "probe": "each tested against random probes",
}
_NEXT_STEP = (
    "duramen rank tests every feature, also by its association with the target by itself, and has "
    "more power for few rows."
)
_CAUTIONS = (
    "A model of the selected features, and its score, look better than they are on the rows by "
    "which they were selected. Evaluate it on other rows.",
    "A feature that is associated with the target by chance in these rows is so in every tree and "
    "in every round.",
    "Neither selection nor importance is evidence of a causal effect.",
)
_CAUTIONS_OF_SEARCH = (
    "Features that carry the same information can replace each other: once one of them is found "
    "and kept, the others may not be found. A smaller --max-features, or --keep 0, finds more.",
    "A relevant feature can be missed if few trees were given it together with the features that "
    "it needs: more trees (--trees) or larger ones (--memory, --n-subspace-features) may find it.",
)


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


def select(
    data: TableLike,
    y: ArrayLike | None = None,
    *,
    selector: str = "sequential-random-subspace",
    clusters: float | None = None,
    distance: int = DISTANCE,
    random_state: RandomState = 0,
    n_jobs: int | None = -1,
    client: Any = None,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
    **parameters: Any,
) -> SelectionReport:
    """Select the columns that are relevant for a target.

    By default, each tree sees a sample of the columns: tables may exceed memory.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target; a store stays on disk where the selector allows it.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    selector : str
        Selector.
    clusters : float, optional
        Absolute correlation, in (0, 1], from which on features are put in a cluster with a more
        important one, such as 0.8; variants of a PLINK file only within a distance.
    distance : int
        Largest distance, in base pairs, between a variant and the representative of its cluster.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Number of threads, or -1 for all. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that runs the forests of the selector, if it takes one; the result does not depend
        on it.
    checkpoint : path, optional
        File that saves the work done; the same call resumes a stopped run from it.
    verbose : int
        Above 0: progress bars.
    **parameters
        Parameters of the class of the selector, such as ``alpha=0.01``.

    Returns
    -------
    SelectionReport
        Features, conclusion, table and notes; `save` writes the files of the command.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the table is refused.
    AnalysisInterrupted
        Ctrl-C once the selector has a result; its attribute ``report`` has what is finished.

    Notes
    -----
    The default selector draws the columns of a tree at random or from the relevant columns so far:
    1000 columns, or as many as 512 MB of memory hold. The search ends when trees that give each
    column ten draws, and at least 200 trees, find no new column.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 20, n_relevant=2, random_state=0)
    >>> dm.select(data.X, data.y, selector="boruta", n_estimators=100).selected
    ('x0', 'x1')
    """
    execution = Execution.of(select, locals())
    if clusters is not None:
        checks.check_real("select", "clusters", clusters, 0, 1, ends="(]")
    elif distance != DISTANCE:
        raise ValueError("select: distance needs clusters, a correlation such as clusters=0.8")
    checks.check_integer("select", "distance", distance, 0)
    record, model = _made(selector, parameters, execution)
    data = read(data, y, random_state=execution.random_state, n_jobs=n_jobs)
    named = f"selector={record.option!r}"
    if data.task not in record.tasks:
        able = " or ".join(target_class(task).words for task in record.tasks)
        raise ValueError(
            f"select: {named} is for {able}, the target holds {data.target.words}; "
            "task='classification' takes numbers as classes"
        )
    for name in data.exchangeability.identity():
        exchanges = attrgetter("kind." + ("exchanges_groups" if name == "groups" else "exchanges"))
        if not exchanges(record):
            able = " or ".join(entry.option for entry in catalogue if exchanges(entry))
            raise ValueError(
                f"select: {name} has no effect with {named}, which does not permute rows by "
                f"{name}; use {able}"
            )
    execution.tell(*data.provenance.remarks)
    searches = record.name == SELECTOR
    if searches:
        _settle(model, data, parameters)
    stop: KeyboardInterrupt | None = None
    try:
        with (
            estimates(None) if searches else nullcontext(),
            execution.keeping(execution.checkpoint),
            execution.step("search"),
            execution.warnings_as_notes(),
        ):
            model.fit(data)
    except KeyboardInterrupt as error:
        if not hasattr(model, "support_"):
            raise
        execution.obey(error)
        stop, clusters = error, None
        steps = counted(len(next(iter(model.history_.values()), ())), "tree")
        execution.tell(f"interrupted; the results are those after {steps}")
    scores, summary, selected = model.importances_, model.summary(), model.selected_
    variants, clustered = data.provenance.variants, None
    if clusters is not None:
        with execution.step("cluster"):
            clustered = clusters_of(data, scores, clusters, distance)
    n_found = len(selected)
    run = execution.record(
        data.facts(),
        settings={
            **({} if searches else {"selector": record.option}),
            **summary.settings,
            **scores.metadata.get("forest", {}),
            **data.provenance.settings,
            **({} if clusters is None else {"clusters": clusters, "distance": distance}),
            "notes": list(execution.remarks),
        },
        results={"features_found": n_found, **summary.results, "unit": scores.unit},
    )

    # --- the table and the sections: curve, features found ---
    ranked = np.argsort(-scores.values, kind="stable")
    rows = np.concatenate([selected, ranked[~model.support_[ranked]]])
    table: dict[str, Any] = {
        "name": pa.array([scores.names[j] for j in rows.tolist()], pa.string()),
        "found": pa.array(np.arange(len(rows)) < n_found, pa.bool_()),
        **{c.name: pa.array(c.take(rows).values) for c in summary.columns},
        "importance": scores.values[rows],
    }
    sections: list[Section | Table] = []
    if "n_selected" in model.history_:
        n_selected, step = np.concatenate([[0], model.history_["n_selected"]]), summary.step
        last = len(n_selected) - 1
        chart = Section(
            f"Features found, {step} by {step}",
            caption=f"Number of features found after each {step}. If the line still rises at its "
            f"end, more {step}s would find more features.",
            figure=(FOUND, {"features found": n_selected}, {"step": step}),
            text=f"Line chart of the number of features found against the number of {step}s: "
            f"{int(n_selected[last // 2]):,} after {last // 2:,} {step}s, "
            f"{int(n_selected[-1]):,} after {last:,}.",
        )
        sections.append(chart)
    places = sections_of(scores, variants, clustered)
    if n_found:
        best = selected[np.argsort(-scores.values[selected], kind="stable")[:HELD]]
        some = f"The {_ROWS:,} most important of" if n_found > _ROWS else "All"
        features_found = Table(
            "Features found",
            (
                Column("feature", [scores.names[j] for j in best.tolist()], "name"),
                *(column.take(best) for column in summary.columns),
                Column("importance", fixed(scores.values[best], 5)),
            ),
            f"{some} {counted(n_found, 'feature')} found, in the order of their importance; "
            "result.csv and result.parquet hold all features.",
            shown=_ROWS,
            total=n_found,
            what="features found",
            main=True,
        )
        sections += [*places, features_found]
    else:
        next_step = _NEXT_STEP
        if searches:  # a feature needs ten trees or more to be judged
            next_step += " More trees (--trees) with --patience 0 search longer."
        lines = ("No feature was found.", next_step)
        sections += [Section("Features found", lines, brief=(next_step,)), *places]
    if searches:
        reading = _reading_of_search(model)
    else:  # what the class says that the selector does, before formulas
        text = str(getdoc(record.kind)).partition("\n\nParameters\n")[0]
        paragraphs = takewhile(lambda part: "math:" not in part, text.split("\n\n"))
        reading = [" ".join(part.replace("`", "").split()) for part in paragraphs]
        if record.goal == "ranking":
            reading.append("The number of selected features is chosen by the user, not estimated.")
        if record.reference:
            reading.append(f"Source: {record.reference}")
    figures = {
        name.replace("_", " "): f"{figure:,}" if isinstance(figure, int) else f"{figure:.4g}"
        for name, figure in summary.results.items()
        if figure is not None
    }
    parts = [cited(record.title, record.reference), summary.run]
    if searches:
        parts.append(_RELEVANCE[model.relevance].format(alpha=model.alpha or 0))
    report = page(
        SelectionReport,
        run,
        facts={"features found": f"{n_found:,}", **figures},
        sections=sections,
        methods=f"Features were selected by {', '.join(filter(None, parts))}.",
        references=(record.reference,) if record.reference else (),
        reading=reading,
        cautions=(*(_CAUTIONS_OF_SEARCH if searches else ()), *_CAUTIONS, OTHER_METHODS),
        kind=record.title,
        title=f"Features selected for {run.target}",
        conclusion=conclusion(
            scores, selected, run.target, record, "" if stop is None else summary.run
        ),
        table=with_clusters(table, variants, clustered),
        notes=tuple(execution.remarks),
        selected=tuple(scores.names[j] for j in selected.tolist()),
        importances=scores,
        selector=model,
    )
    if stop is not None:
        raise AnalysisInterrupted(report, stop) from None
    return report


def conclusion(
    scores: Importances,
    selected: NDArray[np.int64],
    target: str | None,
    record: Selector,
    stopped: str = "",
) -> str:
    """Say how many features were selected, and which are the most important.

    Parameters
    ----------
    scores : Importances
        Importances of all features by the selector.
    selected : int64 array
        Indices of the selected features.
    target : str or None
        Name of the target.
    record : Selector
        Selector.
    stopped : str
        What was run until a stop ended the search; empty if nothing did.
    """
    p, n = len(scores), len(selected)
    of_all = f"{n:,} of {counted(p, 'feature')} {'was' if n == 1 else 'were'}"
    if n == p:
        of_all = f"All {p:,} features were" if p > 1 else "The only feature was"
    elif n == 0:
        of_all = f"None of {counted(p, 'feature')} was" if p > 1 else "The only feature was not"
    sentences = [f"{of_all} selected as relevant for {printable(target or 'the target')}."]
    if record.goal == "ranking" and n:
        sentences.append("Their number was chosen, not estimated.")
    if n > 1:
        best = selected[np.argsort(-scores.values[selected], kind="stable")[:_NAMED]]
        named = ", ".join(printable(scores.names[j]) for j in best.tolist())
        sentences.append(f"Most important: {named}.")
    elif n:
        sentences.append(f"It is {printable(scores.names[selected[0]])}.")
    if stopped:
        sentences.append(f"The search was stopped early, after {stopped}; more may be relevant.")
    return " ".join(sentences)


def selector_classes() -> dict[str, type[Any]]:
    """Return the classes of the selectors by their names on the command line."""
    return {entry.option: entry.kind for entry in catalogue}


def variant_parameters() -> set[str]:
    """Return the parameters that the names of selectors set, as variants of one class."""
    return {name for entry in catalogue for name in entry.parameters}


def _made(
    selector: Any, parameters: Mapping[str, Any], execution: Execution
) -> tuple[Selector, BaseSelector]:
    """Return the record of the selector that is asked for, and the selector, not fitted."""
    names = [entry.option for entry in catalogue]
    option = selector.replace("_", "-").lower() if isinstance(selector, str) else selector
    record = catalogue[checks.check_choice("select", "selector", option, names).replace("-", "_")]
    for name, value in {**execution.resources, **parameters}.items():
        passed = value is not None and name not in ("random_state", "n_jobs", "verbose")
        if passed and not record.takes(name):
            if any(entry.takes(name) for entry in catalogue):
                hint = "; leave it out"
            elif value in names:
                hint = f". Hint: selector={value!r}"
            else:
                hint = f". {checks.keyword_hint(select, name, (read,))}"
            raise ValueError(f"select: {name} does not apply to selector={record.option!r}{hint}")
    relevance = parameters.get("relevance", TESTS[0])
    for parameter, test in TEST_OF.items():
        if parameters.get(parameter) is not None and relevance != test:
            raise ValueError(
                f"select: {parameter} is for the relevance test {test}, not for {relevance}"
            )
    values = {name: value for name, value in execution.resources.items() if record.takes(name)}
    values |= parameters
    if isinstance(values.get("measure"), str):
        values["measure"] = values["measure"].replace("-", "_")
    return record, record.make(**values)


def _settle(search: Any, data: LearningSet[Any], parameters: Mapping[str, Any]) -> None:
    """Set the number of features of a tree and the end of a search.

    What `parameters` hold is settled by the user.
    """
    owner, p, memory = type(search).__name__, data.n_columns, parameters.get("memory")
    if parameters.get("n_subspace_features") is None:
        budget = memory_bytes(memory or _MEMORY, "select")
        batch = checks.check_integer(owner, "batch_size", search.batch_size, 1)
        q = min(p, widest_within(budget // batch, data.table))
        if memory is None and q > _SUBSPACE:
            q = _SUBSPACE
            search.set_params(n_subspace_features=q)
        else:
            search.set_params(memory=memory or _MEMORY)
    else:
        q = resolve_subspace(owner, search.n_subspace_features, p) or p
    if "patience" not in parameters:
        rounds = -(-_DRAWS * p // max(1, q))
        search.set_params(patience=max(_LEAST_PATIENCE, rounds))


def _reading_of_search(search: Any) -> list[str]:
    """Return sentences that describe a search in random subspaces and its test."""
    places = (
        f"up to a fraction of {search.keep:g} of them features found before, the others drawn at "
        "random"
    )
    count, level = search.n_probes, f"at a false discovery rate of {search.alpha or 0:g}"
    probes = "a probe" if count == 1 else f"all of {count:,} probes"
    probes = f"{probes}, whose rows were permuted for that tree"
    passes = "A feature that is correlated with the target by chance in these rows may pass too."
    lines = [
        f"Each tree is given {search.n_subspace_features_:,} of the {search.n_features_in_:,} "
        f"features, {places if search.keep else 'drawn at random'}, so that no more than these "
        "have to be in memory at a time.",
        "The importance is the mean decrease of impurity over all trees, in "
        f"{unit_words(search.importances_.unit)}: features that were given to many trees tend to "
        "rank before those given to few.",
        {
            "decoy": "A feature is found when its importance exceeds that of its decoy, a copy "
            f"with permuted rows, by more than expected under the null hypothesis, {level}. The "
            "test is repeated while trees are added, which makes false discoveries more frequent.",
            "positive": "A feature is found when its importance in some tree is greater than zero; "
            "in a sample this is so for nearly every feature.",
            "probe": f"A feature is found when more than {search.min_draws} trees were given it "
            f"and, in a fraction of {search.min_win_rate or 0:.4g} or more of them, it is more "
            f"important than {probes}. {passes}",
        }[search.relevance],
    ]
    if search.n_shadows_:
        lines.append(
            f"For each feature, {search.n_shadows_} shadow features were added, copies with "
            "permuted rows, as there are too few features for the null distribution of the decoys."
        )
    return lines
