"""Sobol-MDA: the loss of a forest projected along a feature, an estimate of total Sobol indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.forests.forest import AnyForest, Forest
from duramen.importances.arguments import metadata_of, missing_rows, trees_of
from duramen.importances.measure import SCATTERS, Inputs, Measure, OfTrees, TreeSums, Words
from duramen.importances.measures.fitted.mda import grouped
from duramen.importances.passes.projection import Projection
from duramen.importances.samples import sample_of, training_set
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray

_NAME = "sobol_mda"
_SCORES = {True: ("neg_brier_score", "accuracy"), False: ("neg_mean_squared_error",)}


def sobol_mda(
    forest: Any,
    X: Any = None,
    y: Any = None,
    *,
    scoring: str | None = None,
    feature_groups: Any = None,
    n_jobs: int | None = None,
) -> Importances:
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
    sample_of(grown, X, y, "oob", _NAME)
    data = training_set(grown, X, y, _NAME)
    threads = checks.check_jobs(_NAME, n_jobs)
    sums = _Losses(grown, data, scoring or choices[0], feature_groups, threads)
    result: Importances = sums.over_all()
    return result


class _Losses(TreeSums):
    """Out-of-bag predictions with all splits, and without those of each group."""

    def __init__(
        self,
        forest: AnyForest,
        data: LearningSet[EncodedTable],
        scoring: str,
        feature_groups: Any,
        n_threads: int,
    ) -> None:
        super().__init__(forest)
        self._names, members = grouped(forest, feature_groups, _NAME)
        self._projection = Projection(_NAME, forest, data, members)
        self._scoring, self._n_threads = scoring, n_threads

    def add(self, trees: Forest) -> None:
        self._projection.add(trees, self._n_threads)

    def importances(self) -> Importances:
        projection, accuracy = self._projection, self._scoring == "accuracy"
        rows = projection.seen
        truth = projection.responses[rows]
        if not rows.size:
            raise ValueError(f"{_NAME}: no row is out of bag for any tree. Hint: grow more trees.")
        variance = float(truth.var(axis=0).sum())
        if variance == 0.0:
            raise ValueError(
                f"{_NAME}: y must vary over the {rows.size} out-of-bag rows, but it is constant."
            )
        loss = _wrong if accuracy else _squared
        before = loss(projection.predicted(), truth)
        rises = np.array(
            [loss(projection.projected(g), truth) - before for g in range(len(self._names))]
        ).reshape(len(self._names), rows.size)
        scale = 1.0 if accuracy else variance
        error = rises.std(axis=1, ddof=1) / np.sqrt(rows.size) / scale if rows.size > 1 else None
        choices = {
            "scoring": self._scoring,
            "variance": variance,
            "r_squared": 1.0 - float(_squared(projection.predicted(), truth).mean()) / variance,
        }
        return Importances(
            names=self._names,
            values=rises.mean(axis=1) / scale,
            measure=_NAME,
            unit="accuracy" if accuracy else "total Sobol index",
            standard_error=error,
            metadata=metadata_of(self.forest, _NAME, **choices),
        )


def _squared(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    loss: FloatArray = ((truth - predicted) ** 2).sum(axis=1)
    return loss


def _wrong(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    loss: FloatArray = (predicted.argmax(axis=1) != truth.argmax(axis=1)).astype(np.float64)
    return loss


def _of_trees(inputs: Inputs) -> TreeSums:
    """Return the sums of `sobol_mda` with its defaults."""
    forest = trees_of(inputs.estimator, _NAME)
    sample_of(forest, inputs.data, None, "oob", _NAME)
    data = training_set(forest, inputs.data, None, _NAME)
    scoring = _SCORES[forest.classes is not None][0]
    return _Losses(forest, data, scoring, None, checks.check_jobs(_NAME, inputs.n_jobs))


SOBOL_MDA = Measure(
    _NAME,
    OfTrees(_of_trees),
    Words(
        "Sobol-MDA",
        "Sobol-MDA is the fraction of the variance of the target by which the out-of-bag error "
        "of the forest rises when the splits on the feature are ignored: an estimate of its total "
        "Sobol index. For classes, squared errors of their probabilities are added up.",
        "Sobol-MDA of a feature that other features can replace is near 0, even if the target "
        "depends on it. " + SCATTERS,
    ),
    reference="C. Bénard, S. Da Veiga, E. Scornet (2022). Mean decrease accuracy for random "
    "forests: inconsistency, and a practical solution via the Sobol-MDA. Biometrika 109.",
    rows="out-of-bag",
    spread="rows",
)
