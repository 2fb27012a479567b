"""Ranking of the features of a problem: grow a forest, measure it, test a measure, describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal

from duramen.analyses.clustering import Clustering
from duramen.analyses.execution import Execution, Wording, checkpoints
from duramen.analyses.inputs import call_words, execution_of, problem_of, table_of
from duramen.analyses.problem import Problem, noted
from duramen.analyses.ranking.arguments import (
    check_exchanges,
    forest_for,
    groups_of,
    is_clusters,
    measures_of,
    requested_test,
    rows_asked,
    tests_of,
    threshold_of,
)
from duramen.analyses.ranking.description import (
    check_class,
    effects_of,
    out_of_bag_accuracy,
    target_columns,
)
from duramen.analyses.ranking.direct import (
    check_direct,
    correlated_groups,
    directness,
    with_advice,
)
from duramen.analyses.ranking.measuring import Found, choose, grow_and_compute, with_bias
from duramen.analyses.ranking.pairs import all_pairs, check_pairs
from duramen.analyses.ranking.patches import (
    PATCHES,
    check_kind,
    check_request,
    check_scores,
    described_sample,
    fitted_to,
    memory_of,
    readable,
    sample_of_store,
    settled,
)
from duramen.analyses.ranking.request import Groups, Request, Resampling, trees_by_default
from duramen.analyses.ranking.resampling import Resampled, described, tested_rows
from duramen.analyses.ranking.rows import RowsAsked, importances_of_rows
from duramen.analyses.ranking.significance import announce, run_test
from duramen.analyses.report import AnalysisInterrupted, run_of
from duramen.data import EncodedTable
from duramen.data.memory import returned_at_once
from duramen.importances import Inputs, Measure, catalogue, mda
from duramen.importances.refit import leaves_rows_out
from duramen.jobs.progress import estimates
from duramen.reports import Report, summarise
from duramen.reports.facts import as_importances
from duramen.reports.pairs import AllPairs
from duramen.reports.report import DRAWN
from duramen.reports.rows import RowImportances
from duramen.reports.signals import GroupImportances, Signals
from duramen.results.conditional_significance import ConditionalSignificance
from duramen.results.significance import ErrorRates, Significance
from duramen.support import checks


def clusters_of(signals: Signals) -> Groups:
    """Return the clusters of several features as groups, called as their representatives."""
    return Groups.of_clusters({} if signals.clusters is None else signals.clusters.members())


def check_rows_out_of_bag(estimator: Any, forest: str, wording: Wording) -> None:
    """Check that trees leave rows out, on which groups are measured.

    Raises
    ------
    ValueError
        If every tree sees all rows.
    """
    if not leaves_rows_out(estimator):
        raise ValueError(
            f"{wording.feature_groups}: every tree of {wording.forest.format(forest)} sees all "
            "rows, and groups are measured on rows that a tree was grown without. Hint: add "
            f"{wording.bootstrap}, or leave out {wording.feature_groups}"
        )


def importances_of(feature_groups: Groups, inputs: Inputs, computed: Found) -> GroupImportances:
    """Return the MDA of groups of features, each permuted as a whole."""
    members = feature_groups.whole(inputs.data.names)
    measured = mda(
        inputs.estimator,
        inputs.data,
        feature_groups=members,
        n_jobs=inputs.n_jobs,
        verbose=inputs.verbose,
    )
    computed_by = dict(zip(computed.names, computed.measures, strict=True))
    alone = as_importances(computed_by["mda"]) if "mda" in computed_by else None
    return GroupImportances(measured, members, alone, feature_groups.file)


@dataclass(frozen=True)
class RankingRequest:
    """Measures, test and more that a ranking is to have."""

    forest: str  # name of the kind of forest
    measures: tuple[str, ...] = ()  # none: those that suit the forest
    test: Request | None = None
    resampling: Resampling = field(default_factory=Resampling)
    clustering: Clustering = field(default_factory=Clustering)
    direct: bool = False  # whether each feature is tested given all others
    feature_groups: Groups | None = None  # of features, whose MDA is computed
    groups_of_clusters: bool = False  # whether the groups are the clusters
    row_notes: tuple[str, ...] = ()  # on strata, groups and covariates
    pos_label: Any = None  # class that the directions of effects are about
    rows: RowsAsked | None = None  # to explain
    interactions: bool = False  # whether all pairs of features are tested
    memory: int | None = None  # bytes that a table takes more of, and so stays on disk


@dataclass(frozen=True, eq=False)
class Ranking:
    """Forest, importances, test and clusters of a problem."""

    problem: Problem[EncodedTable]
    estimator: Any  # fitted
    computed: Found
    signals: Signals
    request: RankingRequest
    execution: Execution

    @property
    def stop(self) -> KeyboardInterrupt | None:
        """Stop that ended the work before all was computed, if there was one."""
        return self.computed.stop


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankingReport(Report):
    """Report of `duramen.rank`: importances, verdicts and directions of all features.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    importances : mapping of str to Importances or Significance
        Importances by each measure, by its name; the first one orders the table.
    significance : Significance, ErrorRates or None
        Result of the test, if one was run.
    selected : tuple of str
        Features that the test selects, the best first: those confirmed, and candidates.
    direct : ConditionalSignificance or None
        Test of each feature given all others, with "direct" in `test`.
    direct_clusters : tuple of tuples of str
        Direct and associated features, correlated ones together.
    rows : tuple of RowImportances
        Importances in the rows to explain: those of the table, then new ones.
    interactions : AllPairs or None
        Interactions of all pairs, with "interactions" in `test`.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> report = dm.rank(data.X, data.y, n_jobs=1)
    >>> report.selected
    ('x0', 'x1')
    """

    importances: Mapping[str, Any]
    significance: Significance | ErrorRates | None = None
    selected: tuple[str, ...] = ()
    direct: ConditionalSignificance | None = None
    direct_clusters: tuple[tuple[str, ...], ...] = ()
    rows: tuple[RowImportances, ...] = ()
    interactions: AllPairs | None = None

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict of each feature, "confirmed", "candidate" or "noise", in the order of the table.

        Empty where the test gives none.
        """
        return self._words("verdict")

    @property
    def directions(self) -> dict[str, str]:
        """Directions of the effects, in words, of the features for which they are described."""
        return {name: words for name, words in self._words("direction").items() if words}

    def _words(self, column: str) -> dict[str, str]:
        if column not in self.table:
            return {}
        return dict(zip(_listed(self.table["name"]), _listed(self.table[column]), strict=True))


