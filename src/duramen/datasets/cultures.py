"""Simulated calcium imaging of a culture of neurons with known wiring."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_INHIBITORY = 0.2  # fraction of the neurons


@dataclass(frozen=True, eq=False, repr=False)
class Wiring:
    """Links between the neurons of a culture, and their positions.

    Parameters
    ----------
    source, target : int array of shape (n_links,)
        Neurons that a link leads from and to, counted from 0.
    weight : float array of shape (n_links,), optional
        Strengths of the links relative to each other; negative for inhibitory links. 1 by default.
    positions : float array of shape (n, 2)
        Positions of the n neurons in mm.
    modules : int array of shape (n,), optional
        Module of every neuron, counted from 0. One module by default.

    Raises
    ------
    ValueError
        If the arrays differ in length, a link joins no two neurons of the culture, or a link occurs
        twice.

    Examples
    --------
    >>> from duramen.datasets import Wiring
    >>> Wiring([0, 1], [1, 2], positions=[[0, 0], [0.1, 0], [0.2, 0]])
    Wiring(3 neurons, 2 links)
    """

    source: IntArray
    target: IntArray
    weight: FloatArray = None  # type: ignore[assignment]
    _: KW_ONLY
    positions: FloatArray
    modules: IntArray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        places = np.asarray(self.positions, dtype=np.float64)
        n, count = len(places), np.size(self.source)
        weight = np.ones(count) if self.weight is None else self.weight
        modules = np.zeros(n) if self.modules is None else self.modules
        source, target = (np.asarray(ends).astype(np.int64) for ends in (self.source, self.target))
        weight = np.asarray(weight, dtype=np.float64)
        inside = all(((ends >= 0) & (ends < n)).all() for ends in (source, target))
        apart = source.shape == target.shape and (source != target).all()
        once = len(np.unique(source * n + target)) == count if apart else False
        for name, fits, allowed in (
            ("positions", places.shape == (n, 2), "of shape (neurons, 2)"),
            ("source", inside, f"of neurons in 0..{n - 1}, as target must be"),
            ("target", once, "another neuron than the source, and each link must be given once"),
            ("weight", weight.shape == (count,), f"of shape ({count},)"),
        ):
            if not fits:
                raise checks.refuse("Wiring", name, allowed, getattr(self, name))
        numbers = np.unique(modules, return_inverse=True)[1].astype(np.int64)
        fields = {"source": source, "target": target, "weight": weight, "modules": numbers}
        vars(self).update(fields, positions=places)

    @property
    def n_neurons(self) -> int:
        """Number n of neurons."""
        return len(self.positions)

    @property
    def n_links(self) -> int:
        """Number of links, inhibitory ones included."""
        return len(self.source)

    def matrix(self) -> BoolArray:
        """Return the links of a weight other than 0 as an array of shape (n, n), sources first."""
        links = np.zeros((self.n_neurons, self.n_neurons), dtype=np.bool_)
        links[self.source, self.target] = self.weight != 0
        return links

    def reweighted(self, weight: FloatArray) -> Wiring:
        """Return these links with other weights."""
        return replace(self, weight=weight)

    def __repr__(self) -> str:
        return f"Wiring({self.n_neurons} neurons, {self.n_links} links)"


def culture_wiring(
    n_neurons: int = 40,
    *,
    n_links: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Wiring:
    """Draw links of neurons at random places of a square of 1 mm.

    All links are equally probable, and a fifth of the neurons is inhibitory.

    Parameters
    ----------
    n_neurons : int
        Number n of neurons.
    n_links : int, optional
        Number of links; 4 n by default, or a third of the pairs if that is less.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    Wiring

    Raises
    ------
    ValueError
        If there are more links than pairs of neurons.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.culture_wiring(60, n_links=500, random_state=0)
    Wiring(60 neurons, 500 links)
    """
    n = checks.check_integer("culture_wiring", "n_neurons", n_neurons, 2)
    most = n * (n - 1)
    default = min(4 * n, most // 3) if n_links is None else n_links
    count = checks.check_integer("culture_wiring", "n_links", default, 0, most=most)
    rng = np.random.default_rng(random_state)
    positions = rng.random((n, 2))
    # benchmarks.networks.simulator draws modules and spreads of degrees and weights with these
    # numbers; without them both draw the same links.
    rng.permutation(n)
    rng.standard_normal((2, n))
    odds = 1.0 - np.eye(n)
    drawn = rng.choice(n * n, count, replace=False, p=odds.ravel() / odds.sum())
    source, target = np.divmod(np.sort(drawn), n)
    rng.standard_normal(count)
    weight = np.ones(n)
    weight[rng.permutation(n)[: round(_INHIBITORY * n)]] = -1.0
    return Wiring(source, target, weight[source], positions=positions)


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
    >>> Spikes(np.array([0, 3]), np.array([12.5, 13.0])).time.tolist()
    [12.5, 13.0]
    """

    neuron: NDArray[np.uint32]
    time: FloatArray


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

    def steps(self, duration: float) -> int:
        """Return the number of steps of a duration in ms."""
        return round(duration / self.step)

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
            refractory=self.steps(self.refractory_time),
            delay=self.steps(self.delay),
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
    n_steps = model.steps(duration)
    neuron, step = _kernel.simulate_spikes(links, model.constants(), events, seed, n_steps, most)
    return None if len(neuron) > most else Spikes(neuron, step.astype(np.float64) * model.step)


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
        """
        places, neuron = np.asarray(positions, dtype=np.float64), np.asarray(spikes.neuron)
        rng = np.random.default_rng(random_state)
        n = len(places)
        frame = np.floor(spikes.time / self.frame_time).astype(np.int64)
        # What remains of each jump at the end of its frame; at time 0 of the spikes before.
        left = (np.maximum(frame, -1) + 1) * self.frame_time - spikes.time
        left, place = np.unique(left, return_inverse=True)
        fades = np.array([decay(float(t), self.calcium_time) for t in left])
        jump = self.calcium_jump * fades[place]
        calcium = np.bincount(neuron[frame < 0], jump[frame < 0], n).astype(np.float64)
        cell = frame * n + neuron
        fade = decay(self.frame_time, self.calcium_time)
        gain = None
        if self.scattering > 0:  # light of neuron j that reaches i, symmetric with diagonal 1
            apart = places[:, None] - places[None, :]
            near = np.exp(-np.einsum("ijk,ijk->ij", apart, apart) / self.scattering_length**2)
            gain = (np.rint(self.scattering * near * _GRID) / _GRID).astype(np.float32)
            np.fill_diagonal(gain, 1.0)
        result = np.empty((n_frames, n), dtype=np.float32)
        edges = np.searchsorted(frame, np.arange(0, n_frames + _BLOCK, _BLOCK))
        for k, first in enumerate(range(0, n_frames, _BLOCK)):
            rows = result[first : first + _BLOCK]
            mine = slice(edges[k], np.searchsorted(frame, first + len(rows)))
            sums = np.bincount(cell[mine] - first * n, jump[mine], rows.size)
            block = sums.astype(np.float64).reshape(rows.shape)
            for row in block:
                row += fade * calcium
                calcium = row
            calcium = calcium.copy()
            block /= block + self.saturation
            rows[:] = block
            if self.noise > 0:
                drawn = rng.standard_normal(rows.shape, dtype=np.float32)
                rows += np.float32(self.noise) * drawn
            if gain is not None:
                rows[:] = _kernel.scatter_light(rows, gain)
        return result


_FUNCTION = "calcium_culture"
_MOST_RATE = 200.0  # Hz


@dataclass(frozen=True, eq=False, repr=False)
class CalciumCulture:
    """Fluorescence of a simulated culture, with its spikes and wiring.

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
    CalciumCulture(500 frames of 20 ms x 20 neurons, 65 links)
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
        """Links from the neuron of the row to the neuron of the column, shape (n, n)."""
        return self.wiring.matrix()

    @property
    def firing_rate(self) -> float:
        """Spikes a second and neuron."""
        seconds = len(self.fluorescence) * self.frame_time / _MS
        return len(self.spikes.neuron) / self.n_neurons / seconds

    def __repr__(self) -> str:
        frames, n = self.fluorescence.shape
        links = np.count_nonzero(self.wiring.weight)
        return (
            f"CalciumCulture({frames} frames of {self.frame_time:g} ms x {n} neurons, "
            f"{links} links)"
        )


