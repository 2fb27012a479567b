"""Clusters of correlated features, and a representative of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from duramen.data import EncodedTable, LearningSet, encode
from duramen.data.encoded import refuse_unordered
from duramen.data.memory import require_memory
from duramen.importances.arguments import check_importances
from duramen.io import ColumnStore
from duramen.io.groups import Positions
from duramen.results.importances import Importances
from duramen.results.result import Result
from duramen.results.summary import Column, Summary, hidden
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray, TableLike, of_unit_size
from duramen.support.provenance import versions
from duramen.support.text import printable, quoted

NONE = -1
"""Label of features in no cluster."""
_OTHERS_SHOWN = 2
_FUNCTION = "clusters"


@dataclass(frozen=True, eq=False, repr=False)
class Clusters(Result):
    """Clusters of p features, each with a representative among its members.

    ``len(result)`` is the number G of clusters. `transform` makes the table of the representatives,
    n rows and one column for each cluster, on which a forest can be grown, and `spread` gives its
    importances to all members.

    Attributes
    ----------
    names : tuple of str
        The p features.
    labels : ndarray of int64, shape (p,)
        Cluster of each feature, 0 .. G-1 in the order of importance of their representatives, or of
        their first features; -1 for features in none.
    representatives : ndarray of int64, shape (G,)
        The feature that represents each cluster.
    correlations : ndarray of float64, shape (p,)
        Correlation of each feature with its representative, with its sign; NaN for features in no
        cluster.
    metadata : mapping
        Settings and versions.

    Examples
    --------
    >>> import duramen as dm
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> X = np.hstack([X, -X[:, :1]])
    >>> result = dm.Importances(("x0", "x1", "x2"), [0.1, 0.2, 0.3], "mdi", "bits")
    >>> found = dm.importances.clusters(result, X)
    >>> found.members()
    {'x2': ('x2', 'x0'), 'x1': ('x1',)}
    >>> found.columns()["correlation"].tolist()
    [-1.0, 1.0, 1.0]
    """

    names: tuple[str, ...]
    labels: IntArray
    representatives: IntArray
    correlations: FloatArray
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.representatives)

    def members(self) -> dict[str, tuple[str, ...]]:
        """Return the members of each cluster by its representative, the first of its members.

        The others come in the order of their absolute correlation with it.
        """
        order = np.lexsort((-np.abs(self.correlations), self.labels))
        order = order[self.labels[order] != NONE]
        parts = np.split(order, np.searchsorted(self.labels[order], np.arange(1, len(self))))
        by_name = {}
        for representative, part in zip(
            self.representatives.tolist(), parts[: len(self)], strict=True
        ):
            others = [self.names[j] for j in part.tolist() if j != representative]
            by_name[self.names[representative]] = (self.names[representative], *others)
        return by_name

    def transform(self, X: TableLike) -> EncodedTable:
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
                f"Clusters.transform: X must have the {len(self.names)} features that were "
                f"clustered, in their order, got {table.n_columns} features."
            )
        if self.metadata.get("method") != "centroid":
            return table.take_columns(self.representatives)
        columns = standardized(table, self.metadata["correlation"])
        names = [self.names[m] for m in self.representatives]
        return encode(_centroids(columns, self.labels, self.representatives), names=names)

    def spread(self, importances: Importances) -> Importances:
        """Return the importances of all p features; members get that of their representative.

        `importances` are any measure of a forest that was grown on the table of `transform`.
        Members of a cluster share one number, so values no longer add up to what they did.

        Raises
        ------
        TypeError
            If `importances` is something else.
        ValueError
            If it is not about these representatives.
        """
        check_importances("Clusters.spread", importances)
        place = {name: j for j, name in enumerate(importances.names)}
        own = [self.names[m] for m in self.representatives]
        if len(place) != len(own) or any(name not in place for name in own):
            raise ValueError(
                "Clusters.spread: importances must be those of the representatives, "
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

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``cluster`` (from 1; 0 for features in none), ``representative`` (None)
        and ``correlation`` with it (NaN).
        """
        representatives = [self.names[j] for j in self.representatives.tolist()]
        of_feature = [None if k == NONE else representatives[k] for k in self.labels.tolist()]
        return {
            "name": list(self.names),
            "cluster": self.labels + 1,
            "representative": of_feature,
            "correlation": self.correlations.copy(),
        }

    def _summary(self, rows: int) -> Summary:
        members = [item for item in self.members().items() if len(item[1]) > 1]
        counted = int(np.count_nonzero(self.labels != NONE))
        heading = (
            f"Clusters: {len(self)} of {counted} of {len(self.names)} features, each around its "
            "representative; those with several members:"
        )
        shown = members[:rows]
        sizes = np.array([len(of) for _, of in shown], dtype=np.float64)
        others = [
            ", ".join(printable(name, 16) for name in of[1 : 1 + _OTHERS_SHOWN])
            + (", ..." if len(of) > 1 + _OTHERS_SHOWN else "")
            for _, of in shown
        ]
        columns = [
            Column("representative", [name for name, _ in shown], kind="words"),
            Column("members", [f"{size:.0f}" for size in sizes], bars=sizes),
            Column("others", others, kind="words"),
        ]
        return Summary((heading,), columns, hidden(len(members), len(shown)))


