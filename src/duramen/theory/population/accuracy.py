"""Mean decrease of accuracy (MDA) of infinitely many trees, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice, check_integer, check_real, refuse
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    centered_numbers,
    check_distribution,
)
from duramen.theory.distributions.information import CRITERIA
from duramen.theory.distributions.variables import Partition, Variable
from duramen.theory.population.importances import importances_record
from duramen.theory.population.lattice import check_depth
from duramen.theory.population.routes import TIE, UNSEEN, Growth, Routes

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
    growth = _growth(dist, max_features, max_depth, criterion, unseen)
    wanted = _loss(dist, loss, criterion)
    check_choice(_FUNCTION, "votes", votes, VOTES)
    check_real(_FUNCTION, "level", level, 0.0)
    conditions = _conditions(dist, given, level)
    check_integer(_FUNCTION, "max_nodes", max_nodes, 1)
    routes = Routes(_FUNCTION, dist, growth, int(max_nodes))
    before, values = _expected_losses(routes, wanted, votes, conditions)
    settings = {
        **asdict(growth),
        "max_features": max_features,
        "max_depth": max_depth,
        "loss": wanted,
        "votes": votes,
        "given": given if given is None or isinstance(given, str) else _named(dist, conditions),
        "level": level,
    }
    return Importances(
        names=dist.names,
        values=values,
        measure="population mda",
        unit=_UNITS[wanted],
        metadata={**importances_record(dist, settings), "loss": float(before)},
    )


def _growth(
    dist: FiniteDistribution,
    max_features: int | None,
    max_depth: int | None,
    criterion: str,
    unseen: str,
) -> Growth:
    """Check the settings of the trees."""
    p = max(1, dist.n_features)
    K = p if max_features is None else check_integer(_FUNCTION, "max_features", max_features, 1)
    check_depth(_FUNCTION, max_depth, p)
    check_choice(_FUNCTION, "criterion", criterion, CRITERIA)
    dist.numbers_of_classes(_FUNCTION, criterion)
    check_choice(_FUNCTION, "unseen", unseen, UNSEEN)
    return Growth(min(K, p), None if max_depth is None else int(max_depth), criterion, unseen)


def _loss(dist: FiniteDistribution, loss: str | None, criterion: str) -> str:
    """Return the loss that is meant, and refuse one that Y does not have."""
    if loss is None:
        loss = "squared" if criterion == "variance" else "zero-one"
    check_choice(_FUNCTION, "loss", loss, LOSSES)
    if loss == "squared":
        dist.numbers_of_classes(_FUNCTION, "variance")
    return loss


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
        none[m] = sorted(dist.indices(list(features)))
        if m in none[m]:
            raise ValueError(f"{_FUNCTION}: given: {name!r} cannot be permuted given itself.")
    return none


def _named(dist: FiniteDistribution, conditions: list[list[int]]) -> dict[str, list[str]]:
    pairs = zip(dist.names, conditions, strict=True)
    return {name: [dist.names[k] for k in some] for name, some in pairs if some}


def _conditional(dist: FiniteDistribution, m: int, condition: list[int]) -> FloatArray:
    """Return the probability of each value of a feature given others, shape (N, values)."""
    part: Partition = dist.partition(condition)
    size = int(dist.cardinalities[m])
    mass = np.bincount(
        part.cell * size + dist.codes[:, m], dist.weights, part.n_cells * size
    ).reshape(part.n_cells, size)
    probabilities: FloatArray = (mass / mass.sum(axis=1, keepdims=True))[part.cell]
    return probabilities


def _votes(masses: FloatArray) -> FloatArray:
    """Return 1 for the most probable class of each leaf, the first of several, shape (n, C)."""
    top = masses >= (1.0 - TIE) * masses.max(axis=1, keepdims=True)
    votes: FloatArray = np.eye(masses.shape[1])[np.argmax(top, axis=1)]
    return votes


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
    if loss == "squared":
        numbers = centered_numbers(dist)
        truth = numbers[target]

        def squared(means: FloatArray) -> FloatArray:
            error: FloatArray = (truth[:, np.newaxis] - means[0]) ** 2
            return error

        def mean_of(masses: FloatArray) -> FloatArray:
            return _alike(masses @ numbers, dist)

        if votes != "tree":
            return routes.expected(mean_of)[np.newaxis], squared
        losses = routes.expected(lambda masses: (truth - mean_of(masses)) ** 2)
    elif votes == "tree":
        losses = routes.expected(lambda masses: 1.0 - _votes(masses)[:, target])
    else:
        fractions = [
            routes.expected(partial(_votes_for, c, dist), c) for c in range(dist.n_classes)
        ]
        return np.stack(fractions), partial(_vote_loss, target)
    return losses[np.newaxis], itemgetter(0)


def _votes_for(c: int, dist: FiniteDistribution, masses: FloatArray) -> FloatArray:
    """Return the payoff 1 where a leaf votes for class c, shape (n, N)."""
    return _alike(_votes(masses)[:, c], dist)


def _vote_loss(target: NDArray[np.uint32], fractions: FloatArray) -> FloatArray:
    """Return the expected loss (N, n) of a vote by the fraction (C, N, n) of trees for each class.

    Classes that share the largest fraction are voted for equally often.
    """
    best = fractions >= fractions.max(axis=0) - TIE
    right = best[target, np.arange(len(target))]
    loss: FloatArray = 1.0 - right / best.sum(axis=0)
    return loss


def _alike(values: FloatArray, dist: FiniteDistribution) -> FloatArray:
    """Return a payoff that does not depend on the row, shape (n, N)."""
    return np.broadcast_to(values[:, np.newaxis], (len(values), dist.n_rows))
