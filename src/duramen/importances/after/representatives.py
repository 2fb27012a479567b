"""One representative for each cluster of correlated features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from duramen.data import EncodedTable, encode
from duramen.data.memory import require_memory
from duramen.importances.after.clusters import members_shown
from duramen.importances.after.correlations import (
    BLOCK,
    DIGITS,
    Correlation,
    absolute,
    distances_between,
    standardized,
)
from duramen.importances.arguments import check_importances
from duramen.results.columns import hidden
from duramen.results.importances import Importances
from duramen.results.saved import Saved
from duramen.results.summary import Summarized, Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.provenance import frozen_metadata, versions
from duramen.support.text import quoted

Method = Literal["medoid", "centroid"]
Linkage = Literal["average", "complete", "single"]


@dataclass(frozen=True, eq=False, repr=False)
class Representatives(Summarized):
    """Clusters of p features and their representatives.

    `transform` makes the table of the representatives, n rows and one column for each cluster, on
    which a forest is to be grown; the result itself has no rows. ``len(result)`` is the number G of
    clusters. A representative is called as the medoid of its cluster, the member that correlates
    most with the others.

    Attributes
    ----------
    names : tuple of str
        The p features.
    labels : ndarray of int64, shape (p,)
        Cluster of each feature, 0 .. G-1 in the order of their first features.
    medoids : ndarray of int64, shape (G,)
        The feature that is the medoid of each cluster.
    method : str
        Whether they are the medoids or the centroids.
    metadata : mapping
        Settings, versions and fingerprint of the data.

    Examples
    --------
    >>> import duramen as dm
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = dm.importances.representatives(np.hstack([X, X[:, :1]]), n_clusters=2)
    >>> found.members()
    {'x0': ('x0', 'x2'), 'x1': ('x1',)}
    """

    names: tuple[str, ...]
    labels: IntArray
    medoids: IntArray
    method: Method
    metadata: Mapping[str, Any] = field(default_factory=dict)

    __reduce__ = Saved.__reduce__  # its metadata are a view, which cannot be pickled

    def __post_init__(self) -> None:
        for numbers in (self.labels, self.medoids):
            numbers.setflags(write=False)
        settled = frozen_metadata("Representatives", self.metadata)
        object.__setattr__(self, "metadata", settled)

    def __len__(self) -> int:
        return len(self.medoids)

    def members(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the members of each cluster, by the name of its representative."""
        members: list[list[str]] = [[] for _ in self.medoids]
        for name, label in zip(self.names, self.labels.tolist(), strict=True):
            members[label].append(name)
        return {self.names[m]: tuple(of) for m, of in zip(self.medoids, members, strict=True)}

    def transform(self, X: Any) -> EncodedTable:
        """Return the representatives of the clusters as columns, of shape (n, G).

        Parameters
        ----------
        X : table of shape (n, p)
            Anything that `duramen.encode` takes, with the features that were clustered. Members of
            a centroid are standardized over its rows.

        Raises
        ------
        ValueError
            If `X` has other features.
        """
        table = encode(X)
        if table.names != self.names:
            raise ValueError(
                f"Representatives.transform: X must have the {len(self.names)} features that were "
                f"clustered, {quoted(self.names[0])} and so on, in their order, got "
                f"{table.n_columns} features. Hint: give the table that `representatives` was "
                "given, or one with the same columns."
            )
        if self.method == "medoid":
            return table.take_columns(self.medoids)
        columns = standardized(table, self.metadata["correlation"])
        names = [self.names[m] for m in self.medoids]
        return encode(_centroids(columns, self.labels, self.medoids), names=names)

    def spread(self, importances: Importances) -> Importances:
        """Return the importances of all p features: each has that of its representative.

        `importances` are any measure of a forest that was grown on the table of `transform`.
        Members of a cluster share one number, so values no longer add up to what they did.

        Raises
        ------
        TypeError
            If `importances` is something else.
        ValueError
            If it is not about these representatives.
        """
        check_importances("Representatives.spread", importances)
        place = {name: j for j, name in enumerate(importances.names)}
        own = [self.names[m] for m in self.medoids]
        if len(place) != len(own) or any(name not in place for name in own):
            raise ValueError(
                "Representatives.spread: importances must be those of the representatives, "
                f"{len(own)} features such as {own[0]!r}, got {len(place)} features. Hint: grow "
                "the forest on the table that transform returns."
            )
        spread = importances.take(
            np.array([place[name] for name in own])[self.labels], names=self.names
        )
        return replace(
            spread,
            measure=f"{importances.measure} of representatives",
            metadata={**importances.metadata, "representatives": dict(self.metadata)},
        )

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"Representatives: {len(self)} {self.method}s of {len(self.names)} features, the "
            "largest clusters:"
        )
        members = sorted(self.members().items(), key=lambda item: -len(item[1]))[:rows]
        shown = [(name, [other for other in of if other != name]) for name, of in members]
        return Summary((heading,), members_shown(shown), hidden(len(self), len(members)))


