"""Random intersection trees: sets of features that are common on the paths of a forest."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.forests import structure
from duramen.forests.forest import Forest
from duramen.importances.arguments import forest_of, metadata_of
from duramen.results.feature_sets import FeatureSets
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

_FUNCTION = "random_intersections"


def random_intersections(
    forest: Any,
    *,
    pos_label: Any = None,
    n_draws: int = 500,
    depth: int = 5,
    n_children: int = 2,
    min_size: int = 2,
    random_state: Any = None,
) -> FeatureSets:
    """Find the sets of features that are common on the paths of a forest, by random intersections.

    A leaf stands for the features that the path to it splits on. A random intersection tree has the
    features of a random leaf at its root, and at each other node those of its parent that are among
    the features of another random leaf; leaves are drawn in proportion to their weight. What is
    left at the last level has survived `depth` intersections, so that features that are often
    together remain (Shah and Meinshausen 2014; on the leaves of a forest: Basu et al. 2018).

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package.
    pos_label : label, optional
        Class whose leaves are drawn, those in which it is the most frequent one; by default all.
    n_draws : int
        Number of random intersection trees.
    depth : int
        Intersections of a path of such a tree.
    n_children : int
        Children of a node of such a tree.
    min_size : int
        Least number of features of a set.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.

    Returns
    -------
    FeatureSets
        The sets, with their prevalence: the fraction of the weight of these leaves whose paths
        split on all features of the set, which is computed from all leaves.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.
    ValueError
        If the forest is of survival, `pos_label` is no class of it, or of no leaf.

    Notes
    -----
    Prevalence describes the trees. Features with strong main effects are on most paths, and so are
    sets of them, whether or not they interact: :func:`duramen.significance.interaction_test` tests
    pairs.

    References
    ----------
    R. D. Shah, N. Meinshausen (2014). Random intersection trees. Journal of Machine Learning
    Research 15. S. Basu, K. Kumbier, J. B. Brown, B. Yu (2018). Iterative random forests to
    discover predictive and stable high-order interactions. PNAS 115.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> y = (X[:, 1] > 0) & (X[:, 4] > 0) & (X[:, 6] > 0)
    >>> forest = dm.RandomForestClassifier(100, max_features=None, random_state=0).fit(X, y)
    >>> sets = dm.importances.random_intersections(forest, pos_label=True, random_state=0)
    >>> ("x1", "x4", "x6") in sets.sets
    True
    """
    grown = forest_of(forest, _FUNCTION)
    options = checked(
        _FUNCTION, n_draws=n_draws, depth=depth, n_children=n_children, min_size=min_size
    )
    seed = checks.draw_seed(random_state)
    leaves = Leaves(grown, pos_label, _FUNCTION)
    survivors = leaves.survivors(np.random.default_rng(seed), **options)
    return leaves.result(
        survivors, metadata=metadata_of(grown, _FUNCTION, **options, random_state=seed)
    )


def checked(function: str, **options: Any) -> dict[str, int]:
    """Return the options of random intersection trees; all are integers of at least 1."""
    return {name: checks.check_integer(function, name, n, 1) for name, n in options.items()}


class Leaves:
    """Leaves of a forest with the features of their paths, and their weights."""

    def __init__(self, forest: Forest, pos_label: Any, function: str) -> None:
        from scipy.sparse import coo_array

        self._names = forest.names
        ends = np.flatnonzero(forest.feature < 0)
        ends = ends[_of_class(forest, ends, pos_label, function)]
        weight = forest.weight[ends].astype(np.float64)
        self._cumulative = np.cumsum(weight)
        self._weight = weight / weight.sum()
        parent = structure.parents(forest)
        leaf, at = np.arange(len(ends)), parent[ends]
        rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        while (inside := at >= 0).any():
            leaf, at = leaf[inside], at[inside]
            rows.append(leaf)
            columns.append(forest.feature[at].astype(np.int64))
            at = parent[at]
        entries = (np.concatenate(rows), np.concatenate(columns))
        ones = np.ones(len(entries[0]), dtype=np.int64)
        shape = (len(ends), forest.n_features)
        self._paths = coo_array((ones, entries), shape=shape).tocsr()
        self._paths.sort_indices()
        self._of_feature = self._paths.tocsc()

    def survivors(
        self,
        random: np.random.Generator,
        *,
        n_draws: int,
        depth: int,
        n_children: int,
        min_size: int,
    ) -> list[tuple[int, ...]]:
        """Return the sets at the last level of random intersection trees."""
        survivors: set[frozenset[int]] = set()
        for _ in range(n_draws):
            level = self._drawn(random, 1)
            for _ in range(depth):
                drawn = self._drawn(random, n_children * len(level))
                level = [
                    rest
                    for k, other in enumerate(drawn)
                    if len(rest := level[k // n_children] & other) >= min_size
                ]
                if not level:
                    break
            survivors.update(level)
        return sorted((tuple(sorted(left)) for left in survivors), key=lambda s: (len(s), s))

    def _drawn(self, random: np.random.Generator, count: int) -> list[frozenset[int]]:
        """Return the features of random leaves."""
        places = np.searchsorted(
            self._cumulative, random.random(count) * self._cumulative[-1], side="right"
        )
        starts, features = self._paths.indptr, self._paths.indices
        return [
            frozenset(features[starts[leaf] : starts[leaf + 1]].tolist())
            for leaf in np.minimum(places, len(self._cumulative) - 1).tolist()
        ]

    def prevalence(self, sets: list[tuple[int, ...]]) -> FloatArray:
        """Return the fraction of the weight of the leaves with all features of each set."""
        starts, leaves = self._of_feature.indptr, self._of_feature.indices
        values = np.zeros(len(sets))
        for k, features in enumerate(sets):
            of_each = [leaves[starts[j] : starts[j + 1]] for j in features]
            of_each.sort(key=len)
            common = of_each[0]
            for other in of_each[1:]:
                common = np.intersect1d(common, other, assume_unique=True)
            values[k] = self._weight[common].sum()
        return np.minimum(values, 1.0)

    def result(
        self,
        sets: list[tuple[int, ...]],
        *,
        metadata: dict[str, Any],
        stability: FloatArray | None = None,
    ) -> FeatureSets:
        """Return sets, those of largest stability and prevalence first."""
        prevalence = self.prevalence(sets)
        keys = prevalence if stability is None else stability
        order = np.lexsort((-prevalence, -keys))
        return FeatureSets(
            sets=tuple(tuple(self._names[j] for j in sets[k]) for k in order),
            prevalence=prevalence[order],
            stability=None if stability is None else stability[order],
            metadata=metadata,
        )


def _of_class(forest: Forest, ends: IntArray, pos_label: Any, function: str) -> Any:
    """Return which leaves are drawn."""
    if pos_label is None:
        return slice(None)
    labels = [] if forest.classes is None else np.asarray(forest.classes).tolist()
    if pos_label not in labels:
        allowed = ", ".join(map(repr, labels)) or "None for numbers"
        raise checks.refuse(function, "pos_label", f"a class of the forest, {allowed}", pos_label)
    tree = np.searchsorted(forest.offsets, ends, side="right") - 1
    values = forest.leaf_values[forest.child[ends] + forest.leaf_offsets[tree]]
    chosen = values.argmax(axis=1) == labels.index(pos_label)
    if not chosen.any():
        raise ValueError(f"{function}: pos_label {pos_label!r} is the class of no leaf.")
    return chosen
