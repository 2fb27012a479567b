"""Options of a context analysis, checked."""

from __future__ import annotations

from dataclasses import dataclass

from duramen import checks
from duramen.jobs.replicates import Plan
from duramen.results.context_importances import EMPTY


@dataclass(frozen=True)
class Options:
    """Checked options of an analysis."""

    empty: str  # what counts for a node without rows of a context: {"skip", "zero"}
    n_permutations: int  # permutations of the context; 0 for no p-values
    plain: bool  # whether to grow a forest in each context
    plain_p_values: bool  # whether to test it by growing these for each permutation
    tolerance: float  # of the verdicts
    # How the context is permuted for the p-values of the effects: {"within_target", "all"}.
    permute: str
    plan: Plan  # threads, checkpoint, progress
    function: str  # who asks, for errors

    def __post_init__(self) -> None:
        checks.check_choice(self.function, "empty", self.empty, EMPTY)
        checks.check_integer(self.function, "n_permutations", self.n_permutations, 0)
        checks.check_real(self.function, "tolerance", self.tolerance, 0.0, 0.999)
        checks.check_flag(self.function, "plain", self.plain)
        if checks.check_flag(self.function, "plain_p_values", self.plain_p_values) and not (
            self.plain and self.n_permutations
        ):
            raise ValueError(
                f"{self.function}: plain_p_values=True needs plain=True and n_permutations of at "
                f"least 1, got plain={self.plain} and n_permutations={self.n_permutations}."
            )
