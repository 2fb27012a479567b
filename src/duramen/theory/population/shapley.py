"""Shapley effects: information or variance of Y, attributed to the features."""

from __future__ import annotations

from dataclasses import replace

from duramen.results.importances import Importances
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.information import Criterion
from duramen.theory.population.importances import importances_of
from duramen.theory.population.lattice import HOURS, Progress, lattice_importances


def shapley_effects(
    dist: FiniteDistribution,
    *,
    criterion: Criterion = "entropy",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
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
    n_jobs : int, optional
        Number of threads; None is 1, -1 all processors. The result does not depend on it.
    progress : callable, optional
        Called with the fraction of the work done, from 0 to 1.
    max_hours : float, optional
        A sum that is estimated to take longer is refused; None refuses nothing.

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
