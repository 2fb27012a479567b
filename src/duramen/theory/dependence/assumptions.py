"""Properties of distributions: positivity, intersection, composition; faithfulness to a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import permutations
from math import prod
from typing import Any

import numpy as np

from duramen.results.columns import Column, counted, hidden
from duramen.results.result import Result
from duramen.results.saved import Saved
from duramen.results.summary import Summary
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.checks import refuse
from duramen.support.text import escaped
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.information import TOLERANCE
from duramen.theory.distributions.subsets import Layer, joint_entropies
from duramen.theory.distributions.variables import TARGET

_EXPLAINED = {
    "strictly_positive": "strictly positive",
    "positive_features": "strictly positive over the features",
    "intersection": "intersection",
    "composition": "composition",
    "weak_transitivity": "weak transitivity",
}


@dataclass(frozen=True)
class Counterexample(Saved):
    """Single variables A, C, D and a set Z for which a property fails.

    * intersection: A ⊥ C | Z, D and A ⊥ D | Z, C, but A is not independent of (C, D) given Z;
    * composition: A ⊥ C | Z and A ⊥ D | Z, but A is not independent of (C, D) given Z;
    * weak transitivity: A ⊥ C | Z and A ⊥ C | Z, D, but D depends on both A and C given Z.

    Parameters
    ----------
    a, c, d : str
        Names of three variables; one of them may be the target.
    given : tuple of str
        Names of the variables in Z.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> print(dm.theory.properties(xor).counterexamples["composition"])
    A = X1, C = X2, D = Y, Z = nothing
    """

    a: str
    c: str
    d: str
    given: tuple[str, ...]

    def __str__(self) -> str:
        given = ", ".join(self.given) if self.given else "nothing"
        return escaped(f"A = {self.a}, C = {self.c}, D = {self.d}, Z = {given}")


@dataclass(frozen=True, repr=False)
class Properties(Result):
    """Properties of a joint distribution of the features and the target.

    Parameters
    ----------
    strictly_positive : bool
        Every combination of values of all features and of Y has positive probability.
    positive_features : bool
        Every combination of values of the features has positive probability. Enough for a unique
        Markov boundary of Y; unlike the above it allows Y to be a function of the features.
    intersection, composition, weak_transitivity : bool
        Whether the property holds for all sets of variables, Y among them; see `properties`.
    counterexamples : mapping of str to Counterexample
        For each of these three that fails, a case where it does.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> found = dm.theory.properties(xor)
    >>> found.strictly_positive, found.intersection, found.composition
    (False, True, False)
    """

    strictly_positive: bool
    positive_features: bool
    intersection: bool
    composition: bool
    weak_transitivity: bool
    counterexamples: dict[str, Counterexample]

    @property
    def P(self) -> bool:
        """Strictly positive."""
        return self.strictly_positive

    @property
    def PC(self) -> bool:
        """Strictly positive, with composition."""
        return self.strictly_positive and self.composition

    @property
    def PCWT(self) -> bool:
        """Strictly positive, with composition and weak transitivity."""
        return self.PC and self.weak_transitivity

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a property.

        They are ``property``, ``holds`` and ``counterexample`` (a text, empty where it holds or
        none is needed).
        """
        names = (*_EXPLAINED, "P", "PC", "PCWT")
        return {
            "property": [_EXPLAINED.get(name, name) for name in names],
            "holds": [bool(getattr(self, name)) for name in names],
            "counterexample": [str(self.counterexamples.get(name, "")) for name in names],
        }

    def _summary(self, rows: int) -> Summary:
        lines = ["Properties of the distribution"]
        for name, text in _EXPLAINED.items():
            lines.append(f"{text}: {'yes' if getattr(self, name) else 'no'}")
            if name in self.counterexamples:
                lines[-1] += f" ({self.counterexamples[name]})"
        classes = [name for name in ("P", "PC", "PCWT") if getattr(self, name)]
        return Summary((*lines, f"classes: {', '.join(classes) if classes else 'none'}"))


