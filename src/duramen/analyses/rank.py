"""Analysis `rank`: importances of all features, a test of them, directions of effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, Literal

from duramen.analyses.caller import calling, faults_of_ours
from duramen.analyses.clustering import DISTANCE, Clustering
from duramen.analyses.execution import Execution
from duramen.analyses.ranking.description import (
    effects_of,
    out_of_bag_accuracy,
    target_columns,
)
from duramen.analyses.ranking.direct import correlated_groups, directness, with_advice
from duramen.analyses.ranking.forest import PARAMETERS, forest_of, kind_of
from duramen.analyses.ranking.groups import Groups, groups_of
from duramen.analyses.ranking.measuring import choose, grow_and_compute, measures_of, with_bias
from duramen.analyses.ranking.pairs import all_pairs, check_pairs
from duramen.analyses.ranking.patches import (
    PATCHES,
    check_kind,
    check_scores,
    check_stored,
    described_sample,
    fitted_to,
    readable,
    sample_of_store,
    settled,
)
from duramen.analyses.ranking.resampling import Resampling, described, precision_of, tested_rows
from duramen.analyses.ranking.rows import importances_of_rows, rows_asked
from duramen.analyses.ranking.significance import (
    Request,
    announce,
    check_exchanges,
    figures_of,
    requested,
    run_test,
    settings_of,
)
from duramen.analyses.report import AnalysisInterrupted, run_of
from duramen.analyses.run import Steps
from duramen.data import EncodedTable, LearningSet
from duramen.data.memory import returned_at_once
from duramen.importances import Inputs, Measure, catalogue, mda
from duramen.importances.comparison import Measured
from duramen.importances.refit import leaves_rows_out
from duramen.io.groups import CLUSTERS
from duramen.io.store.reader import memory_bytes
from duramen.jobs.progress import estimates
from duramen.jobs.replicates import checkpoint_beside
from duramen.reading.tables import read
from duramen.reports import Report, summarise
from duramen.reports.direct import Directness
from duramen.reports.facts import LEVEL, as_importances, n_significant
from duramen.reports.pairs import AllPairs
from duramen.reports.precision import Precision
from duramen.reports.ranking import Reasons, in_order, ranked
from duramen.reports.rows import RowImportances
from duramen.reports.signals import GroupImportances
from duramen.reports.significance import Verdict
from duramen.results.conditional_significance import ConditionalSignificance
from duramen.results.significance import ErrorRates, Significance
from duramen.significance.conditional_tests.conditional import check_rows
from duramen.support import checks


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
        Test of each feature given all others, with `direct`.
    direct_clusters : tuple of tuples of str
        Direct and associated features, correlated ones together.
    rows : tuple of RowImportances
        Importances in the rows to explain: those of the table, then new ones.
    interactions : AllPairs or None
        Interactions of all pairs, with `interactions`.

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


def rank(
    data: Any,
    y: Any = None,
    *,
    estimator: Any = "random-forest",
    n_estimators: int | None = None,
    max_features: int | float | str = "auto",
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    criterion: Literal["auto", "gini", "entropy", "variance"] = "auto",
    class_weight: str | Mapping[Any, float] | None = None,
    bootstrap: bool | None = None,
    memory: int | str | None = None,
    measure: str | Sequence[str] = "auto",
    test: str | bool = "auto",
    n_permutations: int | None = None,
    distribution: Literal["empirical", "normal", "lognormal", "gamma"] | None = None,
    stop_after: int | None = None,
    n_probes: int | None = None,
    rank_based: Literal["later", "own"] | None = None,
    group_score: Literal["mean", "sum", "max"] | None = None,
    direct: bool = False,
    interactions: bool = False,
    explain: int | str | Sequence[int | str] = (),
    explain_rows: str | Path | Any = None,
    intervals: bool = False,
    interval_scale: Literal["importance", "fraction"] | None = None,
    stability: int | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    feature_groups: str | Path | Mapping[str, Any] | Any = None,
    clusters: float | None = None,
    distance: int = DISTANCE,
    representatives: float | None = None,
    random_state: int | Any = 0,
    n_jobs: int | None = -1,
    client: Any = None,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> RankingReport:
    """Rank the features of a table by their importance for a target.

    Grows a forest, tests which importances are larger than expected by chance, and describes the
    directions of effects.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    estimator : str or estimator of duramen
        Kind of forest; in Python also an estimator, of which a copy is fitted.
    n_estimators : int, optional
        Number of trees; 1,000 by default, and of more than 100,000 rows 100,000,000 divided by
        their number, at least 50.
    max_features : int, float or str
        Number of features tried at a node: auto, sqrt, log2, all, an integer or a fraction.
    max_depth : int, optional
        Maximum depth of the trees; no limit by default.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    criterion : {"auto", "gini", "entropy", "variance"}
        Impurity criterion; auto is entropy for classes, variance for numbers.
    class_weight : str, optional
        Weights of the classes: balanced gives each the same weight, balanced-subsample the same in
        the rows of each tree; none by default.
    bootstrap : bool, optional
        Draw the rows of each tree with replacement, or use all rows; the default depends on the
        kind of forest.
    memory : int or str, optional
        Memory for the ranking, such as 2GiB. A column store of which it would take more stays on
        disk: random patches that fit are grown, each tree on a sample of rows and columns. By
        default, a store is mapped into memory.
    measure : str or list of str
        Importance measure; the first one orders the features. By default mdi-oob, mdi and mda, as
        far as the forest allows; features are then ordered by verdict, and by MDI-oob (survival:
        MDA) where trees leave rows out.
    test : str or bool
        Significance test of the importances; auto is max-t, none (in Python also False) skips it.
    n_permutations : int, optional
        Number of rounds of the test, each with new forests; by default 99 for each stage of max-t,
        10 for forest-probe-ranking, else 100.
    distribution : {"empirical", "normal", "lognormal", "gamma"}, optional
        Distribution of importances under the null hypothesis of altmann: the permutations
        themselves, or one fitted to them; empirical by default.
    stop_after : int, optional
        Number of permutations with at least the importance of a feature after which its test stops
        early, for altmann and hapfelmeier; no early stop by default.
    n_probes : int, optional
        Number of random probes of forest-probe-ranking and probe-ranking, such as 200; by default
        the number of features for forests, and 1 for the linear model.
    rank_based : {"later", "own"}, optional
        Compare ranks instead of importances in conditional-error-rate: those of the features after
        each one (later), or its own (own). By default, importances are compared.
    group_score : {"mean", "sum", "max"}, optional
        Importance of a group of ``feature_groups`` in conditional-error-rate, computed from those
        of its features; mean by default.
    direct : bool
        Also test each feature given all others, which tells features that matter directly from
        those that are only correlated with them.
    interactions : bool
        Also test all pairs of columns for an interaction beyond their main effects.
    explain : list of int or str
        Row to explain: which features lead to its prediction. Its name in the sample annotations
        or the column that identifies rows, or its number, from 1 in a file and from 0 in a table in
        memory; all for every row.
    explain_rows : path or table, optional
        Table of new rows to explain, with the columns of the features.
    intervals : bool
        Estimate confidence intervals of the importances by the first measure, from forests on
        random subsamples of the rows.
    interval_scale : {"importance", "fraction"}, optional
        With ``intervals``: what they are of, the importances, as by default, or their fractions of
        the sum over all features, which heavy tails of a numeric target do not distort.
    stability : int, optional
        Number of the most important features, such as 10, about which forests on random halves of
        the rows are compared.
    confidence_level : float
        With ``intervals`` or ``stability``: confidence level of the intervals, such as 0.9.
    n_resamples : int, optional
        With ``intervals`` or ``stability``: number of random subsamples of the rows, each with a
        forest; by default 100 for intervals, 50 for stability.
    feature_groups : path, mapping, or "clusters", optional
        Groups of features, each permuted as a whole for its MDA, and tested as a whole by max-t,
        conditional-error-rate and ``direct``: a file of two columns, the features and the group of
        each, such as groups.csv; a .gmt file of gene sets that do not overlap, of which features
        that are not in the table are left out; a table of name, chromosome and position, for blocks
        as wide as ``distance``; or clusters, those of ``clusters``.
    clusters : float, optional
        Put features in a cluster with a more important one if their absolute correlation is at
        least this, such as 0.8; variants of a PLINK file only within ``distance``.
    distance : int
        Largest distance, in base pairs: with ``clusters``, between a variant and the representative
        of its cluster; with ``feature_groups``, between the first and the last variant of a block.
    representatives : float, optional
        Grow the forest on one representative of each cluster of features whose absolute rank
        correlation is this on average, such as 0.8; the results have all members.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Number of threads; -1 for all processors. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that grows the forests of the test, the intervals and the stability; the result does
        not depend on it.
    checkpoint : path, optional
        File that saves the work done; the same call resumes a stopped run from it.
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
    arguments = dict(locals())
    caller = calling(rank, arguments)
    execution = caller.execution(
        "rank",
        random_state=random_state,
        n_jobs=n_jobs,
        client=client,
        checkpoint=checkpoint,
        verbose=verbose,
    )
    # --- what is asked for ---
    growth = {name: arguments[name] for name in PARAMETERS}
    defaults = signature(rank).parameters
    changed = [name for name in PARAMETERS if growth[name] != defaults[name].default]
    kind = kind_of(estimator, growth, changed)
    names = measures_of(measure)
    for name in ("direct", "interactions", "intervals"):
        checks.check_flag("rank", name, arguments[name])
    resampling = _resampling(intervals, interval_scale, stability, confidence_level, n_resamples)
    more = bool(resampling.asked) or direct or interactions
    few = ("distribution", "stop_after", "n_probes", "rank_based", "group_score")
    request = requested(
        test, n_permutations, {name: arguments[name] for name in few}, checkpoint, beside=more
    )
    of_clusters = isinstance(feature_groups, str) and feature_groups == CLUSTERS
    clustering = _clustering(clusters, distance, representatives, feature_groups, of_clusters)
    if request is not None:
        _check_beside(request, direct, feature_groups, of_clusters)
    bound = None if memory is None else memory_bytes(memory, "rank")
    # --- the data ---
    if not isinstance(data, LearningSet) or y is not None or not data.provenance.inspected:
        with execution.clock.step("read"):
            data = read(data, y, n_jobs=n_jobs)
    data, bound = settled(data, bound, execution)
    execution.notes(data.provenance.remarks)
    positive = data.positive
    check_exchanges(request, data, beside=more, direct=direct)
    groups = None
    if feature_groups is not None and not of_clusters:
        groups = groups_of(feature_groups, data.names, distance)
    if request is not None:
        request = request.with_groups(groups, data.names)
        request.test.check(data)
    rows = rows_asked(explain, explain_rows, data)
    if rows is not None:
        rows.check(data)
    if direct:
        check_rows(data, owner="rank: direct=True")
    if interactions:
        check_pairs(data)
    # --- the forest ---
    if bound is not None:
        check_stored(
            direct=direct,
            interactions=interactions,
            explain=rows,
            intervals=intervals,
            stability=stability,
            feature_groups=feature_groups,
            clusters=clusters,
            representatives=representatives,
        )
        kind = PATCHES if estimator == "random-forest" else kind
    forest, forest_name = forest_of(kind, estimator, growth, data, execution)
    if bound is not None:
        check_kind(forest_name)
        forest, note = fitted_to(forest, data, bound, execution)
        data = _noted(data, note, execution)
    data, signals = clustering.represented(data, execution.clock)
    if direct and of_clusters:
        assert clusters is not None
        with execution.clock.step("cluster"):
            groups = correlated_groups(data.table, clusters)
    choice = choose(names, forest=forest_name, task=data.task, out_of_bag=leaves_rows_out(forest))
    if bound is not None:
        choice = readable(choice)
    tested_measure = None if request is None else request.measure(choice.measures, forest)
    if request is not None and tested_measure is not None and not request.default and bound is None:
        choice = choice.with_tested(tested_measure)
    if bound is not None and request is not None:
        check_scores(request.test, tested_measure, choice)
    data = with_bias(data, choice, forest, execution)
    if feature_groups is not None and (request is None or request.feature_groups is None):
        _check_out_of_bag(forest, forest_name)
    resampling.check(choice.measures[0], data.n_columns)
    # --- importances ---
    steps = Steps(execution)
    with nullcontext() if bound is None else returned_at_once():
        inputs = Inputs(
            forest, data, execution.random_state, execution.n_jobs, execution.verbose, True
        )
        with execution.warnings_as_notes():
            measures, n_used = grow_and_compute(choice, inputs, steps, bound)
        steps.left_out[:0] = choice.left_out
        execution.notes(steps.left_out)
        first = as_importances(next(iter(measures.values())))
        resampling.check_target(first, data)
        sample = None  # for what needs a table in memory
        if bound is not None:
            with execution.clock.step("sample"):
                sample, note = sample_of_store(inputs, bound)
            data = _noted(data, note, execution)
        # --- what is computed beside them ---
        tested = None
        if request is not None:
            test_request = request
            tested = steps.run(
                "the significance test",
                lambda: _tested(test_request, tested_measure, measures, inputs, sample, steps),
                timed=f"test {request.test.option}",
                checkpoint=execution.checkpoint,
            )
            if tested is not None and not direct:
                tested = with_advice(tested, data, execution)
        selected = () if tested is None else tested.selected()
        given_others = None
        if direct:
            file = checkpoint_beside(execution.checkpoint, "direct")
            given_others = steps.run(
                "the test of direct effects",
                lambda: directness(inputs, groups, execution, file),
                timed="direct",
                checkpoint=file,
            )

        @cache
        def forest_and_rows() -> tuple[Any, LearningSet[EncodedTable]]:
            """Return a forest with its trees, and the rows that it was grown on."""
            if sample is None or bound is None:
                return described(inputs)
            return described_sample(sample, bound)

        order = in_order(first, tested).names
        effects = steps.run(
            "the directions of effects",
            lambda: effects_of(*forest_and_rows(), order, selected, positive, execution.n_jobs),
            timed="effects",
        )
        explained: tuple[RowImportances, ...] = ()
        if rows is not None:
            asked = rows
            explained = (
                steps.run(
                    "the importances in rows",
                    lambda: importances_of_rows(
                        asked, data, forest_and_rows()[0], positive, execution.n_jobs
                    ),
                    timed="rows",
                )
                or ()
            )
        pairs = None
        if interactions:
            file_of_pairs = checkpoint_beside(execution.checkpoint, "interactions")
            pairs = steps.run(
                "the interactions",
                lambda: all_pairs(inputs, *forest_and_rows(), execution, file_of_pairs),
                timed="interactions",
                checkpoint=file_of_pairs,
            )
        ranked_by = catalogue[next(iter(measures))]
        precision = steps.run(
            resampling.part,
            lambda: precision_of(resampling, ranked_by, first, inputs, len(selected), execution),
        )
    if signals is None:
        places = replace(clustering, clusters=None).signals(data, first, execution.clock)
        signals = places
        if clusters is not None:
            signals = (
                steps.run(
                    "the clusters of features",
                    lambda: clustering.signals(data, first, execution.clock),
                )
                or places
            )
    of_groups = None
    if feature_groups is not None:
        of_clustering = signals.clusters
        found = groups or Groups.of_clusters(
            {} if of_clustering is None else of_clustering.members()
        )
        of_groups = steps.run(
            "the MDA of groups",
            lambda: _grouped(found, inputs, measures, given_others, tested, steps),
        )
    steps.finish()
    # --- the report ---
    provenance = data.provenance
    reasons = Reasons(pairs, explained)
    groups_of_rows = data.exchangeability.groups
    with faults_of_ours():
        run = run_of(
            data,
            execution,
            caller.command,
            settings={
                "forest": forest_name,
                "n_estimators": forest.n_estimators,
                **forest.forest_.settings.to_dict(),
                **_settings(measures, tested, precision, of_groups, given_others),
                **provenance.settings,
                **_grouping(clustering, feature_groups, groups),
                **({"notes": list(provenance.remarks)} if provenance.remarks else {}),
            },
            results={
                **out_of_bag_accuracy(forest, data.target, groups_of_rows),
                **({} if groups_of_rows is None else {"groups": data.exchangeability.n_units}),
                "features_used": n_used,
                **_figures(measures, tested, precision, given_others, reasons),
            },
        )
        several = list(measures.values())
        report = summarise(
            several[0],
            run,
            others=several[1:],
            left_out=steps.left_out,
            tested=tested,
            effects=effects,
            precision=precision,
            feature_groups=of_groups,
            direct=given_others,
            reasons=reasons,
            oob_errors=getattr(forest, "oob_error_curve_", None),
        )
        best = ranked(
            several,
            tested=tested,
            described=None if effects is None else effects.described,
            precision=precision,
            direct=given_others,
        )
        columns = {**best.columns(), **target_columns(data, best.first.names)}
        result = RankingReport.of(
            signals.report(report, first, tested),
            table=signals.columns(columns),
            notes=tuple(dict.fromkeys((*provenance.remarks, *execution.told))),
            importances=measures,
            significance=None if tested is None else tested.result,
            selected=selected,
            direct=None if given_others is None else given_others.result,
            direct_clusters=() if given_others is None else given_others.clusters,
            rows=explained,
            interactions=pairs,
        )
    if steps.stop is not None:
        raise AnalysisInterrupted(result, steps.stop) from None
    return result


