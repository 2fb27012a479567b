"""Association of processed signals, averaged over low-pass filters and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from duramen.jobs.replicates import Plan, run_jobs
from duramen.networks.connectome.peaks import peaks_of
from duramen.networks.connectome.settings import FUNCTION, NO_FILTER, Recording, Settings
from duramen.networks.connectome.sparse_signal import Signal
from duramen.support.arrays import FloatArray

Associate = Callable[[Signal, Settings], FloatArray]

_PER_JOB = 8  # thresholds, at least
_KEPT_BYTES = 1 << 28  # of the sums of all jobs, about


@dataclass(frozen=True, eq=False)
class AveragedAssociation:
    """Sum of the weights of links over one filter and a few thresholds: one job.

    Attributes
    ----------
    peaks : mapping of str to Signal
        Peaks at the lowest threshold, by filter.
    groups : list of (str, tuple of float)
        Filter and thresholds of each job.
    settings : Settings
        Settings of all.
    associate : callable
        Returns the symmetric weights of a signal.
    """

    peaks: Mapping[str, Signal]
    groups: list[tuple[str, tuple[float, ...]]]
    settings: Settings
    associate: Associate

    def __call__(self, b: int, _: int) -> dict[str, NDArray[Any]]:
        """Return the sum of job b, the part above the diagonal."""
        name, thresholds = self.groups[b]
        total: Any = 0.0
        for threshold in thresholds:
            signal = self.settings.processing(name, threshold).of(self.peaks[name])
            total = total + self.associate(signal, self.settings)
        return {"sum": total[np.triu_indices(len(total), 1)]}


def averaged_association(
    recording: Recording,
    settings: Settings,
    associate: Associate,
    identity: Mapping[str, Any],
    plan: Plan,
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Average the weights of links over the filters, by their weights, and over the thresholds.

    Each job runs its products on one thread, so that the result does not depend on the number of
    jobs at a time.

    Parameters
    ----------
    recording : Recording
        p neurons.
    settings : Settings
        Filters, thresholds.
    associate : callable
        Returns the symmetric weights of a signal.
    identity : mapping
        What the result depends on, for the checkpoint.
    plan : Plan
        Threads, checkpoint, progress.

    Returns
    -------
    weights : float64 array of shape (p, p)
        Symmetric, 0 on the diagonal.
    n_peaks : int array of shape (p,)
        Number of peaks of each neuron at the lowest threshold, of the filter with the most.
    """
    lowest, p = min(settings.thresholds), recording.frames.shape[1]
    peaks = {
        name: peaks_of(
            recording.frames,
            None if name == NO_FILTER else name,
            lowest,
            n_threads=plan.n_threads,
        )
        for name in settings.filters
    }
    groups = _groups(settings, p)
    task = AveragedAssociation(peaks, groups, settings, associate)
    with threadpool_limits(1):
        found = run_jobs(
            task,
            len(groups),
            seed=0,
            identity=identity,
            plan=plan,
            function=FUNCTION,
            unit="block of settings",
        )
    total, weight = np.zeros(p * (p - 1) // 2), 0.0
    for (name, thresholds), one in zip(groups, found, strict=True):
        total += settings.filters[name] * one["sum"]
        weight += settings.filters[name] * len(thresholds)
    weights = np.zeros((p, p))
    weights[np.triu_indices(p, 1)] = total / weight
    n_peaks = np.max([np.bincount(one.indices, minlength=p) for one in peaks.values()], axis=0)
    return weights + weights.T, n_peaks


def _groups(settings: Settings, p: int) -> list[tuple[str, tuple[float, ...]]]:
    """Return the filter and the thresholds of each job."""
    n_settings = len(settings.filters) * len(settings.thresholds)
    step = max(_PER_JOB, -(-n_settings * 4 * p * p // _KEPT_BYTES))
    return [
        (name, settings.thresholds[first : first + step])
        for name in settings.filters
        for first in range(0, len(settings.thresholds), step)
    ]