def calcium_culture(
    n_frames: int = 10_000,
    *,
    wiring: Wiring | None = None,
    n_neurons: int = 40,
    strength: float = 20.0,
    block_inhibition: bool = True,
    warm_up: float = 10_000.0,
    neurons: NeuronModel | None = None,
    imaging: CalciumImaging | None = None,
    random_state: int | np.random.Generator | None = None,
) -> CalciumCulture:
    """Simulate calcium imaging of a culture of neurons.

    The wiring is given or drawn; integrate-and-fire neurons with depressing synapses fire
    (`NeuronModel`), and their spikes are seen as fluorescence (`CalciumImaging`), after Stetter et
    al. [1]_, with the spontaneous input and the light scattering of the ChaLearn connectomics
    challenge [2]_.

    Parameters
    ----------
    n_frames : int
        Number of frames.
    wiring : Wiring, optional
        Links and positions; ``culture_wiring(n_neurons)`` by default.
    n_neurons : int
        Number n of neurons where the wiring is drawn.
    strength : float
        Factor in pA of the weights of the wiring. The stronger, the more often all neurons fire
        together; with 20 pA and 4 links a neuron bursts are frequent.
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
        If a number is out of its range, or the culture fires at more than 200 Hz on average.

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
    >>> culture = dm.datasets.calcium_culture(1000, n_neurons=30, random_state=0)
    >>> culture.fluorescence.shape, int(culture.links.sum())
    ((1000, 30), 91)
    """
    count = checks.check_integer(_FUNCTION, "n_frames", n_frames, 1)
    strength = checks.check_real(_FUNCTION, "strength", strength, 0)
    blocked = checks.check_flag(_FUNCTION, "block_inhibition", block_inhibition)
    start = checks.check_real(_FUNCTION, "warm_up", warm_up, 0)
    model, camera = neurons or NeuronModel(), imaging or CalciumImaging()
    for name, time in (("warm_up", start), ("imaging.frame_time", camera.frame_time)):
        if abs(model.steps(time) * model.step - time) > 1e-9 * time:
            allowed = f"a multiple of the step, {model.step:g} ms"
            raise checks.refuse(_FUNCTION, name, allowed, time)
    rng = np.random.default_rng(random_state)
    drawing, _, run, noise = rng.spawn(4)
    if wiring is None:
        wiring = culture_wiring(n_neurons, random_state=drawing)
    if blocked:
        wiring = wiring.reweighted(np.maximum(wiring.weight, 0.0))
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
    spikes = Spikes(spikes.neuron, spikes.time - start)
    light = camera.record(spikes, wiring.positions, count, random_state=noise)
    seen = spikes.time >= 0.0
    spikes = Spikes(spikes.neuron[seen], spikes.time[seen])
    return CalciumCulture(light, spikes, wiring, camera.frame_time)
