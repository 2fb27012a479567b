"""Numbers whose variance float64 can hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Powers of these, and of 1 / these, are normal: the fourth, which standard errors take, and the
# square.
OF_SAMPLES, OF_DISTRIBUTIONS = 1e70, 1e150


def check_magnitude(
    numbers: NDArray[np.float64], parameter: str, function: str, largest: float = OF_SAMPLES
) -> None:
    """Check that variances of numbers are in the range of float64.

    Beyond it they become infinite, or 0, and importances with them.

    Parameters
    ----------
    numbers : float64 array of shape (n,)
        Finite numbers.
    parameter, function : str
        What they are, and who asks, for errors.
    largest : float
        The largest size that is allowed; 1 / it is the least spread of numbers that differ.

    Raises
    ------
    ValueError
        If a number is larger, or the numbers are not equal, but closer to each other.
    """
    size = float(np.abs(numbers).max(initial=0.0))
    spread = float(np.ptp(numbers)) if 0 < size <= largest else 0.0
    if size > largest:
        got, hint = f"a number of size {size:.3g}", "divide"
    elif 0 < spread < 1 / largest:
        got, hint = f"different numbers within {spread:.3g}", "multiply"
    else:
        return
    raise ValueError(
        f"{function}: {parameter} must hold numbers up to {largest:.0e} in size that are equal or "
        f"lie {1 / largest:.0e} or more apart, got {got}: the variance is out of the range of "
        f"float64. Hint: {hint} {parameter} by a power of ten."
    )
