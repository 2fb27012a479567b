"""Shapley effects, interactions of pairs, and local importances of infinitely many trees."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import coded_columns
from duramen.results.importances import Importances
from duramen.results.local_importances import LocalImportances
from duramen.results.pair_interactions import PairInteractions
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    check_distribution,
    code_of,
)
from duramen.theory.distributions.information import Criterion
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
    r"""Compute the Shapley values of the information of all features about Y.

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
    r"""Compute the Shapley interaction index of the information about Y for every pair.

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
    dist.centered_numbers(function, criterion)
    p = dist.n_features
    values = np.zeros((p, p))
    options: dict[str, Any] = {
        "criterion": criterion,
        "max_hours": None if max_hours is None else max_hours / max(1, p),
        "n_jobs": n_jobs,
        "function": function,
    }
    for j in range(p if p > 1 else 0):
        others = [m for m in range(p) if m != j]
        without = dist.marginal(others, keep_context=False)
        values[others, j] = -lattice_importances(without, **options).sum(axis=1)
        for code, label in enumerate(dist.labels[j].tolist()):
            probability = float(dist.weights[dist.codes[:, j] == code].sum())
            conditioned = dist.conditioned({j: label}).marginal(range(p - 1), keep_context=False)
            of_value = lattice_importances(conditioned, **options).sum(axis=1)
            values[others, j] += probability * of_value
        if progress is not None:
            progress((j + 1) / p)
    return PairInteractions(
        names=dist.names,
        values=(values + values.T) / 2.0,
        measure="population interaction",
        unit=UNITS[criterion],
        metadata=importances_record(dist, {"criterion": criterion}),
    )


_FUNCTION = "population_local_mdi"
_MOST_NUMBERS = 1 << 27  # subsets times classes: 1 GiB


def population_local_mdi(
    dist: FiniteDistribution, rows: Any = None, *, criterion: Criterion = "entropy"
) -> LocalImportances:
    r"""Compute local MDI in infinitely many totally randomized multiway trees.

    .. math::

        Imp(X_m; x) = \sum_{k=0}^{p-1} \frac{1}{C_p^k (p-k)} \sum_{B \in \mathcal{P}_k(V^{-m})}
        i(Y | B = x_B) - i(Y | B = x_B, X_m = x_m)

    with the impurity i of Y given the values of x (Sutera et al. 2021, theorem 3): the Shapley
    values of the game :math:`v(S; x) = i(Y) - i(Y | V_S = x_S)`. Their mean over the rows is MDI
    (`population_importances`).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    rows : table of shape (n, p), optional
        Values of the features in the rows to explain, of positive probability; by default the rows
        of the distribution.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.

    Returns
    -------
    LocalImportances
        ``measure="population local mdi"``; those of a row add up to i(Y) - i(Y|x).

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, a row has the probability 0, or there are too many features:
        2^p times the number of classes must not be above 2^27.

    References
    ----------
    A. Sutera, G. Louppe, V. A. Huynh-Thu, L. Wehenkel, P. Geurts (2021). From global to local MDI
    variable importances for random forests and when they are Shapley values. NeurIPS 34.

    Examples
    --------
    >>> import duramen as dm
    >>> dist = dm.theory.examples.noisy_copy(0.05)
    >>> local = dm.theory.population_local_mdi(dist, [[0, 1, 1], [0, 1, 0]])
    >>> local.values.round(3).tolist()
    [[0.262, 0.262, 0.476], [0.262, 0.262, 0.476]]
    """
    check_distribution(_FUNCTION, dist)
    numbers = dist.centered_numbers(_FUNCTION, criterion)
    if dist.n_classes << dist.n_features > _MOST_NUMBERS:
        raise ValueError(
            f"{_FUNCTION}: 2^{dist.n_features} sets of features times {dist.n_classes} classes are "
            "more than 2^27. Hint: leave features out with dist.marginal."
        )
    codes, weights = dist.codes, dist.weights
    if rows is not None:
        table = coded_columns(rows, None, _FUNCTION)
        n, p = table.n_rows, len(table.codes)
        if p != dist.n_features or not n:
            raise ValueError(
                f"{_FUNCTION}: rows must have the shape (n, {dist.n_features}) with n above 0, got "
                f"({n}, {p})."
            )
        codes, weights = np.empty((n, p), dtype=np.uint32), np.full(n, 1.0 / n)
        for j, (column, labels) in enumerate(zip(table.codes, table.labels, strict=True)):
            code = [code_of(dist.names[j], dist.labels[j], label) for label in labels.tolist()]
            codes[:, j] = np.array(code, dtype=np.uint32)[column]
    distinct, first, place = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    values, start = np.empty(distinct.shape), np.empty(len(distinct))
    for number, x in enumerate(distinct):
        worth = _worths(dist, criterion, numbers, x)
        if np.isnan(worth[-1]):
            raise ValueError(
                f"{_FUNCTION}: rows must have positive probability, got row {first[number]} that "
                "no row of the distribution equals. Hint: local_mdi explains any row in a forest."
            )
        values[number], start[number] = shapley_values(worth), worth[0]
    return LocalImportances(
        names=dist.names,
        values=values[place.ravel()],
        measure="population local mdi",
        unit=UNITS[criterion],
        weights=weights,
        start=start[place.ravel()],
        metadata=importances_record(dist, {"criterion": criterion}),
    )


def _worths(
    dist: FiniteDistribution, criterion: str, numbers: FloatArray, x: NDArray[np.uint32]
) -> FloatArray:
    """Return the worth of each set of features; bit j of its number is set if j is in it.

    It is the negative impurity given the values of x; NaN at sets whose values have the
    probability 0.
    """
    p = dist.n_features
    # The sets on which a row agrees with x are the subsets of one: sums over supersets.
    agrees = (dist.codes == x) @ (np.int64(1) << np.arange(p, dtype=np.int64))
    mass = np.zeros((1 << p, dist.n_classes))
    np.add.at(mass, (agrees, dist.target), dist.weights)
    for j in range(p):
        halves = mass.reshape(-1, 2, 1 << j, dist.n_classes)
        halves[:, 0] += halves[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        fractions: FloatArray = mass / mass.sum(axis=1, keepdims=True)
    if criterion == "variance":
        means = fractions @ numbers
        return np.asarray(-np.sum(fractions * (numbers - means[:, np.newaxis]) ** 2, axis=1))
    if criterion == "gini":
        return np.asarray(np.sum(fractions * fractions, axis=1) - 1.0)
    logs = np.log2(fractions, out=np.zeros_like(fractions), where=fractions > 0)
    return np.where(np.isnan(fractions[:, 0]), np.nan, np.sum(fractions * logs, axis=1))


def shapley_values(worths: FloatArray) -> FloatArray:
    r"""Compute the Shapley values of p players from the worths of all 2^p sets.

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{1}{p \, C_{p-1}^{|S|}} (v(S + j) - v(S))

    Bit j of the number of a set tells whether player j is in it.
    """
    p = len(worths).bit_length() - 1
    sizes = np.bitwise_count(np.arange(1 << p, dtype=np.uint64)).astype(np.intp)
    of_size = np.array([1 / (p * comb(p - 1, k)) for k in range(p)] + [0.0])
    weights = of_size[sizes]
    values = np.empty(p)
    for j in range(p):
        worth, weight = (array.reshape(-1, 2, 1 << j) for array in (worths, weights))
        values[j] = np.sum(weight[:, 0] * (worth[:, 1] - worth[:, 0]))
    return values
