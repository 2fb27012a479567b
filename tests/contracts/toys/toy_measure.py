"""An importance measure in one file: the correlation of each column's codes with the target's."""

import numpy as np

from duramen.importances import Inputs, Measure


def correlation(options: Inputs) -> np.ndarray:
    """Return |correlation| of each column with the target, shape (p,); constant columns have 0."""
    y = np.asarray(options.data.target.values, dtype=float)
    table = options.data.table
    columns = np.column_stack([table.codes(j) for j in range(table.n_columns)]).astype(float)
    y = y - y.mean()
    columns = columns - columns.mean(axis=0)
    scale = np.sqrt((columns**2).sum(axis=0) * (y**2).sum())
    return np.abs(columns.T @ y) / np.where(scale > 0, scale, 1.0)


TOY = Measure(
    "toy_correlation",
    correlation,
    "toy correlation",
    "Toy correlation is the absolute correlation of the feature with the target; {unit}.",
    "Toy correlation sees no interaction.",
    reference="A. Toy (2020). Correlations.",
    rows="training",
    zero_if_irrelevant=False,
    symmetric=False,
    spread="",
)
