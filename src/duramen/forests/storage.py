"""Forests in files: packing, and the checks of what is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from duramen import __version__
from duramen.data import Schema
from duramen.data.encoded import invalid_values
from duramen.data.schema import KINDS
from duramen.forests.arrays import (
    ANY,
    ARRAY_NAMES,
    EVENT_ARRAYS,
    FAMILY_MASK,
    MULTIWAY,
    ONE_VS_REST,
    ORDERED,
    LeafEvents,
    TreeArrays,
)
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import child_counts, depths, expand, first_children, trees_of_nodes
from duramen.results.archive import as_damage, read_archive, write_archive
from duramen.support.arrays import Arrays, BoolArray, FloatArray


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


FORMAT = 4
PLAIN = (bool, int, float, str, type(None))
_NUMBERS = ("n_rows", "total_weight", "seed", "fingerprint", "first_tree")

Built = TypeVar("Built")


class Saved(NamedTuple):
    """Content of a file: the JSON object and the arrays."""

    header: dict[str, Any]
    arrays: Arrays


def write(
    path: str | PathLike[str], what: str, arrays: Arrays, forest: dict[str, Any], **others: Any
) -> None:
    """Write a packed forest; an old file is replaced only once the new one is complete.

    Parameters
    ----------
    path : path
        The file.
    what : str
        Class of what is saved.
    arrays, forest
        As :func:`pack` returns them.
    **others
        Further members of the JSON object.
    """
    header = {"what": what, "format": FORMAT, "version": __version__, "forest": forest, **others}
    write_archive(path, header, arrays)


def read(
    path: str | PathLike[str], what: str | None, function: str, build: Callable[[Saved], Built]
) -> Built:
    """Read what :func:`write` wrote, and build an object from it.

    Raises
    ------
    ValueError
        When the file is no such file, or nothing can be built from it.
    """
    header, arrays = read_archive(path, what=what, newest=FORMAT, function=function)
    with as_damage(path, function):
        return build(Saved(header, arrays))


def pack(forest: Mapping[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Split the fields of a forest into arrays and what JSON can hold."""
    schema: Schema = forest["schema"]
    arrays: Arrays = {name: forest[name] for name in ARRAY_NAMES}
    arrays["cut_values"] = schema.cut_values
    arrays["value_offsets"] = schema.value_offsets
    arrays["missing"] = schema.missing
    arrays["counts"] = schema.n_values
    if forest["leaf_events"] is not None:
        arrays.update(forest["leaf_events"].arrays())
    if forest["groups"] is not None:
        arrays["groups"] = forest["groups"]
    lists: dict[str, Any] = {}
    for column, labels in schema.labels.items():
        _pack_labels(f"labels_{column}", labels, arrays, lists)
    if forest["classes"] is not None:
        _pack_labels("classes", forest["classes"], arrays, lists)
    plain = {
        "settings": forest["settings"].to_dict(),
        "names": list(schema.names),
        "named": schema.named,
        "kinds": list(schema.kinds),
        "lists": lists,
        "origin": forest["origin"],
        **{name: forest[name] for name in _NUMBERS},
    }
    return arrays, plain


def unpack(saved: Saved) -> dict[str, Any]:
    """Return the fields of the forest in a file, by name."""
    arrays, plain = saved.arrays, saved.header["forest"]
    schema = Schema(
        names=tuple(plain["names"]),
        named=plain["named"],
        kinds=tuple(plain["kinds"]),
        cut_values=arrays["cut_values"],
        value_offsets=arrays["value_offsets"],
        labels={
            column: _unpack_labels(f"labels_{column}", arrays, plain["lists"])
            for column, kind in enumerate(plain["kinds"])
            if kind != "numeric"
        },
        missing=arrays["missing"],
        counts=arrays["counts"],
    )
    events = None
    if EVENT_ARRAYS[0] in arrays:
        events = LeafEvents(**{name: np.ascontiguousarray(arrays[name]) for name in EVENT_ARRAYS})
    has_classes = "classes" in arrays or "classes" in plain["lists"]
    return {
        **{name: np.ascontiguousarray(arrays[name]) for name in ARRAY_NAMES},
        **{name: plain[name] for name in _NUMBERS},
        "origin": plain["origin"],
        "settings": GrowthSettings.from_dict(plain["settings"]),
        "schema": schema,
        "leaf_events": events,
        "groups": np.ascontiguousarray(arrays["groups"]) if "groups" in arrays else None,
        "classes": _unpack_labels("classes", arrays, plain["lists"]) if has_classes else None,
    }


def _pack_labels(name: str, labels: NDArray[Any], arrays: Arrays, lists: dict[str, Any]) -> None:
    if labels.dtype != object:
        arrays[name] = labels
        return
    entries = [label.item() if isinstance(label, np.generic) else label for label in labels]
    odd = next((label for label in entries if not isinstance(label, PLAIN)), None)
    if odd is not None:
        raise TypeError(
            f"Forest.save: {name} holds {odd!r} of type {type(odd).__name__}; only numbers, "
            "strings and truth values can be saved without pickle"
        )
    lists[name] = entries


def _unpack_labels(name: str, arrays: Arrays, lists: Mapping[str, Any]) -> NDArray[Any]:
    if name in arrays:
        return arrays[name]
    entries = lists[name]
    labels = np.empty(len(entries), dtype=object)
    labels[:] = entries
    return labels
