"""MDI+: how well the splits on a feature, and its values, predict in a regression on stumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable
from duramen.data.encoding import routing_values
from duramen.data.memory import require_memory
from duramen.forests import structure
from duramen.forests.forest import Forest
from duramen.forests.prediction import leaves
from duramen.importances.arguments import (
    importances_of,
    matched,
    missing_rows,
    responses,
    training_set,
    trees_of,
)
from duramen.importances.measure import Measure, Sums, over_trees, sums_of
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike
from duramen.support.threads import one_blas_thread

_NAME = "mdi_plus"
# Penalties of the authors' code, among which leave-one-out errors choose.
_RIDGE = np.logspace(-5, 5, 100)
_LOGISTIC = np.logspace(-2, 3, 25)
_TRIM = 0.01  # probabilities are kept within this and 1 less this
_LEAST_FREEDOM = 1e-10  # least 1 - leverage of a row, whose prediction depends on it alone
_ROUNDING = 1e-12  # of the largest eigenvalue, below which one is 0
_WORSE = 1.05  # smaller penalties than one whose loss is so much the least are not tried
_NEWTON_STEPS = 100
_CHORD_STEPS = 20  # with one curvature, before a new one is made
# Gradients, a row, that end a fit: as the penalty is chosen, and with the one that is chosen.
_ROUGH, _FINE = 1e-5, 1e-12


@over_trees(Importances)
def mdi_plus(
    forest: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    raw: bool = True,
) -> Sums[Importances]:
    r"""Compute MDI+: the accuracy of regressions on the splits on each feature.

    Every split t of a tree is a stump: a column

    .. math:: \psi_t(x) = \frac{N_{t_L} 1(x \in t_R) - N_{t_R} 1(x \in t_L)}
       {\sqrt{N_{t_L} N_{t_R}}}

    that is 0 for rows that do not reach t. MDI of a feature is the R² of the least-squares
    regression on the stumps of its splits, on the rows of the bag, times the impurity of the root.
    MDI+ replaces the regression, the rows and the score (Agarwal et al. 2023): in each tree one
    penalized model is fitted on the stumps of all splits, all features in use among the columns,
    on all training rows; the row i is predicted by the model without row i, from the block of one
    feature, with all other columns at their mean; the score of these predictions is the value of
    the feature, averaged over the trees.

    For numbers the model is a ridge regression, with the penalty out of 100 by the leave-one-out
    error, and the score is R². For classes it is a penalized logistic regression of each class
    against the others, with the penalty out of 25 and predictions by approximate leave-one-out; the
    score is the decrease of the log loss, in nats, below that of the class frequencies;
    probabilities are kept within 0.01 and 0.99.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn, with binary splits.
    X : table of shape (n, p), or LearningSet
        The training table, in its order.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    raw : bool
        Whether the values of a numeric or ordinal column join the stumps of its block, on the scale
        of the stump with the largest spread; missing values count as the mean.

    Returns
    -------
    Importances
        ``measure="mdi_plus"``; unit "R2" for numbers, "nats" for classes.
        `standard_error` is that of the mean over the trees (None for a single tree).

    Raises
    ------
    TypeError
        If `forest` is no such forest, or `X` is missing.
    ValueError
        If the arguments do not go together, the forest has multiway splits, or `X` is not its
        training table.

    Notes
    -----
    Where classes are nearly separable, the regressions on all blocks are so steep that the
    probabilities by one block alone are too sure: a relevant feature can then have a value far
    below 0, lower than that of an irrelevant one.

    Predictions from one block ignore interactions with the others: MDI+ of the two features of an
    xor is that of the stumps of each alone. Irrelevant features have values about 0, but splits are
    chosen with all rows: of trees grown in full for classes those of many values have more. Rows of
    a group are left out one by one, so that features that tell groups apart have too much. A
    feature on which a tree does not split has a block that is empty: its prediction is the
    intercept.

    In each tree the model has as many columns as there are splits and features in use, q. The time
    is that of the eigenvalues of a matrix of min(n, q) columns: forests with ``min_samples_leaf=5``
    are much faster than fully grown ones. Logistic penalties are tried from the largest on, until
    the loss is 5 % above the least. Rows count equally in these models, whatever weights the
    trees were grown with.

    References
    ----------
    A. Agarwal, A. M. Kenney, Y. S. Tan, T. M. Tang, B. Yu (2023). MDI+: a flexible random
    forest-based feature importance framework. arXiv:2307.01932.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.mdi_plus(forest, data.X, data.y)
    >>> result.unit, result.top(2).names
    ('nats', ('x0', 'x1'))
    """
    if X is None:
        raise missing_rows(_NAME)
    grown = trees_of(forest, _NAME, X)
    classes = grown.classes is not None
    checks.check_flag(_NAME, "raw", raw)
    data = training_set(grown, X, y, _NAME)
    outcomes = responses(grown, matched(grown, data.target, _NAME))
    if not outcomes.var(axis=0).any():
        raise ValueError(f"{_NAME}: y must vary, but it is constant.")
    values = _raw_values(data.table) if raw else {}
    fit = _logistic if classes else _ridge
    scores: list[FloatArray] = []  # of all features in each tree
    while (trees := (yield grown, None)) is not None:
        if (structure.child_counts(trees) > 2).any():
            raise ValueError(
                f"{_NAME}: the trees must have binary splits, but this forest has splits into "
                'more children. Hint: grow it with splits="ordered".'
            )
        with one_blas_thread():
            for t in range(trees.n_trees):
                tree = trees.part(t, t + 1)
                scores.append(fit(_design(tree, data.table, values), outcomes, tree.n_features))
    of_trees, n_trees = np.array(scores), len(scores)
    return importances_of(
        grown,
        _NAME,
        of_trees.mean(axis=0),
        "nats" if classes else "R2",
        of_trees.std(axis=0, ddof=1) / np.sqrt(n_trees) if n_trees > 1 else None,
        regression="logistic" if classes else "ridge",
        raw=raw,
    )


@dataclass(frozen=True)
class _Design:
    """Columns (n, q) of a model of a tree, and the feature of each."""

    columns: FloatArray
    feature: IntArray

    def by_feature(self, terms: FloatArray, p: int) -> FloatArray:
        """Return the sums of terms (n, q) over the columns of each feature, of shape (n, p)."""
        features, place = np.unique(self.feature, return_inverse=True)
        sums = np.zeros((len(terms), p))
        sums[:, features] = terms @ np.eye(len(features))[place]
        return sums


def _raw_values(table: EncodedTable) -> dict[int, FloatArray]:
    """Return the values of the columns that have an order, missing ones at the mean."""
    numbers, values = routing_values(table.schema, table), {}
    for j, kind in enumerate(table.kinds):
        if kind != "nominal":
            column = numbers[:, j].copy()
            missing = np.isnan(column)
            column[missing] = 0.0 if missing.all() else column[~missing].mean()
            values[j] = column
    return values


def _design(tree: Forest, table: EncodedTable, values: dict[int, FloatArray]) -> _Design:
    """Return the stumps of the splits of a tree on the rows of its table, and values, centered.

    `values` are those of columns, which join the stumps of features in use.
    """
    parent, first = structure.parents(tree), structure.first_children(tree)
    inner = np.flatnonzero(tree.feature >= 0)
    require_memory(
        4 * 8 * table.n_rows * len(inner),
        what=f"the stumps of {len(inner)} splits on {table.n_rows} rows",
        function=_NAME,
        hint="grow the forest with min_samples_leaf=5 or more",
    )
    place = np.full(tree.n_nodes, -1)
    place[inner] = np.arange(len(inner))
    left, right = tree.weight[first[inner]], tree.weight[first[inner] + 1]
    of_side = np.column_stack([-np.sqrt(right / left), np.sqrt(left / right)])
    node = np.flatnonzero(tree.feature < 0)
    number = np.full(tree.n_nodes, -1)
    leaf = number[node] = np.arange(len(node))
    of_leaf = np.zeros((len(node), len(inner)))
    while (inside := parent[node] >= 0).any():
        leaf, node = leaf[inside], node[inside]
        above = parent[node]
        of_leaf[leaf, place[above]] = of_side[place[above], node - first[above]]
        node = above
    stumps, feature = of_leaf[number[leaves(tree, table)[:, 0]]], tree.feature[inner]
    spread = stumps.std(axis=0)
    used = np.unique(feature[spread > 0.0])
    varies = np.isin(feature, used)
    columns, features = [stumps[:, varies]], [feature[varies].astype(np.int64)]
    for j in used.tolist():
        if j in values and (own := values[j].std()) > 0.0:
            columns.append(values[j][:, np.newaxis] * (spread[feature == j].max() / own))
            features.append(np.array([j]))
    joined = np.hstack(columns)
    return _Design(joined - joined.mean(axis=0), np.concatenate(features))


def _rotation(columns: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the singular vectors and values of the columns: U (n, r), s (r,), V (q, r)."""
    n, q = columns.shape
    wide = q > n
    gram = columns @ columns.T if wide else columns.T @ columns
    squares, vectors = np.linalg.eigh(gram)
    large = squares > _ROUNDING * max(squares.max(initial=0.0), np.finfo(float).tiny)
    singular, vectors = np.sqrt(squares[large]), vectors[:, large]
    if wide:
        return vectors, singular, (columns.T @ vectors) / singular
    return (columns @ vectors) / singular, singular, vectors


