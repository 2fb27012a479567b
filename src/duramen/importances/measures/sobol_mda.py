"""Sobol-MDA: the loss of a forest projected along a feature, an estimate of total Sobol indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duramen import _kernel
from duramen.data import EncodedTable, LearningSet
from duramen.data.memory import require_memory
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.growth import bag
from duramen.forests.prediction import leaves
from duramen.importances.arguments import importances_of, matched, missing_rows, trees_of
from duramen.importances.measure import SCATTERS, Measure, TreeSums, over_trees, sums_of
from duramen.importances.measures.mda import grouped
from duramen.importances.samples import responses, training_set
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

_NAME = "sobol_mda"
_SCORES = {True: ("neg_brier_score", "accuracy"), False: ("neg_mean_squared_error",)}


@over_trees(Importances)
def sobol_mda(
    forest: Any,
    X: Any = None,
    y: Any = None,
    *,
    scoring: str | None = None,
    feature_groups: Any = None,
    n_jobs: int | None = None,
) -> TreeSums:
    r"""Compute the Sobol-MDA: what the forest loses when the splits on a feature are ignored.

    .. math:: Imp(X_j) = \frac{1}{\hat V(Y)} \, \frac1n \sum_i \left[
       (y_i - \hat f^{(-j)}(x_i))^2 - (y_i - \hat f(x_i))^2 \right]

    with :math:`\hat f` the out-of-bag prediction of the forest and :math:`\hat f^{(-j)}` that of
    the forest projected along feature j (Bénard, Da Veiga, Scornet 2022). It estimates the total
    Sobol index (:func:`duramen.theory.total_sobol_indices`): the fraction of the variance of Y
    that no other feature explains. Unlike :func:`mda`, it does not send rows to where the joint
    distribution of the features has no mass.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package, whose trees leave rows out.
    X : table of shape (n, p), or LearningSet
        The training table, in its order. A learning set brings the weights of its rows, which must
        be the sample weights that the forest was grown with.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    scoring : {"neg_brier_score", "accuracy", "neg_mean_squared_error"}, optional
        By default "neg_mean_squared_error" for numbers, divided by the variance of Y, and
        "neg_brier_score" for classes: the squared error of the class probabilities, added up over
        the classes and divided by the Gini index of the classes. "accuracy": the loss of accuracy
        of the most probable class, not divided by anything.
    feature_groups : mapping, labels, path, ..., optional
        Columns (:func:`duramen.io.feature_groups` has the forms) whose splits are ignored together;
        the result then has one value a group. A column may be in several groups.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="sobol_mda"``; unit "total Sobol index", or "accuracy". `standard_error` is that
        of the mean over the rows, of this forest. Metadata hold as ``"r_squared"`` the fraction of
        the variance that the forest explains out of bag.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package, or `X` is missing.
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
    grown = trees_of(forest, _NAME)
    choices = _SCORES[grown.classes is not None]
    if scoring is not None:
        checks.check_choice(_NAME, "scoring", scoring, choices)
    scoring = scoring or choices[0]
    threads = checks.check_jobs(_NAME, n_jobs)
    data = training_set(grown, X, y, _NAME, out_of_bag=True)
    names, members = grouped(grown, feature_groups, _NAME)
    projection = _Projection(grown, data, members)
    accuracy = scoring == "accuracy"

    def result() -> Importances:
        rows = projection.seen()
        truth = projection.responses[rows]
        variance = float(truth.var(axis=0).sum())
        if variance == 0.0:
            raise ValueError(
                f"{_NAME}: y must vary over the {len(truth)} out-of-bag rows, but it is constant."
            )
        loss = _wrong if accuracy else _squared
        predicted = projection.predicted(rows)
        rises = np.empty((len(names), len(truth)))
        for g in range(len(names)):
            rises[g] = loss(projection.predicted(rows, g), truth) - loss(predicted, truth)
        squares = float(_squared(predicted, truth).mean())
        n, scale = len(truth), 1.0 if accuracy else variance
        return importances_of(
            grown,
            _NAME,
            rises.mean(axis=1) / scale,
            "accuracy" if accuracy else "total Sobol index",
            rises.std(axis=1, ddof=1) / np.sqrt(n) / scale if n > 1 else None,
            names=names,
            scoring=scoring,
            variance=variance,
            r_squared=1.0 - squares / variance,
        )

    return TreeSums(grown, lambda trees: projection.add(trees, threads), result)


