"""Exact importances of totally randomized and other trees, their terms, and added features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from duramen.results.importances import Importances
from duramen.results.result import Result
from duramen.results.summary import Column, counted
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice, check_integer
from duramen.support.provenance import fingerprint, versions
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    Variable,
    check_distribution,
)
from duramen.theory.distributions.information import CRITERIA, Criterion, Partition
from duramen.theory.population.lattice import HOURS, Progress, check_depth, lattice_importances
from duramen.theory.population.recursion import FAMILIES, Trees

UNITS: Mapping[str, str] = {"entropy": "bits", "gini": "gini", "variance": "variance"}
"""Unit of the importances by criterion."""

_FUNCTION = "population_importances"
_MOST_SUBSPACES = 10_000


def population_importances(
    dist: FiniteDistribution,
    *,
    max_features: int | None = 1,
    max_depth: int | None = None,
    subspace: int | None = None,
    criterion: str = "entropy",
    splits: str = "multiway",
    cut: str = "random",
    progress: Progress | None = None,
    max_hours: float | None = HOURS,
    n_jobs: int | None = None,
) -> Importances:
    r"""Compute the mean decrease of impurity of infinitely many trees grown on a distribution.

    For totally randomized multiway trees (K = 1) of depth D it is a sum over conditioning sets,

    .. math::

        Imp(X_m) = \sum_{k=0}^{D-1} \frac{1}{C_p^k} \frac{1}{p-k}
        \sum_{B \in \mathcal{P}_k(V^{-m})} G(Y; X_m | B)

    with G the conditional decrease of impurity: :math:`I(X_m;Y|B)` for the entropy (thesis, eq.
    5.2 and 5.10; Louppe et al. 2013, eq. 3 and appendix I). A feature is irrelevant if and only
    if its importance is 0 for D = p, and then all importances add up to :math:`i(Y) - i(Y|V)`, for
    the entropy I(V;Y). Other trees have no such sum; they are dealt with node by node.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out. With the rows of a learning
        set, of equal weights, the result is what forests grown on it without bootstrap tend to.
    max_features : int or None, default=1
        Number K of features drawn at a node; None, and more than there are, is all.
    max_depth : int, optional
        Greatest depth D of the trees; by default they are grown in full. Multiway trees count the
        features conditioned on, constant ones among them, as forests do with
        ``count_constant_features=True``; binary trees count the splits. For K = 1 and
        multiway splits, depth q is also what fully grown trees on random subspaces of q features
        give (thesis, proposition 5.14).
    subspace : int, optional
        Number q of features, 1 .. p, that each tree is given, drawn at random without replacement
        (random subspace method); by default all. Unless K = 1 and splits are multiway, the mean
        over all subspaces is computed, of which there may be up to 10,000.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.
    splits : {"multiway", "ordered", "one-vs-rest", "any"}, default="multiway"
        Family of splits.
    cut : {"random", "uniform", "best"}, default="random"
        For binary splits: which of its splits a drawn feature offers, any, all alike; that of a
        uniform cut between the least and the largest value at the node, for ordered splits of
        numbers; or the best.
    n_jobs : int, optional
        Number of threads of the sum over sets; None is 1, -1 all processors. The result does not
        depend on it, not in a single bit.
    progress : callable, optional
        Called with the fraction of the work done, from 0 to 1, as far as it can be foreseen.
    max_hours : float, optional
        A sum over sets that is estimated to take longer is refused, with the depth that is within
        reach; None refuses nothing. `lattice_cost` gives the estimate. Where there is no sum over
        sets, at most a million distinct nodes are looked at.

    Returns
    -------
    Importances
        ``measure="population mdi"``, in bits, Gini's index or squared units of Y, not normalized.
        `by_degree` splits the values by the size k of the conditioning set (for binary splits, by
        the number of splits above the node). There is no standard error: the values are exact, up
        to rounding. Metadata hold the settings, the fingerprint of the distribution and how it
        was discretized.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, the variance is asked for and Y is not numeric, or the
        computation would be too long or too large.

    Notes
    -----
    The sum has :math:`p\,2^{p-1}` terms, but is not computed term by term: a walk over the cells
    that sets of features make of the rows stops at cells of one class, takes features that do not
    divide a cell together, and deals with pairs of rows beforehand. For n rows that do not repeat
    the time grows about as :math:`C_p^{\log_2 n}`, and 2^40 subsets can be a matter of seconds.

    References
    ----------
    A. Sutera (2019). Importance measures derived from random forests: characterisation and
    extension. PhD thesis, University of Liège, chapter 5. G. Louppe, L. Wehenkel, A. Sutera,
    P. Geurts (2013). Understanding variable importances in forests of randomized trees. NIPS 26.

    Examples
    --------
    >>> import duramen as dm
    >>> dist = dm.theory.examples.imbalanced_xor(0.4)
    >>> dm.theory.population_importances(dist).values.round(3).tolist()
    [0.515, 0.485]
    >>> dm.theory.population_importances(dist, max_features=2).values.round(3).tolist()
    [0.029, 0.971]
    """
    check_distribution(_FUNCTION, dist)
    p = dist.n_features
    if subspace is not None:
        check_integer(_FUNCTION, "subspace", subspace, 1, most=p)
    check_depth(_FUNCTION, max_depth, p)
    check_choice(_FUNCTION, "criterion", criterion, CRITERIA)
    check_choice(_FUNCTION, "splits", splits, FAMILIES)
    trees: dict[str, Any] = {
        "max_features": max_features,
        "max_depth": max_depth,
        "criterion": criterion,
        "splits": splits,
        "cut": cut,
    }
    one_feature = max_features == 1 or (max_features is None and p < 2)
    n_subspaces = 1 if subspace is None else comb(p, subspace)
    if one_feature and splits == "multiway" and cut == "random":
        by_degree = lattice_importances(
            dist,
            max_depth=min((n for n in (max_depth, subspace) if n is not None), default=None),
            criterion=criterion,
            n_jobs=n_jobs,
            progress=progress,
            max_hours=max_hours,
            function=_FUNCTION,
        )
    elif n_subspaces == 1:
        by_degree = Trees(_FUNCTION, dist, **trees).importances(progress)
    elif n_subspaces > _MOST_SUBSPACES:
        raise ValueError(
            f"{_FUNCTION}: subspace={subspace} of {p} features gives {n_subspaces} subspaces, more "
            f"than {_MOST_SUBSPACES}; a formula for so many exists only for max_features=1 and "
            "splits='multiway'. Hint: leave features out."
        )
    else:
        by_degree = np.zeros((p, 1))
        for done, columns in enumerate(combinations(range(p), subspace or p), start=1):
            part = dist.marginal(columns, keep_context=False)
            of_part = Trees(_FUNCTION, part, **trees).importances()
            missing = max(0, of_part.shape[1] - by_degree.shape[1])
            by_degree = np.pad(by_degree, ((0, 0), (0, missing)))
            by_degree[list(columns), : of_part.shape[1]] += of_part
            if progress is not None:
                progress(done / n_subspaces)
        by_degree /= n_subspaces
    return importances_of(dist, by_degree, criterion, {**trees, "subspace": subspace})


def importances_of(
    dist: FiniteDistribution,
    by_degree: FloatArray,
    criterion: str,
    settings: Mapping[str, Any],
    *,
    measure: str = "population mdi",
    names: tuple[str, ...] | None = None,
) -> Importances:
    """Return importances by degree, shape (p, D), as a result with its settings and fingerprint.

    Names are by default those of `dist`, what the importances were computed from.
    """
    return Importances(
        names=dist.names if names is None else names,
        values=by_degree.sum(axis=1),
        measure=measure,
        unit=UNITS[criterion],
        by_degree=by_degree,
        metadata=importances_record(dist, settings),
    )


def importances_record(dist: FiniteDistribution, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of importances: settings, distribution, fingerprint and versions."""
    return {
        "population": dict(settings),
        "distribution": {
            "n_rows": dist.n_rows,
            "target": dist.target_name,
            "origin": dict(dist.metadata),
        },
        "fingerprint": fingerprint(
            repr((dist.names, dist.target_name, dist.context_name)),
            *(*dist.labels, dist.classes, dist.codes, dist.target, dist.weights),
            *(dist.context, dist.context_values),
        ),
        "versions": versions(),
    }


