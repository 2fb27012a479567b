"""Options of `duramen exact`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from duramen.cli.declaration import choice, group, option
from duramen.cli.inputs import Demo, Small
from duramen.cli.options import Jobs, Printed, Trees

COMMAND = "exact"
MEASURES = ("mdi", "mda")
"""Mean decrease of impurity and of accuracy."""

FEW = 10
"""Distinct numbers up to which a column of numbers is categorical by default."""


@dataclass(frozen=True, kw_only=True)
class Input(Small):
    """Table or column store of a finite distribution, with sample annotations."""

    # The papers leave it out of the primary tumor set.
    demo_set: ClassVar[Demo] = Demo("primary tumor set", "PRIMARY_TUMOR", ("sex",))


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Discretization of columns of numbers."""

    discretize: str = choice(
        "auto",
        "duramen.theory.distributions.discretization:Method",
        f"Method that cuts numeric columns into intervals; auto cuts columns of more than {FEW} "
        "distinct numbers at quantiles.",
        before=("auto",),
        after=("none",),
    )
    bins: int = option(5, "Number of intervals.", metavar="B", min=2)


@dataclass(frozen=True, kw_only=True)
class Splits(Trees):
    """Trees, and their splits."""

    splits: str = choice(
        "multiway",
        "duramen.theory.population.splits:FAMILIES",
        "Family of splits: one branch for each value (multiway), or two branches (the others).",
    )
    cut: str = choice(
        "random",
        "duramen.theory.population.recursion:CUTS",
        "Cut of a feature into two branches: a random one, or the best one.",
    )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Importance of the trees."""

    measure: str = choice(
        "mdi",
        "duramen.cli.exact.options:MEASURES",
        "Importance: mdi, the mean decrease of impurity, or mda, the mean decrease of accuracy "
        "when a feature is permuted (of multiway splits).",
        echo="changed",
    )
    votes: str = choice(
        "tree",
        "duramen.theory.population.accuracy:VOTES",
        "Prediction that --measure mda scores: that of single trees (tree); the vote of all "
        "trees, each with its own permutation (ensemble); or the vote of all trees, with one "
        "permutation for all (predictor).",
        echo="changed",
    )
    given: str = choice(
        "none",
        "duramen.theory.population.accuracy:GIVEN",
        "Features given which --measure mda permutes a feature, among rows with equal values of "
        "these: none, or those associated with it by more than 0.01 bits.",
        before=("none",),
        echo="changed",
    )


@dataclass(frozen=True, kw_only=True)
class Search:
    """Search for relevance."""

    level: float = option(
        0.0,
        "Information, in bits, up to which a feature counts as irrelevant.",
        metavar="BITS",
        min=0.0,
        echo="changed",
    )
    max_degree: int | None = option(
        None,
        "Size of the largest sets of features that relevance is conditioned on; by default, the "
        "largest size that takes a few seconds.",
        metavar="N",
        min=0,
    )
    max_hours: float = option(
        6.0,
        "Longest estimated time, in hours; a longer computation is refused.",
        metavar="H",
        min=0.0,
        echo="never",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen exact`."""

    input: Input = group(Input, "Data")
    intervals: Intervals = group(Intervals, "Intervals")
    trees: Splits = group(Splits, "Trees")
    measured: Measured = group(Measured, "Measure")
    search: Search = group(Search, "Search")
    work: Jobs = group(Jobs, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-exact"))
