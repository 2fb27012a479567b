r"""Coverage of p features by draws of K of them: probabilities and numbers of draws.

The draws are those of split nodes, with K candidates each out of p features, or of trees that are
each grown on a random subspace of q features (then K is q).
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from math import inf

from duramen.support.checks import check_integer, check_real
from duramen.theory.subspaces.convergence import expected_trees, rounded_up

# Decimals to which a probability is computed: enough for the smallest double to be right to its
# last digit, and for a sum of probabilities near 1.
_DECIMALS = 345
_DECIMALS_OF_A_SUM = 40
# From so many features on, the expected number of draws is an integral.
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
    p, K, M = _checked("unseen_probability", n_features, drawn, n_draws)
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
    >>> from duramen.theory.subspaces.coverage import all_seen_probability
    >>> round(all_seen_probability(20, 4, 25), 5)
    0.92637
    """
    p, K, M = _checked("all_seen_probability", n_features, drawn, n_draws)
    if p == K:
        return float(M > 0)
    unseen = unseen_probability(p, K, M)
    # That a feature is seen makes it less likely that others are: the product is an upper bound.
    if p > K * M or p * math.log1p(-unseen) < -745.0:
        return 0.0
    return min(1.0, max(0.0, float(1 - _some_unseen(p, K, M, _DECIMALS))))


def _some_unseen(p: int, K: int, M: int, decimals: int) -> Decimal:
    """Return the probability that some feature has not been drawn, to so many decimals.

    The terms of the series add up to (1 + (1 - K/p)^M)^p at most: so many digits more are carried.
    """
    unseen = unseen_probability(p, K, M)
    with localcontext() as context:
        context.prec = decimals + 10 + math.ceil(p * math.log1p(unseen) / math.log(10))
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
    >>> from duramen.theory.subspaces.coverage import draws_needed
    >>> draws_needed(20, 4)
    27
    """
    p, K, _ = _checked("draws_needed", n_features, drawn, 0)
    delta = check_real("draws_needed", "risk", risk, 0.0, 1.0, ends="()")
    if p == K:
        return 1
    return max(1, rounded_up(math.log(p / delta) / -math.log1p(-K / p)))


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
    p, K, _ = _checked("expected_draws", n_features, drawn, 0)
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


def _checked(function: str, n_features: int, drawn: int, n_draws: int) -> tuple[int, int, int]:
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    K = check_integer(function, "drawn", drawn, 1, most=p, hint="a draw takes different features")
    return p, K, check_integer(function, "n_draws", n_draws, 0, most=inf)