def _ridge(design: _Design, responses: FloatArray, p: int) -> FloatArray:
    """Return R² of leave-one-out predictions of a ridge regression by the block of each feature."""
    y, n = responses[:, 0], len(responses)
    U, singular, V = _rotation(design.columns)
    squares = singular**2
    centered = y - y.mean()
    # 1 - shrinkage is computed as such: at small penalties it is a difference of equal numbers.
    left_over = _RIDGE / (squares[:, np.newaxis] + _RIDGE)
    projected = U.T @ centered
    residual = (centered - U @ projected)[:, np.newaxis] + U @ (
        left_over * projected[:, np.newaxis]
    )
    outside = np.maximum(1.0 - 1.0 / n - (U**2).sum(axis=1), 0.0)
    freedom = np.maximum(outside[:, np.newaxis] + U**2 @ left_over, _LEAST_FREEDOM)
    best = int(np.argmin(((residual / freedom) ** 2).mean(axis=0)))
    inverse = (V * (singular / (squares + _RIDGE[best]))) @ U.T
    step = -residual[:, best] / freedom[:, best]
    terms = design.columns * ((inverse @ centered)[:, np.newaxis] + inverse * step).T
    partial = y.mean() + step[:, np.newaxis] / n + design.by_feature(terms, p)
    partial[:, np.setdiff1d(np.arange(p), design.feature)] = y.mean()
    scores: FloatArray = 1.0 - ((y[:, np.newaxis] - partial) ** 2).sum(axis=0) / (centered**2).sum()
    return scores


