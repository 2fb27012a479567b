"""Option for random samples of the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.sampling import proportions, sampled_rows
from duramen.cli.declaration import option
from duramen.cli.inputs import Input

if TYPE_CHECKING:
    from duramen.analyses.problem import Problem


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

    def sampled(self, problem: Problem[Any], seed: int) -> Problem[Any]:
        """Return a problem on a random sample of its rows if there are too many.

        Raises
        ------
        ValueError
            If the table is a store that is not read into memory.
        """
        from duramen.data import EncodedTable

        data, n = problem.data, self.max_rows
        if n is None or data.n_rows <= n:
            return problem
        if not isinstance(data.table, EncodedTable):
            raise ValueError(
                f"--max-rows: a column store of {data.n_rows:,} rows is read column by column, "
                "all rows of each. Hint: leave out --max-rows, or give a table in another format"
            )
        part = data.of_rows(sampled_rows(data.target, n, seed), key=("max_rows", n, seed))
        told = (
            f"the rows are a random sample of {part.n_rows:,} of {data.n_rows:,} "
            f"(--max-rows {n}, --seed {seed}){proportions(data.target)}"
        )
        return replace(problem, data=part, notes=(*problem.notes, told))
