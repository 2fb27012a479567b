"""Simulated calcium imaging of a culture of neurons with known wiring."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen.datasets.culture.neurons import (
    CalciumImaging,
    NetworkBursts,
    NeuronModel,
    Spikes,
    network_bursts,
    simulate_spikes,
)
from duramen.datasets.culture.wiring import Wiring, culture_wiring
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray

_FUNCTION = "calcium_culture"
_MOST_RATE = 200.0  # Hz


@dataclass(frozen=True, eq=False, repr=False)
class CalciumCulture:
    """Fluorescence of a simulated culture, and what made it.

    Attributes
    ----------
    fluorescence : float32 array of shape (n_frames, n)
        Fluorescence, frames by neurons.
    spikes : Spikes
        Neuron and time in ms of every spike, from the start of the first frame.
    wiring : Wiring
        The links with weights in pA, 0 for blocked ones, and the positions in mm.
    frame_time : float
        Time between frames in ms.

    Examples
    --------
    >>> import duramen as dm
    >>> culture = dm.datasets.calcium_culture(500, n_neurons=20, strength=10.0, random_state=0)
    >>> culture
    CalciumCulture(500 frames of 20 ms x 20 neurons, 97 links)
    """

    fluorescence: NDArray[np.float32]
    spikes: Spikes
    wiring: Wiring
    frame_time: float

    @property
    def n_neurons(self) -> int:
        """Number n of neurons."""
        return self.wiring.n_neurons

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the neurons, N1, N2, ..."""
        return tuple(f"N{i + 1}" for i in range(self.n_neurons))

    @property
    def positions(self) -> FloatArray:
        """Positions of the neurons in mm, of shape (n, 2)."""
        return self.wiring.positions

    @property
    def links(self) -> BoolArray:
        """True where the neuron of the row acts on that of the column, of shape (n, n)."""
        return self.wiring.matrix(self.wiring.weight != 0)

    @property
    def weights(self) -> FloatArray:
        """Strengths of the links in pA, of shape (n, n); 0 where there is none."""
        weights = np.zeros((self.n_neurons, self.n_neurons))
        weights[self.wiring.source, self.wiring.target] = self.wiring.weight
        return weights

    @property
    def duration(self) -> float:
        """Duration in ms."""
        return len(self.fluorescence) * self.frame_time

    @property
    def firing_rate(self) -> float:
        """Spikes a second and neuron."""
        return len(self.spikes.neuron) / self.n_neurons / self.duration * 1000.0

    @property
    def bursts(self) -> NetworkBursts:
        """Network bursts, found with the defaults of `network_bursts`."""
        return network_bursts(self.spikes, self.n_neurons, self.duration)

    def __repr__(self) -> str:
        frames, n = self.fluorescence.shape
        links = np.count_nonzero(self.wiring.weight)
        return (
            f"CalciumCulture({frames} frames of {self.frame_time:g} ms x {n} neurons, "
            f"{links} links)"
        )


def calcium_culture(
    n_frames: int = 179_500,
    *,
    wiring: Wiring | None = None,
    n_neurons: int = 1000,
    burst_rate: float = 0.1,
    strength: float | None = None,
    block_inhibition: bool = True,
    warm_up: float = 10_000.0,
    neurons: NeuronModel | None = None,
    imaging: CalciumImaging | None = None,
    random_state: int | np.random.Generator | None = None,
) -> CalciumCulture:
    """Simulate calcium imaging of a culture of neurons.

    The wiring is given or drawn; integrate-and-fire neurons with depressing synapses fire
    (`NeuronModel`), and their spikes are seen as fluorescence (`CalciumImaging`). The strength of
    the synapses is searched for so that the culture has network bursts at a given rate: first in
    every module of the wiring alone, then by one factor for all, in trial runs that should have 30
    and 100 bursts. The defaults are the model of Stetter et al. [1]_ with the wiring, the
    spontaneous input, the light scattering and the length (1 hour less 10 s) of the networks
    *normal* of the ChaLearn connectomics challenge [2]_.

    Parameters
    ----------
    n_frames : int
        Number of frames.
    wiring : Wiring, optional
        Links and positions; ``culture_wiring(n_neurons)`` by default.
    n_neurons : int
        Number n of neurons where the wiring is drawn.
    burst_rate : float
        Rate of network bursts in Hz that the strength is set to; within 5 % in the trial runs,
        where half of the neurons firing within 50 ms make a burst.
    strength : float, optional
        Factor in pA of the weights of the wiring; no search is made.
    block_inhibition : bool
        Block links of negative weight, as in the challenge. They are then no `links`.
    warm_up : float
        Time in ms that is simulated, from rest, before the first frame, and dropped.
    neurons : NeuronModel, optional
        Model of the neurons.
    imaging : CalciumImaging, optional
        Model of the imaging. Its `frame_time` must be a multiple of the step of `neurons`.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    CalciumCulture

    Raises
    ------
    ValueError
        If a number is out of its range, no strength gives the rate of bursts, or the culture fires
        at more than 200 Hz on average.

    References
    ----------
    .. [1] O. Stetter, D. Battaglia, J. Soriano, T. Geisel (2012). Model-free reconstruction of
       excitatory neuronal connectivity from calcium imaging signals. PLoS Computational Biology 8,
       e1002653.
    .. [2] J. G. Orlandi et al. (2014). First connectomics challenge: from imaging to connectivity.
       JMLR W&CP 46.

    Examples
    --------
    >>> import duramen as dm
    >>> wiring = dm.datasets.culture_wiring(30, n_links=240, clustering=None, random_state=0)
    >>> culture = dm.datasets.calcium_culture(1000, wiring=wiring, random_state=0)
    >>> culture.fluorescence.shape, int(culture.links.sum())
    ((1000, 30), 190)
    """
    count = checks.check_integer(_FUNCTION, "n_frames", n_frames, 1)
    rate = checks.check_real(_FUNCTION, "burst_rate", burst_rate, 0, ends="(]")
    if strength is not None:
        strength = checks.check_real(_FUNCTION, "strength", strength, 0)
    blocked = checks.check_flag(_FUNCTION, "block_inhibition", block_inhibition)
    start = checks.check_real(_FUNCTION, "warm_up", warm_up, 0)
    model, camera = neurons or NeuronModel(), imaging or CalciumImaging()
    model.steps(_FUNCTION, "warm_up", start)
    model.steps(_FUNCTION, "imaging.frame_time", camera.frame_time)
    rng = np.random.default_rng(random_state)
    drawing, trial, run, noise = rng.spawn(4)
    if wiring is None:
        wiring = culture_wiring(n_neurons, random_state=drawing)
    if blocked:
        wiring = wiring.reweighted(np.maximum(wiring.weight, 0.0))
    if strength is None:
        wiring = calibrated(wiring, model, rate, checks.draw_seed(trial))
    else:
        wiring = wiring.reweighted(wiring.weight * strength)
    duration = start + count * camera.frame_time
    spikes = simulate_spikes(
        wiring, 1.0, model, duration, checks.draw_seed(run), most_rate=_MOST_RATE
    )
    if spikes is None:
        raise ValueError(
            f"{_FUNCTION}: strength must let the culture fire at {_MOST_RATE:g} Hz or less, got "
            f"{strength}. Hint: lower strength, or the rate of spontaneous events."
        )
    spikes = spikes.shifted(-start)
    light = camera.record(spikes, wiring.positions, count, random_state=noise)
    return CalciumCulture(light, spikes.since(0.0), wiring, camera.frame_time)


