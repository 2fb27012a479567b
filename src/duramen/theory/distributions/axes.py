"""Axes of an array of probabilities: names, roles and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.categories import labels_of
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.validation import check_probabilities
from duramen.theory.distributions.variables import Column, Columns


def columns_of_axes(
    probabilities: ArrayLike,
    names: Sequence[str] | None,
    labels: Mapping[str, Sequence[Any]] | None,
    target: str | int,
    context: str | int | None,
    function: str,
) -> tuple[Columns, FloatArray]:
    """Return the cells of positive probability as rows; see `from_probabilities`."""
    table = np.asarray(probabilities, dtype=np.float64)
    if table.ndim == 0:
        raise ValueError(f"{function}: probabilities must have one axis per variable, got none.")
    check_probabilities(table, "probabilities", function)
    target_axis = _axis_of(target, names, table.ndim, "target", function)
    context_axis = None
    if context is not None:
        context_axis = _axis_of(context, names, table.ndim, "context", function)
        if context_axis == target_axis:
            raise ValueError(f"{function}: target and context are the same axis {context!r}.")
    chosen = _axis_names(names, table.ndim, target_axis, context_axis, function)
    values = _axis_labels(labels, chosen, table.shape, function)
    occupied = np.nonzero(table)
    columns = [
        Column(name, codes.astype(np.uint32), own)
        for name, codes, own in zip(chosen, occupied, values, strict=True)
    ]
    features = [a for a in range(table.ndim) if a not in (target_axis, context_axis)]
    return Columns(
        tuple(columns[axis] for axis in features),
        columns[target_axis],
        None if context_axis is None else columns[context_axis],
    ), table[occupied]


def _axis_of(
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


def _axis_names(
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


def _axis_labels(
    labels: Mapping[str, Sequence[Any]] | None,
    names: Sequence[str],
    shape: Sequence[int],
    function: str,
) -> list[NDArray[Any]]:
    """Return the values along each axis, by default 0, 1, 2, ..."""
    given = {} if labels is None else dict(labels)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"{function}: labels names {unknown[0]!r}, which is not a variable here.")
    return [
        _distinct_labels(given[name], name, size, function) if name in given else np.arange(size)
        for name, size in zip(names, shape, strict=True)
    ]


def _distinct_labels(values: Sequence[Any], name: str, size: int, function: str) -> NDArray[Any]:
    given = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(given) != size:
        raise ValueError(
            f"{function}: {name!r} must have {size} values, one for each position along its axis, "
            f"got {len(given)}."
        )
    try:
        distinct = len(set(given)) == size
    except TypeError as error:
        raise TypeError(f"{function}: the values of {name!r} cannot be values ({error}).") from None
    if not distinct:
        raise ValueError(f"{function}: the values of {name!r} must be different, got {given!r}.")
    return labels_of(given)