def _logistic(design: _Design, responses: FloatArray, p: int) -> FloatArray:
    """Return the decrease of the log loss by the block of each feature, in nats."""
    U, singular, V = _rotation(design.columns)
    coordinates = np.column_stack([U * singular, np.ones(len(responses))])
    outcomes = responses[:, 1:] if responses.shape[1] == 2 else responses
    partial = [
        _partial_probabilities(design, V, coordinates, outcome, p)
        if 0.0 < outcome.mean() < 1.0
        else np.full((len(outcome), p), np.clip(outcome.mean(), _TRIM, 1.0 - _TRIM))
        for outcome in outcomes.T
    ]
    if len(partial) == 1:
        partial = [1.0 - partial[0], partial[0]]
    probabilities = np.array(partial)
    own = (probabilities * responses.T[:, :, np.newaxis]).sum(axis=0) / probabilities.sum(axis=0)
    frequencies = responses.mean(axis=0)
    frequencies = frequencies[frequencies > 0.0]
    scores: FloatArray = np.log(own).mean(axis=0) - (frequencies * np.log(frequencies)).sum()
    return scores


def _partial_probabilities(
    design: _Design, right: FloatArray, coordinates: FloatArray, outcome: FloatArray, p: int
) -> FloatArray:
    """Return approximate leave-one-out probabilities by the block of each feature, (n, p)."""
    from scipy.linalg import cho_solve

    penalty, start, curvature = _chosen_penalty(coordinates, outcome)
    coefficients = _coefficients(coordinates, outcome, penalty, start, curvature, _FINE)
    factor = _factor(_curvature(coordinates, _expit(coordinates @ coefficients)), penalty)
    _, step = _without_one(coordinates, outcome, coefficients, factor)
    changes = cho_solve((factor, True), coordinates.T, check_finite=False) * step
    slopes = (right @ (coefficients[:-1, np.newaxis] + changes[:-1])).T
    linear = design.by_feature(design.columns * slopes, p)
    linear += (coefficients[-1] + changes[-1])[:, np.newaxis]
    linear[:, np.setdiff1d(np.arange(p), design.feature)] = coefficients[-1]
    probabilities: FloatArray = np.clip(_expit(linear), _TRIM, 1.0 - _TRIM)
    return probabilities


