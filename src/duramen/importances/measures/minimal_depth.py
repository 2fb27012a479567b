"""Minimal depth: distance from the root to the first split on a feature, and its null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.forests.forest import AnyForest, Forest
from duramen.importances.arguments import forest_of, importances_of, metadata_of, trees_of
from duramen.importances.measure import Measure, TreeSums
from duramen.importances.nodes import Nodes, TreeMoments, weighted_counts
from duramen.results.columns import Column, counted, features, hidden
from duramen.results.fields import PROBABILITY, frozen, ranks
from duramen.results.importances import Importances
from duramen.results.result import FeatureResult
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.text import fixed


def minimal_depth(forest: Any) -> Importances:
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

    See Also
    --------
    first_splits : the depths themselves, with the threshold.

    Notes
    -----
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
    grown = trees_of(forest, "minimal_depth", survival=True, rows_given=False)
    return cast(Importances, _Sums(grown).of_trees().over_all())


def first_splits(forest: Any) -> FirstSplits:
    """Compute the mean minimal depth of every feature, and its expectation by chance.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.

    Returns
    -------
    FirstSplits
        Depths as in `minimal_depth`, whose values are ``threshold - depths``.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.first_splits(forest)
    >>> result.n_trees, round(result.threshold, 2), result.selected()
    (20, 2.4, ('x0', 'x2'))
    """
    grown = forest_of(forest, "first_splits", survival=True, rows_given=False)
    sums = _Sums(grown)
    sums.of_trees().over_all()
    return FirstSplits(
        names=grown.names,
        depths=sums.depth.mean(),
        used=sums.used / max(1, sums.n_trees),
        threshold=sums.threshold(),
        null=sums.distribution(),
        n_trees=sums.n_trees,
        standard_error=sums.depth.standard_error(),
        metadata=metadata_of(grown, "first_splits"),
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


# --- over the trees ------------------------------------------------------------------------------


class _Sums:
    """Minimal depths of a forest, its `n_trees` trees with a split taken together.

    `used` is how many of them split on each feature; `depth` and `gain` are D and E_0[D] - D.
    """

    def __init__(self, forest: AnyForest) -> None:
        p = forest.n_features
        self.forest, self.n_trees, self.used = forest, 0, np.zeros(p)
        self.depth, self.gain = _Sparse(p), _Sparse(p)
        self._by_chance, self._found, self._missed = 0.0, [0.0], 0.0

    def of_trees(self) -> TreeSums:
        """Return these sums over the trees, from which the importances follow."""
        return TreeSums(self.forest, self._add, self._importances, n_rows=0)

    def _add(self, run: Forest) -> None:
        nodes = Nodes(run)
        p, n_trees = run.n_features, run.n_trees
        inner, level = nodes.internal(), nodes.depth()
        height = np.zeros(n_trees, dtype=np.int64)
        height[nodes.tree[inner]] = level + 1  # the deepest level comes last
        grown = height > 0
        by_chance = self._chance_of(nodes, grown)
        # `internal` goes down the levels: the first node of a tree on a feature is the highest.
        place = nodes.tree[inner] * p + run.feature[inner]
        place, first = np.unique(place, return_index=True)
        tree, feature = place // p, place % p
        rise = (height[tree] - level[first]).astype(np.float64)
        self.n_trees += int(np.count_nonzero(grown))
        self.used += weighted_counts(feature, np.ones(feature.size), p)
        self.depth.add(height.astype(np.float64), grown, tree, feature, -rise)
        self.gain.add(by_chance - height, grown, tree, feature, rise)

    def _chance_of(self, nodes: Nodes, grown: NDArray[np.bool_]) -> FloatArray:
        """Add up the null distribution of every tree, and return its means.

        The mean of D is the sum of P(D > d) over the depths d = 0 .. h - 1 of the tree.
        """
        fraction, candidates = _candidates(nodes.forest)
        multiway = nodes.forest.settings.splits == "multiway"
        unseen, mean = np.ones(grown.size), np.zeros(grown.size)
        for depth, level in enumerate(nodes.levels):
            counts = np.bincount(nodes.tree[level], minlength=grown.size)
            left = unseen * (1 - _chance(candidates, depth, multiway)) ** counts
            if depth == len(self._found):
                self._found.append(0.0)
            self._found[depth] += fraction * float((unseen - left).sum())
            mean += np.where(counts > 0, 1 - fraction * (1 - left), 0.0)
            unseen = left
        self._missed += float((1 - fraction * (1 - unseen[grown])).sum())
        self._by_chance += float(mean.sum())
        return mean

    def _importances(self) -> Importances:
        return importances_of(
            self.forest,
            "minimal_depth",
            self.gain.mean(),
            "1",
            self.gain.standard_error(),
            threshold=self.threshold(),
            n_split_trees=self.n_trees,
        )

    def threshold(self) -> float:
        """Return the mean of the minimal depth by chance."""
        return self._by_chance / max(1, self.n_trees)

    def distribution(self) -> FloatArray:
        """Return its distribution, of shape (D + 1,)."""
        if not self.n_trees:
            return np.array([0.0, 1.0])
        return np.array([*self._found, self._missed]) / self.n_trees


class _Sparse(TreeMoments):
    """Sums over trees of a number that is the same for most features of a tree."""

    def add(
        self,
        base: FloatArray,
        counts: NDArray[np.bool_],
        tree: IntArray,
        feature: IntArray,
        extra: FloatArray,
    ) -> None:
        """Add the trees that count: base[t] for every feature, and extra[i] for feature[i]."""
        common, rest = base[counts], extra * (2 * base[tree] + extra)
        p = len(self._sum)
        self.n_trees += common.size
        self._sum += common.sum() + weighted_counts(feature, extra, p)
        self._squares += (common**2).sum() + weighted_counts(feature, rest, p)


def _candidates(forest: Forest) -> tuple[float, float]:
    """Return the fraction of columns that a tree sees, and how many of these can be split on.

    A column with a single value cannot; of those that can, a tree on some of the columns sees this
    number on average.
    """
    p = forest.n_features
    fraction = (forest.settings.column_samples or p) / p
    varied = forest.schema.n_codes() > 1
    return fraction, fraction * float(np.count_nonzero(varied))


def _chance(candidates: float, depth: int, multiway: bool) -> float:
    """Return the probability that a split at a depth is on a given feature not yet split on."""
    return 1 / max(1.0, candidates - depth if multiway else candidates)


MINIMAL_DEPTH = Measure(
    "minimal_depth",
    lambda inputs: _Sums(trees_of(inputs.estimator, "minimal_depth", survival=True)).of_trees(),
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


@dataclass(frozen=True, eq=False, repr=False)
class FirstSplits(FeatureResult[float]):
    """Depths of the first splits on the p features of a forest.

    Parameters
    ----------
    names : tuple of str
        Names of the features, in the order of the table's columns.
    depths : ndarray of float64, shape (p,)
        Mean minimal depth over the trees, 0 being the root; the smaller, the more important. In a
        tree that does not split on the feature it is the depth of the tree.
    used : ndarray of float64, shape (p,)
        Fraction of the trees that split on the feature.
    threshold : float
        Mean of the minimal depth if chance chose the features, in the trees as they are.
    null : ndarray of float64, shape (D + 1,)
        Its distribution: probability of depth d = 0 .. D - 1, mean over the trees, and that of a
        tree which does not split on the feature.
    n_trees : int
        Number of trees with a split; others are left out.
    standard_error : ndarray of float64, shape (p,), optional
        Standard error of `depths` over the trees.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.first_splits(forest)
    >>> [result.names[j] for j in result.order()[:2]]
    ['x0', 'x2']
    """

    names: tuple[str, ...]
    depths: FloatArray
    used: FloatArray
    threshold: float
    null: FloatArray
    n_trees: int
    standard_error: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _NUMBERS: ClassVar = {
        "depths": (0.0, np.inf),
        "used": PROBABILITY,
        "standard_error": (0.0, np.inf),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "null", frozen("FirstSplits", "null", self.null, (-1,)))

    def _taken(self, index: NDArray[np.integer]) -> dict[str, Any]:
        return {**super()._taken(index), "null": self.null}

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by increasing depth; ties keep column order."""
        return np.argsort(self.depths, kind="stable")

    def selected(self) -> tuple[str, ...]:
        """Return the names of the features whose depth is below the threshold, the best first."""
        return tuple(self.names[j] for j in self.order() if self.depths[j] < self.threshold)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is nearest to the root), ``depth``, ``standard_error`` (if
        known), ``used`` and ``selected``.
        """
        columns: dict[str, Any] = {
            "name": list(self.names),
            "rank": ranks(self.order()),
            "depth": self.depths.copy(),
        }
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error.copy()
        return {**columns, "used": self.used.copy(), "selected": self.depths < self.threshold}

    def _summary(self, rows: int) -> Summary:
        best = self.order()[:rows]
        count, trees = counted(len(self), "feature"), counted(self.n_trees, "tree")
        heading = (
            f"FirstSplits: minimal depth of {count} in {trees}, {self.threshold:.4g} by chance"
        )
        depths = self.depths[best]
        columns = [
            *features(self.names, best),
            Column("depth", fixed(depths, 4), bars=depths),
            Column("used", [f"{part:.0%}" for part in self.used[best].tolist()]),
        ]
        return Summary((heading,), columns, hidden(len(self), len(best)))