def _grouping(clustering: Clustering, feature_groups: Any, groups: Groups | None) -> dict[str, Any]:
    """Return how features are put together, for the record."""
    asked = {"clusters": clustering.clusters, "representatives": clustering.representatives}
    if clustering.distance != DISTANCE:
        asked["distance"] = clustering.distance
    source = None if feature_groups is None else CLUSTERS if groups is None else groups.source
    given = {name: value for name, value in asked.items() if value is not None}
    return given if source is None else {**given, "feature_groups": source}


def _resampling(
    intervals: bool,
    scale: Any,
    stability: int | None,
    confidence_level: float,
    n_resamples: int | None,
) -> Resampling:
    """Return the intervals and the stability that are asked for.

    Raises
    ------
    ValueError
        If a parameter has no use, or is out of its range.
    """
    checks.check_optional_integer("rank", "stability", stability, 1)
    checks.check_optional_integer("rank", "n_resamples", n_resamples, 2)
    checks.check_real("rank", "confidence_level", confidence_level, 0, 1, ends="()")
    asked = Resampling(intervals, scale or "importance", stability, confidence_level, n_resamples)
    for name, changed in (
        ("confidence_level", confidence_level != 0.95),
        ("n_resamples", n_resamples is not None),
    ):
        if changed and not asked.asked:
            raise ValueError(
                f"rank: {name} has no effect without intervals=True or stability=K; leave it out"
            )
    if scale is not None:
        checks.check_choice("rank", "interval_scale", scale, ("importance", "fraction"))
        if not intervals:
            raise ValueError(
                "rank: interval_scale has no effect without intervals=True; leave it out"
            )
    return asked


