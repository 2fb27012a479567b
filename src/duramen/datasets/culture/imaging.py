"""Calcium imaging: from spikes to the fluorescence of every frame."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.datasets.culture.neurons import Spikes, decay
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

_BLOCK = 4096  # frames at a time
_GRID = 2.0**20  # exp is rounded to this: libraries differ in its last bit


@dataclass(frozen=True, kw_only=True)
class CalciumImaging:
    r"""Calcium, its fluorescence, and the camera.

    Every spike raises the calcium c of its neuron by a fixed amount, which decays exponentially.
    Fluorescence saturates, the camera adds noise, and light of other neurons is scattered:

    .. math:: f_i = \frac{c_i}{c_i + K} + \sigma \epsilon_i, \qquad
              x_i = f_i + a \sum_{j \ne i} f_j \, e^{-(d_{ij} / \lambda)^2}

    with :math:`\epsilon_i` standard normal and :math:`d_{ij}` the distance of two neurons.

    Parameters
    ----------
    frame_time : float
        Time between frames in ms.
    calcium_jump : float
        Rise of the concentration by a spike, in µM.
    calcium_time : float
        Time constant of the decay in ms.
    saturation : float
        Concentration K of half the largest fluorescence, in µM.
    noise : float
        Standard deviation :math:`\sigma`.
    scattering : float
        Amplitude a of the scattered light.
    scattering_length : float
        Length :math:`\lambda` in mm.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    The defaults are those of the ChaLearn challenge, with 1000 neurons on a square millimeter.
    Stetter et al. have 100 neurons there and light scattered over 0.15 mm.

    Examples
    --------
    >>> from duramen.datasets import CalciumImaging
    >>> CalciumImaging(noise=0.01).frame_time
    20.0
    """

    frame_time: float = 20.0
    calcium_jump: float = 50.0
    calcium_time: float = 1000.0
    saturation: float = 300.0
    noise: float = 0.03
    scattering: float = 0.15
    scattering_length: float = 0.03

    def __post_init__(self) -> None:
        for field in fields(self):
            ends = "[]" if field.name in ("noise", "scattering") else "(]"
            checks.check_real("CalciumImaging", field.name, getattr(self, field.name), 0, ends=ends)

    def record(
        self,
        spikes: Spikes,
        positions: ArrayLike,
        n_frames: int,
        *,
        random_state: int | np.random.Generator | None = None,
    ) -> NDArray[np.float32]:
        """Turn spikes into the fluorescence of every frame.

        Parameters
        ----------
        spikes : Spikes
            Neurons and times in ms, in order of time. Frame t shows the end of the time from
            t to t + 1 times `frame_time`; spikes before 0 count with what remains of them.
        positions : array-like of shape (n, 2)
            Positions of the neurons in mm.
        n_frames : int
            Number of frames.
        random_state : int, numpy.random.Generator or None
            Source of the noise.

        Returns
        -------
        float32 array of shape (n_frames, n)
            Fluorescence, frames by neurons.

        Raises
        ------
        ValueError
            If the positions are no points of a plane, or a spike is of none of the neurons.
        """
        places = np.asarray(positions, dtype=np.float64)
        owner = "CalciumImaging.record"
        count = checks.check_integer(owner, "n_frames", n_frames, 1)
        if places.ndim != 2 or places.shape[1] != 2:
            raise checks.refuse(owner, "positions", "of shape (neurons, 2)", places.shape)
        neuron = np.asarray(spikes.neuron)
        if neuron.size and not (neuron.min() >= 0 and neuron.max() < len(places)):
            allowed = f"of neurons in 0..{len(places) - 1}"
            raise checks.refuse(owner, "spikes", allowed, int(neuron.max()))
        rng = np.random.default_rng(random_state)
        return _fluorescence(spikes, places, count, self, rng)


def _fluorescence(
    spikes: Spikes,
    positions: FloatArray,
    n_frames: int,
    imaging: CalciumImaging,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Return the fluorescence, frames by neurons."""
    n = len(positions)
    frame = np.floor(spikes.time / imaging.frame_time).astype(np.int64)
    calcium = _before(spikes, frame, n, imaging)
    jump = imaging.calcium_jump * _decays(spikes.time, frame, imaging)
    cell = frame * n + spikes.neuron
    fade = decay(imaging.frame_time, imaging.calcium_time)
    gain = _gain(positions, imaging) if imaging.scattering > 0 else None
    result = np.empty((n_frames, n), dtype=np.float32)
    edges = np.searchsorted(frame, np.arange(0, n_frames + _BLOCK, _BLOCK))
    for k, first in enumerate(range(0, n_frames, _BLOCK)):
        rows = result[first : first + _BLOCK]
        mine = slice(edges[k], np.searchsorted(frame, first + len(rows)))
        block = _sums(cell[mine] - first * n, jump[mine], rows.size).reshape(rows.shape)
        for row in block:
            row += fade * calcium
            calcium = row
        calcium = calcium.copy()
        block /= block + imaging.saturation
        rows[:] = block
        if imaging.noise > 0:
            rows += np.float32(imaging.noise) * rng.standard_normal(rows.shape, dtype=np.float32)
        if gain is not None:
            rows[:] = _kernel.scatter_light(rows, gain)
    return result


def _decays(time: FloatArray, frame: IntArray, imaging: CalciumImaging) -> FloatArray:
    """Return what remains of each jump at the end of its frame."""
    left, place = np.unique((frame + 1) * imaging.frame_time - time, return_inverse=True)
    return np.array([decay(float(t), imaging.calcium_time) for t in left])[place]


def _before(spikes: Spikes, frame: IntArray, n: int, imaging: CalciumImaging) -> FloatArray:
    """Return the calcium at time 0, from spikes before."""
    early = frame < 0
    jumps = imaging.calcium_jump * _decays(
        spikes.time[early], np.full(int(early.sum()), -1, dtype=np.int64), imaging
    )
    return _sums(spikes.neuron[early], jumps, n)


def _sums(place: NDArray[np.integer[Any]], amount: FloatArray, size: int) -> FloatArray:
    """Return the sums of amounts by place."""
    return np.bincount(place, amount, size).astype(np.float64, copy=False)


def _gain(positions: FloatArray, imaging: CalciumImaging) -> NDArray[np.float32]:
    """Return the light of neuron j that reaches i, as a symmetric array with diagonal 1."""
    apart = positions[:, None] - positions[None, :]
    near = np.exp(-np.einsum("ijk,ijk->ij", apart, apart) / imaging.scattering_length**2)
    gain = np.empty(near.shape, dtype=np.float32)
    gain[:] = np.rint(imaging.scattering * near * _GRID) / _GRID
    np.fill_diagonal(gain, 1.0)
    return gain
