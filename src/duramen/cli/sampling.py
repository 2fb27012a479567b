"""Random samples of the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.cli.declaration import option
from duramen.cli.inputs import Input

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from duramen.cli.problem import Problem
    from duramen.tables import Target


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
        from duramen.tables import EncodedTable

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


def proportions(target: Target) -> str:
    """Say what keeps its proportions in a sample; nothing for numbers."""
    if target.classes is not None:
        return ", in which classes keep their proportions"
    return ", in which events keep their proportion" if target.task == "survival" else ""


def sampled_rows(target: Target, n: int, seed: int) -> NDArray[np.intp]:
    """Return the indices, ascending, of a random sample of the rows.

    Classes, or rows with and without the event, keep their proportions: each has its part of the
    rows rounded down, and those with the largest remainders one row more.
    """
    import numpy as np

    random, values = np.random.default_rng(seed), np.asarray(target.values)
    if target.classes is not None:
        groups = values.astype(np.intp)
    else:
        survival = target.task == "survival"
        groups = (values % 2).astype(np.intp) if survival else np.zeros(len(values), np.intp)
    sizes = np.bincount(groups)
    parts = sizes * n / len(values)
    counts = parts.astype(np.intp)
    more = np.argsort(-(parts - counts), kind="stable")[: n - counts.sum()]
    counts[more] += 1
    order = np.argsort(groups, kind="stable")
    starts = np.cumsum(sizes) - sizes
    drawn = [
        order[start + random.choice(size, count, replace=False)]
        for start, size, count in zip(starts, sizes, counts, strict=True)
    ]
    return np.sort(np.concatenate(drawn))
