"""Weighted rows of coded variables: merging, checks, axes of arrays, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.categories import (
    Codes,
    labels_of,
    without_gaps,
)
from duramen.results.columns import Column as ShownColumn
from duramen.results.columns import counted
from duramen.results.summary import Summary
from duramen.support.arrays import BoolArray, FloatArray
from duramen.theory.distributions.variables import (
    Column,
    Columns,
    Partition,
)


def locked(values: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    """Return a read-only copy of an array."""
    array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array


_SHOWN_FEATURES = 10


def distribution_summary(columns: Columns, weights: FloatArray, rows: int) -> Summary:
    """Return the sizes of a distribution and its first rows, with their probabilities."""
    target, context, p = columns.target, columns.context, len(columns.features)
    counts = [
        counted(len(weights), "row"),
        counted(p, "feature"),
        f"{counted(len(target.values), 'value')} of {target.name}",
    ]
    if context is not None:
        counts.append(f"{counted(len(context.values), 'value')} of the context")
    shown = [*columns.features[:_SHOWN_FEATURES], *columns.all[p:]]
    first = weights[:rows]
    cells = [
        ShownColumn(column.name, list(map(str, column.values[column.codes[:rows]].tolist())))
        for column in shown
    ]
    cells.append(ShownColumn("probability", [f"{weight:.6g}" for weight in first], bars=first))
    more = len(weights) - len(first), p - _SHOWN_FEATURES
    below = [
        f"... and {counted(count, noun)}"
        for count, noun in zip(more, ("more row", "more feature"), strict=True)
        if count > 0
    ]
    return Summary((f"FiniteDistribution: {', '.join(counts)}",), cells, tuple(below))


def merge_rows(columns: Columns, weights: FloatArray) -> tuple[Columns, FloatArray]:
    """Merge equal rows, and drop rows of weight zero and values without a row.

    The distinct rows are in lexicographic order of features, context and target, with their
    probabilities.
    """
    alive = weights > 0
    columns_left = [_present(column, alive) for column in columns.all]
    mass = weights[alive]
    rows = Partition.by(((column.codes, len(column.values)) for column in columns_left), len(mass))
    first = rows.first_rows()
    # In the order of their size, weights add up to the same bits in whatever order rows came.
    order = np.argsort(mass, kind="stable")
    total = np.bincount(rows.cell[order], weights=mass[order], minlength=rows.n_cells)
    merged = [replace(column, codes=column.codes[first]) for column in columns_left]
    p = len(columns.features)
    context = None if columns.context is None else merged[p]
    return Columns(tuple(merged[:p]), merged[-1], context), total / total.sum()


def _present(column: Column, alive: BoolArray) -> Column:
    codes = column.codes if alive.all() else column.codes[alive]
    return Column(column.name, *without_gaps(codes, column.values))


_SUM = 1e-9  # how far from 1 given probabilities may sum


def check_probabilities(probabilities: FloatArray, what: str, function: str) -> None:
    """Refuse probabilities that are not finite, negative or do not sum to 1 within 1e-9."""
    if not np.all(np.isfinite(probabilities)):
        raise ValueError(f"{function}: {what} must be finite, got NaN or infinity.")
    if np.any(probabilities < 0):
        raise ValueError(f"{function}: {what} must be at least 0, got {probabilities.min():g}.")
    if not abs(float(probabilities.sum()) - 1.0) <= _SUM:
        raise ValueError(f"{function}: {what} must sum to 1, got {probabilities.sum():.12g}.")


def check_names(names: Iterable[object]) -> None:
    """Refuse names of variables that are not strings, or repeated."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"FiniteDistribution: names must be strings, got {name!r}.")
        if name in seen:
            raise ValueError(
                f"FiniteDistribution: names must be different, but {name!r} occurs twice; the "
                "target and the context have names too."
            )
        seen.add(name)