def properties(dist: FiniteDistribution) -> Properties:
    r"""Decide the properties of Nilsson et al. for a distribution.

    With A, C, D, Z disjoint sets of variables among the features and Y, all but Z not empty, and
    :math:`\perp` independence:

    * intersection: :math:`A \perp C | Z,D` and :math:`A \perp D | Z,C` imply
      :math:`A \perp C,D | Z`;
    * composition: :math:`A \perp C | Z` and :math:`A \perp D | Z` imply
      :math:`A \perp C,D | Z`;
    * weak transitivity: :math:`A \perp C | Z` and :math:`A \perp C | Z,D` imply
      :math:`A \perp D | Z` or :math:`D \perp C | Z`, for D a single variable.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y. A context is left out: it is no feature.

    Returns
    -------
    Properties
        What holds, with a counterexample for what does not.

    Raises
    ------
    ValueError
        If p is above 19: the entropies of all 2**(p+1) sets of variables are computed.

    Notes
    -----
    Only single A, C and D have to be tried, with every Z. Independence of sets is independence of
    all pairs of members given the set and any more members (decomposition, weak union and
    contraction, which every distribution has), so intersection follows by induction from larger
    to smaller conditioning sets, composition from smaller to larger, and weak transitivity by
    contraction.

    The thesis prints "and" in the conclusion of weak transitivity; Pearl and Nilsson et al. have
    "or", and so have we: with "and", no three variables of which one is independent of the two
    others, and these dependent, would have it.

    References
    ----------
    Pearl 1988; Nilsson et al. 2007; Lněnička and Matúš 2007; thesis, section 2.4.2 and
    property 7.1.

    Examples
    --------
    >>> import duramen as dm
    >>> xor = dm.theory.examples.xor()
    >>> dm.theory.properties(xor)
    Properties of the distribution
    strictly positive: no
    strictly positive over the features: yes
    intersection: yes
    composition: no (A = X1, C = X2, D = Y, Z = nothing)
    weak transitivity: yes
    classes: none
    """
    check_distribution("properties", dist)
    lattice, entropies = joint_entropies("properties", dist)
    names = (*dist.names, dist.target_name)
    counterexamples: dict[str, Counterexample] = {}
    below = independent_pairs(lattice, entropies, 2)
    for k in range(3, len(lattice)):
        here = independent_pairs(lattice, entropies, k)
        for name, subset, triple in _failures(lattice[k], below, here):
            members = [names[v] for v in lattice[k].members[subset]]
            a, c, d = (members[i] for i in triple)
            given = tuple(name for i, name in enumerate(members) if i not in triple)
            counterexamples.setdefault(name, Counterexample(a, c, d, given))
        below = here
    return Properties(
        strictly_positive=_fills(dist, with_target=True),
        positive_features=_fills(dist, with_target=False),
        intersection="intersection" not in counterexamples,
        composition="composition" not in counterexamples,
        weak_transitivity="weak_transitivity" not in counterexamples,
        counterexamples=counterexamples,
    )


def independent_pairs(
    lattice: Sequence[Layer], entropies: Sequence[FloatArray], k: int
) -> BoolArray:
    """Return, for subsets of k and members i, j, whether these are independent given the rest.

    Shape (C(n, k), k, k).
    """
    if k >= len(lattice):
        return np.zeros((0, k, k), dtype=np.bool_)
    without, twice = lattice[k].without, lattice[k - 1].without
    independent = np.zeros((len(without), k, k), dtype=np.bool_)
    for i in range(k):
        for j in range(i):
            neither = entropies[k - 2][twice[without[:, i], j]]
            apart = entropies[k - 1][without[:, i]] + entropies[k - 1][without[:, j]]
            shared = apart - entropies[k] - neither
            independent[:, i, j] = independent[:, j, i] = shared <= TOLERANCE
    return independent


def _failures(
    layer: Layer, below: BoolArray, here: BoolArray
) -> Iterator[tuple[str, int, tuple[int, int, int]]]:
    """Yield a failing property, a subset and the places of A, C and D in it, the rest being Z."""

    def without(i: int, j: int, dropped: int) -> BoolArray:
        """Return whether members i and j are independent given the rest less one member."""
        place = layer.without[:, dropped]
        return np.asarray(below[place, i - (dropped < i), j - (dropped < j)])

    for a, c, d in permutations(range(layer.members.shape[1]), 3):
        ac, ad = without(a, c, d), without(a, d, c)
        ac_d, ad_c = here[:, a, c], here[:, a, d]
        checks = []
        if c < d:  # C and D play the same part here, and A and C below
            checks.append(("intersection", ac_d & ad_c & ~ac))
            checks.append(("composition", ac & ad & ~ac_d))
        if a < c:
            checks.append(("weak_transitivity", ac & ac_d & ~ad & ~without(c, d, a)))
        for name, failing in checks:
            if failing.any():
                yield name, int(np.argmax(failing)), (a, c, d)


def _fills(dist: FiniteDistribution, *, with_target: bool) -> bool:
    """Return whether the rows fill the product of the values of the variables."""
    features = range(dist.n_features)
    rows = dist.partition([*features, TARGET] if with_target else features)
    possible: int = prod(dist.cardinalities.tolist()) * (dist.n_classes if with_target else 1)
    return rows.n_cells == possible


