"""Options of a context analysis, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypedDict

from duramen.jobs.replicates import Plan
from duramen.results.context_importances import EMPTY
from duramen.support import checks

_FEWEST, _MOST = 1000, 10_000
# Permutations for each effect, so that the least two-sided p-value is .05 / (number of effects).
_PER_EFFECT = 40


class Analysis(TypedDict, total=False):
    """Parameters of an analysis of contexts besides its data and its trees."""

    n_permutations: int | None
    permute: str
    empty: str
    n_bins: int | None
    n_context_bins: int
    context_bandwidth: float | str | None
    plain: bool
    plain_p_values: bool
    tolerance: float


ANALYSIS: Analysis = {
    "n_permutations": None,
    "permute": "conditional",
    "empty": "skip",
    "n_bins": None,
    "n_context_bins": 3,
    "context_bandwidth": None,
    "plain": True,
    "plain_p_values": False,
    "tolerance": 0.05,
}


@dataclass(frozen=True)
class Options:
    """Checked options of an analysis."""

    empty: str  # what counts for a node without rows of a context: {"skip", "zero"}
    # Permutations of the context; 0 for no p-values, None for as many as the effects need.
    n_permutations: int | None
    plain: bool  # whether to grow a forest in each context
    plain_p_values: bool  # whether to test it by growing these for each permutation
    tolerance: float  # of the verdicts
    # How the context is permuted for the p-values of the effects: {"conditional", "within_target",
    # "all"}.
    permute: str
    plan: Plan  # threads, checkpoint, progress
    function: str  # who asks, for errors

    def __post_init__(self) -> None:
        checks.check_choice(self.function, "empty", self.empty, EMPTY)
        if self.n_permutations is not None:
            checks.check_integer(self.function, "n_permutations", self.n_permutations, 0)
        checks.check_real(self.function, "tolerance", self.tolerance, 0.0, 0.999)
        checks.check_flag(self.function, "plain", self.plain)
        if checks.check_flag(self.function, "plain_p_values", self.plain_p_values) and not (
            self.plain and self.n_permutations != 0
        ):
            raise ValueError(
                f"{self.function}: plain_p_values=True needs plain=True and n_permutations of at "
                f"least 1, got plain={self.plain} and n_permutations={self.n_permutations}."
            )

    @classmethod
    def of(cls, analysis: Analysis, plan: Plan, function: str) -> Self:
        """Check the parameters of an analysis that has all of them."""
        own = {name: value for name, value in analysis.items() if name in cls.__annotations__}
        return cls(**own, plan=plan, function=function)  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        """Number of permutations, of options that are resolved."""
        return self.n_permutations or 0

    def resolved(self, n_effects: int) -> Options:
        """Return the options with a number of permutations, by default by that of effects."""
        if self.n_permutations is not None:
            return self
        return replace(self, n_permutations=max(_FEWEST, min(_PER_EFFECT * n_effects, _MOST)))
