"""What holds of every distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.theory.distributions.coding import Codes
from duramen.theory.distributions.partition import FloatArray

if TYPE_CHECKING:
    from duramen.theory.distributions.finite_distribution import FiniteDistribution

_SUM = 1e-9  # how far from 1 given probabilities may sum


def check_probabilities(given: FloatArray, what: str, function: str) -> None:
    """Refuse probabilities that are not finite, negative or do not sum to 1 within 1e-9."""
    if not np.all(np.isfinite(given)):
        raise ValueError(f"{function}: {what} must be finite, got NaN or infinity.")
    if np.any(given < 0):
        raise ValueError(f"{function}: {what} must be at least 0, got {given.min():g}.")
    if not abs(float(given.sum()) - 1.0) <= _SUM:
        raise ValueError(f"{function}: {what} must sum to 1, got {given.sum():.12g}.")


def check_distribution(d: FiniteDistribution) -> None:
    """Refuse what is no distribution; see the class."""
    _check_names(d)
    n_rows = len(d.weights)
    if n_rows == 0:
        raise ValueError("FiniteDistribution: there must be at least one row, got none.")
    if d.codes.shape != (n_rows, len(d.names)) or d.target.shape != (n_rows,):
        raise ValueError(
            f"FiniteDistribution: with {n_rows} weights and {len(d.names)} names, codes must have "
            f"shape {(n_rows, len(d.names))} and target {(n_rows,)}, got {d.codes.shape} and "
            f"{d.target.shape}."
        )
    if len(d.labels) != len(d.names):
        raise ValueError(
            f"FiniteDistribution: labels must have one array a feature, got {len(d.labels)} for "
            f"{len(d.names)} features."
        )
    for j, (name, labels) in enumerate(zip(d.names, d.labels, strict=True)):
        _check_codes(name, d.codes[:, j], labels)
    _check_codes(d.target_name, d.target, d.classes)
    if (d.context is None) != (d.context_values is None):
        raise ValueError(
            "FiniteDistribution: context and context_values must be given together, got only one."
        )
    if d.context is not None and d.context_values is not None:
        if d.context.shape != (n_rows,):
            raise ValueError(
                f"FiniteDistribution: context must have shape {(n_rows,)}, got {d.context.shape}."
            )
        _check_codes(d.context_name, d.context, d.context_values)
    if not np.all(d.weights > 0):
        raise ValueError("FiniteDistribution: weights must be above 0; leave other rows out.")
    check_probabilities(d.weights, "weights", "FiniteDistribution")
    if d.partition((*range(d.n_features), *d._roles())).n_cells != n_rows:
        raise ValueError(
            "FiniteDistribution: a row comes twice. Hint: from_table merges equal rows."
        )


def _check_names(d: FiniteDistribution) -> None:
    taken = [d.target_name] if d.context is None else [d.target_name, d.context_name]
    seen: set[str] = set()
    for name in (*d.names, *taken):
        if not isinstance(name, str):
            raise TypeError(f"FiniteDistribution: names must be strings, got {name!r}.")
        if name in seen:
            raise ValueError(
                f"FiniteDistribution: names must be different, {name!r} comes twice; the target "
                "and the context have names too."
            )
        seen.add(name)


def _check_codes(name: str, codes: Codes, labels: NDArray[Any]) -> None:
    if labels.ndim != 1:
        raise ValueError(
            f"FiniteDistribution: the values of {name!r} must be one-dimensional, got shape "
            f"{labels.shape}."
        )
    used = np.zeros(len(labels), dtype=bool)
    if len(codes) and codes.max() >= len(labels):
        raise ValueError(
            f"FiniteDistribution: {name!r} has {len(labels)} values, but code {codes.max()}."
        )
    used[codes] = True
    if not used.all():
        unused = labels[int(np.argmin(used))]
        raise ValueError(
            f"FiniteDistribution: {name!r} has no row with value {unused!r}; leave it out."
        )
