"""Measures of the splits themselves: frequency, minimal depth, noising from the first split on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.forests.prediction import leaves, out_of_bag_leaves
from duramen.forests.structure import Nodes
from duramen.importances.arguments import importances_of, sample_of, trees_and_rows, trees_of
from duramen.importances.measure import Measure, Sums, Tally, over_trees, sums_of
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, TableLike


@over_trees(Importances)
def frequency(
    forest: Any, *, weighted: bool = False, normalize: bool = True, by_degree: bool = False
) -> Sums[Importances]:
    r"""Compute the fraction of the splits of a forest that are on each feature.

    .. math:: Imp^{freq}(X_m) = \frac{\sum_T \sum_{t \in T} w(t)\, 1(v(t) = X_m)}
                                     {\sum_T \sum_{t \in T} w(t)}

    over the internal nodes t of all trees T, with v(t) the feature that t splits on and w(t) = 1
    (Sutera 2019, Definition 4.1).

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn.
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
        If `forest` is no such forest.

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
    tally = Tally(p, by_degree=by_degree)  # of a_tj, the sum over nodes of tree t on feature j
    products = Tally(p)  # of a_tj b_t
    totals: list[NDArray[Any]] = []  # b_t = sum_j a_tj
    while (run := (yield grown, 0)) is not None:
        nodes = Nodes(run)
        amount = np.where(run.feature < 0, 0.0, nodes.fractions() if weighted else 1.0)
        total = np.bincount(nodes.tree, amount, run.n_trees)
        tally.add(nodes, amount, n_trees=run.n_trees)
        products.add(nodes, amount * total[nodes.tree], n_trees=run.n_trees)
        totals.append(total)
    counts = np.concatenate(totals)
    mean, error, by = tally.means()
    b = float(counts.mean()) if normalize else 1.0
    b = b or 1.0  # no tree has a split: all counts are 0
    if normalize and error is not None and counts.any():
        # Of r_j = a_j / b, the ratio of two means over T trees: the square root of
        # sum_t (a_tj - r_j b_t)^2 / (T (T - 1)), over b, the square being expanded.
        covariance = (products.means()[0] - mean * b) / (counts.size - 1)
        variance = counts.var(ddof=1) / counts.size
        spread = error**2 - 2 * mean / b * covariance + (mean / b) ** 2 * variance
        error = np.sqrt(np.maximum(spread, 0.0)) / b
    return importances_of(
        grown,
        "frequency",
        mean / b,
        "1",
        error,
        by_degree=None if by is None else by / b,
        weighted=weighted,
        normalize=normalize,
    )


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


