"""Mean decrease of accuracy (MDA) of infinitely many trees, exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from duramen.results.importances import Importances
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.checks import check_choice, check_integer, check_real, places_of, refuse
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    Variable,
    check_distribution,
)
from duramen.theory.population.importances import importances_record
from duramen.theory.population.lattice import check_depth
from duramen.theory.population.recursion import (
    MOST_NODES,
    Nodes,
    Words,
    best_of_features,
    in_order,
    unpacked,
)

LOSSES = ("zero-one", "squared")
VOTES = ("tree", "ensemble", "predictor")
ASSOCIATED = "associated"
TIE = 1e-12
"""Masses that differ by no more than this fraction of them are equal."""

Given = Mapping[str, Iterable[Variable]] | str | None

_FUNCTION = "population_mda"
_UNITS = {"zero-one": "accuracy", "squared": "squared error"}
_ASSOCIATED_BITS = 0.01  # information above which features are associated
_MOST_NUMBERS = 1 << 27  # payoffs of rows at nodes, 8 bytes each
_NOWHERE = -1
_ROUNDING = 1e-10  # of correlations


def population_mda(
    dist: FiniteDistribution,
    *,
    max_features: int | None = 1,
    max_depth: int | None = None,
    criterion: str = "entropy",
    loss: str | None = None,
    votes: str = "tree",
    given: Given = None,
) -> Importances:
    r"""Compute the mean decrease of accuracy of infinitely many trees grown on a distribution.

    .. math::

        Imp(X_m) = E_T\, E_{(x, y)}\, E_{v}\, \bigl[
        L(y, f_T(x_1, \ldots, x_m := v, \ldots, x_p)) - L(y, f_T(x)) \bigr]

    with T a random tree, (x, y) from the distribution, and v an independent draw from the
    distribution of X_m: what a tree loses on average when X_m is permuted among infinitely many
    rows, or among the rows of a learning set, averaged over all permutations (thesis, eq. 4.3 to
    4.5, at infinitely many trees and rows). Trees have one child for each value at a node; binary
    ones, which can split on a feature several times on a path, are not covered. A value that no
    row of a node has leads to its largest child, the first of several, as in forests.

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
        "tree": the mean loss of the trees. "ensemble": the loss of their majority vote, or mean
        prediction, if every tree draws its own value v, as in
        ``dm.importances.mda(votes="ensemble")``. "predictor": the loss if all trees share v, as for
        any predictor. See Notes.
    given : mapping of str to features, or "associated", optional
        Features within whose values X_m is permuted, by the name of X_m: v is then drawn from the
        distribution of X_m given them, at their values in x. "associated" takes all features with
        :math:`I(X_m; X_k)` above .01 bits. By default none, for the marginal distribution.

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
    wanted = loss or ("squared" if criterion == "variance" else "zero-one")
    check_choice(_FUNCTION, "loss", wanted, LOSSES)
    numbers = dist.centered_numbers(_FUNCTION, "variance" if wanted == "squared" else criterion)
    check_choice(_FUNCTION, "votes", votes, VOTES)
    conditions: list[list[int]] = [[] for _ in range(dist.n_features)]
    if isinstance(given, Mapping):
        for name, features in given.items():
            m = dist.index(name)
            conditions[m] = sorted(dist.indices(features))
            if m in conditions[m]:
                raise ValueError(f"{_FUNCTION}: given: {name!r} cannot be permuted given itself.")
    elif given is not None:
        check_choice(_FUNCTION, "given", given, (ASSOCIATED,))
        for m, k in permutations(range(dist.n_features), 2):
            if dist.mutual_information(m, other=k) > _ASSOCIATED_BITS:
                conditions[m].append(k)
    routes = Routes(dist, min(K, p), depth, criterion)
    dist, target = routes.dist, routes.dist.target

    # What the loss is computed from, a mean over trees, has the shape (k, N, values + 1), and the
    # loss of such numbers (k, N, n) the shape (N, n).
    def for_all_rows(values: FloatArray) -> FloatArray:
        return np.broadcast_to(values[:, np.newaxis], (len(values), dist.n_rows))

    def voted(masses: FloatArray) -> FloatArray:
        """Return 1 for the most probable class of each leaf, the first of several, shape (n, C)."""
        top = masses >= (1.0 - TIE) * masses.max(axis=1, keepdims=True)
        return np.asarray(np.eye(masses.shape[1])[np.argmax(top, axis=1)])

    def loss_of(outcomes: FloatArray) -> FloatArray:
        if votes == "tree":
            return np.asarray(outcomes[0])
        if wanted == "squared":
            return np.asarray((numbers[target][:, np.newaxis] - outcomes[0]) ** 2)
        best = outcomes >= outcomes.max(axis=0) - TIE  # classes that tie win equally often
        return np.asarray(1.0 - best[target, np.arange(len(target))] / best.sum(axis=0))

    if votes == "tree" and wanted == "squared":
        payoffs = [routes.expected(lambda m: (numbers[target] - for_all_rows(m @ numbers)) ** 2)]
    elif votes == "tree":
        payoffs = [routes.expected(lambda m: 1.0 - voted(m)[:, target])]
    elif wanted == "squared":
        payoffs = [routes.expected(lambda m: for_all_rows(m @ numbers))]
    else:
        payoffs = [
            routes.expected(lambda m, c=c: for_all_rows(voted(m)[:, c]), c)  # type: ignore[misc]
            for c in range(dist.n_classes)
        ]
    outcomes = np.stack(payoffs)
    before = loss_of(outcomes[:, :, -1:])[:, 0]
    values = np.zeros(dist.n_features)
    for m, condition in enumerate(conditions):
        start, size = int(routes.start[m]), int(dist.cardinalities[m])
        part = dist.partition(condition)
        place = part.cell * size + dist.codes[:, m]
        mass = np.bincount(place, dist.weights, part.n_cells * size).reshape(part.n_cells, size)
        drawn = (mass / mass.sum(axis=1, keepdims=True))[part.cell]  # P(v given the condition)
        by_value = outcomes[:, :, start : start + size]
        if votes == "ensemble":
            after = loss_of((by_value * drawn).sum(axis=2, keepdims=True))[:, 0]
        else:
            after = (loss_of(by_value) * drawn).sum(axis=1)
        values[m] = dist.weights @ (after - before)
    expected = float(dist.weights @ before)
    named = {
        name: [dist.names[k] for k in some]
        for name, some in zip(dist.names, conditions, strict=True)
        if some
    }
    settings = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
        "loss": wanted,
        "votes": votes,
        "given": named if isinstance(given, Mapping) else given,
    }
    return Importances(
        names=dist.names,
        values=values,
        measure="population mda",
        unit=_UNITS[wanted],
        metadata={
            **importances_record(dist, settings),
            "loss": float(np.clip(expected, 0.0, 1.0)) if wanted == "zero-one" else expected,
        },
    )