def last_level_importances(dist: FiniteDistribution, *, criterion: str = "entropy") -> Importances:
    r"""Compute the importance of each feature given all others.

    .. math:: Imp(X_m) = G(Y; X_m | V^{-m})

    for the entropy :math:`I(X_m;Y|V^{-m})` (thesis, eq. 8.1): what would be lost without the
    feature. It is positive if and only if the feature is strongly relevant. In totally randomized
    multiway trees it is p times what the feature contributes at degree p - 1; it takes no walk
    over subsets, and time that grows as the size of the table.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.

    Returns
    -------
    Importances
        ``measure="last-level mdi"``; the degree is p - 1 for all, so that there is no `by_degree`.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If `criterion` is not allowed, or needs a numeric Y.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.last_level_importances(xor).values.round(3).tolist()
    [1.0, 1.0]
    """
    values = last_level_decreases("last_level_importances", dist, criterion)
    settings = {"criterion": criterion}
    result = importances_of(
        dist, values[:, np.newaxis], criterion, settings, measure="last-level mdi"
    )
    return replace(result, by_degree=None)


def last_level_decreases(function: str, dist: FiniteDistribution, criterion: str) -> FloatArray:
    """Return G(Y; X_m | V-m) of every feature, of shape (p,); a context is left out."""
    check_distribution(function, dist)
    dist.centered_numbers(function, criterion)
    p = dist.n_features
    columns = [(dist.codes[:, j], int(dist.cardinalities[j])) for j in range(p)]
    # Rows by all features after m. Once every row is alone, partitions are shared, not copied.
    after = [Partition.whole(dist.n_rows)]
    for codes, size in columns[:0:-1]:
        after.append(after[-1].refined(codes, size))
    before = Partition.whole(dist.n_rows)
    values = np.zeros(p)
    for m, (codes, size) in enumerate(columns):
        rest = after[p - 1 - m]
        others = before.refined(rest.cell, rest.n_cells)
        fine = others.refined(codes, size)
        values[m] = dist.decrease_between(others, fine, criterion)
        before = before.refined(codes, size)
    return values


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
    check_choice(function, "criterion", criterion, ("variance", "gini"))
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
        unit="total Sobol index",
        metadata=importances_record(dist, {"criterion": criterion}),
    )