def _listed(column: Any) -> list[str]:
    """Return a column of text as a list."""
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def rank_features(
    problem: Problem[EncodedTable], estimator: Any, request: RankingRequest, execution: Execution
) -> Ranking:
    """Grow the forest, measure it, test a measure and cluster the features.

    Once the first importances are there, a stop such as Ctrl-C ends the work with what is done.
    """
    clock = execution.clock
    if request.memory is not None:
        check_request(request, execution.wording)
    check_class(request.pos_label, problem.data.target, execution.wording)
    if request.direct:
        check_direct(problem.data, execution)
    if request.test is not None:
        request.test.test.check(problem.data)
    if request.rows is not None:
        request.rows.check(problem, execution)
    if request.interactions:
        check_pairs(problem, execution)
    problem, signals = request.clustering.represented(problem, clock)
    if request.direct and request.groups_of_clusters:
        threshold = request.clustering.clusters
        assert threshold is not None
        with clock.step("cluster"):
            correlated = correlated_groups(problem.table, threshold)
        request = replace(request, feature_groups=correlated)
    with nullcontext() if request.memory is None else returned_at_once():
        problem, computed = _measured(problem, estimator, request, execution)
    if signals is None:
        first, places = computed.measures[0], replace(request.clustering, clusters=None)
        signals = places.signals(problem, first, clock)
        if request.clustering.clusters is not None:
            clustered: list[Signals] = []

            def cluster() -> Found:
                clustered.append(request.clustering.signals(problem, first, clock))
                return computed

            computed = _unless_stopped(computed, "the clusters of features", cluster, execution)
            signals = clustered[0] if clustered else signals
    if request.feature_groups is not None or request.groups_of_clusters:
        feature_groups = (
            clusters_of(signals) if request.feature_groups is None else request.feature_groups
        )
        grouped = partial(_grouped, feature_groups, problem, estimator, computed, execution)
        computed = _unless_stopped(computed, "the MDA of groups", grouped, execution)
    computed = _with_note(computed, execution)
    return Ranking(problem, estimator, computed, signals, request, execution)


