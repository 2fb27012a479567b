"""Relevance of features: strong, weak or none; degree and minimal conditionings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import count
from typing import Any, Literal

import numpy as np

from duramen.results.archive import Savable
from duramen.support.arrays import BoolArray, FloatArray, IntArray, native_frame
from duramen.support.checks import check_integer, check_real
from duramen.theory.distributions.finite_distribution import (
    FiniteDistribution,
    Variable,
    check_distribution,
)
from duramen.theory.distributions.information import TOLERANCE, Partition, conditional_entropy
from duramen.theory.distributions.subsets import (
    LIMIT,
    Layer,
    conditional_entropies,
    count_subsets,
    gains,
    layers,
    minimal,
)
from duramen.theory.population.importances import last_level_decreases

Kind = Literal["irrelevant", "weak", "strong", "unknown"]


@dataclass(frozen=True)
class Relevance(Savable):
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
    shown = [field.name for field in fields(Relevance) if field.name != "searched_degree"]
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
    otherwise = "strongly_relevant and markov_boundaries need no such search"
    searched = searched_degree("feature_relevance", p, max_degree, otherwise)
    lattice = layers(p, min(searched + 1, p))
    entropies = conditional_entropies(dist.codes, dist.target, dist.weights, lattice)
    informations = gains(lattice, entropies)
    hits = [information > threshold for information in informations]
    conditionings = conditionings_of(dist.names, lattice, minimal(lattice, hits))
    strong = strong_informations(dist)
    largest = strong.copy()
    for layer, information in zip(lattice, informations, strict=True):
        np.maximum.at(largest, layer.members, information)
    kinds: list[Kind] = ["irrelevant" if searched >= p - 1 else "unknown"] * p
    for m in range(p):
        if conditionings[m] or strong[m] > threshold:
            kinds[m] = "strong" if strong[m] > threshold else "weak"
    return tuple(
        Relevance(
            name=dist.names[m],
            relevance=kinds[m],
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
    """Return the names of the strongly relevant features, with I(X_m;Y|V-m) > 0.

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
    """Compute I(X_m;Y|V-m) in bits for every feature, given all others, shape (p,)."""
    return np.maximum(last_level_decreases("strongly_relevant", dist, "entropy"), 0.0)


def conditionings_of(
    names: Sequence[str], lattice: Sequence[Layer], hits: Sequence[BoolArray]
) -> list[tuple[tuple[str, ...], ...]]:
    """Return, for each feature m, the sets B of all hits (m, B) as names, smaller ones first.

    A layer of hits is a mask of shape (C(n, k), k), subset by member, as `subsets.minimal` returns
    it.
    """
    conditionings: list[list[tuple[int, ...]]] = [[] for _ in names]
    for layer, hit in zip(lattice, hits, strict=True):
        for subset, i in np.argwhere(hit).tolist():
            members = layer.members[subset].tolist()
            m = members.pop(i)
            conditionings[m].append(tuple(members))
    by_size = (sorted(sets, key=lambda b: (len(b), b)) for sets in conditionings)
    return [tuple(tuple(names[j] for j in b) for b in sets) for sets in by_size]


def searched_degree(function: str, p: int, max_degree: int | None, otherwise: str) -> int:
    """Return the size of the largest set B to search, at most p - 1.

    Where that are too many subsets, the error hints at the largest size that is possible, and at
    what to do otherwise.
    """
    largest = p - 1 if max_degree is None else check_integer(function, "max_degree", max_degree, 0)
    searched = min(largest, p - 1)
    n = count_subsets(p, searched + 1)
    if n > LIMIT:
        possible = [d for d in range(p) if count_subsets(p, d + 1) <= LIMIT]
        hint = f"max_degree={possible[-1]} is possible; " if possible else ""
        raise ValueError(
            f"{function}: {p} features have {n} subsets of up to {searched + 1}, more than the "
            f"{LIMIT} that can be searched. Hint: {hint}{otherwise}."
        )
    return searched


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
    check_distribution("conditioning_order", dist)
    m = dist.index(feature)
    members = {dist.names[j] for j in dist.indices(conditioning)}
    features = {entry.name: entry for entry in feature_relevance(dist)}
    if members not in map(set, features[dist.names[m]].conditionings):
        raise ValueError(
            f"conditioning_order: conditioning must be a minimal conditioning of "
            f"{dist.names[m]!r}, got {sorted(members)!r}. Hint: feature_relevance lists them."
        )
    by_degree = [
        (features[name].degree, j, name) for j, name in enumerate(dist.names) if name in members
    ]
    ranked = sorted((degree, j, name) for degree, j, name in by_degree if degree is not None)
    if len(ranked) < len(members) or any(d > i for i, (d, _, _) in enumerate(ranked)):
        return None
    return tuple(name for _, _, name in ranked)


