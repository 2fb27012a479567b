"""Influence of the features on the predictions of any fitted predictor."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import LearningSet, encode
from duramen.data.encoding import routing_values
from duramen.importances.measure import Measure
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike
from duramen.support.provenance import versions
from duramen.support.text import quoted


def relative_influence(estimator: Any, X: TableLike, *, step: float = 1.0) -> Importances:
    r"""Compute the relative influence of numeric features on the predictions of a model.

    .. math:: Imp(X_j) = \sqrt{E_X \Bigl\{\Bigl(\frac{\partial f(X)}{\partial X_j}\Bigr)^2\Bigr\}
              \operatorname{var}_X\{X_j\}}

    (Friedman 2001; thesis, eq. 4.9). The predictions of trees are piecewise constant and have no
    derivative worth the name, so that it is replaced by the difference quotient over `step`
    standard deviations :math:`\sigma_j`,

    .. math:: \frac{f(x_j + h/2) - f(x_j - h/2)}{h}, \qquad h = \mathrm{step} \cdot \sigma_j

    For a linear model that is exact for any step, and the value is :math:`|a_j| \sigma_j`.

    Parameters
    ----------
    estimator : fitted estimator
        Any classifier with ``predict_proba`` or regressor with ``predict``, in scikit-learn's
        manner.
    X : table of shape (n, p), or LearningSet
        Rows over which the expectation and the variances are taken: numbers, none missing.
    step : float, default=1.0
        Width of the difference in standard deviations of the feature. A small one sees the splits
        near a row alone.

    Returns
    -------
    Importances
        ``measure="relative_influence"``, in units of the prediction. For classes it is the root of
        half the sum of the squares over the probabilities of all classes: with two, the influence
        on either.

    Raises
    ------
    TypeError
        If the model cannot predict.
    ValueError
        If the table is not numeric, its columns are not those of the model, or `step` is not
        positive.

    Notes
    -----
    Trees see a feature of two values change only where it passes the middle between them. Moved by
    half of a standard deviation it does not, so that its influence on a forest is 0 even if it
    determines the target. For forests, compare features of many values alone.

    References
    ----------
    J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> import duramen as dm
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [4.0, 1.0], [6.0, 0.0]])
    >>> line = LinearRegression().fit(X, 3 * X[:, 0] - X[:, 1])
    >>> dm.importances.relative_influence(line, X).values.round(3).tolist()
    [6.708, 0.5]
    """
    name = "relative_influence"
    predict = _outputs(name, estimator)
    table, names = _numbers(name, estimator, X)
    checks.check_real(name, "step", step, 0.0, np.inf, ends="()")
    spread = table.std(axis=0)
    squares = np.zeros(table.shape[1])
    for j in np.flatnonzero(spread > 0).tolist():
        sides = []
        for sign in (0.5, -0.5):
            moved = table.copy()
            moved[:, j] += sign * step * spread[j]
            sides.append(predict(moved))
        squares[j] = _mean_square(sides[0] - sides[1]) / step**2
    metadata = {name: {"n_rows": len(table), "step": step}, "versions": versions()}
    return Importances(names, np.sqrt(squares), name, "prediction", metadata=metadata)


def prediction_change(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    n_repeats: int = 5,
    random_state: RandomState = None,
) -> Importances:
    r"""Compute the mean squared change of the predictions of a model when a feature is permuted.

    .. math:: Imp(X_j) = E\{(f(X) - f(\tilde X^j))^2\}, \qquad
              \frac{E\{(f(X) - f(\tilde X^j))^2\}}{E\{(Y - f(X))^2\}}

    with :math:`\tilde X^j` the features with an independent copy of X_j in place of X_j (Zhu et al.
    2015; thesis, section 4.3.1). With `y` it is divided by the error of the model, the second form:
    how many times the error is added when the model is the best one there is. For the best model
    the first form is the increase of the squared error, MDA.

    Parameters
    ----------
    estimator : fitted estimator
        Any classifier with ``predict_proba`` or regressor with ``predict``, in scikit-learn's
        manner.
    X : table of shape (n, p), or LearningSet
        Rows that the model has not seen: numbers, none missing.
    y : array-like of shape (n,), optional
        Their numbers or classes, for the normalized form.
    n_repeats : int, default=5
        Permutations of each feature.
    random_state : int, RandomState, Generator or None
        Seed of the permutations.

    Returns
    -------
    Importances
        ``measure="prediction_change"``, with the standard error over the repeats: in squared units
        of the prediction, or "1" if it is normalized. For classes squares are summed over the
        probabilities of all classes and halved, in the error as well.

    Raises
    ------
    TypeError
        If the model cannot predict.
    ValueError
        If the table is not numeric, its columns are not those of the model, `y` does not suit it,
        or the error is 0 and there is nothing to divide by.

    References
    ----------
    R. Zhu, D. Zeng, M. R. Kosorok (2015). Reinforcement learning trees. Journal of the American
    Statistical Association 110.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> import duramen as dm
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(2000, 2))
    >>> y = X[:, 0] + random.normal(size=2000)  # 2 Var f_1 = 2, and an error of 1
    >>> line = LinearRegression().fit(X, y)
    >>> dm.importances.prediction_change(line, X, y, random_state=0).values.round(0).tolist()
    [2.0, 0.0]
    """
    name = "prediction_change"
    predict = _outputs(name, estimator)
    table, names = _numbers(name, estimator, X)
    repeats = checks.check_integer(name, "n_repeats", n_repeats, 1)
    seed = checks.draw_seed(random_state)
    before = predict(table)
    scale = 1.0
    if y is not None:
        truth: Any = np.asarray(y)
        if truth.shape != (len(before),):
            raise checks.refuse(name, "y", f"an array of shape ({len(before)},)", truth.shape)
        classes = getattr(estimator, "classes_", None)
        if classes is not None and not np.isin(truth, classes).all():
            raise ValueError(f"{name}: y holds classes that the model does not know.")
        numbers = truth[:, np.newaxis] if classes is None else truth[:, np.newaxis] == classes
        scale = _mean_square(before - numbers.astype(np.float64))
        if scale == 0:
            raise ValueError(
                f"{name}: the model has no error on these rows, so there is nothing to divide by. "
                "Hint: give rows that it was not trained on, or leave out y."
            )
    changes = np.empty((repeats, table.shape[1]))
    for j in range(table.shape[1]):
        random = np.random.default_rng((seed, j))
        for repeat in range(repeats):
            moved = table.copy()
            moved[:, j] = random.permutation(moved[:, j])
            changes[repeat, j] = _mean_square(before - predict(moved)) / scale
    choices = {"n_rows": len(table), "n_repeats": repeats, "permutation_seed": seed}
    return Importances(
        names,
        changes.mean(axis=0),
        name,
        "squared prediction" if y is None else "1",
        standard_error=changes.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else None,
        metadata={name: choices, "versions": versions()},
    )


def _outputs(function: str, estimator: Any) -> Callable[[FloatArray], FloatArray]:
    """Return the function from rows to predictions, shape (n, k)."""
    classes = getattr(estimator, "classes_", None)
    method = getattr(estimator, "predict" if classes is None else "predict_proba", None)
    if method is None:
        raise TypeError(
            f"{function}: estimator must be a fitted predictor, got {type(estimator).__name__}. "
            "Hint: classifiers need predict_proba, regressors predict."
        )

    def outputs(table: FloatArray) -> FloatArray:
        with warnings.catch_warnings():  # the order of the columns was checked
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            predictions = np.asarray(method(table), dtype=np.float64)
        return predictions.reshape(len(table), -1)

    return outputs


def _numbers(function: str, estimator: Any, X: Any) -> tuple[FloatArray, tuple[str, ...]]:
    """Return a numeric table with the columns of the model, and their names."""
    table = X.in_memory().table if isinstance(X, LearningSet) else encode(X)
    fitted = getattr(estimator, "feature_names_in_", None)
    if table.named and fitted is not None and list(table.names) != list(fitted):
        raise ValueError(
            f"{function}: the columns of X must be those that the model was fitted with, in their "
            "order."
        )
    for name, kind, missing in zip(table.names, table.kinds, table.missing, strict=True):
        if kind != "numeric" or missing:
            came = "missing values" if missing else f"{kind} ones"
            raise ValueError(
                f"{function}: column {quoted(name)} must hold numbers, none missing, got {came}. "
                "Hint: leave the column out, or use another measure, such as mda."
            )
    names = table.names if fitted is None else tuple(map(str, fitted))
    return routing_values(table.schema, table), names


def _mean_square(differences: FloatArray) -> float:
    """Return the mean over rows of the squares, halved over the probabilities of classes."""
    half = 0.5 if differences.shape[1] > 1 else 1.0
    return half * float((differences**2).sum(axis=1).mean())


_OF_THE_FOREST = (
    "{title} describes the forest on the rows that it was grown on, not its accuracy: irrelevant "
    "features that it splits on have some of it too."
)

PREDICTION_CHANGE = Measure(
    "prediction_change",
    lambda subject: prediction_change(
        subject.estimator, subject.data, random_state=subject.random_state
    ),
    "prediction change",
    "The prediction change is the mean square of the change of the prediction when a feature "
    "is permuted; in {unit}.",
    _OF_THE_FOREST,
    reference="R. Zhu, D. Zeng, M. R. Kosorok (2015). Reinforcement learning trees. Journal of the "
    "American Statistical Association 110.",
    unit="squared prediction",
    rows="training",
    testable=False,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
    spread="permutations",
)
