"""Wiring of a culture of neurons: given, read, or drawn with modules and clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from duramen import _kernel
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.arrow import pq

_FUNCTION = "culture_wiring"
_LINKS_A_NEURON = 15
_NEURONS_A_MODULE = 100
_TRIES_A_LINK = 2000  # of pairs of links to exchange


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
    Wiring(3 neurons, 2 links, clustering 0.00)
    """

    source: IntArray
    target: IntArray
    weight: FloatArray
    positions: FloatArray
    modules: IntArray

    def __init__(
        self,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        positions: ArrayLike,
        modules: ArrayLike | None = None,
    ) -> None:
        places = np.asarray(positions, dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
            raise checks.refuse(
                "Wiring", "positions", "finite numbers of shape (neurons, 2)", places.shape
            )
        n = len(places)
        ends = [_neurons(name, x, n) for name, x in (("source", source), ("target", target))]
        count = len(ends[0])
        strength = np.ones(count) if weight is None else np.asarray(weight, dtype=np.float64)
        group = np.zeros(n, dtype=np.int64) if modules is None else np.asarray(modules)
        for name, array, length in (
            ("target", ends[1], count),
            ("weight", strength, count),
            ("modules", group, n),
        ):
            if array.shape != (length,):
                raise checks.refuse("Wiring", name, f"of shape ({length},)", array.shape)
        if not np.isfinite(strength).all():
            raise checks.refuse("Wiring", "weight", "finite", "NaN or infinity")
        if (ends[0] == ends[1]).any():
            raise checks.refuse(
                "Wiring", "target", "another neuron than source", "a link to itself"
            )
        if len(np.unique(ends[0] * n + ends[1])) < count:
            raise checks.refuse("Wiring", "source", "without repeated links", "a link given twice")
        numbers = np.unique(group, return_inverse=True)[1].astype(np.int64)
        vars(self).update(source=ends[0], target=ends[1], weight=strength)
        vars(self).update(positions=places, modules=numbers)

    @property
    def n_neurons(self) -> int:
        """Number n of neurons."""
        return len(self.positions)

    @property
    def n_links(self) -> int:
        """Number of links, inhibitory ones included."""
        return len(self.source)

    @cached_property
    def clustering(self) -> float:
        """Mean clustering coefficient of the network without directions."""
        linked = self.matrix(self.weight != 0)
        linked |= linked.T
        degree = linked.sum(axis=1)
        square = linked.astype(np.float32)
        triangles = np.einsum("ij,ij->i", square @ square, square)
        pairs = np.maximum(degree * (degree - 1), 1)
        return float(np.mean(triangles / pairs))

    def matrix(self, chosen: BoolArray | None = None) -> BoolArray:
        """Return the links, or those chosen, as an array of shape (n, n), sources by targets."""
        links = np.zeros((self.n_neurons, self.n_neurons), dtype=np.bool_)
        keep = slice(None) if chosen is None else chosen
        links[self.source[keep], self.target[keep]] = True
        return links

    def only(self, neurons: BoolArray) -> Wiring:
        """Return the part of the wiring that joins the chosen neurons."""
        number = np.cumsum(neurons) - 1
        inside = neurons[self.source] & neurons[self.target]
        return Wiring(
            number[self.source[inside]],
            number[self.target[inside]],
            self.weight[inside],
            positions=self.positions[neurons],
            modules=self.modules[neurons],
        )

    def reweighted(self, weight: FloatArray) -> Wiring:
        """Return the same links with other weights."""
        return Wiring(
            self.source, self.target, weight, positions=self.positions, modules=self.modules
        )

    def __repr__(self) -> str:
        return (
            f"Wiring({self.n_neurons} neurons, {self.n_links} links, "
            f"clustering {self.clustering:.2f})"
        )


def _neurons(name: str, neurons: ArrayLike, n: int) -> IntArray:
    """Check one end of the links."""
    array = np.asarray(neurons)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise checks.refuse("Wiring", name, "a sequence of integers", array.dtype)
    if array.size and not (array.min() >= 0 and array.max() < n):
        wrong = array[(array < 0) | (array >= n)][0]
        raise checks.refuse("Wiring", name, f"neurons in 0..{n - 1}", int(wrong))
    return array.astype(np.int64)


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
        Goals may be out of reach: see `Wiring.clustering`.
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
    >>> import duramen as dm
    >>> dm.datasets.culture_wiring(60, n_links=500, clustering=0.4, random_state=0)
    Wiring(60 neurons, 500 links, clustering 0.40)
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
    https://github.com/orlandi/connectomicsPCV; it does not ship with this package. The fluorescence
    can be simulated: ``calcium_culture(wiring=load_chalearn_topology(1, folder))``.

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

    >>> import duramen as dm
    >>> from pathlib import Path
    >>> if Path("chalearn").is_dir():
    ...     wiring = dm.datasets.load_chalearn_topology(1, "chalearn")
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
