"""Weights of the rows, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.support.arrays import FloatArray, refuse_masked

_MOST_MULTIPLE, _MOST_VALUES = 100, 1000
_ROUNDING = 1e-9  # relative error of a weight that counts as a multiple
_LARGEST_EXPONENT = 22  # of a weight that stays as it is; the kernel takes larger ones for real


def row_weights(
    sample_weight: Any, n_rows: int, function: str, parameter: str = "sample_weight"
) -> FloatArray | None:
    """Check the weights of the rows: one finite non-negative number a row, not all 0."""
    if sample_weight is None:
        return None
    hint = "give one finite number >= 0 for each row"
    sample_weight = refuse_masked(sample_weight, parameter, function)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{function}: {parameter} must hold numbers ({error}); {hint}") from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{function}: {parameter} must have shape ({n_rows},), got {weights.shape}; {hint}"
        )
    if not np.isfinite(weights).all():
        row = int(np.argmin(np.isfinite(weights)))
        raise ValueError(
            f"{function}: {parameter} holds NaN or infinity, first at row {row}; {hint}"
        )
    if (weights < 0).any():
        raise ValueError(f"{function}: {parameter} holds {weights.min()}; {hint}")
    if not weights.any():
        raise ValueError(f"{function}: {parameter} is zero in every row, so no row is left; {hint}")
    return of_ordinary_size(weights)


def of_ordinary_size(weights: FloatArray) -> FloatArray:
    """Return weights the largest of which is neither tiny nor huge.

    Only the ratios of weights matter, but squares of tiny or huge ones leave the range of float64,
    and huge ones coarsen the grid on which the kernel sums a target. Weights whose largest is
    beyond 2**-22..2**22 are multiplied by the power of two, which is exact, that takes it to
    0.5..1; others stay as they are.
    """
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) <= _LARGEST_EXPONENT else np.ldexp(weights, -exponent)


def whole_ratios(weights: FloatArray) -> FloatArray:
    """Return fractional weights as whole numbers of the same ratios, if these are small.

    Trees of whole weights draw other random numbers than those of fractional ones, so that weights
    of .5 and 1 are to be those of 1 and 2. The weights are divided by the smallest positive one and
    multiplied by up to 100; whole numbers, and weights that no multiple makes whole, stay as they
    are.
    """
    if (weights == np.rint(weights)).all():
        return weights
    values = np.unique(weights[weights > 0])
    ratios = values / values[0]
    if len(values) > _MOST_VALUES or ratios[-1] * _MOST_MULTIPLE >= 2.0**_LARGEST_EXPONENT:
        return weights
    for multiple in range(1, _MOST_MULTIPLE + 1):
        whole = np.rint(ratios * multiple)
        if (np.abs(ratios * multiple - whole) <= _ROUNDING * whole).all():
            return np.asarray(np.rint(weights / values[0] * multiple))
    return weights
