"""Compute the effects of a context on the importances of infinitely many trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import cast

import numpy as np
from numpy.typing import NDArray

from duramen.results.context_importances import ContextImportances
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.checks import check_choice, check_integer, refuse
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    centered_numbers,
    check_distribution,
)
from duramen.theory.distributions.information import CRITERIA
from duramen.theory.distributions.variables import CONTEXT, IndexArray
from duramen.theory.population.importances import UNITS, importances_of
from duramen.theory.population.lattice import HOURS, check_depth, lattice_importances
from duramen.theory.population.recursion import Nodes, Splits, Visit, tree_importances
from duramen.theory.population.splits import (
    WORD,
    Words,
    distinct,
    in_order,
    packed,
    unpacked,
)

MOST_CELLS = 2_000_000
"""Most cells that are visited by default: a minute or two."""
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
    max_nodes : int, default=2_000_000
        The most distinct cells of more than one class; an estimate beforehand refuses what has
        more. For K > 1, the most distinct nodes of one depth.

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

    K = (
        max(1, dist.n_features)
        if max_features is None
        else check_integer(_FUNCTION, "max_features", max_features, 1)
    )

    def population(table: FiniteDistribution, visit: Visit | None = None) -> FloatArray:
        if K > 1:
            return tree_importances(
                table,
                max_features=K,
                max_depth=max_depth,
                criterion=criterion,
                max_nodes=max_nodes,
                visit=visit,
                function=_FUNCTION,
            )
        return lattice_importances(
            table,
            max_depth=max_depth,
            criterion=criterion,
            n_jobs=n_jobs,
            max_hours=max_hours,
            function=_FUNCTION,
        )

    settings = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
        "empty": empty,
    }
    if K > 1:
        sums = _NodeEffects(dist, criterion, empty)
        of_trees = population(dist, sums.add)
        effects = (sums.absolute, sums.signed, sums.conditional)
    else:
        walk = CellWalk(_FUNCTION, dist, depth, max_nodes)
        of_trees = population(dist)
        effects = _effects(walk, dist, criterion, empty)
    overall = importances_of(dist, of_trees, criterion, settings)
    values = cast("NDArray[np.generic]", dist.context_values).tolist()
    probabilities = dist.probabilities(CONTEXT)
    within = np.array(
        [population(dist.conditioned({CONTEXT: value})).sum(axis=1) for value in values]
    )
    plain = overall.values - within
    absolute, signed, conditional = effects
    return ContextImportances(
        names=dist.names,
        contexts=tuple(map(str, values)),
        fractions=probabilities,
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


class _NodeEffects:
    """Sums over the nodes of infinitely many trees that draw several features at a node."""

    def __init__(self, dist: FiniteDistribution, criterion: str, empty: str) -> None:
        nodes = Nodes(dist, criterion, "multiway")
        row = _places(dist, nodes.table)
        context = cast("NDArray[np.uint32]", dist.context)
        weights = np.zeros((dist.n_contexts, len(nodes.weights)))
        np.add.at(weights, (context, row), dist.weights)
        self.skips = empty == "skip"
        self.within = [nodes.weighted(of_rows) for of_rows in weights]
        shape = (dist.n_contexts, dist.n_features)
        self.absolute, self.signed, self.conditional = (np.zeros(shape) for _ in range(3))

    def add(self, nodes: list[int], splits: Splits, amount: FloatArray) -> None:
        """Add nodes with their splits, whose amounts are probabilities."""
        shape = (len(nodes), self.absolute.shape[1])
        weight, overall = np.zeros(shape), _by_feature(splits, shape)
        weight[splits.node, splits.feature] = amount
        for place, of_context in enumerate(self.within):
            own = of_context.splits(nodes)
            within = _by_feature(own, shape)
            gap = overall - within
            gap[np.abs(gap) <= _ROUNDING] = 0.0
            if self.skips:
                gap[own.fraction == 0.0] = 0.0
            self.absolute[place] += (weight * np.abs(gap)).sum(axis=0)
            self.signed[place] += (weight * gap).sum(axis=0)
            self.conditional[place] += (weight * within).sum(axis=0)


def _places(dist: FiniteDistribution, table: FiniteDistribution) -> IndexArray:
    """Return the row of a table that has the features and the class of each row."""
    keys = [np.column_stack([part.codes, part.target]) for part in (table, dist)]
    _, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    order = np.argsort(place[: len(keys[0])])
    return np.asarray(order[place[len(keys[0]) :]], dtype=np.int64)


def _by_feature(splits: Splits, shape: tuple[int, int]) -> FloatArray:
    """Return the decrease by each feature at each node, 0 where it is constant."""
    table = np.zeros(shape)
    table[splits.node, splits.feature] = splits.decrease * splits.scale[splits.node]
    return table


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


# --- cells into which sets of features divide the rows, each visited once, by context -------------


_NUMBERS = 1 << 23  # in the largest array that several cells share
_MERGED = 1 << 16  # so many cells of one size are merged before the walk gets there
_DRAWN = 12  # sets of one size that an estimate looks at
_BARREN = 2  # sizes that leave nothing to divide, after which none does


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """Cells b, values of sets B of features, that hold more than one class.

    A cell is its set of rows: the same rows may be what several sets B leave. Masses are
    probabilities of each context and class in the cell, not given it.
    """

    rows: Words  # shape (n, words): the rows of each cell, as bits
    # Shape (n, D): probability that the first k features, in random order, leave these rows.
    reach: FloatArray
    masses: FloatArray  # shape (n, C, Y)
    divides: BoolArray  # shape (n, p): which features are not constant in the cell
    parent: IndexArray  # shape (E,): the cell of each part that holds more than one class
    feature: IndexArray  # shape (E,): the feature that leads to the part
    child: IndexArray  # shape (E,): number of the part
    parts: FloatArray  # shape (N, C, Y): masses of these parts by number

    @property
    def degrees(self) -> IndexArray:
        """Size of the smallest B that leaves each cell, shape (n,)."""
        return np.asarray(np.argmax(self.reach > 0, axis=1), dtype=np.int64)

    def contexts(self) -> FloatArray:
        """Return the probability of each context in each cell, shape (n, C)."""
        contexts: FloatArray = self.masses.sum(axis=2)
        return contexts

    def decreases(self, criterion: str, numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the decrease by each feature in each cell, over all rows and in each context.

        Returned are :math:`G(Y;X_m|b)`, of shape (n, p), and :math:`G(Y;X_m|b,x_c)`, of shape (n,
        C, p), 0 where the cell has no row of the context. The variance takes the classes as
        `numbers` of mean 0 and at most 1 in size.
        """
        n, p = self.divides.shape
        before = _uncertainty(criterion, self.masses, numbers)
        inside = _uncertainty(criterion, self.parts, numbers)
        place = self.parent * p + self.feature
        left = np.empty((n, before.shape[1], p))
        for s in range(before.shape[1]):
            left[:, s] = np.bincount(place, inside[self.child, s], n * p).reshape(n, p)
        by_context = self.contexts()
        mass = np.column_stack([by_context.sum(axis=1), by_context])[:, :, np.newaxis]
        gain = np.divide(
            before[:, :, np.newaxis] - left,
            mass,
            out=np.zeros_like(left),
            where=self.divides[:, np.newaxis] & (mass > 0),
        )
        gain[gain <= _ROUNDING] = 0.0
        return gain[:, 0], gain[:, 1:]