def _clustering(
    clusters: float | None,
    distance: int,
    representatives: float | None,
    feature_groups: Any,
    of_clusters: bool,
) -> Clustering:
    """Return the clusters that are asked for.

    Raises
    ------
    ValueError
        If one way to group features excludes another, or a correlation is none.
    """
    for name, value in (("clusters", clusters), ("representatives", representatives)):
        if value is not None:
            checks.check_real("rank", name, value, 0, 1, ends="(]")
    checks.check_integer("rank", "distance", distance, 0)
    if clusters is not None and representatives is not None:
        raise ValueError(
            "rank: clusters=R puts features in clusters after they are ranked, representatives=R "
            "before; give one of them"
        )
    if representatives is not None and feature_groups is not None:
        raise ValueError(
            "rank: feature_groups=FILE and representatives=R both group features; give one of them"
        )
    if distance != DISTANCE and clusters is None and feature_groups is None:
        raise ValueError("rank: distance has no effect without clusters=R or feature_groups=FILE")
    if of_clusters and clusters is None:
        raise ValueError(
            f"rank: feature_groups={CLUSTERS!r} needs clusters=R, such as clusters=0.8. Hint: for "
            f"a file of that name, feature_groups='./{CLUSTERS}'"
        )
    return Clustering(clusters, distance, representatives)


