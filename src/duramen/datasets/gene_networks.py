"""Simulated steady-state expression of a gene network with known links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray

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
    share = checks.check_real(_FUNCTION, "regulators", regulators, 0, 1)
    if hubs is not None:
        hubs = checks.check_real(_FUNCTION, "hubs", hubs, 0, ends="(]")
    s = checks.check_real(_FUNCTION, "perturbation", perturbation, 0)
    spread = checks.check_real(_FUNCTION, "noise", noise, 0)
    n_regulators = min(p, max(1, round(share * p)))
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
