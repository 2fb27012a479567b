"""Merging of equal rows: weighted rows of codes become the distinct rows of a distribution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import without_gaps
from duramen.support.arrays import FloatArray
from duramen.theory.distributions.partition import Partition
from duramen.theory.distributions.variables import Column, Columns


def merge_rows(columns: Columns, weights: FloatArray) -> tuple[Columns, FloatArray]:
    """Merge equal rows, and drop rows of weight zero and values without a row.

    The distinct rows are in lexicographic order of features, context and target, with their
    probabilities.
    """
    alive = weights > 0
    kept = [_present(column, alive) for column in columns.all]
    mass = weights[alive]
    rows = Partition.by(((column.codes, len(column.values)) for column in kept), len(mass))
    first = rows.first_rows()
    # In the order of their size, weights add up to the same bits in whatever order rows came.
    order = np.argsort(mass, kind="stable")
    total = np.bincount(rows.cell[order], weights=mass[order], minlength=rows.n_cells)
    merged = [replace(column, codes=column.codes[first]) for column in kept]
    p = len(columns.features)
    context = None if columns.context is None else merged[p]
    return Columns(tuple(merged[:p]), merged[-1], context), total / total.sum()


def _present(column: Column, alive: NDArray[np.bool_]) -> Column:
    codes = column.codes if alive.all() else column.codes[alive]
    return Column(column.name, *without_gaps(codes, column.values))
