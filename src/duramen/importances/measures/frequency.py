"""Selection frequency: how often the splits of a forest are on a feature."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from duramen.forests.forest import AnyForest, Forest
from duramen.importances.arguments import metadata_of, trees_of
from duramen.importances.measure import Measure, OfTrees, Words
from duramen.importances.nodes import Nodes, RunSums, Tally, weighted_counts
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray


def frequency(
    forest: Any, *, weighted: bool = False, normalize: bool = True, by_degree: bool = False
) -> Importances:
    r"""Compute the fraction of the splits of a forest that are on each feature.

    .. math:: Imp^{freq}(X_m) = \frac{\sum_T \sum_{t \in T} w(t)\, 1(v(t) = X_m)}
                                     {\sum_T \sum_{t \in T} w(t)}

    over the internal nodes t of all trees T, with v(t) the feature that t splits on and w(t) = 1
    (Sutera 2019, Definition 4.1).

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.
    weighted : bool
        Whether a split counts as w(t) = p(t), the fraction of its tree's training weight at the
        node, instead of 1.
    normalize : bool
        Whether to divide by the total, so that the values sum to 1. Otherwise they are the mean
        over the trees of the inner sum: splits per tree or, weighted, the mean number of splits on
        the feature that a training row passes on its way to a leaf.
    by_degree : bool
        Whether to split the values up by the number of splits above the node.

    Returns
    -------
    Importances
        ``measure="frequency"``, in unit ``"1"``; all 0 if no tree has a split. `standard_error`
        (None for a single tree) is that over the trees; of a fraction it is that of a ratio of two
        means, by linearisation.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.

    Notes
    -----
    Most nodes lie deep in the trees, where few rows are left: the frequency rewards features that
    offer many cuts there more than one that settles things at the root. `weighted` makes the
    levels of a tree count alike. Neither sees how much a split achieves, as `mdi` does.

    References
    ----------
    A. Sutera (2019). Importance measures derived from random forests. PhD thesis, University of
    Liège, Definition 4.1.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.frequency(forest)
    >>> round(float(result.values.sum()), 9)
    1.0
    """
    grown = trees_of(forest, "frequency", survival=True, rows_given=False)
    sums = _Splits(grown, weighted=weighted, normalize=normalize, by_degree=by_degree)
    return cast(Importances, sums.over_all())


class _Splits(RunSums):
    """Sums of w(t) by tree and feature.

    `_tally` has a_tj, the sum over the nodes of tree t that split on feature j.
    """

    def __init__(
        self, forest: AnyForest, *, weighted: bool = False, normalize: bool = True, by_degree: bool
    ) -> None:
        super().__init__(forest)
        p = forest.n_features
        self._tally, self._products = Tally(p), Tally(p)
        self._totals: list[FloatArray] = []
        self._weighted, self._normalize = weighted, normalize
        self._by_degree = by_degree

    def _add_run(self, run: Forest) -> None:
        nodes = Nodes(run)
        fraction = _fractions(nodes) if self._weighted else np.ones(run.n_nodes)
        amount = np.where(run.feature < 0, 0.0, fraction)
        total = weighted_counts(nodes.tree, amount, run.n_trees)
        self._tally.add(nodes, amount, n_trees=run.n_trees)
        self._products.add(nodes, amount * total[nodes.tree], n_trees=run.n_trees)
        self._totals.append(total)

    def _result(self) -> Importances:
        tally, normalize, grown = self._tally, self._normalize, self.forest
        totals = np.concatenate(self._totals)
        scale = float(totals.mean()) if normalize else 1.0
        scale = scale or 1.0  # no tree has a split: all counts are 0
        return Importances(
            names=grown.names,
            values=tally.values() / scale,
            measure="frequency",
            unit="1",
            by_degree=tally.by_degree() / scale if self._by_degree else None,
            standard_error=self._error_of_fraction(totals) if normalize else tally.standard_error(),
            metadata=metadata_of(grown, "frequency", weighted=self._weighted, normalize=normalize),
        )

    def _error_of_fraction(self, totals: FloatArray) -> FloatArray | None:
        """Return the standard error of r_j = a_j / b, the ratio of two means over T trees.

        b is the mean over the trees of b_t = sum_j a_tj. The error is sqrt(sum_t (a_tj - r_j b_t)^2
        / (T (T - 1))) / b, the square being expanded.
        """
        b, n_trees = float(totals.mean()), totals.size
        alone = self._tally.standard_error()
        if alone is None or b == 0:
            return alone
        a = self._tally.values()
        covariance = (self._products.values() - a * b) / (n_trees - 1)
        variance = totals.var(ddof=1) / n_trees
        spread = alone**2 - 2 * a / b * covariance + (a / b) ** 2 * variance
        error: FloatArray = np.sqrt(np.maximum(spread, 0.0)) / b
        return error


def _fractions(nodes: Nodes) -> FloatArray:
    """Return p(t), the fraction of a tree's training weight at each of its nodes."""
    weight = nodes.forest.weight
    whole = weight[nodes.forest.offsets[:-1]]
    whole = np.where(whole > 0, whole, 1.0)  # nothing but a leaf without rows
    fraction: FloatArray = weight / whole[nodes.tree]
    return fraction


FREQUENCY = Measure(
    "frequency",
    OfTrees(
        lambda inputs: _Splits(
            trees_of(inputs.estimator, "frequency", survival=True), by_degree=inputs.by_degree
        )
    ),
    Words(
        "frequency",
        "The frequency is the fraction of all splits of all trees that are on the feature.",
        "The frequency ignores how much a split improves: most splits lie deep in the trees, "
        "where few rows are left, and features with many distinct values get more of them.",
    ),
    reference="A. Sutera (2019). Importance measures derived from random forests. PhD thesis, "
    "University of Liège, Definition 4.1.",
    survival=True,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
    # Splits per tree, the mean of which is one over the trees.
    of_parts=lambda inputs: frequency(inputs.estimator, normalize=False),
)
