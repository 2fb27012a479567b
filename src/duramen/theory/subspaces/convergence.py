r"""Numbers of trees that random subspaces need to find all relevant features, exactly.

Each tree is grown on q of p features. Of the i relevant features found so far, the sequential
random subspace method keeps :math:`a = \min(\lfloor \alpha q \rfloor, i)`, drawn at random, and
fills the other :math:`q - a` places from the :math:`p - a` features that are left (Sutera et al.
2018, algorithm 1). :math:`\alpha = 0` is the plain random subspace method (RS), :math:`\alpha = 1`
keeps all that was found (SRS). A tree is grown with :math:`K = q` after the simplified model of
the paper (thesis, appendix 7.B.1): one feature a level, drawn from those that share information
with the target given the features above.

Three scenarios define on what else the r relevant features depend:

* *chain*: feature i is relevant given features 1 .. i-1, and only then;
* *clique*: each feature is relevant given the r-1 others, and only then: a tree that holds them all
  finds one of them at random;
* *marginal*: each feature is relevant by itself.

In each scenario the number of features found is a Markov chain whose steps depend on p, q, r, a
and i alone. The papers give it for :math:`\alpha` 0 and 1. It holds for any :math:`\alpha`: the
kept features are a random subset of those found and the others a random subset of the rest, so
that what counts is how many of the missing ones come along.

Probabilities are products of ratios between 0 and 1, so that nothing overflows or cancels for
any p.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from math import inf
from typing import Literal

import numpy as np

from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import check_integer, check_real, refuse

_ROUNDING = 1e-14  # of a probability, and of a number of draws

Scenario = Literal["chain", "clique", "marginal"]


def expected_trees(
    scenario: Scenario, *, n_features: int, subspace: int, n_relevant: int, keep: float
) -> float:
    r"""Compute the expected number of trees until every relevant feature has been found.

    With :math:`P` the transition matrix, the expected number from i found on is

    .. math:: h_i = \frac{1 + \sum_{j>i} P_{ij} h_j}{\sum_{j>i} P_{ij}}, \qquad h_r = 0.

    For :math:`\alpha` 0 and 1 this equals the closed forms of the papers: in a chain
    :math:`\prod_{l<r} \frac{p-l}{q-l}` (RS) and :math:`\sum_{l<r} \frac{p-l}{q-l} - (r-1)` (SRS).

    Parameters
    ----------
    scenario : {"chain", "clique", "marginal"}
        On what else the relevant features depend; see the module.
    n_features : int
        Number p of features.
    subspace : int
        Number q of features that a tree is grown on, at most p.
    n_relevant : int
        Number r of relevant features, at most p.
    keep : float
        Fraction :math:`\alpha` of the subspace that may be taken by features found before: 0 for
        RS, 1 for SRS, or anything between.

    Returns
    -------
    float
        Infinity if some features can never be found: in chains and cliques when r > q, and
        whenever features found before fill the whole subspace (marginal, :math:`\alpha = 1`,
        r > q). Also infinity if the number exceeds the largest double, 1.8e308.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Sutera et al. 2018, Table 1; thesis, eq. 7.2, 7.4, 7.7, 7.8 and 7.9 to 7.14. The printed chain
    probabilities (7.9), (7.10) exclude later relevant features from the draw, and (7.12) has a
    misprinted binomial; the forms used here agree with the closed forms. In Table 1c of the paper
    (7.3.1c of the thesis) the RS entry for p = 10 000, q = 100, r = 100 is 516.66.

    Examples
    --------
    >>> from duramen.theory.subspaces.convergence import expected_trees
    >>> setting = dict(n_features=10_000, subspace=100, n_relevant=3)
    >>> round(expected_trees("chain", **setting, keep=0), 1)
    1030406.1
    >>> round(expected_trees("chain", **setting, keep=1), 2)
    301.02
    """
    chain = Chain("expected_trees", scenario, n_features, subspace, n_relevant, keep)
    remaining = np.zeros(chain.r + 1)
    for i in range(chain.r - 1, -1, -1):
        jumps = chain.row(i)[1:]
        moves = jumps > 0.0
        leave = float(jumps.sum())
        # Division by hand: a probability that underflows stands for a number beyond all doubles.
        later = float(jumps[moves] @ remaining[i + 1 :][moves])
        remaining[i] = (1.0 + later) / leave if leave > 1e-308 else math.inf
    return float(remaining[0])


def trees_to_find_all(
    scenario: Scenario,
    *,
    n_features: int,
    subspace: int,
    n_relevant: int,
    keep: float,
    risk: float = 0.05,
) -> float:
    r"""Compute the number of trees that find every relevant feature, but for a small risk.

    The smallest t with :math:`(P^t)_{0r} \ge 1 - \delta`, exactly.

    Parameters
    ----------
    scenario, n_features, subspace, n_relevant, keep
        As for `expected_trees`.
    risk : float, default=0.05
        Probability :math:`\delta`, in (0, 1), that some feature is not found by then.

    Returns
    -------
    int, or infinity
        Infinity where `expected_trees` is.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or r is too large for a transition matrix.

    Examples
    --------
    >>> from duramen.theory.subspaces import trees_to_find_all
    >>> trees_to_find_all("chain", n_features=10_000, subspace=100, n_relevant=3, keep=1)
    632
    """
    function = "trees_to_find_all"
    chain = Chain(function, scenario, n_features, subspace, n_relevant, keep)
    allowed = check_real(function, "risk", risk, 0.0, 1.0, ends="()")
    # A probability of exactly 1 - risk is enough, on whichever side rounding puts it.
    wanted = 1.0 - allowed - min(_ROUNDING, 1e-3 * allowed)
    expected = expected_trees(
        scenario, n_features=chain.p, subspace=chain.q, n_relevant=chain.r, keep=keep
    )
    if expected == inf:
        return inf
    # Powers less the identity, so that a probability of 1e-30 is not lost beside 1.
    powers = [chain.matrix(function)]
    np.fill_diagonal(powers[0], 0.0)
    np.fill_diagonal(powers[0], -powers[0].sum(axis=1))
    while powers[-1][0, -1] < wanted:
        powers.append(2.0 * powers[-1] + powers[-1] @ powers[-1])
    trees, so_far = 0, np.zeros_like(powers[0])
    for exponent in range(len(powers) - 1, -1, -1):
        power = powers[exponent]
        longer = so_far + power + so_far @ power
        if longer[0, -1] < wanted:
            trees, so_far = trees + (1 << exponent), longer
    return trees + 1


def transition_matrix(
    scenario: Scenario, *, n_features: int, subspace: int, n_relevant: int, keep: float
) -> FloatArray:
    """Compute the probabilities that i features found become j after one more tree.

    Parameters
    ----------
    scenario, n_features, subspace, n_relevant, keep
        As for `expected_trees`.

    Returns
    -------
    ndarray of float64, shape (r + 1, r + 1)
        Upper triangular, rows sum to 1.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the matrix would be too large.

    Examples
    --------
    >>> from duramen.theory.subspaces import transition_matrix
    >>> setting = dict(n_features=4, subspace=2, n_relevant=2, keep=1)
    >>> transition_matrix("clique", **setting).round(3).tolist()
    [[0.833, 0.167, 0.0], [0.0, 0.833, 0.167], [0.0, 0.0, 1.0]]
    """
    function = "transition_matrix"
    return Chain(function, scenario, n_features, subspace, n_relevant, keep).matrix(function)


def companions_probability(n_features: int, subspace: int, degree: int) -> float:
    r"""Compute the probability that a random subspace holds a feature and its k companions.

    .. math:: \binom{p-k-1}{q-k-1} \Big/ \binom{p}{q} = \prod_{l=0}^{k} \frac{q-l}{p-l}

    One over it is the expected number of RS trees that a feature of degree k takes, at least.

    Parameters
    ----------
    n_features : int
        Number p of features.
    subspace : int
        Number q of features that a tree is grown on.
    degree : int
        Number k of features that the one looked for needs beside it, below p.

    Returns
    -------
    float
        0 if k >= q.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Geurts 2016, slides on the convergence of RS; p = 10 000, q = 50, k = 1: one in 40 812.

    Examples
    --------
    >>> from duramen.theory.subspaces import companions_probability
    >>> round(1 / companions_probability(10_000, 50, degree=1))
    40812
    """
    function = "companions_probability"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    q = check_integer(function, "subspace", subspace, 1, most=p)
    k = check_integer(function, "degree", degree, 0, most=p - 1)
    return float(np.prod(ratio_of_places(p, q, np.arange(k + 1))))


def blind_probability(n_features: int, subspace: int, n_relevant: int) -> float:
    r"""Compute the probability that a random subspace holds no relevant feature.

    .. math:: \binom{p-r}{q} \Big/ \binom{p}{q}

    Parameters
    ----------
    n_features, subspace, n_relevant : int
        Numbers p, q and r.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Sutera et al. 2018, example 1; p = 10 000, q = 50, r = 10: 95 % of the trees.

    Examples
    --------
    >>> from duramen.theory.subspaces import blind_probability
    >>> round(blind_probability(10_000, 50, n_relevant=10), 3)
    0.951
    """
    function = "blind_probability"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    q = check_integer(function, "subspace", subspace, 1, most=p)
    r = check_integer(function, "n_relevant", n_relevant, 0, most=p)
    few, many = sorted((q, r))
    return float(np.prod(ratio_of_places(p, p - many, np.arange(few))))


def found_curve(
    scenario: Scenario,
    *,
    n_features: int,
    subspace: int,
    n_relevant: int,
    keep: float,
    n_trees: int,
) -> FloatArray:
    """Compute the expected number of relevant features found after 0 .. `n_trees` trees.

    Parameters
    ----------
    scenario, n_features, subspace, n_relevant, keep
        As for `expected_trees`.
    n_trees : int
        Last number of trees.

    Returns
    -------
    ndarray of float64, shape (n_trees + 1,)
        Starts at 0 and rises towards r, or towards what can be found.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or r is too large for a transition matrix.

    Notes
    -----
    Sutera et al. 2018, Figure 1; thesis, Figure 7.3.1 and appendix 7.B.3. A tree number is written
    as b + B k, so that some 3 sqrt(n_trees) vectors are enough for the whole curve.

    Examples
    --------
    >>> from duramen.theory.subspaces import found_curve
    >>> setting = dict(n_features=4, subspace=2, n_relevant=2, keep=1)
    >>> found_curve("clique", **setting, n_trees=3).round(3).tolist()
    [0.0, 0.167, 0.333, 0.495]
    """
    function = "found_curve"
    length = check_integer(function, "n_trees", n_trees, 0, most=inf) + 1
    matrix = Chain(function, scenario, n_features, subspace, n_relevant, keep).matrix(function)
    block = 1 << math.isqrt(length).bit_length()
    number = np.arange(matrix.shape[0], dtype=np.float64)[np.newaxis]
    within, leap = _successive(number, matrix.T, block)
    leaps, _ = _successive(np.eye(1, matrix.shape[0]), leap.T, -(-length // block))
    curve = (leaps @ within.T).ravel()[:length]
    # The curve rises to r at most, but for rounding.
    return np.asarray(np.minimum(np.maximum.accumulate(curve), n_relevant))


def _successive(start: FloatArray, matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return start @ matrix^t for t < count, a row each, and the first matrix^(2^k) not below it.

    The rows are doubled: those from n on are the first n times matrix^n.
    """
    rows, power = start, matrix
    while rows.shape[0] < count:
        rows = np.concatenate([rows, rows @ power])
        power = power @ power
    return rows[:count], power


