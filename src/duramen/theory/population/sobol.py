"""Total Sobol indices, and the permutation importances of additive and Gaussian models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice, check_integer, check_real, places_of, refuse
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    Variable,
    check_distribution,
)
from duramen.theory.distributions.information import Criterion
from duramen.theory.population.importances import importances_record

CRITERIA = ("variance", "gini")
UNIT = "total Sobol index"


def total_sobol_indices(
    dist: FiniteDistribution,
    *,
    criterion: Criterion = "variance",
    feature_groups: Mapping[str, Sequence[Variable]] | None = None,
) -> Importances:
    r"""Compute the total Sobol index of each feature, exactly.

    .. math:: ST_j = \frac{E \operatorname{Var}(Y | V^{-j}) - E \operatorname{Var}(Y | V)}
       {\operatorname{Var} Y}

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    criterion : {"variance", "gini"}, default="variance"
        "variance" of a numeric Y; "gini" for classes: the variances of the indicators of all
        classes are added up.
    feature_groups : mapping of str to features, optional
        Features that are left out together; the result then has one value a group.

    Returns
    -------
    Importances
        ``measure="total Sobol index"``, each in [0, 1]; all are 0 where Y is constant.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If `criterion` is not allowed, needs a numeric Y, or a group names a feature that is not
        there.

    Notes
    -----
    It is :func:`~duramen.theory.population.last_level_importances` divided by the impurity of Y.
    The values of two copies are 0, those of the two features of an xor are 1 each.

    References
    ----------
    C. Bénard, S. Da Veiga, E. Scornet (2022). Mean decrease accuracy for random forests:
    inconsistency, and a practical solution via the Sobol-MDA. Biometrika 109(4). T. Homma,
    A. Saltelli (1996). Importance measures in global sensitivity analysis of nonlinear models.
    Reliability Engineering and System Safety 52.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.total_sobol_indices(dm.theory.examples.xor()).values.tolist()
    [1.0, 1.0]
    """
    function = "total_sobol_indices"
    check_distribution(function, dist)
    check_choice(function, "criterion", criterion, CRITERIA)
    dist.centered_numbers(function, criterion)
    groups = feature_groups or {name: [name] for name in dist.names}
    variance = dist.impurity(criterion=criterion)
    values = np.zeros(len(groups))
    for place, group in enumerate(map(dist.indices, groups.values())):
        rest = [m for m in range(dist.n_features) if m not in group]
        values[place] = dist.impurity_decrease(sorted(group), rest, criterion=criterion)
    return Importances(
        names=tuple(map(str, groups)),
        values=values / variance if variance > 0.0 else np.zeros(len(groups)),
        measure="total Sobol index",
        unit=UNIT,
        metadata=importances_record(dist, {"criterion": criterion}),
    )


Groups = Mapping[str, Sequence[int | str]]

# Differences of correlations up to this count as rounding.
_ROUNDING = 1e-10


def additive_mda(
    covariance: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    feature_groups: Groups | None = None,
) -> Importances:
    r"""Compute the population MDA of an additive model, of single features or of groups.

    Parameters
    ----------
    covariance : array_like, shape (p,) or (p, p)
        Variances of the p components :math:`f_j(X_j)`, or their covariance matrix, which groups
        need.
    names : sequence of str, optional
        Names of the features; ``x0``, ``x1`` ... by default.
    feature_groups : mapping of str to sequences of int or str, optional
        Features, by index or name, that are permuted together; one value a group is returned then.

    Returns
    -------
    Importances
        With measure ``"population mda"`` and unit ``"variance"``: a rise of squared error.

    Raises
    ------
    ValueError
        If `covariance` is not symmetric or has a negative eigenvalue, or a group names a feature
        that is not there.

    Examples
    --------
    Y = X1 - X2, where X2 equals X1: the two together do not matter.

    >>> from duramen.theory.population.sobol import additive_mda
    >>> covariance = [[1, -1], [-1, 1]]
    >>> additive_mda(covariance).values.tolist()
    [2.0, 2.0]
    >>> additive_mda(covariance, feature_groups={"both": [0, 1]}).values.tolist()
    [0.0]
    """
    function = "additive_mda"
    values = np.asarray(covariance, dtype=np.float64)
    if values.ndim == 1 and feature_groups is not None:
        raise refuse(function, "covariance", "a matrix when there are groups", covariance)
    matrix = _covariances(
        function, np.diag(values) if values.ndim == 1 else values, least=-_ROUNDING
    )
    return _importances(function, matrix, names, feature_groups, "additive")


def gaussian_mda(
    covariance: ArrayLike,
    with_target: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    feature_groups: Groups | None = None,
) -> Importances:
    r"""Compute the population MDA when features and target are jointly Gaussian.

    The best predictor is linear with coefficients :math:`\alpha = C^{-1} \tau`, so that

    .. math:: I_j = 2 \alpha_j^2 \operatorname{Var} X_j, \qquad I_J = 2 \alpha_J' C_{JJ} \alpha_J .

    Parameters
    ----------
    covariance : array_like, shape (p, p)
        Covariance matrix C of the features, positive definite.
    with_target : array_like, shape (p,)
        Covariance :math:`\tau` of each feature with the target.
    names, feature_groups
        As for `additive_mda`.

    Returns
    -------
    Importances

    Raises
    ------
    ValueError
        If `covariance` is not symmetric and positive definite, or shapes disagree.

    Notes
    -----
    After Gregorutti et al. 2017. The same holds for any features when the best predictor is
    linear.

    Examples
    --------
    >>> from duramen.theory.population.sobol import gaussian_mda
    >>> gaussian_mda([[1, 0.6], [0.6, 1]], [0.5, 0.3]).values.round(6).tolist()
    [0.5, 0.0]
    """
    function = "gaussian_mda"
    C = _covariances(function, covariance, least=_ROUNDING)
    tau = np.asarray(with_target, dtype=np.float64)
    if tau.shape != (len(C),) or not np.all(np.isfinite(tau)):
        raise refuse(function, "with_target", f"{len(C)} finite numbers", with_target)
    alpha = np.linalg.solve(C, tau)
    return _importances(function, np.outer(alpha, alpha) * C, names, feature_groups, "Gaussian")


def block_mda(correlation: float, size: int, with_target: float) -> float:
    r"""Compute the population MDA of each of q features that are all equally correlated.

    .. math:: I_j = 2 \left( \frac{\tau}{1 - c + q c} \right)^2

    for features of variance 1: it falls with the number of features and with their correlation.

    Parameters
    ----------
    correlation : float
        Correlation c of any two of them, strictly between -1/(q-1) and 1.
    size : int
        Number q of features.
    with_target : float
        Covariance :math:`\tau` of each of them with the target.

    Returns
    -------
    float
        In units of the target's variance.

    Raises
    ------
    ValueError
        If the matrix of correlations would not be positive definite.

    Notes
    -----
    After Gregorutti et al. 2017.

    Examples
    --------
    >>> from duramen.theory.population.sobol import block_mda
    >>> round(block_mda(0.6, 3, 0.5), 5)
    0.10331
    """
    function = "block_mda"
    q = check_integer(function, "size", size, 1)
    lowest = -1.0 / (q - 1) if q > 1 else -1.0
    c = check_real(function, "correlation", correlation, lowest, 1.0, ends="()")
    tau = check_real(function, "with_target", with_target, -inf)
    return 2.0 * (tau / (1.0 + (q - 1) * c)) ** 2


def _importances(
    function: str,
    parts: FloatArray,
    names: Sequence[str] | None,
    feature_groups: Groups | None,
    model: str,
) -> Importances:
    """Return 2 Var of each component, or of a group's sum, given the covariances of components."""
    p = len(parts)
    features = tuple(f"x{j}" for j in range(p)) if names is None else tuple(names)
    if isinstance(names, str) or len(features) != p:
        raise refuse(function, "names", f"a list of {p} names", names)
    groups = feature_groups or {name: [name] for name in features}
    members = [
        places_of(group, features, f"{function}: group {name!r}") for name, group in groups.items()
    ]
    # A variance that is 0 may come out a little below.
    values = np.array([max(0.0, 2.0 * float(parts[np.ix_(j, j)].sum())) for j in members])
    return Importances(
        names=tuple(groups),
        values=values,
        measure="population mda",
        unit="variance",
        metadata={"model": model},
    )


def _covariances(function: str, covariance: ArrayLike, *, least: float) -> FloatArray:
    """Return a covariance matrix whose correlations have no eigenvalue below `least`."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(
            f"{function}: covariance must be a square matrix, got shape {matrix.shape}."
        )
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{function}: covariance must be finite, but holds nan or infinity.")
    variances = np.diag(matrix)
    scale = np.sqrt(np.where(variances > 0.0, variances, 1.0))
    correlation = matrix / np.outer(scale, scale)
    if np.any(np.abs(correlation - correlation.T) > _ROUNDING):
        raise ValueError(f"{function}: covariance must be symmetric, but is not.")
    lowest = float(np.linalg.eigvalsh(correlation)[0])
    if lowest < least:
        definite = "positive definite" if least > 0.0 else "without negative eigenvalues"
        raise ValueError(
            f"{function}: covariance must be {definite}, but its correlations have the "
            f"eigenvalue {lowest:.3g}. Hint: drop features that others determine."
        )
    return matrix
