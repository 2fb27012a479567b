"""What the flat arrays of a forest imply: parents, depths, decreases; and whether they are sound.

Everything here is vectorised over all the nodes of a forest. Nodes are numbered through the whole
forest ("global"), node ``i`` of tree ``t`` being ``offsets[t] + i``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.forest import (
    ANY,
    ARRAY_NAMES,
    FAMILY_MASK,
    MULTIWAY,
    ONE_VS_REST,
    ORDERED,
    Forest,
)
from duramen.tables.names import KINDS
from duramen.tables.validity import invalid_values

if TYPE_CHECKING:
    from duramen.forests.forest import Tree

Integers = NDArray[np.int64]


def trees_of_nodes(forest: Forest) -> Integers:
    """Tree of every node, of shape (N,)."""
    return np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))


def child_counts(forest: Forest) -> Integers:
    """Number of children of every node, of shape (N,); 0 at a leaf."""
    counts = np.where(forest.feature < 0, 0, 2).astype(np.int64)
    multiway = np.flatnonzero(
        (forest.feature >= 0) & ((forest.split & FAMILY_MASK) == MULTIWAY),
    )
    if len(multiway):
        base = forest.pool_offsets[np.searchsorted(forest.offsets, multiway, side="right") - 1]
        counts[multiway] = forest.pool[base + forest.cut[multiway]]
    return counts


def first_children(forest: Forest) -> Integers:
    """Global number of the first child of every node, of shape (N,); -1 at a leaf."""
    first = forest.child + np.repeat(forest.offsets[:-1], np.diff(forest.offsets))
    return np.where(forest.feature < 0, -1, first)


def parents(forest: Forest) -> Integers:
    """Global number of the parent of every node, of shape (N,); -1 at a root."""
    counts, first = child_counts(forest), first_children(forest)
    inner = np.flatnonzero(counts)
    result = np.full(forest.n_nodes, -1, dtype=np.int64)
    result[expand(first[inner], counts[inner])] = np.repeat(inner, counts[inner])
    return result


def depths(forest: Forest) -> Integers:
    """Depth of every node, of shape (N,); 0 at a root."""
    counts, first = child_counts(forest), first_children(forest)
    result = np.zeros(forest.n_nodes, dtype=np.int64)
    level = forest.offsets[:-1][np.diff(forest.offsets) > 0]
    depth = 0
    while len(level):
        result[level] = depth
        inner = level[counts[level] > 0]
        level = expand(first[inner], counts[inner])
        depth += 1
    return result


def decreases(forest: Forest) -> NDArray[np.float64]:
    """Decrease of impurity by the split of every node, of shape (N,); 0 at a leaf.

    i(t) - sum_c w(c) / w(t) i(c) over the children c of node t, in the criterion's unit.
    """
    above = parents(forest)
    inside = above >= 0
    mass = np.bincount(
        above[inside],
        weights=forest.weight[inside] * forest.impurity[inside],
        minlength=forest.n_nodes,
    )
    inner = forest.feature >= 0
    result = np.zeros(forest.n_nodes)
    result[inner] = forest.impurity[inner] - mass[inner] / forest.weight[inner]
    return result


def expand(first: Integers, counts: Integers) -> Integers:
    """Concatenate the ranges first[i] .. first[i] + counts[i] - 1."""
    total = int(counts.sum())
    starts = np.cumsum(counts) - counts
    ranges: Integers = np.repeat(first - starts, counts) + np.arange(total)
    return ranges


def derive(tree: Tree) -> dict[str, NDArray[Any]]:
    """Number of children, parent, depth and decrease of the nodes of one tree."""
    alone = single(tree.forest, tree.index)
    return {
        "n_children": child_counts(alone),
        "parent": parents(alone),
        "depth": depths(alone),
        "decrease": decreases(alone),
    }


def single(forest: Forest, index: int) -> Forest:
    """Forest of the one tree ``index``, its arrays being views."""
    return part(forest, index, index + 1)


def part(forest: Forest, start: int, stop: int) -> Forest:
    """Forest of the trees ``start`` .. ``stop - 1``, its arrays being views."""
    from dataclasses import replace

    bounds = {
        name: getattr(forest, name)[start : stop + 1]
        for name in ("offsets", "leaf_offsets", "pool_offsets")
    }
    node, leaf, word = (slice(int(b[0]), int(b[-1])) for b in bounds.values())
    return replace(
        forest,
        **{name: b - b[0] for name, b in bounds.items()},
        feature=forest.feature[node],
        child=forest.child[node],
        cut=forest.cut[node],
        threshold=forest.threshold[node],
        split=forest.split[node],
        pool=forest.pool[word],
        node_degree=forest.node_degree[node],
        rows=forest.rows[node],
        node_weight=forest.node_weight[node],
        impurity=forest.impurity[node],
        leaf_values=forest.leaf_values[leaf],
        first_tree=forest.first_tree + start,
    )


def check(forest: Forest) -> None:
    """Check that the arrays describe trees that the kernel can walk through safely.

    Raises
    ------
    ValueError
        Naming the array at fault, and the first node where it is.
    """
    _check_types(forest)
    _check_schema(forest)
    _check_shapes(forest)
    _check_children(forest)
    _check_splits(forest)
    _check_numbers(forest)


def _require(good: NDArray[np.bool_], what: str) -> None:
    if not good.all():
        raise ValueError(f"Forest.check: {what} (first at {int(np.argmin(good))})")


def _check_types(forest: Forest) -> None:
    for name in ARRAY_NAMES:
        array = getattr(forest, name)
        wanted = np.dtype(str(Forest.__annotations__[name]).split("np.")[1].rstrip("]"))
        if array.dtype != wanted or array.ndim != (2 if name == "leaf_values" else 1):
            raise ValueError(
                f"Forest.check: {name} must hold {wanted}, got {array.dtype} of shape {array.shape}"
            )
    for name, least in (("n_rows", 1), ("seed", 0), ("first_tree", 0)):
        number = getattr(forest, name)
        if type(number) is not int or not least <= number < 2**64:
            raise ValueError(f"Forest.check: {name} must be an int from {least}, got {number!r}")
    if type(forest.total_weight) not in (int, float) or not 0 < forest.total_weight < np.inf:
        raise ValueError(
            f"Forest.check: total_weight must be positive, got {forest.total_weight!r}"
        )
    if forest.classes is not None and forest.classes.ndim != 1:
        raise ValueError("Forest.check: classes must be one-dimensional")


def _check_schema(forest: Forest) -> None:
    schema = forest.schema
    p = schema.n_columns
    if not all(isinstance(name, str) for name in schema.names) or len(set(schema.names)) != p:
        raise ValueError("Forest.check: names of columns must be different strings")
    if len(schema.kinds) != p or not set(schema.kinds) <= set(KINDS):
        raise ValueError(f"Forest.check: kinds must be {p} of {', '.join(KINDS)}")
    for name, array, kind in (
        ("cut_values", schema.cut_values, np.float64),
        ("value_offsets", schema.value_offsets, np.int64),
        ("missing", schema.missing, np.uint8),
    ):
        if array.dtype != kind or array.ndim != 1:
            raise ValueError(f"Forest.check: {name} must hold {np.dtype(kind)}, got {array.dtype}")
    if schema.missing.shape != (p,) or (schema.missing > 1).any():
        raise ValueError(f"Forest.check: missing must be {p} of 0 and 1")
    wrong = invalid_values(
        forest.kind_codes, schema.value_offsets, schema.cut_values, schema.labels
    )
    if wrong is not None:
        raise ValueError(f"Forest.check: {wrong}")


def _check_shapes(forest: Forest) -> None:
    n_trees, n_nodes = forest.n_trees, forest.n_nodes
    if n_trees < 1:
        raise ValueError("Forest.check: offsets must have at least two entries")
    for name, total in (
        ("offsets", n_nodes),
        ("leaf_offsets", len(forest.leaf_values)),
        ("pool_offsets", len(forest.pool)),
    ):
        bounds = getattr(forest, name)
        if bounds.shape != (n_trees + 1,) or bounds[0] != 0 or bounds[-1] != total:
            raise ValueError(
                f"Forest.check: {name} must have {n_trees + 1} entries from 0 to {total}"
            )
        _require(np.diff(bounds) >= (0 if name == "pool_offsets" else 1), f"{name} must increase")
    for name in (
        "feature",
        "child",
        "cut",
        "threshold",
        "split",
        "rows",
        "impurity",
        "node_degree",
        "node_weight",
    ):
        length = getattr(forest, name).shape
        may_be_empty = name.startswith("node_")
        if length != (n_nodes,) and not (may_be_empty and length == (0,)):
            raise ValueError(f"Forest.check: {name} must have {n_nodes} entries")
    n_values = 1 if forest.classes is None else len(forest.classes)
    if forest.leaf_values.ndim != 2 or forest.leaf_values.shape[1] != n_values:
        raise ValueError(f"Forest.check: leaf_values must have {n_values} columns")
    _require(
        (forest.feature >= -1) & (forest.feature < forest.n_features),
        f"feature must lie in -1..{forest.n_features - 1}",
    )


def _check_children(forest: Forest) -> None:
    inner = forest.feature >= 0
    multiway = inner & ((forest.split & FAMILY_MASK) == MULTIWAY)
    pool_sizes = np.diff(forest.pool_offsets)[trees_of_nodes(forest)]
    _require(
        ~multiway | (forest.cut.astype(np.int64) + 2 <= pool_sizes), "cut points outside the pool"
    )
    counts, first = child_counts(forest), first_children(forest)
    tree = trees_of_nodes(forest)
    nodes = np.arange(forest.n_nodes)
    _require(~inner | (counts >= 2), "an internal node must have two children or more")
    _require(~inner | (first > nodes), "children must come after their parent")
    _require(~inner | (first + counts <= forest.offsets[tree + 1]), "child points outside the tree")
    times = np.zeros(forest.n_nodes, dtype=np.int64)
    np.add.at(times, expand(first[inner], counts[inner]), 1)
    times[forest.offsets[:-1]] += 1
    _require(times == 1, "every node but the root must be the child of exactly one node")
    leaves = np.flatnonzero(~inner)
    seen = np.sort(forest.child[leaves] + forest.leaf_offsets[tree[leaves]])
    if len(leaves) != len(forest.leaf_values) or not np.array_equal(seen, np.arange(len(leaves))):
        raise ValueError("Forest.check: leaves must be numbered 0, 1, 2, ... within their tree")
    _require(
        (forest.child[leaves] >= 0)
        & (forest.child[leaves] < np.diff(forest.leaf_offsets)[tree[leaves]]),
        "the number of a leaf must lie within its tree",
    )


def _check_splits(forest: Forest) -> None:
    inner = np.flatnonzero(forest.feature >= 0)
    family = forest.split[inner] & FAMILY_MASK
    feature, cut = forest.feature[inner], forest.cut[inner].astype(np.int64)
    n_values = np.diff(forest.schema.value_offsets)[feature]
    n_codes = n_values + forest.schema.missing[feature]
    _require(
        ~np.isin(family, (ORDERED, ONE_VS_REST)) | (cut < n_codes),
        "cut must be a code of the column",
    )
    tree = trees_of_nodes(forest)[inner]
    pool_size = np.diff(forest.pool_offsets)[tree]
    _require(
        (family != ANY) | (cut + (n_codes + 31) // 32 <= pool_size), "cut points outside the pool"
    )
    multiway = np.flatnonzero(family == MULTIWAY)
    start = forest.pool_offsets[tree[multiway]] + cut[multiway]
    count = forest.pool[start].astype(np.int64)
    _require(cut[multiway] + 2 + count <= pool_size[multiway], "a code map exceeds the pool")
    _require(forest.pool[start + 1] < count, "the heaviest child must be a child")
    codes = forest.pool[expand(start + 2, count)].astype(np.int64)
    _require(codes < np.repeat(n_codes[multiway], count), "a code map holds an unknown code")
    first_of_node = np.zeros(len(codes), dtype=bool)
    first_of_node[np.cumsum(count) - count] = True
    _require(first_of_node | (np.diff(codes, prepend=-1) > 0), "a code map must ascend")


def _check_numbers(forest: Forest) -> None:
    # A node conditions on each column once, or, where columns come back, on one a level.
    most = forest.n_features + (int(depths(forest).max()) if len(forest.node_degree) else 0)
    _require(forest.node_degree <= most, f"node_degree must be at most {most}")
    for name in ("node_weight", "impurity", "leaf_values"):
        array: NDArray[np.float64] = getattr(forest, name)
        by_node = array[:, np.newaxis] if array.ndim == 1 else array
        _require(np.isnan(by_node).sum(axis=1) == 0, f"{name} must be finite")
    _require(forest.node_weight >= 0, "node_weight must not be negative")
    _require(forest.impurity >= 0, "impurity must not be negative")
    if forest.classes is not None:
        sums = forest.leaf_values.sum(axis=1)
        _require(np.abs(sums - 1) < 1e-9, "class frequencies of a leaf must sum to 1")
        _require(forest.leaf_values.min(axis=1) >= 0, "class frequencies must not be negative")