_WARM_UP = 10_000.0  # ms at the start of a trial run that are not looked at
_BURSTS = 100  # that a trial run should have
_BURSTS_OF_MODULE = 30  # the same of a module alone
_MOST_TRIAL_RATE = 50.0  # Hz; a culture that fires more has no separate bursts
_TOLERANCE = 0.05  # of the rate
_FACTOR = 1.25  # between strengths while a rate above the goal is looked for
_MOST_STEPS = 40
_MOST_HALVINGS = 12
_LINKED_GUESS = 60.0  # pA, divided by the mean number of links a neuron


def calibrated(wiring: Wiring, model: NeuronModel, rate: float, seed: int) -> Wiring:
    """Return the wiring with weights in pA at which the culture bursts at a rate in Hz.

    Modules are calibrated alone first, so that each takes part, then all by one factor.
    """
    n_modules = int(wiring.modules.max(initial=0)) + 1
    scale = np.ones(n_modules)
    if n_modules > 1:
        for k in range(n_modules):
            part = wiring.only(wiring.modules == k)
            guess = scale[k - 1] if k else _guess(part)
            scale[k] = find_strength(
                _burst_rate(part, model, rate, seed, _BURSTS_OF_MODULE), guess, rate
            )
    start = 0.7 if n_modules > 1 else _guess(wiring)
    scaled = wiring.reweighted(wiring.weight * scale[wiring.modules[wiring.source]])
    factor = find_strength(_burst_rate(scaled, model, rate, seed), start, rate)
    return scaled.reweighted(scaled.weight * factor)


def _guess(wiring: Wiring) -> float:
    return _LINKED_GUESS / max(1.0, wiring.n_links / wiring.n_neurons)


def _burst_rate(
    wiring: Wiring, model: NeuronModel, rate: float, seed: int, bursts: int = _BURSTS
) -> Callable[[float], float]:
    """Return the function from a strength to the rate of bursts in Hz in a trial run."""
    duration = math.ceil(bursts / rate) * 1000.0

    def rate_of(strength: float) -> float:
        spikes = simulate_spikes(
            wiring, strength, model, _WARM_UP + duration, seed, most_rate=_MOST_TRIAL_RATE
        )
        if spikes is None:
            return np.inf
        return network_bursts(spikes.shifted(-_WARM_UP).since(0.0), wiring.n_neurons, duration).rate

    return rate_of


def find_strength(rate_of: Callable[[float], float], guess: float, goal: float) -> float:
    """Find the least strength at which the rate is about the goal.

    The strength is first raised, or lowered, by a factor until two neighbors enclose the goal, then
    found by halving on the logarithmic scale.
    """
    strength, rate = guess, rate_of(guess)
    rising = rate < goal
    for _ in range(_MOST_STEPS):
        if abs(rate - goal) <= _TOLERANCE * goal:
            return strength
        last = strength
        strength *= _FACTOR if rising else 1.0 / _FACTOR
        rate = rate_of(strength)
        if (rate < goal) != rising:
            break
    else:
        raise ValueError(
            f"calcium_culture: burst_rate must be a rate that the culture can reach, got {goal:g} "
            "Hz. Hint: give strength in pA, or a wiring with more links."
        )
    low, high = sorted((last, strength))
    error, best = abs(rate - goal), strength
    for _ in range(_MOST_HALVINGS):
        if error <= _TOLERANCE * goal:
            break
        middle = float(np.sqrt(low * high))
        rate = rate_of(middle)
        if abs(rate - goal) <= error:
            error, best = abs(rate - goal), middle
        low, high = (middle, high) if rate < goal else (low, middle)
    return best
