"""Validation of the fields of a distribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import Codes
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.partition import Partition
from duramen.theory.distributions.variables import Column, Columns

_SUM = 1e-9  # how far from 1 given probabilities may sum


def check_probabilities(given: FloatArray, what: str, function: str) -> None:
    """Refuse probabilities that are not finite, negative or do not sum to 1 within 1e-9."""
    if not np.all(np.isfinite(given)):
        raise ValueError(f"{function}: {what} must be finite, got NaN or infinity.")
    if np.any(given < 0):
        raise ValueError(f"{function}: {what} must be at least 0, got {given.min():g}.")
    if not abs(float(given.sum()) - 1.0) <= _SUM:
        raise ValueError(f"{function}: {what} must sum to 1, got {given.sum():.12g}.")


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
