"""Minimal depth: distance from the root to the first split on a feature, and its null."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.forests.forest import Forest
from duramen.importances.arguments import importances_of, trees_of
from duramen.importances.measure import Measure, TreeSums, over_trees, sums_of
from duramen.importances.nodes import Nodes, TreeMoments
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray


@over_trees(Importances)
def minimal_depth(forest: Any) -> TreeSums:
    r"""Compute the minimal depth: how much nearer to the root than by chance a feature is split on.

    .. math:: Imp(v) = \frac1T \sum_T \left( E_0[D_T] - D_{T,v} \right)

    D_{T,v} is the minimal depth of v in tree T: the least depth of a node that splits on v (0 is
    the root), which is the depth of the root of the maximal v-subtree nearest to the root; where
    no node does, it is the depth of the tree's deepest leaf. E_0[D_T] is its mean if chance chose
    the features of that tree's splits (`minimal_depth_distribution`). After Ishwaran et al. (2010),
    who compare the mean of D with that threshold: above 0 is what they call a strong variable.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.

    Returns
    -------
    Importances
        ``measure="minimal_depth"``, in unit ``"1"`` (levels of a tree). `standard_error` is that
        over the trees (None for a single one). Trees without a split are left out; if there are no
        others, all values are 0.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.

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
    moments = TreeMoments(p)
    by_chance = 0.0
    multiway = grown.settings.splits == "multiway"
    # A tree sees a fraction of the columns; of those with several values, on average so many.
    fraction = (grown.settings.column_samples or p) / p
    candidates = fraction * float(np.count_nonzero(grown.schema.n_codes() > 1))

    def add(run: Forest) -> None:
        nonlocal by_chance
        nodes, n_trees = Nodes(run), run.n_trees
        inner = nodes.internal()
        height = np.zeros(n_trees, dtype=np.int64)
        height[nodes.tree[inner]] = nodes.depth() + 1  # the deepest level comes last
        has_split = height > 0
        # The mean of D by chance is the sum of P(D > d) over the depths d = 0 .. h - 1 of the tree.
        unseen, expected = np.ones(n_trees), np.zeros(n_trees)
        for depth, level in enumerate(nodes.levels):
            counts = np.bincount(nodes.tree[level], minlength=n_trees)
            unseen = unseen * (1 - _chance(candidates, depth, multiway)) ** counts
            expected += np.where(counts > 0, 1 - fraction * (1 - unseen), 0.0)
        by_chance += float(expected.sum())
        # `internal` goes down the levels: the first node of a tree on a feature is the highest.
        place = nodes.tree[inner] * p + run.feature[inner]
        place, first = np.unique(place, return_index=True)
        tree = place // p
        rise = (height[tree] - nodes.depth()[first]).astype(np.float64)
        # Most features have the same number in a tree: that of a feature without a split.
        moments.add_sparse(expected - height, has_split, tree, place % p, rise)

    def result() -> Importances:
        return importances_of(
            grown,
            "minimal_depth",
            moments.mean(),
            "1",
            moments.standard_error(),
            threshold=by_chance / max(1, moments.n_trees),
            n_split_trees=moments.n_trees,
        )

    return TreeSums(grown, add, result, n_rows=0)


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
