"""Mean decrease of impurity: the reduction of a forest's splits to one number a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.forests.forest import Forest
from duramen.forests.route import forest_arguments
from duramen.forests.structure import decreases


@dataclass(frozen=True, eq=False)
class Decreases:
    """Mean decrease of impurity of every column, in the criterion's unit, not normalised.

    Attributes
    ----------
    values : float64 array of shape (p,)
        Mean over the trees of the sum, over the nodes t that split on the column, of p(t) times
        the decrease of impurity at t, p(t) being the share of the tree's weight at t.
    standard_error : float64 array of shape (p,)
        Standard deviation over the trees (ddof 1) over sqrt(T); NaN for a single tree.
    by_degree : float64 array of shape (p, D) or None
        ``values`` split up by the interaction degree of the splits, 0 to D - 1: how many columns
        are conditioned on above them (see ``degree`` of :class:`~duramen.forests.forest.Forest`).
    """

    values: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    by_degree: NDArray[np.float64] | None


def mean_decreases(forest: Forest, *, by_degree: bool = False) -> Decreases:
    """Reduce the splits of a forest, in the order of its trees."""
    values, standard_error, degrees = _kernel.mdi(
        *forest_arguments(forest), forest.n_features, by_degree
    )
    return Decreases(values, standard_error, degrees if by_degree else None)


def early_decreases(forest: Forest) -> NDArray[np.float64]:
    """Sum of the decreases of impurity weighted by p(t)^(9/8) in place of p(t): shape (p,).

    Chance gives about the same p(t) times decrease to a split, however few rows are at it, and most
    nodes of a fully grown tree hold few. Here they count for less. The sum is over all trees.
    """
    share = forest.weight / forest.total_weight
    inner = np.flatnonzero(forest.feature >= 0)
    # Square roots are the same on every machine, other powers are not.
    root = np.sqrt(np.sqrt(np.sqrt(share[inner])))
    values = decreases(forest)[inner] * share[inner] * root
    sums: NDArray[np.float64] = np.bincount(
        forest.feature[inner], weights=values, minlength=forest.n_features
    ).astype(np.float64, copy=False)
    return sums
