"""Options of a context analysis, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duramen.jobs.replicates import Plan
from duramen.results.context_importances import EMPTY
from duramen.support import checks

_FEWEST, _MOST = 1000, 10_000
# Permutations for each effect, so that the least two-sided p-value is .05 / (number of effects).
_PER_EFFECT = 40
PLAIN = ("none", "importances", "p_values")
"""What is computed of the plain effect: nothing, its values, or p-values as well."""


@dataclass(frozen=True)
class Options:
    """Checked options of an analysis."""

    empty: str  # what counts for a node without rows of a context: {"skip", "zero"}
    # Permutations of the context; 0 for no p-values, None for as many as the effects need.
    n_permutations: int | None
    plain: str  # forests in each context, and their p-values: one of `PLAIN`
    # How the context is permuted for the p-values of the effects: {"conditional", "within_target",
    # "all"}.
    permute: str
    plan: Plan  # threads, checkpoint, progress
    function: str  # who asks, for errors

    def __post_init__(self) -> None:
        checks.check_choice(self.function, "empty", self.empty, EMPTY)
        if self.n_permutations is not None:
            checks.check_integer(self.function, "n_permutations", self.n_permutations, 0)
        checks.check_choice(self.function, "plain", self.plain, PLAIN)
        if self.plain == "p_values" and self.n_permutations == 0:
            raise ValueError(
                f"{self.function}: plain='p_values' needs n_permutations of at least 1, got 0."
            )

    @property
    def count(self) -> int:
        """Number of permutations, of options that are resolved."""
        return self.n_permutations or 0

    def resolved(self, n_effects: int) -> Options:
        """Return the options with a number of permutations, by default by that of effects."""
        if self.n_permutations is not None:
            return self
        return replace(self, n_permutations=max(_FEWEST, min(_PER_EFFECT * n_effects, _MOST)))
