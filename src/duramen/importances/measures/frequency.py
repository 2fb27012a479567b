"""Selection frequency: how often the splits of a forest are on a feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.forests.forest import Forest
from duramen.importances.arguments import importances_of, trees_of
from duramen.importances.measure import Measure, TreeSums, over_trees, sums_of
from duramen.importances.nodes import Nodes, Tally, weighted_counts
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray


@over_trees(Importances)
def frequency(
    forest: Any, *, weighted: bool = False, normalize: bool = True, by_degree: bool = False
) -> TreeSums:
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
    grown = trees_of(forest, "frequency", survival=True)
    p = grown.n_features
    tally = Tally(p)  # of a_tj, the sum over the nodes of tree t that split on feature j
    products = Tally(p)  # of a_tj b_t
    totals: list[FloatArray] = []  # b_t = sum_j a_tj

    def add(run: Forest) -> None:
        nodes = Nodes(run)
        amount = np.where(run.feature < 0, 0.0, nodes.fractions() if weighted else 1.0)
        total = weighted_counts(nodes.tree, amount, run.n_trees)
        tally.add(nodes, amount, n_trees=run.n_trees)
        products.add(nodes, amount * total[nodes.tree], n_trees=run.n_trees)
        totals.append(total)

    def result() -> Importances:
        counts = np.concatenate(totals)
        mean, error = tally.mean(), tally.standard_error()
        b = float(counts.mean()) if normalize else 1.0
        b = b or 1.0  # no tree has a split: all counts are 0
        if normalize and error is not None and counts.any():
            # Of r_j = a_j / b, the ratio of two means over T trees: the square root of
            # sum_t (a_tj - r_j b_t)^2 / (T (T - 1)), over b, the square being expanded.
            covariance = (products.mean() - mean * b) / (counts.size - 1)
            variance = counts.var(ddof=1) / counts.size
            spread = error**2 - 2 * mean / b * covariance + (mean / b) ** 2 * variance
            error = np.sqrt(np.maximum(spread, 0.0)) / b
        return importances_of(
            grown,
            "frequency",
            mean / b,
            "1",
            error,
            by_degree=tally.by_degree() / b if by_degree else None,
            weighted=weighted,
            normalize=normalize,
        )

    return TreeSums(grown, add, result, n_rows=0)


FREQUENCY = Measure(
    "frequency",
    lambda inputs: sums_of(frequency, inputs.estimator, by_degree=inputs.by_degree),
    "frequency",
    "The frequency is the fraction of all splits of all trees that are on the feature.",
    "The frequency ignores how much a split improves: most splits lie deep in the trees, "
    "where few rows are left, and features with many distinct values get more of them.",
    reference="A. Sutera (2019). Importance measures derived from random forests. PhD thesis, "
    "University of Liège, Definition 4.1.",
    survival=True,
    over_trees=True,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
    # Splits per tree, the mean of which is one over the trees.
    of_parts=lambda inputs: frequency(inputs.estimator, normalize=False),
)
