"""Mean decrease of accuracy (MDA) of infinitely many trees, exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from duramen.results.importances import Importances
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.checks import check_choice, check_integer, check_real, refuse
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    check_distribution,
)
from duramen.theory.distributions.variables import IndexArray, Partition, Variable
from duramen.theory.population.importances import importances_record
from duramen.theory.population.lattice import check_depth
from duramen.theory.population.recursion import Nodes, Splits
from duramen.theory.population.splits import (
    Words,
    chosen_features,
    in_order,
    unpacked,
)

LOSSES = ("zero-one", "squared")
VOTES = ("tree", "ensemble", "predictor")
ASSOCIATED = "associated"
GIVEN = (ASSOCIATED,)

Given = Mapping[str, Iterable[Variable]] | str | None
LossOf = Callable[[FloatArray], FloatArray]

_FUNCTION = "population_mda"
_SUM = 1e-9  # how far rounding takes an expected loss of 0 or 1 from it
_UNITS = {"zero-one": "accuracy", "squared": "squared error"}


def population_mda(
    dist: FiniteDistribution,
    *,
    max_features: int | None = 1,
    max_depth: int | None = None,
    criterion: str = "entropy",
    loss: str | None = None,
    votes: str = "tree",
    given: Given = None,
    level: float = 0.01,
    unseen: str = "largest",
    max_nodes: int = 1_000_000,
) -> Importances:
    r"""Compute the mean decrease of accuracy of infinitely many trees grown on a distribution.

    .. math::

        Imp(X_m) = E_T\, E_{(x, y)}\, E_{v}\, \bigl[
        L(y, f_T(x_1, \ldots, x_m := v, \ldots, x_p)) - L(y, f_T(x)) \bigr]

    with T a random tree, (x, y) from the distribution, and v an independent draw from the
    distribution of X_m: what a tree loses on average when X_m is permuted among infinitely many
    rows, or among the rows of a learning set, averaged over all permutations (thesis, eq. 4.3 to
    4.5, at infinitely many trees and rows). Trees have one child for each value at a node; binary
    ones, which can split on a feature several times on a path, are not covered.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    max_features : int or None, default=1
        Number K of features drawn at a node; None, and more than there are, is all.
    max_depth : int, optional
        Greatest depth D of the trees; by default they are grown in full. Features conditioned on
        count, constant ones among them, as in `population_importances`.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity by which the best of K > 1 features is chosen.
    loss : {"zero-one", "squared"}, optional
        Loss L: 1 for a wrong class, or the squared error of a numeric Y. By default squared if the
        criterion is the variance, else zero-one. A leaf predicts its most probable class, the first
        of several, or its mean.
    votes : {"tree", "ensemble", "predictor"}, default="tree"
        "tree": the mean over trees of what each loses. "ensemble": what their majority vote, or
        their mean prediction, loses where every tree draws a value v of its own, as in
        ``dm.importances.mda(votes="ensemble")``. "predictor": the same where all trees are given
        the same v, as if the forest were any predictor. See Notes.
    given : mapping of str to features, or "associated", optional
        Features within whose values X_m is permuted, by the name of X_m: v is then drawn from the
        distribution of X_m given them, at their values in x. "associated" takes all features with
        :math:`I(X_m; X_k)` above `level`. By default none, for the marginal distribution.
    level : float, default=0.01
        Information in bits above which "associated" features are.
    unseen : {"largest", "node"}, default="largest"
        Where a value leads that no row of a node has: to the largest child, the first of several,
        as in the forests of this package, or nowhere, so that the node itself predicts.
    max_nodes : int, default=1_000_000
        The most distinct nodes.

    Returns
    -------
    Importances
        ``measure="population mda"``, in unit "accuracy" or "squared error". Metadata hold the
        settings, and as ``"loss"`` the expected loss before anything is permuted.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, the loss needs a numeric Y and it is not, or there are too
        many nodes.

    Notes
    -----
    *Ensemble.* With :math:`\pi_c(z)` the probability that a random tree votes for class c at z, the
    vote of T trees tends to the class with the largest :math:`\pi_c(z)` as T grows, and
    (``"predictor"``)

    .. math::

        Imp(X_m) = E_{(x, y)} \bigl[ E_v \ell_y(\pi(x_m := v)) - \ell_y(\pi(x)) \bigr], \quad
        \ell_y(\pi) = 1 - \frac{1(y \in A)}{|A|}, \quad A = \arg\max_c \pi_c

    Where several classes share the largest, larger and larger forests keep voting for any of them;
    each then counts as voted for equally often. With a value of its own for each tree
    (``"ensemble"``), :math:`\ell_y(E_v \pi(x_m := v))` takes the place of the first term. For the
    squared loss :math:`\pi` is the mean :math:`E_T f_T(z)` and :math:`\ell_y(\pi) = (y - \pi)^2`.
    With the zero-one loss either visits each node once for each class that has rows there.

    *Computation.* A node of a tree is a set of rows, and what lies below depends on nothing else:
    all trees are one graph of nodes. The expected loss of each row below each node is found from
    the leaves upward, and a replaced value is a change of route at the node that splits on its
    feature. The time is proportional to the number of nodes times the number of rows and values.

    References
    ----------
    L. Breiman (2001). Random forests. Machine Learning 45. A. Sutera (2019). Importance measures
    derived from random forests. PhD thesis, University of Liège, section 4.2.

    Examples
    --------
    Of two copies each tree reads the one that it splits on first.

    >>> import duramen as dm
    >>> from duramen.theory.distributions.specification import copy, uniform
    >>> copies = dm.theory.specify({"X1": uniform(2), "X2": copy("X1"), "Y": copy("X1")})
    >>> dm.theory.population_mda(copies).values.tolist()
    [0.25, 0.25]
    >>> dm.theory.population_mda(dm.theory.examples.xor()).values.tolist()
    [0.5, 0.5]
    """
    check_distribution(_FUNCTION, dist)
    p = max(1, dist.n_features)
    K = p if max_features is None else check_integer(_FUNCTION, "max_features", max_features, 1)
    depth = check_depth(_FUNCTION, max_depth, p)
    dist.centered_numbers(_FUNCTION, criterion)
    check_choice(_FUNCTION, "unseen", unseen, UNSEEN)
    wanted = loss or ("squared" if criterion == "variance" else "zero-one")
    check_choice(_FUNCTION, "loss", wanted, LOSSES)
    if wanted == "squared":
        dist.centered_numbers(_FUNCTION, "variance")
    check_choice(_FUNCTION, "votes", votes, VOTES)
    check_real(_FUNCTION, "level", level, 0.0)
    conditions = _conditions(dist, given, level)
    check_integer(_FUNCTION, "max_nodes", max_nodes, 1)
    routes = Routes(dist, min(K, p), depth, criterion, unseen, int(max_nodes))
    before, values = _expected_losses(routes, wanted, votes, conditions)
    settings = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
        "unseen": unseen,
        "loss": wanted,
        "votes": votes,
        "given": {
            name: [dist.names[k] for k in some]
            for name, some in zip(dist.names, conditions, strict=True)
            if some
        }
        if isinstance(given, Mapping)
        else given,
        "level": level,
    }
    return Importances(
        names=dist.names,
        values=values,
        measure="population mda",
        unit=_UNITS[wanted],
        metadata={**importances_record(dist, settings), "loss": float(before)},
    )


def _conditions(dist: FiniteDistribution, given: Given, level: float) -> list[list[int]]:
    """Return the features within whose values each feature is permuted."""
    p = dist.n_features
    none: list[list[int]] = [[] for _ in range(p)]
    if given is None:
        return none
    if isinstance(given, str):
        check_choice(_FUNCTION, "given", given, GIVEN)
        return [
            [k for k in range(p) if k != m and dist.mutual_information(m, other=k) > level]
            for m in range(p)
        ]
    if not isinstance(given, Mapping):
        allowed = f"None, {ASSOCIATED!r} or a mapping of names to features"
        raise refuse(_FUNCTION, "given", allowed, given)
    for name, features in given.items():
        m = dist.index(name)
        none[m] = sorted(dist.indices(features))
        if m in none[m]:
            raise ValueError(f"{_FUNCTION}: given: {name!r} cannot be permuted given itself.")
    return none


def _conditional(dist: FiniteDistribution, m: int, condition: list[int]) -> FloatArray:
    """Return the probability of each value of a feature given others, shape (N, values)."""
    part: Partition = dist.partition(condition)
    size = int(dist.cardinalities[m])
    mass = np.bincount(
        part.cell * size + dist.codes[:, m], dist.weights, part.n_cells * size
    ).reshape(part.n_cells, size)
    return np.asarray((mass / mass.sum(axis=1, keepdims=True))[part.cell])


def _votes(masses: FloatArray) -> FloatArray:
    """Return 1 for the most probable class of each leaf, the first of several, shape (n, C)."""
    top = masses >= (1.0 - TIE) * masses.max(axis=1, keepdims=True)
    return np.asarray(np.eye(masses.shape[1])[np.argmax(top, axis=1)])


def _expected_losses(
    routes: Routes, loss: str, votes: str, conditions: list[list[int]]
) -> tuple[float, FloatArray]:
    """Return the expected loss, and how much more it is with each feature permuted, shape (p,)."""
    dist = routes.dist
    outcomes, loss_of = _outcomes(routes, loss, votes)
    before = loss_of(outcomes[:, :, -1:])[:, 0]
    values = np.zeros(dist.n_features)
    for m, condition in enumerate(conditions):
        start, size = int(routes.start[m]), int(dist.cardinalities[m])
        by_value = outcomes[:, :, start : start + size]
        drawn = _conditional(dist, m, condition)
        if votes == "ensemble":
            after = loss_of((by_value * drawn).sum(axis=2, keepdims=True))[:, 0]
        else:
            after = (loss_of(by_value) * drawn).sum(axis=1)
        values[m] = dist.weights @ (after - before)
    expected = float(dist.weights @ before)
    if loss == "zero-one":
        assert -_SUM <= expected <= 1.0 + _SUM, f"the expected zero-one loss is {expected}"
        expected = min(max(expected, 0.0), 1.0)
    return expected, values


def _outcomes(routes: Routes, loss: str, votes: str) -> tuple[FloatArray, LossOf]:
    """Return means over trees, shape (k, N, values + 1), and the loss (N, n) of such (k, N, n)."""
    dist = routes.dist
    target = dist.target

    def for_all_rows(values: FloatArray) -> FloatArray:
        return np.broadcast_to(values[:, np.newaxis], (len(values), dist.n_rows))

    def loss_of_vote(fractions: FloatArray) -> FloatArray:
        """Return the loss of the largest fractions; the classes that share it win equally often."""
        best = fractions >= fractions.max(axis=0) - TIE
        right = best[target, np.arange(len(target))]
        return np.asarray(1.0 - right / best.sum(axis=0))

    if loss == "squared":
        numbers = dist.centered_numbers(_FUNCTION, "variance")
        truth = numbers[target]
        if votes != "tree":
            means = routes.expected(lambda masses: for_all_rows(masses @ numbers))
            return means[np.newaxis], lambda of_forest: (truth[:, np.newaxis] - of_forest[0]) ** 2
        losses = routes.expected(lambda masses: (truth - for_all_rows(masses @ numbers)) ** 2)
    elif votes == "tree":
        losses = routes.expected(lambda masses: 1.0 - _votes(masses)[:, target])
    else:

        def fraction(c: int) -> FloatArray:
            return routes.expected(lambda masses: for_all_rows(_votes(masses)[:, c]), c)

        return np.stack([fraction(c) for c in range(dist.n_classes)]), loss_of_vote
    return losses[np.newaxis], itemgetter(0)


# --- routes of rows through infinitely many trees -------------------------------------------------


UNSEEN = ("largest", "node")
"""Rules for a value that no row of the node has: go to the largest child, or end at the node."""

Payoff = Callable[[FloatArray], FloatArray]
"""Payoff of every row, shape (n, N), at leaves of some class probabilities, shape (n, C)."""

TIE = 1e-12
"""Masses that differ by no more than this fraction of them are equal."""

_MOST_NUMBERS = 1 << 27  # payoffs of rows at nodes, 8 bytes each
_NOWHERE = -1
_Waiting = defaultdict[int, list[tuple[Words, FloatArray, IndexArray]]]
"""Ways into nodes that are not looked at so far: their rows, probabilities, and where from."""


@dataclass(frozen=True, eq=False, slots=True)
class _Layer:
    """Some nodes t, none of which lies below another."""

    first: int  # number of the first
    rows: Words
    masses: FloatArray  # shape (n, C): probability of each class given t
    reach: FloatArray  # shape (n,): probability that a tree has t
    wins: FloatArray  # shape (n, p): probability that t splits on each feature
    # Shape (n,): probability that a constant feature is taken, which leaves t as it is.
    stays: FloatArray


class Routes:
    r"""Graph of the nodes of infinitely many multiway trees, and the routes of rows through it.

    Targets of routes are numbered: the pure leaves of the C classes first, then the nodes; with
    ``unseen="node"`` then the nodes once more, as places where rows end. Raises ValueError if there
    are more than `max_nodes` nodes, or more payoffs of rows at nodes than fit into memory.

    A node of such trees is a set of rows, whatever splits made it: what happens below depends on
    nothing else (and, where the number of unused features matters, on the depth). So all trees
    together are one graph of nodes. With :math:`\pi(t)` the probability that a tree has node t,
    :math:`\pi(m|t)` the probability that t splits on feature m, and :math:`c_m(v, t)` the child
    that value v leads to, what a row i may expect of a *payoff*, a function of the row and its
    leaf, is

    .. math:: g(i, t) = \sum_m \pi(m|t) \, g(i, c_m(x_{im}, t))

    also where t is not one of the nodes that row i itself comes to. Replacing its value of feature
    m by v changes nothing before the tree splits on m, and that happens once:

    .. math::

        E[\mathrm{payoff}(i; x_m := v)] = g(i, \mathrm{root})
        + \sum_{t \ni i} \pi(t) \, \pi(m|t) \, \bigl(g(i, c_m(v, t)) - g(i, c_m(x_{im}, t))\bigr)
    """

    def __init__(
        self,
        dist: FiniteDistribution,
        max_features: int,
        max_depth: int,
        criterion: str,
        unseen: str,
        max_nodes: int,
    ) -> None:
        self.max_features, self.unseen, self.max_nodes = max_features, unseen, max_nodes
        self.nodes = Nodes(_FUNCTION, dist, criterion, "multiway")
        dist = self.dist = self.nodes.table
        sizes = dist.cardinalities
        self.start = np.cumsum(sizes) - sizes  # number of the first value of each feature
        self.feature_of = self.nodes.feature_of
        self.value = dist.codes.astype(np.int64) + self.start  # shape (N, p)
        has_value = unpacked(self.nodes.rows_of, dist.n_rows)
        self.rows_with = [np.flatnonzero(rows) for rows in has_value]
        by_class = dist.target[:, np.newaxis] == np.arange(dist.n_classes)
        self.weights = dist.weights[:, np.newaxis] * by_class  # shape (N, C)
        self.depth = min(max_depth, dist.n_features)
        # Constant features change nothing where any other is as likely to split and no depth
        # counts: nodes are then told apart by their rows alone, and met by decreasing size.
        self.by_size = max_features == 1 and self.depth == dist.n_features
        self.layers: list[_Layer] = []
        self.child = np.zeros((0, self.nodes.n_values + 1), dtype=np.int64)
        self._grow()

    def expected(self, payoff: Payoff, only: int | None = None) -> FloatArray:
        """Return the expected payoff of every row with each value put in, and as it is, last.

        The shape is (N, values + 1). With `only`, the payoff is 0 at leaves without that class:
        nodes without it are passed over, since nothing below them has it either.
        """
        n_rows, n_classes = self.dist.n_rows, self.dist.n_classes
        n_targets = n_classes + len(self.child) * (2 if self.unseen == "node" else 1)
        table = np.zeros((n_targets, n_rows))
        table[:n_classes] = payoff(np.eye(n_classes))
        some = [
            np.arange(len(layer.rows)) if only is None else np.flatnonzero(layer.masses[:, only])
            for layer in self.layers
        ]
        for layer, nodes in zip(reversed(self.layers), reversed(some), strict=True):
            self._below(layer, nodes, payoff, table)
        root = n_classes if len(self.child) else int(self.dist.target[0])
        shift = np.zeros((self.nodes.n_values + 1, n_rows))
        for layer, nodes in zip(self.layers, some, strict=True):
            self._replaced(layer, nodes, table, shift)
        return np.asarray(table[root][:, np.newaxis] + shift.T)

    def _grow(self) -> None:
        """Find all nodes, from the root on."""
        waiting: _Waiting = defaultdict(list)
        if self.dist.n_classes > 1:
            waiting[0].append((self.nodes.root, np.ones(1), np.array([_NOWHERE])))
        children, slots, targets, n_nodes = [self.child], [], [], 0
        largest = []
        limit = min(self.max_nodes, _MOST_NUMBERS // self.dist.n_rows)
        while waiting:
            key = min(waiting)
            ways = zip(*waiting.pop(key), strict=True)
            rows, reach, slot = (np.concatenate(part) for part in ways)
            order, first = in_order(rows)
            number = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
            slots.append(slot[order])
            targets.append(self.dist.n_classes + n_nodes + number)
            rows, reach = rows[order[first]], np.add.reduceat(reach[order], first)
            if n_nodes + len(rows) > limit:
                raise ValueError(
                    f"{_FUNCTION}: trees have more than {limit} distinct nodes, the most that "
                    f"max_nodes={self.max_nodes} and {self.dist.n_rows} distinct rows allow. "
                    "Hint: set max_depth, leave features out, or take fewer rows or values."
                )
            step = self.nodes.at_a_time
            for i in range(0, len(rows), step):
                some = slice(i, i + step)
                child, most = self._look(rows[some], reach[some], n_nodes, key, waiting)
                children.append(child)
                largest.append(most)
                n_nodes += len(child)
        if not n_nodes:
            return
        self.child = np.concatenate(children)
        slot, target = np.concatenate(slots), np.concatenate(targets)
        self.child.reshape(-1)[slot[slot >= 0]] = target[slot >= 0]
        self._settle_unseen(np.concatenate(largest))

    def _look(
        self, rows: Words, reach: FloatArray, first: int, key: int, waiting: _Waiting
    ) -> tuple[IndexArray, IndexArray]:
        """Add a layer; return where values lead, as far as known, and the largest children."""
        n = len(rows)
        masses = unpacked(rows, self.dist.n_rows) @ self.weights
        masses /= masses.sum(axis=1, keepdims=True)
        splits = self.nodes.splits(rows, children=False)
        cells = splits.cells
        seen = cells.any(axis=2)
        wins, stays = self._choose(splits, 0 if self.by_size else key)
        self.layers.append(_Layer(first, rows, masses, reach, wins, stays))
        child = np.full((n, self.nodes.n_values + 1), _NOWHERE, dtype=np.int64)
        pure = np.count_nonzero(cells, axis=2) == 1
        child[:, :-1][pure] = np.argmax(cells > 0, axis=2)[pure]
        node, value = np.nonzero(seen & ~pure & (wins > 0)[:, self.feature_of])
        below = rows[node] & self.nodes.rows_of[value]
        chance = reach[node] * wins[node, self.feature_of[value]]
        slots = (first + node) * (self.nodes.n_values + 1) + value
        if self.by_size:
            size = np.bitwise_count(below).sum(axis=1, dtype=np.int64)
            for n_rows in np.unique(size).tolist():
                some = size == n_rows
                ways = below[some], chance[some], slots[some]
                waiting[self.dist.n_rows - n_rows].append(ways)
            return child, self._largest(cells)
        staying = np.flatnonzero(stays > 0)
        if len(node) or len(staying):
            last = (first + staying) * (self.nodes.n_values + 1) + self.nodes.n_values
            waiting[key + 1] += [
                (below, chance, slots),
                (rows[staying], reach[staying] * stays[staying], last),
            ]
        return child, self._largest(cells)

    def _choose(self, splits: Splits, depth: int) -> tuple[FloatArray, FloatArray]:
        """Return the probability of each feature to split the nodes, and of none to."""
        p = self.dist.n_features
        decrease, divides = splits.by_feature(p)
        if p == 0 or depth == self.depth:
            return np.zeros(divides.shape), np.zeros(len(divides))
        if self.by_size:
            count = np.maximum(divides.sum(axis=1, keepdims=True), 1)
            return divides / count, np.zeros(len(divides))
        return chosen_features(decrease, divides, p - depth, self.max_features)

    def _largest(self, cells: FloatArray) -> IndexArray:
        """Return the first value of each feature that has the largest child, shape (n, p)."""
        size = cells.sum(axis=2)
        if not self.dist.n_features:
            return np.zeros((len(cells), 0), dtype=np.int64)
        top = np.maximum.reduceat(size, self.start, axis=1)
        is_top = size >= (1.0 - TIE) * top[:, self.feature_of]
        place = np.where(is_top, np.arange(self.nodes.n_values), self.nodes.n_values)
        return np.asarray(np.minimum.reduceat(place, self.start, axis=1), dtype=np.int64)

    def _settle_unseen(self, largest: IndexArray) -> None:
        """Decide where values lead that no row of a node has."""
        child, node = self.child, np.arange(len(self.child))
        for value, m in enumerate(self.feature_of.tolist()):
            unseen = child[:, value] == _NOWHERE
            if self.unseen == "largest":
                child[unseen, value] = child[unseen, largest[unseen, m]]
            else:
                child[unseen, value] = self.dist.n_classes + len(self.child) + node[unseen]

    def _below(self, layer: _Layer, nodes: IndexArray, payoff: Payoff, table: FloatArray) -> None:
        """Compute g(i, t) of all rows i at some nodes of a layer."""
        here = layer.first + nodes
        wins, stays = layer.wins[nodes], layer.stays[nodes]
        ending = payoff(layer.masses[nodes])
        if self.unseen == "node":
            table[self.dist.n_classes + len(self.child) + here] = ending
        is_leaf: BoolArray = (wins.sum(axis=1) + stays == 0)[:, np.newaxis]
        risk = np.where(is_leaf, ending, 0.0)
        child = self.child[here]
        staying = np.flatnonzero(stays > 0)
        risk[staying] += stays[staying, np.newaxis] * table[child[staying, -1]]
        for value, m in enumerate(self.feature_of.tolist()):
            some, rows = np.flatnonzero(wins[:, m] > 0), self.rows_with[value]
            going = table[child[some, value][:, np.newaxis], rows]
            risk[some[:, np.newaxis], rows] += wins[some, m][:, np.newaxis] * going
        table[self.dist.n_classes + here] = risk

    def _replaced(
        self, layer: _Layer, nodes: IndexArray, table: FloatArray, shift: FloatArray
    ) -> None:
        """Add what replacing values at some nodes of a layer changes."""
        at, row = np.nonzero(unpacked(layer.rows[nodes], self.dist.n_rows))
        node = nodes[at]
        child = self.child[layer.first + node]
        for m, start in enumerate(self.start.tolist()):
            some = np.flatnonzero(layer.wins[node, m] > 0)
            i, to = row[some], child[some]
            chance = layer.reach[node[some]] * layer.wins[node[some], m]
            own = table[to[np.arange(len(some)), self.value[i, m]], i]
            for value in range(start, start + int(self.dist.cardinalities[m])):
                change = chance * (table[to[:, value], i] - own)
                shift[value] += np.bincount(i, change, self.dist.n_rows)