# --- faithfulness to a directed acyclic graph -----------------------------------------------------


Parents = Mapping[str, Iterable[str]]

_FUNCTION = "faithfulness"
_MOST_VARIABLES = 14

# One variable, another, and a set of variables that they are independent or separated given.
Triple = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class Faithfulness(Result):
    """Comparison of the independences of a distribution with the d-separations of a graph.

    Parameters
    ----------
    dependent : tuple of (str, str, tuple of str)
        Pairs A, C and sets Z that separate A from C in the graph, though A depends on C given Z.
    independent : tuple of (str, str, tuple of str)
        Pairs A, C and sets Z that do not separate them, though A is independent of C given Z.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import faithfulness
    >>> found = faithfulness(dm.theory.examples.xor(), {"Y": ["X1", "X2"]})
    >>> found.markov, found.faithful, found.independent
    (True, False, (('X1', 'Y', ()), ('X2', 'Y', ())))
    """

    dependent: tuple[Triple, ...]
    independent: tuple[Triple, ...]

    @property
    def markov(self) -> bool:
        """True if all d-separations are independences: the distribution factorizes by the graph."""
        return not self.dependent

    @property
    def faithful(self) -> bool:
        """True if d-separations and independences are the same."""
        return self.markov and not self.independent

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a disagreement.

        They are ``a``, ``c``, ``given`` (names joined by commas), ``d_separated`` and
        ``independent``.
        """
        both = (*self.dependent, *self.independent)
        separated = [True] * len(self.dependent) + [False] * len(self.independent)
        return {
            "a": [a for a, _, _ in both],
            "c": [c for _, c, _ in both],
            "given": [", ".join(given) for _, _, given in both],
            "d_separated": separated,
            "independent": [not is_separated for is_separated in separated],
        }

    def _summary(self, rows: int) -> Summary:
        verdict = "faithful" if self.faithful else "Markov, not faithful"
        if not self.markov:
            verdict = "not Markov"
        differing = self.columns()
        n = len(differing["a"])
        words = ["d-separated" if word else "independent" for word in differing["d_separated"]]
        columns = [
            Column("a", differing["a"][:rows], kind="words"),
            Column("c", differing["c"][:rows], kind="words"),
            Column("given", ["{" + word + "}" for word in differing["given"][:rows]], kind="words"),
            Column("only", words[:rows], kind="words"),
        ]
        heading = f"Faithfulness: {verdict}, {counted(n, 'disagreement')}"
        return Summary((heading,), columns, hidden(n, min(n, rows)))


def faithfulness(dist: FiniteDistribution, parents: Parents) -> Faithfulness:
    r"""Compare the conditional independences of a distribution with a directed acyclic graph.

    A distribution is *Markov* to a graph if d-separation implies independence, and *faithful* to
    it if independence implies d-separation as well: for all disjoint sets A, C and Z of variables,

    .. math:: A \perp C | Z \iff Z \text{ d-separates } A \text{ and } C

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of up to 13 features and Y; a context is left out.
    parents : mapping of str to iterable of str
        Parents of each variable in the graph, features and Y, by name; variables that are left out
        have none.

    Returns
    -------
    Faithfulness
        All pairs of variables and sets Z where the two differ, smaller sets first.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a variable is not there, the graph has a cycle, or there are too many features.

    Notes
    -----
    Single variables A and C with every Z are enough. Independence of sets implies that of their
    members (decomposition), and sets are d-separated if all their members are; conversely sets that
    are d-separated have d-separated members given Z and any other members, and independence of all
    of these implies that of the sets (contraction).

    References
    ----------
    J. Pearl (1988). Probabilistic Reasoning in Intelligent Systems. Morgan Kaufmann. A. Sutera
    (2019). PhD thesis, University of Liège, section 2.4.2.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.distributions.specification import bernoulli, copy
    >>> from duramen.theory.dependence import faithfulness
    >>> chain = {"X1": bernoulli(0.3), "X2": copy("X1", 0.9), "Y": copy("X2", 0.8)}
    >>> faithfulness(dm.theory.specify(chain), {"X2": ["X1"], "Y": ["X2"]}).faithful
    True
    """
    check_distribution(_FUNCTION, dist)
    names = (*dist.names, dist.target_name)
    if len(names) > _MOST_VARIABLES:
        raise ValueError(
            f"{_FUNCTION}: dist must have at most {_MOST_VARIABLES - 1} features, got "
            f"{dist.n_features}: all pairs are examined given all sets. Hint: use a marginal "
            "distribution of fewer features, and the graph of its variables."
        )
    graph = _Graph(_FUNCTION, parents, names)
    lattice, entropies = joint_entropies(_FUNCTION, dist)
    dependent: list[Triple] = []
    independent: list[Triple] = []
    for k in range(2, len(lattice)):
        pairs_independent = independent_pairs(lattice, entropies, k)
        for subset, members in enumerate(lattice[k].members.tolist()):
            for i in range(k):
                for j in range(i + 1, k):
                    given = [v for v in members if v not in (members[i], members[j])]
                    separated = graph.separates(members[i], members[j], given)
                    if separated != pairs_independent[subset, i, j]:
                        a, c = names[members[i]], names[members[j]]
                        differing = dependent if separated else independent
                        differing.append((a, c, tuple(names[v] for v in given)))
    return Faithfulness(tuple(dependent), tuple(independent))


def d_separated(parents: Parents, a: str, c: str, given: Iterable[str] = ()) -> bool:
    """Decide whether a set of variables d-separates two others in a directed acyclic graph.

    It does if every path between them has a variable in the set that is no collider on it, or a
    collider that is not in the set and has no descendant there (Pearl 1988).

    Parameters
    ----------
    parents : mapping of str to iterable of str
        Parents of each variable, by name; variables that are left out have none.
    a, c : str
        Two variables of the graph.
    given : iterable of str
        The set; by default empty.

    Raises
    ------
    ValueError
        If a variable is not in the graph, is both in the set and outside, or there is a cycle.

    Examples
    --------
    >>> from duramen.theory.dependence import d_separated
    >>> collider = {"Y": ["X1", "X2"]}
    >>> d_separated(collider, "X1", "X2"), d_separated(collider, "X1", "X2", given=["Y"])
    (True, False)
    """
    function = "d_separated"
    edges = {name: _listed(some) for name, some in parents.items()}
    given = _listed(given)
    names = tuple(dict.fromkeys([*edges, *(name for some in edges.values() for name in some)]))
    graph = _Graph(function, edges, names)
    places = [graph.place(function, name) for name in (a, c, *given)]
    if len(set(places[:2])) < 2 or set(places[:2]) & set(places[2:]):
        raise ValueError(
            f"{function}: a, c and given must be different variables, got {a!r}, {c!r} and "
            f"{list(given)!r}."
        )
    return graph.separates(places[0], places[1], places[2:])


def _listed(names: Iterable[str]) -> list[str]:
    """Return names as a list; a string is one name."""
    return [names] if isinstance(names, str) else list(names)


class _Graph:
    """Directed acyclic graph of variables 0 .. n - 1."""

    def __init__(self, function: str, parents: Parents, names: Sequence[str]) -> None:
        if not isinstance(parents, Mapping):
            raise refuse(function, "parents", "a mapping of names to their parents", parents)
        self.names = tuple(names)
        n = len(names)
        self.parents: list[list[int]] = [[] for _ in range(n)]
        self.children: list[list[int]] = [[] for _ in range(n)]
        for name, some in parents.items():
            child = self.place(function, name)
            for name_ in _listed(some):
                parent = self.place(function, name_)
                self.parents[child].append(parent)
                self.children[parent].append(child)
        try:
            TopologicalSorter(dict(enumerate(self.parents))).prepare()
        except CycleError as error:
            cycle = ", ".join(self.names[v] for v in sorted(set(error.args[1])))
            raise ValueError(
                f"{function}: parents must have no cycle, got one through {cycle}."
            ) from None
        self._reached: dict[tuple[int, int], set[int]] = {}

    def place(self, function: str, name: str) -> int:
        """Return the number of a variable."""
        if name not in self.names:
            names = ", ".join(map(repr, self.names))
            raise ValueError(f"{function}: there is no variable {name!r}. Variables: {names}.")
        return self.names.index(name)

    def separates(self, a: int, c: int, given: Sequence[int]) -> bool:
        """Return whether a set d-separates two variables."""
        key = a, sum(1 << v for v in given)
        if key not in self._reached:
            self._reached[key] = self._active(a, set(given))
        return c not in self._reached[key]

    def _active(self, a: int, given: set[int]) -> set[int]:
        """Return the variables that an active path leads to, by passing a ball (Shachter 1998)."""
        waiting = [(a, True)]  # a variable, and whether the ball comes from a child
        seen: set[tuple[int, bool]] = set()
        while waiting:
            step = waiting.pop()
            if step in seen:
                continue
            seen.add(step)
            v, from_child = step
            if v in given:
                if not from_child:  # a collider that is known
                    waiting += [(parent, True) for parent in self.parents[v]]
                continue
            waiting += [(child, False) for child in self.children[v]]
            if from_child:
                waiting += [(parent, True) for parent in self.parents[v]]
        return {v for v, _ in seen} - given
