"""Interactions of pairs of features: information of splits on one below splits on the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from duramen import _kernel
from duramen.forests.forest import Forest
from duramen.forests.growth import bag
from duramen.forests.settings import GrowthSettings
from duramen.importances.arguments import (
    encode_like,
    forest_of,
    metadata_of,
    missing_rows,
    require_grown_on,
)
from duramen.importances.measures.mdi import mdi
from duramen.results.pair_interactions import PairInteractions
from duramen.support.arrays import IntArray, TableLike
from duramen.support.checks import check_flag, check_jobs, places_of, refuse

_FUNCTION = "interactions"
_MOST_BY_DEFAULT = 200
_MOST = 5000

DESCRIPTIVE = (
    "The trees are not totally randomized multiway trees, grown in full: the numbers describe "
    "which splits lie below which in these trees, and estimate no property of the distribution."
)


def interactions(
    forest: Any,
    X: TableLike | None = None,
    *,
    features: int | Iterable[str | int] | None = None,
    sparse: bool = False,
    n_jobs: int | None = None,
) -> PairInteractions:
    r"""Estimate the Shapley interaction index of the information about Y for every pair.

    .. math::

        I_{mj} = \frac1T \sum_T \frac{p}{2} \Bigl[ \sum_{t: v(t) = X_m}
        p(t) \Delta i(t) \Bigl( \frac{[X_j \in A_t]}{d_t} - \frac{[X_j \notin A_t]}{p - 1 - d_t}
        \Bigr) + \text{the same for } v(t) = X_j \text{ and } X_m \Bigr]

    with :math:`A_t` the :math:`d_t` features conditioned on above node t: the information of splits
    on a feature at depth k + 1 below the other, less their information at depth k without it,
    averaged over k. In totally randomized multiway trees, grown in full, its expectation is the
    index of the training rows (`duramen.theory.population_interactions`). Features that were drawn
    and pairs constant above a node of such trees are among :math:`A_t`; since they are not
    recorded, they count with their probability, which needs the training rows.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn, of classes or numbers, best of
        ``TotallyRandomizedTreesClassifier(criterion="entropy")``.
    X : table of shape (n, p), or LearningSet
        The rows that the forest was grown on, in their order; those of weight 0 left out. Not
        needed with `sparse`.
    features : int, or iterable of str or int, optional
        Features whose pairs are measured: some of them, or the number of those of largest MDI; by
        default all, or the 200 of largest MDI. At most 5,000.
    sparse : bool
        Whether to measure all pairs of features that lie on a common path of a tree, and no
        others, without standard errors: for forests of thousands of features whose splits are not
        multiway. The values are those of all features, in a sparse matrix.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    PairInteractions
        ``measure="interaction"``, in the criterion's unit: synergy above 0, redundancy below.
        Standard errors are those of the mean over the trees. A note says where the trees are
        others, and the numbers descriptive.

    Raises
    ------
    TypeError
        If `forest` is no such forest.
    ValueError
        If the forest is of survival, the rows are others than those that it was grown on, or
        `features` are not columns.

    References
    ----------
    M. Grabisch, M. Roubens (1999). An axiomatic approach to the concept of interaction among
    players in cooperative games. International Journal of Game Theory 28.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], [0, 1, 1, 0]
    >>> forest = dm.TotallyRandomizedTreesClassifier(100, random_state=0).fit(X, y)
    >>> pairs = dm.importances.interactions(forest, X)
    >>> bool(abs(pairs["x0", "x1"] - 1) < 3 * pairs.standard_error[0, 1])
    True
    """
    grown = forest_of(forest, _FUNCTION, X)
    n_threads = check_jobs(_FUNCTION, n_jobs)
    if check_flag(_FUNCTION, "sparse", sparse):
        return _on_paths(grown, features, n_threads)
    if X is None:
        raise missing_rows(_FUNCTION)
    table = encode_like(grown, X)
    require_grown_on(grown, X, table, _FUNCTION)
    for tree, rows in enumerate(grown.rows[grown.offsets[:-1]].tolist()):
        if np.count_nonzero(bag(grown, tree)) != rows:
            raise ValueError(
                f"{_FUNCTION}: X must have no row of weight 0, which no node holds. Hint: leave "
                "such rows out and fit the forest again."
            )
    columns = _columns(grown, features)
    values, error = _kernel.pair_interactions(
        grown.kernel, table.kernel, grown.bags, columns.astype(np.uint32), n_threads
    )
    return PairInteractions(
        names=tuple(grown.names[j] for j in columns),
        values=values,
        measure="interaction",
        unit=grown.settings.unit,
        standard_error=error if grown.n_trees > 1 else None,
        metadata=metadata_of(grown, _FUNCTION, n_features=len(columns)),
        notes=() if _is_exact(grown) else (DESCRIPTIVE,),
    )


def _on_paths(forest: Forest, features: object, n_threads: int) -> PairInteractions:
    """Return the interactions of the pairs on common paths, a sparse matrix."""
    if features is not None:
        raise refuse(_FUNCTION, "features", "None with sparse=True", features)
    if forest.settings.splits == "multiway":
        raise ValueError(
            f"{_FUNCTION}: sparse must be False for multiway trees, whose constant features are "
            "looked up in X, got True. Hint: features=200 measures those of largest MDI."
        )
    from scipy.sparse import coo_array

    first, second, values = _kernel.path_pairs(forest.kernel, forest.n_features, n_threads)
    both = (np.r_[first, second], np.r_[second, first])
    matrix = coo_array((np.r_[values, values], both), shape=(forest.n_features,) * 2)
    return PairInteractions(
        names=forest.names,
        values=matrix.tocsr(),
        measure="interaction",
        unit=forest.settings.unit,
        metadata=metadata_of(forest, _FUNCTION, sparse=True),
        notes=(DESCRIPTIVE,),
    )


def _columns(forest: Forest, features: int | Iterable[str | int] | None) -> IntArray:
    """Return the columns whose pairs are measured, in the order of the table."""
    if features is None:
        features = min(forest.n_features, _MOST_BY_DEFAULT)
    if isinstance(features, int | np.integer) and not isinstance(features, bool):
        most = min(forest.n_features, _MOST)
        if not 1 <= features <= most:
            raise refuse(_FUNCTION, "features", f"names, or a number from 1 to {most}", features)
        return np.sort(mdi(forest).order()[:features]).astype(np.int64)
    chosen = sorted(places_of(features, forest.names, f"{_FUNCTION}: features"))
    if len(chosen) > _MOST:
        raise refuse(_FUNCTION, "features", f"at most {_MOST} of them", len(chosen))
    return np.array(chosen, dtype=np.int64)


def _is_exact(forest: Forest) -> bool:
    """Tell whether the trees are totally randomized multiway trees, grown in full."""
    settings = forest.settings
    full = GrowthSettings(splits="multiway")
    limits = (
        *("splits", "max_features", "max_depth", "max_leaf_nodes", "min_samples_leaf", "ccp_alpha"),
        *("min_impurity_decrease", "min_impurity_split", "stop_alpha", "column_samples"),
    )
    same = all(getattr(settings, name) == getattr(full, name) for name in limits)
    return same and settings.min_samples_split <= 2
