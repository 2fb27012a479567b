"""Shapley effects and interactions: information on Y, attributed to features and pairs of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from duramen.results.importances import Importances
from duramen.results.pair_interactions import PairInteractions
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.distributions.information import CRITERIA, Criterion
from duramen.theory.population.importances import UNITS, importances_of, importances_record
from duramen.theory.population.lattice import HOURS, Progress, lattice_importances


def shapley_effects(
    dist: FiniteDistribution,
    *,
    criterion: Criterion = "entropy",
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
    n_jobs: int | None = None,
) -> Importances:
    r"""Compute the Shapley values of what the features tell about Y together.

    .. math::

        \phi_m = \sum_{B \subseteq V^{-m}} \frac{|B|!\,(p-|B|-1)!}{p!} \, (v(B + X_m) - v(B)),
        \qquad v(S) = i(Y) - i(Y | S)

    For the entropy v is the mutual information I(S;Y), for the variance that of E(Y|S), with which
    these are the Shapley effects of Owen (2014), not divided by the variance of Y. The weights are
    those of MDI in infinitely many totally randomized multiway trees: the values are those of
    `population_importances` (Louppe et al. 2013, eq. 3; Sutera et al. 2021).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity i: in bits, Gini's index, or the variance of a numeric Y.
    progress : callable, optional
        Called with the fraction of the work done, from 0 to 1.
    max_hours : float, optional
        A sum that is estimated to take longer is refused; None refuses nothing.
    n_jobs : int, optional
        Number of threads; None is 1, -1 all processors. The result does not depend on it.

    Returns
    -------
    Importances
        ``measure="shapley effect"``; the values add up to v(V).

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, the variance is asked for and Y is not numeric, or the
        computation would be too long.

    References
    ----------
    A. B. Owen (2014). Sobol' indices and Shapley value. SIAM/ASA Journal on Uncertainty
    Quantification 2.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.shapley_effects(dm.theory.examples.noisy_copy(0.05)).values.round(3).tolist()
    [0.262, 0.262, 0.476]
    """
    by_degree = lattice_importances(
        dist,
        criterion=criterion,
        n_jobs=n_jobs,
        progress=progress,
        max_hours=max_hours,
        function="shapley_effects",
    )
    settings = {"criterion": criterion}
    result = importances_of(dist, by_degree, criterion, settings, measure="shapley effect")
    return replace(result, by_degree=None)


def population_interactions(
    dist: FiniteDistribution,
    *,
    criterion: Criterion = "entropy",
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
    n_jobs: int | None = None,
) -> PairInteractions:
    r"""Compute the Shapley interaction index of what the features tell about Y, for every pair.

    .. math::

        I_{mj} = \frac{1}{p-1} \sum_{k=0}^{p-2} \frac{1}{C_{p-2}^k}
        \sum_{B \in \mathcal{P}_k(V \setminus \{X_m, X_j\})}
        I(X_m; Y | B, X_j) - I(X_m; Y | B)

    (Grabisch and Roubens 1999), for other criteria than the entropy with the decrease of impurity
    in place of the information. It is symmetric: positive for synergy, where a feature tells more
    once the other is known, negative for redundancy. The interactions of a feature add up to
    :math:`I(X_m; Y | V^{-m}) - I(X_m; Y)`.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.
    progress : callable, optional
        Called with the fraction of the features done, from 0 to 1.
    max_hours : float, optional
        The time that all sums may be estimated to take, an equal part for each feature; None
        refuses nothing.
    n_jobs : int, optional
        Number of threads; None is 1, -1 all processors. The result does not depend on it.

    Returns
    -------
    PairInteractions
        ``measure="population interaction"``.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, the variance is asked for and Y is not numeric, or the
        computation would be too long.

    Notes
    -----
    The interaction of m and j is the Shapley value of m where X_j is known, less that where X_j is
    left out: a sum over the subsets of the other p - 1 features for each j, in all p^2 numbers for
    each of 2^p subsets at most.

    References
    ----------
    M. Grabisch, M. Roubens (1999). An axiomatic approach to the concept of interaction among
    players in cooperative games. International Journal of Game Theory 28.

    Examples
    --------
    >>> import duramen as dm
    >>> pairs = dm.theory.population_interactions(dm.theory.examples.noisy_copy(0.05))
    >>> round(pairs["X1", "X2"], 2), round(pairs["X1", "X3"], 2)
    (0.64, -0.36)
    """
    function = "population_interactions"
    check_distribution(function, dist)
    check_choice(function, "criterion", criterion, CRITERIA)
    dist.numbers_of_classes(function, criterion)
    p = dist.n_features
    values = np.zeros((p, p))
    for j in range(p if p > 1 else 0):
        others = [m for m in range(p) if m != j]
        part = partial(
            _effects,
            function,
            criterion=criterion,
            max_hours=None if max_hours is None else max_hours / p,
            n_jobs=n_jobs,
        )
        values[others, j] = -part(dist.marginal(others, keep_context=False))
        for code, label in enumerate(dist.labels[j].tolist()):
            probability = float(dist.weights[dist.codes[:, j] == code].sum())
            conditioned = dist.conditioned({j: label}).marginal(range(p - 1), keep_context=False)
            values[others, j] += probability * part(conditioned)
        if progress is not None:
            progress((j + 1) / p)
    return PairInteractions(
        names=dist.names,
        values=(values + values.T) / 2.0,
        measure="population interaction",
        unit=UNITS[criterion],
        metadata=importances_record(dist, {"criterion": criterion}),
    )


def _effects(function: str, dist: FiniteDistribution, **options: Any) -> FloatArray:
    """Return the Shapley effects of a distribution of some features, shape (q,)."""
    effects: FloatArray = lattice_importances(dist, function=function, **options).sum(axis=1)
    return effects
