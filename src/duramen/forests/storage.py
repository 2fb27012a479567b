"""Forests and estimators in one .npz file each: arrays and JSON, no pickle.

The flat arrays are members of the archive under their own names; everything else is one member,
``json``, the bytes of a JSON object. Labels that NumPy can hold without objects are members too;
others (strings in object arrays, say) are lists in the JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from duramen.forests.forest import ARRAY_NAMES, Forest
from duramen.forests.settings import GrowthSettings
from duramen.results.archive import as_damage, read_archive, write_archive
from duramen.tables import Schema

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

    Estimator = TypeVar("Estimator", bound=BaseForest)

FORMAT = 1
OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_", "oob_error_curve_")
PLAIN = (bool, int, float, str, type(None))

Arrays = dict[str, NDArray[Any]]


def save_forest(forest: Forest, path: str | PathLike[str]) -> None:
    """Write a forest to ``path``; an old file is replaced only once the new one is complete.

    Raises
    ------
    TypeError
        When a label is no number, string or truth value.
    """
    arrays, plain = _pack_forest(forest)
    write_archive(path, _header("Forest", plain), arrays)


def load_forest(path: str | PathLike[str]) -> Forest:
    """Read a forest that :func:`save_forest` or an estimator's ``save`` wrote, and check it.

    Raises
    ------
    ValueError
        When the file is no such file, or its arrays describe no trees.
    """
    function = "Forest.load"
    header, arrays = read_archive(path, what=None, newest=FORMAT, function=function)
    with as_damage(path, function):
        return _unpack_forest(arrays, header)


def save_estimator(estimator: BaseForest, path: str | PathLike[str]) -> None:
    """Write a fitted estimator: its parameters, its forest and its out-of-bag estimates."""
    arrays, plain = _pack_forest(estimator.forest_)
    for name in OUT_OF_BAG:
        if hasattr(estimator, name):
            arrays[name] = np.asarray(getattr(estimator, name))
    header = _header(type(estimator).__name__, plain)
    header["parameters"] = {
        name: _plain_parameter(name, value)
        for name, value in estimator.get_params(deep=False).items()
    }
    write_archive(path, header, arrays)


def load_estimator(kind: type[Estimator], path: str | PathLike[str]) -> Estimator:
    """Read an estimator of class ``kind``.

    Raises
    ------
    ValueError
        When the file holds something else.
    """
    what = kind.__name__
    function = f"{what}.load"
    header, arrays = read_archive(path, what=what, newest=FORMAT, function=function)
    with as_damage(path, function):
        parameters = {
            name: _parameter_from_plain(value) for name, value in header["parameters"].items()
        }
        estimator = kind(**parameters)
        estimator._adopt(_unpack_forest(arrays, header))
        for name in OUT_OF_BAG:
            if name in arrays:
                setattr(estimator, name, arrays[name] if arrays[name].ndim else arrays[name].item())
    return estimator


# A forest


def _header(what: str, forest: dict[str, Any]) -> dict[str, Any]:
    from duramen import __version__

    return {"what": what, "format": FORMAT, "version": __version__, "forest": forest}


def _pack_forest(forest: Forest) -> tuple[Arrays, dict[str, Any]]:
    schema = forest.schema
    arrays: Arrays = dict(forest.arrays())
    arrays["cut_values"] = schema.cut_values
    arrays["value_offsets"] = schema.value_offsets
    arrays["missing"] = schema.missing
    lists: dict[str, Any] = {}
    for column, labels in schema.labels.items():
        _pack_labels(f"labels_{column}", labels, arrays, lists)
    if forest.classes is not None:
        _pack_labels("classes", forest.classes, arrays, lists)
    plain = {
        "settings": forest.settings.to_dict(),
        "names": list(schema.names),
        "named": schema.named,
        "kinds": list(schema.kinds),
        "lists": lists,
        "n_rows": forest.n_rows,
        "total_weight": forest.total_weight,
        "seed": forest.seed,
        "fingerprint": forest.fingerprint,
        "first_tree": forest.first_tree,
    }
    return arrays, plain


def _unpack_forest(arrays: Arrays, header: Mapping[str, Any]) -> Forest:
    plain = header["forest"]
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
    )
    known = "classes" in arrays or "classes" in plain["lists"]
    forest = Forest(
        **{name: arrays[name] for name in ARRAY_NAMES},
        settings=GrowthSettings.from_dict(plain["settings"]),
        schema=schema,
        classes=_unpack_labels("classes", arrays, plain["lists"]) if known else None,
        n_rows=plain["n_rows"],
        total_weight=plain["total_weight"],
        seed=plain["seed"],
        fingerprint=plain["fingerprint"],
        first_tree=plain["first_tree"],
    )
    forest.check()
    return forest


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


# Parameters


def _plain_parameter(name: str, value: Any) -> Any:
    """A parameter as JSON can hold it; what cannot be held is replaced by what stands for it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return value
    if name == "random_state":
        return None
    if name == "oob_score":
        return True
    if isinstance(value, Mapping):
        pairs = [[_plain_parameter(name, k), _plain_parameter(name, v)] for k, v in value.items()]
        return {"pairs": pairs}
    return [_plain_parameter(name, entry) for entry in value]


def _parameter_from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value["pairs"])
    return value
