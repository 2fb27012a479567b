"""Distributions on disk."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from duramen.results.archive import as_damage, read_archive, write_archive
from duramen.theory.distributions.coding import objects

if TYPE_CHECKING:
    from duramen.theory.distributions.finite_distribution import FiniteDistribution

_FORMAT = 1


def write_distribution(path: str | PathLike[str], dist: FiniteDistribution) -> None:
    """Write a distribution to one archive; see `FiniteDistribution.save`."""
    arrays: dict[str, NDArray[Any]] = {
        "codes": dist.codes,
        "target": dist.target,
        "weights": dist.weights,
    }
    if dist.context is not None:
        arrays["context"] = dist.context
    as_text: dict[str, list[Any]] = {}
    for key, labels in _value_arrays(dist).items():
        if labels.dtype == object:
            as_text[key] = _writable(labels, key)
        else:
            arrays[key] = labels
    header = {
        "what": "FiniteDistribution",
        "format": _FORMAT,
        "names": list(dist.names),
        "target_name": dist.target_name,
        "context_name": dist.context_name,
        "values": as_text,
        "metadata": dict(dist.metadata),
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
            "codes": arrays["codes"],
            "target": arrays["target"],
            "weights": arrays["weights"],
            "names": tuple(header["names"]),
            "labels": tuple(arrays[f"labels_{j}"] for j in range(len(header["names"]))),
            "classes": arrays["classes"],
            "target_name": header["target_name"],
            "context": arrays.get("context"),
            "context_values": arrays.get("context_values"),
            "context_name": header["context_name"],
            "metadata": header["metadata"],
        }


def _value_arrays(dist: FiniteDistribution) -> dict[str, NDArray[Any]]:
    values = {f"labels_{j}": labels for j, labels in enumerate(dist.labels)}
    values["classes"] = dist.classes
    if dist.context_values is not None:
        values["context_values"] = dist.context_values
    return values


def _writable(labels: NDArray[Any], key: str) -> list[Any]:
    values: list[Any] = labels.tolist()
    for value in values:
        if value is not None and not isinstance(value, (str, bool, int, float)):
            raise TypeError(
                f"FiniteDistribution.save: {key} holds {value!r} of type {type(value).__name__}; "
                "only strings, numbers, truth values and dates of NumPy can be saved."
            )
    return values
