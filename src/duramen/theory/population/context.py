"""Compute the effects of a context on the importances of infinitely many trees."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from duramen.results.context_importances import ContextImportances
from duramen.results.importances import Importances
from duramen.support.checks import check_choice, refuse
from duramen.theory.distributions.finite_distribution import (
    CONTEXT,
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.population.importances import (
    UNITS,
    importances_record,
    population_importances,
)
from duramen.theory.population.lattice import HOURS
from duramen.theory.population.recursion import Trees

_FUNCTION = "population_context_importances"
_ROUNDING = 1e-13  # a decrease, or a difference of two, of so little is none
_TOLERANCE = 1e-9


def population_context_importances(
    dist: FiniteDistribution,
    *,
    max_features: int | None = 1,
    empty: str = "skip",
    criterion: str = "entropy",
    max_depth: int | None = None,
    max_hours: float | None = HOURS,
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
    6.13). Of K > 1 candidates, a cell b has in place of :math:`w_{|B|}` the probability that a tree
    has it as a node and splits it on :math:`X_m`. For K = 1 and D = p, a feature is
    context-independent if and only if all its :math:`Imp^{|x_c|}` are 0 (theorem 6.2); this needs
    ``empty="skip"``.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features, Y and a context of two values or more.
    max_features : int or None, default=1
        Number K of features drawn at a node, of which the best on all rows is taken; None is all.
        For K > 1, theorem 6.2 does not hold: a feature that is never chosen has no effect.
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

    Each set of rows is looked at once, however many sets B leave it. 132 patients with 16 findings
    take some seconds.

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
    trees: dict[str, Any] = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
    }
    settings = {**trees, "empty": empty}
    trees_of_all = Trees(_FUNCTION, dist, **trees)

    def population(table: FiniteDistribution) -> Importances:
        return population_importances(table, **trees, max_hours=max_hours, n_jobs=n_jobs)

    with_context = FiniteDistribution.from_codes(  # as one more feature
        codes=[*dist.codes.T, cast("NDArray[np.uint32]", dist.context)],
        target=dist.target,
        weights=dist.weights,
        names=(*dist.names, dist.context_name),
        labels=[*dist.labels, dist.values(CONTEXT)],
        classes=dist.classes,
        target_name=dist.target_name,
    )
    overall = population(dist)
    values = dist.values(CONTEXT).tolist()
    probabilities = dist.probabilities(CONTEXT)
    within = np.array([population(dist.conditioned({CONTEXT: value})).values for value in values])
    plain = overall.values - within
    absolute, signed, conditional = np.zeros((3, *within.shape))
    # The same nodes with the weights of the rows of each context.
    nodes = trees_of_all.nodes
    keys = [np.column_stack([part.codes, part.target]) for part in (nodes.table, dist)]
    _, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    row = np.argsort(place[: nodes.table.n_rows])[place[nodes.table.n_rows :]]
    weights = np.zeros((dist.n_contexts, nodes.table.n_rows))
    np.add.at(weights, (cast("NDArray[np.uint32]", dist.context), row), dist.weights)
    contexts = [nodes.weighted(of_rows) for of_rows in weights]
    for step in trees_of_all:
        splits = step.splits
        weight = np.zeros((len(step.nodes), dist.n_features))
        weight[splits.node, splits.feature] = step.amount.sum(axis=0)
        inside = [part.splits(step.nodes, children=False) for part in contexts]
        of_all, *of_contexts = (
            some.by_feature(dist.n_features)[0] * some.scale[:, np.newaxis]
            for some in (splits, *inside)
        )
        decreases = np.stack(of_contexts, axis=1)  # shape (n, C, p)
        gap = of_all[:, np.newaxis] - decreases
        gap[np.abs(gap) <= _ROUNDING] = 0.0
        if empty == "skip":
            gap[np.stack([some.fraction == 0.0 for some in inside], axis=1)] = 0.0
        absolute += (weight[:, np.newaxis] * np.abs(gap)).sum(axis=0)
        signed += (weight[:, np.newaxis] * gap).sum(axis=0)
        conditional += (weight[:, np.newaxis] * decreases).sum(axis=0)
    return ContextImportances(
        names=dist.names,
        contexts=tuple(map(str, values)),
        fractions=probabilities,
        importances=overall.values,
        absolute=absolute,
        signed=signed,
        conditional=conditional,
        overall=probabilities @ plain,
        relevance=float(population(with_context).values[-1]),
        plain=plain,
        within=within,
        context_name=dist.context_name,
        unit=UNITS[criterion],
        empty=empty,
        tolerance=_TOLERANCE,
        metadata=importances_record(dist, settings),
    )


def check_context(function: str, dist: object) -> None:
    """Refuse anything but a distribution with a context of two values or more."""
    check_distribution(function, dist)
    distribution = cast(FiniteDistribution, dist)
    if distribution.context is None:
        raise refuse(
            function,
            "dist",
            "a distribution with a context",
            repr(distribution).splitlines()[0],
            "FiniteDistribution.from_table(X, y, context=...) gives it one",
        )
    if distribution.n_contexts < 2:
        raise refuse(
            function,
            "dist",
            "a distribution with at least two values of the context",
            cast("NDArray[np.generic]", distribution.context_values).tolist(),
            "a context that never changes has no effect",
        )
