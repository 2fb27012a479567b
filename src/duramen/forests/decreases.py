"""Mean decrease of impurity: the reduction of a forest's splits to one number a column."""

from __future__ import annotations

from typing import NamedTuple

from duramen import _kernel
from duramen.forests.criteria import criterion_named
from duramen.forests.forest import AnyForest, Forest
from duramen.support.arrays import FloatArray


class Decreases(NamedTuple):
    """Mean decrease of impurity of every column, in the criterion's unit, not normalized.

    Attributes
    ----------
    values : float64 array of shape (p,)
        Mean over the trees of the sum, over the nodes t that split on the column, of p(t) times
        the decrease of impurity at t, p(t) being the fraction of the tree's weight at t.
    standard_error : float64 array of shape (p,)
        Standard deviation over the trees (ddof 1) over sqrt(T); NaN for a single tree.
    by_degree : float64 array of shape (p, D)
        ``values`` split up by the interaction degree of the splits, 0 to D - 1: how many columns
        are conditioned on above them (see ``degree`` of :class:`~duramen.forests.forest.Forest`);
        D is 0 unless this was asked for.
    """

    values: FloatArray
    standard_error: FloatArray
    by_degree: FloatArray


def decrease_sums(forest: AnyForest, *, by_degree: bool = False) -> _kernel.Decreases:
    """Return the sums of no trees so far, to which trees are added in their order.

    Where splits have scores and nodes no impurity, the means are those of the sums of the scores.
    """
    scored = criterion_named(forest.settings.criterion).scored
    return _kernel.Decreases(forest.n_features, by_degree, scored)


def mean_decreases(forest: Forest, *, by_degree: bool = False) -> Decreases:
    """Reduce the splits of a forest, in the order of its trees."""
    sums = decrease_sums(forest, by_degree=by_degree)
    sums.add(forest.kernel)
    return Decreases(*sums.means())
