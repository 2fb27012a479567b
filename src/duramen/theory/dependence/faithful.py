"""Faithfulness of a distribution to a directed acyclic graph: d-separation and independence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from duramen.results.columns import Column, counted, hidden
from duramen.results.summary import Framed, Summary
from duramen.support.checks import refuse
from duramen.theory.dependence.assumptions import independent_pairs
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.subsets import joint_entropies

Parents = Mapping[str, Iterable[str]]

_FUNCTION = "faithfulness"
_MOST_VARIABLES = 14

# One variable, another, and a set of variables that they are independent or separated given.
Triple = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class Faithfulness(Framed):
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
            "independent": [not one for one in separated],
        }

    def _summary(self, rows: int) -> Summary:
        verdict = "faithful" if self.faithful else "Markov, not faithful"
        if not self.markov:
            verdict = "not Markov"
        found = self.columns()
        n = len(found["a"])
        words = ["d-separated" if one else "independent" for one in found["d_separated"]]
        columns = [
            Column("a", found["a"][:rows], kind="words"),
            Column("c", found["c"][:rows], kind="words"),
            Column("given", ["{" + one + "}" for one in found["given"][:rows]], kind="words"),
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
        found = independent_pairs(lattice, entropies, k)
        for subset, members in enumerate(lattice[k].members.tolist()):
            for i in range(k):
                for j in range(i + 1, k):
                    given = [v for v in members if v not in (members[i], members[j])]
                    separated = graph.separates(members[i], members[j], given)
                    if separated != found[subset, i, j]:
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
    edges = {name: list(some) for name, some in parents.items()}
    names = tuple(dict.fromkeys([*edges, *(one for some in edges.values() for one in some)]))
    graph = _Graph(function, edges, names)
    places = [graph.place(function, name) for name in (a, c, *given)]
    if len(set(places[:2])) < 2 or set(places[:2]) & set(places[2:]):
        raise ValueError(
            f"{function}: a, c and given must be different variables, got {a!r}, {c!r} and "
            f"{list(given)!r}."
        )
    return graph.separates(places[0], places[1], places[2:])


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
            for one in some:
                parent = self.place(function, one)
                self.parents[child].append(parent)
                self.children[parent].append(child)
        self._check_cycles(function)
        self._reached: dict[tuple[int, int], set[int]] = {}

    def place(self, function: str, name: str) -> int:
        """Return the number of a variable."""
        if name not in self.names:
            known = ", ".join(map(repr, self.names))
            raise ValueError(f"{function}: there is no variable {name!r}. Variables: {known}.")
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

    def _check_cycles(self, function: str) -> None:
        try:
            TopologicalSorter(dict(enumerate(self.parents))).prepare()
        except CycleError as error:
            cycle = ", ".join(self.names[v] for v in sorted(set(error.args[1])))
            raise ValueError(
                f"{function}: parents must have no cycle, got one through {cycle}."
            ) from None