def _check_beside(request: Request, direct: bool, feature_groups: Any, of_clusters: bool) -> None:
    """Check that a test goes with what else is asked for.

    Raises
    ------
    ValueError
        If not.
    """
    test = request.test
    if direct and test.name == "conditional":
        raise ValueError(
            "rank: direct=True and test='conditional' are the same test; give one of them"
        )
    if "how" in request.choices and feature_groups is None:
        raise ValueError("rank: group_score needs feature_groups=FILE")
    if of_clusters and test.of_groups and not request.default:
        raise ValueError(
            f"rank: feature_groups={CLUSTERS!r} and test={test.name!r} do not go together: the "
            "clusters follow from the ranking that would be tested. Hint: feature_groups=FILE"
        )


def _check_out_of_bag(estimator: Any, forest: str) -> None:
    """Check that trees leave rows out, on which groups are measured.

    Raises
    ------
    ValueError
        If every tree sees all rows.
    """
    if not leaves_rows_out(estimator):
        raise ValueError(
            f"rank: feature_groups: every tree of {forest} sees all rows, and groups are measured "
            "on rows that a tree was grown without. Hint: add bootstrap=True, or leave out "
            "feature_groups"
        )


def _noted(data: LearningSet[Any], note: str, execution: Execution) -> LearningSet[Any]:
    """Tell a note on the data, and add it to their provenance."""
    execution.tell(note)
    provenance = replace(data.provenance, notes=(*data.provenance.notes, note))
    return replace(data, provenance=provenance)


