"""Prediction: leaves of rows, means, out-of-bag estimates, proximities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.data import ClassTarget, EncodedTable, LearningSet, Schema, Target
from duramen.data.encoded import blocks_of
from duramen.data.encoding import routing_values
from duramen.data.learning_sets import table_of
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.growth import out_of_bag
from duramen.forests.patches import row_blocks
from duramen.io import ColumnStore
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import check_integer

Rows = EncodedTable | FloatArray | ColumnStore


def rows_of(forest: AnyForest, X: Any, estimator_name: str, function: str) -> Rows:
    """Prepare rows, anything that ``encode`` takes, to be sent down the trees.

    Returned is X itself where its codes mean what those of the training table mean, a store too,
    which predictions read in blocks of rows; else a C-ordered float64 array of shape (n, p) of
    numbers, or codes of categories (-1 for one that was never seen), NaN for missing.
    """
    if isinstance(X, ColumnStore) and same_codes(forest, X.schema):
        return X
    X = table_of(X)
    if isinstance(X, EncodedTable) and same_codes(forest, X.schema):
        return X
    values: FloatArray = routing_values(
        forest.schema, X, estimator_name=estimator_name, function=function
    )
    return values


def same_codes(forest: AnyForest, schema: Schema) -> bool:
    """Tell whether the codes of a table lead to the children to which its values lead."""
    own = forest.schema
    if own is schema:
        return True
    if (
        (schema.named and own.names != schema.names)
        or own.kinds != schema.kinds
        or not np.array_equal(own.n_values, schema.n_values)
        or not np.array_equal(own.missing, schema.missing)
        or any(schema.dates.get(name, how) != how for name, how in own.dates.items())
    ):
        return False
    looked_up = schema.with_values_of(own.has_values)
    return (
        np.array_equal(own.cut_values, looked_up.cut_values)
        and all(np.array_equal(labels, looked_up.labels[j]) for j, labels in own.labels.items())
        and (not isinstance(forest, Forest) or forest.has_cuts_of(schema))
    )


def with_interval_codes(forest: Forest, X: Any, function: str) -> tuple[Forest, Any]:
    """Replace numbers by the intervals between the thresholds of a forest, its cuts from then on.

    Rows of an :class:`~duramen.data.EncodedTable` or array come to the same leaves, faster, because
    their codes are few. The forest and the rows are returned as they are if the rows have the codes
    of the forest, or other values than intervals can stand for.
    """
    rows = table_of(X)
    kinds = forest.schema.kind_codes
    inner = np.flatnonzero(forest.feature >= 0)
    inner = inner[kinds[forest.feature[inner]] == 0]
    if isinstance(rows, ColumnStore) or np.isnan(forest.threshold[inner]).any():
        return forest, X
    is_numeric = isinstance(rows, EncodedTable) and set(rows.kinds) <= {"numeric"}
    fits = is_numeric and rows.kinds == forest.schema.kinds
    if not fits or (forest.schema.named and rows.named and rows.names != forest.names):
        rows = rows_of(forest, rows, function, function)
    if isinstance(rows, EncodedTable | ColumnStore) and same_codes(forest, rows.schema):
        return forest, X

    inner = inner[np.lexsort((forest.threshold[inner], forest.feature[inner]))]
    feature, threshold = forest.feature[inner], forest.threshold[inner]
    is_new = np.ones(len(inner), dtype=np.bool_)
    is_new[1:] = (feature[1:] != feature[:-1]) | (threshold[1:] != threshold[:-1])
    ends = threshold[is_new]
    starts = np.searchsorted(feature[is_new], np.arange(forest.n_features + 1))
    cut = forest.cut.copy()
    cut[inner] = np.cumsum(is_new) - 1 - starts[feature]

    columns: list[NDArray[Any]] = []
    values: list[NDArray[Any]] = []
    missing = forest.schema.missing.copy()
    for j, kind in enumerate(kinds.tolist()):
        upper = ends[starts[j] : starts[j + 1]]
        n_values = len(upper) + 1 if kind == 0 else int(forest.schema.n_values[j])
        values.append(np.append(upper, np.inf) if kind == 0 else np.arange(float(n_values)))
        if isinstance(rows, EncodedTable):
            below = np.searchsorted(rows.values(j), upper, side="right")
            ranks = np.diff(below, prepend=0, append=len(rows.values(j)))
            columns.append(np.repeat(np.arange(n_values + 1), [*ranks, 1])[rows.codes(j)])
            missing[j] = rows.missing[j]
            continue
        lacks = np.isnan(rows[:, j])
        if kind != 0 and ((lacks.any() and not missing[j]) or (rows[:, j] < 0).any()):
            return forest, X  # a category, or its absence, that the forest never saw
        codes = np.searchsorted(upper, rows[:, j]) if kind == 0 else rows[:, j]
        columns.append(np.where(lacks, n_values, codes))
        missing[j] |= lacks.any()
    schema = replace(
        forest.schema,
        cut_values=np.concatenate(values),
        value_offsets=np.cumsum([0, *map(len, values)]),
        missing=missing,
        counts=None,
    )
    parts = {part.name: getattr(schema, part.name) for part in fields(Schema) if part.init}
    blocks = blocks_of(columns, schema.n_codes(), len(rows))
    table = EncodedTable(**parts, n_rows=len(rows), **blocks)
    forest = replace(forest, cut=cut, schema=table.schema)
    return forest, X.with_table(table) if isinstance(X, LearningSet) else table


def lent_rows(forest: Forest, rows: Rows) -> _kernel.Rows:
    """Return rows as the kernel sends them down the trees of a forest."""
    if isinstance(rows, ColumnStore):
        rows = rows.as_table()
    if isinstance(rows, EncodedTable):
        return rows.kernel
    return _kernel.Values(forest.schema.kernel_schema, rows)


def _over_blocks(
    forest: Forest, rows: Rows, send: Callable[[_kernel.Rows], NDArray[Any]]
) -> NDArray[Any]:
    """Return an array with an entry for each row, computed in blocks for a store."""
    if not isinstance(rows, ColumnStore):
        return send(lent_rows(forest, rows))
    whole: NDArray[Any] | None = None
    for block, table in row_blocks(forest, rows):
        part = send(table)
        if whole is None:
            whole = np.empty((len(rows), *part.shape[1:]), dtype=part.dtype)
        whole[block] = part
    assert whole is not None
    return whole


def replacement_changes(
    forest: Forest,
    rows: Rows,
    taken: NDArray[np.integer],
    groups: Sequence[Sequence[int] | NDArray[np.int64]],
    donors: NDArray[np.integer],
    n_threads: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Return predictions of some rows, and their changes with values of other rows.

    Parameters
    ----------
    forest : Forest
        The forest; codes of its columns are those of the rows, where these are encoded.
    rows : EncodedTable, ColumnStore or float64 array
        Rows that lend values, and those that are predicted.
    taken : array of integers, shape (m,)
        Rows to predict, by index.
    groups : sequence of arrays of integers
        Columns that are replaced together, for each of G predictions.
    donors : array of integers, shape (columns of all groups, draws, m)
        Row that lends its value of a column to each row, in each draw.
    n_threads : int
        Threads; the result does not depend on it.

    Returns
    -------
    own : float64 array of shape (m, width)
        Fractions of the classes, or means, over the trees, less the origin of the forest.
    changes : float64 array of shape (G, m, width)
        Prediction with replaced values, the mean over the draws, less the own one.
    """
    n_draws = donors.shape[1]
    largest = max(float(np.abs(forest.leaf_values).max(initial=0.0)), 1e-300)
    # Whole numbers add up to the same in any order, and so for any number of threads.
    steps = 2.0 ** np.floor(61 - np.log2(largest * forest.n_trees * n_draws))
    sums, changes = _kernel.replaced_values(
        forest.kernel,
        lent_rows(forest, rows),
        taken.astype(np.uint32),
        np.cumsum([0, *map(len, groups)], dtype=np.int64),
        np.concatenate(groups).astype(np.uint32),
        np.ascontiguousarray(donors, dtype=np.uint32).reshape(-1, len(taken)),
        steps,
        n_threads,
    )
    return sums / (steps * forest.n_trees), changes / (steps * forest.n_trees * n_draws)


