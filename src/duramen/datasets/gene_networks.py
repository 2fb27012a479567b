"""Expression of a gene network with known links: simulated, and that of DREAM4."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.arrow import pq

_FUNCTION = "gene_network"
_ACTIVATING = 0.6  # fraction of the links
_STEPS = 300  # of the iteration towards the steady state
_DAMPING = 0.3


@dataclass(frozen=True, eq=False, repr=False)
class GeneNetwork:
    """Expression of p genes in n samples, and the links that made it.

    Attributes
    ----------
    expression : float64 array of shape (n, p)
        Measured expression, samples by genes.
    names : tuple of str
        Names of the genes, G1, G2, ...
    links : bool array of shape (p, p)
        True where the gene of the row regulates the gene of the column.
    activating : bool array of shape (p, p) or None
        True for links that raise the expression of their target; None where that is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.datasets import GeneNetwork
    >>> GeneNetwork(np.ones((4, 2)), ("a", "b"), np.array([[False, True], [False, False]]), None)
    GeneNetwork(4 samples x 2 genes, 1 links)
    """

    expression: FloatArray
    names: tuple[str, ...]
    links: BoolArray
    activating: BoolArray | None

    def __repr__(self) -> str:
        n, p = self.expression.shape
        return f"GeneNetwork({n} samples x {p} genes, {int(self.links.sum())} links)"


def gene_network(
    n_samples: int = 100,
    n_genes: int = 100,
    *,
    n_links: int | None = None,
    regulators: float = 0.4,
    hubs: float | None = 1.5,
    perturbation: float = 0.2,
    noise: float = 0.05,
    random_state: int | np.random.Generator | None = None,
) -> GeneNetwork:
    r"""Simulate steady states of a gene network under multifactorial perturbations.

    In every sample the production of each gene is multiplied by a factor of its own, as in samples
    of different individuals. The expression x of gene i then settles where production and decay
    are equal:

    .. math:: x_i = e^{s \epsilon_i} \left( b_i + (1 - b_i) F_i(x) \right)

    with :math:`\epsilon_i` standard normal, s the strength of the perturbations, :math:`b_i` a
    basal rate and :math:`F_i` the product or, with probability 1/2, the mean of the Hill functions
    of its regulators, :math:`x^h / (x^h + k^h)` or one minus this for those that repress. A gene
    without regulators has F = 1/2. Feedback is possible.

    Parameters
    ----------
    n_samples, n_genes : int
        Numbers n of samples and p of genes.
    n_links : int, optional
        Number of links; 2 p by default.
    regulators : float
        Fraction of the genes that may regulate others.
    hubs : float or None
        Exponent of the Pareto distribution of the odds with which a regulator takes a link: the
        smaller, the more links have few hubs. None for equal odds.
    perturbation : float
        Strength s of the perturbations: standard deviation of the logarithm of the production.
    noise : float
        Standard deviation of the measurement: of its multiplicative part, and, as a fraction of the
        gene's mean, of its additive part.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    GeneNetwork

    Raises
    ------
    ValueError
        If a number is out of its range, or there are more links than pairs.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.gene_network(50, 20, random_state=0)
    GeneNetwork(50 samples x 20 genes, 40 links)
    """
    n = checks.check_integer(_FUNCTION, "n_samples", n_samples, 2)
    p = checks.check_integer(_FUNCTION, "n_genes", n_genes, 2)
    fraction = checks.check_real(_FUNCTION, "regulators", regulators, 0, 1)
    if hubs is not None:
        hubs = checks.check_real(_FUNCTION, "hubs", hubs, 0, ends="(]")
    s = checks.check_real(_FUNCTION, "perturbation", perturbation, 0)
    spread = checks.check_real(_FUNCTION, "noise", noise, 0)
    n_regulators = min(p, max(1, round(fraction * p)))
    most = n_regulators * (p - 1)
    default = min(2 * p, most)
    count = default if n_links is None else checks.check_integer(_FUNCTION, "n_links", n_links, 0)
    if count > most:
        raise ValueError(
            f"{_FUNCTION}: n_links must be at most {most}, the pairs of {n_regulators} regulators "
            f"with {p - 1} other genes each, got {count}. Hint: raise regulators or n_genes."
        )
    rng = np.random.default_rng(random_state)
    links = _wiring(rng, p, n_regulators, count, hubs)
    activating = links & (rng.random((p, p)) < _ACTIVATING)
    settled = _steady_states(rng, links, activating, n, s)
    measured = settled * np.exp(spread * rng.standard_normal((n, p)))
    measured += spread * settled.mean(axis=0) * rng.standard_normal((n, p))
    names = tuple(f"G{i + 1}" for i in range(p))
    return GeneNetwork(np.maximum(measured, 0.0), names, links, activating)


def _wiring(
    rng: np.random.Generator, p: int, n_regulators: int, count: int, hubs: float | None
) -> BoolArray:
    """Draw links without replacement, those of a regulator with a probability of its own."""
    weight = np.zeros(p)
    extra = 0.0 if hubs is None else rng.pareto(hubs, n_regulators)
    weight[rng.permutation(p)[:n_regulators]] = 1.0 + extra
    odds = np.repeat(weight[:, None], p, axis=1)
    np.fill_diagonal(odds, 0.0)
    links = np.zeros(p * p, dtype=np.bool_)
    links[rng.choice(p * p, count, replace=False, p=odds.ravel() / odds.sum())] = True
    return links.reshape(p, p)


def _steady_states(
    rng: np.random.Generator,
    links: BoolArray,
    activating: BoolArray,
    n: int,
    strength: float,
) -> FloatArray:
    """Iterate production against decay until it has settled, for all samples at a time."""
    p = len(links)
    basal = rng.uniform(0.05, 0.3, p)
    exponent, threshold = rng.uniform(1.0, 4.0, (p, p)), rng.uniform(0.2, 0.7, (p, p))
    multiplies = rng.random(p) < 0.5
    factor = np.exp(strength * rng.standard_normal((n, p)))
    # Links in the order of their targets: those of a target side by side.
    j, i = np.nonzero(links.T)
    regulated, first, counts = np.unique(j, return_index=True, return_counts=True)
    h, k, raises = exponent[i, j], threshold[i, j], activating[i, j]
    x = np.full((n, p), 0.5)
    rate = np.full((n, p), 0.5)
    for _ in range(_STEPS):
        if len(j):
            ratio = (x[:, i] / k) ** h
            acts = np.where(raises, ratio, 1.0) / (1.0 + ratio)
            products = np.multiply.reduceat(acts, first, axis=1)
            means = np.add.reduceat(acts, first, axis=1) / counts
            rate[:, regulated] = np.where(multiplies[regulated], products, means)
        x += _DAMPING * (factor * (basal + (1.0 - basal) * rate) - x)
    return x


_DREAM4 = "load_dream4"
# Names of the files: as the challenge gave them, and as tables.
_EXPRESSION = ("insilico_size{size}_{i}_multifactorial.tsv", "net{i}/expression.parquet")
_GOLD = (
    "DREAM4_GoldStandard_InSilico_Size{size}_multifactorial_{i}.tsv",
    "net{i}/gold.parquet",
)


def load_dream4(i: int, folder: str | PathLike[str], *, size: int = 100) -> GeneNetwork:
    """Load one of the five DREAM4 in silico networks with its multifactorial expression.

    The data do not ship with this package, since their license is not stated; they can be had
    from the DREAM challenges at Synapse (syn3049712).

    Parameters
    ----------
    i : int
        Number of the network, 1 to 5.
    folder : path
        Folder that holds, at any depth, the files of the challenge, such as
        ``insilico_size100_1_multifactorial.tsv`` and
        ``DREAM4_GoldStandard_InSilico_Size100_multifactorial_1.tsv``; or the same columns as
        ``net1/expression.parquet`` and ``net1/gold.parquet``.
    size : {10, 100}
        Number of genes.

    Returns
    -------
    GeneNetwork
        Expression of `size` genes in as many samples, and the true links; whether they activate is
        not known.

    Raises
    ------
    FileNotFoundError
        If a file is not there, naming it.
    ValueError
        If `i` or `size` is another number.

    References
    ----------
    D. Marbach et al. (2010). Revealing strengths and weaknesses of methods for gene network
    inference. PNAS 107.

    Examples
    --------
    Where the two files are in the folder ``dream4``:

    >>> import duramen as dm
    >>> from pathlib import Path
    >>> if Path("dream4").is_dir():
    ...     made = dm.datasets.load_dream4(1, "dream4")
    ...     dm.genie3(made.expression, names=made.names).score(made.links)
    """
    checks.check_integer(_DREAM4, "i", i, 1, most=5)
    if size not in (10, 100):
        raise checks.refuse(_DREAM4, "size", "10 or 100", size)
    expression = _read(Path(folder), _EXPRESSION, i, size)
    names = tuple(expression)
    place = {name: j for j, name in enumerate(names)}
    links = np.zeros((len(names), len(names)), dtype=np.bool_)
    for source, target, is_link in zip(*_read(Path(folder), _GOLD, i, size).values(), strict=True):
        links[place[source], place[target]] = bool(int(is_link))
    values = np.column_stack(
        [np.asarray(column, dtype=np.float64) for column in expression.values()]
    )
    return GeneNetwork(values, names, links, None)


def _read(folder: Path, forms: tuple[str, str], i: int, size: int) -> dict[str, list[Any]]:
    """Return the columns of the first file that is there, by name."""
    wanted = [form.format(i=i, size=size) for form in forms]
    for name in wanted:
        files = sorted(folder.rglob(name)) if folder.is_dir() else []
        if files and name.endswith(".parquet"):
            columns: dict[str, list[Any]] = pq.read_table(files[0]).to_pydict()
            return columns
        if files:
            lines = files[0].read_text().split("\n")
            rows = [line.replace('"', "").split("\t") for line in lines if line.strip()]
            header = [] if forms is _GOLD else rows.pop(0)
            names = header or [str(k) for k in range(len(rows[0]))]
            return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    raise FileNotFoundError(
        f"{_DREAM4}: {folder} must hold {wanted[0]}, at any depth. Hint: unpack the archives of "
        "the DREAM4 in silico challenge there."
    )