def _measured(
    problem: Problem[EncodedTable], estimator: Any, request: RankingRequest, execution: Execution
) -> tuple[Problem[EncodedTable], Found]:
    """Grow the forest, measure it, test a measure, and describe effects and precision."""
    wording, test = execution.wording, request.test
    choice = choose(
        request.measures,
        forest=request.forest,
        task=problem.task,
        out_of_bag=leaves_rows_out(estimator),
        wording=wording,
    )
    stored = request.memory is not None
    if stored:
        choice = readable(choice, wording)
    tested = None if test is None else test.measure(choice.measures, estimator)
    if test is not None and tested is not None and not test.default and not stored:
        choice = choice.with_tested(tested)
    if stored and test is not None:
        check_scores(test.test, tested, choice, wording)
    problem = with_bias(problem, choice, estimator, execution)
    grouped = request.feature_groups is not None or request.groups_of_clusters
    if grouped and (test is None or test.feature_groups is None):
        check_rows_out_of_bag(estimator, request.forest, wording)
    resampled = Resampled(request.resampling, execution)
    resampled.check(choice.measures[0], problem.data.n_columns)
    with execution.warnings_as_notes():
        inputs = Inputs(
            estimator,
            problem.data,
            execution.random_state,
            execution.n_jobs,
            execution.verbose,
            by_degree=True,
        )
        computed = grow_and_compute(choice, inputs, execution, request.memory)
    first = as_importances(computed.measures[0])
    resampled.check_target(first, problem.data)
    execution.notes((*request.row_notes, *computed.left_out))
    sample: Inputs | None = None  # for what needs a table in memory
    memory = request.memory
    if memory is not None:
        with execution.clock.step("sample"):
            sample, note = sample_of_store(inputs, memory)
        problem = replace(problem, notes=(*problem.notes, note))
        execution.tell(note)
    if test is not None:
        run = partial(_tested, test, tested, computed, inputs, sample, execution)
        computed = _unless_stopped(computed, "the significance test", run, execution)
        if computed.tested is not None and not request.direct:
            advised = with_advice(computed.tested, problem.data, execution)
            computed = replace(computed, tested=advised)

    if request.direct:

        def with_direct() -> Found:
            return replace(computed, direct=directness(inputs, request.feature_groups, execution))

        computed = _unless_stopped(computed, "the test of direct effects", with_direct, execution)

    forest_and_rows = cache(  # with its trees
        lambda: (
            described(inputs)
            if sample is None or memory is None
            else described_sample(sample, memory)
        )
    )

    def with_effects() -> Found:
        with execution.clock.step("effects"):
            effects = effects_of(*forest_and_rows(), computed, execution.n_jobs, request.pos_label)
        return replace(computed, effects=effects)

    computed = _unless_stopped(computed, "the directions of effects", with_effects, execution)
    if (rows := request.rows) is not None:

        def with_rows() -> Found:
            with execution.clock.step("rows"):
                forest = forest_and_rows()[0]
                explained = importances_of_rows(rows, problem, forest, request.pos_label, execution)
            return replace(computed, reasons=replace(computed.reasons, rows=explained))

        computed = _unless_stopped(computed, "the importances in rows", with_rows, execution)

    if request.interactions:

        def with_pairs() -> Found:
            pairs = all_pairs(inputs, *forest_and_rows(), execution)
            return replace(computed, reasons=replace(computed.reasons, pairs=pairs))

        computed = _unless_stopped(computed, "the interactions", with_pairs, execution)

    def with_precision() -> Found:
        ranked_by = catalogue[computed.names[0]]
        precision = resampled.precision(ranked_by, first, inputs, computed.n_selected)
        return replace(computed, precision=precision)

    what = request.resampling.words or "the number of trees that is needed"
    return problem, _unless_stopped(computed, what, with_precision, execution)


def _unless_stopped(
    computed: Found, what: str, compute: Callable[[], Found], execution: Execution
) -> Found:
    """Compute a part of the results; it is unfinished once a stop such as Ctrl-C has come."""
    stop = computed.stop
    if stop is None:
        try:
            return compute()
        except KeyboardInterrupt as error:
            execution.obey(error)
            stop = error
    return replace(computed, unfinished=(*computed.unfinished, what), stop=stop)


def _with_note(computed: Found, execution: Execution) -> Found:
    """Say what a stop has left out of the results."""
    if computed.stop is None:
        return computed
    left_out = f"interrupted; left out of the results: {', '.join(computed.unfinished)}"
    execution.tell(left_out)
    return replace(computed, left_out=(*computed.left_out, left_out))