def clusters(
    importances: Importances,
    X: TableLike,
    *,
    threshold: float = 0.8,
    most: int = 1000,
    correlation: Correlation | None = None,
    positions: Any = None,
    distance: int = 250_000,
) -> Clusters:
    """Cluster features around the most important features, to find features of one signal.

    The most important feature represents the first cluster: all features whose absolute
    correlation with it is at least `threshold`. The most important of the rest represents the
    second, and so on. That is the clumping of PLINK (Purcell et al. 2007; ``--clump``), with
    importances in place of p-values: every member of a cluster is correlated with its
    representative, and no two representatives are with each other. With positions, members lie
    within `distance` of their representative, so that clusters are blocks of linkage disequilibrium
    around the most important variants.

    Parameters
    ----------
    importances : Importances
        Any measure.
    X : table of shape (n, p)
        The features of `importances`: anything that `duramen.encode` takes, a learning set, or a
        `ColumnStore`, of which columns are read a few at a time, and with positions only those
        near a representative.
    threshold : float, default=0.8
        Least absolute correlation r of a member with its representative, in (0, 1]. ``--clump`` has
        r^2 = 0.5 by default, which is 0.71.
    most : int, default=1000
        Number of features, the most important first, that may represent a cluster. Those with an
        importance of exactly 0 do not.
    correlation : {"spearman", "pearson"}, optional
        Of ranks, ties averaged, or of numbers, over the rows where both features are known; ordered
        categories are numbered in their order. By default "pearson" with positions, which for
        copies of an allele is the r of PLINK (``--r2``), else "spearman".
    positions : table, mapping or ColumnStore, optional
        Columns ``chromosome`` and ``position`` in base pairs, one row a feature: by ``name`` where
        there is such a column, else in the order of the features. By default those of the store
        (`ColumnStore.variants`), where it has any.
    distance : int, default=250_000
        With positions, most base pairs between a member and its representative.

    Returns
    -------
    Clusters

    Raises
    ------
    ValueError
        If a parameter is out of range, or a feature of `importances` is not in `X` or `positions`.
    TypeError
        If `importances` is something else.
    MemoryError
        If `most` columns of `X` do not fit in memory as numbers.

    Notes
    -----
    A column that is constant, or has more than two labels without an order, correlates with
    nothing and is alone in its cluster. Variants without a place (chromosome 0, or a position of
    0) are near nothing.

    References
    ----------
    S. Purcell et al. (2007). PLINK: a tool set for whole-genome association and population-based
    linkage analyses. American Journal of Human Genetics 81(3).

    Examples
    --------
    >>> import duramen as dm
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 1]
    >>> y = X[:, 0] > 0
    >>> forest = dm.RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> dm.importances.clusters(dm.importances.mdi(forest), X).members()
    {'x2': ('x2', 'x0'), 'x1': ('x1',)}
    """
    check_importances(_FUNCTION, importances)
    checks.check_real(_FUNCTION, "threshold", threshold, 0, 1, ends="(]")
    checks.check_integer(_FUNCTION, "most", most, 1)
    checks.check_integer(_FUNCTION, "distance", distance, 0)
    if correlation is not None:
        checks.check_choice(_FUNCTION, "correlation", correlation, get_args(Correlation))
    table = X.table if isinstance(X, LearningSet) else X
    table = table if isinstance(table, ColumnStore) else encode(table)
    names = importances.names
    if positions is None and isinstance(table, ColumnStore):
        positions = table.variants
    placed = None if positions is None else Positions.of(positions, names, _FUNCTION)
    kind: Correlation = correlation or ("spearman" if placed is None else "pearson")
    order = importances.order()
    seeds = order[importances.values[order] != 0][:most].astype(np.int64)
    require_memory(
        5 * 8 * table.n_rows * (len(seeds) + BLOCK),
        what=f"{len(seeds)} columns of {table.n_rows} rows as numbers",
        function=_FUNCTION,
        hint="allow fewer clusters (most)",
    )
    column = {name: j for j, name in enumerate(table.names)}
    lacking = next((name for name in names if name not in column), None)
    if lacking is not None:
        raise ValueError(
            f"{_FUNCTION}: X must have all features of importances, but lacks {quoted(lacking)}."
        )
    places = np.array([column[name] for name in names], dtype=np.int64)
    labels = np.full(len(names), NONE, dtype=np.int64)
    correlations = np.full(len(names), np.nan)
    chosen: list[int] = []
    columns: list[FloatArray] = []  # of the representatives

    def numbers_of(features: IntArray) -> FloatArray:
        return with_gaps(table.take_columns(places[features]), kind)

    def near(left: Any, right: IntArray) -> BoolArray:
        if placed is None:
            return np.ones((len(left), len(right)), dtype=np.bool_)
        return placed.near(np.asarray(left, dtype=np.int64), right, distance)

    def join(block: IntArray, numbers: FloatArray) -> None:
        """Assign features to the first representative that they correlate with, if any."""
        close = near(chosen, block)
        rows = np.flatnonzero(close.any(axis=1))
        if not len(rows):
            return
        r = pairwise(np.column_stack([columns[k] for k in rows.tolist()]), numbers)
        joins = close[rows] & (np.abs(r) >= threshold)
        first, has_joined = joins.argmax(axis=0), joins.any(axis=0)
        labels[block[has_joined]] = rows[first[has_joined]]
        correlations[block[has_joined]] = r[first[has_joined], np.flatnonzero(has_joined)]

    # A feature joins the first representative that it correlates with, and represents a cluster if
    # there is none: the order alone decides, so that this can go by blocks.
    for begin in range(0, len(seeds), BLOCK):
        block = seeds[begin : begin + BLOCK]
        numbers = numbers_of(block)
        join(block, numbers)
        is_free = labels[block] == NONE
        free, numbers = block[is_free], numbers[:, is_free]
        own, close = pairwise(numbers, numbers), near(free, free)
        for i, place in enumerate(free.tolist()):
            if labels[place] != NONE:
                continue
            labels[place], correlations[place] = len(chosen), 1.0
            joins = close[i] & (np.abs(own[i]) >= threshold) & (labels[free] == NONE)
            labels[free[joins]] = len(chosen)
            correlations[free[joins]] = own[i, joins]
            chosen.append(place)
            columns.append(numbers[:, i])
    others = np.setdiff1d(np.arange(len(names)), seeds)
    if placed is not None:  # neighbors together
        others = others[np.argsort(np.argsort(placed.order)[others])]
    for begin in range(0, len(others), BLOCK):
        block = others[begin : begin + BLOCK]
        block = block[near(chosen, block).any(axis=0)]
        if len(block):
            join(block, numbers_of(block))
    settings = {
        "threshold": float(threshold),
        "most": int(most),
        "correlation": kind,
        "distance": None if placed is None else int(distance),
        "measure": importances.measure,
        "versions": versions(),
    }
    return Clusters(names, labels, np.array(chosen, dtype=np.int64), correlations, settings)


