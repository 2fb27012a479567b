"""Integrate-and-fire neurons with depressing synapses, their simulation, and network bursts."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.datasets.culture.wiring import Wiring
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

_DIGITS = 12


def decay(elapsed: float, time_constant: float) -> float:
    """Return exp(-elapsed / time_constant), rounded to 12 decimals.

    Mathematical libraries differ in the last bit of exp, and the spikes of a network depend on
    every bit.
    """
    return round(math.exp(-elapsed / time_constant), _DIGITS)


def poisson_distribution(mean: float) -> list[float]:
    """Return the distribution function of a Poisson number at 0, 1, ..., up to almost 1."""
    term = math.exp(-mean)
    total = term
    values = [round(total, _DIGITS)]
    while 1.0 - total > 1e-13 and len(values) < 20 * (mean + 10.0):
        term *= mean / len(values)
        total += term
        values.append(round(total, _DIGITS))
    return values


_MS = 1000.0  # ms in a second
_EULER = 2.718281828459045


class Spikes(NamedTuple):
    """Spikes in order of time.

    Attributes
    ----------
    neuron : uint32 array of shape (n_spikes,)
        Neuron that fires, counted from 0.
    time : float64 array of shape (n_spikes,)
        Time in ms.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.datasets import Spikes
    >>> Spikes(np.array([0, 3]), np.array([12.5, 13.0])).shifted(10.0).time.tolist()
    [22.5, 23.0]
    """

    neuron: NDArray[np.uint32]
    time: FloatArray

    def shifted(self, time: float) -> Spikes:
        """Return the spikes with a time in ms added."""
        return Spikes(self.neuron, self.time + time)

    def since(self, time: float) -> Spikes:
        """Return the spikes from a time in ms on."""
        first = np.searchsorted(self.time, time)
        return Spikes(self.neuron[first:], self.time[first:])


@dataclass(frozen=True, kw_only=True)
class NeuronModel:
    r"""Leaky integrate-and-fire neurons with depressing synapses and spontaneous input.

    Between spikes, the membrane potential V of a neuron follows

    .. math:: \tau_m \dot V = -V + \tau_m I(t) / C, \qquad
              I(t) = \sum_k w_k \frac{t - t_k}{\tau_s} e^{1 - (t - t_k) / \tau_s}

    with a term for every spike that arrived at time :math:`t_k`. At the threshold the neuron fires,
    and V stays at 0 for the refractory time. A spike reaches the targets of its neuron after the
    delay, with :math:`w = s \, w_{ij} \, U x`: the strength s of the culture, the weight of the
    link, and the fraction :math:`U x` of the synaptic resource that the spike releases. Released
    resource is inactive, and recovers (Tsodyks and Markram):

    .. math:: \dot x = z / \tau_r - U x \, \delta(t - t_{spike}), \qquad
              \dot y = -y / \tau_i + U x \, \delta(t - t_{spike}), \qquad x + y + z = 1

    Every neuron also receives spontaneous events, a Poisson process of its own. The equations are
    solved exactly from step to step; spikes fall on steps.

    Parameters
    ----------
    membrane_time : float
        Time constant :math:`\tau_m` in ms.
    synapse_time : float
        Time :math:`\tau_s` in ms at which a synaptic current peaks.
    threshold : float
        Threshold in mV above rest.
    capacitance : float
        Capacitance C in pF.
    refractory_time : float
        Refractory time in ms, a multiple of the step.
    delay : float
        Delay of a link in ms, a multiple of the step.
    release : float
        Fraction U of the resource at rest that a spike releases.
    recovery_time, inactivation_time : float
        Time constants :math:`\tau_r` and :math:`\tau_i` in ms.
    event_rate : float
        Rate of the spontaneous events of a neuron in Hz.
    event_current : float
        Peak current of a spontaneous event in pA. The default makes almost every event a spike.
    step : float
        Step of time in ms.

    Raises
    ------
    ValueError
        If a number is out of its range, or two time constants that must differ are equal.

    Notes
    -----
    The defaults are those with which the data of the ChaLearn challenge were made. Stetter et al.
    have 1.6 events a second of 4 pA.

    References
    ----------
    O. Stetter, D. Battaglia, J. Soriano, T. Geisel (2012). Model-free reconstruction of excitatory
    neuronal connectivity from calcium imaging signals. PLoS Computational Biology 8, e1002653.

    Examples
    --------
    >>> from duramen.datasets import NeuronModel
    >>> NeuronModel(event_rate=1.6, event_current=4.0).threshold
    20.0
    """

    membrane_time: float = 20.0
    synapse_time: float = 2.0
    threshold: float = 20.0
    capacitance: float = 1.0
    refractory_time: float = 2.0
    delay: float = 1.5
    release: float = 0.3
    recovery_time: float = 500.0
    inactivation_time: float = 3.0
    event_rate: float = 0.2
    event_current: float = 11.2
    step: float = 0.5

    def __post_init__(self) -> None:
        zero = ("refractory_time", "event_rate", "event_current")
        for field in fields(self):
            value, most = getattr(self, field.name), 1.0 if field.name == "release" else np.inf
            ends = "[]" if field.name in zero else "(]"
            checks.check_real("NeuronModel", field.name, value, 0, most, ends=ends)
        for name, other in (
            ("membrane_time", "synapse_time"),
            ("recovery_time", "inactivation_time"),
        ):
            if getattr(self, name) == getattr(self, other):
                allowed = f"another number than {other}"
                raise checks.refuse("NeuronModel", name, allowed, getattr(self, name))
        if self.delay < self.step:
            raise checks.refuse("NeuronModel", "delay", "at least one step", self.delay)
        for name in ("refractory_time", "delay"):
            self.steps("NeuronModel", name, getattr(self, name))

    def steps(self, owner: str, name: str, duration: float) -> int:
        """Return the number of steps of a duration in ms, which must be whole."""
        count = round(duration / self.step)
        if abs(count * self.step - duration) > 1e-9 * duration:
            raise checks.refuse(owner, name, f"a multiple of the step, {self.step:g} ms", duration)
        return count

    def constants(self) -> _kernel.NeuronModel:
        """Return the constants of one step."""
        h, synapse = self.step, decay(self.step, self.synapse_time)
        membrane = decay(h, self.membrane_time)
        faster = 1.0 / self.membrane_time - 1.0 / self.synapse_time
        by_current = (synapse - membrane) / faster
        return _kernel.NeuronModel(
            membrane=membrane,
            synapse=synapse,
            feed=h * synapse,
            by_rise=(h * synapse - by_current) / faster / self.capacitance,
            by_current=by_current / self.capacitance,
            threshold=self.threshold,
            refractory=self.steps("NeuronModel", "refractory_time", self.refractory_time),
            delay=self.steps("NeuronModel", "delay", self.delay),
            release=self.release,
            inactivation=decay(h, self.inactivation_time),
            recovery=decay(h, self.recovery_time),
            ratio=self.recovery_time / (self.recovery_time - self.inactivation_time),
            noise_jump=self.event_current * self.rise,
        )

    @property
    def rise(self) -> float:
        """Initial slope, per ms, of a synaptic current whose peak is 1."""
        return _EULER / self.synapse_time


def simulate_spikes(
    wiring: Wiring,
    strength: float,
    model: NeuronModel,
    duration: float,
    seed: int,
    *,
    most_rate: float,
) -> Spikes | None:
    """Simulate a culture for a duration in ms; None if its mean rate in Hz exceeds a limit."""
    n = wiring.n_neurons
    order = np.argsort(wiring.source, kind="stable")
    links = _kernel.Wiring(
        offsets=np.concatenate(([0], np.cumsum(np.bincount(wiring.source, minlength=n)))),
        targets=wiring.target[order].astype(np.uint32),
        jumps=wiring.weight[order] * (strength * model.rise),
    )
    events = np.array(poisson_distribution(n * model.event_rate * model.step / _MS))
    most = int(most_rate * n * duration / _MS) + n
    n_steps = model.steps("calcium_culture", "duration", duration)
    neuron, step = _kernel.simulate_spikes(links, model.constants(), events, seed, n_steps, most)
    return None if len(neuron) > most else Spikes(neuron, step.astype(np.float64) * model.step)


_BURSTS = "network_bursts"


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
    n = checks.check_integer(_BURSTS, "n_neurons", n_neurons, 1)
    total = checks.check_real(_BURSTS, "duration", duration, 0, ends="(]")
    width = checks.check_real(_BURSTS, "window", window, 0, ends="(]")
    limit = checks.check_real(_BURSTS, "active", active, 0, 1)
    place = np.floor_divide(np.asarray(spikes.time, dtype=np.float64), width).astype(np.int64)
    seen = np.unique(place * n + np.asarray(spikes.neuron))
    count = np.bincount(seen // n, minlength=int(total // width) + 1)
    inside = np.concatenate(([False], count > limit * n))
    first = np.flatnonzero(inside[1:] & ~inside[:-1])
    return NetworkBursts(first.astype(np.float64) * width, total)


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
