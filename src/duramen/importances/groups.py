"""Importances of groups of features, and of features smoothed over their neighbors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.memory import require_memory
from duramen.importances.arguments import check_importances
from duramen.io.groups import members_of
from duramen.results.importances import Importances
from duramen.results.result import checked_names
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

Aggregation = Literal["sum", "mean", "max"]
_SHOWN = 5


def group(
    importances: Importances,
    feature_groups: Any,
    *,
    how: Aggregation = "sum",
    names: Sequence[str] | None = None,
    rest: Literal["drop", "own"] = "drop",
) -> Importances:
    r"""Compute the sum, mean or maximum of the importances of each group of features.

    .. math:: Imp(G) = \sum_{m \in G} Imp(X_m), \quad
              \frac{1}{|G|} \sum_{m \in G} Imp(X_m) \quad \text{or} \quad
              \max_{m \in G} Imp(X_m)

    such as the voxels of a brain region (Wehenkel et al. 2018; thesis, section 4.6).

    Parameters
    ----------
    importances : Importances
        Any measure of p features.
    feature_groups : mapping, labels, path, Clusters, transformer or positions
        Groups in any form of :func:`duramen.io.feature_groups`, such as the features of each group
        by its name, or a label for each feature. They may overlap.
    how : {"sum", "mean", "max"}
        What is made of the members. A sum favors large groups, a mean small ones.
    names : sequence of str, optional
        Names of the groups where labels are whole numbers: label g stands for ``names[g]``. By
        default a group is called as its label.
    rest : {"drop", "own"}
        Whether features that are in no group are left out, or are each a group of their own, after
        the others.

    Returns
    -------
    Importances
        Of the groups, in the order of the mapping or in that of their first feature. `unit` is
        kept. `by_degree` and `by_class` are summed or averaged; the row of a maximum is that of the
        feature that has it (the first, if several do). `standard_error` is None: it would take the
        covariances between the features.

    Raises
    ------
    TypeError
        If `importances` is something else, or a feature neither name nor index.
    ValueError
        If a feature is unknown or twice in one group, a group is empty, there is none, or there is
        not one label for each feature.

    References
    ----------
    M. Wehenkel, A. Sutera, C. Bastin, P. Geurts, C. Phillips (2018). Random forests based group
    importance scores and their statistical interpretation: application for Alzheimer's disease.
    Frontiers in Neuroscience 12.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> mdi = dm.importances.mdi(forest)
    >>> groups = {"first": ["x0", "x1"], "rest": ["x2", "x3", "x4", "x5"]}
    >>> dm.importances.group(mdi, groups, how="mean").top(1).names
    ('first',)
    """
    check_importances("group", importances)
    grouping = grouping_of(feature_groups, names, importances.names, how, rest, "group")
    if how == "max":
        values = importances.values[grouping.members]
        ranked = np.lexsort((grouping.members, -values, grouping.of_member))
        best = grouping.members[ranked[grouping.starts]]
        result = replace(importances.take(best, names=grouping.names), standard_error=None)
    else:
        result = _mapped(
            importances, lambda numbers: grouping.combined(numbers.T, how).T, names=grouping.names
        )
    return replace(
        result,
        measure=f"group {how} of {importances.measure}",
        metadata={**importances.metadata, "group": grouping.choices(importances.measure, how)},
    )


@dataclass(frozen=True)
class Grouping:
    """Members of the groups in order, sizes of the groups, and features without a group."""

    names: tuple[str, ...]
    members: IntArray
    sizes: IntArray
    left_out: int = 0

    @property
    def starts(self) -> IntArray:
        """Place of the first member of each group."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def of_member(self) -> IntArray:
        """Number of the group of each member."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @property
    def groups(self) -> dict[str, IntArray]:
        """Members of each group, by its name."""
        members = np.split(self.members, self.starts[1:])
        return dict(zip(self.names, members, strict=True))

    def combined(self, values: FloatArray, how: Aggregation) -> FloatArray:
        """Return the sum, mean or maximum over the members of each group, shape (..., G)."""
        of_members = values[..., self.members]
        if how == "max":
            return np.maximum.reduceat(of_members, self.starts, axis=-1)
        sums: FloatArray = np.add.reduceat(of_members, self.starts, axis=-1)
        return sums if how == "sum" else sums / self.sizes

    def choices(self, measure: str, how: Aggregation) -> dict[str, Any]:
        """Return the record of the groups for metadata."""
        sizes = dict(zip(self.names, self.sizes.tolist(), strict=True))
        return {"of": measure, "how": how, "sizes": sizes, "left_out": self.left_out}


def grouping_of(
    feature_groups: Any,
    names: Sequence[str] | None,
    features: tuple[str, ...],
    how: str,
    rest: str,
    function: str,
) -> Grouping:
    """Read groups of features; parameters as of `group`, `function` for errors."""
    checks.check_choice(function, "how", how, get_args(Aggregation))
    checks.check_choice(function, "rest", rest, ("drop", "own"))
    members = members_of(feature_groups, features, f"{function}: feature_groups", names)
    grouping = Grouping(
        tuple(members),
        np.concatenate(list(members.values())),
        np.array([len(of_group) for of_group in members.values()], dtype=np.int64),
    )
    left = np.setdiff1d(np.arange(len(features)), grouping.members)
    if rest == "drop":
        return replace(grouping, left_out=int(left.size))
    every = (*members, *(features[j] for j in left))
    return Grouping(
        checked_names(function, "names of groups and of features in none", every),
        np.concatenate([grouping.members, left]),
        np.concatenate([grouping.sizes, np.ones(left.size, dtype=np.int64)]),
    )


def _mapped(
    importances: Importances, function: Callable[[FloatArray], FloatArray], **changes: Any
) -> Importances:
    """Return importances whose values, by degree and class too, are a linear map of others."""
    degrees, classes = importances.by_degree, importances.by_class
    return replace(
        importances,
        values=function(importances.values),
        by_degree=None if degrees is None else function(degrees),
        standard_error=None,
        by_class=None if classes is None else function(classes),
        **changes,
    )


# --- neighborhoods of features, such as voxels ----------------------------------------------------

_BYTES_A_PAIR = 120  # two entries, in coordinates, in rows, and normalized


def smooth(
    importances: Importances,
    neighbors: Any = None,
    *,
    positions: ArrayLike | None = None,
    radius: float | None = None,
) -> Importances:
    r"""Smooth the importances of neighboring features, which often share a signal.

    .. math:: Imp'(X_m) = \frac{\sum_k w_{mk} Imp(X_k)}{\sum_k w_{mk}}

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
        `positions` alone, or a shape or a weight is not allowed.
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
    if (neighbors is None) == (positions is None) or (positions is None) != (radius is None):
        raise ValueError(
            "smooth: either neighbors, or positions and radius, must be given. Hint: "
            "smooth(importances, positions=voxels, radius=1.5)."
        )
    from scipy import sparse
    from scipy.spatial import KDTree

    p = len(importances)
    if radius is not None:
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
        weights = sparse.csr_array(upper + upper.T)
    else:
        weights = sparse.csr_array(neighbors, dtype=np.float64)
        valid = np.isfinite(weights.data).all() and not np.any(weights.data < 0)
        if weights.shape != (p, p) or not valid:
            raise ValueError(
                f"smooth: neighbors must be weights of shape ({p}, {p}), one row and one column "
                f"per feature, finite and at least 0, got shape {weights.shape}."
            )
    own = weights.diagonal()
    weights = sparse.csr_array(weights + sparse.diags_array(np.where(own > 0, 0.0, 1.0)))
    passed = sparse.diags_array(1 / weights.sum(axis=1)) @ weights

    def smoothed(numbers: FloatArray) -> FloatArray:
        return np.asarray(passed @ numbers, dtype=np.float64)

    source = "neighbors" if positions is None else "positions"
    choices = {"of": importances.measure, "by": source, "radius": radius}
    return _mapped(
        importances,
        smoothed,
        measure=f"smoothed {importances.measure}",
        metadata={**importances.metadata, "smooth": choices},
    )