class CellWalk:
    r"""Iterator over the cells of sets of fewer than D features, larger ones first.

    With the features in random order, one is taken after the other. A feature that is constant in a
    cell leaves it as it is; any other leads to its parts. A cell of n rows has been reached in all
    ways there are once all larger ones are done, so each is looked at once, however many sets B
    leave it: with :math:`\pi_k` for the probability that the first k features do,

    .. math:: \sum_{k<D} \frac{\pi_k}{p-k}
        = \sum_{k<D} \frac{1}{C_p^k (p-k)} \#\{B : |B| = k,\ B \text{ leaves the cell}\}

    is the weight that a feature not in B has there (thesis, eq. 5.2 and 6.11). Cells of one class
    are left out, and with them whatever lies below: their decreases are 0. Raises ValueError if
    there seem to be more than `max_nodes` cells or, on the way, there are.
    """

    def __init__(self, function: str, dist: FiniteDistribution, depth: int, max_nodes: int) -> None:
        self.function = function
        self.max_nodes = check_integer(function, "max_nodes", max_nodes, 1)
        self.depth = depth
        self.n_features = dist.n_features
        self.weights = dist.weights
        self.shape = dist.n_contexts, dist.n_classes
        context = cast("NDArray[np.uint32]", dist.context).astype(np.int64)
        self.place = context * dist.n_classes + dist.target
        self.values = [
            packed(column == np.arange(size)[:, np.newaxis])
            for column, size in zip(dist.codes.T, dist.cardinalities.tolist(), strict=True)
        ]
        self.n_words = (dist.n_rows - 1) // WORD + 1
        numbers = max(self.n_words * WORD, dist.n_contexts * dist.n_classes)
        self.at_a_time = max(1, _NUMBERS // (numbers * max(1, int(dist.cardinalities.sum()))))
        _check_number(function, dist, depth, self.max_nodes)

    def __iter__(self) -> Iterator[Cells]:
        """Yield the cells in batches of the same number of rows."""
        n_rows = len(self.weights)
        waiting: dict[int, _Waiting] = {n: _Waiting() for n in range(2, n_rows + 1)}
        if not self.n_features or not self._mixed(self._masses(self._everything())).all():
            return
        start = np.zeros((1, self.depth))
        start[0, 0] = 1.0
        waiting[n_rows].add(self._everything(), start)
        seen = 0
        for n in range(n_rows, 1, -1):
            rows, reach = waiting.pop(n).merged()
            seen += len(rows)
            if seen > self.max_nodes:
                raise _too_many(self.function, f"more than max_nodes={self.max_nodes}", "")
            for i in range(0, len(rows), self.at_a_time):
                some = slice(i, i + self.at_a_time)
                cells, below = self._look(rows[some], reach[some], n)
                yield cells
                self._hand_down(cells, below, waiting)

    def conditioning(self, rows: Words, degree: int) -> tuple[int, ...]:
        """Return the first of the sets of so many features that leave a cell, shape (words,)."""
        at = [
            (f, value)
            for f, values in enumerate(self.values)
            for value in values
            if np.array_equal(rows & value, rows)
        ]
        for chosen in combinations(at, degree):
            left = self._everything()[0]
            for _, value in chosen:
                left = left & value
            if np.array_equal(left, rows):
                return tuple(f for f, _ in chosen)
        raise ValueError(f"{self.function}: no set of {degree} features leaves these rows.")

    def first_row(self, rows: Words) -> int:
        """Return the first row of a cell, shape (words,)."""
        return int(np.argmax(np.unpackbits(rows.view(np.uint8), bitorder="little")))

    def _everything(self) -> Words:
        return packed(np.ones((1, len(self.weights)), dtype=bool))

    def _look(self, rows: Words, reach: FloatArray, n_rows: int) -> tuple[Cells, Words]:
        """Divide cells of so many rows by every feature; return them and their parts."""
        divides = np.zeros((len(rows), self.n_features), dtype=bool)
        parents, features, parts = [], [], []
        for f, values in enumerate(self.values):
            for value in values:
                part = rows & value
                size = np.bitwise_count(part).sum(axis=1, dtype=np.int64)
                divides[:, f] |= (size > 0) & (size < n_rows)
                divided = np.flatnonzero((size > 1) & (size < n_rows))
                parents.append(divided)
                features.append(np.full(len(divided), f))
                parts.append(part[divided])
        below, child = distinct(np.concatenate(parts))
        masses = self._masses(below)
        mixed = self._mixed(masses)
        number = np.cumsum(mixed) - 1
        telling = mixed[child]
        cells = Cells(
            rows=rows,
            reach=self._waited(reach, divides),
            masses=self._masses(rows),
            divides=divides,
            parent=np.concatenate(parents)[telling],
            feature=np.concatenate(features)[telling],
            child=number[child[telling]],
            parts=masses[mixed],
        )
        return cells, below[mixed]

    def _waited(self, reach: FloatArray, divides: BoolArray) -> FloatArray:
        """Add features that leave a cell as it is."""
        p = self.n_features
        reach = reach.copy()
        constant = p - divides.sum(axis=1)
        for k in range(self.depth - 1):
            reach[:, k + 1] += reach[:, k] * np.maximum(constant - k, 0) / (p - k)
        return reach

    def _hand_down(self, cells: Cells, below: Words, waiting: dict[int, _Waiting]) -> None:
        """Add the parts of cells to those that wait, by their number of rows."""
        if not len(below) or self.depth == 1:
            return
        going = np.zeros_like(cells.reach)
        going[:, 1:] = cells.reach[:, :-1] / (self.n_features - np.arange(self.depth - 1))
        order = np.argsort(cells.child, kind="stable")
        first = np.searchsorted(cells.child[order], np.arange(len(below)))
        reach = np.add.reduceat(going[cells.parent[order]], first, axis=0)
        size = np.bitwise_count(below).sum(axis=1, dtype=np.int64)
        size[~reach.any(axis=1)] = 0  # too deep
        for n in np.unique(size[size > 0]).tolist():
            waiting[n].add(below[size == n], reach[size == n])

    def _masses(self, rows: Words) -> FloatArray:
        """Return the probability of each context and class in sets of rows."""
        n_rows = len(self.weights)
        cell, row = np.nonzero(unpacked(rows, n_rows))
        size = self.shape[0] * self.shape[1]
        mass = np.bincount(cell * size + self.place[row], self.weights[row], len(rows) * size)
        return mass.astype(np.float64, copy=False).reshape(len(rows), *self.shape)

    @staticmethod
    def _mixed(masses: FloatArray) -> BoolArray:
        return np.asarray(np.count_nonzero(masses.any(axis=1), axis=1) > 1)


class _Waiting:
    """Cells of one number of rows that have been reached so far."""

    def __init__(self) -> None:
        self.parts: list[tuple[Words, FloatArray]] = []
        self.size = 0
        self.enough = _MERGED

    def add(self, rows: Words, reach: FloatArray) -> None:
        """Add ways to reach some cells."""
        self.parts.append((rows, reach))
        self.size += len(rows)
        if self.size > self.enough:
            self.parts = [self.merged()]
            self.size = len(self.parts[0][0])
            self.enough = max(_MERGED, 2 * self.size)

    def merged(self) -> tuple[Words, FloatArray]:
        """Return each cell once, with all the ways to reach it."""
        if not self.parts:
            return np.zeros((0, 1), dtype=np.uint64), np.zeros((0, 1))
        rows = np.concatenate([part for part, _ in self.parts])
        reach = np.concatenate([part for _, part in self.parts])
        order, first = in_order(rows)
        return rows[order[first]], np.add.reduceat(reach[order], first, axis=0)


def _uncertainty(criterion: str, masses: FloatArray, numbers: FloatArray) -> FloatArray:
    """Return mass times impurity of sets of rows: of all their rows, then of each context's.

    Masses have shape (n, C, Y); what is returned (n, 1 + C). Sets of one class have exactly 0, but
    for the variance.
    """
    masses = np.concatenate([masses.sum(axis=1, keepdims=True), masses], axis=1)
    total = masses.sum(axis=2, keepdims=True)
    some = np.broadcast_to(total > 0, masses.shape)
    if criterion == "variance":
        moment = (masses * numbers).sum(axis=2, keepdims=True)
        mean = np.divide(moment, total, out=np.zeros_like(total), where=total > 0)
        terms = masses * (numbers - mean) ** 2
    elif criterion == "gini":
        terms = masses * np.divide(total - masses, total, out=np.zeros_like(masses), where=some)
    else:
        ratio = np.divide(total, masses, out=np.ones_like(masses), where=masses > 0)
        terms = masses * np.log2(ratio)
    impurity: FloatArray = terms.sum(axis=2)
    return impurity


# --- how many there are ------------------------------------------------------------------------


def _check_number(function: str, dist: FiniteDistribution, depth: int, max_nodes: int) -> None:
    """Refuse a distribution with far more cells than allowed before the walk begins."""
    p = dist.n_features
    if p == 0 or sum(comb(p, k) for k in range(depth)) * dist.n_rows <= 2 * max_nodes:
        return
    left, closed = _expected(dist)
    by_depth = np.cumsum(left)
    expected = min(by_depth[min(depth, p) - 1], closed.sum())
    if expected <= max_nodes:
        return
    within = int(np.count_nonzero(by_depth <= max_nodes))
    hint = f"max_depth={within} is within reach; or " if 0 < within < depth else ""
    raise _too_many(function, f"about {expected:.2g}, more than max_nodes={max_nodes}", hint)


def _too_many(function: str, number: str, hint: str) -> ValueError:
    return ValueError(
        f"{function}: sets of features leave too many cells of mixed class, {number}. Hint: "
        f"{hint}leave features out, or raise max_nodes: a million cells can take a minute and "
        "some hundred MiB."
    )


def _expected(dist: FiniteDistribution) -> tuple[FloatArray, FloatArray]:
    """Estimate from random sets B of each size k how many cells of mixed class there are.

    Returned, by k, are the pairs of B and a cell that it leaves, and those among them where every
    feature outside B divides the cell: each cell comes once among them.
    """
    p = dist.n_features
    random = np.random.default_rng(0)
    left, closed = np.zeros(p + 1), np.zeros(p + 1)
    barren = 0
    for k in range(p + 1):
        n_sets = float(min(comb(p, k), 10**300))
        n_drawn = int(min(_DRAWN, n_sets))
        drawn = [_mixed_cells(dist, random.choice(p, k, replace=False)) for _ in range(n_drawn)]
        left[k], closed[k], divided = n_sets * np.mean(drawn, axis=0)
        barren = 0 if divided else barren + 1
        if barren == _BARREN:
            closed[p] = dist.n_rows / 2  # at most
            break
    return left, closed


def _mixed_cells(dist: FiniteDistribution, given: IndexArray) -> tuple[int, int, int]:
    """Count the cells of mixed class, those that all other features divide, and any of them."""
    part = dist.partition(given.tolist())

    def parts(codes: NDArray[np.uint32], n_codes: int) -> IndexArray:
        finer = part.refined(codes, n_codes)
        return np.bincount(part.cell[finer.first_rows()], minlength=part.n_cells)

    mixed = parts(dist.target, dist.n_classes) > 1
    every, some = mixed.copy(), np.zeros_like(mixed)
    for f in np.setdiff1d(np.arange(dist.n_features), given).tolist():
        divided = parts(dist.codes[:, f], int(dist.cardinalities[f])) > 1
        every &= divided
        some |= divided
    return int(mixed.sum()), int(every.sum()), int((mixed & some).sum())