@over_trees(Importances)
def minimal_depth(forest: Any) -> Sums[Importances]:
    r"""Compute the expected minimal depth by chance less the minimal depth of each feature.

    .. math:: Imp(v) = \frac1T \sum_T \left( E_0[D_T] - D_{T,v} \right)

    D_{T,v} is the minimal depth of v in tree T: the least depth of a node that splits on v (0 is
    the root), which is the depth of the root of the maximal v-subtree nearest to the root; where
    no node does, it is the depth of the tree's deepest leaf. E_0[D_T] is its mean if chance chose
    the features of that tree's splits (`minimal_depth_distribution`). After Ishwaran et al. (2010),
    who compare the mean of D with that threshold: above 0 is what they call a strong variable.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn.

    Returns
    -------
    Importances
        ``measure="minimal_depth"``, in unit ``"1"`` (levels of a tree). `standard_error` is that
        over the trees (None for a single one). Trees without a split are left out; if there are no
        others, all values are 0.

    Raises
    ------
    TypeError
        If `forest` is no such forest.

    Notes
    -----
    The mean of E_0[D_T] is ``"threshold"`` in the metadata; the mean depth is that less the value.

    The value compares with the average feature of a forest without any signal. It is no test: of
    features that all mean nothing about half lie above 0, and where a few features win most of the
    splits, the others lie below it.

    References
    ----------
    H. Ishwaran, U. B. Kogalur, E. Z. Gorodeski, A. J. Minn, M. S. Lauer (2010). High-dimensional
    variable selection for survival data. Journal of the American Statistical Association 105,
    205-217.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.minimal_depth(forest)
    >>> result.top(2).names
    ('x0', 'x2')
    """
    grown = trees_of(forest, "minimal_depth", survival=True)
    p = grown.n_features
    tally, by_chance = Tally(p), 0.0
    multiway = grown.settings.splits == "multiway"
    # A tree sees a fraction of the columns; of those with several values, on average so many.
    fraction = (grown.settings.column_samples or p) / p
    candidates = fraction * float(np.count_nonzero(grown.schema.n_codes() > 1))
    while (run := (yield grown, 0)) is not None:
        nodes, n_trees = Nodes(run), run.n_trees
        inner = nodes.inner.parents
        height = np.zeros(n_trees, dtype=np.int64)
        height[nodes.tree[inner]] = nodes.depth + 1  # the deepest level comes last
        has_split = height > 0
        # The mean of D by chance is the sum of P(D > d) over the depths d = 0 .. h - 1 of the tree.
        unseen, expected = np.ones(n_trees), np.zeros(n_trees)
        for depth, level in enumerate(nodes.levels):
            counts = np.bincount(nodes.tree[level.parents], minlength=n_trees)
            unseen = unseen * (1 - _chance(candidates, depth, multiway)) ** counts
            expected += np.where(counts > 0, 1 - fraction * (1 - unseen), 0.0)
        by_chance += float(expected.sum())
        # The levels go down: the first node of a tree on a feature is the highest.
        place = nodes.tree[inner] * p + run.feature[inner]
        place, first = np.unique(place, return_index=True)
        tree = place // p
        rise = (height[tree] - nodes.depth[first]).astype(np.float64)
        # Most features have the same number in a tree: that of a feature without a split.
        base = expected - height
        common, rest = base[has_split], rise * (2 * base[tree] + rise)
        tally.n_trees += common.size
        tally.sum += common.sum() + np.bincount(place % p, rise, p)
        tally.squares += (common**2).sum() + np.bincount(place % p, rest, p)
    mean, error, _ = tally.means()
    return importances_of(
        grown,
        "minimal_depth",
        mean,
        "1",
        error,
        threshold=by_chance / max(1, tally.n_trees),
        n_split_trees=tally.n_trees,
    )


def minimal_depth_distribution(
    n_features: int, node_counts: ArrayLike, *, multiway: bool = False
) -> FloatArray:
    r"""Return the distribution of the minimal depth of a feature if chance chooses all splits.

    .. math:: P(D = d) = \left( 1 - (1 - q)^{l_d} \right) \prod_{k < d} (1 - q)^{l_k},
              \quad q = 1/p

    for d = 0 .. h - 1, with l_d the number of internal nodes at depth d of a tree of depth h (after
    Ishwaran et al. 2010). The rest is the probability that no node splits on the feature, whose
    minimal depth is then h.

    Parameters
    ----------
    n_features : int
        Number p of features, at least 1.
    node_counts : array-like of shape (h,)
        l_0 .. l_{h-1}; they may be averages over trees.
    multiway : bool
        Whether a path splits on a feature at most once, as in multiway trees: then one of the
        p - d features that are left at depth d is chosen, q_d = 1 / (p - d).

    Returns
    -------
    ndarray of float64, shape (h + 1,)
        P(D = 0) .. P(D = h).

    Raises
    ------
    ValueError
        If `n_features` is below 1, or `node_counts` is not a row of numbers from 0, or longer than
        a path through a multiway tree can be.

    Examples
    --------
    >>> distribution = minimal_depth_distribution(10, [1, 2, 4, 8])
    >>> distribution.round(4).tolist()
    [0.1, 0.171, 0.2507, 0.2724, 0.2059]
    >>> round(float(distribution @ range(5)), 4)  # the mean
    2.3132
    """
    counts = np.asarray(node_counts, dtype=np.float64)
    checks.check_integer("minimal_depth_distribution", "n_features", n_features, 1)
    if counts.ndim != 1 or not np.isfinite(counts).all() or counts.min(initial=0.0) < 0:
        raise ValueError(
            "minimal_depth_distribution: node_counts must be a row of numbers from 0, one per "
            f"depth, got {node_counts!r}."
        )
    if multiway and counts.size > n_features:
        raise ValueError(
            f"minimal_depth_distribution: node_counts must have at most n_features={n_features} "
            f"depths with multiway=True, got {counts.size}."
        )
    chances = np.array([_chance(n_features, depth, multiway) for depth in range(counts.size)])
    unseen = np.cumprod((1 - chances) ** counts)
    distribution: FloatArray = -np.diff(np.concatenate([[1.0], unseen, [0.0]]))
    return distribution


