"""Options of `duramen context`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duramen.cli.declaration import choice, group, option
from duramen.cli.inputs import SmallInput
from duramen.cli.options import Printed, Strata, Trees, Work

COMMAND = "context"
_DEMO_CONTEXT = "sex"
_CHOICES = "duramen.results.context_importances"


@dataclass(frozen=True, kw_only=True)
class Contexts:
    """Contexts, and the targets of a network."""

    context: tuple[str, ...] = option(
        (),
        f"Column whose values are the contexts; repeat for more. {_DEMO_CONTEXT} with --demo.",
        metavar="NAME",
        record="contexts",
    )
    network: bool = option(False, "Take every column but the context as a target of the others.")
    targets: tuple[str, ...] = option(
        (),
        "With --network: column that is a target; repeat for more. By default all.",
        metavar="NAME",
    )


@dataclass(frozen=True, kw_only=True)
class Analysis(Trees):
    """Parameters of the analysis."""

    trees: int = option(1000, "Number of trees.", metavar="T", min=1, parameter="n_estimators")
    permutations: int = option(
        1000,
        "Permutations of the context; 0 for no p-values.",
        metavar="B",
        min=0,
        parameter="n_permutations",
    )
    permute: str = choice(
        "within_target",
        f"{_CHOICES}:PERMUTE",
        "Rows that exchange contexts for the p-values of effects: those of the same class (or bin) "
        "of the target, or all.",
    )
    empty: str = choice(
        "skip",
        f"{_CHOICES}:EMPTY",
        "Nodes without rows of a context: skip them, or count zero importance.",
    )
    splits: str = choice(
        "auto",
        f"{_CHOICES}:SPLITS",
        "Family of splits: one branch for each value, or two; auto is two where a column has many "
        "numbers.",
    )
    bins: int | None = option(
        None,
        "Quantile intervals for columns of more numbers; none by default.",
        metavar="B",
        min=2,
        parameter="n_bins",
        record="bins",
    )
    context_bins: int = option(
        3,
        "Quantile intervals of a context of numbers.",
        metavar="B",
        min=2,
        parameter="n_context_bins",
        record="context_bins",
    )
    plain_p_values: bool = option(
        False, "Test also the difference of forests, which are grown anew for each permutation."
    )
    tolerance: float = option(
        0.05,
        "Relative difference of importances that verdicts call equal.",
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
        "Error rate that --alpha bounds: false discovery rate, family-wise error rate, or none, "
        "for each p-value on its own.",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen context`."""

    input: SmallInput = group(SmallInput, "Data")
    contexts: Contexts = group(Contexts, "Context")
    analysis: Analysis = group(Analysis, "Forest")
    rows: Strata = group(Strata, "Permutations")
    propensity_strata: int | None = option(
        None,
        "Permute the context within S strata of its probability given the columns too; for "
        "contexts that shift columns. None by default.",
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
