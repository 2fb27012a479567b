"""Analysis `rank`: importances of all features, a test of them, directions of effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from duramen.analyses import feature_groups as grouping
from duramen.analyses.execution import AnalysisInterrupted, Execution, faults_of_ours
from duramen.analyses.ranking import direct as given_others
from duramen.analyses.ranking import effects, precision, significance
from duramen.analyses.ranking import model as models
from duramen.analyses.ranking.forest import (
    PARAMETERS,
    choose,
    described,
    forest_of,
    grow_and_compute,
    out_of_bag_accuracy,
    with_bias,
)
from duramen.analyses.ranking.pairs import all_pairs, check_pairs
from duramen.analyses.ranking.report import RankingReport, in_order, summarize
from duramen.analyses.ranking.rows import importances_of_rows, rows_asked
from duramen.data.target import SurvivalTarget
from duramen.effects import describe_effects
from duramen.importances import Inputs, catalogue, mda
from duramen.importances.measures.holdout_mda import cross_fitted
from duramen.importances.refit import is_model, leaves_rows_out
from duramen.io import ColumnStore
from duramen.io.groups import CLUSTERS, DISTANCE
from duramen.jobs.replicates import checkpoint_beside
from duramen.reading.tables import read
from duramen.reports.report import LEVEL, OF_GROUPS, as_importances
from duramen.results.significance import AdjustedSignificance, Significance
from duramen.significance.conditional_tests.conditional import check_rows
from duramen.significance.measured import automatic
from duramen.significance.resampling import variance_error
from duramen.support import checks
from duramen.support.arrays import DataFrame, RandomState, TableLike
from duramen.support.text import quoted


@checks.hints_on_keywords(read)
def rank(
    data: TableLike,
    y: ArrayLike | None = None,
    *,
    positive: str | int | None = None,
    estimator: Any = "random-forest",
    estimator_params: str | Mapping[str, Any] | None = None,
    n_estimators: int | None = None,
    max_features: int | float | str = "auto",
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    criterion: Literal["auto", "gini", "entropy", "variance"] = "auto",
    class_weight: str | Mapping[Any, float] | None = None,
    bootstrap: bool | None = None,
    measure: str | Sequence[str] = "auto",
    test: str | bool = "auto",
    n_permutations: int | None = None,
    distribution: Literal["empirical", "normal", "lognormal", "gamma"] | None = None,
    direct: bool = False,
    interactions: bool = False,
    explain: int | str | Sequence[int | str] = (),
    explain_rows: str | Path | TableLike | None = None,
    intervals: bool = False,
    stability: int | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    feature_groups: str | Path | Mapping[str, Any] | DataFrame | None = None,
    clusters: float | None = None,
    distance: int = DISTANCE,
    representatives: float | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = -1,
    client: Any = None,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> RankingReport:
    """Rank the features of a table by their importance for a target.

    Grows a forest, tests its importances by permutation, and describes effects.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    positive : label, optional
        Class that the directions of effects are about, such as that of the ill; by default, of two
        classes, the one whose label is that of cases, such as yes, 1 or dead, or else the rarer
        one, and of more classes for each feature the one that depends on it most.
    estimator : str or estimator
        Kind of forest, or the class of another model, such as
        sklearn.ensemble.HistGradientBoostingClassifier, whose features are permuted in rows held
        out. In Python also an estimator or Pipeline with fit and predict, of which copies are
        fitted.
    estimator_params : str or mapping, optional
        Parameters of the class of another model, a JSON object such as '{"max_iter": 200}'.
    n_estimators : int, optional
        Number of trees, 1,000 by default. Tables of more than 100,000 rows get 100,000,000 divided
        by the number of rows, and at least 50.
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
    measure : str or list of str
        Importance measure; the first one orders the features. By default mdi-oob, mdi and mda, as
        far as the forest allows; features are then ordered by verdict, and by MDI-oob (survival:
        MDA) where trees leave rows out.
    test : str or bool
        Significance test of the importances; auto is max-t, none (in Python also False) skips it.
    n_permutations : int, optional
        Number of rounds of the test; by default 99 for each stage of max-t, 10 for
        forest-probe-ranking, else 100. Each round grows new forests.
    distribution : {"empirical", "normal", "lognormal", "gamma"}, optional
        Distribution of importances under the null hypothesis of altmann: the permutations
        themselves, or one fitted to them; empirical by default.
    direct : bool
        Also test each feature given all others. The test separates features that matter directly
        from features that are only correlated with them.
    interactions : bool
        Also test all pairs of columns for an interaction beyond their main effects.
    explain : list of int or str
        Row to explain, by name or number; all for every row. The result has the contributions of
        the features to its prediction. Names are those of the sample annotations or of the column
        that identifies rows; numbers start at 1 in a file and at 0 in a table in memory.
    explain_rows : path or table, optional
        Table of new rows to explain, with the columns of the features.
    intervals : bool
        Estimate confidence intervals of the importances by the first measure, from forests on
        random subsamples of the rows.
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
        Number of threads, or -1 for all. The result does not depend on it.
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
        If an argument is not as described, or the table is refused.
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
    execution, defaults = Execution.of(rank, arguments), signature(rank).parameters

    # --- the question ---
    growth = {name: arguments[name] for name in PARAMETERS}
    changed = [name for name in PARAMETERS if growth[name] != defaults[name].default]
    for name in ("direct", "interactions", "intervals"):
        checks.check_flag("rank", name, arguments[name])
    precision.check_arguments(intervals, stability, confidence_level, n_resamples)
    beside = bool(intervals or stability is not None or direct or interactions)
    test_to_run, test_arguments = significance.requested(
        test, n_permutations, distribution, None if beside else checkpoint
    )
    default = test == "auto"
    of_clusters = isinstance(feature_groups, str) and feature_groups == CLUSTERS
    grouped = any(way is not None for way in (clusters, representatives, feature_groups))
    if grouped or distance != DISTANCE:
        grouping.check_arguments(clusters, distance, representatives, feature_groups)
    if direct and test_to_run is not None and test_to_run.name == "conditional":
        raise ValueError(
            "rank: direct=True and test='conditional' are the same test; give one of them"
        )
    if of_clusters and test_to_run is not None and test_to_run.of_groups and not default:
        raise ValueError(
            f"rank: feature_groups={CLUSTERS!r} and test={test_to_run.name!r} do not go together: "
            "the clusters follow from the ranking that would be tested. Hint: feature_groups=FILE"
        )

    if estimator_params is not None or (isinstance(estimator, str) and "." in estimator):
        estimator = models.named_model(estimator, estimator_params)

    # --- the data ---
    with execution.step("read"):
        data = read(data, y, positive=positive, n_jobs=n_jobs)
    if isinstance(data.table, ColumnStore):
        with execution.step("load"):
            data = data.in_memory()
    if data.table.constant().all():
        raise ValueError(
            f"every column is constant: none can be relevant for {data.provenance.target}"
        )
    label, why = data.target.default_positive
    if data.positive is None and why and not is_model(estimator):
        second = next(name for name in data.target.class_sizes() or () if name != label)
        execution.tell(
            f"directions are about {quoted(label)}, {why} of {data.provenance.target}. Hint: "
            f"positive={second!r} for those about {quoted(second)}"
        )
    execution.tell(*data.provenance.remarks)
    groups = groups_to_test = rows = None
    source = "feature_groups"
    if isinstance(feature_groups, str | PathLike):
        source = Path(feature_groups).name
    if feature_groups is not None and not of_clusters:
        groups = grouping.groups_of(feature_groups, data.names, distance)
    if test_to_run is not None:
        significance.check_rows(test_to_run, data, beside=beside, direct=direct)
        # The default test is of features alone where a group has the name of one.
        named_alike = groups is not None and not set(data.names).isdisjoint(groups)
        if test_to_run.of_groups and not (default and named_alike):
            groups_to_test = groups
    if explain_rows is not None or np.size(explain):
        rows = rows_asked(explain, explain_rows, data)
    if direct:
        check_rows(data, owner="rank: direct=True")
    if interactions:
        check_pairs(data)

    # --- the forest, or another model, and its measures ---
    forest, forest_name = forest_of(estimator, growth, changed, data, execution)
    other, clustered = is_model(forest), None
    out_of_bag = not other and leaves_rows_out(forest)
    if other:
        words = ("direct", "interactions", "explain", "explain_rows", "intervals", "stability")
        asked = {name: arguments[name] for name in words}
        models.check_model(forest, data.target, changed, asked, test_to_run)
    if representatives is not None:
        with execution.step("cluster"):
            data, clustered = grouping.represented(data, representatives)
    if direct and of_clusters and clusters is not None:
        with execution.step("cluster"):
            groups = given_others.correlated_groups(data.table, clusters)
    if other:
        to_compute, required, note = models.measures_of_model(measure, forest_name)
    else:
        to_compute, required, note = choose(
            measure, forest=forest_name, task=data.task, out_of_bag=out_of_bag
        )
    if note:
        execution.left_out.append(note)
    tested_measure = None
    if test_to_run is not None and default:  # which has a measure of its own
        tested_measure = catalogue[automatic(forest)]
    elif test_to_run is not None and not test_to_run.of_rows:
        suited = filter(test_to_run.suits, (*to_compute, *catalogue))
        tested_measure = next(suited)
        required.append(tested_measure)
        to_compute = list(dict.fromkeys((*to_compute, tested_measure)))
    ranked_by = to_compute[0]
    if ranked_by.favors_many_values:
        data = with_bias(data, ranked_by, out_of_bag, execution)
    if feature_groups is not None and groups_to_test is None and not (out_of_bag or other):
        raise ValueError(
            f"rank: feature_groups: every tree of {forest_name} sees all rows, and groups are "
            "measured on rows that a tree was grown without. Hint: add bootstrap=True, or leave "
            "out feature_groups"
        )
    if intervals or stability is not None:
        precision.check_measure(ranked_by, data.n_columns, stability)
    inputs = Inputs(forest, data, execution.random_state, n_jobs, execution.verbose, True)
    held_out = None
    if other:
        with execution.step("fit"), execution.warnings_as_notes():
            held_out = cross_fitted(forest, data, execution.random_state, "rank")
        execution.left_out.append(models.LEFT_OUT)
    with execution.warnings_as_notes():
        measures, n_used = grow_and_compute(to_compute, inputs, execution, required=required)
    execution.tell(*execution.left_out)
    first = as_importances(next(iter(measures.values())))
    if intervals:  # before a long test
        variance_error(data, first.unit, "rank: intervals=True")

    # --- the significance test ---
    parts, tested, tested_groups = dict[str, Any](), None, None
    if test_to_run is not None:
        test_it = partial(
            significance.run_test,
            *(test_to_run, test_arguments, tested_measure, measures),
            *(groups_to_test, source, inputs, execution),
            default=default,
        )
        try:
            tested, tested_groups = execution.run(
                "the significance test",
                test_it,
                timed=f"test {test_to_run.option}",
                checkpoint=execution.checkpoint,
            ) or (None, None)
        except MemoryError as error:
            if not default:
                raise
            execution.leave_out(f"the test of importances is left out: {error}")
    selected = significance.selected_by(tested)
    if tested is not None:
        execution.tell(*tested.notes)
        many = len(selected) > given_others.MANY_FOUND and isinstance(tested, AdjustedSignificance)
        if many and not direct and data.weights is None:
            execution.tell(
                f"{tested.method}: {len(selected):,} features are confirmed or candidates, and "
                "some may be associated with the target only through others. Hint: direct=True "
                "tests each feature given all others"
            )
    parts["tested"] = tested
    if direct:
        file = checkpoint_beside(execution.checkpoint, "direct")
        parts["direct"], parts["direct_groups"] = execution.run(
            "the test of direct effects",
            partial(given_others.test_given_others, inputs, groups, execution, file),
            timed="direct",
            checkpoint=file,
        ) or (None, None)
        if parts["direct"] is not None:
            parts["direct_clusters"] = given_others.clusters_of(parts["direct"], data.table)

    # --- effects, rows and pairs ---
    forest_and_rows, relevant = cache(partial(described, inputs)), set(selected)
    order = in_order(first, tested).names
    best = [name for i, name in enumerate(order) if i < effects.DESCRIBED or name in relevant]
    if not other:
        parts["described"] = execution.run(
            "the directions of effects",
            lambda: describe_effects(
                *forest_and_rows(),
                best,
                relevant=relevant,
                n_jobs=n_jobs,
            ),
            timed="effects",
        )
    if rows is not None:
        parts["rows"] = execution.run(
            "the importances in rows",
            lambda: importances_of_rows(rows, data, forest_and_rows()[0], data.positive, n_jobs),
            timed="rows",
        )
    if interactions:
        file = checkpoint_beside(execution.checkpoint, "interactions")
        parts["pairs"] = execution.run(
            "the interactions",
            lambda: all_pairs(inputs, *forest_and_rows(), execution, file),
            timed="interactions",
            checkpoint=file,
        )

    # --- precision: strata are for the test alone ---
    without_strata = data.with_exchangeability(data.exchangeability.without_strata())
    ranking = replace(inputs, data=without_strata)
    if intervals or stability is not None:
        parts |= precision.on_parts(
            ranking,
            execution,
            ranked_by,
            first,
            intervals=intervals,
            stability=stability,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
        )
    if not other:
        parts["trees"] = execution.run(
            "the number of trees that is needed",
            partial(precision.trees_for, ranked_by, ranking, len(selected)),
            timed="trees needed",
        )

    # --- clusters and groups of features ---
    if clusters is not None:
        clustered = execution.run(
            "the clusters of features",
            partial(grouping.clusters_of, data, first, clusters, distance),
            timed="cluster",
        )
    group_importances, members = None, dict[str, Sequence[str]]()
    if feature_groups is not None:
        if groups is None:
            source = CLUSTERS
            groups = {} if clustered is None else grouping.of_several(clustered.members())
        members = grouping.whole(groups, data.names)
        if out_of_bag:
            group_importances = execution.run(
                "the MDA of groups",
                lambda: mda(forest, data, feature_groups=members, n_jobs=n_jobs),
                timed="feature_groups",
            )
        elif other:
            execution.leave_out("MDA of groups left out: it is of forests of duramen")
        else:
            execution.leave_out(
                "MDA of groups left out: every tree sees all rows; bootstrap=True computes it"
            )
    if execution.stop is not None:
        unfinished = ", ".join(execution.unfinished)
        execution.leave_out(f"interrupted; left out of the results: {unfinished}")

    # --- the record and the report ---
    parts = {name: part for name, part in parts.items() if part is not None}
    provenance, groups_of_rows = data.provenance, data.exchangeability.groups
    with faults_of_ours():
        further = dict[str, Any]()
        if other:
            of_model = {"model": forest_name, "estimator": models.described_model(forest)}
        else:
            grown = forest.forest_.settings.to_dict()
            of_model = {"forest": forest_name, "n_estimators": forest.n_estimators, **grown}
        settings = {
            **of_model,
            "measures": list(measures),
            **{name: dict(part.metadata.get(name, {})) for name, part in measures.items()},
            **provenance.settings,
        }
        results: dict[str, Any] = {
            **out_of_bag_accuracy(forest, data.target, groups_of_rows, held_out),
            **({} if other else {"features_used": n_used}),
            "importance_sum": float(first.values.sum()),
            "unit": first.unit,
            "units": {name: part.unit for name, part in measures.items()},
            f"features_with_q_up_to_{LEVEL:g}": {
                name: int((part.q_values <= LEVEL).sum())
                for name, part in measures.items()
                if isinstance(part, Significance)
            },
        }
        for name in ("clusters", "representatives", "distance"):
            if arguments[name] != defaults[name].default:
                settings[name] = arguments[name]
        if tested is not None:
            settings["significance"], results["significance"] = significance.record_of(tested)
        if "direct" in parts:
            of_direct = parts["direct"], parts.get("direct_groups")
            settings["direct"], results["direct"] = given_others.record_of(*of_direct)
        if "intervals" in parts or "stability" in parts:
            of_parts = precision.record_of(parts.get("intervals"), parts.get("stability"))
            settings, results = settings | of_parts[0], results | of_parts[1]
        if "trees" in parts:
            needed = parts["trees"]
            trees = {"trees_to_rank": needed.trees_to_rank, "trees_to_see": needed.trees_to_see}
            results["trees_needed"] = {
                "first_features": needed.k,
                "agreement_of_halves": float(needed.agreement[-1]),
                "agreement_interval": list(needed.interval()),
                "wanted_agreement": needed.wanted,
                **{name: float(n) if np.isfinite(n) else None for name, n in trees.items()},
            }
        if "pairs" in parts:
            results["interactions"] = parts["pairs"].figures()
        if "rows" in parts:
            results["rows"] = [part.figures() for part in parts["rows"]]
        if group_importances is not None:
            parts["groups"], further[OF_GROUPS] = grouping.table_of(
                group_importances,
                members,
                source,
                measures.get("mda"),
                tested_groups,
                parts.get("direct_groups"),
            )
            of_mda = group_importances.metadata.get("mda", {})
            settings["group_mda"] = {"source": source, "n_groups": len(members), **of_mda}
        if isinstance(data.target, SurvivalTarget):
            results["events"] = int(np.count_nonzero(data.target.events))
        if groups_of_rows is not None:
            results["groups"] = data.exchangeability.n_units
        if feature_groups is not None:
            settings["feature_groups"] = source
        if provenance.remarks:
            settings["notes"] = list(provenance.remarks)
        variants, above = provenance.variants, list[Any]()
        placed = variants is not None or clustered is not None
        if placed:
            shown = significance.manhattan(tested, first)
            above = grouping.sections_of(first, variants, clustered, shown)
        associated = effects.target_columns(data, order)
        report = summarize(
            measures,
            execution.record(data.facts(), settings=settings, results=results),
            data=forest_and_rows()[1] if "described" in parts else None,
            above=above,
            left_out=execution.left_out,
            unfinished=execution.unfinished,
            oob_errors=getattr(forest, "oob_error_curve_", None),
            associated=associated,
            **parts,
        )
        table = {**report.table, **associated}
        if placed:
            table = grouping.with_clusters(table, variants, clustered)
        notes = tuple(dict.fromkeys((*provenance.remarks, *execution.remarks)))
        further |= report.further
        report = replace(report, table=table, further=further, notes=notes)
    if execution.stop is not None:
        raise AnalysisInterrupted(report, execution.stop) from None
    return report
