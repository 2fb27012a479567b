"""Fitted forests and decision trees of scikit-learn, read into the arrays of a forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, Schema, encode
from duramen.data.learning_sets import table_of
from duramen.data.schema import default_names
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import ARRAY_TYPES, MISSING_FIRST, ORDERED, joined
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import is_integer
from duramen.support.provenance import fingerprint
from duramen.support.text import quoted

# Criteria whose impurity and leaves equal those of a criterion of this package.
_CRITERIA = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "squared_error": "variance",
    "friedman_mse": "variance",
}
_FOREST = "RandomForestClassifier or -Regressor, ExtraTreesClassifier or -Regressor"
READABLE = f"{_FOREST}, or a decision tree of scikit-learn"


def is_readable(model: Any) -> bool:
    """Tell whether a model is a forest or decision tree of scikit-learn, fitted or not."""
    modules = [kind.__module__ for kind in type(model).__mro__]
    if not any(name.startswith(("sklearn.ensemble.", "sklearn.tree.")) for name in modules):
        return False  # without importing these, which takes longer than a small forest
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.tree import BaseDecisionTree

    forests = RandomForestClassifier, RandomForestRegressor
    extra = ExtraTreesClassifier, ExtraTreesRegressor
    return isinstance(model, (*forests, *extra, BaseDecisionTree))


def numeric_table(X: Any, function: str) -> EncodedTable:
    """Encode rows as the numbers that trees of scikit-learn compare with their thresholds."""
    table = table_of(X)
    if not isinstance(table, EncodedTable):
        return encode(table, kinds="numeric")
    other = next((j for j, kind in enumerate(table.kinds) if kind != "numeric"), None)
    if other is not None:
        raise ValueError(
            f"{function}: X must have numeric columns, as scikit-learn compares numbers, but "
            f"column {quoted(table.names[other])} is {table.kinds[other]}. Hint: give the table "
            'that the model was fitted on, or read it with kinds="numeric".'
        )
    return table


def forest_fields(model: Any, table: EncodedTable | None, function: str) -> dict[str, Any]:
    """Return the fields of the forest that a fitted model of scikit-learn is.

    Parameters
    ----------
    model : fitted estimator
        A model for which :func:`is_readable` is true.
    table : EncodedTable or None
        Rows, whose codes the cuts are if they can be: always if the model was fitted on these rows.
        Otherwise rows go down the trees by their values.
    function : str
        The function that the user called, for errors.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If it has several targets, or a criterion whose impurities or leaves a forest cannot hold,
        or the columns of the table have other names.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    name = type(model).__name__
    if model.n_outputs_ > 1:
        raise ValueError(
            f"{function}: a forest has one target, but this {name} was fitted on "
            f"{model.n_outputs_}. Hint: fit one model for each."
        )
    if model.criterion not in _CRITERIA:
        raise ValueError(
            f"{function}: criterion must be one of {', '.join(_CRITERIA)}, got "
            f"{model.criterion!r}, whose impurities are others. Hint: "
            "sklearn.inspection.permutation_importance measures any model."
        )
    members = getattr(model, "estimators_", [model])
    trees = [member.tree_ for member in members]
    classes = np.asarray(model.classes_) if hasattr(model, "classes_") else None
    origin = 0.0 if classes is not None else float(trees[0].value[0, 0, 0])
    arrays = joined([_arrays(tree, classes is not None, origin) for tree in trees])
    drawn = None
    if getattr(model, "bootstrap", False):
        drawn = np.array(model.estimators_samples_, dtype=np.uint32)
    schema = _schema(model, table, arrays, function)
    fitted_on = trees[0].n_node_samples[0] if table is None else table.n_rows
    n_rows = int(getattr(model, "_n_samples", fitted_on))
    digest = fingerprint(*arrays.values(), drawn)
    return {
        **arrays,
        "settings": _settings(model, members[0], n_rows, drawn),
        "schema": schema,
        "classes": classes,
        "n_rows": n_rows,
        "total_weight": float(trees[0].weighted_n_node_samples[0]),
        "seed": int(digest[:16], 16),
        "fingerprint": digest,
        "origin": origin,
        "drawn": drawn,
    }


