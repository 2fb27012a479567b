"""Relevance of features: strong, weak or none; degree and minimal conditionings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from duramen.support.arrays import BoolArray, FloatArray, native_frame
from duramen.support.checks import check_integer, check_real
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.subsets import (
    LIMIT,
    Layer,
    conditional_entropies,
    count_subsets,
    gains,
    layers,
    minimal,
)
from duramen.theory.distributions.variables import Variable
from duramen.theory.population.importances import last_level_decreases

Kind = Literal["irrelevant", "weak", "strong", "unknown"]


@dataclass(frozen=True)
class Relevance:
    """Relevance of one feature X_m to the target Y.

    Parameters
    ----------
    name : str
        The feature.
    relevance : {"irrelevant", "weak", "strong", "unknown"}
        ``"strong"``: I(X_m;Y|V-m) > 0; ``"weak"``: not strong, but I(X_m;Y|B) > 0 for some B;
        ``"irrelevant"``: for none; ``"unknown"``: for none of those that were searched, and not
        all were.
    degree : int or None
        Size of the smallest B with I(X_m;Y|B) > 0; None if none was found.
    conditionings : tuple of tuple of str
        Every minimal conditioning: B with I(X_m;Y|B) > 0 and no proper part of it that works.
        Smaller ones first; ``((),)`` for a marginally relevant feature.
    marginal : bool
        Whether I(X_m;Y) > 0.
    strong_information : float
        I(X_m;Y|V-m), in bits.
    largest_information : float
        Largest I(X_m;Y|B) over all B searched and V-m, in bits: the lowest level at which the
        feature is approximately irrelevant.
    searched_degree : int
        All B up to this size were searched; p - 1 when the search was complete.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import feature_relevance
    >>> one = feature_relevance(dm.theory.examples.noisy_copy())[2]
    >>> one.name, one.relevance, one.degree, one.conditionings
    ('X3', 'weak', 0, ((),))
    """

    name: str
    relevance: Kind
    degree: int | None
    conditionings: tuple[tuple[str, ...], ...]
    marginal: bool
    strong_information: float
    largest_information: float
    searched_degree: int


def relevance(
    dist: FiniteDistribution, *, level: float = 0.0, max_degree: int | None = None
) -> Any:
    r"""Decide the relevance of every feature; return a data frame.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y. A context is left out: it is no feature.
    level : float, default=0.0
        Bits of conditional information that count as none, for approximate irrelevance.
    max_degree : int, optional
        Search conditionings up to this size only. Default: all.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns ``name``, ``relevance``, ``degree`` (missing where none was found),
        ``conditionings`` (the minimal ones, tuples of names), ``marginal``,
        ``strong_information`` and ``largest_information`` (bits); see `Relevance`.

    Raises
    ------
    ValueError
        As `feature_relevance`, which gives the same as plain objects.

    See Also
    --------
    feature_relevance : the definitions.

    Examples
    --------
    >>> import duramen as dm
    >>> found = dm.theory.relevance(dm.theory.examples.correlated_xor())
    >>> dict(zip(found["name"], found["relevance"], strict=True))
    {'X1': 'strong', 'X2': 'weak', 'X3': 'irrelevant', 'X4': 'weak', 'X5': 'irrelevant'}
    """
    features = feature_relevance(dist, level=level, max_degree=max_degree)
    shown = (
        "name",
        "relevance",
        "degree",
        "conditionings",
        "marginal",
        "strong_information",
        "largest_information",
    )
    return native_frame(
        {column: [getattr(feature, column) for feature in features] for column in shown}
    )


def feature_relevance(
    dist: FiniteDistribution, *, level: float = 0.0, max_degree: int | None = None
) -> tuple[Relevance, ...]:
    r"""Decide the relevance of every feature; return one object a feature.

    X_m is relevant if :math:`I(X_m;Y|B) > 0` for some set B of other features, marginally
    relevant if the empty set does, strongly relevant if :math:`I(X_m;Y|V^{-m}) > 0`, and weakly
    relevant if relevant but not strongly. Its degree is the smallest such :math:`|B|`. With a
    `level` :math:`\epsilon > 0` every "> 0" becomes :math:`> \epsilon`, so that ``"irrelevant"``
    means approximately irrelevant at that level.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    level : float, default=0.0
        Bits of conditional information that count as none. Rounding is allowed for besides:
        1e-10 bits.
    max_degree : int, optional
        Search conditionings up to this size only. Strong relevance is settled in any case; a
        feature that is not strong and for which nothing was found is then ``"unknown"``.
        Default: all p - 1.

    Returns
    -------
    tuple of Relevance
        One a feature, in the order of the columns.

    Raises
    ------
    ValueError
        If `level` is no number of at least 0, `max_degree` no integer of at least 0, or more than
        2**20 subsets would have to be looked at.

    Notes
    -----
    The cost is that of the conditional entropies H(Y|B) of all subsets of the features up to size
    ``max_degree + 1``, computed once for all features.

    References
    ----------
    Kohavi and John 1997; thesis, definitions 2.3 to 2.9 and 5.1.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import feature_relevance
    >>> found = feature_relevance(dm.theory.examples.clique(3))
    >>> [(one.name, one.degree) for one in found]
    [('X1', 2), ('X2', 2), ('X3', 2)]
    """
    check_distribution("feature_relevance", dist)
    p = dist.n_features
    threshold = check_real("feature_relevance", "level", level, 0.0) + TOLERANCE
    searched = searched_degree(
        "feature_relevance",
        p,
        max_degree,
        instead="strongly_relevant needs no search",
        also="; strongly_relevant and markov_boundaries need no such search",
    )
    lattice = layers(p, min(searched + 1, p))
    entropies = conditional_entropies(dist.codes, dist.target, dist.weights, lattice)
    informations = gains(lattice, entropies)
    hits = [information > threshold for information in informations]
    conditionings = conditionings_of(dist.names, lattice, minimal(lattice, hits))
    strong = strong_informations(dist)
    largest = np.maximum(strong, _largest(p, lattice, informations))
    return tuple(
        Relevance(
            name=dist.names[m],
            relevance=_kind(strong[m] > threshold, bool(conditionings[m]), searched >= p - 1),
            degree=min(map(len, conditionings[m]), default=None),
            conditionings=conditionings[m],
            marginal=() in conditionings[m],
            strong_information=float(strong[m]),
            largest_information=float(largest[m]),
            searched_degree=searched,
        )
        for m in range(p)
    )


def all_relevant(dist: FiniteDistribution, *, level: float = 0.0) -> tuple[str, ...]:
    """Return the solution of the all-relevant problem: the names of all relevant features.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    level : float, default=0.0
        Bits of conditional information that count as none.

    Raises
    ------
    ValueError
        As `feature_relevance`.

    References
    ----------
    Nilsson et al. 2007; thesis, definition 2.17.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import all_relevant
    >>> all_relevant(dm.theory.examples.correlated_xor())
    ('X1', 'X2', 'X4')
    """
    features = feature_relevance(dist, level=level)
    return tuple(feature.name for feature in features if feature.relevance != "irrelevant")


def strongly_relevant(dist: FiniteDistribution) -> tuple[str, ...]:
    """Return the names of the strongly relevant features: those with I(X_m;Y|V-m) > 0.

    The cost is linear in the number of features.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    References
    ----------
    Kohavi and John 1997; thesis, definitions 2.5 and 2.8.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import strongly_relevant
    >>> strongly_relevant(dm.theory.examples.correlated_xor())
    ('X1',)
    """
    strong = strong_informations(dist)
    return tuple(name for name, bits in zip(dist.names, strong, strict=True) if bits > TOLERANCE)


def strong_informations(dist: FiniteDistribution) -> FloatArray:
    """Compute I(X_m;Y|V-m) in bits for every feature, given all others.

    This is also the importance at the last level of totally randomized trees (thesis, eq. 8.1).

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    ndarray of float64, shape (p,)
        The informations, in the order of the columns.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import strong_informations
    >>> strong_informations(dm.theory.examples.xor()).tolist()
    [1.0, 1.0]
    """
    return np.maximum(last_level_decreases("strong_informations", dist, "entropy"), 0.0)


def conditionings_of(
    names: Sequence[str], lattice: Sequence[Layer], hits: Sequence[BoolArray]
) -> list[tuple[tuple[str, ...], ...]]:
    """Return, for each feature m, the sets B of all hits (m, B) as names, smaller ones first.

    A layer of hits is a mask of shape (C(n, k), k), subset by member, as `subsets.minimal` returns
    it.
    """
    found: list[list[tuple[int, ...]]] = [[] for _ in names]
    for layer, hit in zip(lattice, hits, strict=True):
        for subset, i in np.argwhere(hit).tolist():
            members = layer.members[subset].tolist()
            m = members.pop(i)
            found[m].append(tuple(members))
    by_size = (sorted(sets, key=lambda b: (len(b), b)) for sets in found)
    return [tuple(tuple(names[j] for j in b) for b in sets) for sets in by_size]


def _largest(p: int, lattice: Sequence[Layer], informations: Sequence[FloatArray]) -> FloatArray:
    largest = np.zeros(p)
    for layer, information in zip(lattice, informations, strict=True):
        np.maximum.at(largest, layer.members, information)
    return largest


def _kind(strong: bool, found: bool, complete: bool) -> Kind:
    if strong:
        return "strong"
    if found:
        return "weak"
    return "irrelevant" if complete else "unknown"


def searched_degree(
    function: str, p: int, max_degree: int | None, *, instead: str, also: str = ""
) -> int:
    """Return the size of the largest set B to search, at most p - 1.

    Where that are too many subsets, the error hints at the largest size that is possible, `also`
    being a further way out; or, where none is, at `instead`.
    """
    largest = p - 1 if max_degree is None else check_integer(function, "max_degree", max_degree, 0)
    searched = min(largest, p - 1)
    n = count_subsets(p, searched + 1)
    if n > LIMIT:
        possible = [d for d in range(p) if count_subsets(p, d + 1) <= LIMIT]
        hint = f"max_degree={possible[-1]} is possible{also}." if possible else f"{instead}."
        raise ValueError(
            f"{function}: {p} features have {n} subsets of up to {searched + 1}, more than the "
            f"{LIMIT} that can be searched. Hint: {hint}"
        )
    return searched


_ORDER = "conditioning_order"


def conditioning_order(
    dist: FiniteDistribution, feature: Variable, conditioning: Sequence[Variable]
) -> tuple[str, ...] | None:
    r"""Order a minimal conditioning of a feature so that each member can be found after the former.

    In a strictly positive distribution with composition (PC), a minimal conditioning
    :math:`B = \{X_1, \ldots, X_k\}` of a relevant feature, one with :math:`I(X;Y|B) > 0` and no
    proper part like it, can be ordered so that :math:`\deg(X'_i) < i` (thesis, theorem 7.6): the
    i-th is relevant given at most i - 1 others. Then sequential random subspaces that keep what
    they found need never draw two of them at once. In other distributions there may be no such
    order, as in the exclusive or.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    feature : str or int
        The feature X, by name or index.
    conditioning : sequence of str or int
        The features in B.

    Returns
    -------
    tuple of str or None
        Names in such an order, smaller degrees first; None if there is none.

    Raises
    ------
    ValueError
        If B is not a minimal conditioning of the feature, or p is above what `feature_relevance`
        takes.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import conditioning_order
    >>> conditioning_order(dm.theory.examples.chain(3), "X3", ["X2", "X1"])
    ('X1', 'X2')
    >>> conditioning_order(dm.theory.examples.clique(3), "X3", ["X2", "X1"]) is None
    True
    """
    check_distribution(_ORDER, dist)
    m = dist.index(feature)
    members = {dist.names[j] for j in dist.indices(list(conditioning))}
    features = {entry.name: entry for entry in feature_relevance(dist)}
    if members not in map(set, features[dist.names[m]].conditionings):
        raise ValueError(
            f"{_ORDER}: conditioning must be a minimal conditioning of {dist.names[m]!r}, got "
            f"{sorted(members)!r}. Hint: feature_relevance lists them."
        )
    known = [
        (features[name].degree, j, name) for j, name in enumerate(dist.names) if name in members
    ]
    ranked = sorted((degree, j, name) for degree, j, name in known if degree is not None)
    if len(ranked) < len(members) or any(d > i for i, (d, _, _) in enumerate(ranked)):
        return None
    return tuple(name for _, _, name in ranked)
