"""Numbers that float64 cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT = 2**53
"""float64 holds every integer up to here, and not every one beyond."""


def merged(numbers: NDArray[Any] | Iterable[Any]) -> tuple[Any, Any] | None:
    """Return two different numbers that are equal as float64, if there are any.

    The numbers are an array of any type, or of Python: int, float, Decimal or Fraction, finite.

    Examples
    --------
    >>> from duramen.data.exactness import merged
    >>> merged([2**60, 2**60 + 1])
    (1152921504606846976, 1152921504606846977)
    >>> merged([0.1, 0.2]) is None
    True
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype != object:
        distinct = np.unique(numbers)
        equal = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
        return (distinct[equal[0]], distinct[equal[0] + 1]) if len(equal) else None
    first: dict[float, Any] = {}
    for number in numbers:
        exact = number if isinstance(number, int | Decimal | Fraction) else _plain(number)
        other = first.setdefault(float(exact), exact)
        if other != exact:
            return other, exact
    return None


def _plain(number: Any) -> Any:
    """Return a number of NumPy as one of Python; those of more digits than float64 stay."""
    if isinstance(number, np.longdouble) and np.dtype(np.longdouble).itemsize > 8:
        return number
    return number.item() if isinstance(number, np.generic) else number


def refusal_of(pair: tuple[Any, Any], what: str, function: str) -> ValueError:
    """Return the error for numbers that float64 cannot tell apart; `what` names the column."""
    first, second = pair
    return ValueError(
        f"{function}: {what} holds different numbers that are equal as float64, such as {first} "
        f"and {second}; if they are identifiers, leave the column out or convert it to categories, "
        "else subtract an offset"
    )
