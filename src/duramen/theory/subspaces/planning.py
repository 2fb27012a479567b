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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np

from duramen.results.columns import Column
from duramen.results.summary import Summarized, Summary
from duramen.support.checks import check_integer, check_real, refuse
from duramen.theory.samples import expected_information, information_threshold
from duramen.theory.subspaces.convergence import (
    blind_probability,
    companions_probability,
    draws_needed,
    expected_trees,
    hypergeometric,
    kept_places,
    rounded_up,
    trees_to_find_all,
)

# What growing one tree takes beside the codes: for each row its place in two orders, its
# multiplicity and weight in the bag (4 bytes each) and its target (8 bytes); and the largest tree,
# with one row a leaf, 41 bytes a node and 8 bytes a class and leaf.
_ROW_BYTES = 24
_NODE_BYTES = 41
_LEAF_VALUE_BYTES = 8
_MANY_TREES = 1_000_000


@dataclass(frozen=True, repr=False)
class Plan(Summarized):
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
        return tuple(_reasons(self))

    @property
    def cautions(self) -> tuple[str, ...]:
        """Limits on finitely many rows, in sentences."""
        return (
            "The numbers of trees assume infinitely many rows, so that a tree that holds a feature "
            f"and its companions finds the feature. On {self.n_rows:,} rows they are lower bounds, "
            "because of sampling error.",
            _chance(self.n_rows, self.subspace, self.n_classes),
            _depth(self.n_rows, self.subspace, max(self.relevant)),
            "Measured in searches with a test on 500 and 2,000 rows (40 of 200 features a tree, up "
            "to 1,000 trees; see the guide on convergence): chains took about four times the "
            "number of the model where features found were kept; six features that decide a sixth "
            "of the target each took 40 to 60 times the number on 2,000 rows, and half of the "
            "searches did not find all of them; exclusive ors of three features were never found.",
            "Rank all features with one forest (duramen rank), with as many trees as a stable "
            "ranking needs (duramen.significance.trees_needed), and let a test decide which are "
            "relevant."
            if self.subspace == self.n_features
            else "Let a test decide which features are found, as duramen select does, and grow "
            "trees until more trees find no new feature.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data that JSON can hold; infinity becomes None."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        options = [{**asdict(option), "trees": option.trees} for option in self.options]
        for option in options:
            for name in ("chances", "trees_by_degree"):
                option[name] = {str(degree): value for degree, value in option[name]}
        plain["relevant"] = {str(degree): number for degree, number in self.relevant.items()}
        words = {"reasons": self.reasons, "cautions": self.cautions}
        result: dict[str, Any] = _finite(plain | {"options": options} | words)
        return result

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"Plan: at least {_trees(self.n_trees)} on {self.subspace} of {self.n_features} "
            f"features each, keep = {self.keep:g}"
        )
        columns = [Column("keep", [f"{option.keep:g}" for option in self.options])]
        for title, name in (
            ("trees", "trees"),
            ("to find all", "trees_to_find"),
            ("to see all", "trees_to_see"),
            ("a chain", "chain_trees"),
            ("all of degree 0", "marginal_trees"),
        ):
            columns.append(
                Column(title, [_count(getattr(option, name)) for option in self.options])
            )
        below = tuple(f"- {words}" for words in self.reasons + self.cautions)
        return Summary((heading,), columns, below)


