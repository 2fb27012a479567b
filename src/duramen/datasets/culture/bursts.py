"""Network bursts: times at which most of a culture fires at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.datasets.culture.neurons import Spikes
from duramen.support import checks
from duramen.support.arrays import FloatArray

_FUNCTION = "network_bursts"
_MS = 1000.0


@dataclass(frozen=True, eq=False, repr=False)
class NetworkBursts:
    """Network bursts of a culture.

    Attributes
    ----------
    start : float64 array of shape (n_bursts,)
        Start of every burst in ms.
    duration : float
        Duration of the recording in ms.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.datasets import NetworkBursts
    >>> NetworkBursts(np.array([1000.0, 9000.0]), 20_000.0)
    NetworkBursts(2 bursts, 0.1 Hz)
    """

    start: FloatArray
    duration: float

    @property
    def rate(self) -> float:
        """Bursts a second."""
        return len(self.start) / self.duration * _MS

    @property
    def intervals(self) -> FloatArray:
        """Times in ms from the start of a burst to that of the next."""
        return np.diff(self.start)

    def __repr__(self) -> str:
        return f"NetworkBursts({len(self.start)} bursts, {self.rate:.3g} Hz)"


def network_bursts(
    spikes: Spikes,
    n_neurons: int,
    duration: float,
    *,
    window: float = 50.0,
    active: float = 0.5,
) -> NetworkBursts:
    """Find the network bursts among the spikes of a culture.

    A burst starts where, in windows of fixed length one after the other, the fraction of neurons
    that fire rises above a limit, and ends where it falls below.

    Parameters
    ----------
    spikes : Spikes
        Neurons and times in ms, in order of time.
    n_neurons : int
        Number of neurons.
    duration : float
        Duration of the recording in ms.
    window : float
        Length of a window in ms.
    active : float
        Fraction of the neurons above which a window belongs to a burst.

    Returns
    -------
    NetworkBursts

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> import duramen as dm
    >>> spikes = dm.datasets.Spikes([0, 1, 2, 0], [100.0, 101.0, 102.0, 900.0])
    >>> dm.datasets.network_bursts(spikes, 4, 10_000.0)
    NetworkBursts(1 bursts, 0.1 Hz)
    """
    n = checks.check_integer(_FUNCTION, "n_neurons", n_neurons, 1)
    total = checks.check_real(_FUNCTION, "duration", duration, 0, ends="(]")
    width = checks.check_real(_FUNCTION, "window", window, 0, ends="(]")
    limit = checks.check_real(_FUNCTION, "active", active, 0, 1)
    place = np.floor_divide(np.asarray(spikes.time, dtype=np.float64), width).astype(np.int64)
    seen = np.unique(place * n + np.asarray(spikes.neuron))
    count = np.bincount(seen // n, minlength=int(total // width) + 1)
    inside = np.concatenate(([False], count > limit * n))
    first = np.flatnonzero(inside[1:] & ~inside[:-1])
    return NetworkBursts(first.astype(np.float64) * width, total)
