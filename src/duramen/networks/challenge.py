"""Scores over several networks, by the rules of the DREAM challenges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from duramen.results.network_scores import NetworkScores
from duramen.results.result import Result
from duramen.results.summary import Column
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, RandomState

_FUNCTION = "challenge_score"
_TAIL = 0.01  # fraction of the random orders from which the tail is extrapolated
_NUMBERS = 1 << 22  # random positions held at a time


@dataclass(frozen=True, eq=False, repr=False)
class ChallengeScore(Result):
    r"""Areas of several networks with their p-values, and the overall score.

    Attributes
    ----------
    names : tuple of str
        Names of the m networks.
    auroc, aupr : float64 arrays of shape (m,)
        Areas under the ROC and the precision-recall curve.
    log10_p_auroc, log10_p_aupr : float64 arrays of shape (m,)
        Logarithms to base 10 of the probability of as large an area under a random order.
    extrapolated : bool array of shape (m,)
        True where the p-value of `aupr` lies beyond the random orders that were drawn.
    score : float
        :math:`-\frac12 \log_{10}(p_{ROC}\, p_{PR})` of the geometric means of the p-values.
    """

    names: tuple[str, ...]
    auroc: FloatArray
    aupr: FloatArray
    log10_p_auroc: FloatArray
    log10_p_aupr: FloatArray
    extrapolated: BoolArray
    score: float

    def table(self) -> list[Column]:
        """Return the areas and their p-values, one row a network."""
        return [
            Column("network", self.names, "words", name="name"),
            Column("AUROC", digits=4, name="auroc", numbers=self.auroc),
            Column("AUPR", digits=4, name="aupr", numbers=self.aupr),
            Column("log10 p (AUROC)", digits=4, name="log10_p_auroc", numbers=self.log10_p_auroc),
            Column("log10 p (AUPR)", digits=4, name="log10_p_aupr", numbers=self.log10_p_aupr),
            Column(name="extrapolated", numbers=self.extrapolated),
        ]

    _WHAT = "networks"

    def _heading(self) -> tuple[str, ...]:
        return (f"ChallengeScore: {self.score:.3f}",)


def challenge_score(
    scores: Mapping[str, NetworkScores], *, n_random: int = 100_000, random_state: RandomState = 0
) -> ChallengeScore:
    r"""Score several networks together, as the DREAM4 and DREAM5 challenges did.

    The p-value of an area is the probability of one as large when the pairs are in random order.
    Of the ROC curve it comes from the normal approximation of the rank sum, with mean 1/2 and
    variance :math:`(T + 1) / (12 P (T - P))` for P links among T pairs; of the precision-recall
    curve from random orders, beyond which an exponential tail is fitted to the largest 1 %. The
    tail of the areas falls faster than an exponential, so that extrapolated p-values are too
    large rather than too small.

    Parameters
    ----------
    scores : mapping of str to NetworkScores
        Scores of the networks by name, from :meth:`duramen.Network.score`: with ``pairs="listed"``
        for DREAM4, ``pairs="dream5"`` for DREAM5.
    n_random : int
        Number of random orders for each network.
    random_state : int, RandomState, Generator or None
        Seed of the random orders.

    Returns
    -------
    ChallengeScore

    Raises
    ------
    ValueError
        If there is no network, or `n_random` is below 1000.

    References
    ----------
    G. Stolovitzky, R. J. Prill, A. Califano (2009). Lessons from the DREAM2 challenges. Annals of
    the New York Academy of Sciences 1158. D. Marbach et al. (2012). Wisdom of crowds for robust
    gene network inference. Nature Methods 9.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> weights = np.triu(np.arange(36.0).reshape(6, 6), 1)
    >>> network = dm.Network(tuple("abcdef"), weights)
    >>> scores = {"one": network.score([("d", "e"), ("a", "b")])}
    >>> round(dm.networks.challenge_score(scores, n_random=1000).score, 2)
    0.79
    """
    checks.check_integer(_FUNCTION, "n_random", n_random, 1000)
    if not scores:
        raise ValueError(f"{_FUNCTION}: scores must hold at least one network.")
    rng, rows = np.random.default_rng(checks.draw_seed(random_state)), []
    for network in scores.values():
        p, t = network.n_true, network.n_pairs
        spread = np.sqrt((t + 1) / (12.0 * p * (t - p)))
        log_p = float(log_ndtr(-(network.auroc - 0.5) / spread)) / np.log(10)
        tail = _tail(network.aupr, random_areas(p, t, n_random, rng))
        rows.append((network.auroc, network.aupr, log_p, *tail))
    auroc, aupr, of_roc, of_pr, beyond = map(np.array, zip(*rows, strict=True))
    score = float(-0.5 * (np.mean(of_roc) + np.mean(of_pr)))
    return ChallengeScore(tuple(scores), auroc, aupr, of_roc, of_pr, beyond, score)


def random_areas(n_true: int, n_pairs: int, n_random: int, rng: np.random.Generator) -> FloatArray:
    """Return areas under the precision-recall curve of random orders, ascending.

    Parameters
    ----------
    n_true, n_pairs : int
        Numbers of links and of pairs.
    n_random : int
        Number of orders.
    rng : numpy.random.Generator
        Source of the orders.
    """
    areas = np.empty(n_random)
    step = max(1, _NUMBERS // n_pairs)
    number = np.arange(1, n_true + 1)
    for first in range(0, n_random, step):
        count = min(step, n_random - first)
        keys = rng.random((count, n_pairs), dtype=np.float32)
        place = np.sort(keys.argpartition(n_true - 1, axis=1)[:, :n_true], axis=1) + 1.0
        lost = np.where(place > 1, np.log1p(1.0 / np.maximum(place - 1.0, 1.0)), 0.0)
        areas[first : first + count] = (1.0 - (place - number) * lost).mean(axis=1)
    return np.sort(areas)


def _tail(area: float, null: FloatArray) -> tuple[float, bool]:
    """Return log10 of the fraction of a null distribution at or above, and if it is beyond it."""
    count = len(null) - int(np.searchsorted(null, area, side="left"))
    few = max(10, int(_TAIL * len(null)))
    if count >= 10:
        return float(np.log10(count / len(null))), False
    start = null[-few]
    scale = float((null[-few:] - start).mean())
    p = np.log(few / len(null)) - max(0.0, area - start) / scale
    return float(p / np.log(10)), True
