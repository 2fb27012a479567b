r"""Total Sobol indices: the fraction of the variance of Y that no other feature explains.

.. math:: ST_j = \frac{E \operatorname{Var}(Y | V^{-j}) - E \operatorname{Var}(Y | V)}
   {\operatorname{Var} Y}

With independent features and Y a function of them this is the index of Homma and Saltelli (1996);
for dependent ones it is that of Bénard, Da Veiga and Scornet (2022), which Sobol-MDA estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice, check_real, refuse
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.information import Criterion
from duramen.theory.distributions.variables import Variable
from duramen.theory.population.importances import importances_record
from duramen.theory.population.permutation import Groups, checked_matrix, members_of

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
    dist.numbers_of_classes(function, criterion)
    if feature_groups is None:
        names, members = dist.names, [[m] for m in range(dist.n_features)]
    else:
        names = tuple(map(str, feature_groups))
        members = [sorted(dist.indices(group)) for group in feature_groups.values()]
    variance = dist.impurity(criterion=criterion)
    values = np.zeros(len(members))
    for place, group in enumerate(members):
        rest = [m for m in range(dist.n_features) if m not in group]
        values[place] = dist.impurity_decrease(group, rest, criterion=criterion)
    return Importances(
        names=names,
        values=values / variance if variance > 0.0 else np.zeros(len(members)),
        measure="total Sobol index",
        unit=UNIT,
        metadata=importances_record(dist, {"criterion": criterion}),
    )


def gaussian_total_sobol_indices(
    covariance: ArrayLike,
    with_target: ArrayLike,
    target_variance: float,
    *,
    names: Sequence[str] | None = None,
    feature_groups: Groups | None = None,
) -> Importances:
    r"""Compute the total Sobol indices when features and target are jointly Gaussian.

    .. math:: ST_J = \frac{\alpha_J' \, \bigl((C^{-1})_{JJ}\bigr)^{-1} \alpha_J}
       {\operatorname{Var} Y}, \qquad \alpha = C^{-1} \tau

    where the matrix in the middle is the covariance of the features J given all others.

    Parameters
    ----------
    covariance : array_like, shape (p, p)
        Covariance matrix C of the features, positive definite.
    with_target : array_like, shape (p,)
        Covariance :math:`\tau` of each feature with the target.
    target_variance : float
        Variance of Y, at least :math:`\tau' C^{-1} \tau`.
    names, feature_groups
        As for `additive_mda`.

    Returns
    -------
    Importances

    Raises
    ------
    ValueError
        If `covariance` is not symmetric and positive definite, shapes disagree, or
        `target_variance` is smaller than the features explain.

    Examples
    --------
    >>> from duramen.theory.population import gaussian_total_sobol_indices
    >>> gaussian_total_sobol_indices([[1, 0.6], [0.6, 1]], [0.5, 0.3], 1.0).values.round(6).tolist()
    [0.16, 0.0]
    """
    function = "gaussian_total_sobol_indices"
    C = checked_matrix(function, np.asarray(covariance, dtype=np.float64), definite=True)
    tau = np.asarray(with_target, dtype=np.float64)
    if tau.shape != (len(C),) or not np.all(np.isfinite(tau)):
        raise refuse(function, "with_target", f"{len(C)} finite numbers", with_target)
    precision: FloatArray = np.linalg.inv(C).astype(np.float64, copy=False)
    alpha = precision @ tau
    check_real(function, "target_variance", target_variance, 0.0)
    if target_variance < (alpha @ tau) * (1.0 - 1e-12) or target_variance == 0.0:
        allowed = f"at least the {alpha @ tau:.6g} that the features explain"
        raise refuse(function, "target_variance", allowed, target_variance)
    labels, members = members_of(function, len(C), names, feature_groups)
    values = [
        float(alpha[group] @ np.linalg.solve(precision[np.ix_(group, group)], alpha[group]))
        for group in members
    ]
    return Importances(
        names=labels,
        values=np.array(values) / target_variance,
        measure="total Sobol index",
        unit=UNIT,
        metadata={"model": "Gaussian"},
    )