def _squared(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    loss: FloatArray = ((truth - predicted) ** 2).sum(axis=1)
    return loss


def _wrong(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    loss: FloatArray = (predicted.argmax(axis=1) != truth.argmax(axis=1)).astype(np.float64)
    return loss


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


# --- out-of-bag predictions of trees that are projected along groups of columns -------------------

# Relative difference of the weights and means of leaves that rounding makes.
_ROUNDING = 1e-6


class _Projection:
    """Sums of out-of-bag predictions of the trees of a forest, which are added in their order.

    A tree projected along a group of columns, by default a column by itself, sends a row to all
    children of a split on the group. It predicts the mean response of those rows of its bag that
    reach the same nodes, at the deepest level of the tree where there are `min_samples_leaf` of
    them.
    """

    def __init__(
        self, forest: AnyForest, data: LearningSet[EncodedTable], members: Sequence[IntArray] | None
    ) -> None:
        self.responses = responses(forest, matched(forest, data.target, _NAME))
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        self._table = data.table
        self._masses = np.column_stack([weights, self.responses])
        groups = np.arange(forest.n_features)[:, np.newaxis] if members is None else members
        self._offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        self._columns = np.concatenate([*groups, np.empty(0)]).astype(np.uint32)
        # Whole numbers below 2**62 add up to the same in any order of the trees.
        reach = float(np.abs(self.responses).max(initial=0.0)) * forest.n_trees
        self._scale = 1.0 if reach == 0.0 else float(2.0 ** (60 - np.ceil(np.log2(reach))))
        shape = (len(groups), *self.responses.shape)
        require_memory(
            2 * 8 * int(np.prod(shape)),
            what=f"the predictions on {data.n_rows} rows for {len(groups)} features",
            function=_NAME,
            hint="measure fewer rows, or groups of features",
        )
        self._trees = np.zeros(data.n_rows, dtype=np.int64)
        self._sums = np.zeros(shape[1:], dtype=np.int64)
        self._changes = np.zeros(shape, dtype=np.int64)
        self._checked = False

    def add(self, trees: Forest, n_threads: int) -> None:
        """Add trees, which come after those before."""
        if not self._checked:
            self._check_weights(trees)
        n_trees, sums, changes = _kernel.projected_values(
            trees.kernel,
            self._table.kernel,
            trees.bags,
            _kernel.Projections(
                masses=self._masses, scale=self._scale, min_rows=trees.settings.min_samples_leaf
            ),
            self._offsets,
            self._columns,
            n_threads,
        )
        self._trees += n_trees
        self._sums += sums
        self._changes += changes

    def _check_weights(self, trees: Forest) -> None:
        """Raise ValueError unless the leaves of the first tree hold the weights of the rows.

        Weights of classes may be others: the kernel reads them off each tree.
        """
        first = trees.part(0, 1)
        leaf = first.child[leaves(first, self._table)[:, 0]]
        of_rows = self._masses if self.responses.shape[1] == 1 else self._masses[:, 1:]
        weights = bag(first, 0) * self._masses[:, 0]
        n_leaves = len(first.leaf_values)
        own = np.column_stack([np.bincount(leaf, weights * m, n_leaves) for m in of_rows.T])
        ends = np.flatnonzero(first.feature < 0)
        weight = np.empty((n_leaves, 1))
        weight[first.child[ends], 0] = first.weight[ends]
        grown = weight * first.leaf_values
        if self.responses.shape[1] == 1:
            own[:, 0] = np.bincount(leaf, weights, n_leaves)
            grown = np.column_stack([weight, grown]) * (own[:, 0].sum() / weight.sum())
        else:
            total = own.sum(axis=0)
            own *= np.divide(grown.sum(axis=0), total, out=np.ones(len(total)), where=total > 0)
        if not np.allclose(own, grown, rtol=_ROUNDING, atol=_ROUNDING * np.abs(grown).max()):
            raise ValueError(
                f"{_NAME}: the weights of the rows must be those that the forest was "
                "grown with, but its leaves hold others. Hint: give "
                "dm.learning_set(X, y, sample_weight=...) with the same sample weights."
            )
        self._checked = True

    def seen(self) -> IntArray:
        """Return the rows that are out of bag of some tree."""
        rows = np.flatnonzero(self._trees)
        if not rows.size:
            raise ValueError(f"{_NAME}: no row is out of bag for any tree. Hint: grow more trees.")
        return rows

    def predicted(self, rows: IntArray, group: int | None = None) -> FloatArray:
        """Return the prediction of the forest for some rows, without a group, shape (m, C)."""
        sums = self._sums if group is None else self._sums + self._changes[group]
        mean: FloatArray = sums[rows] / self._scale / self._trees[rows, np.newaxis]
        return mean