# --- markov boundaries of the target --------------------------------------------------------------


MOST_SETS = 2**14
"""The most steps of one search; a step leaves out one more set of features."""


class TooManyBoundaries(ValueError):
    """More Markov boundaries than can be listed."""


def markov_boundaries(dist: FiniteDistribution) -> list[tuple[str, ...]]:
    r"""Return all Markov boundaries of the target.

    A Markov blanket is a set M of features with :math:`I(Y; V \setminus M | M) = 0`; a boundary
    is a blanket of which no proper part is one. Every boundary contains the strongly relevant
    features and no irrelevant one.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    list of tuple of str
        The boundaries, smaller ones first, each in the order of the columns. There is at least
        one; it is empty where no feature is relevant.

    Raises
    ------
    ValueError
        If there are too many boundaries to list: if 16384 steps do not find them all.

    Notes
    -----
    Blankets are upward closed. Leaving out features one by one, as long as the rest is a blanket,
    ends at a boundary. Any other boundary lacks one of its features, so leaving out each of them
    in turn and starting again finds all. The cost grows with the number of boundaries, not with
    the number of features: a single boundary among hundreds of features is no problem.

    References
    ----------
    Pearl 1988; Statnikov et al. 2013; thesis, definitions 2.10 and 2.11.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.markov_boundaries(dm.theory.examples.correlated_xor())
    [('X1', 'X2'), ('X1', 'X4')]
    """
    check_distribution("markov_boundaries", dist)
    strong = np.flatnonzero(strong_informations(dist) > TOLERANCE)
    needed: frozenset[int] = frozenset(strong.tolist())
    others = [j for j in range(dist.n_features) if j not in needed]
    core = dist.partition(strong.tolist())

    def uncertainty(part: Partition) -> float:
        """Return H(Y|M) for the partition by M."""
        joint = part.refined(dist.target, dist.n_classes)
        return conditional_entropy(dist.weights, joint, part)

    least = uncertainty(dist.partition(range(dist.n_features)))

    def is_blanket(part: Partition, features: Iterable[int] = ()) -> bool:
        for j in features:
            part = part.refined(dist.codes[:, j], int(dist.cardinalities[j]))
        return uncertainty(part) - least <= TOLERANCE  # I(Y;V\M|M) = H(Y|M) - H(Y|V)

    def boundary_without(out: frozenset[int]) -> frozenset[int] | None:
        """Return a boundary without some features, or None."""
        part, taken = core, []
        available = (j for j in others if j not in out)
        while not is_blanket(part):
            j = next(available, None)
            if j is None:
                return None
            taken.append((j, part))
            part = part.refined(dist.codes[:, j], int(dist.cardinalities[j]))
        members: list[int] = []
        for j, before in reversed(taken):
            if not is_blanket(before, members):
                members.append(j)
        return needed.union(members)

    # A step looks for the boundaries that lack all of `out` and have all of `inside`. Once one of
    # them is known, each other one lacks a first member of it: no boundary is met twice.
    boundaries: list[frozenset[int]] = []
    nothing: frozenset[int] = frozenset()
    waiting = [(nothing, needed)]
    for _ in range(MOST_SETS):
        if not waiting:
            break
        out, inside = waiting.pop()
        boundary = next((other for other in boundaries if out.isdisjoint(other)), None)
        if boundary is None:
            boundary = boundary_without(out)
            if boundary is None:
                continue
            boundaries.append(boundary)
        for j in sorted(boundary - inside):
            waiting.append((out | {j}, inside))
            inside |= {j}
    else:
        raise TooManyBoundaries(
            f"markov_boundaries: dist has too many Markov boundaries to list: {len(boundaries)} "
            f"were found in {MOST_SETS} steps, and there may be more. Hint: leave out copies of "
            "features, which redundancy lists."
        )
    ordered = sorted(map(sorted, boundaries), key=lambda boundary: (len(boundary), boundary))
    return [tuple(dist.names[j] for j in boundary) for boundary in ordered]