_PER_THREAD = 1 << 16  # ways of rows down trees that are worth starting a thread


def leaves(forest: Forest, rows: Rows, n_threads: int = 1) -> NDArray[np.int32]:
    """Find the leaf of every row in every tree, shape (n, T), as a node number within the tree."""
    return _over_blocks(forest, rows, lambda lent: _kernel.apply(forest.kernel, lent, n_threads))


def out_of_bag_leaves(forest: Forest, rows: Rows, n_threads: int = 1) -> NDArray[np.int32]:
    """Find the leaves of the training rows; -1 where a row is in the bag of a tree."""
    if isinstance(rows, ColumnStore):
        return np.where(out_of_bag(forest), leaves(forest, rows, n_threads), np.int32(-1))
    return _kernel.apply(forest.kernel, lent_rows(forest, rows), n_threads, forest.bags)


def out_of_bag_votes(forest: Forest, leaves: NDArray[np.int32]) -> IntArray:
    """Count the votes of trees for the classes on rows out of their bags, shape (n, C).

    `leaves` are those of all training rows, of shape (n, T).
    """
    first_leaves, out = forest.leaf_offsets[:-1], out_of_bag(forest)
    vote = np.argmax(forest.leaf_values, axis=1)
    votes = vote[forest.child[leaves + forest.offsets[:-1]] + first_leaves]
    return np.stack([((votes == c) & out).sum(axis=1) for c in range(forest.n_values)], axis=1)


