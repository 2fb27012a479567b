"""Forests and estimators in one .npz file each: arrays and JSON, no pickle.

The flat arrays are members of the archive under their own names; everything else is one member,
``json``, the bytes of a JSON object. Labels that NumPy can hold without objects are members too;
others (strings in object arrays, say) are lists in the JSON object.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from duramen.forests.forest import ARRAY_NAMES, Forest
from duramen.forests.settings import GrowthSettings
from duramen.tables import Schema

if TYPE_CHECKING:
    from duramen.forests.base import BaseForest

    Estimator = TypeVar("Estimator", bound=BaseForest)

FORMAT = 1
OUT_OF_BAG = ("oob_decision_function_", "oob_prediction_", "oob_error_curve_")
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
    _write(Path(path), arrays, {"what": "Forest", "forest": plain})


def load_forest(path: str | PathLike[str]) -> Forest:
    """Read a forest that :func:`save_forest` or an estimator's ``save`` wrote, and check it.

    Raises
    ------
    ValueError
        When the file is no such file, or its arrays describe no trees.
    """
    arrays, plain = _read(Path(path), "Forest.load")
    return _unpack_forest(arrays, plain["forest"])


def save_estimator(estimator: BaseForest, path: str | PathLike[str]) -> None:
    """Write a fitted estimator: its parameters, its forest and its out-of-bag estimates."""
    arrays, plain = _pack_forest(estimator.forest_)
    for name in OUT_OF_BAG:
        if hasattr(estimator, name):
            arrays[name] = getattr(estimator, name)
    meta = {
        "what": type(estimator).__name__,
        "forest": plain,
        "parameters": {
            name: _plain_parameter(name, value)
            for name, value in estimator.get_params(deep=False).items()
        },
        "oob_score_": getattr(estimator, "oob_score_", None),
    }
    _write(Path(path), arrays, meta)


def load_estimator(kind: type[Estimator], path: str | PathLike[str]) -> Estimator:
    """Read an estimator of class ``kind``.

    Raises
    ------
    ValueError
        When the file holds something else.
    """
    arrays, plain = _read(Path(path), f"{kind.__name__}.load")
    if plain["what"] != kind.__name__:
        raise ValueError(
            f"{kind.__name__}.load: {path} holds a {plain['what']}; load it with that class"
        )
    parameters = {name: _parameter_from_plain(value) for name, value in plain["parameters"].items()}
    estimator = kind(**parameters)
    estimator._adopt(_unpack_forest(arrays, plain["forest"]))
    for name in OUT_OF_BAG:
        if name in arrays:
            setattr(estimator, name, arrays[name])
    if plain["oob_score_"] is not None:
        estimator.oob_score_ = plain["oob_score_"]
    return estimator


# A forest


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
        "first_tree": forest.first_tree,
    }
    return arrays, plain


def _unpack_forest(arrays: Arrays, plain: Mapping[str, Any]) -> Forest:
    try:
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
            first_tree=plain["first_tree"],
        )
    except KeyError as error:
        raise ValueError(f"Forest.load: the file lacks {error}") from error
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


# Files


def _write(path: Path, arrays: Arrays, meta: Mapping[str, Any]) -> None:
    from duramen import __version__

    text = json.dumps({"format": FORMAT, "version": __version__, **meta}, ensure_ascii=True)
    members = {**arrays, "json": np.frombuffer(text.encode("ascii"), dtype=np.uint8)}
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, **members)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _read(path: Path, where: str) -> tuple[Arrays, dict[str, Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        plain = json.loads(arrays.pop("json").tobytes())
        readable = plain["format"] == FORMAT and isinstance(plain["forest"], dict)
    except FileNotFoundError:
        raise
    except (OSError, BadZipFile, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"{where}: {path} is no file that duramen saved ({type(error).__name__}: {error})"
        ) from error
    if not readable:
        raise ValueError(
            f"{where}: {path} has format {plain['format']!r}, this version reads {FORMAT}; "
            "load it with the version that saved it"
        )
    return arrays, plain