def _chance(candidates: float, depth: int, multiway: bool) -> float:
    """Return the probability that a split at a depth is on a given feature not yet split on."""
    return 1 / max(1.0, candidates - depth if multiway else candidates)


MINIMAL_DEPTH = Measure(
    "minimal_depth",
    lambda inputs: sums_of(minimal_depth, inputs.estimator),
    "minimal depth",
    "Minimal depth is the number of levels by which the first split on a feature is nearer "
    "to the root than if the features of the splits were chosen at random, averaged over the "
    "trees.",
    "Minimal depth is above 0 for about half of the features if none is relevant.",
    reference="H. Ishwaran et al. (2010). High-dimensional variable selection for survival data. "
    "Journal of the American Statistical Association 105.",
    survival=True,
    over_trees=True,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
)


@over_trees(Importances)
def noising(
    forest: Any, X: TableLike | None = None, y: ArrayLike | None = None, *, rows: str | None = "oob"
) -> Sums[Importances]:
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
        A forest of this package or of scikit-learn.
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
        If `forest` is no such forest.
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
    grown, X = trees_and_rows(forest, "noising", X)
    sample = sample_of(grown, X, y, rows, "noising")
    tally, n_used = Tally(grown.n_features), 0
    while (run := (yield grown, len(sample.target))) is not None:
        nodes = Nodes(run)
        of_rows = (out_of_bag_leaves if sample.out_of_bag else leaves)(run, sample.rows)
        used = of_rows >= 0
        leaf, row = (of_rows + run.offsets[:-1])[used], np.nonzero(used)[0]
        # A loss is a scalar product a(y) . b(m), apart from what does not depend on the prediction
        # m: minus the indicator of the class y times that of the vote, or (-2 y, 1) . (m, m^2). So
        # the rows at a node enter by the sum of their a, and random sides by the mean of b.
        if run.classes is not None:
            indicators = np.eye(len(run.classes))
            losses = -indicators[sample.target]
            of_leaves = indicators[run.leaf_values.argmax(axis=1)]
        else:
            predicted = run.leaf_values[:, 0]
            losses = np.column_stack([-2 * sample.target, np.ones(sample.target.size)])
            of_leaves = np.column_stack([predicted, predicted**2])
        total = np.column_stack(
            [np.bincount(leaf, column[row], run.n_nodes)[nodes.leaves] for column in losses.T]
        )
        as_they_go = nodes.summed_up(np.einsum("ij,ij->i", total, of_leaves))
        mean = np.zeros((run.n_nodes, of_leaves.shape[1]))
        mean[nodes.leaves] = of_leaves
        for level in reversed(nodes.levels):
            sums = nodes.over_children(mean, level)
            mean[level.parents] = sums / nodes.n_children[level.parents][:, np.newaxis]
        rises = np.einsum("ij,ij->i", nodes.summed_up(total), mean) - as_they_go
        n_rows = np.bincount(nodes.tree[leaf], minlength=run.n_trees)
        fraction = np.where(nodes.maximal(), rises, 0.0) / np.maximum(n_rows, 1.0)[nodes.tree]
        tally.add(nodes, fraction, n_trees=run.n_trees)
        n_used += int(np.count_nonzero(n_rows))  # trees that some row is dropped through
    if not n_used:
        raise ValueError("noising: no tree of this forest has out-of-bag rows. Hint: more trees.")
    values, error, _ = tally.means()
    return importances_of(
        grown,
        "noising",
        values,
        "variance" if grown.classes is None else "1",
        error,
        rows="out-of-bag" if sample.out_of_bag else "all",
        n_trees_with_rows=n_used,
    )


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
