"""Finite distribution of an encoded table, with intervals for columns of many numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import Problem
from duramen.cli.exact.options import FEW

if TYPE_CHECKING:
    from duramen.data import EncodedTable
    from duramen.theory import FiniteDistribution


@dataclass(frozen=True)
class Finite:
    """Finite distribution, and the intervals of its columns of numbers."""

    dist: FiniteDistribution
    method: str  # quantile, uniform, mdl or none
    cuts: dict[str, list[float]]  # cut points of the columns in intervals


def finite(problem: Problem[EncodedTable], how: str, bins: int) -> Finite:
    """Treat the rows of a table as a distribution.

    The method "auto" puts columns of more than 10 (and more than `bins`) distinct numbers into
    intervals by quantiles, any other method those of more than `bins`.

    Raises
    ------
    ValueError
        If the method does not suit the target.
    """
    from duramen.theory import FiniteDistribution
    from duramen.theory.distributions.discretization import discretize

    table: Any = problem.table
    method: Any = "quantile" if how == "auto" else how
    if method == "mdl" and not problem.data.target.categorical:
        raise ValueError(
            "--discretize mdl needs a target of classes, got numbers; use --discretize quantile"
        )
    cuts: dict[str, list[float]] = {}
    if how != "none":
        if how == "auto":
            table = replace(table, kinds=_kinds(problem))
        y = problem.data.y if method == "mdl" else None
        table = discretize(table, y, method=method, n_bins=bins)
        cuts = {name: found.tolist() for name, found in table.cuts.items()}
    return Finite(FiniteDistribution.from_table(table, problem.data.y), method, cuts)


def _kinds(problem: Problem[EncodedTable]) -> tuple[str, ...]:
    """Return the kinds of the columns, those of few numbers as categories."""
    table = problem.table
    return tuple(
        "nominal" if len(table.values(j)) <= FEW else kind for j, kind in enumerate(table.kinds)
    )


def names_of_rows(problem: Problem[EncodedTable], dist: FiniteDistribution) -> list[str]:
    """Return the features with another value in each row, such as numbers of patients.

    Such a feature says everything about the target, and would about any other.
    """
    n_rows = problem.data.n_rows
    pairs = zip(dist.names, dist.cardinalities.tolist(), strict=True)
    return [name for name, n_values in pairs if n_values == n_rows]
