"""Forests in files: packing, and checks of the content that is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from duramen import __version__
from duramen.data import Schema
from duramen.data.dates import Dates
from duramen.data.encoded import invalid_values
from duramen.data.schema import KINDS
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import (
    ANY,
    ARRAY_NAMES,
    ARRAY_TYPES,
    EVENT_ARRAYS,
    FAMILY_MASK,
    MULTIWAY,
    ONE_VS_REST,
    ORDERED,
    LeafEvents,
    child_counts,
    depths,
    first_children,
    trees_of_nodes,
)
from duramen.results.archive import as_damage, read_archive, write_archive
from duramen.support.arrays import Arrays, FloatArray, ranges


def check(trees: Any) -> None:
    """Check that the arrays of a forest describe trees that the kernel can walk through safely."""
    schema, classes, groups = trees.schema, trees.classes, trees.groups

    def require(good: Any, what: str) -> None:
        if not np.all(good):
            where = f" (first at {int(np.argmin(good))})" if np.ndim(good) else ""
            raise ValueError(f"Forest.check: {what}{where}")

    # Numbers, and rows in groups or bags.
    counts = (trees.n_rows, trees.seed, trees.first_tree)
    whole = all(type(count) is int and 0 <= count < 2**64 for count in counts) and counts[0] >= 1
    require(whole, f"n_rows, seed and first_tree must be whole numbers, got {counts}")
    total, origin = trees.total_weight, trees.origin
    reals = type(total) in (int, float) and type(origin) in (int, float)
    finite = reals and 0 < total < np.inf and np.isfinite(origin)
    require(finite, f"total_weight must be positive and origin finite, got {total!r}, {origin!r}")
    linked = trees.link in (None, "identity", "log", "logit")
    require(linked, f"link must be identity, log or logit, got {trees.link!r}")
    if groups is not None:
        fits = groups.dtype == np.uint32 and groups.shape == (trees.n_rows,)
        fits = fits and groups.max() < trees.n_rows
        require(fits, "groups must be the number of the group of each row")

    drawn = trees.drawn
    if drawn is not None:
        fits = drawn.dtype == np.uint32 and drawn.ndim == 2 and drawn.size > 0
        fits = fits and len(drawn) >= trees.first_tree + trees.n_trees
        require(fits and drawn.max() < trees.n_rows, "drawn must be numbers of rows for each tree")

    # The columns.
    p = schema.n_columns
    require(classes is None or classes.ndim == 1, "classes must be one-dimensional")
    named = all(isinstance(name, str) for name in schema.names) and len(set(schema.names)) == p
    kinds = len(schema.kinds) == p and set(schema.kinds) <= set(KINDS)
    require(named and kinds, f"columns must have different names, and kinds of {', '.join(KINDS)}")
    arrays = (schema.cut_values, schema.value_offsets, schema.missing, schema.n_values)
    types = [(array.dtype.name, array.ndim) for array in arrays]
    held = types == [("float64", 1), ("int64", 1), ("uint8", 1), ("int64", 1)]
    require(held, f"values, offsets, flags and counts of columns have wrong types, {types}")
    flags = schema.missing.shape == (p,) and (schema.missing <= 1).all()
    require(flags, f"missing must be {p} of 0 and 1")
    values = schema.value_offsets, schema.cut_values, schema.labels
    wrong = invalid_values(schema.kind_codes, *values)
    require(wrong is None, str(wrong))
    sizes, counted = np.diff(schema.value_offsets), schema.n_values
    whole = counted.shape == (p,) and (((sizes == counted) | (sizes == 0)) & (counted >= 0)).all()
    require(whole, "columns must have all of their values, or none")

    # Types and lengths of the arrays.
    for name, array in trees.arrays().items():
        dtype = ARRAY_TYPES[name]
        holds = array.dtype == dtype and array.ndim == (2 if name == "leaf_values" else 1)
        require(holds, f"{name} must hold {dtype}, got {array.dtype} of shape {array.shape}")
    n_trees, n_nodes = trees.n_trees, trees.n_nodes
    require(n_trees >= 1, "offsets must have at least two entries")
    totals = {
        "offsets": n_nodes,
        "leaf_offsets": len(trees.leaf_values),
        "pool_offsets": len(trees.pool),
    }
    for name, total in totals.items():
        bounds = getattr(trees, name)
        fits = bounds.shape == (n_trees + 1,) and bounds[0] == 0 and bounds[-1] == total
        require(fits, f"{name} must have {n_trees + 1} entries from 0 to {total}")
        least = 0 if name == "pool_offsets" else 1
        require(np.diff(bounds) >= least, f"{name} must increase")
    for name in sorted(set(ARRAY_NAMES) - {*totals, "pool", "leaf_values"}):
        length = len(getattr(trees, name))
        fits = length == n_nodes or (length == 0 and name.startswith("node_"))
        require(fits, f"{name} must have {n_nodes} entries")
    n_values = 1 if classes is None else len(classes)
    fits = trees.leaf_values.shape[1] == n_values
    require(fits, f"leaf_values must have {n_values} columns")
    lies = (trees.feature >= -1) & (trees.feature < p)
    require(lies, f"feature must lie in -1..{p - 1}")

    # The shape of the trees.
    tree = trees_of_nodes(trees)
    leaf = trees.feature < 0
    family = np.where(leaf, -1, trees.split & FAMILY_MASK)
    cut = trees.cut.astype(np.int64)
    left = np.diff(trees.pool_offsets)[tree] - cut  # words of the pool from the cut on
    multiway = family == MULTIWAY
    require(~multiway | (left >= 2), "cut points outside the pool")
    n_children, first = child_counts(trees), first_children(trees)
    require(leaf | (n_children >= 2), "an internal node must have two children or more")
    require(leaf | (first > np.arange(n_nodes)), "children must come after their parent")
    within = first + n_children <= trees.offsets[tree + 1]
    require(leaf | within, "child points outside the tree")
    times = np.zeros(n_nodes, dtype=np.int64)
    np.add.at(times, ranges(first[~leaf], n_children[~leaf]), 1)
    times[trees.offsets[:-1]] += 1
    require(times == 1, "every node but the root must be the child of exactly one node")
    number, of_tree = trees.child[leaf], tree[leaf]
    lies = (number >= 0) & (number < np.diff(trees.leaf_offsets)[of_tree])
    seen = np.sort(number + trees.leaf_offsets[of_tree])
    ascend = lies.all() and np.array_equal(seen, np.arange(len(trees.leaf_values)))
    require(ascend, "leaves must be numbered 0, 1, 2, ... within their tree")

    # The splits, of the inner nodes.
    feature, cut, left, family = trees.feature[~leaf], cut[~leaf], left[~leaf], family[~leaf]
    n_codes = schema.n_codes()[feature]
    looked_up = (family != ORDERED) | (schema.kind_codes[feature] != 0)
    has = schema.has_values[feature]
    require(~looked_up | has, "a column lacks the values of its splits")
    coded = (family == ORDERED) | (family == ONE_VS_REST)
    require(~coded | (cut < n_codes), "cut must be a code of the column")
    words = (n_codes + 31) // 32
    require((family != ANY) | (words <= left), "cut points outside the pool")
    start = (trees.pool_offsets[tree] + trees.cut)[multiway]
    count = n_children[multiway]
    require(count + 2 <= left[family == MULTIWAY], "a code map exceeds the pool")
    require(trees.pool[start + 1] < count, "the heaviest child must be a child")
    codes = trees.pool[ranges(start + 2, count)].astype(np.int64)
    known = codes < np.repeat(n_codes[family == MULTIWAY], count)
    require(known, "a code map holds an unknown code")
    begins = np.isin(np.arange(len(codes)), np.cumsum(count) - count)
    require(begins | (np.diff(codes, prepend=-1) > 0), "a code map must ascend")

    # The numbers. A node conditions on each column once, or, where columns come back, on one a
    # level.
    most = p + (int(depths(trees).max()) if len(trees.node_degree) else 0)
    require(trees.node_degree <= most, f"node_degree must be at most {most}")
    for name in ("node_weight", "impurity"):
        numbers: FloatArray = getattr(trees, name)
        require(~np.isnan(numbers), f"{name} must be finite")
        require(numbers >= 0, f"{name} must not be negative")
    frequencies = trees.leaf_values
    require(~np.isnan(frequencies).any(axis=1), "leaf_values must be finite")
    if classes is not None and trees.link is None:
        sums = frequencies.sum(axis=1)
        require(np.abs(sums - 1) < 1e-9, "class frequencies of a leaf must sum to 1")
        require(frequencies.min(axis=1) >= 0, "class frequencies must not be negative")
    censored = (trees.leaf_events is not None) == trees.target_class.censored
    require(censored, "leaves must have events for survival, and only then")
    if trees.leaf_events is not None:
        trees.leaf_events.check(len(trees.leaf_values))


FORMAT = 4
PLAIN = (bool, int, float, str, type(None))
_NUMBERS = ("n_rows", "total_weight", "seed", "fingerprint", "first_tree", "origin")
_COLUMNS = ("cut_values", "value_offsets", "missing")

Built = TypeVar("Built")


def save(path: str | PathLike[str], what: str, forest: Any, arrays: Arrays, **others: Any) -> None:
    """Save a forest; an old file is replaced only when the new file is complete.

    Parameters
    ----------
    path : path
        The file.
    what : str
        Class of what is saved.
    forest : Forest
        The forest.
    arrays : dict of arrays
        Further arrays.
    **others
        Further members of the JSON object.
    """
    packed, plain = pack(forest)
    header = {"what": what, "format": FORMAT, "version": __version__, "forest": plain, **others}
    write_archive(path, header, {**packed, **arrays})


def load(
    path: str | PathLike[str],
    what: str | None,
    function: str,
    build: Callable[[dict[str, Any], dict[str, Any], Arrays], Built],
) -> Built:
    """Load a file of :func:`save`, and build an object from its fields.

    Raises
    ------
    ValueError
        When the file is no such file, or nothing can be built from it.
    """
    header, arrays = read_archive(path, what=what, newest=FORMAT, function=function)
    with as_damage(path, function):
        return build(unpack(header["forest"], arrays), header, arrays)


def pack(forest: Any) -> tuple[Arrays, dict[str, Any]]:
    """Split the fields of a forest into arrays and JSON values."""
    schema, arrays = forest.schema, forest.arrays()
    arrays |= {name: getattr(schema, name) for name in _COLUMNS}
    arrays["counts"] = schema.n_values
    if forest.leaf_events is not None:
        arrays |= forest.leaf_events.arrays()
    for name in ("groups", "drawn"):
        if getattr(forest, name) is not None:
            arrays[name] = getattr(forest, name)
    labels = {f"labels_{column}": labels for column, labels in schema.labels.items()}
    if forest.classes is not None:
        labels["classes"] = forest.classes
    lists: dict[str, Any] = {}  # of Python's own values, which NumPy saves by pickle alone
    for name, values in labels.items():
        if values.dtype != object:
            arrays[name] = values
            continue
        lists[name] = [v.item() if isinstance(v, np.generic) else v for v in values]
        odd = next((value for value in lists[name] if not isinstance(value, PLAIN)), None)
        if odd is not None:
            raise TypeError(
                f"Forest.save: {name} holds {odd!r} of type {type(odd).__name__}; only numbers, "
                "strings and truth values can be saved without pickle"
            )
    plain = {
        "settings": forest.settings.to_dict(),
        "names": list(schema.names),
        "named": schema.named,
        "kinds": list(schema.kinds),
        "lists": lists,
        **{name: getattr(forest, name) for name in _NUMBERS},
    }
    if schema.dates:
        plain["dates"] = {name: asdict(how) for name, how in schema.dates.items()}
    if forest.link is not None:
        plain["link"] = forest.link
    return arrays, plain


def unpack(plain: dict[str, Any], stored: Arrays) -> dict[str, Any]:
    """Return the fields of the forest in a file, by name."""
    arrays = {name: np.ascontiguousarray(array) for name, array in stored.items()}
    for name, entries in plain["lists"].items():
        arrays[name] = np.empty(len(entries), dtype=object)
        arrays[name][:] = entries
    kinds = tuple(plain["kinds"])
    own = [column for column, kind in enumerate(kinds) if kind != "numeric"]
    schema = Schema(
        names=tuple(plain["names"]),
        named=plain["named"],
        kinds=kinds,
        labels={column: arrays[f"labels_{column}"] for column in own},
        counts=arrays["counts"],
        dates={name: Dates(**how) for name, how in plain.get("dates", {}).items()},
        **{name: arrays[name] for name in _COLUMNS},
    )
    events = None
    if EVENT_ARRAYS[0] in arrays:
        events = LeafEvents(**{name: arrays[name] for name in EVENT_ARRAYS})
    return {
        **{name: arrays[name] for name in ARRAY_NAMES},
        **{name: plain[name] for name in _NUMBERS},
        "settings": GrowthSettings.from_dict(plain["settings"]),
        "schema": schema,
        "leaf_events": events,
        "groups": arrays.get("groups"),
        "drawn": arrays.get("drawn"),
        "link": plain.get("link"),
        "classes": arrays.get("classes"),
    }
