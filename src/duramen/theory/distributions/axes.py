"""The axes of an array of probabilities: names, roles and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.theory.distributions.coding import labels_of


def axis_of(
    given: str | int, names: Sequence[str] | None, n_axes: int, what: str, function: str
) -> int:
    """Return the number of an axis that is given by name or number."""
    if isinstance(given, str):
        if names is None or given not in names:
            raise ValueError(
                f"{function}: {what} must be one of the names or the number of an axis, got "
                f"{given!r}."
            )
        return list(names).index(given)
    if not -n_axes <= given < n_axes:
        raise ValueError(
            f"{function}: {what} must be the number of an axis, {-n_axes} to {n_axes - 1}, got "
            f"{given}."
        )
    return given % n_axes


def axis_names(
    names: Sequence[str] | None, n_axes: int, target: int, context: int | None, function: str
) -> tuple[str, ...]:
    """Return a name for each axis, by default ``X1``, ``X2``, ..., ``Y`` and ``Xc``."""
    if names is not None:
        if isinstance(names, str) or len(names) != n_axes:
            raise ValueError(
                f"{function}: names must be a list with one entry for each of the {n_axes} axes, "
                f"got {names!r}."
            )
        return tuple(names)
    number = iter(range(1, n_axes + 1))
    roles = {target: "Y", context: "Xc"}
    return tuple(roles.get(axis) or f"X{next(number)}" for axis in range(n_axes))


def axis_labels(
    labels: Mapping[str, Sequence[Any]] | None,
    names: Sequence[str],
    shape: Sequence[int],
    function: str,
) -> list[NDArray[Any]]:
    """Return the values along each axis, by default 0, 1, 2, ..."""
    given = {} if labels is None else dict(labels)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"{function}: labels names {unknown[0]!r}, which is no variable here.")
    return [
        _distinct_labels(given[name], name, size, function) if name in given else np.arange(size)
        for name, size in zip(names, shape, strict=True)
    ]


def _distinct_labels(values: Sequence[Any], name: str, size: int, function: str) -> NDArray[Any]:
    given = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(given) != size:
        raise ValueError(
            f"{function}: {name!r} must have {size} values, one for each place along its axis, got "
            f"{len(given)}."
        )
    try:
        distinct = len(set(given)) == size
    except TypeError as error:
        raise TypeError(f"{function}: the values of {name!r} cannot be values ({error}).") from None
    if not distinct:
        raise ValueError(f"{function}: the values of {name!r} must be different, got {given!r}.")
    return labels_of(given)
