"""Forests of any family, on any table, with any weights, against a walk in plain Python.

The walk and the recount read the documented arrays of `Forest` and its schema alone; bags are drawn
again by random numbers of their own (tests/oracles).
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from tests.faults.batches import READ, REFUSED
from tests.faults.problems import (
    Column,
    draw_columns,
    draw_estimator,
    draw_target,
    draw_weights,
    frame_of,
    new_rows,
    unrefused,
)
from tests.oracles import bags, growth, route

import duramen as dm
from duramen.forests import Forest
from duramen.forests.prediction import same_codes

# The only reasons for which a problem that is drawn here may be refused.
REASONS = ("oob_score needs trees that",)


@unrefused
def attempt(number: int, folder: Path) -> str:
    """Grow a forest, and compare what the kernel says of all rows with what the walk says."""
    random = np.random.default_rng(number)
    n_rows = int(
        random.choice([1, 2, 12, 40, 64, 100, 300], p=[0.03, 0.05, 0.2, 0.4, 0.1, 0.1, 0.12])
    )
    columns = draw_columns(random, n_rows)
    classes = bool(random.random() < 0.6)
    y = draw_target(random, n_rows, classes=classes)
    weights = draw_weights(random, n_rows)
    estimator = draw_estimator(random, len(set(y)) if classes else 0, y)
    X = _encoded(columns) if random.random() < 0.5 else frame_of(columns)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*in the bag of every tree")
            warnings.filterwarnings("ignore", "R\\^2 score is not well-defined")
            estimator.fit(X, y, sample_weight=weights)
    except ValueError as error:
        if any(reason in str(error) for reason in REASONS):
            return REFUSED
        raise
    forest = estimator.forest_
    forest.check()
    if random.random() < 0.2:
        forest.save(folder / "forest.npz")
        forest = Forest.load(folder / "forest.npz")
    if isinstance(X, dm.EncodedTable):
        assert same_codes(forest, X.schema)  # thresholds lie between the values of the codes
    rows = same_rows(estimator, X, columns)
    later = new_rows(random, columns, 15)
    same_rows(estimator, frame_of(later), later)
    target = [estimator.classes_.tolist().index(label) for label in y] if classes else y
    drawn = bags_of(forest)
    same_out_of_bag(estimator, rows, drawn, target)
    same_nodes(forest, rows, drawn, target, _row_weights(estimator, weights, y))
    return READ


def _encoded(columns: dict[str, Column]) -> dm.EncodedTable:
    """Encode the columns, numbers that are to be categories among them."""
    kinds = {
        name: column.kind
        for name, column in columns.items()
        if column.kind != "numeric" and not any(isinstance(cell, str) for cell in column.cells)
    }
    return dm.encode(frame_of(columns), kinds=kinds or None)


def schema_of(forest: Forest) -> dict[str, Any]:
    """Return the documented parts of the schema that the walk reads."""
    names = ("kinds", "value_offsets", "cut_values", "missing")
    schema = {name: getattr(forest.schema, name) for name in names}
    labels = {j: values.tolist() for j, values in forest.schema.labels.items()}
    return {**schema, "labels": labels}


def same_rows(estimator: Any, X: Any, columns: dict[str, Column]) -> list[list[float]]:
    """Compare leaves and predictions of rows with those of the walk; return the rows it took."""
    forest = estimator.forest_
    arrays, schema = forest.arrays(), schema_of(forest)
    rows = route.coded(schema, [column.cells for column in columns.values()])
    np.testing.assert_array_equal(estimator.apply(X), route.leaves_of(arrays, schema, rows))
    means = np.array(route.predictions_of(arrays, schema, rows)) + forest.origin
    if forest.is_classifier:
        np.testing.assert_allclose(estimator.predict_proba(X), means, rtol=0, atol=1e-15)
        best = [row.index(max(row)) for row in estimator.predict_proba(X).tolist()]
        assert estimator.predict(X).tolist() == estimator.classes_[best].tolist()
    else:
        np.testing.assert_allclose(estimator.predict(X), means[:, 0], rtol=1e-15)
    return rows


def bags_of(forest: Forest) -> list[list[int]]:
    settings = forest.settings
    return [
        bags.bag(forest.n_rows, settings.row_samples, settings.bootstrap, forest.seed, tree)
        for tree in range(forest.n_trees)
    ]


def same_out_of_bag(
    estimator: Any, rows: list[list[float]], drawn: list[list[int]], target: list[Any]
) -> None:
    """Compare the out-of-bag votes and errors of a fit with those of the walk.

    Numbers less the forest's origin: means of large ones would round what they differ by.
    """
    if not estimator.oob_score:
        return
    forest = estimator.forest_
    arrays = forest.arrays()
    leaves = route.leaves_of(arrays, schema_of(forest), rows)
    if not forest.is_classifier:
        target = [float(number) - forest.origin for number in target]
    sums, counts, curve = route.out_of_bag_of(
        arrays, leaves, drawn, target, classes=forest.is_classifier
    )
    wanted = [
        [value / count + forest.origin if count else math.nan for value in row]
        for row, count in zip(sums, counts, strict=True)
    ]
    if forest.is_classifier:
        result = estimator.oob_decision_function_
    else:
        result = estimator.oob_prediction_[:, np.newaxis]
    np.testing.assert_allclose(result, wanted, rtol=1e-15)
    np.testing.assert_allclose(estimator.oob_error_curve_, curve, rtol=1e-9, atol=1e-12)


def _row_weights(estimator: Any, weights: list[float] | None, y: list[Any]) -> list[float]:
    """Weights of the rows times those of their classes, the largest being 1."""
    results = [1.0] * len(y) if weights is None else [w / max(weights) for w in weights]
    asked = estimator.get_params().get("class_weight")
    if asked == "balanced":
        asked = {label: len(y) / len(set(y)) / y.count(label) for label in set(y)}
    if isinstance(asked, dict):
        results = [w * asked[label] for w, label in zip(results, y, strict=True)]
    return results


def same_nodes(
    forest: Forest,
    rows: list[list[float]],
    drawn: list[list[int]],
    target: list[Any],
    weights: list[float],
) -> None:
    """Compare rows, weights, impurities and values of all nodes with a count of their rows."""
    arrays, schema, settings = forest.arrays(), schema_of(forest), forest.settings
    unit = float(forest.total_weight) / math.fsum(weights)
    numbers = [] if forest.is_classifier else [float(v) for v in target]
    reach = max(numbers) - min(numbers) if numbers else 1.0
    size = max(map(abs, numbers)) if numbers else 1.0
    for tree, bag in enumerate(drawn):
        inside = growth.weights_of(
            bag, weights, target, forest.n_values, settings.balanced_subsample
        )
        nodes = growth.nodes_of(arrays, schema, tree, rows, inside, target, settings.criterion)
        view = forest.tree(tree)
        assert view.rows.tolist() == [count for count, *_ in nodes]
        mass = np.array([total for _, total, *_ in nodes])
        np.testing.assert_allclose(view.weight, mass * unit, rtol=1e-9)
        impurities = [result for _, _, result, _ in nodes]
        slack = 1e-9 * reach**2 + 1e-24 * size**2
        np.testing.assert_allclose(view.impurity, impurities, rtol=1e-9, atol=slack)
        for node, (count, _, _, values) in enumerate(nodes):
            if view.feature[node] < 0 and count:
                result = view.values[view.child[node]]
                np.testing.assert_allclose(result, values, rtol=0, atol=1e-9 * size)
        same_sides(view, mass)
        same_limits(forest, view)


def same_sides(view: Any, mass: np.ndarray[Any, Any]) -> None:
    """Rows that a node never saw go to its heaviest child."""
    for node in np.flatnonzero(view.feature >= 0):
        children = mass[view.child[node] : view.child[node] + view.n_children[node]]
        flags = int(view.split[node])
        if flags % 4 == route.MULTIWAY:
            chosen = int(view.pool[view.cut[node] + 1])
        else:
            chosen = 0 if flags & 8 else 1
        assert children[chosen] >= children.max() * (1 - 1e-9)


def same_limits(forest: Forest, view: Any) -> None:
    """The limits that the settings put on the shape of a tree hold."""
    settings = forest.settings
    inner = view.feature >= 0
    assert settings.max_depth is None or view.depth.max() <= settings.max_depth
    assert settings.max_leaf_nodes is None or view.n_leaves <= settings.max_leaf_nodes
    assert (view.rows[inner] >= settings.min_samples_split).all()
    assert (view.rows[view.parent >= 0] >= settings.min_samples_leaf).all()
    if settings.column_samples:
        assert len(set(view.feature[inner].tolist())) <= settings.column_samples
