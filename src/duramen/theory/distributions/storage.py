"""Distributions on disk."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from duramen.data.categories import objects
from duramen.results.archive import as_damage, read_archive, write_archive

_FORMAT = 1
_ARRAYS = ("codes", "target", "weights")
_TEXTS = ("target_name", "context_name")


def write_distribution(path: str | PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a distribution to one archive; see `FiniteDistribution.save`."""
    arrays: dict[str, NDArray[Any]] = {key: fields[key] for key in _ARRAYS}
    values = {f"labels_{j}": labels for j, labels in enumerate(fields["labels"])}
    values["classes"] = fields["classes"]
    if fields["context"] is not None:
        arrays["context"] = fields["context"]
        values["context_values"] = fields["context_values"]
    as_text: dict[str, list[Any]] = {}
    for key, labels in values.items():
        if labels.dtype == object:
            as_text[key] = _writable(labels, key)
        else:
            arrays[key] = labels
    header = {
        "what": "FiniteDistribution",
        "format": _FORMAT,
        "names": list(fields["names"]),
        **{key: fields[key] for key in _TEXTS},
        "values": as_text,
        "metadata": dict(fields["metadata"]),
    }
    write_archive(path, header, arrays)


def read_distribution(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the fields of a distribution that `write_distribution` wrote."""
    header, arrays = read_archive(
        path, what="FiniteDistribution", newest=_FORMAT, function="FiniteDistribution.load"
    )
    with as_damage(path, "FiniteDistribution.load"):
        arrays.update({key: objects(labels) for key, labels in header["values"].items()})
        return {
            **{key: arrays[key] for key in (*_ARRAYS, "classes")},
            **{key: header[key] for key in (*_TEXTS, "metadata")},
            "names": tuple(header["names"]),
            "labels": tuple(arrays[f"labels_{j}"] for j in range(len(header["names"]))),
            "context": arrays.get("context"),
            "context_values": arrays.get("context_values"),
        }


def _writable(labels: NDArray[Any], key: str) -> list[Any]:
    values: list[Any] = labels.tolist()
    for value in values:
        if value is not None and not isinstance(value, (str, bool, int, float)):
            raise TypeError(
                f"FiniteDistribution.save: {key} holds {value!r} of type {type(value).__name__}; "
                "only strings, numbers, truth values and dates of NumPy can be saved."
            )
    return values