def minimal_optimal(dist: FiniteDistribution) -> list[tuple[str, ...]]:
    """Return the solutions of the minimal-optimal problem: all Markov boundaries of least size.

    With one of these sets a learner whose loss asks for calibrated probabilities can do as well
    as with all features, and with no smaller set.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    list of tuple of str
        The smallest boundaries; take the first if any will do.

    Raises
    ------
    ValueError
        As `markov_boundaries`.

    References
    ----------
    Tsamardinos and Aliferis 2003, proposition 3; thesis, definition 2.18.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import minimal_optimal
    >>> minimal_optimal(dm.theory.examples.correlated_xor())
    [('X1', 'X2'), ('X1', 'X4')]
    """
    boundaries = markov_boundaries(dist)
    return [boundary for boundary in boundaries if len(boundary) == len(boundaries[0])]


MOST_STEPS = 2**16
"""The most steps of one search; a step takes one more feature."""

_TIE = 1e-9  # neighboring probabilities no farther apart are equal
_MOST_CELLS = 2**27  # pairs of rows times features


def smallest_boundary(dist: FiniteDistribution) -> tuple[str, ...]:
    """Return a smallest Markov boundary of the target.

    A set of features is a blanket if and only if it tells apart any two values of all features
    with different conditional distributions of Y: the search is for a smallest set of features
    that has one in common with the differences of each such pair. Sizes are tried one after the
    other, as FOCUS does; at each step one of the features is taken in which a pair differs that
    is not told apart so far.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of any number of features and Y.

    Returns
    -------
    tuple of str
        Its features, in the order of the columns.

    Raises
    ------
    ValueError
        If there are too many pairs, or 65536 steps do not find one.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence.relevant_features import smallest_boundary
    >>> smallest_boundary(dm.theory.examples.correlated_xor())
    ('X1', 'X2')
    """
    differ = _differences(dist)
    # Bit i of entry j: pair i differs in feature j. The lowest bits are the pairs that differ in
    # the fewest features, which leave the fewest choices.
    packed = [np.packbits(pairs, bitorder="little").tobytes() for pairs in differ.T]
    told_by = [int.from_bytes(bits, "little") for bits in packed]
    steps = 0

    def within(left: int, size: int, out: frozenset[int]) -> tuple[int, ...] | None:
        """Return features outside `out` that separate the remaining pairs."""
        nonlocal steps
        if not left:
            return ()
        gains = [0 if j in out else (rows & left).bit_count() for j, rows in enumerate(told_by)]
        if sum(sorted(gains)[-size:] if size else ()) < left.bit_count():
            return None
        steps += 1
        if steps > MOST_STEPS:
            raise ValueError(
                "smallest_boundary: dist has no small Markov boundary: "
                f"{MOST_STEPS:,} steps did not find one. Hint: fewer features, or another "
                "selector: no small set of features determines a target with noise."
            )
        pair = (left & -left).bit_length() - 1
        able = [int(j) for j in np.flatnonzero(differ[pair]) if j not in out]
        for j in sorted(able, key=lambda j: -gains[j]):
            boundary = within(left & ~told_by[j], size - 1, out)
            if boundary is not None:
                return (j, *boundary)
            out |= {j}
        return None

    sizes = (within((1 << len(differ)) - 1, size, frozenset()) for size in count())
    smallest = next(boundary for boundary in sizes if boundary is not None)
    return tuple(dist.names[j] for j in sorted(smallest))


def _differences(dist: FiniteDistribution) -> BoolArray:
    """Return the features in which each pair differs, of shape (pairs, p), small sets first."""
    values, row = np.unique(dist.codes, axis=0, return_inverse=True)
    joint = np.zeros((len(values), dist.n_classes))
    np.add.at(joint, (row.reshape(-1), dist.target), dist.weights)
    conditional = joint / joint.sum(axis=1, keepdims=True)
    levels = np.column_stack([_levels(column) for column in conditional.T])
    _, kind = np.unique(levels, axis=0, return_inverse=True)
    first, second = np.triu_indices(len(values), 1)
    apart = kind.reshape(-1)[first] != kind.reshape(-1)[second]
    if np.count_nonzero(apart) * dist.n_features > _MOST_CELLS:
        raise ValueError(
            f"smallest_boundary: dist has {len(values):,} different rows of {dist.n_features:,} "
            "features, too many to be compared in pairs. Hint: fewer features."
        )
    differ = values[first[apart]] != values[second[apart]]
    return np.asarray(differ[np.argsort(differ.sum(axis=1), kind="stable")])


def _levels(probabilities: FloatArray) -> IntArray:
    """Number the distinct probabilities; digits would separate some that rounding takes apart."""
    order = np.argsort(probabilities, kind="stable")
    levels = np.empty(len(order), dtype=np.int64)
    levels[order] = np.cumsum(np.diff(probabilities[order], prepend=0.0) > _TIE)
    return levels