def _arrays(tree: Any, is_classifier: bool, origin: float) -> dict[str, NDArray[Any]]:
    """Return the arrays of one tree."""
    is_inner = tree.children_left >= 0
    values = tree.value[~is_inner, 0, :]
    values = values / values.sum(axis=1, keepdims=True) if is_classifier else values - origin
    return tree_arrays(
        tree.children_left,
        tree.children_right,
        feature=tree.feature,
        threshold=in_float64(tree.threshold),
        split=ORDERED + MISSING_FIRST * (tree.missing_go_to_left != 0),
        rows=tree.n_node_samples,
        weight=tree.weighted_n_node_samples,
        impurity=np.maximum(tree.impurity, 0.0),  # rounding goes below
        leaf_values=values,
    )


def tree_arrays(
    left: NDArray[Any],
    right: NDArray[Any],
    *,
    feature: NDArray[Any],
    threshold: FloatArray,
    split: NDArray[Any],
    rows: NDArray[Any],
    weight: FloatArray,
    impurity: FloatArray,
    leaf_values: FloatArray,
    cut: NDArray[Any] | None = None,
    pool: Sequence[int] | NDArray[Any] = (),
) -> dict[str, NDArray[Any]]:
    """Return the arrays of one tree, its nodes in an order in which siblings are neighbors.

    `left` and `right` are the children of each node, below 0 at a leaf, and come after it. The
    children of the r-th inner node get the numbers 2r + 1 and 2r + 2, which are larger than its
    number. `leaf_values` are those of the leaves alone, in their order; the other arrays have an
    entry for each node, of which those of splits are read at inner nodes.
    """
    is_inner = left >= 0
    order = np.zeros(len(left), dtype=np.int64)
    order[1::2], order[2::2] = left[is_inner], right[is_inner]
    number = np.where(is_inner, 2 * np.cumsum(is_inner) - 1, np.cumsum(~is_inner) - 1)
    inner = is_inner[order]
    arrays = {
        "offsets": np.array([0, len(left)]),
        "leaf_offsets": np.array([0, len(leaf_values)]),
        "pool_offsets": np.array([0, len(pool)]),
        "feature": np.where(inner, feature[order], -1),
        "child": number[order],
        "cut": np.zeros(len(left)) if cut is None else cut[order],
        "threshold": np.where(inner, threshold[order], np.nan),
        "split": np.where(inner, split[order], ORDERED),
        "pool": np.asarray(pool),
        "rows": rows[order],
        "node_degree": np.empty(0),
        "node_weight": weight[order],
        "impurity": impurity[order],
        "leaf_values": leaf_values,
    }
    return {name: np.ascontiguousarray(array, ARRAY_TYPES[name]) for name, array in arrays.items()}


def in_float64(threshold: FloatArray) -> FloatArray:
    """Return thresholds that tell numbers as scikit-learn does, which rounds them to float32.

    A number rounds to f or below, the largest float32 up to the threshold, if it lies below the
    middle between f and the next float32; the middle itself rounds to the one of even mantissa.
    """
    with np.errstate(over="ignore"):  # a threshold is infinite where only missing values go right
        f = threshold.astype(np.float32)
        f = np.where(f > threshold, np.nextafter(f, np.float32(-np.inf)), f)
        middle = (f.astype(np.float64) + np.nextafter(f, np.float32(np.inf))) / 2
        rounds_up = middle.astype(np.float32) > f
    return np.where(rounds_up, np.nextafter(middle, -np.inf), middle)


