"""Cultures as in the ChaLearn challenge: modular wiring, and bursts at a chosen rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import duramen as dm
from duramen import _kernel
from duramen.datasets import CalciumCulture, CalciumImaging, NeuronModel, Spikes, Wiring
from duramen.datasets.cultures import simulate_spikes
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray

_FUNCTION = "culture_wiring"
_LINKS_A_NEURON = 15
_NEURONS_A_MODULE = 100
_TRIES_A_LINK = 2000  # of pairs of links to exchange


def clustering_of(wiring: Wiring) -> float:
    """Return the mean clustering coefficient of the network without directions."""
    linked = wiring.matrix()
    linked |= linked.T
    degree = linked.sum(axis=1)
    square = linked.astype(np.float32)
    triangles = np.einsum("ij,ij->i", square @ square, square)
    pairs = np.maximum(degree * (degree - 1), 1)
    return float(np.mean(triangles / pairs))


def part_of(wiring: Wiring, neurons: BoolArray) -> Wiring:
    """Return the part of the wiring that joins the chosen neurons."""
    number = np.cumsum(neurons) - 1
    inside = neurons[wiring.source] & neurons[wiring.target]
    return Wiring(
        number[wiring.source[inside]],
        number[wiring.target[inside]],
        wiring.weight[inside],
        positions=wiring.positions[neurons],
        modules=wiring.modules[neurons],
    )


def culture_wiring(
    n_neurons: int = 1000,
    *,
    n_links: int | None = None,
    modules: int | None = None,
    between: float = 0.2,
    clustering: float | Sequence[float] | None = (0.2, 0.66),
    reciprocity: float | Sequence[float] | None = None,
    length: float | None = None,
    degree_spread: float = 0.0,
    weight_spread: float = 0.0,
    inhibitory: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> Wiring:
    r"""Draw the wiring of a culture.

    Positions are uniform on a square of 1 mm. Links are drawn without replacement, a link from i to
    j with odds

    .. math:: a_i \, b_j \, e^{-d_{ij}^2 / 2 \lambda^2}

    with log-normal :math:`a_i` and :math:`b_j` and the distance :math:`d_{ij}`. Then pairs of links
    inside a module exchange their targets, which keeps all degrees, until the mean clustering
    coefficient of the module (directions ignored) reaches its goal, or no more exchange is found.
    With `reciprocity` fewer links are drawn inside modules, and random ones of them are answered.

    The defaults have the modules, degrees and clustering of the networks *normal* of the ChaLearn
    connectomics challenge [1]_: 10 modules of about 100 neurons whose clustering rises from .2 to
    .66, 12 links a neuron inside its module and 3 to others, at any distance. Its links are more
    often reciprocal than by chance: ``reciprocity=(0.12, 0.67)`` has this, too.

    Parameters
    ----------
    n_neurons : int
        Number n of neurons.
    n_links : int, optional
        Number of links: 15 n by default, or, for fewer than 46 neurons, a third of the pairs.
    modules : int, optional
        Number of modules; one for every 100 neurons by default.
    between : float
        Fraction of the links between neurons of different modules; of no effect with one module.
    clustering : float, pair of floats, or None
        Goal of the clustering coefficient in every module; a pair spaces the goals evenly from the
        first module to the last, and a single module aims at the middle. None exchanges no links.
        Goals may be out of reach: see `clustering_of`.
    reciprocity : float, pair of floats, or None
        Fraction of the links inside a module that have one in the other direction; a pair spaces
        the fractions as for `clustering`. It is met within the few more or fewer that exchanges
        make by chance. None leaves it to chance.
    length : float, optional
        Length :math:`\lambda` of the links in mm; None lets links be of any length.
    degree_spread, weight_spread : float
        Standard deviation of the logarithm of a and b, and of the weights. The weights have mean 1.
    inhibitory : float
        Fraction of the neurons whose links have a negative weight.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    Wiring

    Raises
    ------
    ValueError
        If a number is out of its range, or there are more links than pairs of neurons.

    References
    ----------
    .. [1] J. G. Orlandi et al. (2014). First connectomics challenge: from imaging to connectivity.
       JMLR W&CP 46.

    Examples
    --------
    >>> from benchmarks.networks.simulator import culture_wiring
    >>> culture_wiring(60, n_links=500, clustering=0.4, random_state=0)
    Wiring(60 neurons, 500 links)
    """
    n = checks.check_integer(_FUNCTION, "n_neurons", n_neurons, 2)
    default = min(_LINKS_A_NEURON * n, n * (n - 1) // 3)
    count = default if n_links is None else checks.check_integer(_FUNCTION, "n_links", n_links, 0)
    most = max(1, round(n / _NEURONS_A_MODULE)) if modules is None else modules
    n_modules = checks.check_integer(_FUNCTION, "modules", most, 1, most=n)
    apart = checks.check_real(_FUNCTION, "between", between, 0, 1) if n_modules > 1 else 0.0
    goals = _goals("clustering", clustering, n_modules)
    answered = _goals("reciprocity", reciprocity, n_modules)
    if length is not None:
        length = checks.check_real(_FUNCTION, "length", length, 0, ends="(]")
    spreads = [
        checks.check_real(_FUNCTION, name, value, 0)
        for name, value in (("degree_spread", degree_spread), ("weight_spread", weight_spread))
    ]
    silent = round(checks.check_real(_FUNCTION, "inhibitory", inhibitory, 0, 1) * n)
    rng = np.random.default_rng(random_state)
    positions = rng.random((n, 2))
    module = _modules(rng, n, n_modules)
    odds = _odds(rng, positions, length, spreads[0])
    same = module[:, None] == module[None, :]
    outside = round(apart * count)
    pairs = [_choose(rng, odds * ~same, outside, "between modules")] if outside else []
    sizes = np.bincount(module, minlength=n_modules)
    ends = np.round(np.cumsum(sizes) / n * (count - outside)).astype(np.int64)
    for k, inner_links in enumerate(np.diff(ends, prepend=0)):
        members = np.flatnonzero(module == k)
        inner, where = odds[np.ix_(members, members)], f"inside module {k}"
        goal = None if goals is None else goals[k]
        if answered is None:
            inside = _linked(rng, inner, int(inner_links), goal, where)
        else:
            inside = _reciprocal(rng, inner, int(inner_links), goal, answered[k], where)
        pairs.append(members[inside])
    source, target = np.concatenate(pairs, axis=1)
    order = np.lexsort((target, source))
    weight = np.exp(spreads[1] * (rng.standard_normal(count) - spreads[1] / 2))
    negative = np.zeros(n, dtype=np.bool_)
    negative[rng.permutation(n)[:silent]] = True
    source, target = source[order], target[order]
    weight = np.where(negative[source], -weight, weight)
    return Wiring(source, target, weight, positions=positions, modules=module)


def _goals(name: str, asked: float | Sequence[float] | None, n_modules: int) -> FloatArray | None:
    """Return the goal of every module."""
    if asked is None:
        return None
    goals = list(asked) if isinstance(asked, Sequence) else [asked] * 2
    if len(goals) != 2:
        raise checks.refuse(_FUNCTION, name, "a number, a pair of numbers or None", asked)
    low, high = (checks.check_real(_FUNCTION, name, value, 0, 1) for value in goals)
    return np.linspace(low, high, n_modules) if n_modules > 1 else np.array([(low + high) / 2])


def _modules(rng: np.random.Generator, n: int, count: int) -> IntArray:
    """Assign neurons to modules of about equal size, none empty."""
    module = np.concatenate((np.arange(count), rng.integers(count, size=n - count)))
    return rng.permutation(module)


def _odds(
    rng: np.random.Generator, positions: FloatArray, length: float | None, spread: float
) -> FloatArray:
    """Return the odds of all links, 0 on the diagonal."""
    n = len(positions)
    out, into = np.exp(spread * rng.standard_normal((2, n)))
    odds = np.outer(out, into)
    if length is not None:
        apart = positions[:, None] - positions[None, :]
        odds *= np.exp(-np.einsum("ijk,ijk->ij", apart, apart) / (2 * length**2))
    np.fill_diagonal(odds, 0.0)
    return odds


def _choose(rng: np.random.Generator, odds: FloatArray, count: int, where: str) -> IntArray:
    """Draw different links with the given odds, as two rows of neurons."""
    possible = int(np.count_nonzero(odds))
    if count > possible:
        raise ValueError(
            f"{_FUNCTION}: n_links must leave at most {possible} links {where}, got {count} there. "
            "Hint: lower n_links, or use fewer modules."
        )
    if count == 0:
        return np.zeros((2, 0), dtype=np.int64)
    drawn = rng.choice(odds.size, count, replace=False, p=odds.ravel() / odds.sum())
    return np.stack(np.divmod(np.sort(drawn), len(odds)))


def _linked(
    rng: np.random.Generator, odds: FloatArray, count: int, goal: float | None, where: str
) -> IntArray:
    """Draw the links inside a module, and exchange them if there is a goal."""
    links = _choose(rng, odds, count, where)
    return links if goal is None else _clustered(rng, links, len(odds), goal)


def _reciprocal(
    rng: np.random.Generator,
    odds: FloatArray,
    count: int,
    goal: float | None,
    fraction: float,
    where: str,
) -> IntArray:
    """Draw links of which a fraction is reciprocal, by answers to some of fewer links.

    Answers change no clustering coefficient, as directions are ignored. Pairs that are linked both
    ways by chance are seen in a first draw, and as many fewer are answered.
    """
    pairs = round(fraction * count / 2)
    single = np.flatnonzero(_single(_linked(rng, odds, count - pairs, goal, where)))
    answers = max(0, pairs - (count - pairs - len(single)) // 2)
    while True:
        links = _linked(rng, odds, count - answers, goal, where)
        single = np.flatnonzero(_single(links))
        if len(single) >= answers:
            break
        answers = len(single)
    chosen = rng.permutation(single)[:answers]
    return np.concatenate((links, links[::-1, chosen]), axis=1)


def _single(links: IntArray) -> BoolArray:
    """Tell which links have none in the other direction."""
    source, target = links
    n = int(links.max(initial=0)) + 1
    single: BoolArray = ~np.isin(source * n + target, target * n + source)
    return single


def _clustered(rng: np.random.Generator, links: IntArray, n: int, goal: float) -> IntArray:
    """Exchange links until the clustering coefficient has reached its goal."""
    source, target = (np.ascontiguousarray(row, dtype=np.uint32) for row in links)
    tries = _TRIES_A_LINK * len(source)
    target, _ = _kernel.rewire_links(source, target, n, goal, int(rng.integers(2**63)), tries)
    return np.stack((source, target)).astype(np.int64)


_TOPOLOGY = "load_chalearn_topology"


def load_chalearn_topology(i: int, folder: str | PathLike[str]) -> Wiring:
    """Load the wiring of a network *normal* of the ChaLearn connectomics challenge.

    The wiring was published by the organizers (MIT license) at
    https://github.com/orlandi/connectomicsPCV. The fluorescence
    can be simulated: ``bursting_culture(wiring=load_chalearn_topology(1, folder))``.

    Parameters
    ----------
    i : int
        Number of the network, 1 to 4.
    folder : path
        Folder that holds ``normal-1/connections.parquet`` with columns `source`, `target` and
        `weight`, and ``normal-1/positions.parquet`` with columns `x`, `y` (mm) and `subset`.

    Returns
    -------
    Wiring
        1000 neurons in 10 modules; inhibitory links have weight -1.

    Raises
    ------
    FileNotFoundError
        If a file is not there, naming it.
    ValueError
        If `i` is another number.

    References
    ----------
    J. G. Orlandi et al. (2014). First connectomics challenge: from imaging to connectivity. JMLR
    W&CP 46.

    Examples
    --------
    Where the files are in the folder ``chalearn``:

    >>> from pathlib import Path
    >>> from benchmarks.networks.simulator import load_chalearn_topology
    >>> if Path("chalearn").is_dir():
    ...     wiring = load_chalearn_topology(1, "chalearn")
    """
    number = checks.check_integer(_TOPOLOGY, "i", i, 1, most=4)
    tables = {}
    for name in ("connections", "positions"):
        file = Path(folder) / f"normal-{number}" / f"{name}.parquet"
        if not file.is_file():
            raise FileNotFoundError(
                f"{_TOPOLOGY}: folder must hold {file.relative_to(folder)}, got {folder}. Hint: "
                "convert the file normal-*.yaml of the organizers."
            )
        tables[name] = pq.read_table(file).to_pydict()
    links, places = tables["connections"], tables["positions"]
    return Wiring(
        links["source"],
        links["target"],
        links["weight"],
        positions=list(zip(places["x"], places["y"], strict=True)),
        modules=places["subset"],
    )


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
    >>> from benchmarks.networks.simulator import NetworkBursts
    >>> NetworkBursts(np.array([1000.0, 9000.0]), 20_000.0)
    NetworkBursts(2 bursts, 0.1 Hz)
    """

    start: FloatArray
    duration: float

    @property
    def rate(self) -> float:
        """Bursts a second."""
        return len(self.start) / self.duration * 1000.0

    @property
    def intervals(self) -> FloatArray:
        """Times in ms between the starts of successive bursts."""
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
    >>> from benchmarks.networks.simulator import network_bursts
    >>> from duramen.datasets import Spikes
    >>> spikes = Spikes([0, 1, 2, 0], [100.0, 101.0, 102.0, 900.0])
    >>> network_bursts(spikes, 4, 10_000.0)
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


