"""Importances smoothed over neighborhoods of features, such as those of a voxel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.memory import require_memory
from duramen.importances.arguments import check_importances
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray

if TYPE_CHECKING:
    from scipy import sparse

_BYTES_A_PAIR = 120  # two entries, in coordinates, in rows, and normalized


def smooth(
    importances: Importances,
    neighbors: Any = None,
    *,
    positions: ArrayLike | None = None,
    radius: float | None = None,
    how: Literal["mean", "distribute"] = "mean",
) -> Importances:
    r"""Smooth the importances of neighboring features, which often stand for each other.

    .. math:: Imp'(X_m) = \frac{\sum_k w_{mk} Imp(X_k)}{\sum_k w_{mk}}
              \quad \text{or} \quad
              \sum_k \frac{w_{km}}{\sum_l w_{kl}} Imp(X_k)

    with w_mk = 1 where k is m itself or one of its neighbors (Wehenkel 2018; thesis, section 4.6).

    Parameters
    ----------
    importances : Importances
        Any measure of p features.
    neighbors : array or scipy sparse matrix of shape (p, p), optional
        Weight w_mk of the neighbor k of m, at least 0; 0 or absent where it is none. A feature's
        own weight is on the diagonal, and 1 where there is none.
    positions : array-like of shape (p, d), optional
        Place of each feature, instead of `neighbors`, such as the coordinates of a voxel.
    radius : float, optional
        Features at most so far away are neighbors (Euclidean distance, in the unit of
        `positions`).
    how : {"mean", "distribute"}
        ``"mean"``: a feature gets the mean over its neighborhood. ``"distribute"``: a feature
        distributes its importance over its neighborhood, and the sum over all features stays what
        it was.

    Returns
    -------
    Importances
        Of the same features, in the same unit, `by_degree` and `by_class` smoothed likewise.
        `standard_error` is None: it would take the covariances between the features.

    Raises
    ------
    TypeError
        If `importances` is something else.
    ValueError
        If neither or both of `neighbors` and `positions` are given, `radius` is not given with
        `positions` alone, or a shape, a weight or `how` is not allowed.
    MemoryError
        If there are more pairs of neighbors than memory holds.

    References
    ----------
    M. Wehenkel (2018). Characterization of neurodegenerative diseases with tree ensemble methods:
    the case of Alzheimer's disease. PhD thesis, University of Liège.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> mdi = dm.importances.mdi(forest)
    >>> places = [[0], [1], [2], [10], [11], [12]]
    >>> dm.importances.smooth(mdi, positions=places, radius=1).top(2).names
    ('x0', 'x1')
    """
    check_importances("smooth", importances)
    if how not in ("mean", "distribute"):
        raise ValueError(f'smooth: how must be "mean" or "distribute", got {how!r}.')
    if (neighbors is None) == (positions is None):
        raise ValueError(
            "smooth: either neighbors or positions must be given, and not both. "
            "Hint: smooth(importances, positions=voxels, radius=1.5)."
        )
    if (positions is None) != (radius is None):
        raise ValueError("smooth: radius must be given with positions, and only then.")
    p = len(importances)
    if positions is None:
        weights, source = _own_weights(_adjacency(neighbors, p)), "neighbors"
    else:
        weights, source = _within(positions, float(radius or 0.0), p), "positions"
    from scipy import sparse

    totals = sparse.diags_array(1 / weights.sum(axis=1))
    passed = totals @ weights if how == "mean" else (totals @ weights).T

    def smoothed(numbers: FloatArray) -> FloatArray:
        return np.asarray(passed @ numbers, dtype=np.float64)

    choices = {"of": importances.measure, "how": how, "by": source, "radius": radius}
    return replace(
        importances,
        measure=f"smoothed {importances.measure}",
        values=smoothed(importances.values),
        by_degree=None if importances.by_degree is None else smoothed(importances.by_degree),
        standard_error=None,
        by_class=None if importances.by_class is None else smoothed(importances.by_class),
        metadata={**importances.metadata, "smooth": choices},
    )


def _adjacency(neighbors: Any, p: int) -> sparse.csr_array:
    from scipy import sparse

    weights = sparse.csr_array(neighbors, dtype=np.float64)
    if weights.shape != (p, p):
        raise ValueError(
            f"smooth: neighbors must have shape ({p}, {p}), one row and one column per feature, "
            f"got {weights.shape}."
        )
    if not np.isfinite(weights.data).all() or np.any(weights.data < 0):
        raise ValueError("smooth: neighbors must be weights that are finite and at least 0.")
    return weights


def _own_weights(weights: sparse.csr_array) -> sparse.csr_array:
    from scipy import sparse

    own = weights.diagonal()
    return sparse.csr_array(weights + sparse.diags_array(np.where(own > 0, 0.0, 1.0)))


def _within(positions: ArrayLike, radius: float, p: int) -> sparse.csr_array:
    from scipy import sparse
    from scipy.spatial import KDTree

    places = np.asarray(positions, dtype=np.float64)
    if places.ndim != 2 or len(places) != p or not np.isfinite(places).all():
        raise ValueError(
            f"smooth: positions must be finite numbers of shape ({p}, d), one row per feature, "
            f"got shape {places.shape}."
        )
    if not 0 <= radius < np.inf:
        raise ValueError(f"smooth: radius must be finite and at least 0, got {radius!r}.")
    tree = KDTree(places)
    n_pairs = (int(tree.count_neighbors(tree, radius)) - p) // 2
    require_memory(
        _BYTES_A_PAIR * n_pairs,
        what=f"smoothing over {n_pairs} pairs of neighbors",
        function="smooth",
        hint="give a smaller radius",
    )
    pairs = tree.query_pairs(radius, output_type="ndarray")
    upper = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(p, p))
    return _own_weights(sparse.csr_array(upper + upper.T))