def _schema(
    model: Any, table: EncodedTable | None, arrays: dict[str, NDArray[Any]], function: str
) -> Schema:
    """Set the cuts of trees to codes, and return the columns that have these codes.

    They are the codes of a table if each cut has a value of the table below it. Otherwise codes
    number the intervals between the thresholds of a column.
    """
    p = int(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    names, named = (default_names(p), False) if names is None else (tuple(map(str, names)), True)
    if table is not None and table.n_columns != p:
        raise ValueError(
            f"X has {table.n_columns} features, but {function} is expecting {p} features as input"
        )
    if table is not None and table.named:
        if named and table.names != names:
            j = next(j for j, name in enumerate(names) if name != table.names[j])
            raise ValueError(
                f"{function}: X must have the columns that the model was fitted on, in their "
                f"order: column {j} is {quoted(table.names[j])}, and was {quoted(names[j])}."
            )
        names, named = table.names, True
    columns, splits = _splits_of(arrays)
    if table is not None:
        values = [table.values(j) for j in columns]
        least = [arrays["threshold"][nodes].min() for nodes in splits]
        if all(own.size and own[0] <= low for own, low in zip(values, least, strict=True)):
            for nodes, own in zip(splits, values, strict=True):
                cuts = np.searchsorted(own, arrays["threshold"][nodes], side="right") - 1
                arrays["cut"][nodes] = cuts
            schema = table.schema.with_values_of(np.zeros(p, dtype=np.bool_))
            return replace(schema, names=names, named=named)
    return interval_schema(arrays, names, named, {})


def _splits_of(arrays: dict[str, NDArray[Any]]) -> tuple[list[int], list[IntArray]]:
    """Return the columns with thresholds, and the nodes that split on each of them by one."""
    inner = np.flatnonzero((arrays["feature"] >= 0) & ~np.isnan(arrays["threshold"]))
    inner = inner[np.argsort(arrays["feature"][inner], kind="stable")]
    columns, starts = np.unique(arrays["feature"][inner], return_index=True)
    return columns.tolist(), np.split(inner, starts[1:]) if len(inner) else []


def interval_schema(
    arrays: dict[str, NDArray[Any]],
    names: tuple[str, ...],
    named: bool,
    labels: Mapping[int, NDArray[Any]],
) -> Schema:
    """Set the cuts of trees to codes that number the intervals between the thresholds of a column.

    Returned are the columns that have these codes; those with `labels` are nominal.
    """
    p = len(names)
    counts = np.full(p, 2, dtype=np.int64)  # a column without a threshold may vary, too
    for j, nodes in zip(*_splits_of(arrays), strict=True):
        ends, arrays["cut"][nodes] = np.unique(arrays["threshold"][nodes], return_inverse=True)
        counts[j] = len(ends) + 1
    sizes, missing = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.uint8)
    for j, categories in labels.items():
        sizes[j], missing[j] = len(categories), 1
    return Schema(
        names=names,
        named=named,
        kinds=tuple("nominal" if j in labels else "numeric" for j in range(p)),
        cut_values=np.concatenate([np.arange(float(size)) for size in sizes]),
        value_offsets=np.cumsum(np.append(0, sizes)),
        labels=labels,
        missing=missing,
        counts=np.where(missing == 1, sizes, counts),
    )


def _settings(
    model: Any, tree: Any, n_rows: int, drawn: NDArray[np.uint32] | None
) -> GrowthSettings:
    """Return the settings of growth that a model of scikit-learn and its trees had."""
    split, leaf = model.min_samples_split, model.min_samples_leaf
    n_drawn = n_rows if drawn is None else drawn.shape[1]
    return GrowthSettings(
        criterion=_CRITERIA[model.criterion],
        cut=tree.splitter,
        max_features=int(tree.max_features_),
        max_depth=None if model.max_depth is None else int(model.max_depth),
        min_samples_split=max(2, int(split if is_integer(split) else np.ceil(split * n_rows))),
        min_samples_leaf=int(leaf if is_integer(leaf) else np.ceil(leaf * n_rows)),
        min_impurity_decrease=float(model.min_impurity_decrease),
        max_leaf_nodes=None if model.max_leaf_nodes is None else int(model.max_leaf_nodes),
        ccp_alpha=float(model.ccp_alpha),
        bootstrap=drawn is not None,
        row_samples=0 if n_drawn == n_rows else n_drawn,
        balanced_subsample=drawn is not None
        and getattr(model, "class_weight", None) == "balanced_subsample",
    )