def _tested(
    request: Request,
    measure: Measure | None,
    measures: Mapping[str, Measured],
    inputs: Inputs,
    sample: Inputs | None,
    steps: Steps,
) -> Verdict | None:
    """Run a test, of a measure if it is about one; of the sample of a table on disk."""
    execution = steps.execution
    scores = None
    if measure is not None and measure.name in measures:
        scores = as_importances(measures[measure.name])
    inputs, sampled = tested_rows(request, inputs) if sample is None else (sample, ())
    if measure is not None:
        announce(request, measure, inputs, execution)
    try:
        with nullcontext() if measure is None else estimates(None):  # it was estimated before
            verdict = run_test(request, measure, scores, inputs, execution)
    except MemoryError as error:
        if not request.default:
            raise
        steps.leave_out(f"the test of importances is left out: {error}")
        return None
    verdict = replace(verdict, notes=(*sampled, *verdict.notes))
    execution.notes(verdict.notes)
    return verdict


def _grouped(
    groups: Groups,
    inputs: Inputs,
    measures: Mapping[str, Measured],
    direct: Directness | None,
    tested: Verdict | None,
    steps: Steps,
) -> GroupImportances | None:
    """Measure groups of features, each permuted as a whole; only their test may take them."""
    if not leaves_rows_out(inputs.estimator):
        steps.leave_out(
            "MDA of groups left out: every tree sees all rows; bootstrap=True computes it"
        )
        return None
    members = groups.whole(inputs.data.names)
    with steps.execution.clock.step("feature_groups"):
        importances = mda(
            inputs.estimator, inputs.data, feature_groups=members, n_jobs=inputs.n_jobs
        )
    return GroupImportances(
        importances,
        members,
        as_importances(measures["mda"]) if "mda" in measures else None,
        groups.source,
        direct=None if direct is None else direct.of_groups,
        tested=None if tested is None else tested.of_groups,
    )