def predict(forest: Forest, rows: Rows, n_threads: int = 1) -> FloatArray:
    """Average the values of the leaves of rows over the trees, in their order: shape (n, C)."""
    return deviations(forest, rows, n_threads) + forest.origin


def deviations(forest: Forest, rows: Rows, n_threads: int = 1) -> FloatArray:
    """Return predictions less the origin of the forest; an offset of y does not change them."""
    n_threads = min(n_threads, 1 + len(rows) * forest.n_trees // _PER_THREAD)
    kernel = forest.kernel
    return _over_blocks(forest, rows, lambda lent: _kernel.predict(kernel, lent, n_threads))


def mean_curves(forest: Forest, rows: Rows, *, survival: bool, n_threads: int = 1) -> FloatArray:
    """Average the curves of the leaves of each row over the trees, shape (n, D).

    Nelson-Aalen estimates of the cumulative hazard, or Kaplan-Meier estimates of survival.
    """
    assert forest.leaf_events is not None
    events, lent = forest.leaf_events.kernel, lent_rows(forest, rows)
    return _kernel.mean_curves(forest.kernel, events, survival, lent, n_threads)


def concordance(target: Target, risks: FloatArray, strata: IntArray | None = None) -> float:
    """Compute Harrell's concordance of risks with survival; NaN where no pair is comparable.

    A pair of rows is comparable where the one with the earlier time had the event then, and at
    equal times where one had the event and the other had not; with left truncation, where the other
    was at risk then. It is concordant where the first of the two has the higher risk; equal risks
    count one half. With strata, only pairs of rows of one
    stratum are comparable.
    """
    parts = [(target, risks)]
    if strata is not None:
        rows = [strata == stratum for stratum in np.unique(strata)]
        parts = [(target.take(here), risks[here]) for here in rows]
    counts = [
        _kernel.concordant_pairs(part.kernel, np.ascontiguousarray(own, dtype=np.float64))
        for part, own in parts
    ]
    concordant, tied, comparable = map(sum, zip(*counts, strict=True))
    return (concordant + 0.5 * tied) / comparable if comparable else float("nan")


def estimate_out_of_bag(
    forest: AnyForest,
    table: EncodedTable | ColumnStore,
    target: Target,
    n_threads: int = 1,
    parts: Iterable[Forest] | None = None,
) -> tuple[FloatArray, NDArray[np.uint32], FloatArray]:
    """Compute out-of-bag estimates on the training table and target.

    Parameters
    ----------
    forest : Forest or TreeStream
        The forest, as a whole or part by part.
    table : EncodedTable or ColumnStore
        Training table, n rows.
    target : Target
        Training target.
    n_threads : int
        Threads; the result does not depend on it.
    parts : iterable of Forest, optional
        The trees, in their order; by default those of `forest`.

    Returns
    -------
    deviations : float64 array of shape (n, C)
        Means over the trees whose bag lacks a row of the values of its leaf, less the origin of the
        forest, so that an offset of y does not change them; NaN where there is no tree.
    counts : uint32 array of shape (n,)
        Number of those trees.
    error_curve : float64 array of shape (T,)
        Error after 1..T trees over the rows that are out of some bag so far: fraction of wrong
        majority classes, mean squared error, or 1 - concordance. NaN while there is no such row.
    """
    if target.censored and isinstance(table, EncodedTable) and isinstance(forest, Forest):
        arguments = forest.kernel, table.kernel, target.kernel, forest.bags
        deviations, counts, error_curve = _kernel.out_of_bag_risks(*arguments)
    else:
        truth = target.kernel
        if target.origin != forest.origin:
            truth = _kernel.Target(target.less(forest.origin), 0, 0)
        sums = _kernel.OutOfBag(table.n_rows, forest.n_values)
        for trees in forest.parts() if parts is None else parts:
            if isinstance(table, EncodedTable):
                sums.add(trees.kernel, table.kernel, truth, trees.bags, n_threads)
                continue
            for tree in range(trees.n_trees):
                single = trees.part(tree, tree + 1)
                sums.add_leaves(single.kernel, out_of_bag_leaves(single, table, n_threads), truth)
        deviations, counts, error_curve = sums.sums()
    with np.errstate(invalid="ignore", divide="ignore"):
        np.divide(deviations, counts[:, np.newaxis], out=deviations)
    return deviations, counts, error_curve


def proximity(
    forest: Forest, leaves: NDArray[np.int32], *, oob: bool = False, n_threads: int = 1
) -> FloatArray:
    """Compute the fraction of trees in which two rows fall into the same leaf, of shape (n, n).

    Parameters
    ----------
    forest : Forest
        The forest.
    leaves : int32 array of shape (n, T)
        Leaf of every row in every tree.
    oob : bool
        Count only the trees whose bag lacks both rows; the rows must then be the training rows, in
        their order. NaN where there is no such tree.
    n_threads : int
        Threads to use.
    """
    return _kernel.proximity(leaves, out_of_bag(forest) if oob else None, n_threads)


# --- analyses of proximities: a map of the rows, and outliers within classes ----------------------


def classical_scaling(proximity: ArrayLike, n_components: int = 2) -> FloatArray:
    r"""Place the rows in a space where they are as far apart as their proximities are low.

    The squared distance of rows i and j is taken to be 1 - s_ij (Breiman and Cutler), so that
    their scalar products about the center are

    .. math:: b_{ij} = \tfrac12 (s_{ij} - \bar s_{i\cdot} - \bar s_{\cdot j} + \bar s_{\cdot\cdot}).

    Proximities over all trees are means of indicators of common leaves: b has no negative
    eigenvalues, and all its components together give the distances exactly. R's ``MDSplot`` takes
    1 - s for the distance itself, which has neither property.

    Parameters
    ----------
    proximity : array-like of shape (n, n)
        As ``forest.proximity(X)`` returns it: symmetric, 1 on the diagonal.
    n_components : int
        Number d of coordinates, from 1 to n.

    Returns
    -------
    ndarray of float64, shape (n, d)
        Principal coordinates, the widest first, each with its largest absolute entry positive;
        0 where there is no further spread.

    Raises
    ------
    ValueError
        If `proximity` is not as described, or holds NaN, as out-of-bag proximities of few trees
        do, or `n_components` is not.

    Examples
    --------
    >>> from duramen.forests import classical_scaling
    >>> classical_scaling([[1.0, 0.0], [0.0, 1.0]], n_components=1).round(2)
    array([[ 0.5],
           [-0.5]])
    """
    matrix = _checked(proximity, "classical_scaling")
    n = len(matrix)
    d = check_integer("classical_scaling", "n_components", n_components, 1, most=n)
    from scipy.linalg import eigh

    means = matrix.mean(axis=0)
    products = 0.5 * (matrix - means - means[:, np.newaxis] + means.mean())
    spreads, directions = eigh(products, subset_by_index=[n - d, n - 1])
    spreads, directions = spreads[::-1], directions[:, ::-1]
    spreads = np.where(spreads > 1e-12 * n, spreads, 0.0)
    farthest = np.abs(directions).argmax(axis=0)
    signs = np.where(directions[farthest, np.arange(d)] < 0, -1.0, 1.0)
    return np.asarray(directions * signs * np.sqrt(spreads))


def outlier_measure(proximity: ArrayLike, y: ArrayLike | None) -> FloatArray:
    r"""Measure the distance of each row from the other rows of its class (Breiman and Cutler).

    .. math:: o_i = \frac{r_i - \mathrm{med}_c}{\mathrm{mad}_c}, \qquad
       r_i = \frac{n}{\sum_{j \ne i,\, y_j = y_i} s_{ij}^2}

    with the median of r over the class c of row i, and the mean of absolute deviations from it. A
    row with a value above 10 deserves a look.

    Parameters
    ----------
    proximity : array-like of shape (n, n)
        As ``forest.proximity(X)`` returns it: symmetric, 1 on the diagonal.
    y : array-like of shape (n,)
        Classes of the rows.

    Returns
    -------
    ndarray of float64, shape (n,)
        0 for all rows of a class in which r does not vary, as in one of a single row; infinite for
        a row that has no leaf in common with its class, where others do.

    Raises
    ------
    ValueError
        If `proximity` is not as described, or holds NaN, or `y` does not fit it.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.forests import outlier_measure
    >>> outlier_measure(np.eye(4), ["a", "a", "b", "b"])
    array([0., 0., 0., 0.])
    """
    matrix = _checked(proximity, "outlier_measure")
    codes = ClassTarget.encode(
        y, n_rows=len(matrix), allow_one_class=True, function="outlier_measure"
    ).values
    measure = np.zeros(len(matrix))
    for label in np.unique(codes):
        rows = np.flatnonzero(codes == label)
        near = (matrix[np.ix_(rows, rows)] ** 2).sum(axis=1) - matrix[rows, rows] ** 2
        alone = near <= 1e-12
        raw = len(matrix) * (1.0 / near[~alone])
        if not raw.size:
            continue
        middle = np.median(raw)
        spread = np.abs(raw - middle).mean()
        measure[rows[alone]] = np.inf
        if spread > 1e-12 * abs(middle):
            measure[rows[~alone]] = (raw - middle) / spread
    return measure


def _checked(proximity: ArrayLike, function: str) -> FloatArray:
    matrix = np.asarray(proximity, dtype=np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and matrix.size
    if not (square and np.allclose(matrix, matrix.T) and np.allclose(np.diagonal(matrix), 1.0)):
        raise ValueError(
            f"{function}: proximity must be symmetric, of shape (n, n), with 1 on its diagonal and "
            f"without NaN, as forest.proximity(X) returns it, got shape {matrix.shape}. Hint: "
            "out-of-bag proximities of few trees hold NaN: grow more, or use oob=False."
        )
    return matrix
