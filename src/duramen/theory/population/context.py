"""Compute the effects of a context on the importances of infinitely many trees."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from duramen.results.context_importances import ContextImportances
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice, refuse
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    centered_numbers,
    check_distribution,
)
from duramen.theory.distributions.information import CRITERIA
from duramen.theory.distributions.variables import CONTEXT
from duramen.theory.population.cells import MOST_CELLS, CellWalk
from duramen.theory.population.importances import UNITS, importances_of
from duramen.theory.population.lattice import HOURS, check_depth, lattice_importances

_FUNCTION = "population_context_importances"
_ROUNDING = 1e-13  # a difference of so little is none
_TOLERANCE = 1e-9


def population_context_importances(
    dist: FiniteDistribution,
    *,
    empty: str = "skip",
    criterion: str = "entropy",
    max_depth: int | None = None,
    max_hours: float | None = HOURS,
    max_nodes: int = MOST_CELLS,
    n_jobs: int | None = None,
) -> ContextImportances:
    r"""Compute the effects of a context on the importances of infinitely many trees.

    In totally randomized multiway trees of depth D, grown on all rows without the context
    :math:`X_c`, a set B of k features that does not hold :math:`X_m` has the weight
    :math:`w_k = 1 / (C_p^k (p-k))` for k < D, and

    .. math::

        Imp^{|x_c|}(X_m) &= \sum_B w_{|B|} \sum_b P(b)\, |G(Y;X_m|b) - G(Y;X_m|b,x_c)|

        Imp_s^{x_c}(X_m) &= \sum_B w_{|B|} \sum_b P(b)\, (G(Y;X_m|b) - G(Y;X_m|b,x_c))

        Imp^{X_c}(X_m) &= \sum_B w_{|B|} (G(Y;X_m|B) - G(Y;X_m|B,X_c))

    with G the decrease of impurity, for the entropy the mutual information (thesis, eq. 6.8 to
    6.13). For D = p, a feature is context-independent if and only if all its
    :math:`Imp^{|x_c|}` are 0 (theorem 6.2); this needs ``empty="skip"``.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features, Y and a context of two values or more.
    empty : {"skip", "zero"}, default="skip"
        What becomes of a cell b without any row of the context. "skip" leaves it out, as the
        definitions condition on nothing of probability 0; with "zero", its G is 0 in that context.
        The thesis has both: Tables 6.3 and 6.4 are "zero", Table 6.E.1 is "skip".
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.
    max_depth : int, optional
        Greatest depth D of the trees; by default p.
    n_jobs : int, optional
        Number of threads for the importances and those within contexts; None is 1, -1 all
        processors. The result does not depend on it.
    max_hours : float, optional
        As in `population_importances`, for the importances and those within contexts.
    max_nodes : int, default=2_000_000
        The most distinct cells of more than one class; an estimate beforehand refuses what has
        more.

    Returns
    -------
    ContextImportances
        Without p-values: the values are exact, up to rounding. `within` are the importances given
        the context, `plain` what they differ by from `importances`, `relevance` is the importance
        of the context itself in trees of depth D, or p + 1, that have it for a feature: in full
        trees 0 if and only if the context is irrelevant, and then no feature depends on it (theorem
        6.1). Metadata are those of `population_importances`.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If it has no context or a constant one, a parameter is not allowed, the variance is asked
        for and Y is not numeric, or the computation would be too long or too large.

    Notes
    -----
    Between these numbers hold

    .. math::

        Imp^{x_c} &= Imp - Imp(\cdot|x_c), \qquad
        Imp^{X_c} = \sum_{x_c} P(x_c)\, Imp^{x_c}

        \sum_m Imp^{X_c}(X_m) &= I(V;Y) - I(V;Y|X_c) \quad (D = p)

    and with ``empty="zero"`` :math:`Imp_s^{x_c}` is the importance less the `conditional` one.
    `signed` and `plain` are the same if the context is independent of the features: one weighs
    cells by P(b), the other by :math:`P(b|x_c)`.

    The walk over the cells (`CellWalk`) looks at each set of rows once,
    however many sets B leave it. 132 patients with 16 findings take a second.

    References
    ----------
    A. Sutera (2019). Importance measures derived from random forests: characterisation and
    extension. PhD thesis, University of Liège, chapter 6. A. Sutera, G. Louppe, V. A. Huynh-Thu,
    L. Wehenkel, P. Geurts (2016). Context-dependent feature analysis with random forests. UAI.

    Examples
    --------
    >>> import duramen as dm
    >>> found = dm.theory.population_context_importances(dm.theory.examples.problem_1())
    >>> found.importances.round(3).tolist(), found.plain.round(3).tolist()
    ([1.0, 0.125, 0.125], [[0.0, -0.375, 0.125], [0.0, 0.125, -0.375]])
    """
    check_context(_FUNCTION, dist)
    check_choice(_FUNCTION, "empty", empty, ("skip", "zero"))
    check_choice(_FUNCTION, "criterion", criterion, CRITERIA)
    depth = check_depth(_FUNCTION, max_depth, dist.n_features)

    def population(table: FiniteDistribution) -> FloatArray:
        return lattice_importances(
            table,
            max_depth=max_depth,
            criterion=criterion,
            n_jobs=n_jobs,
            max_hours=max_hours,
            function=_FUNCTION,
        )

    walk = CellWalk(_FUNCTION, dist, depth, max_nodes)
    settings = {"max_depth": max_depth, "criterion": criterion, "empty": empty}
    overall = importances_of(dist, population(dist), criterion, settings)
    values = cast("NDArray[np.generic]", dist.context_values).tolist()
    probabilities = dist.probabilities(CONTEXT)
    within = np.array(
        [population(dist.conditioned({CONTEXT: value})).sum(axis=1) for value in values]
    )
    plain = overall.values - within
    absolute, signed, conditional = _effects(walk, dist, criterion, empty)
    return ContextImportances(
        names=dist.names,
        contexts=tuple(map(str, values)),
        shares=probabilities,
        importances=overall.values,
        absolute=absolute,
        signed=signed,
        conditional=conditional,
        overall=(probabilities[:, np.newaxis] * plain).sum(axis=0),
        relevance=float(population(_with_context_as_feature(dist))[-1].sum()),
        plain=plain,
        within=within,
        context_name=dist.context_name,
        unit=UNITS[criterion],
        empty=empty,
        tolerance=_TOLERANCE,
        metadata=overall.metadata,
    )


def check_context(function: str, dist: object) -> None:
    """Refuse anything but a distribution with a context of two values or more."""
    check_distribution(function, dist)
    given = cast(FiniteDistribution, dist)
    if given.context is None:
        raise refuse(
            function,
            "dist",
            "a distribution with a context",
            repr(given).splitlines()[0],
            "FiniteDistribution.from_table(X, y, context=...) gives it one",
        )
    if given.n_contexts < 2:
        raise refuse(
            function,
            "dist",
            "a distribution with at least two values of the context",
            cast("NDArray[np.generic]", given.context_values).tolist(),
            "a context that never changes has no effect",
        )


def _effects(
    walk: CellWalk, dist: FiniteDistribution, criterion: str, empty: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the absolute, signed and conditional sums over all cells, each of shape (C, p)."""
    p = dist.n_features
    absolute, signed, conditional = np.zeros((3, dist.n_contexts, p))
    numbers, unit = _numbers(dist, criterion)
    by_degree = 1.0 / (p - np.arange(walk.depth))
    for cells in walk:
        overall, within = cells.decreases(criterion, numbers)
        contexts = cells.contexts()
        weight = (cells.reach * by_degree).sum(axis=1) * contexts.sum(axis=1)
        gap = overall[:, np.newaxis] - within
        gap[np.abs(gap) <= _ROUNDING] = 0.0
        if empty == "skip":
            gap[contexts == 0] = 0.0
        weight = weight[:, np.newaxis, np.newaxis]
        absolute += (weight * np.abs(gap)).sum(axis=0)
        signed += (weight * gap).sum(axis=0)
        conditional += (weight * within).sum(axis=0)
    return unit * absolute, unit * signed, unit * conditional


def _numbers(dist: FiniteDistribution, criterion: str) -> tuple[FloatArray, float]:
    """Return the classes as numbers of mean 0 and at most 1 in size, and the unit of variances."""
    if criterion != "variance":
        return np.zeros(dist.n_classes), 1.0
    numbers = centered_numbers(dist)
    scale = float(np.abs(numbers).max()) or 1.0
    return numbers / scale, scale**2


def _with_context_as_feature(dist: FiniteDistribution) -> FiniteDistribution:
    """Return the distribution of the p features, the context as one more, and Y."""
    context = cast("NDArray[np.uint32]", dist.context)
    return FiniteDistribution.from_codes(
        codes=[*dist.codes.T, context],
        target=dist.target,
        weights=dist.weights,
        names=(*dist.names, dist.context_name),
        labels=[*dist.labels, cast("NDArray[np.generic]", dist.context_values)],
        classes=dist.classes,
        target_name=dist.target_name,
    )
