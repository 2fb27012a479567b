"""Random samples of the rows of a table, in which classes keep their proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duramen.data.target import Target


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
