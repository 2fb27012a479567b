r"""Time series: rates of change in place of levels (dynGENIE3).

The expression of gene j follows :math:`dx_j/dt = -\alpha_j x_j + f_j(x)`, and a forest estimates
:math:`f_j` (Huynh-Thu and Geurts 2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.text import quoted

_ABOVE = 1e-6  # keeps the logarithm of the smallest level finite


def pairs_of(
    time: Any, series: Any, n: int, function: str
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the rows of each sample, and of the next one of its series.

    Parameters
    ----------
    time : array-like of shape (n,)
        Time of each sample; NaN for steady states.
    series : array-like of shape (n,) or None
        Label of the series of each sample; None for one series.
    n : int
        Number of samples.
    function : str
        Function that the user called, for errors.

    Returns
    -------
    now, following : int64 arrays of shape (m,)
        Samples, and the next ones in time; a steady state follows itself.
    elapsed : float64 array of shape (m,)
        Time between them; infinite for steady states.

    Raises
    ------
    ValueError
        If lengths differ, a series has the same time twice, or there is no pair.
    """
    times = np.asarray(time, dtype=np.float64)
    labels = np.zeros(n) if series is None else np.asarray(series)
    for what, array in (("time", times), ("series", labels)):
        if array.shape != (n,):
            raise checks.refuse(function, what, f"one entry per sample ({n})", array.shape)
    if np.isinf(times).any():
        raise checks.refuse(function, "time", "finite, or NaN for steady states", np.inf)
    steady = np.flatnonzero(np.isnan(times))
    now, following = [steady], [steady]
    for label, members in _members(labels, times):
        rows = members[np.argsort(times[members], kind="stable")]
        if (np.diff(times[rows]) == 0).any():
            raise ValueError(
                f"{function}: series {quoted(label)} has two samples at the same time. Hint: give "
                "each replicate its own label in series."
            )
        now.append(rows[:-1])
        following.append(rows[1:])
    first, second = np.concatenate(now), np.concatenate(following)
    if len(first) < 2:
        raise ValueError(
            f"{function}: time must give at least 2 pairs of samples that follow each other, got "
            f"{len(first)}."
        )
    elapsed = np.full(len(first), np.inf)
    elapsed[len(steady) :] = (times[second] - times[first])[len(steady) :]
    return first, second, elapsed


def decay_rates(
    values: FloatArray, time: Any, series: Any, decay: Any, function: str
) -> FloatArray:
    r"""Return the decay rate of each variable, shape (p,).

    Estimated, it is the largest over the series of

    .. math:: \frac{\ln(x_{max} - c) - \ln(x_{min} - c)}{|t_{max} - t_{min}|}

    with the largest and smallest level of the series, their times, and c just below the smallest
    level of the variable at all (Huynh-Thu and Geurts 2018).

    Parameters
    ----------
    values : float64 array of shape (n, p)
        Levels.
    time, series
        As for :func:`pairs_of`.
    decay : "estimate", number, or array-like of shape (p,)
        Decay rates that the user gave, in 1 / unit of time.
    function : str
        Function that the user called, for errors.
    """
    p = values.shape[1]
    if not isinstance(decay, str):
        rates = np.asarray(decay, dtype=np.float64)
        if rates.shape not in ((), (p,)) or not np.isfinite(rates).all() or (rates < 0).any():
            allowed = f'"estimate", a number >= 0, or {p} of them'
            raise checks.refuse(function, "decay", allowed, decay)
        return np.broadcast_to(rates, (p,))
    checks.check_choice(function, "decay", decay, ("estimate",))
    times = np.asarray(time, dtype=np.float64)
    labels = np.zeros(len(times)) if series is None else np.asarray(series)
    floor = values.min(axis=0) - _ABOVE
    rates_found = np.zeros(p)
    everyone = np.arange(p)
    for _, rows in _members(labels, times):
        levels = values[rows]
        high, low = levels.argmax(axis=0), levels.argmin(axis=0)
        between = np.abs(times[rows][high] - times[rows][low])
        fall = np.log(levels[high, everyone] - floor) - np.log(levels[low, everyone] - floor)
        moved = between > 0
        rates_found[moved] = np.maximum(rates_found[moved], fall[moved] / between[moved])
    return rates_found


def _members(labels: NDArray[Any], times: FloatArray) -> Iterator[tuple[Any, IntArray]]:
    """Yield the label of each series, and its rows with a time."""
    timed = ~np.isnan(times)
    for label in np.unique(labels[timed]):
        yield label, np.flatnonzero((labels == label) & timed)


def responses_of(
    values: FloatArray,
    now: IntArray,
    following: IntArray,
    elapsed: FloatArray,
    rates: FloatArray,
) -> FloatArray:
    r"""Return :math:`(x_j(t') - x_j(t)) / (t' - t) + \alpha_j x_j(t)`, shape (m, p).

    For steady states, whose change is 0, only the second term is left.
    """
    change = (values[following] - values[now]) / elapsed[:, None]
    return np.asarray(change + rates * values[now])
