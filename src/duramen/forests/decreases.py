"""Mean decrease of impurity: the reduction of a forest's splits to one number a column."""

from __future__ import annotations

from dataclasses import dataclass

from duramen import _kernel
from duramen.forests.criteria import criterion_named
from duramen.forests.forest import AnyForest, Forest
from duramen.support.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Decreases:
    """Mean decrease of impurity of every column, in the criterion's unit, not normalized.

    Attributes
    ----------
    values : float64 array of shape (p,)
        Mean over the trees of the sum, over the nodes t that split on the column, of p(t) times
        the decrease of impurity at t, p(t) being the fraction of the tree's weight at t.
    standard_error : float64 array of shape (p,)
        Standard deviation over the trees (ddof 1) over sqrt(T); NaN for a single tree.
    by_degree : float64 array of shape (p, D) or None
        ``values`` split up by the interaction degree of the splits, 0 to D - 1: how many columns
        are conditioned on above them (see ``degree`` of :class:`~duramen.forests.forest.Forest`).
    """

    values: FloatArray
    standard_error: FloatArray
    by_degree: FloatArray | None


class DecreaseSums:
    """Sums over trees that are added in their order.

    Where splits have scores and nodes no impurity, the values are means over the trees of the sums
    of the scores.
    """

    def __init__(self, forest: AnyForest, *, by_degree: bool = False) -> None:
        scored = criterion_named(forest.settings.criterion).scored
        self._by_degree = by_degree
        self._sums = _kernel.Decreases(forest.n_features, by_degree, scored)

    def add(self, trees: Forest) -> None:
        """Add trees, which come after those before."""
        self._sums.add(trees.kernel)

    def means(self) -> Decreases:
        """Return the mean over the trees."""
        values, error, degrees = self._sums.means()
        return Decreases(values, error, degrees if self._by_degree else None)


def mean_decreases(forest: Forest, *, by_degree: bool = False) -> Decreases:
    """Reduce the splits of a forest, in the order of its trees."""
    sums = DecreaseSums(forest, by_degree=by_degree)
    sums.add(forest)
    return sums.means()
