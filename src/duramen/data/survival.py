"""Survival as a target: times, and whether the event occurred then."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.columns import refuse_merged
from duramen.support.arrays import FloatArray, check_magnitude

_HINT = (
    "Hint: a structured array with a boolean field for the event and one for the time, as "
    "scikit-survival has it, or two columns, first the times, then the events."
)


def is_structured(y: Any) -> bool:
    """Return whether a target is a structured array of two fields."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    return names is not None and len(names) == 2


def survival_columns(y: Any, function: str) -> tuple[Any, Any]:
    """Return the times and the events of survival.

    Parameters
    ----------
    y : structured array of shape (n,), or table of shape (n, 2)
        Either a structured array of two fields, of which the boolean one is the event, as in
        scikit-survival; or two columns, first the times, then the events.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    times, events : arrays of shape (n,)
        As they were given.

    Raises
    ------
    ValueError
        If `y` is neither, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.data.survival import survival_columns
    >>> y = np.array([(True, 3.0), (False, 5.0)], dtype=[("event", bool), ("time", float)])
    >>> survival_columns(y, "fit")
    (array([3., 5.]), array([ True, False]))
    """
    if y is None:
        raise ValueError(f"{function} requires y to be passed, but the target y is None. {_HINT}")
    if is_structured(y):
        flags = [name for name in y.dtype.names if y.dtype[name].kind == "b"]
        if len(flags) != 1 or y.ndim != 1:
            raise ValueError(
                f"{function}: y must have one boolean field, the event, got {y.dtype}. {_HINT}"
            )
        (event,) = flags
        (time,) = (name for name in y.dtype.names if name != event)
        return y[time], y[event]
    table = np.asarray(y, dtype=None if not hasattr(y, "to_numpy") else object)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(
            f"{function}: y must hold times and events, got an array of shape {table.shape}. "
            f"{_HINT}"
        )
    return table[:, 0], table[:, 1]


def survival_codes(
    times: Any, events: Any, *, n_rows: int | None = None, function: str = "fit"
) -> tuple[NDArray[np.uint32], FloatArray]:
    """Check times and events, and encode them.

    Parameters
    ----------
    times : array-like of shape (n,)
        Time of the event, or of the end of the observation without it; finite, not negative.
    events : array-like of shape (n,)
        Whether the event occurred: booleans, 0 and 1, or 1 and 2, as R's survival has them.
    n_rows : int, optional
        Rows of X, which they must match.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    codes : uint32 array of shape (n,)
        Twice the rank of the time, plus 1 where the event occurred then.
    distinct : float64 array
        Sorted distinct times.

    Raises
    ------
    ValueError
        If something is missing, negative or infinite, no event occurred, or the lengths differ.

    Examples
    --------
    >>> from duramen.data.survival import survival_codes
    >>> survival_codes([3, 5, 3], [True, False, False])
    (array([1, 2, 0], dtype=uint32), array([3., 5.]))
    """
    time, event = _numbers(times, "times", function), _numbers(events, "events", function)
    if len(time) != len(event) or (n_rows is not None and len(time) != n_rows):
        wanted = len(time) if n_rows is None else n_rows
        raise ValueError(
            f"{function}: Found input variables with inconsistent numbers of samples: "
            f"[{wanted}, {len(time)}, {len(event)}]; X, times and events need one row each for "
            "every sample"
        )
    if (time < 0).any():
        row = int(np.argmax(time < 0))
        raise ValueError(f"{function}: times must not be negative, got {time[row]} at row {row}")
    if np.isin(event, (1, 2)).all() and (event == 2).any():
        event = event - 1
    odd = (event != 0) & (event != 1)
    if odd.any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"{function}: events must be booleans, 0 and 1, or 1 and 2, got {event[row]:g} at row "
            f"{row}"
            + (
                ". Hint: the times come first, then the events."
                if np.isin(time, (0, 1)).all()
                else ""
            )
        )
    if not event.any():
        raise ValueError(f"{function}: the event occurred in no row; survival needs some events")
    check_magnitude(time, "y", function)
    distinct, ranks = np.unique(time, return_inverse=True)
    codes = 2 * ranks.reshape(-1).astype(np.uint32) + event.astype(np.uint32)
    return codes, distinct


def martingale_residuals(codes: NDArray[np.uint32]) -> FloatArray:
    """Return the event of each row less those expected until its time, of shape (n,).

    The expected number is Nelson and Aalen's cumulative hazard of all rows.

    Examples
    --------
    >>> from duramen.data.survival import martingale_residuals, survival_codes
    >>> codes, _ = survival_codes([1, 2, 2, 3], [True, True, False, False])
    >>> martingale_residuals(codes).round(3).tolist()
    [0.75, 0.417, -0.583, -0.583]
    """
    times, events = (codes >> 1).astype(np.int64), (codes & 1).astype(np.float64)
    at_risk = np.cumsum(np.bincount(times)[::-1])[::-1]
    hazard = np.bincount(times, events) / np.maximum(at_risk, 1)
    return np.asarray(events - np.cumsum(hazard)[times])


def _numbers(values: Any, what: str, function: str) -> FloatArray:
    try:
        array = np.asarray(values)
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        wanted = "numbers" if what == "times" else "booleans, 0 and 1, or 1 and 2"
        raise ValueError(f"{function}: {what} must be {wanted}, got text or objects") from None
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError(f"{function}: {what} must be one-dimensional and not empty")
    if array.dtype.kind in "iuO" or array.dtype.itemsize > 8:
        refuse_merged(array, what, function)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(
            f"{function}: {what} must be finite, got {numbers[row]} at row {row}; leave out rows "
            "where they are missing"
        )
    return numbers