def representatives(
    X: Any,
    *,
    threshold: float | None = None,
    n_clusters: int | None = None,
    method: Method = "medoid",
    correlation: Correlation = "spearman",
    linkage: Linkage = "average",
) -> Representatives:
    """Cluster features by the size of their correlation and choose a representative for each.

    Features that tell the same share their importance, so each of a large cluster looks
    unimportant (thesis, section 4.4.5). A forest grown on the representatives is free of that, and
    `Representatives.spread` gives every member the importance of its representative. After Toloşi
    and Lengauer (2011).

    Parameters
    ----------
    X : table of shape (n, p)
        Anything that `duramen.encode` takes.
    threshold : float, optional
        Clusters are merged while their correlation, as `linkage` says, is at least that; in
        (0, 1].
    n_clusters : int, optional
        Number of clusters, instead of `threshold`; fewer come out where ties would have to be
        broken.
    method : {"medoid", "centroid"}
        The representative of a cluster: the member with the greatest mean absolute correlation
        with the others (the first of several), or the mean of the members, each standardized (for
        ``"spearman"``, its ranks are) and turned round where its correlation with the medoid is
        negative.
    correlation : {"spearman", "pearson"}
        Of ranks, ties averaged, or of numbers, over the rows where both features are known; ordered
        categories are numbered in their order.
    linkage : {"average", "complete", "single"}
        Whether the mean, smallest or greatest absolute correlation between the members of two
        clusters counts: with ``"complete"``, all pairs of a cluster reach `threshold`.

    Returns
    -------
    Representatives

    Raises
    ------
    ValueError
        If neither or both of `threshold` and `n_clusters` are given, a choice is not allowed, or
        centroids are asked for and a column has more than two labels without an order.
    MemoryError
        If the p (p - 1) / 2 correlations do not fit in memory: 1.6 GB for p = 20,000, held twice.

    Notes
    -----
    A constant column has correlation 0 with all others, and so has one of more than two labels
    without an order, and two columns that are both known in fewer than ten rows. A missing value is
    not filled in: a medoid keeps those that it has, and a centroid is the mean of the members that
    are known in a row.

    References
    ----------
    L. Toloşi, T. Lengauer (2011). Classification with correlated features: unreliability of
    feature ranking and solutions. Bioinformatics 27(14).

    Examples
    --------
    >>> import duramen as dm
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 1]
    >>> dm.importances.representatives(X, threshold=0.9).members()
    {'x0': ('x0', 'x2'), 'x1': ('x1',)}
    """
    _check_choices(threshold, n_clusters, method, correlation, linkage)
    table = encode(X)
    p = table.n_columns
    if n_clusters is not None:
        checks.check_integer("representatives", "n_clusters", n_clusters, 1, most=p)
    require_memory(
        16 * (p * (p - 1) // 2) + 8 * table.n_rows * p,
        what=f"clustering {p} features, with {p * (p - 1) // 2} correlations",
        function="representatives",
        hint="leave out features that do not matter first, or define groups from prior knowledge "
        "and use group",
    )
    columns = standardized(table, correlation)
    labels = _clusters(distances_between(columns), p, threshold, n_clusters, linkage)
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    medoids = np.array([_medoid(columns, members) for members in clusters], dtype=np.int64)
    if method == "centroid":
        _check_numbers(table)
    settings = {
        "threshold": threshold,
        "n_clusters": n_clusters,
        "method": method,
        "correlation": correlation,
        "linkage": linkage,
        "fingerprint": table.fingerprint(),
        "versions": versions(),
    }
    return Representatives(table.names, labels, medoids, method, settings)


def _check_choices(
    threshold: float | None, n_clusters: int | None, method: str, correlation: str, linkage: str
) -> None:
    if (threshold is None) == (n_clusters is None):
        raise ValueError(
            "representatives: either threshold or n_clusters must be given, and not both. Hint: "
            "start with threshold=0.8."
        )
    if threshold is not None:
        checks.check_real("representatives", "threshold", threshold, 0, 1, ends="(]")
    for what, choice, allowed in (
        ("method", method, get_args(Method)),
        ("correlation", correlation, get_args(Correlation)),
        ("linkage", linkage, get_args(Linkage)),
    ):
        checks.check_choice("representatives", what, choice, allowed)


def _clusters(
    distances: FloatArray, p: int, threshold: float | None, n_clusters: int | None, linkage: Linkage
) -> IntArray:
    """Return the cluster of each feature, numbered in the order of their first features."""
    if p < 2:
        return np.zeros(p, dtype=np.int64)
    from scipy.cluster import hierarchy

    merges = hierarchy.linkage(distances, method=linkage)
    if n_clusters is not None:
        cluster_labels = hierarchy.fcluster(merges, n_clusters, criterion="maxclust")
    else:
        limit = 1.0 - cast("float", threshold) + 10.0**-DIGITS
        cluster_labels = hierarchy.fcluster(merges, limit, criterion="distance")
    _, first, label = np.unique(cluster_labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label].astype(np.int64)


def _medoid(columns: FloatArray, members: IntArray) -> int:
    if members.size < 3:  # of two, both correlate as much with the other
        return int(members[0])
    own = columns[:, members]
    total = np.concatenate(
        [
            absolute(own[:, first : first + BLOCK], own).sum(axis=1)
            for first in range(0, members.size, BLOCK)
        ]
    )
    return int(members[np.argmax(total.round(DIGITS - 3))])


def _check_numbers(table: EncodedTable) -> None:
    """Refuse columns of more than two labels without an order, which have no mean."""
    for j, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        n_values = len(table.values(j))
        if kind == "nominal" and n_values > 2:
            raise ValueError(
                "representatives: method must be 'medoid' if a column has more than two labels "
                f"without an order, got 'centroid', and {n_values} labels in column "
                f"{quoted(name)}."
            )


def _centroids(columns: FloatArray, labels: IntArray, medoids: IntArray) -> FloatArray:
    """Return the mean of the members of each cluster, in units of one standard deviation.

    Over the members that are known in a row; NaN where none is.
    """
    from scipy import sparse

    p, present = columns.shape[1], ~np.isnan(columns)
    filled = np.where(present, columns, 0.0)
    turned = np.where(np.einsum("ij,ij->j", filled, filled[:, medoids[labels]]) < 0, -1.0, 1.0)
    deviations = turned * np.sqrt(present.sum(axis=0))
    places, shape = (np.arange(p), labels), (p, medoids.size)
    total = np.asarray(filled @ sparse.csc_array((deviations, places), shape=shape))
    counts = np.asarray(present @ sparse.csc_array((np.ones(p), places), shape=shape))
    means = np.full(total.shape, np.nan)
    np.divide(total, counts, out=means, where=counts > 0)
    return means
