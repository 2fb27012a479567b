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


SOME_GROUPS = {"first": ["a", "b"], "rest": ["c", "d"]}
for label, compute, options in (
    ("mdi/{}", _of_forest, {}),
    ("mdi/{} by degree", _of_forest, {"by_degree": True}),
    ("mdi/{} on given rows", _on_rows, {}),
    ("mdi/{} rows=oob", _on_rows, {"rows": "oob"}),
    ("mdi/{} node_weights=in-bag", _on_rows, {"rows": "oob", "node_weights": "in-bag"}),
    ("frequency/{}", _of_forest, {}),
    ("minimal_depth/{}", _of_forest, {}),
    ("noising/{}", _on_rows, {}),
    ("noising/{} on all rows", _on_rows, {"rows": None}),
    ("mda/{}", _on_rows, ROWS),
    ("mda/{} scaled", _on_rows, {"scaled": True, "n_repeats": 2, **ROWS}),
    ("mda/{} ensemble votes", _on_rows, {"votes": "ensemble", **ROWS}),
    ("mda/{} groups", _on_rows, {"feature_groups": SOME_GROUPS, **ROWS}),
    ("conditional_mda/{}", _on_rows, ROWS),
    (
        "sobol_mda/{}",
        _on_rows,
        {"feature_groups": {"first": ["a", "b"], "c": ["c"]}, "n_jobs": jobs()},
    ),
    ("mdi_plus/{}", _on_rows, {}),
):
    measure = label.partition("/")[0]
    for task in TASKS:
        case(label.format(task), measure=measure, task=task, **options)(compute)
for label, compute, options in (
    ("frequency/weighted", _of_forest, {"weighted": True}),
    ("frequency/counts by degree", _of_forest, {"normalize": False, "by_degree": True}),
    ("mda/by class", _on_rows, {"by_class": True, **ROWS}),
    ("mda/on all rows", _on_rows, {"rows": None, **ROWS}),
    ("sobol_mda/accuracy", _on_rows, {"scoring": "accuracy"}),
    ("mdi_plus/least squares", _on_rows, {"regression": "least_squares"}),
    ("mdi_plus/stumps alone", _on_rows, {"raw": False}),
    ("conditional_mda/every order", _on_rows, {"threshold": 0.5, **ROWS}),
):
    case(label, measure=label.partition("/")[0], **options)(compute)


def _local(task: str = "classification", y: Any = None, **options: Any) -> Any:
    result = measures.local_mdi(forest(task), table(), y, n_jobs=jobs(), **options)
    columns = extracts.frame(result)
    return columns, result.weights, result.start, result.unit, result.clustered()


for task in TASKS:
    for rows in (None, "oob", "in-bag"):
        case(
            f"local_mdi/{task} rows={rows}",
            task=task,
            rows=rows,
            sparse=rows == "oob",
        )(_local)
case("local_mdi/class", y=classes(), of="class", prior_weight=1.0)(_local)
case("local_mdi/class prediction", y="top", of="prediction")(_local)
case("local_mdi/prediction", task="regression", of="prediction")(_local)

for task in TASKS:
    for count in (None, 3):
        case(
            f"interactions/{task} features={count}",
            task=task,
            features=count,
        )(
            lambda task, features: extracts.frame(
                measures.interactions(forest(task), table(), features=features)
            )
        )
case("interactions/sparse")(lambda: extracts.frame(measures.interactions(forest(), sparse=True)))
case("interactions/multiway")(
    lambda: extracts.frame(
        measures.interactions(
            dm.TotallyRandomizedTreesClassifier(6, splits="multiway", random_state=1).fit(
                table(), classes()
            ),
            table(),
        )
    )
)


@case("mdi/nominal columns", splits="any")
@case("mdi/multiway", splits="multiway")
@case("frequency/nominal columns", measure="frequency")
@case("minimal_depth/multiway", measure="minimal_depth", splits="multiway")
def _mixed(measure: str = "mdi", splits: str = "ordered") -> Any:
    model = estimator(splits=splits).fit(mixed(), mixed_target())
    return extracts.importances(getattr(measures, measure)(model))


@case("mda/nominal columns")
@case("mda/missing values", frame=missing)
@case("noising/nominal columns", measure="noising")
@case("conditional_mda/nominal columns", measure="conditional_mda")
def _mixed_rows(measure: str = "mda", frame: Any = mixed) -> Any:
    X, y = frame(), mixed_target() if frame is mixed else classes()
    options = {} if measure == "noising" else ROWS
    return extracts.importances(getattr(measures, measure)(estimator().fit(X, y), X, y, **options))


