"""Importances from the rows of each context alone."""

from __future__ import annotations

import numpy as np

from duramen.context.subject import Subject
from duramen.context.values import Context
from duramen.forests.decreases import mean_decreases
from duramen.jobs.replicates import replicate_seed
from duramen.support.arrays import FloatArray


def within_contexts(
    subject: Subject, context: Context, seed: int, *, n_threads: int = 1
) -> FloatArray:
    """Grow a forest in each context, and return its mean decreases of impurity, shape (C, p)."""
    values = np.zeros((context.count, subject.data.table.n_columns))
    for c in range(context.count):
        rows = np.flatnonzero(context.codes == c)
        forest = subject.forest(replicate_seed(seed, c), rows=rows, n_threads=n_threads)
        values[c] = mean_decreases(forest).values
    return values