def _tested(
    request: Request,
    measure: Measure | None,
    computed: Found,
    inputs: Inputs,
    sample: Inputs | None,
    execution: Execution,
) -> Found:
    """Run a test, of a measure if it is about one; of the sample of a table on disk."""
    computed_by = dict(zip(computed.names, computed.measures, strict=True))
    scores = (
        None
        if measure is None or measure.name not in computed_by
        else as_importances(computed_by[measure.name])
    )
    inputs, sampled = tested_rows(request, inputs, execution) if sample is None else (sample, ())
    if measure is not None:
        announce(request, measure, inputs, execution)
    try:
        with (
            nullcontext() if measure is None else estimates(None),  # it was estimated before
            execution.keeping(lambda: checkpoints(execution.checkpoint)),
            execution.clock.step(f"test {request.test.option}"),
        ):
            verdict = run_test(request, measure, scores, inputs, execution)
    except MemoryError as error:
        if not request.default:
            raise
        left_out = f"the test of importances is left out: {error}"
        execution.tell(left_out)
        return replace(computed, left_out=(*computed.left_out, left_out))
    verdict = replace(verdict, notes=(*sampled, *verdict.notes))
    execution.notes(verdict.notes)
    return replace(computed, tested=verdict)


def _grouped(
    feature_groups: Groups,
    problem: Problem[EncodedTable],
    estimator: Any,
    computed: Found,
    execution: Execution,
) -> Found:
    """Measure groups of features; leave it out where only the test takes them."""
    if not leaves_rows_out(estimator):
        left_out = (
            f"MDA of groups left out: every tree sees all rows; add {execution.wording.bootstrap} "
            "to compute it"
        )
        execution.tell(left_out)
        return replace(computed, left_out=(*computed.left_out, left_out))
    inputs = Inputs(estimator, problem.data, n_jobs=execution.n_jobs)
    with execution.clock.step("feature_groups"):
        of_groups = importances_of(feature_groups, inputs, computed)
    if computed.direct is not None:
        of_groups = replace(of_groups, direct=computed.direct.of_groups)
    if computed.tested is not None:
        of_groups = replace(of_groups, tested=computed.tested.of_groups)
    return replace(computed, feature_groups=of_groups)


def report_of(
    ranking: Ranking,
    *,
    command: str,
    settings: Mapping[str, Any],
    notes: tuple[str, ...] = (),
    top: int = DRAWN,
) -> RankingReport:
    """Return the report of a ranking; command and settings are for the record of its run.

    It says how many signals the first `top` features stand for, if there are clusters.
    """
    problem, estimator, computed = ranking.problem, ranking.estimator, ranking.computed
    tested, direct = computed.tested, computed.direct
    groups = problem.data.exchangeability.groups
    run = run_of(
        problem,
        ranking.execution,
        command,
        settings={
            "forest": ranking.request.forest,
            "n_estimators": estimator.n_estimators,
            **estimator.forest_.settings.to_dict(),
            **computed.settings(),
            **settings,
        },
        results={
            **out_of_bag_accuracy(estimator, problem.data.target, groups),
            **({} if groups is None else {"groups": problem.data.exchangeability.n_units}),
            "features_used": computed.features_used,
            **computed.figures(),
        },
    )
    report = summarise(
        computed.measures[0],
        run,
        others=computed.measures[1:],
        left_out=computed.left_out,
        tested=tested,
        effects=computed.effects,
        precision=computed.precision,
        feature_groups=computed.feature_groups,
        direct=direct,
        reasons=computed.reasons,
        oob_errors=getattr(estimator, "oob_error_curve_", None),
    )
    best = computed.ranked()
    columns = {**best.columns(), **target_columns(problem.data, best.first.names)}
    first = as_importances(computed.measures[0])
    return RankingReport.of(
        ranking.signals.report(report, first, tested, top=top),
        table=ranking.signals.columns(columns),
        notes=notes,
        importances=dict(zip(computed.names, computed.measures, strict=True)),
        significance=None if tested is None else tested.result,
        selected=() if tested is None else tested.selected(),
        direct=None if direct is None else direct.result,
        direct_clusters=() if direct is None else direct.clusters,
        rows=computed.reasons.rows,
        interactions=computed.reasons.pairs,
    )