# --- one representative for each cluster of all features ------------------------------------------

Method = Literal["medoid", "centroid"]


def representatives(
    X: TableLike,
    *,
    threshold: float | None = None,
    n_clusters: int | None = None,
    method: Method = "medoid",
    correlation: Correlation = "spearman",
) -> Clusters:
    """Cluster features by the size of their correlation and choose a representative for each.

    Features that tell the same share their importance, so each of a large cluster looks
    unimportant (thesis, section 4.4.5). A forest grown on the representatives is free of that, and
    `Clusters.spread` gives every member the importance of its representative. After Toloşi
    and Lengauer (2011).

    Parameters
    ----------
    X : table of shape (n, p)
        Anything that `duramen.encode` takes.
    threshold : float, optional
        Clusters are merged while the mean absolute correlation between the members of two is at
        least that; in (0, 1].
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

    Returns
    -------
    Clusters

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
    if (threshold is None) == (n_clusters is None):
        raise ValueError(
            "representatives: either threshold or n_clusters must be given, and not both. Hint: "
            "start with threshold=0.8."
        )
    if threshold is not None:
        checks.check_real("representatives", "threshold", threshold, 0, 1, ends="(]")
    checks.check_choice("representatives", "method", method, get_args(Method))
    checks.check_choice("representatives", "correlation", correlation, get_args(Correlation))
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
    labels = np.zeros(p, dtype=np.int64)
    if p > 1:
        from scipy.cluster import hierarchy

        merges = hierarchy.linkage(distances_between(columns), method="average")
        if n_clusters is not None:
            numbers = hierarchy.fcluster(merges, n_clusters, criterion="maxclust")
        else:
            limit = 1.0 - cast("float", threshold) + 10.0**-DIGITS
            numbers = hierarchy.fcluster(merges, limit, criterion="distance")
        _, first, label = np.unique(numbers, return_index=True, return_inverse=True)
        labels = np.argsort(np.argsort(first))[label].astype(np.int64)
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    medoids = np.array([_medoid(columns, members) for members in clusters], dtype=np.int64)
    if method == "centroid":
        refuse_unordered(table, "representatives", "which have no mean. Hint: method='medoid'.")
    settings = {
        "threshold": threshold,
        "n_clusters": n_clusters,
        "method": method,
        "correlation": correlation,
        "fingerprint": table.fingerprint(),
        "versions": versions(),
    }
    correlations = np.ones(p)
    for medoid, members in zip(medoids.tolist(), clusters, strict=True):
        if members.size > 1:
            r = pairwise(columns[:, [medoid]], columns[:, members])[0]
            correlations[members] = np.where(members == medoid, 1.0, r)
    return Clusters(table.names, labels, medoids, correlations, settings)


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


# --- correlations between columns, whatever the scale of their values -----------------------------

Correlation = Literal["spearman", "pearson"]

BLOCK = 512  # columns whose correlations with all others are in memory at once
DIGITS = 12  # correlations are rounded to this number of decimals, so that duplicates have 1
_FEWEST = 10  # rows that a correlation takes where values are missing
_CONSTANT = 1e-12  # variance of columns, scaled to [-1, 1], below which they are constant


def standardized(table: EncodedTable, correlation: Correlation) -> FloatArray:
    """Return the columns with mean 0 and length 1, so that products are correlations: (n, p).

    "spearman" takes the ranks of the values, ties averaged, "pearson" the values; ordered
    categories are numbered in their order. Missing values are NaN, and mean and length are those of
    the others. Constant columns are 0, and so are those of more than two labels without an order.
    """
    columns = with_gaps(table, correlation)
    for j in range(table.n_columns):
        present = ~np.isnan(columns[:, j])
        if not present.any():
            columns[:, j] = 0.0
            continue
        part = columns[present, j] - columns[present, j].mean()
        length = float(np.linalg.norm(part))
        columns[present, j] = part / (length if length > 0 else 1.0)
    return columns


def with_gaps(table: EncodedTable, correlation: Correlation) -> FloatArray:
    """Return the columns as numbers of moderate size, NaN where missing; shape (n, p).

    Columns of more than two labels without an order are NaN throughout.
    """
    columns = np.full((table.n_rows, table.n_columns), np.nan, order="F")
    for j in range(table.n_columns):
        codes, values = np.asarray(table.codes(j)), table.values(j)
        present = codes < len(values)
        if not present.any() or (table.kinds[j] == "nominal" and len(values) > 2):
            continue
        if correlation == "spearman":
            counts = np.bincount(codes[present], minlength=len(values))
            of_code = np.cumsum(counts) - (counts - 1) / 2
        elif table.kinds[j] == "numeric":
            of_code = of_unit_size(values.astype(np.float64))
        else:
            of_code = np.arange(len(values), dtype=np.float64)
        used = of_code[codes[present]]
        low, high = used.min() / 2, used.max() / 2  # digits of far-off numbers are kept
        columns[present, j] = 0.0 if low == high else (used - (low + high)) / (high - low)
    return columns


def pairwise(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the correlations between columns over the rows where both are known, rounded.

    They are 0 where one of the two is constant over these rows, and where these are fewer than ten
    and not all: correlations over two or three rows are large by chance.
    """
    here, there = (~np.isnan(columns) for columns in (left, right))
    a, b = np.where(here, left, 0.0), np.where(there, right, 0.0)
    if here.all() and there.all():
        n: Any = np.float64(len(a))
        sums = a.sum(axis=0)[:, None], b.sum(axis=0)
        squares = (a * a).sum(axis=0)[:, None], (b * b).sum(axis=0)
    else:
        of_left, of_right = here.astype(np.float64), there.astype(np.float64)
        n = np.maximum(of_left.T @ of_right, 1.0)
        sums = a.T @ of_right, of_left.T @ b
        squares = (a * a).T @ of_right, of_left.T @ (b * b)
    product = a.T @ b - sums[0] * sums[1] / n
    spread = [square - total**2 / n for square, total in zip(squares, sums, strict=True)]
    varies = (spread[0] > _CONSTANT * n) & (spread[1] > _CONSTANT * n)
    varies &= n >= min(_FEWEST, len(a))
    scale = np.sqrt(np.where(varies, spread[0] * spread[1], 1.0))
    r: FloatArray = np.clip(np.where(varies, product / scale, 0.0), -1.0, 1.0).round(DIGITS)
    return r


def absolute(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the absolute correlations between standardized columns, rounded.

    With missing values, those over the rows where both are known.
    """
    if np.isnan(left).any() or np.isnan(right).any():
        return np.abs(pairwise(left, right))
    sizes: FloatArray = np.minimum(np.abs(left.T @ right), 1.0).round(DIGITS)
    return sizes


def distances_between(columns: FloatArray) -> FloatArray:
    """Return 1 - |r| of every pair of columns, in the order of `scipy.spatial.distance.pdist`."""
    p = columns.shape[1]
    distances = np.empty(p * (p - 1) // 2)
    start = 0
    for first in range(0, p, BLOCK):
        block = 1.0 - absolute(columns[:, first : first + BLOCK], columns[:, first:])
        for i, row in enumerate(block):
            stop = start + len(row) - i - 1
            distances[start:stop] = row[i + 1 :]
            start = stop
    return distances