def search_plan(
    *,
    n_rows: int,
    n_features: int,
    memory: int,
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
    memory : int
        Bytes that growing a tree may take.
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
    budget = check_integer(function, "memory", memory, 1, most=inf, hint="it is a number of bytes")
    counts = _checked_relevant(relevant, p)
    if bytes_per_value not in (1, 2, 4):
        raise refuse(function, "bytes_per_value", "1, 2 or 4", bytes_per_value)
    classes = check_integer(function, "n_classes", n_classes, 1)
    delta = check_real(function, "risk", risk, 0.0, 1.0, ends="()")
    fractions_asked = keep if isinstance(keep, Iterable) else [keep]
    fractions = sorted(
        {check_real(function, "keep", fraction, 0.0, 1.0) for fraction in fractions_asked}
    )
    if not fractions:
        raise refuse(function, "keep", "at least one fraction", keep)

    overhead = n * _ROW_BYTES + (2 * n - 1) * _NODE_BYTES + n * classes * _LEAF_VALUE_BYTES
    feature_bytes = n * bytes_per_value
    q = min(p, max(0, budget - overhead) // feature_bytes)
    if q <= (highest := max(counts)):
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


def _checked_relevant(relevant: Mapping[int, int], p: int) -> dict[int, int]:
    if not isinstance(relevant, Mapping) or not relevant:
        raise refuse(
            "search_plan", "relevant", "a mapping of degrees to numbers of features", relevant
        )
    counts = {
        check_integer("search_plan", "a degree in relevant", degree, 0): check_integer(
            "search_plan", f"relevant[{degree!r}]", number, 1
        )
        for degree, number in sorted(relevant.items())
    }
    r, highest = sum(counts.values()), max(counts)
    if r > p:
        raise refuse("search_plan", "relevant", f"at most the {p} features of the table", relevant)
    if highest >= r:
        raise refuse(
            "search_plan",
            "relevant",
            f"at least {highest + 1} features if one has degree {highest}",
            relevant,
            "a degree counts other relevant features, which must be listed too",
        )
    return counts


# --- why ------------------------------------------------------------------------------------------


def _reasons(plan: Plan) -> Iterator[str]:
    p, q, r, counts = plan.n_features, plan.subspace, plan.n_relevant, plan.relevant
    best = next(option for option in plan.options if option.keep == plan.keep)
    if q == p:
        yield f"All {p:,} features fit into memory: no subspace and no kept features are needed."
    else:
        yield (
            f"Besides {_count(plan.overhead)} bytes for growing a tree, memory holds the codes of "
            f"{q:,} of {p:,} features, {_count(plan.bytes_per_feature)} bytes each; every "
            "probability of a discovery increases with their number, so that all memory is used."
        )
        highest = max(counts)
        held = companions_probability(p, q, highest)
        plural = "s" if highest > 1 else ""
        held_together = (
            f"a given one of degree {highest} and its {highest} companion{plural}"
            if highest
            else "a given relevant one"
        )
        yield (
            f"{blind_probability(p, q, r):.1%} of the trees on random features hold none of the "
            f"{r:,} relevant ones; one in {_count(1.0 / held if held else math.inf)} holds "
            f"{held_together}."
        )
    others = [option for option in plan.options if option is not best]
    if others:
        compared = "; ".join(
            f"keep = {option.keep:g} needs {_count(option.trees)}" for option in others
        )
        cause = (
            "Features found are kept, so that features that are relevant only together with them "
            "can be found."
        )
        if best.keep == 0.0:
            cause = "Kept features would take places from the others."
        elif max(counts) == 0:
            cause = "Among the fractions compared, it leaves the most places for new features."
        yield f"keep = {best.keep:g} needs {_trees(best.trees)}; {compared}. {cause}"
    yield (
        "With infinitely many rows, finding all relevant features needs "
        f"{_trees(best.trees_to_find)}, and giving every feature to a tree needs "
        f"{_trees(best.trees_to_see)} (coupon collector), each with a probability of at least "
        f"{1.0 - plan.risk:g}; the larger number is advised."
    )
    together = [str(degree) for degree in counts if not comes_after(degree, counts)]
    if together:
        yield (
            "There are too few features of lower degree to be the companions of those of degree "
            f"{', '.join(together)}: these are assumed to form cliques, as the inputs of an "
            "exclusive or do."
        )
    if r > q:
        yield (
            f"The {r:,} relevant features do not all fit into one tree; of those found, it keeps "
            f"at most {best.places:,}."
        )
    if best.trees > _MANY_TREES:
        yield (
            "So many trees are rarely feasible: allow more memory, or expect to find only "
            "features of lower degree."
        )


def _finite(data: Any) -> Any:
    """Return plain data with lists for tuples and None for infinity."""
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if data == math.inf else data


def _count(number: float) -> str:
    """Return a number of trees as text: whole, or in powers of ten when it is huge."""
    if number == math.inf:
        return "inf"
    return f"{number:.3g}" if number >= 1e9 else f"{math.ceil(number):,}"


def _trees(number: float) -> str:
    return f"{_count(number)} tree" + ("" if number == 1 else "s")


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
    >>> from duramen.theory.subspaces import search_plan
    >>> asked = {"n_rows": 1000, "n_features": 10_000, "memory": 10**6}
    >>> advice = search_plan(**asked, relevant={0: 5, 1: 3})
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
    expected = partial(expected_trees, n_features=p, subspace=q, keep=keep)
    in_turn = sum(after) if places else max(after, default=0.0)
    return PlanOption(
        keep=keep,
        places=taken,
        chances=tuple(chances.items()),
        trees_by_degree=tuple(trees.items()),
        trees_to_find=max([in_turn, *together]),
        trees_to_see=draws_needed(p - taken, q - taken, risk) if taken < q else math.inf,
        chain_trees=expected("chain", n_relevant=highest + 1),
        marginal_trees=expected("marginal", n_relevant=counts[0]) if 0 in counts else 0.0,
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


def comes_after(degree: int, counts: Mapping[int, int]) -> bool:
    """Return whether there are enough features of lower degrees to be companions in turn."""
    below = [sum(n for k, n in counts.items() if k < i) for i in range(1, degree + 1)]
    return all(number >= i for i, number in enumerate(below, start=1))


def _held_after(p: int, q: int, n_found: int, taken: int, companions: int) -> float:
    """Return the probability that a tree holds a feature and its companions, which were found.

    Of the `found` features, `taken` are kept at random; some companions are among these, the
    others and the feature itself have to be drawn from the rest.
    """
    probabilities = hypergeometric(n_found, companions, taken)
    rest = [_held(p, q, taken, companions - held + 1) for held in range(probabilities.size)]
    return float(probabilities @ np.array(rest))


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


_MEDIAN = 0.5


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
        return min(1.0, float(special.chdtri(1.0, _MEDIAN / n_candidates)) / n_rows)
    bits = information_threshold(_MEDIAN, n_rows, 2, n_classes, n_candidates=n_candidates)
    return min(1.0, math.log2(n_classes), bits)


def _chance(n_rows: int, q: int, n_classes: int) -> str:
    best = chance_of_the_best(n_rows, q, n_classes)
    if n_classes == 1:
        mean = f"{1.0 / n_rows:.2g}"
        what = f"explains about {best:.2g} of the variance of the target"
    else:
        mean = f"{expected_information(n_rows, 2, n_classes):.2g} bits"
        what = f"has about {best:.2g} bits of information on the target"
    return (
        f"By chance the best of {q:,} irrelevant features with two values {what} at the root of a "
        f"tree (one of them {mean} on average), and twice as much at a node with half of the "
        "rows; features with more values have more. A relevant feature with less information "
        "there loses the split to an irrelevant one."
    )


def _depth(n_rows: int, q: int, highest: int) -> str:
    levels = max(1, round(math.log2(n_rows)))
    text = (
        f"If every split halves the rows, single rows are reached after about {levels} levels, so "
        "that a path conditions on at most about that many features"
    )
    if highest:
        text += (
            f", and a feature of degree {highest} is judged on about "
            f"{max(1, n_rows >> min(highest, 64)):,} rows"
        )
    text += "."
    if n_rows - 1 < q:
        text += (
            f" A tree on {n_rows:,} rows has at most {n_rows - 1:,} splits, so that it leaves out "
            f"most of {q:,} features."
        )
    return text
