"""Survival data: columns of times and events, rows at risk, and martingale residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.case_words import CASES, CONTROLS
from duramen.support.arrays import BoolArray, FloatArray, IntArray, is_missing, is_structured
from duramen.support.text import as_number, joined, quoted

_SURVIVAL = (
    "Hint: a structured array with a boolean field for the event and one for the time, as "
    "scikit-survival has it, and with left truncation a third one named 'entry'; or two columns, "
    "first the times, then the events."
)
_MOST_EVENTS = 10  # values of a column of events that a message names


def survival_columns(y: Any, function: str) -> tuple[Any, Any, Any]:
    """Return the times, the events and the entries of survival.

    Parameters
    ----------
    y : structured array of shape (n,), or table of shape (n, 2)
        Either a structured array of two fields, of which the boolean one is the event, as in
        scikit-survival, and perhaps a third one named entry; or two columns, first the times, then
        the events.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    times, events, entries : arrays of shape (n,)
        As they were given; None without entries.

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
    (array([3., 5.]), array([ True, False]), None)
    """
    if y is None:
        raise ValueError(
            f"{function} requires y to be passed, but the target y is None. {_SURVIVAL}"
        )
    if is_structured(y):
        flags = [name for name in y.dtype.names if y.dtype[name].kind == "b"]
        entries = y["entry"] if "entry" in y.dtype.names else None
        if len(flags) != 1 or y.ndim != 1:
            raise ValueError(
                f"{function}: y must have one boolean field, the event, got {y.dtype}. {_SURVIVAL}"
            )
        (time,) = (name for name in y.dtype.names if name not in (flags[0], "entry"))
        return y[time], y[flags[0]], entries
    table = np.asarray(y, dtype=None if not hasattr(y, "to_numpy") else object)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(
            f"{function}: y must hold times and events, got an array of shape {table.shape}. "
            f"{_SURVIVAL}"
        )
    return table[:, 0], table[:, 1], None


def event_indicators(
    events: Any, event_of_interest: Any = None, *, function: str = "fit", times: Any = None
) -> BoolArray:
    """Tell in which rows the event occurred.

    Parameters
    ----------
    events : array-like of shape (n,)
        Booleans; 0 and 1, or 1 and 2, as R's survival has them; or words such as dead and alive,
        also with a number before them (``1:DECEASED``), as in files of cBioPortal.
    event_of_interest : label, optional
        Value of the event; rows with any other value are censored.
    function : str
        The function that the user called, for errors.
    times : array-like of shape (n,), optional
        Times, for the hint where the two are exchanged.

    Raises
    ------
    ValueError
        If a value is missing, or the event is not one of two values that are known.

    Examples
    --------
    >>> from duramen.data.survival import event_indicators
    >>> event_indicators(["dead", "alive", "Dead"]).tolist()
    [True, False, True]
    >>> event_indicators([0, 1, 2], event_of_interest=1).tolist()
    [False, True, False]
    """
    array = np.asarray(events)
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"{function}: events must be one value for each row, got an array of shape "
            f"{array.shape}"
        )
    if array.dtype == np.bool_ and event_of_interest is None:
        return array
    values = array.tolist()
    word_of = {value: _event_word(value) for value in values}
    absent = [row for row, value in enumerate(values) if is_missing(value)]
    if absent:
        raise ValueError(
            f"{function}: events must have no missing values, as at row {absent[0]}; leave out "
            "such rows"
        )
    words = sorted(set(word_of.values()))
    shown = joined([*map(quoted, sorted(word_of, key=str))], shown=_MOST_EVENTS)
    # Of "1:deceased" the word, if it is known, else the number.
    parts = {word: word.partition(":") for word in words}
    event_words, censored_words = CASES | {"t", "y"}, CONTROLS - {"-1", "-1.0"} | {"f", "n"}
    both = event_words | censored_words
    bare = {word: tail if tail in both else head for word, (head, _, tail) in parts.items()}
    occurred = {word for word in words if bare[word] in event_words}
    decided = occurred | {word for word in words if bare[word] in censored_words}
    if event_of_interest is not None:
        occurred = {_event_word(event_of_interest)} & {*words}
        if not occurred:
            raise ValueError(
                f"{function}: event_of_interest must be a value of the events, one of {shown}, got "
                f"{event_of_interest!r}"
            )
    elif words in (["1", "2"], ["2"]):
        occurred = {"2"}
    elif (
        len(words) == 2 and len(decided) == 1 and None in map(as_number, words)
    ):  # the other word is the opposite
        occurred = occurred or {*words} - decided
    elif len(decided) < len(words) or len(occurred) > 1:
        message = (
            f"{function}: events must be booleans, 0 and 1, 1 and 2, or words such as dead and "
            f"alive, got {shown}"
        )
        if times is not None and np.isin(np.asarray(times), (0, 1)).all():
            raise ValueError(f"{message}. Hint: the times come first, then the events.")
        raise ValueError(
            f"{message}. Hint: event_of_interest names the value that is the event; rows with any "
            "other value, such as a competing event, are then censored at their time. Recode the "
            "column to 0 and 1 if several values are the event."
        )
    return np.fromiter((word_of[value] in occurred for value in values), np.bool_, len(values))


def _event_word(value: Any) -> str:
    """Return a value of a column of events as text that is equal for equal values."""
    whole = isinstance(value, float | np.floating) and value.is_integer()
    return str(int(value) if whole else value).strip().lower()


def risk_intervals(codes: NDArray[Any]) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the ranks of the first and last time at which each row is at risk, and its event.

    Examples
    --------
    >>> from duramen.data import SurvivalTarget
    >>> from duramen.data.survival import risk_intervals
    >>> target = SurvivalTarget.of_columns([1, 2, 3], [True, False, True], [0, 0, 2])
    >>> target.times.tolist(), [part.tolist() for part in risk_intervals(target.values)]
    ([0.0, 1.0, 2.0, 3.0], [[1, 1, 3], [1, 2, 3], [True, False, True]])
    """
    first, code = np.divmod(codes.astype(np.uint64), 2**32)
    return first.astype(np.int64), (code // 2).astype(np.int64), np.asarray(code % 2 == 1)


def at_risk(columns: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """Return the sums of columns, (n, k), over the rows at risk at each rank of time."""
    width = int(last.max()) + 1

    def later(ranks: IntArray) -> FloatArray:
        sums = np.stack([np.bincount(ranks, column, width) for column in columns.T], axis=1)
        return np.asarray(np.cumsum(sums[::-1], axis=0)[::-1], dtype=np.float64)

    sums = later(last)
    if first.any():  # less the rows that enter later
        sums[:-1] -= later(first)[1:]
    return sums


def martingale_residuals(codes: NDArray[np.unsignedinteger]) -> FloatArray:
    """Return the observed less the expected events of each row, of shape (n,).

    The expected number is Nelson and Aalen's cumulative hazard of all rows.

    Examples
    --------
    >>> from duramen.data import SurvivalTarget
    >>> from duramen.data.survival import martingale_residuals
    >>> target = SurvivalTarget.of_columns([1, 2, 2, 3], [True, True, False, False])
    >>> martingale_residuals(target.values).round(3).tolist()
    [0.75, 0.417, -0.583, -0.583]
    """
    first, last, events = risk_intervals(codes)
    n_at_risk = at_risk(np.ones((len(codes), 1)), first, last)[:, 0]
    hazard = np.append(0.0, np.cumsum(np.bincount(last, events) / np.maximum(n_at_risk, 1.0)))
    return np.asarray(events - (hazard[last + 1] - hazard[first]))
