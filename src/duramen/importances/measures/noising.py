"""Noising-up: what is lost when rows take random sides from the first split on a feature on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.forest import Forest
from duramen.importances.arguments import importances_of, trees_of
from duramen.importances.measure import Measure, TreeSums, over_trees, sums_of
from duramen.importances.nodes import Nodes, Tally, maximal, weighted_counts
from duramen.importances.samples import arrivals, sample_of
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray


@over_trees(Importances)
def noising(forest: Any, X: Any = None, y: Any = None, *, rows: str | None = "oob") -> TreeSums:
    r"""Compute the increase of the trees' error when a feature is noised up, without draws.

    A row goes down a tree as usual until it meets a split on feature v; from there on, in the
    whole subtree, each child is as likely as any other. With R(t) the rows at node t, m(l) the
    prediction of leaf l, l(i) the leaf of row i and l* the leaf at the end of random sides from t,

    .. math:: Imp(v) = \frac1T \sum_T \frac1{|O_T|} \sum_{t \in M_v(T)} \sum_{i \in R(t)}
              \left( E\, L(y_i, m(l^*)) - L(y_i, m(l(i))) \right)

    over the roots M_v(T) of the maximal v-subtrees of tree T, the nodes where rows meet v first.
    After Ishwaran (2007). The loss L is 0 or 1 for classes (a leaf votes for its most frequent
    class, ties for the first), so that Imp is a decrease of accuracy; in regression it is the
    squared error.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.
    X : table of shape (n, p), or LearningSet
        Rows to be dropped through the trees.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    rows : {"oob", None}
        ``"oob"``: `X` and `y` are the training rows, in their order; O_T are those that tree T was
        grown without. None: O_T is all of `X`, for every tree.

    Returns
    -------
    Importances
        ``measure="noising"``; in unit ``"1"`` (a fraction of rows) for classes, ``"variance"`` (of
        y) in regression. Features that no tree splits on have 0. `standard_error` is that over the
        trees (None for a single tree).

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.
    ValueError
        If `X` or `y` do not fit the forest, or there are no out-of-bag rows.

    Notes
    -----
    The expectation comes from the leaves upwards: at a node it is the mean of those of its
    children, for each class (or for the first two moments of the prediction). There is no
    Monte-Carlo error and no seed.

    Noise also destroys what the other features do below the first split on v. Features that split
    near the root therefore lose most, relevant or not: read the values as a ranking, beside `mda`,
    which leaves the other features alone. Trees without out-of-bag rows add 0.

    References
    ----------
    H. Ishwaran (2007). Variable importance in binary regression trees and forests. Electronic
    Journal of Statistics 1, 519-537.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.noising(forest, data.X, data.y)
    >>> result.top(2).names
    ('x0', 'x1')
    """
    grown = trees_of(forest, "noising")
    sample = sample_of(grown, X, y, rows, "noising")
    tally, n_used = Tally(grown.n_features), 0

    def add(run: Forest) -> None:
        nonlocal n_used
        nodes = Nodes(run)
        ((_, leaf, row),) = arrivals(run, sample)
        rises, n_rows = _rises(nodes, sample.target, leaf, row)
        fraction = np.where(maximal(nodes), rises, 0.0) / np.maximum(n_rows, 1.0)[nodes.tree]
        tally.add(nodes, fraction, n_trees=run.n_trees)
        n_used += int(np.count_nonzero(n_rows))  # trees that some row is dropped through

    def result() -> Importances:
        if not n_used:
            raise ValueError(
                "noising: no tree of this forest has out-of-bag rows. Hint: more trees."
            )
        return importances_of(
            grown,
            "noising",
            tally.mean(),
            "variance" if grown.classes is None else "1",
            tally.standard_error(),
            rows="out-of-bag" if sample.out_of_bag else "all",
            n_trees_with_rows=n_used,
        )

    return TreeSums(grown, add, result, n_rows=sample.n_rows)


def _rises(
    nodes: Nodes, target: NDArray[Any], leaf: NDArray[np.integer], row: NDArray[np.integer]
) -> tuple[FloatArray, FloatArray]:
    """Return how much the loss of the rows at each node rises, (N,), and the rows of each tree.

    A loss is a scalar product a(y) . b(m), apart from what does not depend on the prediction m:
    minus the indicator of the class y times that of the vote, or (-2 y, 1) . (m, m^2). So the
    rows at a node enter by the sum of their a, and random sides by the mean of b.
    """
    run = nodes.forest
    if run.classes is not None:
        indicators = np.eye(len(run.classes))
        of_rows, of_leaves = -indicators[target], indicators[run.leaf_values.argmax(axis=1)]
    else:
        predicted = run.leaf_values[:, 0]
        of_rows = np.column_stack([-2 * target, np.ones(target.size)])
        of_leaves = np.column_stack([predicted, predicted**2])
    total = np.column_stack(
        [weighted_counts(leaf, column[row], run.n_nodes)[nodes.leaves] for column in of_rows.T]
    )
    as_they_go = nodes.summed_up(np.einsum("ij,ij->i", total, of_leaves))
    total = nodes.summed_up(total)
    mean = np.zeros((run.n_nodes, of_leaves.shape[1]))
    mean[nodes.leaves] = of_leaves
    for parents in reversed(nodes.levels):
        mean[parents] = nodes.over_children(mean, parents)
        mean[parents] /= nodes.n_children[parents][:, np.newaxis]
    n_rows = weighted_counts(nodes.tree[leaf], np.ones(leaf.size), run.n_trees)
    return np.einsum("ij,ij->i", total, mean) - as_they_go, n_rows


NOISING = Measure(
    "noising",
    lambda inputs: sums_of(noising, inputs.estimator, inputs.data),
    "noising",
    "Noising is the increase of the trees' error on their out-of-bag rows when these rows "
    "are sent to random sides from the first split on the feature downward.",
    "Noising also destroys the effect of other features below that split: features near the "
    "root lose most, relevant or not.",
    reference="H. Ishwaran (2007). Variable importance in binary regression trees and forests. "
    "Electronic Journal of Statistics 1.",
    rows="out-of-bag",
    over_trees=True,
    zero_if_irrelevant=False,
)