def rank(
    X: Any,
    y: Any = None,
    *,
    estimator: Any = None,
    measure: str | Sequence[str] = "auto",
    test: str | Sequence[str] | Literal[False] = "auto",
    n_permutations: int | None = None,
    intervals: bool = False,
    stability: int | None = None,
    clusters: float | None = None,
    representatives: float | None = None,
    explain: Any = None,
    memory: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: Any = None,
    verbose: int = 0,
) -> RankingReport:
    """Rank features by their importance for a target, and test which are larger than by chance.

    Grows a forest, computes importances, runs the significance test and describes the directions of
    effects: what the command ``duramen rank`` does, with the same numbers for the same table.

    Parameters
    ----------
    X : table of shape (n, p), AnnData, LearningSet, ColumnStore or Table
        Table as for :func:`duramen.encode`. A :class:`duramen.Table` says more of its columns and
        rows.
    y : array-like of shape (n,), or str
        Target, or the name of its column, as for :class:`duramen.Table`, with which it is None.
    estimator : estimator of duramen, optional
        Forest; a copy of it is fitted. By default a random forest of 1000 trees, fewer for more
        than 100,000 rows, that splits by entropy where the target holds classes.
    measure : str or sequence of str
        Names in `duramen.importances.catalogue`; the first one orders the features. "auto": those
        that the command computes, as far as the forest allows.
    test : str, sequence of str, or False
        "auto" for the default test, or a name in `duramen.significance.catalogue`: at most one of
        these, which gives the verdicts. "direct": each feature given all others
        (:func:`duramen.significance.conditional`), as the column ``direct``; with
        `feature_groups`, first the groups, then the members of those that are direct.
        "interactions": all pairs of features (:func:`duramen.significance.interaction_test`).
        Such as ``("auto", "direct", "interactions")``; False for no test.
    n_permutations : int, optional
        Number of rounds of the test, each with new forests.
    intervals : bool
        Whether confidence intervals of the importances are estimated.
    stability : int, optional
        Number of first features whose stability over halves of the rows is measured.
    clusters, representatives : float, optional
        Correlation from which on features are put in clusters, after they are ranked or before.
    explain : row, sequence of rows, or table, optional
        Rows whose predictions are explained by :func:`duramen.importances.local_mdi`: labels of the
        index of `X`, or else numbers from 0; "all" for every row; or a table of new rows with the
        columns of `X`.
    memory : str or int, optional
        Memory for the ranking, such as "2GB" or a number of bytes. A `ColumnStore` of which it
        would take more stays on disk: random patches that fit are grown, and the test and the
        effects are of a random sample of rows (docs/how-to/data/patches.md). By default a store is
        mapped into memory.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that runs the forests of the test, the intervals and the stability; the result does
        not depend on it.
    checkpoint : path, optional
        File that keeps the work done; the same call resumes from it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    RankingReport
        Conclusion, table, verdicts, directions and notes; `save` writes the files of the command.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the table is refused, as for dates and identifiers.
    AnalysisInterrupted
        Ctrl-C once importances are computed; its attribute ``report`` has what is finished.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> report = dm.rank(data.X, data.y, n_jobs=1)
    >>> report.verdicts["x0"], report.directions["x0"]
    ('confirmed', 'up for 1')
    """
    call = call_words(rank, locals())
    notes: list[str] = []
    execution = execution_of(
        "rank", notes, random_state=random_state, n_jobs=n_jobs, client=client,
        checkpoint=checkpoint, verbose=verbose,
    )  # fmt: skip
    table = table_of("rank", X, y)
    of_clusters = is_clusters(table.feature_groups, clusters)
    tests = tests_of(test)
    direct, interactions = "direct" in tests, "interactions" in tests
    beside = bool(intervals or stability or direct or interactions)
    request = requested_test(tests, n_permutations, checkpoint, beside=beside)
    bound = memory_of(memory, "rank")
    problem = problem_of(
        "rank", table, n_jobs=n_jobs, seed=execution.random_state, stored=bound is not None
    )
    problem, bound = settled(problem, bound, execution)
    notes += problem.remarks
    if bound is not None and estimator is None:
        estimator = PATCHES.estimator(problem.task)(
            trees_by_default(problem.data.n_rows), **problem.data.target.ranking_parameters
        )
    forest, name = forest_for(problem.data, estimator, execution, notes)
    if bound is not None:
        check_kind(name, execution.wording)
        forest, note = fitted_to(forest, problem.data, bound, execution)
        problem = replace(problem, notes=(*problem.notes, note))
        notes.append(note)
    check_exchanges(request, problem.data, beside=beside, direct=direct)
    grouping = None if of_clusters else groups_of(table.feature_groups, problem.data.names)
    if request is not None:
        request = request.with_groups(grouping, problem.data.names)
    asked = RankingRequest(
        name,
        measures_of(measure),
        request,
        Resampling(
            checks.check_flag("rank", "intervals", intervals),
            stability=checks.check_optional_integer("rank", "stability", stability, 1),
        ),
        Clustering(
            threshold_of("clusters", clusters),
            representatives=threshold_of("representatives", representatives),
        ),
        direct,
        grouping,
        of_clusters,
        pos_label=table.pos_label,
        rows=rows_asked(explain),
        interactions=interactions,
        memory=bound,
    )
    ranking = rank_features(problem, forest, asked, execution)
    report = report_of(
        ranking, command=call, settings=noted(problem.remarks), notes=tuple(dict.fromkeys(notes))
    )
    if ranking.stop is not None:
        raise AnalysisInterrupted(report) from None
    return report
