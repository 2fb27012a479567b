"""Sobol-MDA: the loss of a forest projected along a feature, an estimate of total Sobol indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen import _kernel
from duramen.data import EncodedTable
from duramen.data.memory import require_memory
from duramen.forests.forest import Forest
from duramen.forests.growth import bag
from duramen.forests.prediction import leaves
from duramen.importances.arguments import (
    importances_of,
    matched,
    missing_rows,
    responses,
    training_set,
    trees_of,
)
from duramen.importances.measure import SCATTERS, Measure, Sums, over_trees, sums_of
from duramen.importances.measures.mda import grouped
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, TableLike

_NAME = "sobol_mda"
# Relative difference of the weights and means of leaves that rounding makes.
_ROUNDING = 1e-6


@over_trees(Importances)
def sobol_mda(
    forest: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    feature_groups: Any = None,
    n_jobs: int | None = None,
) -> Sums[Importances]:
    r"""Compute the Sobol-MDA: the loss of the forest when splits on a feature are ignored.

    .. math:: Imp(X_j) = \frac{1}{\hat V(Y)} \, \frac1n \sum_i \left[
       (y_i - \hat f^{(-j)}(x_i))^2 - (y_i - \hat f(x_i))^2 \right]

    with :math:`\hat f` the out-of-bag prediction of the forest and :math:`\hat f^{(-j)}` that of
    the forest projected along feature j (Bénard, Da Veiga, Scornet 2022). It estimates the total
    Sobol index (:func:`duramen.theory.total_sobol_indices`): the fraction of the variance of Y
    that no other feature explains. Unlike :func:`mda`, it evaluates no combinations of values that
    cannot occur in the joint distribution of the features.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn, whose trees leave rows out.
    X : table of shape (n, p), or LearningSet
        The training table, in its order. A learning set brings the weights of its rows, which must
        be the sample weights that the forest was grown with.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    feature_groups : mapping, labels, path, ..., optional
        Columns (:func:`duramen.io.feature_groups` has the forms) whose splits are ignored together;
        the result then has one value a group. A column may be in several groups.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="sobol_mda"``; unit "total Sobol index". For classes, the squared errors of their
        probabilities are added up and divided by the Gini index of the classes. `standard_error` is
        that of the mean over the rows, of this forest. Metadata hold as ``"r_squared"`` the
        fraction of the variance that the forest explains out of bag.

    Raises
    ------
    TypeError
        If `forest` is no such forest, or `X` is missing.
    ValueError
        If the arguments do not go together, the forest has no out-of-bag rows, or was grown with
        weights that the rows do not have.

    Notes
    -----
    In a projected tree a row goes to all children of a split on the feature. The leaves that it
    reaches overlap in one cell, and the prediction is the mean over the rows of the tree's bag in
    that cell: those that reach the same nodes. Where a level of the tree has no such row, the
    level above predicts. Only rows whose path meets the feature have to be sent again, so that the
    time grows with the depth of the trees and not with the number of features.

    A feature that others replace has an index near 0, however much it tells about Y: the index is
    for removing features without loss. Of two copies both have 0. Between forests and the exact
    value lies the error of the forest itself: where trees cannot follow Y, they cannot follow what
    a feature adds to it either. A forest of few rows overfits less without the feature, so that an
    irrelevant feature can have a slightly negative value.

    References
    ----------
    C. Bénard, S. Da Veiga, E. Scornet (2022). Mean decrease accuracy for random forests:
    inconsistency, and a practical solution via the Sobol-MDA. Biometrika 109(4).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(50, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.sobol_mda(forest, data.X, data.y)
    >>> result.unit, result.top(2).names
    ('total Sobol index', ('x0', 'x1'))
    """
    if X is None:
        raise missing_rows(_NAME)
    grown = trees_of(forest, _NAME, X)
    threads = checks.check_jobs(_NAME, n_jobs)
    data = training_set(grown, X, y, _NAME, out_of_bag=True)
    names, members = grouped(grown, feature_groups, _NAME)
    outcomes = responses(grown, matched(grown, data.target, _NAME))
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    masses = np.column_stack([weights, outcomes])
    groups = np.arange(grown.n_features)[:, np.newaxis] if members is None else members
    offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    columns = np.concatenate([*groups, np.empty(0)]).astype(np.uint32)
    # Whole numbers below 2**62 add up to the same in any order of the trees.
    reach = float(np.abs(outcomes).max(initial=0.0)) * grown.n_trees
    scale = 1.0 if reach == 0.0 else float(2.0 ** (60 - np.ceil(np.log2(reach))))
    shape = (len(groups), *outcomes.shape)
    require_memory(
        2 * 8 * int(np.prod(shape)),
        what=f"the predictions on {data.n_rows} rows for {len(groups)} features",
        function=_NAME,
        hint="measure fewer rows, or groups of features",
    )
    # Sums of the out-of-bag predictions, and what projecting along each group adds to them.
    n_trees, sums = np.zeros(data.n_rows, dtype=np.int64), np.zeros(shape[1:], dtype=np.int64)
    changes = np.zeros(shape, dtype=np.int64)
    checked = False
    while (trees := (yield grown, None)) is not None:
        if not checked:
            _check_weights(trees.part(0, 1), data.table, masses)
            checked = True
        own_trees, own_sums, own_changes = _kernel.projected_values(
            trees.kernel,
            data.table.kernel,
            trees.bags,
            _kernel.Projections(
                masses=masses, scale=scale, min_rows=trees.settings.min_samples_leaf
            ),
            offsets,
            columns,
            threads,
        )
        n_trees += own_trees
        sums += own_sums
        changes += own_changes
    rows = np.flatnonzero(n_trees)  # out of bag of some tree
    if not rows.size:
        raise ValueError(f"{_NAME}: no row is out of bag for any tree. Hint: grow more trees.")
    truth, n = outcomes[rows], len(rows)
    variance = float(truth.var(axis=0).sum())
    if variance == 0.0:
        raise ValueError(f"{_NAME}: y must vary over the {n} out-of-bag rows, but it is constant.")
    count = n_trees[rows, np.newaxis]
    before = ((truth - sums[rows] / scale / count) ** 2).sum(axis=1)
    rises = np.empty((len(names), n))
    for g in range(len(names)):
        predicted = (sums + changes[g])[rows] / scale / count
        rises[g] = ((truth - predicted) ** 2).sum(axis=1) - before
    return importances_of(
        grown,
        _NAME,
        rises.mean(axis=1) / variance,
        "total Sobol index",
        rises.std(axis=1, ddof=1) / np.sqrt(n) / variance if n > 1 else None,
        names=names,
        variance=variance,
        r_squared=1.0 - float(before.mean()) / variance,
    )


def _check_weights(tree: Forest, table: EncodedTable, masses: FloatArray) -> None:
    """Raise ValueError unless the leaves of a tree hold the weights of the rows.

    Weights of classes may be others: the kernel reads them off each tree.
    """
    numbers = masses.shape[1] == 2
    leaf = tree.child[leaves(tree, table)[:, 0]]
    weights, n_leaves = bag(tree, 0) * masses[:, 0], len(tree.leaf_values)
    of_rows = masses if numbers else masses[:, 1:]
    own = np.column_stack([np.bincount(leaf, weights * mass, n_leaves) for mass in of_rows.T])
    ends = np.flatnonzero(tree.feature < 0)
    weight = np.empty((n_leaves, 1))
    weight[tree.child[ends], 0] = tree.weight[ends]
    grown = weight * tree.leaf_values
    if numbers:
        own[:, 0] = np.bincount(leaf, weights, n_leaves)
        grown = np.column_stack([weight, grown]) * (own[:, 0].sum() / weight.sum())
    else:
        total = own.sum(axis=0)
        own *= np.divide(grown.sum(axis=0), total, out=np.ones(len(total)), where=total > 0)
    if not np.allclose(own, grown, rtol=_ROUNDING, atol=_ROUNDING * np.abs(grown).max()):
        raise ValueError(
            f"{_NAME}: the weights of the rows must be those that the forest was grown with, but "
            "its leaves hold others. Hint: give dm.learning_set(X, y, sample_weight=...) with the "
            "same sample weights."
        )


SOBOL_MDA = Measure(
    _NAME,
    lambda inputs: sums_of(sobol_mda, inputs.estimator, inputs.data, n_jobs=inputs.n_jobs),
    "Sobol-MDA",
    "Sobol-MDA is the fraction of the variance of the target by which the out-of-bag error "
    "of the forest rises when the splits on the feature are ignored: an estimate of its total "
    "Sobol index. For classes, squared errors of their probabilities are added up.",
    "Sobol-MDA of a feature that other features can replace is near 0, even if the target "
    "depends on it. " + SCATTERS,
    reference="C. Bénard, S. Da Veiga, E. Scornet (2022). Mean decrease accuracy for random "
    "forests: inconsistency, and a practical solution via the Sobol-MDA. Biometrika 109.",
    rows="out-of-bag",
    over_trees=True,
    spread="rows",
)