def _chosen_penalty(
    coordinates: FloatArray, outcome: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return the penalty of the smallest leave-one-out loss, with coefficients and curvature.

    Single precision tells losses apart as well as the tolerance does, in half the time.
    """
    narrow, target = coordinates.astype(np.float32), outcome.astype(np.float32)
    start, curvature = np.zeros(narrow.shape[1], dtype=np.float32), None
    chosen, least = (float(_LOGISTIC[-1]), start, start), np.inf
    for penalty in _LOGISTIC[::-1].tolist():
        start = _coefficients(narrow, target, penalty, start, curvature, _ROUGH)
        curvature = _curvature(narrow, _expit(narrow @ start))
        leverage, step = _without_one(narrow, target, start, _factor(curvature, penalty))
        probability = np.clip(_expit(narrow @ start + leverage * step), _TRIM, 1.0 - _TRIM)
        loss = -np.log(np.where(target > 0.0, probability, 1.0 - probability)).mean(dtype=float)
        if loss <= least:
            chosen, least = (penalty, start, curvature), loss
        elif loss > _WORSE * least:
            break
    penalty, start, curvature = chosen
    return penalty, start.astype(np.float64), curvature.astype(np.float64)


def _coefficients(
    coordinates: Any, outcome: Any, penalty: float, start: Any, curvature: Any, tolerance: float
) -> Any:
    """Return the coefficients of a penalized logistic regression, from others that are near.

    The last, the intercept, has no penalty. The curvature at `start` gives all steps; where it is
    None, or they do not lead to the end, each step has its own.
    """
    from scipy.linalg import cho_solve

    penalties, enough = np.full_like(start, penalty), tolerance * len(outcome)
    penalties[-1] = 0.0

    def loss(coefficients: Any) -> float:
        linear = coordinates @ coefficients
        own = np.where(outcome > 0.0, linear, -linear)
        return float(np.logaddexp(0.0, -own).sum() + (penalties * coefficients**2).sum() / 2.0)

    if curvature is not None:
        factor, moved = _factor(curvature, penalty), start
        for _ in range(_CHORD_STEPS):
            residual = _expit(coordinates @ moved) - outcome
            gradient = coordinates.T @ residual + penalties * moved
            if np.abs(gradient).max() < enough:
                return moved
            moved = moved - cho_solve((factor, True), gradient, check_finite=False)
    value = loss(start)
    for _ in range(_NEWTON_STEPS):
        probability = _expit(coordinates @ start)
        gradient = coordinates.T @ (probability - outcome) + penalties * start
        if np.abs(gradient).max() < enough:
            break
        factor = _factor(_curvature(coordinates, probability), penalty)
        step = cho_solve((factor, True), gradient, check_finite=False)
        fraction = 1.0
        while (lower := loss(start - fraction * step)) > value and fraction > 1e-8:
            fraction /= 2.0
        start, value = start - fraction * step, lower
    return start


def _expit(linear: Any) -> Any:
    from scipy.special import expit

    return expit(linear)


def _curvature(coordinates: Any, probability: Any) -> Any:
    """Return the second derivatives of the loss without its penalty."""
    scaled = coordinates * np.sqrt(probability * (1.0 - probability))[:, np.newaxis]
    return scaled.T @ scaled  # of a matrix with itself: half the time


def _factor(curvature: Any, penalty: float) -> Any:
    """Return the Cholesky factor, below the diagonal, of a curvature with the penalty."""
    from scipy.linalg import cholesky

    penalized = curvature.copy()
    penalized.flat[: -1 : len(curvature) + 1] += penalty
    return cholesky(penalized, lower=True, overwrite_a=True, check_finite=False)


def _without_one(coordinates: Any, outcome: Any, coefficients: Any, factor: Any) -> tuple[Any, Any]:
    """Return x' J^-1 x of each row x, and the factor of J^-1 x when the row is left out.

    This is one Newton step from the model of all rows, with J the curvature of its loss.
    """
    from scipy.linalg.blas import get_blas_funcs
    from scipy.linalg.lapack import get_lapack_funcs

    invert: Any = get_lapack_funcs("trtri", (factor,))
    multiply: Any = get_blas_funcs("trmm", (factor,))
    half = multiply(1.0, invert(factor, lower=True)[0], coordinates.T, lower=True)
    spread = np.einsum("ij,ij->j", half, half)  # faster than solving with many columns
    probability = _expit(coordinates @ coefficients)
    freedom = 1.0 - spread * probability * (1.0 - probability)
    return spread, (probability - outcome) / np.maximum(freedom, _LEAST_FREEDOM)


MDI_PLUS = Measure(
    _NAME,
    lambda inputs: sums_of(mdi_plus, inputs.estimator, inputs.data),
    "MDI+",
    "MDI+ is the score, in {unit}, of leave-one-out predictions by the splits on a feature and "
    "its values, in penalized regressions on all splits of a tree; averaged over the trees.",
    "MDI+ of an irrelevant feature is about 0; in trees grown in full it is higher for "
    "features of many values. Features that matter only together with others have too little "
    "of it, and so have features of classes that are nearly separable.",
    reference="A. Agarwal et al. (2023). MDI+: a flexible random forest-based feature importance "
    "framework. arXiv:2307.01932.",
    rows="training",
    over_trees=True,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
)
