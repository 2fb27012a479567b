"""Peaks of a recording: what is left of it after low-pass filter, difference and threshold.

A higher threshold keeps some of the values of a lower one. The recording is therefore filtered once
for each low-pass filter, at the lowest threshold of all, in blocks of frames; what the thresholds
need is taken from the few values that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from duramen.networks.connectome.filters import LOW_PASS, difference, emphasize, low_pass, power
from duramen.networks.connectome.sparse_signal import Signal, at_least, where
from duramen.support.threads import Pool

_FRAMES = 1 << 20  # numbers of a block of frames that is filtered at a time

WEIGHTINGS = ("none", "w", "w_star")


@dataclass(frozen=True)
class Processing:
    """Filters between recording and association.

    Attributes
    ----------
    low_pass : str or None
        Low-pass filter, before the difference.
    threshold : float
        Threshold of the differences.
    exponent : float or None
        Exponent of r.
    weighting : {"none", "w", "w_star"}
        Filter against activity of the whole network.
    form : {"program", "paper"}
        Form of w*.
    """

    low_pass: str | None = "f1"
    threshold: float = 0.12
    exponent: float | None = None
    weighting: str = "w"
    form: str = "program"

    @property
    def words(self) -> str:
        """Formula of the filters, the last one first."""
        names = {"none": None, "w": "w", "w_star": "w*"}
        r = None if self.exponent is None else "r"
        return " ".join(
            part for part in (names[self.weighting], r, "h", "g", self.low_pass) if part
        )

    def of(self, peaks: Signal) -> Signal:
        """Return the processed signal, less 1 where it is weighted.

        Parameters
        ----------
        peaks : csr_array of shape (T, p)
            Values of :func:`peaks_of` for this low-pass filter, and no higher a threshold.
        """
        x = at_least(peaks, self.threshold)
        if self.exponent is not None:
            x = power(x, self.exponent)
        if self.weighting == "none":
            return x
        tuned = (self.low_pass or "f1") if self.weighting == "w_star" else None
        return emphasize(x, tuned=tuned, form=self.form)


def peaks_of(
    recording: NDArray[Any], name: str | None, threshold: float, *, n_threads: int = 1
) -> Signal:
    """Return what is at least a threshold after low-pass filter and difference.

    Parameters
    ----------
    recording : array of shape (T, p)
        Frames by neurons, of any real type; it may be mapped from a file.
    name : {"f1", "f2", "f3", "f4"} or None
        Low-pass filter.
    threshold : float
        Lowest threshold that is asked for later.
    n_threads : int
        Threads over blocks of frames.

    Returns
    -------
    csr_array of shape (T, p)
        The same values as ``hard_threshold(difference(low_pass(recording)))``.
    """

    def filtered(first: int, last: int) -> Signal:
        before, after = (
            (1, 0) if name is None else (LOW_PASS[name].before + 1, LOW_PASS[name].after)
        )
        start, stop = max(0, first - before), min(len(recording), last + after)
        x = np.asarray(recording[start:stop], dtype=np.float64)
        x = difference(x if name is None else low_pass(x, name))[first - start : last - start]
        return where(x, x >= threshold)

    with Pool(n_threads) as pool:
        parts = list(pool.map(lambda edges: filtered(*edges), blocks(recording)))
    return sparse.vstack(parts, format="csr")


def blocks(recording: NDArray[Any], numbers: int = _FRAMES) -> Iterator[tuple[int, int]]:
    """Yield first and last frame (exclusive) of blocks of about so many numbers."""
    n_frames, p = recording.shape
    step = max(1, numbers // p)
    for first in range(0, n_frames, step):
        yield first, min(n_frames, first + step)
