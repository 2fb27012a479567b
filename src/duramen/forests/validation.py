"""Checks that flat arrays describe trees, such as those read from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import Schema
from duramen.data.encoded import invalid_values
from duramen.data.schema import KINDS
from duramen.forests.arrays import (
    ANY,
    ARRAY_NAMES,
    FAMILY_MASK,
    MULTIWAY,
    ONE_VS_REST,
    ORDERED,
    TreeArrays,
)
from duramen.forests.structure import child_counts, depths, expand, first_children, trees_of_nodes
from duramen.support.arrays import BoolArray, FloatArray


def check(trees: TreeArrays, schema: Schema, classes: NDArray[Any] | None) -> None:
    """Check that the arrays describe trees that the kernel can walk through safely."""
    _check_types(trees)
    if classes is not None and classes.ndim != 1:
        raise ValueError("Forest.check: classes must be one-dimensional")
    _check_schema(schema)
    _check_shapes(trees, schema, 1 if classes is None else len(classes))
    _check_children(trees)
    _check_splits(trees, schema)
    _check_numbers(trees, schema, classes is not None)


def _require(good: BoolArray, what: str) -> None:
    if not good.all():
        raise ValueError(f"Forest.check: {what} (first at {int(np.argmin(good))})")


def _check_types(trees: TreeArrays) -> None:
    for name in ARRAY_NAMES:
        array = getattr(trees, name)
        wanted = np.dtype(str(TreeArrays.__annotations__[name]).split("np.")[1].rstrip("]"))
        if array.dtype != wanted or array.ndim != (2 if name == "leaf_values" else 1):
            raise ValueError(
                f"Forest.check: {name} must hold {wanted}, got {array.dtype} of shape {array.shape}"
            )


def _check_schema(schema: Schema) -> None:
    p = schema.n_columns
    if not all(isinstance(name, str) for name in schema.names) or len(set(schema.names)) != p:
        raise ValueError("Forest.check: names of columns must be different strings")
    if len(schema.kinds) != p or not set(schema.kinds) <= set(KINDS):
        raise ValueError(f"Forest.check: kinds must be {p} of {', '.join(KINDS)}")
    for name, array, kind in (
        ("cut_values", schema.cut_values, np.float64),
        ("value_offsets", schema.value_offsets, np.int64),
        ("missing", schema.missing, np.uint8),
        ("counts", schema.n_values, np.int64),
    ):
        if array.dtype != kind or array.ndim != 1:
            raise ValueError(f"Forest.check: {name} must hold {np.dtype(kind)}, got {array.dtype}")
    if schema.missing.shape != (p,) or (schema.missing > 1).any():
        raise ValueError(f"Forest.check: missing must be {p} of 0 and 1")
    wrong = invalid_values(
        np.array([KINDS.index(kind) for kind in schema.kinds], dtype=np.uint8),
        schema.value_offsets,
        schema.cut_values,
        schema.labels,
    )
    if wrong is not None:
        raise ValueError(f"Forest.check: {wrong}")
    sizes, counts = np.diff(schema.value_offsets), schema.n_values
    if counts.shape != (p,) or not ((sizes == counts) | (sizes == 0)).all() or (counts < 0).any():
        raise ValueError("Forest.check: columns must have all of their values, or none")


def _check_shapes(trees: TreeArrays, schema: Schema, n_values: int) -> None:
    n_trees, n_nodes = trees.n_trees, trees.n_nodes
    if n_trees < 1:
        raise ValueError("Forest.check: offsets must have at least two entries")
    for name, total in (
        ("offsets", n_nodes),
        ("leaf_offsets", len(trees.leaf_values)),
        ("pool_offsets", len(trees.pool)),
    ):
        bounds = getattr(trees, name)
        if bounds.shape != (n_trees + 1,) or bounds[0] != 0 or bounds[-1] != total:
            raise ValueError(
                f"Forest.check: {name} must have {n_trees + 1} entries from 0 to {total}"
            )
        _require(np.diff(bounds) >= (0 if name == "pool_offsets" else 1), f"{name} must increase")
    of_nodes = set(ARRAY_NAMES) - {"offsets", "leaf_offsets", "pool_offsets", "pool", "leaf_values"}
    for name in sorted(of_nodes):
        length = getattr(trees, name).shape
        may_be_empty = name.startswith("node_")
        if length != (n_nodes,) and not (may_be_empty and length == (0,)):
            raise ValueError(f"Forest.check: {name} must have {n_nodes} entries")
    if trees.leaf_values.ndim != 2 or trees.leaf_values.shape[1] != n_values:
        raise ValueError(f"Forest.check: leaf_values must have {n_values} columns")
    _require(
        (trees.feature >= -1) & (trees.feature < schema.n_columns),
        f"feature must lie in -1..{schema.n_columns - 1}",
    )


def _check_children(trees: TreeArrays) -> None:
    inner = trees.feature >= 0
    multiway = inner & ((trees.split & FAMILY_MASK) == MULTIWAY)
    pool_sizes = np.diff(trees.pool_offsets)[trees_of_nodes(trees)]
    _require(
        ~multiway | (trees.cut.astype(np.int64) + 2 <= pool_sizes), "cut points outside the pool"
    )
    counts, first = child_counts(trees), first_children(trees)
    tree = trees_of_nodes(trees)
    nodes = np.arange(trees.n_nodes)
    _require(~inner | (counts >= 2), "an internal node must have two children or more")
    _require(~inner | (first > nodes), "children must come after their parent")
    _require(~inner | (first + counts <= trees.offsets[tree + 1]), "child points outside the tree")
    times = np.zeros(trees.n_nodes, dtype=np.int64)
    np.add.at(times, expand(first[inner], counts[inner]), 1)
    times[trees.offsets[:-1]] += 1
    _require(times == 1, "every node but the root must be the child of exactly one node")
    leaves = np.flatnonzero(~inner)
    seen = np.sort(trees.child[leaves] + trees.leaf_offsets[tree[leaves]])
    if len(leaves) != len(trees.leaf_values) or not np.array_equal(seen, np.arange(len(leaves))):
        raise ValueError("Forest.check: leaves must be numbered 0, 1, 2, ... within their tree")
    _require(
        (trees.child[leaves] >= 0)
        & (trees.child[leaves] < np.diff(trees.leaf_offsets)[tree[leaves]]),
        "the number of a leaf must lie within its tree",
    )


def _check_splits(trees: TreeArrays, schema: Schema) -> None:
    inner = np.flatnonzero(trees.feature >= 0)
    family = trees.split[inner] & FAMILY_MASK
    feature, cut = trees.feature[inner], trees.cut[inner].astype(np.int64)
    n_codes = schema.n_codes()[feature]
    looked_up = (family != ORDERED) | (schema.kind_codes[feature] != 0)
    _require(~looked_up | schema.has_values[feature], "a column lacks the values of its splits")
    _require(
        ~np.isin(family, (ORDERED, ONE_VS_REST)) | (cut < n_codes),
        "cut must be a code of the column",
    )
    tree = trees_of_nodes(trees)[inner]
    pool_size = np.diff(trees.pool_offsets)[tree]
    _require(
        (family != ANY) | (cut + (n_codes + 31) // 32 <= pool_size), "cut points outside the pool"
    )
    multiway = np.flatnonzero(family == MULTIWAY)
    start = trees.pool_offsets[tree[multiway]] + cut[multiway]
    count = trees.pool[start].astype(np.int64)
    _require(cut[multiway] + 2 + count <= pool_size[multiway], "a code map exceeds the pool")
    _require(trees.pool[start + 1] < count, "the heaviest child must be a child")
    codes = trees.pool[expand(start + 2, count)].astype(np.int64)
    _require(codes < np.repeat(n_codes[multiway], count), "a code map holds an unknown code")
    first_of_node = np.zeros(len(codes), dtype=bool)
    first_of_node[np.cumsum(count) - count] = True
    _require(first_of_node | (np.diff(codes, prepend=-1) > 0), "a code map must ascend")


def _check_numbers(trees: TreeArrays, schema: Schema, is_classifier: bool) -> None:
    # A node conditions on each column once, or, where columns come back, on one a level.
    most = schema.n_columns + (int(depths(trees).max()) if len(trees.node_degree) else 0)
    _require(trees.node_degree <= most, f"node_degree must be at most {most}")
    for name in ("node_weight", "impurity", "leaf_values"):
        array: FloatArray = getattr(trees, name)
        by_node = array[:, np.newaxis] if array.ndim == 1 else array
        _require(np.isnan(by_node).sum(axis=1) == 0, f"{name} must be finite")
    _require(trees.node_weight >= 0, "node_weight must not be negative")
    _require(trees.impurity >= 0, "impurity must not be negative")
    if is_classifier:
        sums = trees.leaf_values.sum(axis=1)
        _require(np.abs(sums - 1) < 1e-9, "class frequencies of a leaf must sum to 1")
        _require(trees.leaf_values.min(axis=1) >= 0, "class frequencies must not be negative")
