"""Option for random samples of the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import loaded
from duramen.analyses.sampling import sampled
from duramen.cli.declaration import option
from duramen.cli.inputs import Input

if TYPE_CHECKING:
    from duramen.analyses.problem import Problem
    from duramen.cli.clock import Clock
    from duramen.data import EncodedTable


@dataclass(frozen=True, kw_only=True)
class SampledInput(Input):
    """Table or column store of which a random sample of the rows can be taken."""

    max_rows: int | None = option(
        None,
        "Maximum number of rows: of more, a random sample is analyzed, in which classes keep "
        "their proportions; all rows by default.",
        metavar="N",
        min=2,
        echo="changed",
    )

    def sample(
        self,
        command: str,
        jobs: int,
        clock: Clock,
        labels: Mapping[str, Sequence[str]],
        seed: int,
    ) -> Problem[Any]:
        """Read a table, or open a store; of more rows than asked for, a random sample is left."""
        problem = self.read(command, jobs, clock, labels)
        return sampled(problem, self.max_rows, seed, f"--max-rows {self.max_rows}, --seed {seed}")

    def load(
        self,
        command: str,
        jobs: int,
        clock: Clock,
        labels: Mapping[str, Sequence[str]],
        seed: int,
    ) -> Problem[EncodedTable]:
        """Sample a table, or take the sampled rows of a store into memory."""
        from duramen.data import EncodedTable

        problem = self.sample(command, jobs, clock, labels, seed)
        if isinstance(problem.table, EncodedTable):
            return problem
        with clock.step("load"):
            return loaded(problem)
