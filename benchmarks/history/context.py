"""For asv: context analysis."""

from __future__ import annotations

import duramen as dm
from benchmarks.speed.context import primary_tumor


class Context:
    """1000 totally randomised trees on the primary tumor data."""

    params = [0, 1000]
    param_names = ("permutations",)

    def setup(self, permutations: int) -> None:
        self.findings, self.site = primary_tumor()

    def time_context_importances(self, permutations: int) -> None:
        dm.contexts.context_importances(
            self.findings, self.site, "sex", n_permutations=permutations, random_state=0
        )