def check_shapes(
    codes: Codes, target: Codes, weights: FloatArray, n_names: int, labels: Sequence[NDArray[Any]]
) -> None:
    """Refuse arrays whose shapes do not fit together."""
    n_rows = len(weights)
    if n_rows == 0:
        raise ValueError("FiniteDistribution: there must be at least one row, got none.")
    if codes.shape != (n_rows, n_names) or target.shape != (n_rows,):
        raise ValueError(
            f"FiniteDistribution: with {n_rows} weights and {n_names} names, codes must have "
            f"shape {(n_rows, n_names)} and target {(n_rows,)}, got {codes.shape} and "
            f"{target.shape}."
        )
    if len(labels) != n_names:
        raise ValueError(
            f"FiniteDistribution: labels must have one array per feature, got {len(labels)} for "
            f"{n_names} features."
        )


def check_context(context: Codes | None, context_values: NDArray[Any] | None, n_rows: int) -> None:
    """Refuse a context without values, values without a context, or a context of another length."""
    if (context is None) != (context_values is None):
        raise ValueError(
            "FiniteDistribution: context and context_values must be given together, got only one."
        )
    if context is not None and context.shape != (n_rows,):
        raise ValueError(
            f"FiniteDistribution: context must have shape {(n_rows,)}, got {context.shape}."
        )


def check_rows(columns: Columns, weights: FloatArray) -> None:
    """Refuse codes without a value, values without a row, equal rows and bad probabilities."""
    for column in columns.all:
        _check_codes(column)
    if not np.all(weights > 0):
        raise ValueError("FiniteDistribution: weights must be above 0; leave out rows of weight 0.")
    check_probabilities(weights, "weights", "FiniteDistribution")
    rows = Partition.by(((c.codes, len(c.values)) for c in columns.all), len(weights))
    if rows.n_cells != len(weights):
        raise ValueError(
            "FiniteDistribution: a row occurs twice. Hint: from_table merges equal rows."
        )


def _check_codes(column: Column) -> None:
    name, codes, values = column.name, column.codes, column.values
    if values.ndim != 1:
        raise ValueError(
            f"FiniteDistribution: the values of {name!r} must be one-dimensional, got shape "
            f"{values.shape}."
        )
    if len(codes) and codes.max() >= len(values):
        raise ValueError(
            f"FiniteDistribution: {name!r} has {len(values)} values, but its codes go up to "
            f"{codes.max()}."
        )
    used = np.zeros(len(values), dtype=bool)
    used[codes] = True
    if not used.all():
        unused = values[int(np.argmin(used))]
        raise ValueError(
            f"FiniteDistribution: {name!r} has no row with value {unused!r}; leave it out."
        )


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
    axis: str | int, names: Sequence[str] | None, n_axes: int, what: str, function: str
) -> int:
    """Return the number of an axis that is given by name or number."""
    if isinstance(axis, str):
        if names is None or axis not in names:
            raise ValueError(
                f"{function}: {what} must be one of the names or the number of an axis, got "
                f"{axis!r}."
            )
        return list(names).index(axis)
    if not -n_axes <= axis < n_axes:
        raise ValueError(
            f"{function}: {what} must be the number of an axis, {-n_axes} to {n_axes - 1}, got "
            f"{axis}."
        )
    return axis % n_axes


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
    labels_of = {} if labels is None else dict(labels)
    unknown = [name for name in labels_of if name not in names]
    if unknown:
        raise ValueError(f"{function}: labels names {unknown[0]!r}, which is not a variable here.")
    return [
        _distinct_labels(labels_of[name], name, size, function)
        if name in labels_of
        else np.arange(size)
        for name, size in zip(names, shape, strict=True)
    ]


def _distinct_labels(values: Sequence[Any], name: str, size: int, function: str) -> NDArray[Any]:
    labels = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(labels) != size:
        raise ValueError(
            f"{function}: {name!r} must have {size} values, one for each position along its axis, "
            f"got {len(labels)}."
        )
    try:
        distinct = len(set(labels)) == size
    except TypeError as error:
        raise TypeError(f"{function}: the values of {name!r} cannot be values ({error}).") from None
    if not distinct:
        raise ValueError(f"{function}: the values of {name!r} must be different, got {labels!r}.")
    return labels_of(labels)