# --- decomposition of an importance into one term a conditioning set ------------------------------


_TERMS_OF = "conditioning_terms"
_MOST_TERMS = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class ConditioningTerms(Result):
    """Contributions of conditioning sets to the importance of a feature.

    Parameters
    ----------
    feature : str
        Name of the feature.
    sets : tuple of tuples of str
        The conditioning sets B: by size, then in the order of the columns.
    weights : ndarray of float64, shape (M,)
        Weight of each, :math:`1 / (C_p^k (p-k))` with k its size; together at most 1.
    values : ndarray of float64, shape (M,)
        Decrease of impurity by the feature given each, :math:`I(X_m;Y|B)` for the entropy.
    unit : str
        Unit of the values: ``"bits"``, ``"gini"`` or ``"variance"``.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> terms = dm.theory.population.conditioning_terms(xor, "X1")
    >>> terms.sets, terms.contributions.tolist()
    (((), ('X2',)), [0.0, 0.5])
    """

    feature: str
    sets: tuple[tuple[str, ...], ...]
    weights: FloatArray
    values: FloatArray
    unit: str

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def contributions(self) -> FloatArray:
        """Weight times value, shape (M,): they sum to the importance."""
        return self.weights * self.values

    @property
    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Size of each conditioning set, shape (M,)."""
        return np.array([len(set_) for set_ in self.sets], dtype=np.int64)

    _WHAT = "sets"

    def table(self) -> list[Column]:
        """Return the names in each conditioning set, its size, weight, value and contribution."""
        words = [", ".join(names) for names in self.sets]
        parts = self.contributions
        return [
            Column("given", ["{" + word + "}" for word in words], "words"),
            Column(name="conditioning", cells=words),
            Column("size", name="size", numbers=self.sizes),
            Column(name="weight", numbers=self.weights),
            Column(self.unit, digits=4, name="value", numbers=self.values),
            Column("contributes", digits=4, bars=parts, name="contribution", numbers=parts),
        ]

    def _heading(self) -> tuple[str, ...]:
        total = f"{self.contributions.sum():.4g} {self.unit}"
        return (f"ConditioningTerms: {counted(len(self), 'set')} for {self.feature}: {total}",)


def conditioning_terms(
    dist: FiniteDistribution,
    feature: str | int,
    *,
    max_depth: int | None = None,
    criterion: Criterion = "entropy",
) -> ConditioningTerms:
    r"""Split the importance of a feature by conditioning set.

    .. math::

        Imp(X_m) = \sum_{B \subseteq V^{-m}} \frac{1}{C_p^{|B|} (p-|B|)} \, G(Y; X_m | B)

    with G the conditional decrease of impurity, :math:`I(X_m;Y|B)` for the entropy: the importance
    in totally randomized multiway trees (thesis, eq. 5.2 and 5.4; Louppe et al. 2013, eq. 3).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    feature : str or int
        The feature :math:`X_m`, by name or index.
    max_depth : int, optional
        Depth D of the trees: sets of up to D - 1 features. By default p.
    criterion : {"entropy", "gini", "variance"}, default="entropy"
        Impurity: in bits, Gini's index, or the variance of a numeric Y.

    Returns
    -------
    ConditioningTerms
        The sum of its `contributions` is the value of `population_importances`.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, or there are more than 131,072 sets.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.population.conditioning_terms(xor, "X1")
    ConditioningTerms: 2 sets for X1: 0.5 bits
       given  size   bits  contributes
    1  {}        0  0.000       0.0000
    2  {X2}      1  1.000       0.5000
    """
    check_distribution(_TERMS_OF, dist)
    dist.centered_numbers(_TERMS_OF, criterion)
    m = dist.index(feature)
    p = dist.n_features
    largest = check_depth(_TERMS_OF, max_depth, p) - 1
    n_terms = sum(comb(p - 1, k) for k in range(largest + 1))
    if n_terms > _MOST_TERMS:
        raise ValueError(
            f"{_TERMS_OF}: there are {n_terms} sets of up to {largest} of {p - 1} features, more "
            f"than {_MOST_TERMS}. Hint: bound their size with max_depth, or leave features out; "
            "population_importances sums over them without listing them."
        )
    others = [j for j in range(p) if j != m]
    sets = [B for k in range(largest + 1) for B in combinations(others, k)]
    decreases = [dist.impurity_decrease(m, B, criterion=criterion) for B in sets]
    return ConditioningTerms(
        feature=dist.names[m],
        sets=tuple(tuple(dist.names[j] for j in B) for B in sets),
        weights=np.array([1 / (comb(p, len(B)) * (p - len(B))) for B in sets]),
        values=np.array(decreases),
        unit=UNITS[criterion],
    )


def redundant_importances(
    dist: FiniteDistribution,
    feature: str | int,
    *,
    copies: int = 1,
    max_depth: int | None = None,
    criterion: str = "entropy",
    n_jobs: int | None = None,
) -> Importances:
    r"""Compute the importances after the addition of features totally redundant with a feature.

    With :math:`N_c` copies of :math:`X_j` there are :math:`P = p + N_c` features. Given one of
    them the others are uninformative, so for :math:`X_j` and each copy

    .. math::

        Imp(X_j) = \sum_{k=0}^{p-1} \frac{1}{C_P^k (P-k)}
        \sum_{B \in \mathcal{P}_k(V^{-j})} I(X_j;Y|B),

    while a set with :math:`X_j` stands for all sets with any k' of the :math:`N_c + 1`:

    .. math::

        Imp(X_l) = \sum_{k=0}^{p-2} \Big( \frac{1}{C_P^k (P-k)} \sum_B I(X_l;Y|B)
        + \sum_{k'=1}^{N_c+1} \frac{C_{N_c+1}^{k'}}{C_P^{k+k'} (P-k-k')} \sum_B I(X_l;Y|B,X_j)
        \Big)

    with B over the sets of k features other than :math:`X_l, X_j` (thesis, propositions 5.9 to
    5.11; there the weights of proposition 5.11 are garbled).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context is left out.
    feature : str or int
        The feature :math:`X_j`, by name or index.
    copies : int, default=1
        Number :math:`N_c` of totally redundant features, at least 0.
    max_depth : int, optional
        Greatest depth D of the trees; by default they are grown in full.
    criterion, n_jobs
        As for `population_importances`.

    Returns
    -------
    Importances
        Of the p features and, after them, of the copies, for totally randomized multiway trees.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a parameter is not allowed, or the sum would take longer than six hours.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> doubled = dm.theory.population.redundant_importances(xor, "X2")
    >>> dict(zip(doubled.names, doubled.values.round(3).tolist(), strict=True))
    {'X1': 0.667, 'X2': 0.167, 'X2 copy 1': 0.167}
    """
    function = "redundant_importances"
    check_distribution(function, dist)
    j = dist.index(feature)
    n_copies = check_integer(function, "copies", copies, 0)
    p, P = dist.n_features, dist.n_features + n_copies
    depth = check_depth(function, max_depth, P)
    others = [m for m in range(p) if m != j]
    work: dict[str, Any] = {"criterion": criterion, "n_jobs": n_jobs, "function": function}

    def means(part: FiniteDistribution) -> FloatArray:
        """Return the mean of I(X_m;Y|B) over the sets B of k = 0 .. p - 1 features."""
        size = part.n_features
        found = lattice_importances(part, max_depth=min(depth, max(1, size)), **work)
        return size * np.pad(found, ((0, 0), (0, p - found.shape[1])))

    of_all = means(dist)
    without, given_j = np.zeros((2, p, p))  # sets without X_j, and sets of k with X_j besides
    without[others] = means(dist.marginal(others, keep_context=False))
    for k in range(p - 1):
        # Of the C(p-1, k+1) sets of k + 1 features, C(p-2, k) have X_j and C(p-2, k+1) have not.
        with_j = comb(p - 2, k)
        total = of_all[:, k + 1] * (comb(p - 1, k + 1) / with_j)
        total -= without[:, k + 1] * (comb(p - 2, k + 1) / with_j)
        given_j[:, k] = np.maximum(0.0, total)
    by_degree = np.zeros((P, depth))
    for q in range(depth):
        divisor = comb(P, q) * (P - q)
        if q < p:
            by_degree[[j, *range(p, P)], q] = comb(p - 1, q) / divisor * of_all[j, q]
        for k in range(min(q, p - 2) + 1):
            # Without any of the N_c + 1 copies, or with q - k of them.
            some, sets = (without, 1) if k == q else (given_j, comb(n_copies + 1, q - k))
            by_degree[others, q] += comb(p - 2, k) * sets / divisor * some[others, k]
    stem = f"{dist.names[j]} copy"
    while any(f"{stem} {number}" in dist.names for number in range(1, n_copies + 1)):
        stem += "'"
    settings = {
        "redundant_with": dist.names[j],
        "copies": n_copies,
        "max_depth": max_depth,
        "criterion": criterion,
    }
    names = (*dist.names, *(f"{stem} {number}" for number in range(1, n_copies + 1)))
    return importances_of(dist, by_degree, criterion, settings, names=names)
