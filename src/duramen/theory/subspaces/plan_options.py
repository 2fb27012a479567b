"""Options of a plan: numbers of trees for one fraction of the subspace kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.theory.subspaces.chains import hypergeometric, kept_places, rounded_up
from duramen.theory.subspaces.convergence import (
    companions_probability,
    expected_trees,
    trees_to_find_all,
)
from duramen.theory.subspaces.coverage import draws_needed


@dataclass(frozen=True)
class PlanOption:
    r"""Numbers of trees for one fraction of the subspace kept.

    Parameters
    ----------
    keep : float
        Fraction :math:`\alpha` of the subspace that may be taken by features found before.
    places : int
        The most places of a tree that are then taken by relevant features found before.
    chances : tuple of (int, float)
        Degree, and the probability at the worst that a tree finds a given feature of that degree.
    trees_by_degree : tuple of (int, float)
        Degree, and the trees that find all features of that degree, but for its part of the risk.
    trees_to_find : float
        Trees with which all relevant features are found, but for the risk; or infinity.
    trees_to_see : float
        Trees after which every feature has been in a subspace, but for the risk: the bound of the
        coupon collector, with `places` places taken; or infinity.
    chain_trees : float
        Exact expected number of trees until a chain up to the highest degree is found.
    marginal_trees : float
        Exact expected number of trees until all features of degree 0 are found, were they the
        only relevant ones; 0 if there are none.

    Examples
    --------
    >>> from duramen.theory.subspaces import plan
    >>> advice = plan(n_rows=1000, n_features=10_000, memory=1_000_000, relevant={0: 5, 1: 3})
    >>> [(option.keep, option.trees) for option in advice.options]
    [(0.0, 620), (0.5, 134), (1.0, 134)]
    """

    keep: float
    places: int
    chances: tuple[tuple[int, float], ...]
    trees_by_degree: tuple[tuple[int, float], ...]
    trees_to_find: float
    trees_to_see: float
    chain_trees: float
    marginal_trees: float

    @property
    def trees(self) -> float:
        """Trees to see every feature and to find all relevant ones, but for the risk."""
        return max(self.trees_to_find, self.trees_to_see)


def plan_option(p: int, q: int, counts: Mapping[int, int], keep: float, risk: float) -> PlanOption:
    """Return the numbers of trees for one fraction kept, with `counts` features by degree."""
    r, places, highest = sum(counts.values()), kept_places(q, keep), max(counts)
    taken = min(places, r)
    chances, trees = {}, {}
    for degree, number in counts.items():
        part = risk / len(counts)
        if comes_after(degree, counts):
            chances[degree] = _held_after(p, q, r - 1, min(places, r - 1), degree)
            trees[degree] = _trees_for(chances[degree], part / number)
        else:
            others = min(places, r - 1 - degree)
            size = degree + 1
            chances[degree] = _held(p, q, others, size) / size
            trees[degree] = _clique_trees(p, q, places, others, size, part / -(-number // size))
    after = [trees[degree] for degree in counts if comes_after(degree, counts)]
    together = [trees[degree] for degree in counts if not comes_after(degree, counts)]
    in_turn = sum(after) if places else max(after, default=0.0)
    return PlanOption(
        keep=keep,
        places=taken,
        chances=tuple(chances.items()),
        trees_by_degree=tuple(trees.items()),
        trees_to_find=max([in_turn, *together]),
        trees_to_see=draws_needed(p - taken, q - taken, risk) if taken < q else math.inf,
        chain_trees=_expected("chain", p, q, highest + 1, keep),
        marginal_trees=_expected("marginal", p, q, counts[0], keep) if 0 in counts else 0.0,
    )


def _clique_trees(p: int, q: int, places: int, others: int, size: int, risk: float) -> float:
    """Return the trees that find a clique in the places that other features leave."""
    left = q - others
    if left < size:
        return math.inf
    return trees_to_find_all(
        "clique",
        n_features=p - others,
        subspace=left,
        n_relevant=size,
        keep=(places - others) / left,
        risk=risk,
    )


def _expected(scenario: Any, p: int, q: int, r: int, keep: float) -> float:
    return expected_trees(scenario, n_features=p, subspace=q, n_relevant=r, keep=keep)


def comes_after(degree: int, counts: Mapping[int, int]) -> bool:
    """Return whether there are enough features of lower degrees to be companions in turn."""
    below = [sum(n for k, n in counts.items() if k < i) for i in range(1, degree + 1)]
    return all(number >= i for i, number in enumerate(below, start=1))


def _held_after(p: int, q: int, found: int, taken: int, companions: int) -> float:
    """Return the probability that a tree holds a feature and its companions, which were found.

    Of the `found` features, `taken` are kept at random; some companions are among these, the
    others and the feature itself have to be drawn from the rest.
    """
    kept = hypergeometric(found, companions, taken)
    rest = [_held(p, q, taken, companions - held + 1) for held in range(kept.size)]
    return float(kept @ np.array(rest))


def _held(p: int, q: int, taken: int, wanted: int) -> float:
    """Return the probability that the places left in a tree hold all of the `wanted` features."""
    if wanted > q - taken:
        return 0.0
    return companions_probability(p - taken, q - taken, wanted - 1)


def _trees_for(probability: float, risk: float) -> float:
    """Return the trees after which an event of some probability has happened, but for the risk."""
    if probability == 0.0:
        return math.inf
    if probability >= 1.0:
        return 1
    return max(1, rounded_up(math.log(risk) / math.log1p(-probability)))