_WARM_UP = 10_000.0  # ms at the start of a trial run that are not looked at
_BURSTS = 100  # that a trial run should have
_BURSTS_OF_MODULE = 30  # the same of a module alone
_MOST_TRIAL_RATE = 50.0  # Hz; a culture that fires more has no separate bursts
_TOLERANCE = 0.05  # of the rate
_FACTOR = 1.25  # between strengths while a rate above the goal is looked for
_MOST_STEPS = 40
_MOST_HALVINGS = 12
_LINKED_GUESS = 60.0  # pA, divided by the mean number of links a neuron


def bursting_culture(
    n_frames: int = 179_500,
    *,
    wiring: Wiring,
    burst_rate: float = 0.1,
    neurons: NeuronModel | None = None,
    imaging: CalciumImaging | None = None,
    random_state: int,
) -> CalciumCulture:
    """Simulate a culture whose network bursts have a given rate in Hz.

    The strength of the synapses is searched for: first in every module of the wiring alone, then
    by one factor for all, in trial runs that should have 30 and 100 bursts. A burst is half of the
    neurons firing within 50 ms. Links of negative weight are blocked, as in the challenge.
    """
    model = neurons or NeuronModel()
    trial = np.random.default_rng(random_state).spawn(4)[1]
    blocked = wiring.reweighted(np.maximum(wiring.weight, 0.0))
    return dm.datasets.calcium_culture(
        n_frames,
        wiring=calibrated(blocked, model, burst_rate, checks.draw_seed(trial)),
        strength=1.0,
        neurons=model,
        imaging=imaging,
        random_state=random_state,
    )


def calibrated(wiring: Wiring, model: NeuronModel, rate: float, seed: int) -> Wiring:
    """Return the wiring with weights in pA at which the culture bursts at a rate in Hz.

    Modules are calibrated alone first, so that each takes part, then all by one factor.
    """
    n_modules = int(wiring.modules.max(initial=0)) + 1
    scale = np.ones(n_modules)
    if n_modules > 1:
        for k in range(n_modules):
            part = part_of(wiring, wiring.modules == k)
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
        seen = spikes.time >= _WARM_UP
        spikes = Spikes(spikes.neuron[seen], spikes.time[seen] - _WARM_UP)
        return network_bursts(spikes, wiring.n_neurons, duration).rate

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
            f"bursting_culture: burst_rate must be a rate that the culture can reach, got {goal:g} "
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