@case("mdi/corrected for few rows")
def _corrected() -> Any:
    model = estimator(criterion="entropy").fit(table(), classes())
    return extracts.importances(measures.mdi(model, correction="miller-madow"))


@case("mda/any predictor")
def _any_predictor() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(features(), classes())
    importances = measures.mda(model, features(), classes(), rows=None, n_repeats=3, **ROWS)
    return extracts.importances(importances)


@case("vote_change/classes")
@case("vote_change/all rows", rows=None)
def _votes(rows: str | None = "oob") -> Any:
    importances = measures.vote_change(forest(), table(), classes(), rows=rows, **ROWS)
    return extracts.significance(importances)


@case("holdout_mda/classification", measure="holdout_mda", **ROWS)
@case("holdout_mda/regression", measure="holdout_mda", task="regression", **ROWS)
@case("holdout_mda/three folds of groups", measure="holdout_mda", cv=3, groups=groups(), **ROWS)
@case("air/classification", measure="air", random_state=5)
@case("air/regression", measure="air", task="regression", random_state=5)
@case("air/strata", measure="air", random_state=5, strata=strata())
@case("sandri/classification", measure="sandri", random_state=5, n_repeats=3)
@case("sandri/groups", measure="sandri", random_state=5, n_repeats=3, groups=groups())
def _refitted(measure: str, task: str = "classification", **options: Any) -> Any:
    function = getattr(measures, measure)
    return extracts.importances(function(estimator(task), table(), target(task), **options))


@case("first_splits")
@case("first_splits/regression", task="regression")
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


@case("minimal_depth_distribution")
@case("minimal_depth_distribution/multiway", multiway=True)
def _distribution(multiway: bool = False) -> Any:
    return measures.minimal_depth_distribution(20, [1, 2, 4, 7, 8], multiway=multiway)


@case("mcfs")
@case("mcfs/nominal columns", frame=mixed)
@case("mcfs/permuted", n_permutations=3, strata=strata(), u=0.5, v=2.0)
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


@case("group/sum", how="sum")
@case("group/mean, spread", how="mean", spread=True)
@case("group/max, rest kept", how="max", rest="own")
def _grouped(**options: Any) -> Any:
    importances = measures.mdi(forest(), by_degree=True)
    return extracts.importances(
        measures.group(importances, {"u": ["a", "c"], "v": ["b"]}, **options)
    )


PLACES = [[0.0], [1.0], [1.5], [4.0], [9.0]]


@case("smooth/neighbors", neighbors=np.eye(5, k=1) + np.eye(5, k=-1))
@case("smooth/positions", positions=PLACES, radius=2.0)
@case("smooth/distribute", positions=PLACES, radius=2.0, how="distribute")
def _smoothed(**options: Any) -> Any:
    return extracts.importances(measures.smooth(measures.mdi(forest()), **options))


@case("representatives/threshold", threshold=0.5)
@case("representatives/clusters", n_clusters=3, linkage="complete")
@case("representatives/centroids", n_clusters=3, method="centroid", correlation="pearson")
def _represented(**options: Any) -> Any:
    X = features().copy()
    X[:, 4] = (X[:, 0] + X[:, 1]).round(2)
    table = dm.encode(X, names=NAMES)
    result = measures.representatives(table, **options)
    chosen = result.transform(table)
    spread = extracts.importances(result.spread(measures.mdi(estimator().fit(chosen, classes()))))
    return (result.labels, result.medoids, result.members(), extracts.encoded(chosen), spread)


@case("clusters/ranks", threshold=0.5)
@case("clusters/places", threshold=0.3, most=3, distance=2)
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


@case("compare")
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


@case("Importances/methods")
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


@case("Importances/made by hand")
def _by_hand() -> Any:
    made = dm.Importances(
        names=("x", "y"),
        values=np.array([0.5, -0.25]),
        measure="m",
        unit="1",
        standard_error=np.array([0.1, 0.2]),
    )
    return (extracts.importances(made), made.order(), extracts.frame(made))


@case("importances/units")
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


@case("relative_influence")
@case("prediction_change")
def _of_predictions() -> Any:
    grown = dm.RandomForestRegressor(10, random_state=0).fit(features(), numbers())
    return [
        extracts.importances(measures.relative_influence(grown, features())),
        extracts.importances(
            measures.prediction_change(grown, features(), numbers(), random_state=5)
        ),
    ]