def _settings(
    measures: Mapping[str, Measured],
    tested: Verdict | None,
    precision: Precision | None,
    of_groups: GroupImportances | None,
    direct: Directness | None,
) -> dict[str, Any]:
    """Return the names of the measures, and the settings of each and of the tests."""
    return {
        "measures": list(measures),
        **{name: dict(result.metadata.get(name, {})) for name, result in measures.items()},
        **({} if tested is None else {"significance": settings_of(tested)}),
        **({} if precision is None else precision.settings()),
        **({} if of_groups is None else {"group_mda": of_groups.settings()}),
        **({} if direct is None else {"direct": direct.settings()}),
    }


def _figures(
    measures: Mapping[str, Measured],
    tested: Verdict | None,
    precision: Precision | None,
    direct: Directness | None,
    reasons: Reasons,
) -> dict[str, Any]:
    """Return a few figures: unit and sum of the first, units of all, what is significant."""
    first = as_importances(next(iter(measures.values())))
    return {
        "importance_sum": float(first.values.sum()),
        "unit": first.unit,
        "units": {name: result.unit for name, result in measures.items()},
        f"features_with_q_up_to_{LEVEL:g}": {
            name: n_significant(result)
            for name, result in measures.items()
            if isinstance(result, Significance)
        },
        **({} if tested is None else {"significance": figures_of(tested)}),
        **({} if precision is None else precision.figures()),
        **({} if direct is None else {"direct": direct.figures()}),
        **reasons.figures(),
    }
