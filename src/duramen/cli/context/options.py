"""Options of `duramen context`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duramen.cli.declaration import choice, group, option
from duramen.cli.inputs import Small
from duramen.cli.options import Printed, Strata, Trees, Work

COMMAND = "context"
_DEMO_CONTEXT = "sex"
_CHOICES = "duramen.results.context_importances"


@dataclass(frozen=True, kw_only=True)
class Contexts:
    """Contexts, and the targets of a network."""

    context: tuple[str, ...] = option(
        (),
        "Column whose values are the contexts, such as sex or hospital; repeat for more. "
        f"With --demo, it is {_DEMO_CONTEXT}.",
        metavar="NAME",
        record="contexts",
    )
    network: bool = option(
        False,
        "Use each column except the context in turn as the target, with the others as features.",
    )
    targets: tuple[str, ...] = option(
        (),
        "With --network: column to use as a target; repeat for more. By default, all columns "
        "are targets.",
        metavar="NAME",
    )


@dataclass(frozen=True, kw_only=True)
class Analysis(Trees):
    """Parameters of the analysis."""

    trees: int = option(1000, "Number of trees.", metavar="T", min=1, parameter="n_estimators")
    permutations: int | None = option(
        None,
        "Number of permutations of the context; 0 for no p-values. By default 1000, or 40 for "
        "each effect that is tested, at most 10,000.",
        metavar="B",
        min=0,
        parameter="n_permutations",
    )
    permute: str = choice(
        "conditional",
        f"{_CHOICES}:PERMUTE",
        "Permutations of the context for the p-values of effects: within the classes (or bins) of "
        "the target with probabilities that allow for features that depend on the context "
        "(conditional); with equal probabilities (within-target), or among all rows (all), which "
        "test only that no feature depends on the context.",
    )
    empty: str = choice(
        "skip",
        f"{_CHOICES}:EMPTY",
        "Treatment of nodes without rows of a context: skip them, or count an importance of zero.",
    )
    splits: str = choice(
        "auto",
        f"{_CHOICES}:SPLITS",
        "Family of splits: one branch for each value (multiway), or two branches (ordered); auto "
        "is ordered if a column has many distinct numbers.",
    )
    bins: int | None = option(
        None,
        "Number of quantile intervals for columns with more distinct numbers than this; none "
        "by default.",
        metavar="B",
        min=2,
        parameter="n_bins",
        record="bins",
    )
    context_bins: int = option(
        3,
        "Number of quantile intervals for a numeric context.",
        metavar="B",
        min=2,
        parameter="n_context_bins",
        record="context_bins",
    )
    plain_p_values: bool = option(
        False,
        "Also test the plain effect, the difference between the importances in a forest of "
        "all rows and in one of the rows of a context; new forests are grown for each "
        "permutation.",
    )
    tolerance: float = option(
        0.05,
        "Relative difference up to which verdicts treat importances as equal.",
        metavar="FRACTION",
        min=0.0,
        max=0.999,
    )


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Level of the verdicts."""

    alpha: float = option(0.05, "Level of the verdicts.", metavar="A", min=0.0, max=1.0)
    control: str = choice(
        "fdr",
        f"{_CHOICES}:Control",
        "Error rate that --alpha bounds: false discovery rate (fdr), family-wise error rate "
        "(fwer), or the type I error of each p-value alone (none).",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen context`."""

    input: Small = group(Small, "Data")
    contexts: Contexts = group(Contexts, "Context")
    analysis: Analysis = group(Analysis, "Forest")
    rows: Strata = group(Strata, "Permutations")
    propensity_strata: int | None = option(
        None,
        "Permute the context also within S strata of its propensity score, the probability of a "
        "context given the features. None by default.",
        metavar="S",
        min=2,
        section="Permutations",
    )
    verdicts: Verdicts = group(Verdicts, "Verdicts")
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-context"))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contexts."""
        return self.contexts.context or ((_DEMO_CONTEXT,) if self.input.demo else ())
