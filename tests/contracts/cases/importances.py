"""Measures of importance, and what is done with importances afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import (
    NAMES,
    N,
    classes,
    estimator,
    features,
    forest,
    groups,
    jobs,
    missing,
    mixed,
    mixed_target,
    numbers,
    strata,
    table,
    target,
)
from tests.contracts.registry import case

import duramen as dm
from duramen import importances as measures

TASKS = ("classification", "regression")
ROWS = {"random_state": 5, "n_jobs": jobs()}


def _of_forest(measure: str, task: str = "classification", **options: Any) -> Any:
    return extracts.importances(getattr(measures, measure)(forest(task), **options))


def _on_rows(measure: str, task: str = "classification", **options: Any) -> Any:
    function = getattr(measures, measure)
    return extracts.importances(function(forest(task), table(), target(task), **options))


for task in TASKS:
    case(f"mdi/{task}", measures.mdi, measure="mdi", task=task)(_of_forest)
    case(f"mdi/{task} by degree", measures.mdi, measure="mdi", task=task, by_degree=True)(
        _of_forest
    )
    case(f"mdi/{task} on given rows", measures.mdi, measure="mdi", task=task)(_on_rows)
    case(f"mdi/{task} rows=oob", measures.mdi, measure="mdi", task=task, rows="oob")(_on_rows)
    case(
        f"mdi/{task} node_weights=in-bag",
        measures.mdi,
        measure="mdi",
        task=task,
        rows="oob",
        node_weights="in-bag",
    )(_on_rows)
    case(f"frequency/{task}", measures.frequency, measure="frequency", task=task)(_of_forest)
    case(f"minimal_depth/{task}", measures.minimal_depth, measure="minimal_depth", task=task)(
        _of_forest
    )
    case(f"noising/{task}", measures.noising, measure="noising", task=task)(_on_rows)
    case(f"mda/{task}", measures.mda, measure="mda", task=task, **ROWS)(_on_rows)
    case(
        f"mda/{task} scaled",
        measures.mda,
        measure="mda",
        task=task,
        scaled=True,
        n_repeats=2,
        **ROWS,
    )(_on_rows)
    case(
        f"mda/{task} ensemble votes",
        measures.mda,
        measure="mda",
        task=task,
        votes="ensemble",
        **ROWS,
    )(_on_rows)
    case(
        f"mda/{task} groups",
        measures.mda,
        measure="mda",
        task=task,
        feature_groups={"first": ["a", "b"], "rest": ["c", "d"]},
        **ROWS,
    )(_on_rows)
    case(
        f"conditional_mda/{task}",
        measures.conditional_mda,
        measure="conditional_mda",
        task=task,
        **ROWS,
    )(_on_rows)
    case(
        f"sobol_mda/{task}",
        measures.sobol_mda,
        measure="sobol_mda",
        task=task,
        feature_groups={"first": ["a", "b"], "c": ["c"]},
        n_jobs=jobs(),
    )(_on_rows)
    case(
        f"shaff/{task}",
        measures.shaff,
        measure="shaff",
        task=task,
        feature_groups={"first": ["a", "b"]},
        n_subsets=20,
        random_state=1,
        n_jobs=jobs(),
    )(_on_rows)
    case(f"mdi_plus/{task}", measures.mdi_plus, measure="mdi_plus", task=task)(_on_rows)
    case(f"noising/{task} on all rows", measures.noising, measure="noising", task=task, rows=None)(
        _on_rows
    )


def _local(task: str = "classification", y: Any = None, **options: Any) -> Any:
    result = measures.local_mdi(forest(task), table(), y, n_jobs=jobs(), **options)
    columns = extracts.frame(result)
    return columns, result.weights, result.start, result.unit, result.clustered()


for task in TASKS:
    for rows in (None, "oob", "in-bag"):
        case(
            f"local_mdi/{task} rows={rows}",
            measures.local_mdi,
            measures.LocalImportances,
            task=task,
            rows=rows,
            sparse=rows == "oob",
        )(_local)
case("local_mdi/class", measures.local_mdi, y=classes(), of="class", prior_weight=1.0)(_local)
case("local_mdi/class prediction", measures.local_mdi, y="top", of="prediction")(_local)
case("local_mdi/prediction", measures.local_mdi, task="regression", of="prediction")(_local)

for task in TASKS:
    for count in (None, 3):
        case(
            f"interactions/{task} features={count}",
            measures.interactions,
            measures.PairInteractions,
            task=task,
            features=count,
        )(
            lambda task, features: extracts.frame(
                measures.interactions(forest(task), table(), features=features)
            )
        )
case("interactions/sparse", measures.interactions)(
    lambda: extracts.frame(measures.interactions(forest(), sparse=True))
)
for label in (None, "top"):
    case(
        f"random_intersections/{label}",
        measures.random_intersections,
        measures.FeatureSets,
        pos_label=label,
    )(
        lambda pos_label: extracts.frame(
            measures.random_intersections(
                forest(), pos_label=pos_label, n_draws=9, depth=2, random_state=3
            )
        )
    )
case("interactions/multiway", measures.interactions)(
    lambda: extracts.frame(
        measures.interactions(
            dm.TotallyRandomizedTreesClassifier(6, splits="multiway", random_state=1).fit(
                table(), classes()
            ),
            table(),
        )
    )
)

for label, measure, settings in (
    ("weighted", "frequency", {"weighted": True}),
    ("counts by degree", "frequency", {"normalize": False, "by_degree": True}),
):
    case(f"{measure}/{label}", getattr(measures, measure), measure=measure, **settings)(_of_forest)
for label, measure, settings in (
    ("by class", "mda", {"by_class": True, **ROWS}),
    ("accuracy", "sobol_mda", {"scoring": "accuracy"}),
    ("least squares", "mdi_plus", {"regression": "least_squares"}),
    ("stumps alone", "mdi_plus", {"raw": False}),
    ("on all rows", "mda", {"rows": None, **ROWS}),
    ("every order", "conditional_mda", {"threshold": 0.5, **ROWS}),
):
    case(f"{measure}/{label}", getattr(measures, measure), measure=measure, **settings)(_on_rows)


@case("mdi/nominal columns", measures.mdi, splits="any")
@case("mdi/multiway", measures.mdi, splits="multiway")
@case("frequency/nominal columns", measures.frequency, measure="frequency")
@case("minimal_depth/multiway", measures.minimal_depth, measure="minimal_depth", splits="multiway")
def _mixed(measure: str = "mdi", splits: str = "ordered") -> Any:
    model = estimator(splits=splits).fit(mixed(), mixed_target())
    return extracts.importances(getattr(measures, measure)(model))


@case("mda/nominal columns", measures.mda)
@case("mda/missing values", measures.mda, frame=missing)
@case("noising/nominal columns", measures.noising, measure="noising")
@case("conditional_mda/nominal columns", measures.conditional_mda, measure="conditional_mda")
def _mixed_rows(measure: str = "mda", frame: Any = mixed) -> Any:
    X, y = frame(), mixed_target() if frame is mixed else classes()
    options = {} if measure == "noising" else ROWS
    return extracts.importances(getattr(measures, measure)(estimator().fit(X, y), X, y, **options))


@case("mdi/corrected for few rows", measures.mdi)
def _corrected() -> Any:
    model = estimator(criterion="entropy").fit(table(), classes())
    return extracts.importances(measures.mdi(model, correction="miller-madow"))


@case("mda/any predictor", measures.mda)
def _any_predictor() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(features(), classes())
    importances = measures.mda(model, features(), classes(), rows=None, n_repeats=3, **ROWS)
    return extracts.importances(importances)


@case("vote_change/classes", measures.vote_change)
@case("vote_change/all rows", measures.vote_change, rows=None)
def _votes(rows: str | None = "oob") -> Any:
    importances = measures.vote_change(forest(), table(), classes(), rows=rows, **ROWS)
    return extracts.significance(importances)


@case("holdout_mda/classification", measures.holdout_mda, measure="holdout_mda", **ROWS)
@case(
    "holdout_mda/regression", measures.holdout_mda, measure="holdout_mda", task="regression", **ROWS
)
@case(
    "holdout_mda/three folds of groups",
    measures.holdout_mda,
    measure="holdout_mda",
    cv=3,
    groups=groups(),
    **ROWS,
)
@case("air/classification", measures.air, measure="air", random_state=5)
@case("air/regression", measures.air, measure="air", task="regression", random_state=5)
@case("air/strata", measures.air, measure="air", random_state=5, strata=strata())
@case("sandri/classification", measures.sandri, measure="sandri", random_state=5, n_repeats=3)
@case(
    "sandri/groups", measures.sandri, measure="sandri", random_state=5, n_repeats=3, groups=groups()
)
def _refitted(measure: str, task: str = "classification", **options: Any) -> Any:
    function = getattr(measures, measure)
    return extracts.importances(function(estimator(task), table(), target(task), **options))


@case("first_splits", measures.first_splits, measures.FirstSplits)
@case("first_splits/regression", measures.first_splits, measures.FirstSplits, task="regression")
def _first_splits(task: str = "classification") -> Any:
    importances = measures.first_splits(forest(task))
    return (
        importances.depths,
        importances.used,
        importances.threshold,
        importances.null,
        list(importances.selected()),
        importances.standard_error,
        extracts.frame(importances),
    )


@case("minimal_depth_distribution", measures.minimal_depth_distribution)
@case("minimal_depth_distribution/multiway", measures.minimal_depth_distribution, multiway=True)
def _distribution(multiway: bool = False) -> Any:
    return measures.minimal_depth_distribution(20, [1, 2, 4, 7, 8], multiway=multiway)


@case("mcfs", measures.mcfs, measures.MonteCarloSelection)
@case("mcfs/nominal columns", measures.mcfs, measures.MonteCarloSelection, frame=mixed)
@case(
    "mcfs/permuted",
    measures.mcfs,
    measures.MonteCarloSelection,
    n_permutations=3,
    strata=strata(),
    u=0.5,
    v=2.0,
)
def _mcfs(frame: Any = features, **options: Any) -> Any:
    y = mixed_target() if frame is mixed else classes()
    importances = measures.mcfs(
        frame(), y, n_subsets=20, n_splits=2, subset_size=3, **options, **ROWS
    )
    return (
        extracts.importances(importances.importances),
        importances.n_drawn,
        importances.accuracy,
        importances.source,
        importances.target,
        importances.weight,
        importances.maxima,
    )


@case("group/sum", measures.group, how="sum")
@case("group/mean, spread", measures.group, how="mean", spread=True)
@case("group/max, rest kept", measures.group, how="max", rest="own")
def _grouped(**options: Any) -> Any:
    importances = measures.mdi(forest(), by_degree=True)
    return extracts.importances(
        measures.group(importances, {"u": ["a", "c"], "v": ["b"]}, **options)
    )


PLACES = [[0.0], [1.0], [1.5], [4.0], [9.0]]


@case("smooth/neighbors", measures.smooth, neighbors=np.eye(5, k=1) + np.eye(5, k=-1))
@case("smooth/positions", measures.smooth, positions=PLACES, radius=2.0)
@case("smooth/distribute", measures.smooth, positions=PLACES, radius=2.0, how="distribute")
def _smoothed(**options: Any) -> Any:
    return extracts.importances(measures.smooth(measures.mdi(forest()), **options))


@case(
    "representatives/threshold", measures.representatives, measures.Representatives, threshold=0.5
)
@case("representatives/clusters", measures.representatives, n_clusters=3, linkage="complete")
@case(
    "representatives/centroids",
    measures.representatives,
    n_clusters=3,
    method="centroid",
    correlation="pearson",
)
def _represented(**options: Any) -> Any:
    X = features().copy()
    X[:, 4] = (X[:, 0] + X[:, 1]).round(2)
    table = dm.encode(X, names=NAMES)
    result = measures.representatives(table, **options)
    chosen = result.transform(table)
    spread = extracts.importances(result.spread(measures.mdi(estimator().fit(chosen, classes()))))
    return (result.labels, result.medoids, result.members(), extracts.encoded(chosen), spread)


@case("clusters/ranks", measures.clusters, measures.Clusters, threshold=0.5)
@case("clusters/places", measures.clusters, threshold=0.3, most=3, distance=2)
def _clustered(**options: Any) -> Any:
    X = features().copy()
    X[:, 4] = (X[:, 0] + X[:, 1]).round(2)
    if "distance" in options:
        options["positions"] = {
            "chromosome": ["1", "1", "1", "2", "1"],
            "position": [1, 2, 9, 2, 3],
        }
    result = measures.clusters(measures.mdi(forest()), dm.encode(X, names=NAMES), **options)
    return (result.labels, result.representatives, result.correlations.round(6), result.members())


@case("compare", measures.compare, measures.Comparison)
def _compared() -> Any:
    options = {
        "one": measures.mdi(forest()),
        "two": measures.frequency(forest()),
        "three": measures.mda(forest(), table(), classes(), **ROWS),
    }
    report = measures.compare(options)
    return (
        report.spearman,
        report.kendall,
        report.overlap(2),
        report.ranks,
        report.scores,
        report.names,
        report.top(2).names,
        extracts.frame(report),
    )


@case("Importances/methods", dm.Importances)
def _methods() -> Any:
    importances = measures.mdi(forest(), by_degree=True)
    with tempfile.TemporaryDirectory() as folder:
        importances.save(Path(folder) / "mdi.npz")
        again = dm.Importances.load(Path(folder) / "mdi.npz")
    return (
        importances.order(),
        extracts.importances(importances.top(2)),
        extracts.importances(importances.take([3, 1])),
        extracts.importances(importances.normalized()),
        extracts.frame(importances),
        extracts.importances(again),
        again.equals(importances),
        importances.equals(importances.normalized()),
    )


@case("Importances/made by hand", dm.Importances)
def _by_hand() -> Any:
    made = dm.Importances(
        names=("x", "y"),
        values=np.array([0.5, -0.25]),
        measure="m",
        unit="1",
        standard_error=np.array([0.1, 0.2]),
    )
    return (extracts.importances(made), made.order(), extracts.frame(made))


@case("importances/units", measures.mdi, measures.mda, measures.frequency)
def _units() -> Any:
    return [
        measures.mdi(forest()).unit,
        measures.mdi(forest("regression")).unit,
        measures.mda(forest(), table(), classes(), **ROWS).unit,
        measures.mda(forest("regression"), table(), numbers(), **ROWS).unit,
        measures.frequency(forest()).unit,
        measures.minimal_depth(forest()).unit,
        measures.noising(forest(), table(), classes()).unit,
        N,
    ]


@case("relative_influence", measures.relative_influence)
@case("prediction_change", measures.prediction_change)
def _of_predictions() -> Any:
    grown = dm.RandomForestRegressor(10, random_state=0).fit(features(), numbers())
    return [
        extracts.importances(measures.relative_influence(grown, features())),
        extracts.importances(
            measures.prediction_change(grown, features(), numbers(), random_state=5)
        ),
    ]
