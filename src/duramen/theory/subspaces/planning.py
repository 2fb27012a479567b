r"""Plans of a selection under memory constraints: subspace size and number of trees.

Given what memory there is and how many relevant features of which degree are expected,
`search_plan` advises the subspace size q, the fraction :math:`\alpha` of it for features found
before, and the number of trees. It bounds the number of trees with which all relevant features are
found, but for a given risk, in the model of `simulate` with K = q and infinitely many rows:

* A feature of degree k comes *after* its k companions when these have lower degrees among
  themselves, the i-th of them a degree below i, as in distributions with the composition property
  (Sutera et al. 2018, Theorem 3). A tree that holds it and its companions finds it.
* Where there are too few features of lower degree for that, as for the two sides of an exclusive
  or, those of degree k are taken to form cliques of k + 1: a tree that holds all of one finds one
  of them.

For the first kind, with a places of a tree taken by features found before, each feature has at
least the probability :math:`c_k` of being found by a tree, computed for the worst case that all
others were found. Then :math:`T_k = \ln(n_k L / \delta) / -\ln(1 - c_k)` trees find the :math:`n_k`
features of degree k but for a risk :math:`\delta / L`, L being the number of degrees. With features
kept they are found degree by degree, and their :math:`T_k` add up; without, all are looked for at
once and the largest counts. For the second kind :math:`T_k` comes from the exact Markov chain of a
clique, in the places that all other features leave at the worst.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np

from duramen.results.archive import Savable, Saved
from duramen.results.summary import Column, Summarized, Summary
from duramen.support.checks import check_integer, check_real, refuse
from duramen.support.text import parsed_size
from duramen.theory.samples import information_threshold
from duramen.theory.subspaces.convergence import (
    blind_probability,
    companions_probability,
    draws_needed,
    expected_trees,
    hypergeometric,
    kept_places,
    trees_to_find_all,
)

# What growing one tree takes beside the codes: for each row its place in two orders, its
# multiplicity and weight in the bag (4 bytes each) and its target (8 bytes); and the largest tree,
# with one row a leaf, 41 bytes a node and 8 bytes a class and leaf.
_ROW_BYTES = 24
_NODE_BYTES = 41
_LEAF_VALUE_BYTES = 8


@dataclass(frozen=True, repr=False)
class Plan(Saved, Summarized):
    r"""Advised subspace size, fraction kept and number of trees, with the options compared.

    Parameters
    ----------
    subspace : int
        Number q of features that a tree is grown on.
    keep : float
        Fraction :math:`\alpha` of these that may be taken by features found before.
    n_trees : int
        Number of trees.
    options : tuple of PlanOption
        Numbers of trees for each fraction compared, `keep` among them.
    n_rows, n_features, memory : int
        What was given; memory in bytes.
    relevant : mapping of int to int
        Number of relevant features expected of each degree.
    bytes_per_value, n_classes : int
        Bytes of a code, and classes of the target.
    overhead : int
        Bytes set aside for growing a tree, beside the codes.
    bytes_per_feature : int
        Bytes that the codes of one feature take.
    risk : float
        Probability with which the trees may not do.

    Examples
    --------
    >>> from duramen.theory.subspaces import search_plan
    >>> asked = {"n_rows": 1000, "n_features": 10_000, "memory": 10**6}
    >>> advice = search_plan(**asked, relevant={0: 5, 1: 3})
    >>> advice.subspace, len(advice.options), advice.n_relevant
    (878, 3, 8)
    """

    subspace: int
    keep: float
    n_trees: int
    options: tuple[PlanOption, ...]
    n_rows: int
    n_features: int
    memory: int
    relevant: Mapping[int, int]
    bytes_per_value: int
    n_classes: int
    overhead: int
    bytes_per_feature: int
    risk: float

    @property
    def n_relevant(self) -> int:
        """Number r of relevant features expected."""
        return sum(self.relevant.values())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for the advice, in sentences."""
        p, q, r, highest = self.n_features, self.subspace, self.n_relevant, max(self.relevant)
        if q == p:
            sentences = [
                f"All {p:,} features fit into memory: no subspace and no kept features are needed."
            ]
        else:
            held = companions_probability(p, q, highest)
            one_in = _count(1.0 / held if held else inf)
            companions = f" of degree {highest} and all its companions" if highest else ""
            sentences = [
                f"Besides {_count(self.overhead)} bytes for growing a tree, memory holds the codes "
                f"of {q:,} of {p:,} features, {_count(self.bytes_per_feature)} bytes each; every "
                "probability of a discovery increases with their number.",
                f"{blind_probability(p, q, r):.1%} of the trees on random features hold none of "
                f"the {r:,} relevant ones; one in {one_in} holds a given relevant one{companions}.",
            ]
        together = [
            str(degree) for degree in self.relevant if not comes_after(degree, self.relevant)
        ]
        if together:
            sentences.append(
                "There are too few features of lower degree to be the companions of those of "
                f"degree {', '.join(together)}: these are assumed to form cliques, as the inputs "
                "of an exclusive or do."
            )
        if r > q:
            best = next(option for option in self.options if option.keep == self.keep)
            sentences.append(
                f"The {r:,} relevant features do not all fit into one tree; of those found, it "
                f"keeps at most {best.places:,}."
            )
        return tuple(sentences)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Limits on finitely many rows, in sentences."""
        n, q = self.n_rows, self.subspace
        score = chance_of_the_best(n, q, self.n_classes)
        chance = f"has about {score:.2g} bits of information on the target"
        if self.n_classes == 1:
            chance = f"explains about {score:.2g} of the target's variance"
        return (
            "The numbers of trees assume infinitely many rows, so that a tree that holds a feature "
            f"and its companions finds the feature. On {n:,} rows they are lower bounds: searches "
            "with a test took 4 to 60 times as many trees, and did not always find all features.",
            f"By chance the best of {q:,} irrelevant features with two values {chance} at the root "
            "of a tree, and twice as much at a node with half of the rows. A relevant feature with "
            "less information there loses the split to an irrelevant one.",
            "Let a test decide which features are relevant, and grow trees until more trees find "
            "no new feature (duramen select); where one forest holds all features, duramen rank "
            "does both.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data that JSON can hold; infinity becomes None."""

        def plain(value: Any) -> Any:
            if isinstance(value, Mapping):
                return {str(key): plain(item) for key, item in value.items()}
            if isinstance(value, tuple):
                return [plain(item) for item in value]
            return None if value == inf else value

        texts = {"reasons": self.reasons, "cautions": self.cautions}
        fields: dict[str, Any] = plain(asdict(self) | texts)
        return fields

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"Plan: at least {_count(self.n_trees)} trees on {self.subspace} of {self.n_features} "
            f"features each, keep = {self.keep:g}"
        )
        options = self.options
        columns = [
            Column("keep", [f"{option.keep:g}" for option in options]),
            Column("trees", [_count(option.trees) for option in options]),
            Column("to find all", [_count(option.trees_to_find) for option in options]),
            Column("to see all", [_count(option.trees_to_see) for option in options]),
        ]
        below = tuple(f"- {words}" for words in self.reasons + self.cautions)
        return Summary((heading,), columns, below)