# --- routes of rows through infinitely many trees -------------------------------------------------


Payoff = Callable[[FloatArray], FloatArray]
"""Payoff of every row, shape (n, N), at leaves of some class probabilities, shape (n, C)."""

_Waiting = defaultdict[int, list[tuple[Words, FloatArray, IntArray]]]
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

    Targets of routes are numbered: the pure leaves of the C classes first, then the nodes. Raises
    ValueError if there are more than `MOST_NODES` nodes, or more payoffs of rows at nodes than fit
    into memory.

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
    ) -> None:
        self.max_features = max_features
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
        self._grow()

    def expected(self, payoff: Payoff, only: int | None = None) -> FloatArray:
        """Return the expected payoff of every row with each value put in; unchanged rows are last.

        The shape is (N, values + 1). With `only`, the payoff is 0 at leaves without that class:
        nodes without it are passed over, since nothing below them has it either.
        """
        n_rows, n_classes = self.dist.n_rows, self.dist.n_classes
        table = np.zeros((n_classes + len(self.child), n_rows))  # g(i, t)
        table[:n_classes] = payoff(np.eye(n_classes))
        some = [
            np.arange(len(layer.rows)) if only is None else np.flatnonzero(layer.masses[:, only])
            for layer in self.layers
        ]
        for layer, nodes in zip(reversed(self.layers), reversed(some), strict=True):
            wins, stays = layer.wins[nodes], layer.stays[nodes]
            is_leaf: BoolArray = (wins.sum(axis=1) + stays == 0)[:, np.newaxis]
            worth = np.where(is_leaf, payoff(layer.masses[nodes]), 0.0)
            child = self.child[layer.first + nodes]
            staying = np.flatnonzero(stays > 0)
            worth[staying] += stays[staying, np.newaxis] * table[child[staying, -1]]
            for value, m in enumerate(self.feature_of.tolist()):
                split, rows = np.flatnonzero(wins[:, m] > 0), self.rows_with[value]
                going = table[child[split, value][:, np.newaxis], rows]
                worth[split[:, np.newaxis], rows] += wins[split, m][:, np.newaxis] * going
            table[n_classes + layer.first + nodes] = worth
        shift = np.zeros((self.nodes.n_values + 1, n_rows))  # what replacing a value changes
        for layer, nodes in zip(self.layers, some, strict=True):
            at, row = np.nonzero(unpacked(layer.rows[nodes], n_rows))
            node = nodes[at]
            child = self.child[layer.first + node]
            for m, start in enumerate(self.start.tolist()):
                split = np.flatnonzero(layer.wins[node, m] > 0)
                i, to = row[split], child[split]
                chance = layer.reach[node[split]] * layer.wins[node[split], m]
                own = table[to[np.arange(len(split)), self.value[i, m]], i]
                for value in range(start, start + int(self.dist.cardinalities[m])):
                    change = chance * (table[to[:, value], i] - own)
                    shift[value] += np.bincount(i, change, n_rows)
        root = n_classes if len(self.child) else int(self.dist.target[0])
        return np.asarray(table[root][:, np.newaxis] + shift.T)

    def _grow(self) -> None:
        """Find all nodes, from the root on, and where values lead from each."""
        waiting: _Waiting = defaultdict(list)
        if self.dist.n_classes > 1:
            waiting[0].append((self.nodes.root, np.ones(1), np.array([_NOWHERE])))
        children = [np.zeros((0, self.nodes.n_values + 1), dtype=np.int64)]
        slots, targets, n_nodes = [], [], 0
        limit = min(MOST_NODES, _MOST_NUMBERS // self.dist.n_rows)
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
                    f"{_FUNCTION}: trees have more than {limit} distinct nodes, the most for "
                    f"{self.dist.n_rows} distinct rows. Hint: set max_depth, leave features out, "
                    "or take fewer rows or values."
                )
            step = self.nodes.at_a_time
            for i in range(0, len(rows), step):
                some = slice(i, i + step)
                children.append(self._look(rows[some], reach[some], n_nodes, key, waiting))
                n_nodes += len(children[-1])
        self.child = np.concatenate(children)
        if n_nodes:
            slot, target = np.concatenate(slots), np.concatenate(targets)
            self.child.reshape(-1)[slot[slot >= 0]] = target[slot >= 0]
        # A value that no row of a node has leads to the largest child, which is stored as -2 - v.
        node, value = np.nonzero(self.child < _NOWHERE)
        self.child[node, value] = self.child[node, -2 - self.child[node, value]]

    def _look(
        self, rows: Words, reach: FloatArray, first: int, key: int, waiting: _Waiting
    ) -> IntArray:
        """Add a layer; return where values lead, as far as known, of shape (n, values + 1)."""
        n, p, n_values = len(rows), self.dist.n_features, self.nodes.n_values
        masses = unpacked(rows, self.dist.n_rows) @ self.weights
        masses /= masses.sum(axis=1, keepdims=True)
        splits = self.nodes.splits(rows, children=False)
        cells = splits.cells
        decrease, divides = splits.by_feature(p)
        depth = 0 if self.by_size else key
        stays = np.zeros(n)
        if p == 0 or depth == self.depth:
            wins = np.zeros(divides.shape)
        elif self.by_size:
            wins = divides / np.maximum(divides.sum(axis=1, keepdims=True), 1)
        else:
            wins, stays = best_of_features(decrease, divides, p - depth, self.max_features)
        self.layers.append(_Layer(first, rows, masses, reach, wins, stays))
        child = np.full((n, n_values + 1), _NOWHERE, dtype=np.int64)
        size = cells.sum(axis=2)
        if p:  # the first value of each feature that has the largest child
            top = np.maximum.reduceat(size, self.start, axis=1)
            is_top = size >= (1.0 - TIE) * top[:, self.feature_of]
            place = np.where(is_top, np.arange(n_values), n_values)
            largest = np.minimum.reduceat(place, self.start, axis=1)[:, self.feature_of]
            child[:, :-1] = np.where(size > 0, _NOWHERE, -2 - largest)
        pure = np.count_nonzero(cells, axis=2) == 1
        child[:, :-1][pure] = np.argmax(cells > 0, axis=2)[pure]
        node, value = np.nonzero((size > 0) & ~pure & (wins > 0)[:, self.feature_of])
        below = rows[node] & self.nodes.rows_of[value]
        chance = reach[node] * wins[node, self.feature_of[value]]
        slots = (first + node) * (n_values + 1) + value
        if self.by_size:
            n_rows = np.bitwise_count(below).sum(axis=1, dtype=np.int64)
            for count in np.unique(n_rows).tolist():
                some = n_rows == count
                ways = below[some], chance[some], slots[some]
                waiting[self.dist.n_rows - count].append(ways)
            return child
        staying = np.flatnonzero(stays > 0)
        if len(node) or len(staying):
            last = (first + staying) * (n_values + 1) + n_values
            waiting[key + 1] += [
                (below, chance, slots),
                (rows[staying], reach[staying] * stays[staying], last),
            ]
        return child


# --- additive and Gaussian models -----------------------------------------------------------------


Groups = Mapping[str, Sequence[int | str]]


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

    >>> from duramen.theory.population import additive_mda
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
    >>> from duramen.theory.population import gaussian_mda
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
    >>> from duramen.theory.population import block_mda
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
