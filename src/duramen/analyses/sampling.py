"""Random samples of the rows of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from duramen.analyses.problem import Problem
    from duramen.data import Target


def sampled(problem: Problem[Any], n: int | None, seed: int, words: str) -> Problem[Any]:
    """Return a problem on a random sample of n rows if it has more; a store stays on disk.

    `words` are the settings that ask for it, as in the notes.
    """
    from duramen.data import EncodedTable
    from duramen.io.store.column_store import of_rows

    data = problem.data
    if n is None or data.n_rows <= n:
        return problem
    rows, key = sampled_rows(data.target, n, seed), ("max_rows", n, seed)
    if isinstance(data.table, EncodedTable):
        part = data.of_rows(rows, key=key)
    else:
        part = data.seen_in(of_rows(data.table, rows), rows, key=key)
    note = (
        f"the rows are a random sample of {part.n_rows:,} of {data.n_rows:,} ({words})"
        f"{proportions(data.target)}"
    )
    names = problem.row_names.take(rows)
    return replace(problem, data=part, notes=(*problem.notes, note), row_names=names)


def proportions(target: Target) -> str:
    """Say what keeps its proportions in a sample; nothing for numbers."""
    if target.classes is not None:
        return ", in which classes keep their proportions"
    return ", in which events keep their proportion" if target.censored else ""


def sampled_rows(target: Target, n: int, seed: int) -> NDArray[np.intp]:
    """Return the indices, ascending, of a random sample of the rows.

    Classes, or rows with and without the event, keep their proportions: each has its part of the
    rows rounded down, and those with the largest remainders one row more.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    groups = target.strata
    sizes = np.bincount(groups)
    parts = sizes * n / len(groups)
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
