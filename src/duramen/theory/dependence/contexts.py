"""Context: dependence of features on it by definition, and its effect on importances."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np

from duramen.data.categories import Codes
from duramen.results.context_importances import ContextImportances
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray, native_frame
from duramen.support.checks import check_choice, check_real, refuse
from duramen.theory.dependence.relevant_features import searched_degree
from duramen.theory.distributions.finite_distribution import (
    CONTEXT,
    TARGET,
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.population.importances import UNITS, importances_record, population_importances
from duramen.theory.population.lattice import HOURS
from duramen.theory.population.recursion import Trees

Change = Literal["independent", "complementary", "redundant", "uncharacterized"]

_ROUNDING = 1e-13  # a decrease, or a difference of two, of so little is none
# By whether information rises in the context at some cell, and whether it falls.
_CHANGES: dict[tuple[bool, bool], Change] = {
    (False, False): "independent",
    (True, False): "complementary",
    (False, True): "redundant",
    (True, True): "uncharacterized",
}
EQUATIONS = ("eq_6_1", "eq_6_3", "eq_6_4", "eq_6_5", "eq_6_6")
"""The definitions of context-dependence that are decided, by their equations in the thesis."""


@dataclass(frozen=True)
class ContextWitness:
    """A cell and a context in which the information of a feature changes.

    Parameters
    ----------
    given : tuple of (str, value)
        Features of a set B and their values b.
    context : value
        The context x_c.
    overall, within : float
        I(Y;X_m|b) and I(Y;X_m|b,x_c), in bits.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import feature_context_dependence
    >>> print(feature_context_dependence(dm.theory.examples.example_6_1())[0].witness)
    given X2=0: 0.5 bits, 1 in context 0
    """

    given: tuple[tuple[str, Any], ...]
    context: Any
    overall: float
    within: float

    def __str__(self) -> str:
        cell = ", ".join(f"{name}={value}" for name, value in self.given) or "nothing"
        return f"given {cell}: {self.overall:.4g} bits, {self.within:.4g} in context {self.context}"


@dataclass(frozen=True)
class ContextDependence:
    r"""Context-dependence of one feature X_m by each definition.

    Parameters
    ----------
    name : str
        The feature.
    eq_6_1 : bool
        :math:`I(Y;X_m|b,x_c) \ne I(Y;X_m|b)` for some B, b and x_c: it is context-dependent
        (thesis, definition 6.1).
    eq_6_3 : bool
        :math:`I(Y;X_m|b,x_c^1) \ne I(Y;X_m|b,x_c^2)` for some B, b and two contexts.
    eq_6_4 : bool
        :math:`I(Y;X_m|B,X_c=x_c) \ne I(Y;X_m|B)` for some B and x_c.
    eq_6_5 : bool
        :math:`I(Y;X_m|b,X_c) \ne I(Y;X_m|b)` for some B and b.
    eq_6_6 : bool
        :math:`I(Y;X_m|B,X_c) \ne I(Y;X_m|B)` for some B.
    changes : tuple of str, one a context
        Whether the context only raises the information of the feature, "complementary" (definition
        6.3), only lowers it, "redundant" (6.4), does both, "uncharacterized", or neither,
        "independent".
    weakly_sensitive : bool
        Turney (1996): for some B, b, x_m, x_c and y, P(y|x_m,x_c,b) differs both from P(y|x_m,b)
        and from P(y|x_c,b).
    strongly_sensitive : bool
        Turney: weakly sensitive, I(Y;X_m) > 0, and I(Y;X_c) = 0.
    witness : ContextWitness or None
        A smallest B, and b and x_c, with which `eq_6_1` holds; None if there is none.
    searched_degree : int
        Sets B of up to so many features were looked at; p - 1 when all were.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import feature_context_dependence
    >>> one, _ = feature_context_dependence(dm.theory.examples.example_6_1())
    >>> one.eq_6_1, one.eq_6_4
    (True, False)
    """

    name: str
    eq_6_1: bool
    eq_6_3: bool
    eq_6_4: bool
    eq_6_5: bool
    eq_6_6: bool
    changes: tuple[Change, ...]
    weakly_sensitive: bool
    strongly_sensitive: bool
    witness: ContextWitness | None
    searched_degree: int


def context_dependence(
    dist: FiniteDistribution,
    *,
    tolerance: float = TOLERANCE,
    max_degree: int | None = None,
) -> Any:
    r"""Decide the context-dependence of every feature; return a data frame.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features, Y and a context of two values or more.
    tolerance : float, default=1e-10
        Difference in bits, or between probabilities, that counts as none.
    max_degree : int, optional
        Look at sets B up to this size only. Default: all.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns ``name``, the truth of each definition as ``eq_6_1``, ``eq_6_3``, ``eq_6_4``,
        ``eq_6_5`` and ``eq_6_6``; for each value of the context, such as ``Xc=0``, how it changes
        the information of the feature; ``weakly_sensitive``, ``strongly_sensitive``; and
        ``witness``, a text, empty where there is none. See `ContextDependence`.

    Raises
    ------
    TypeError, ValueError
        As `feature_context_dependence`, which gives the same as plain objects.

    Examples
    --------
    >>> import duramen as dm
    >>> found = dm.theory.context_dependence(dm.theory.examples.problem_1())
    >>> found["eq_6_1"].tolist()
    [False, True, True]
    """
    features = feature_context_dependence(dist, tolerance=tolerance, max_degree=max_degree)
    columns: dict[str, Any] = {"name": [feature.name for feature in features]}
    columns |= {eq: [getattr(feature, eq) for feature in features] for eq in EQUATIONS}
    for c, value in enumerate(dist.values(CONTEXT).tolist()):
        columns[f"{dist.context_name}={value}"] = [feature.changes[c] for feature in features]
    for what in ("weakly_sensitive", "strongly_sensitive"):
        columns[what] = [getattr(feature, what) for feature in features]
    columns["witness"] = [
        "" if feature.witness is None else str(feature.witness) for feature in features
    ]
    return native_frame(columns)


def feature_context_dependence(
    dist: FiniteDistribution,
    *,
    tolerance: float = TOLERANCE,
    max_degree: int | None = None,
) -> tuple[ContextDependence, ...]:
    r"""Decide the context-dependence of every feature; return one object a feature.

    The definitions ask for one set B of other features, without the context, with values b or
    without, that makes a difference; conditions of probability 0 are no conditions (thesis,
    section 6.2). (6.3), (6.5) and (6.6) imply (6.1), not the other way round. (6.4) need not,
    against the thesis: where X_c changes the probabilities of the cells b, means of the same
    informations can differ.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features, Y and a context of two values or more.
    tolerance : float, default=1e-10
        Difference in bits, or between probabilities, that counts as none.
    max_degree : int, optional
        Look at sets B up to this size only; what is false, or "independent", then is so as far
        as they tell. Default: all.

    Returns
    -------
    tuple of ContextDependence
        One a feature, in the order of the columns.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If it has no context or a constant one, a parameter is not allowed, or more than 2**20
        subsets would have to be looked at.

    References
    ----------
    Thesis, section 6.2, definitions 6.1 to 6.4 and eq. 6.1 to 6.6. P. D. Turney (1996). The
    identification of context-sensitive features: a formal definition of context for concept
    learning. ICML workshop on learning in context-sensitive domains.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import feature_context_dependence
    >>> found = feature_context_dependence(dm.theory.examples.problem_1())
    >>> [(one.name, one.changes) for one in found[:2]]
    [('X1', ('independent', 'independent')), ('X2', ('complementary', 'redundant'))]
    """
    function = "context_dependence"
    check_context(function, dist)
    allowed = check_real(function, "tolerance", tolerance, 0.0)
    p = dist.n_features
    searched = searched_degree(function, p, max_degree, "leave features out")
    uninformative = dist.mutual_information(CONTEXT) <= allowed
    return tuple(_dependence(dist, m, searched, allowed, uninformative) for m in range(p))


def _dependence(
    dist: FiniteDistribution, m: int, searched: int, tolerance: float, uninformative: bool
) -> ContextDependence:
    """Decide the definitions for one feature by going through all sets B and their cells b."""
    assert dist.context is not None
    assert dist.context_values is not None
    n_contexts, size, n_classes = dist.n_contexts, int(dist.cardinalities[m]), dist.n_classes
    true = dict.fromkeys(EQUATIONS, False)
    more, less = np.zeros((2, n_contexts), dtype=np.bool_)
    sensitive = False
    witness = None
    others = [j for j in range(dist.n_features) if j != m]
    for given in (B for k in range(searched + 1) for B in combinations(others, k)):
        part = dist.partition(given)
        place = (dist.context.astype(np.int64) * part.n_cells + part.cell) * size
        place = (place + dist.codes[:, m]) * n_classes + dist.target
        shape = (n_contexts, part.n_cells, size, n_classes)
        total = np.bincount(place, dist.weights, int(np.prod(shape))).astype(np.float64, copy=False)
        masses: FloatArray = total.reshape(shape)
        of_context = masses.sum(axis=(2, 3))  # P(x_c, b)
        of_cell = of_context.sum(axis=0)
        here = of_context > 0
        overall, within = _informations(masses.sum(axis=0)), _informations(masses)
        gap = np.where(here, overall - within, 0.0)
        gap[np.abs(gap) <= _ROUNDING] = 0.0
        differs = np.abs(gap) > tolerance
        more |= (gap < -tolerance).any(axis=1)
        less |= (gap > tolerance).any(axis=1)
        spread = np.where(here, within, -np.inf).max(axis=0) - np.where(here, within, np.inf).min(
            axis=0
        )
        by_context = (of_context * within).sum(axis=1)  # P(x_c) I(Y;X_m|B,x_c)
        fractions = of_context.sum(axis=1)
        mean = float(of_cell @ overall)
        true["eq_6_1"] |= bool(differs.any())
        true["eq_6_3"] |= bool((spread > tolerance).any())
        true["eq_6_4"] |= bool((np.abs(by_context / fractions - mean) > tolerance).any())
        true["eq_6_5"] |= bool((np.abs((of_context * gap).sum(axis=0) / of_cell) > tolerance).any())
        true["eq_6_6"] |= bool(abs(by_context.sum() - mean) > tolerance)
        of_value = _distribution(masses)
        off = np.abs(of_value - _distribution(masses.sum(axis=0))) > tolerance
        off &= np.abs(of_value - _distribution(masses.sum(axis=2, keepdims=True))) > tolerance
        off &= masses.sum(axis=3, keepdims=True) > 0
        sensitive |= bool(off.any())
        if witness is None and differs.any():
            b, c = np.argwhere(differs.T)[0].tolist()
            row = part.first_rows()[b]
            witness = ContextWitness(
                given=tuple(
                    (dist.names[j], dist.labels[j].tolist()[dist.codes[row, j]]) for j in given
                ),
                context=dist.context_values.tolist()[c],
                overall=float(overall[b]),
                within=float(within[c, b]),
            )
    return ContextDependence(
        name=dist.names[m],
        **true,
        changes=tuple(_CHANGES[bool(up), bool(down)] for up, down in zip(more, less, strict=True)),
        weakly_sensitive=sensitive,
        strongly_sensitive=sensitive and uninformative and dist.mutual_information(m) > tolerance,
        witness=witness,
        searched_degree=searched,
    )


def _informations(masses: FloatArray) -> FloatArray:
    """Compute I(Y;X_m) in bits in each cell, from masses by cell, value and class."""
    total = masses.sum(axis=(-2, -1), keepdims=True)
    p = np.divide(masses, total, out=np.zeros_like(masses), where=total > 0)
    apart = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    ratio = np.divide(p, apart, out=np.ones_like(p), where=p > 0)
    return np.asarray(np.maximum((p * np.log2(ratio)).sum(axis=(-2, -1)), 0.0))


def _distribution(masses: FloatArray) -> FloatArray:
    """Return the distribution of Y along the last axis, 0 without mass."""
    total = masses.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(masses, total, out=np.zeros_like(masses), where=total > 0))


# --- effect on importances ------------------------------------------------------------------------


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
    function = "population_context_importances"
    check_context(function, dist)
    check_choice(function, "empty", empty, ("skip", "zero"))
    trees: dict[str, Any] = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
    }
    settings = {**trees, "empty": empty}
    trees_of_all = Trees(function, dist, **trees)

    def population(table: FiniteDistribution) -> Importances:
        return population_importances(table, **trees, max_hours=max_hours, n_jobs=n_jobs)

    features = [dist.columns[j] for j in (*range(dist.n_features), CONTEXT)]
    with_context = FiniteDistribution.from_columns(features, dist.columns[TARGET], dist.weights)
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
    np.add.at(weights, (cast(Codes, dist.context), row), dist.weights)
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
        tolerance=1e-9,
        metadata=importances_record(dist, settings),
    )


def check_context(function: str, dist: object) -> None:
    """Refuse anything but a distribution with a context of two values or more."""
    check_distribution(function, dist)
    n_contexts = cast(FiniteDistribution, dist).n_contexts
    if n_contexts < 2:
        allowed = "a distribution with a context of two values or more"
        hint = "FiniteDistribution.from_table(X, y, context=...) gives it one"
        raise refuse(function, "dist", allowed, n_contexts, hint)