def search_plan(
    *,
    n_rows: int,
    n_features: int,
    memory: int | str,
    relevant: Mapping[int, int],
    bytes_per_value: int = 1,
    n_classes: int = 2,
    risk: float = 0.05,
    keep: float | Iterable[float] = (0.0, 0.5, 1.0),
) -> Plan:
    """Plan the search for relevant features when not all features fit into memory.

    Parameters
    ----------
    n_rows, n_features : int
        Numbers n and p of the table.
    memory : int or str
        Bytes that growing a tree may take, such as 10**9 or ``"64MB"``.
    relevant : mapping of int to int
        Number of relevant features that are expected of each degree: ``{0: 10, 1: 4}`` for ten
        that matter by themselves and four that do given one other.
    bytes_per_value : {1, 2, 4}, default=1
        Bytes of a code: 1 up to 256 distinct values a feature, 2 up to 65 536, else 4.
    n_classes : int, default=2
        Classes of the target; 1 for a number.
    risk : float, default=0.05
        Probability, in (0, 1), with which the trees may miss a relevant feature, and with which
        they may leave some feature unseen.
    keep : float or iterable of float, default=(0, 0.5, 1)
        Fraction of the subspace for features found before; of several, those that are compared.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If a parameter is out of its range, or memory holds too few features to find one of the
        highest degree with its companions.

    Notes
    -----
    As many features as memory holds are best: every probability grows with q. The fraction with the
    fewest trees is taken, the smaller one of two that need as many, which explores more.
    The numbers of trees hold for the model, with infinitely many rows, and are lower bounds for
    real tables; ``cautions`` of the result lists the limits on finitely many rows.

    References
    ----------
    A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace with trees for
    feature selection under memory constraints. AISTATS 21.

    Examples
    --------
    >>> from duramen.theory.subspaces.planning import search_plan
    >>> asked = {"n_rows": 1000, "n_features": 10_000, "memory": 10**6}
    >>> advice = search_plan(**asked, relevant={0: 5, 1: 3, 2: 1})
    >>> advice.subspace, advice.keep, advice.n_trees
    (878, 0.5, 166)
    """
    function = "search_plan"
    n = check_integer(function, "n_rows", n_rows, 1, most=inf)
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    size = parsed_size(memory) if isinstance(memory, str) else None
    hint = "it is a number of bytes, or a size such as '512MB'"
    memory = memory if size is None else size
    budget = check_integer(function, "memory", memory, 1, most=inf, hint=hint)
    if not isinstance(relevant, Mapping) or not relevant:
        raise refuse(function, "relevant", "a mapping of degrees to numbers of features", relevant)
    counts: dict[int, int] = {}
    for degree, number in sorted(relevant.items()):
        degree = check_integer(function, "a degree in relevant", degree, 0)
        counts[degree] = check_integer(function, f"relevant[{degree}]", number, 1)
    highest = max(counts)
    if not highest < sum(counts.values()) <= p:
        allowed = f"at least {highest + 1} features if one has degree {highest}, and at most {p}"
        hint = "a degree counts other relevant features, which must be listed too"
        raise refuse(function, "relevant", allowed, relevant, hint)
    if bytes_per_value not in (1, 2, 4):
        raise refuse(function, "bytes_per_value", "1, 2 or 4", bytes_per_value)
    classes = check_integer(function, "n_classes", n_classes, 1)
    delta = check_real(function, "risk", risk, 0.0, 1.0, ends="()")
    several = keep if isinstance(keep, Iterable) else [keep]
    fractions = sorted({check_real(function, "keep", fraction, 0.0, 1.0) for fraction in several})
    if not fractions:
        raise refuse(function, "keep", "at least one fraction", keep)

    overhead = n * _ROW_BYTES + (2 * n - 1) * _NODE_BYTES + n * classes * _LEAF_VALUE_BYTES
    feature_bytes = n * bytes_per_value
    q = min(p, max(0, budget - overhead) // feature_bytes)
    if q <= highest:
        companions = f" with its {highest} companions" if highest else ""
        raise ValueError(
            f"search_plan: memory must be at least {overhead + (highest + 1) * feature_bytes} "
            f"bytes for a tree on a feature of degree {highest}{companions}: {overhead} for "
            f"growing it and {feature_bytes} per feature; got {budget}. Hint: allow more memory, "
            "or use a subset of the rows."
        )
    if q == p:
        fractions = [0.0]
    options = tuple(plan_option(p, q, counts, fraction, delta) for fraction in fractions)
    best = min(options, key=lambda option: (option.trees, option.keep))
    if best.trees == math.inf:
        raise ValueError(
            f"search_plan: with keep={', '.join(f'{alpha:g}' for alpha in fractions)} features "
            f"found fill all {q} places of a tree before all {sum(counts.values())} are found. "
            "Hint: allow a smaller fraction, such as 0."
        )
    return Plan(
        subspace=q,
        keep=best.keep,
        n_trees=int(best.trees),
        options=options,
        n_rows=n,
        n_features=p,
        memory=budget,
        relevant=counts,
        bytes_per_value=int(bytes_per_value),
        n_classes=classes,
        overhead=overhead,
        bytes_per_feature=feature_bytes,
        risk=delta,
    )


def _count(number: float) -> str:
    """Return a number of trees as text: whole, or in powers of ten when it is huge."""
    if number == inf:
        return "inf"
    return f"{number:.3g}" if number >= 1e9 else f"{math.ceil(number):,}"


@dataclass(frozen=True)
class PlanOption(Savable):
    r"""Numbers of trees for one fraction of the subspace kept.

    Parameters
    ----------
    keep : float
        Fraction :math:`\alpha` of the subspace that may be taken by features found before.
    places : int
        The most places of a tree that are then taken by relevant features found before.
    chances : mapping of int to float
        Probability at the worst that a tree finds a given feature, by its degree.
    trees_by_degree : mapping of int to float
        Trees that find all features of a degree, but for its part of the risk, by degree.
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
    trees : float
        Trees to see every feature and to find all relevant ones, but for the risk.

    Examples
    --------
    >>> from duramen.theory.subspaces import search_plan
    >>> asked = {"n_rows": 1000, "n_features": 10_000, "memory": 10**6}
    >>> advice = search_plan(**asked, relevant={0: 5, 1: 3})
    >>> [(option.keep, option.trees) for option in advice.options]
    [(0.0, 620), (0.5, 134), (1.0, 134)]
    """

    keep: float
    places: int
    chances: Mapping[int, float]
    trees_by_degree: Mapping[int, float]
    trees_to_find: float
    trees_to_see: float
    chain_trees: float
    marginal_trees: float
    trees: float


def plan_option(p: int, q: int, counts: Mapping[int, int], keep: float, risk: float) -> PlanOption:
    """Return the numbers of trees for one fraction kept, with `counts` features by degree."""
    r, places, highest = sum(counts.values()), kept_places(q, keep), max(counts)
    taken = min(places, r)

    def held(kept: int, wanted: int) -> float:
        """Return the probability that the places left in a tree hold all of some features."""
        return companions_probability(p - kept, q - kept, wanted - 1) if wanted <= q - kept else 0.0

    chances: dict[int, float] = {}
    trees: dict[int, float] = {}
    in_turn, together = [0.0], [0.0]
    part = risk / len(counts)
    for degree, number in counts.items():
        trees[degree] = inf
        if comes_after(degree, counts):
            # Of the r - 1 others, all found, some are kept at random; companions among them are
            # held, the rest and the feature itself have to be drawn.
            kept = min(places, r - 1)
            among = hypergeometric(r - 1, degree, kept)
            drawn = np.array([held(kept, degree - i + 1) for i in range(among.size)])
            chance = chances[degree] = float(among @ drawn)
            if chance >= 1.0:
                trees[degree] = 1.0
            elif chance > 0.0:  # trees after which it has happened, but for the risk
                needed = math.log(part / number) / math.log1p(-chance)
                exactly = abs(needed - round(needed)) <= 1e-14 * needed
                trees[degree] = max(1, round(needed) if exactly else math.ceil(needed))
            in_turn.append(trees[degree])
        else:
            others, size = min(places, r - 1 - degree), degree + 1
            chances[degree] = held(others, size) / size
            left = q - others
            if left >= size:
                trees[degree] = trees_to_find_all(
                    "clique",
                    n_features=p - others,
                    subspace=left,
                    n_relevant=size,
                    keep=(places - others) / left,
                    risk=part / -(-number // size),
                )
            together.append(trees[degree])
    to_find = max([sum(in_turn) if places else max(in_turn), *together])
    to_see = draws_needed(p - taken, q - taken, risk) if taken < q else inf
    setting: dict[str, Any] = {"n_features": p, "subspace": q, "keep": keep}
    return PlanOption(
        keep=keep,
        places=taken,
        chances=chances,
        trees_by_degree=trees,
        trees_to_find=to_find,
        trees_to_see=to_see,
        chain_trees=expected_trees("chain", n_relevant=highest + 1, **setting),
        marginal_trees=(
            expected_trees("marginal", n_relevant=counts[0], **setting) if 0 in counts else 0.0
        ),
        trees=max(to_find, to_see),
    )


def comes_after(degree: int, counts: Mapping[int, int]) -> bool:
    """Return whether enough features of lower degrees exist as companions."""
    below = [sum(n for k, n in counts.items() if k < i) for i in range(1, degree + 1)]
    return all(number >= i for i, number in enumerate(below, start=1))


def chance_of_the_best(n_rows: int, n_candidates: int, n_classes: int) -> float:
    """Compute the median of the largest score of irrelevant features with two values.

    The median of the largest plug-in information with the target, in bits, or, for a number, of the
    largest fraction of its variance explained: 2 n ln 2 times the former and n times the latter
    follow a chi-square distribution with C - 1 degrees of freedom, or one (thesis, eq. 5.14). The
    median of the largest of q is bounded by the quantile of 1 - 1 / (2 q) of a single one. The C
    classes are equally frequent; C is 1 for a number.
    """
    from scipy import special

    if n_classes == 1:
        return min(1.0, float(special.chdtri(1.0, 0.5 / n_candidates)) / n_rows)
    bits = information_threshold(0.5, n_rows, 2, n_classes, n_candidates=n_candidates)
    return min(1.0, math.log2(n_classes), bits)
