"""Numbers whose variance float64 can hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e70  # the fourth power of it, and of 1 / it, which standard errors take, are normal


def check_magnitude(numbers: NDArray[np.float64], parameter: str, function: str) -> None:
    """Check that variances of numbers, and their squares, are in the range of float64.

    Beyond it they become infinite, or 0, and importances with them.

    Parameters
    ----------
    numbers : float64 array of shape (n,)
        Finite numbers.
    parameter, function : str
        What they are, and who asks, for errors.

    Raises
    ------
    ValueError
        If a number is larger than 1e70 in size, or the numbers are not equal, but all within 1e-70
        of each other.
    """
    largest = float(np.abs(numbers).max(initial=0.0))
    spread = float(np.ptp(numbers)) if 0 < largest <= LARGEST else 0.0
    if largest > LARGEST:
        got, hint = f"a number of size {largest:.3g}", "divide"
    elif 0 < spread < 1 / LARGEST:
        got, hint = f"different numbers within {spread:.3g}", "multiply"
    else:
        return
    raise ValueError(
        f"{function}: {parameter} must hold numbers up to {LARGEST:.0e} in size that are equal or "
        f"lie {1 / LARGEST:.0e} or more apart, got {got}: the variance is out of the range of "
        f"float64. Hint: {hint} {parameter} by a power of ten."
    )
