"""Storage of a forest in one .npz file: arrays and JSON, no pickle.

The flat arrays are members of the archive under their own names; everything else is one member,
``json``, the bytes of a JSON object. Labels that NumPy can hold without objects are members too;
others (strings in object arrays, say) are lists in the JSON object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from duramen import __version__
from duramen.data import Schema
from duramen.forests.arrays import ARRAY_NAMES
from duramen.forests.leaf_events import EVENT_ARRAYS, LeafEvents
from duramen.forests.settings import GrowthSettings
from duramen.results.archive import as_damage, read_archive, write_archive
from duramen.support.arrays import Arrays

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