# A transition matrix larger than this is refused.
_MOST_CELLS = 2**26


def kept_places(subspace: int, keep: float) -> int:
    """Return floor(keep * subspace): the most places that features found before may take."""
    places = keep * subspace
    near = round(places)
    return near if abs(places - near) < 1e-9 * subspace else math.floor(places)


def ratio_of_places(p: int, q: int, place: IntArray) -> FloatArray:
    """Return (q-l)/(p-l) for every l, and 0 from l = q on."""
    return np.asarray(np.maximum(q - place, 0) / (p - place))


def hypergeometric(total: int, marked: int, drawn: int) -> FloatArray:
    """Return the hypergeometric distribution: marked ones among `drawn` of `total`, from 0 on.

    Ratios of neighbors are multiplied from the mode on to both sides and the result is divided by
    its sum, so that no factorial is needed and each value keeps its relative precision.
    """
    least, most = max(0, drawn + marked - total), min(marked, drawn)
    mode = min(most, max(least, ((drawn + 1) * (marked + 1)) // (total + 2)))
    k = np.arange(mode, most, dtype=np.float64)
    up = (marked - k) / (k + 1) * ((drawn - k) / (total - marked - drawn + k + 1))
    k = np.arange(mode, least, -1, dtype=np.float64)
    down = k / (marked - k + 1) * ((total - marked - drawn + k) / (drawn - k + 1))
    probabilities = np.zeros(most + 1)
    probabilities[mode] = 1.0
    probabilities[mode + 1 :] = np.cumprod(up)
    probabilities[least:mode] = np.cumprod(down)[::-1]
    return np.asarray(probabilities / probabilities.sum())


class Chain:
    """Markov chain of the number of features found, in one setting; rows are made one by one."""

    def __init__(
        self,
        function: str,
        scenario: str,
        n_features: int,
        subspace: int,
        n_relevant: int,
        keep: float,
    ) -> None:
        if scenario not in ("chain", "clique", "marginal"):
            hint = "for others, give their conditionings to simulate"
            raise refuse(function, "scenario", "'chain', 'clique' or 'marginal'", scenario, hint)
        self.scenario = scenario
        self.p = check_integer(function, "n_features", n_features, 1, most=inf)
        self.q = check_integer(
            function, "subspace", subspace, 1, most=self.p, hint="it holds at most all features"
        )
        self.r = check_integer(function, "n_relevant", n_relevant, 1, most=self.p)
        self.places = kept_places(self.q, check_real(function, "keep", keep, 0.0, 1.0))

    def row(self, i: int) -> FloatArray:
        r"""Return the probabilities that i, i+1, .., r features are found after the next tree.

        With a places taken by features that were found before, :math:`P(i \to j)` for j > i is

        .. math::

            \text{chain} &: \binom{p-j-1}{q-j} \Big/ \binom{p-a}{q-a} \; (j < r), \quad
            \binom{p-r}{q-r} \Big/ \binom{p-a}{q-a} \; (j = r)

            \text{clique} &: \frac{r-i}{r} \binom{p-r}{q-r} \Big/ \binom{p-a}{q-a} \; (j = i+1)

            \text{marginal} &: \binom{r-i}{j-i} \binom{p-a-r+i}{q-a-j+i} \Big/ \binom{p-a}{q-a}
        """
        p, q, r, a = self.p, self.q, self.r, min(self.places, i)
        step = np.zeros(r - i + 1)
        if self.scenario == "marginal":
            probabilities = hypergeometric(p - a, r - i, q - a)
            step[: probabilities.size] = probabilities
        elif i == r:
            step[0] = 1.0
        elif self.scenario == "chain":
            all_of = np.append(1.0, np.cumprod(ratio_of_places(p, q, np.arange(a, r))))[i - a :]
            step = all_of * np.append((p - q) / (p - np.arange(i, r)), 1.0)
            # With feature i+1 missing, or some of those found that it needs, nothing new is found.
            step[0] = 1.0 - all_of[1]
        else:
            step[1] = float(np.prod(ratio_of_places(p, q, np.arange(a, r)))) * (r - i) / r
            step[0] = 1.0 - step[1]
        return step

    def matrix(self, function: str) -> FloatArray:
        """Return the transition matrix."""
        cells = (self.r + 1) ** 2
        if cells > _MOST_CELLS:
            raise ValueError(
                f"{function}: a matrix of {self.r + 1} by {self.r + 1} numbers would be needed; "
                f"{_MOST_CELLS} are the most. Hint: expected_trees needs no matrix; simulate takes "
                "any number of features."
            )
        matrix = np.zeros((self.r + 1, self.r + 1))
        for i in range(self.r + 1):
            matrix[i, i:] = self.row(i)
        return matrix


# --- coverage of p features by draws of K of them -------------------------------------------------
# The draws are those of split nodes, with K candidates each out of p features, or of trees that
# are each grown on a random subspace of q features (then K is q).


# Decimals to which a probability is computed: enough for the smallest double to be right to its
# last digit, and for a sum of probabilities near 1.
_DECIMALS = 345
_DECIMALS_OF_A_SUM = 40
# Number of features from which on the expected number of draws is an integral.
_MANY = 2_000


def unseen_probability(n_features: int, drawn: int, n_draws: int) -> float:
    r"""Return the probability that a given feature has not been drawn, :math:`(1 - K/p)^M`.

    Parameters
    ----------
    n_features : int
        Number p of features.
    drawn : int
        Number K of features that each draw takes, all different.
    n_draws : int
        Number M of independent draws: the split nodes of a forest, or its random subspaces.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from duramen.theory.subspaces import unseen_probability
    >>> round(unseen_probability(20, 4, n_draws=10), 4)
    0.1074
    """
    function = "unseen_probability"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    K = check_integer(function, "drawn", drawn, 1, most=p)
    M = check_integer(function, "n_draws", n_draws, 0, most=inf)
    if p == K:
        return float(M == 0)
    return math.exp(M * math.log1p(-K / p))


def all_seen_probability(n_features: int, drawn: int, n_draws: int) -> float:
    r"""Return the probability that every feature has been drawn at least once.

    By inclusion and exclusion,

    .. math:: \sum_{s=0}^{p} (-1)^s \binom{p}{s}
        \left[ \binom{p-s}{K} \Big/ \binom{p}{K} \right]^M .

    The terms are far larger than their sum when few features have been seen; they are summed in
    decimal arithmetic with as many digits as that takes.

    Parameters
    ----------
    n_features, drawn, n_draws : int
        Numbers p, K and M as for `unseen_probability`.

    Returns
    -------
    float
        With the precision of a double; 0 if below the smallest one.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from duramen.theory.subspaces.convergence import all_seen_probability
    >>> round(all_seen_probability(20, 4, 25), 5)
    0.92637
    """
    function = "all_seen_probability"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    K = check_integer(function, "drawn", drawn, 1, most=p)
    M = check_integer(function, "n_draws", n_draws, 0, most=inf)
    if p == K:
        return float(M > 0)
    unseen = math.exp(M * math.log1p(-K / p))
    if p * unseen < 2.0**-54:  # the expected number of unseen features is lost beside 1
        return 1.0
    # That a feature is seen makes it less likely that others are: the product is an upper bound.
    if p > K * M or p * math.log1p(-unseen) < -745.0:
        return 0.0
    return min(1.0, max(0.0, float(1 - _some_unseen(p, K, M, _DECIMALS))))


def _some_unseen(p: int, K: int, M: int, decimals: int) -> Decimal:
    """Return the probability that some feature has not been drawn, to `decimals` decimals.

    The terms of the series add up to (1 + (1 - K/p)^M)^p at most: so many digits more are carried.
    """
    with localcontext() as context:
        log = p * math.log1p(math.exp(M * math.log1p(-K / p)))
        context.prec = decimals + 10 + math.ceil(log / math.log(10))
        total, term, smallest = Decimal(0), Decimal(-1), Decimal(10) ** -decimals
        for s in range(1, p - K + 1):
            missed = Decimal(p - K - s + 1) / (p - s + 1)
            term *= -(missed**M) * (p - s + 1) / s
            total += term
            # Terms rise, then fall; a partial sum is off by less than the next term.
            if abs(term) < smallest:
                break
        return +total


def draws_needed(n_features: int, drawn: int, risk: float = 0.05) -> int:
    r"""Return a number of draws after which every feature has been seen, but for a small risk.

    The expected number of features not seen, :math:`p (1 - K/p)^M`, bounds the probability that
    there are any; it is at most :math:`\delta` from :math:`M = \ln(p/\delta) / -\ln(1 - K/p)` on.

    Parameters
    ----------
    n_features, drawn : int
        Numbers p and K as for `unseen_probability`.
    risk : float, default=0.05
        Probability :math:`\delta`, in (0, 1), that some feature is never drawn.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from duramen.theory.subspaces.convergence import draws_needed
    >>> draws_needed(20, 4)
    27
    """
    function = "draws_needed"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    K = check_integer(function, "drawn", drawn, 1, most=p)
    delta = check_real(function, "risk", risk, 0.0, 1.0, ends="()")
    if p == K:
        return 1
    number = math.log(p / delta) / -math.log1p(-K / p)
    near = round(number)
    return max(1, near if abs(number - near) <= _ROUNDING * number else math.ceil(number))


def expected_draws(n_features: int, drawn: int) -> float:
    r"""Return the expected number of draws until every feature has been seen.

    The coupon collector with K coupons a draw, :math:`\sum_{M \ge 0} f(M)` with f the probability
    that some feature is unseen after M draws.

    Parameters
    ----------
    n_features, drawn : int
        Numbers p and K as for `unseen_probability`.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Up to 2000 features it comes from the Markov chain of `expected_trees` in which all p features
    are marginally relevant. Beyond, f is close to :math:`1 - \exp(-p\, e^{-MK/p})`, which changes
    over p/K draws: a sum over every h-th M, times h, equals the sum over all M with a relative
    error of about :math:`e^{-\pi^2 p / (K h)}` (Poisson's summation formula), 1e-17 for h = p/(4K).

    Examples
    --------
    >>> from duramen.theory.subspaces import expected_draws
    >>> round(expected_draws(20, 4), 2)
    16.95
    """
    function = "expected_draws"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    K = check_integer(function, "drawn", drawn, 1, most=p)
    if p <= _MANY or p == K:
        return expected_trees("marginal", n_features=p, subspace=K, n_relevant=p, keep=0)
    step = max(1, p // (4 * K))
    # Up to here all features are seen with a probability below exp(-45).
    start = math.floor(math.log(p / 45.0) / -math.log1p(-K / p))
    total, M, some_unseen = 0.0, start, 1.0
    while some_unseen > 1e-18:
        M += step
        some_unseen = float(_some_unseen(p, K, M, _DECIMALS_OF_A_SUM))
        total += some_unseen
    return start + 0.5 + step * (0.5 + total)
