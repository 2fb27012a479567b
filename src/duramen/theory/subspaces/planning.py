r"""Plans of a selection under memory constraints: subspace size and number of trees.

Given what memory there is and how many relevant features of which degree are expected, `plan`
advises the subspace size q, the fraction :math:`\alpha` of it for features found before, and the
number of trees. It bounds the number of trees with which all relevant features are found, but for
a given risk, in the model of `simulate` with K = q and infinitely many rows:

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
from math import inf
from typing import Any

from duramen.results.columns import Column
from duramen.results.summary import Summarized, Summary
from duramen.support.checks import check_integer, check_real, refuse
from duramen.theory.subspaces.cautions import cautions
from duramen.theory.subspaces.convergence import blind_probability, companions_probability
from duramen.theory.subspaces.plan_options import PlanOption, comes_after, plan_option

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
    >>> from duramen.theory.subspaces import plan
    >>> advice = plan(n_rows=1000, n_features=10_000, memory=1_000_000, relevant={0: 5, 1: 3})
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
        given = ("n_rows", "n_features", "subspace", "relevant", "n_classes")
        return cautions(**{name: getattr(self, name) for name in given})

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
            f"features each, alpha = {self.keep:g}"
        )
        columns = [Column("alpha", [f"{option.keep:g}" for option in self.options])]
        for title, name in (
            ("trees", "trees"),
            ("to find all", "trees_to_find"),
            ("to see all", "trees_to_see"),
            ("a chain", "chain_trees"),
            ("all of degree 0", "marginal_trees"),
        ):
            columns.append(Column(title, [_count(getattr(one, name)) for one in self.options]))
        below = tuple(f"- {words}" for words in self.reasons + self.cautions)
        return Summary((heading,), columns, below)


def plan(
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
    >>> from duramen.theory.subspaces.planning import plan
    >>> advice = plan(n_rows=1000, n_features=10_000, memory=1_000_000, relevant={0: 5, 1: 3, 2: 1})
    >>> advice.subspace, advice.keep, advice.n_trees
    (878, 0.5, 166)
    """
    function = "plan"
    n = check_integer(function, "n_rows", n_rows, 1, most=inf)
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    budget = check_integer(function, "memory", memory, 1, most=inf, hint="it is a number of bytes")
    counts = _checked_relevant(relevant, p)
    if bytes_per_value not in (1, 2, 4):
        raise refuse(function, "bytes_per_value", "1, 2 or 4", bytes_per_value)
    classes = check_integer(function, "n_classes", n_classes, 1)
    delta = check_real(function, "risk", risk, 0.0, 1.0, ends="()")
    given = keep if isinstance(keep, Iterable) else [keep]
    fractions = sorted({check_real(function, "keep", fraction, 0.0, 1.0) for fraction in given})
    if not fractions:
        raise refuse(function, "keep", "at least one fraction", keep)

    overhead = n * _ROW_BYTES + (2 * n - 1) * _NODE_BYTES + n * classes * _LEAF_VALUE_BYTES
    feature_bytes = n * bytes_per_value
    q = min(p, max(0, budget - overhead) // feature_bytes)
    _refuse_few(q, max(counts), overhead, feature_bytes, budget)
    if q == p:
        fractions = [0.0]
    options = tuple(plan_option(p, q, counts, fraction, delta) for fraction in fractions)
    best = min(options, key=lambda option: (option.trees, option.keep))
    if best.trees == math.inf:
        raise ValueError(
            f"plan: with keep={', '.join(f'{alpha:g}' for alpha in fractions)} features found fill "
            f"all {q} places of a tree before all {sum(counts.values())} are found. Hint: allow a "
            "smaller fraction, such as 0."
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
        raise refuse("plan", "relevant", "a mapping of degrees to numbers of features", relevant)
    counts = {
        check_integer("plan", "a degree in relevant", degree, 0): check_integer(
            "plan", f"relevant[{degree!r}]", number, 1
        )
        for degree, number in sorted(relevant.items())
    }
    r, highest = sum(counts.values()), max(counts)
    if r > p:
        raise refuse("plan", "relevant", f"at most the {p} features of the table", relevant)
    if highest >= r:
        raise refuse(
            "plan",
            "relevant",
            f"at least {highest + 1} features if one has degree {highest}",
            relevant,
            "a degree counts other relevant features, which must be listed too",
        )
    return counts


def _refuse_few(q: int, highest: int, overhead: int, feature_bytes: int, budget: int) -> None:
    needed = overhead + (highest + 1) * feature_bytes
    if q <= highest:
        what = "one feature" if highest == 0 else f"a feature of degree {highest}"
        with_what = f" with its {highest} companions" if highest else ""
        raise ValueError(
            f"plan: memory must be at least {needed} bytes for a tree on {what}{with_what}: "
            f"{overhead} for growing it and {feature_bytes} per feature; got {budget}. Hint: "
            "allow more memory, or use a subset of the rows."
        )


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
        yield (
            f"{blind_probability(p, q, r):.1%} of the trees on random features hold none of the "
            f"{r:,} relevant ones; one in {_count(1.0 / held if held else math.inf)} holds "
            f"{_with_companions(highest)}."
        )
    others = [option for option in plan.options if option is not best]
    if others:
        compared = "; ".join(
            f"alpha = {option.keep:g} needs {_count(option.trees)}" for option in others
        )
        cause = _cause(best, max(counts))
        yield f"alpha = {best.keep:g} needs {_trees(best.trees)}; {compared}. {cause}"
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


def _cause(best: PlanOption, highest: int) -> str:
    if best.keep == 0.0:
        return "Kept features would take places from the others."
    if highest == 0:
        return "Among the fractions compared, it leaves the most places for new features."
    return (
        "Features found are kept, so that features that are relevant only together with them can "
        "be found."
    )


def _with_companions(degree: int) -> str:
    if degree == 0:
        return "a given relevant one"
    plural = "s" if degree > 1 else ""
    return f"a given one of degree {degree} and its {degree} companion{plural}"


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
