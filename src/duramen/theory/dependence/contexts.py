"""Context-dependence of features by the definitions of the thesis, and Turney's sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import BoolArray, FloatArray, native_frame
from duramen.support.checks import check_real
from duramen.theory.dependence.relevant_features import searched_degree
from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.subsets import (
    conditional_entropies,
    gains,
    layers,
)
from duramen.theory.distributions.variables import CONTEXT
from duramen.theory.population.context import NodesInContext, check_context
from duramen.theory.population.recursion import MOST_NODES, Step, Trees
from duramen.theory.population.splits import Words, unpacked

Change = Literal["independent", "complementary", "redundant", "uncharacterized"]

_FUNCTION = "context_dependence"
_AVERAGES = ("eq_6_4", "eq_6_6")
# By whether information rises in the context at some node, and whether it falls.
_CHANGES: dict[tuple[bool, bool], Change] = {
    (False, False): "independent",
    (True, False): "complementary",
    (False, True): "redundant",
    (True, True): "uncharacterized",
}
_BY_CELL = ("eq_6_1", "eq_6_3", "eq_6_5")
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
    max_nodes: int = MOST_NODES,
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
    max_nodes : int, default=1_000_000
        The most distinct cells of rows to look at.

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
    features = feature_context_dependence(
        dist, tolerance=tolerance, max_degree=max_degree, max_nodes=max_nodes
    )
    columns: dict[str, Any] = {"name": [feature.name for feature in features]}
    columns |= {eq: [getattr(feature, eq) for feature in features] for eq in EQUATIONS}
    for c, value in enumerate(_values(dist)):
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
    max_nodes: int = MOST_NODES,
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
    max_nodes : int, default=1_000_000
        The most distinct cells of rows to look at.

    Returns
    -------
    tuple of ContextDependence
        One a feature, in the order of the columns.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If it has no context or a constant one, a parameter is not allowed, there are more than
        `max_nodes` cells, or more than 2**20 subsets would have to be looked at.

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
    check_context(_FUNCTION, dist)
    allowed = check_real(_FUNCTION, "tolerance", tolerance, 0.0)
    p = dist.n_features
    searched = searched_degree(_FUNCTION, p, max_degree, "leave features out")
    trees = Trees(_FUNCTION, dist, max_depth=max(1, searched + 1), max_nodes=max_nodes)
    search = _Search(dist, trees, allowed)
    for step in trees:
        search.look(step)
    true = search.true | _averages(dist, searched, allowed)
    marginal = dist.mutual_information(CONTEXT) > allowed
    return tuple(
        ContextDependence(
            name=dist.names[m],
            **{eq: bool(true[eq][m]) for eq in EQUATIONS},
            changes=tuple(
                _CHANGES[more, less]
                for more, less in zip(
                    search.more[:, m].tolist(), search.less[:, m].tolist(), strict=True
                )
            ),
            weakly_sensitive=bool(search.sensitive[m]),
            strongly_sensitive=bool(search.sensitive[m])
            and not marginal
            and dist.mutual_information(m) > allowed,
            witness=search.witness(m),
            searched_degree=searched,
        )
        for m in range(p)
    )


class _Search:
    """Context-dependence found at the nodes visited so far: a node is a cell b of some sets B."""

    def __init__(self, dist: FiniteDistribution, trees: Trees, tolerance: float) -> None:
        self.dist = dist
        self.nodes, self.effects = trees.nodes, NodesInContext(dist, trees)
        self.tolerance = tolerance
        p = dist.n_features
        self.true = {eq: np.zeros(p, dtype=np.bool_) for eq in _BY_CELL}
        self.more, self.less = np.zeros((2, dist.n_contexts, p), dtype=np.bool_)
        self.sensitive = np.zeros(p, dtype=np.bool_)
        self.best: dict[int, tuple[int, Words, int, float, float]] = {}

    def look(self, step: Step) -> None:
        """Update the findings with some nodes."""
        contexts = self.effects.splits(step)
        fractions = np.stack([some.fraction for some in contexts], axis=1)
        here = (fractions > 0)[:, :, np.newaxis]
        gap, within = self.effects.gaps(step, contexts)
        differs = np.abs(gap) > self.tolerance
        self.more |= (gap < -self.tolerance).any(axis=0)
        self.less |= (gap > self.tolerance).any(axis=0)
        self.true["eq_6_1"] |= differs.any(axis=(0, 1))
        low, high = np.where(here, within, np.inf), np.where(here, within, -np.inf)
        self.true["eq_6_3"] |= (high.max(axis=1) - low.min(axis=1) > self.tolerance).any(axis=0)
        mean = (fractions[:, :, np.newaxis] * gap).sum(axis=1) / step.splits.fraction[:, np.newaxis]
        self.true["eq_6_5"] |= (np.abs(mean) > self.tolerance).any(axis=0)
        degrees = np.argmax(step.reach > 0, axis=1)
        for m in np.flatnonzero(differs.any(axis=(0, 1))).tolist():
            some = np.flatnonzero(differs[:, :, m].any(axis=1))
            i = int(some[np.argmin(degrees[some])])
            if m not in self.best or degrees[i] < self.best[m][0]:
                c = int(np.argmax(differs[i, :, m]))
                bits = float(within[i, c, m])
                self.best[m] = (
                    int(degrees[i]),
                    step.nodes[i].copy(),
                    c,
                    bits + float(gap[i, c, m]),
                    bits,
                )
        of_value = _distribution(step.splits.cells)
        feature_of = self.nodes.feature_of
        for cells in (some.cells for some in contexts):
            within_value = _distribution(cells)
            of_node = _distribution(cells[:, feature_of == 0].sum(axis=1, keepdims=True))
            off = np.abs(within_value - of_value) > self.tolerance
            off &= np.abs(within_value - of_node) > self.tolerance
            off &= cells.sum(axis=2, keepdims=True) > 0
            self.sensitive[feature_of[off.any(axis=(0, 2))]] = True

    def witness(self, m: int) -> ContextWitness | None:
        """Return a smallest cell where a feature depends on the context."""
        if m not in self.best:
            return None
        degree, node, c, overall, within = self.best[m]
        table = self.nodes.table
        row = int(np.argmax(unpacked(node[np.newaxis], table.n_rows)))
        return ContextWitness(
            given=tuple(
                (table.names[j], table.labels[j].tolist()[table.codes[row, j]])
                for j in self.nodes.conditioning(node, degree)
            ),
            context=_values(self.dist)[c],
            overall=overall,
            within=within,
        )


def _averages(dist: FiniteDistribution, searched: int, tolerance: float) -> dict[str, BoolArray]:
    """Decide (6.4) and (6.6), which compare means over all cells of a set B."""
    p = dist.n_features
    lattice = layers(p, searched + 1)
    context = cast("NDArray[np.uint32]", dist.context)
    plain = conditional_entropies(dist.codes, dist.target, dist.weights, lattice)
    overall = gains(lattice, plain)
    mean = [np.zeros_like(information) for information in overall]
    differs = {eq: np.zeros(p, dtype=np.bool_) for eq in _AVERAGES}

    def compare(eq: str, informations: list[FloatArray]) -> None:
        for layer, here, there in zip(lattice, informations, overall, strict=True):
            np.logical_or.at(differs[eq], layer.members, np.abs(here - there) > tolerance)

    for c, fraction in enumerate(dist.probabilities(CONTEXT).tolist()):
        rows = context == c
        weights = dist.weights[rows] / fraction
        within = conditional_entropies(dist.codes[rows], dist.target[rows], weights, lattice)
        informations = gains(lattice, within)
        compare("eq_6_4", informations)
        for total, information in zip(mean, informations, strict=True):
            total += fraction * information
    compare("eq_6_6", mean)
    return differs


def _distribution(masses: FloatArray) -> FloatArray:
    """Return the distribution of Y along the last axis, 0 where there is no mass."""
    total = masses.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(masses, total, out=np.zeros_like(masses), where=total > 0))


def _values(dist: FiniteDistribution) -> list[Any]:
    values: list[Any] = cast("NDArray[Any]", dist.context_values).tolist()
    return values
