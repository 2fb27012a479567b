"""Lasso and ridge regression as selectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable, LearningSet
from duramen.data.encoded import refuse_unordered
from duramen.results.summary import Column
from duramen.selection.selector import BaseSelector, Data, numbers_of, splits_of, without_forest
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike

ROUNDING = 1e-8  # coefficients that are smaller parts of the largest one are 0
_PENALTIES = np.logspace(-4.0, 4.0, 25)  # divided by the number of rows


class LinearSelector(BaseSelector):
    """Selector by the coefficients of a linear model of standardized features."""

    coefficients_: FloatArray
    penalty_: float

    def _read(
        self, X: Any, y: Any, n_threads: int = 1
    ) -> tuple[Data, LearningSet[EncodedTable], FloatArray]:
        """Return the rows as they were given, in memory, and as standardized columns."""
        rows = self._learning_set(X, y, n_threads=n_threads)
        data = rows.in_memory()
        return rows, data, standardized(linear_columns(data.table, type(self).__name__))

    def _take(self, data: Data, sizes: FloatArray, **settings: Any) -> None:
        """Set the importances to the absolute coefficients."""
        unit = "target per standard deviation"
        self.importances_ = without_forest(data, sizes, "absolute_coefficient", unit, **settings)

    def _figures(self) -> dict[str, Any]:
        coefficients = Column("coefficient", name="coefficient", numbers=self.coefficients_)
        return {"columns": (coefficients,), "results": {"penalty": self.penalty_}}


@dataclass(kw_only=True, eq=False, repr=False)
class LassoSelector(LinearSelector):
    r"""Lasso: features with a coefficient other than 0 in a penalized linear model.

    .. math:: \min_b \frac{1}{2n} \|y - X b\|^2 + \lambda \sum_j |b_j|

    on standardized features, with the :math:`\lambda` of the smallest error in cross-validation,
    by scikit-learn's `LassoCV`. Of two classes y is the indicator; of more, the indicators of all
    classes share their features (`MultiTaskLassoCV`).

    Parameters
    ----------
    cv : int, default=5
        Number of folds of the cross-validation.

        They are drawn at random within the classes; the rows of a group are in one fold.
    random_state : int, RandomState, Generator or None
        Seed of the folds.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, by the size of their coefficients.
    coefficients_ : float64 array of shape (p,)
        Coefficients of the standardized features; of several classes their Euclidean norm.
    penalty_ : float
        :math:`\lambda`.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Absolute coefficients of all p features.
    history_ : dict of arrays
        ``"penalty"`` and ``"error"``: penalties that were tried, mean squared errors of the folds.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    Missing values count as the mean of their column. Of identical features any may have the
    coefficient, or a part of it: the solution is not unique.

    References
    ----------
    R. Tibshirani (1996). Regression shrinkage and selection via the lasso. Journal of the Royal
    Statistical Society B 58.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = dm.LassoSelector(random_state=0).fit(X, 3 * X[:, 1] + X[:, 2])
    >>> model.selected_.tolist()
    [1, 2]
    """

    exchanges_groups = True

    cv: int = 5
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Fit the linear model.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described, or a column has more than two labels without
            an order.
        """
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LassoCV, MultiTaskLassoCV

        owner = type(self).__name__
        n_threads = checks.check_jobs(owner, self.n_jobs)
        rows, data, values = self._read(X, y, n_threads)
        splits = splits_of(data, self.cv, checks.draw_seed(self.random_state), owner)
        response = data.target.responses()
        if response.shape[1] > 1:
            model = MultiTaskLassoCV(cv=splits, n_jobs=n_threads)
        else:
            response, model = response[:, 0], LassoCV(cv=splits, n_jobs=n_threads)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of the smallest penalties
            model.fit(values, response)
        sizes = np.linalg.norm(np.atleast_2d(model.coef_), axis=0)
        sizes[sizes < ROUNDING * sizes.max(initial=0.0)] = 0.0
        coefficients = np.where(sizes > 0, model.coef_, 0.0) if model.coef_.ndim == 1 else sizes
        selected = np.flatnonzero(sizes)
        history = {"penalty": model.alphas_, "error": model.mse_path_.mean(axis=1)}
        self._adopt(rows, selected[np.argsort(-sizes[selected], kind="stable")], history)
        self.coefficients_, self.penalty_ = coefficients, float(model.alpha_)
        self._take(rows, sizes, cv=len(splits))
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeSelector(LinearSelector):
    r"""Ridge regression: features with the largest coefficients of a penalized linear model.

    .. math:: \min_b \frac{1}{n} \|y - X b\|^2 + \lambda \sum_j b_j^2

    on standardized features, with the :math:`\lambda` of the smallest leave-one-out error, by
    scikit-learn's `RidgeCV`. Of two classes y is the indicator; of more there is an indicator for
    each class, all with the same penalty.

    Parameters
    ----------
    n_features : int, default=10
        Number of features to select.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, by the size of their coefficients.
    coefficients_ : float64 array of shape (p,)
        Coefficients of the standardized features; of several classes their Euclidean norm.
    penalty_ : float
        :math:`\lambda`.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Absolute coefficients of all p features.
    history_ : dict of arrays
        ``"penalty"`` and ``"error"``: penalties that were tried, mean squared leave-one-out errors.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    No coefficient is 0: the features are ranked, and the first are selected. Identical features
    have the same coefficient, and correlated ones similar ones, where `LassoSelector` chooses.
    Missing values count as the mean of their column.

    References
    ----------
    A. E. Hoerl, R. W. Kennard (1970). Ridge regression: biased estimation for nonorthogonal
    problems. Technometrics 12.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = dm.RidgeSelector(n_features=2).fit(X, 3 * X[:, 1] + X[:, 2])
    >>> model.selected_.tolist()
    [1, 2]
    """

    n_features: int = 10

    def fit(self, X: object, y: object = None) -> Self:
        """Fit the linear model.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described, or a column has more than two labels without
            an order.
        """
        from sklearn.linear_model import RidgeCV

        owner = type(self).__name__
        most = checks.check_integer(owner, "n_features", self.n_features, 1)
        rows, data, values = self._read(X, y)
        response = data.target.responses()
        model = RidgeCV(_PENALTIES * data.n_rows, store_cv_results=True).fit(values, response)
        sizes = np.linalg.norm(np.atleast_2d(model.coef_), axis=0)
        errors = model.cv_results_.reshape(-1, len(_PENALTIES)).mean(axis=0)
        history = {"penalty": _PENALTIES, "error": errors}
        self._adopt(rows, np.argsort(-sizes, kind="stable")[:most], history)
        self.coefficients_ = np.reshape(model.coef_, -1) if response.shape[1] == 1 else sizes
        self.penalty_ = float(model.alpha_) / data.n_rows
        self._take(rows, sizes)
        return self


def linear_columns(table: EncodedTable, function: str) -> FloatArray:
    """Return the columns of a table for a linear model: :func:`numbers_of`.

    Raises
    ------
    ValueError
        If a column has labels without an order.
    """
    without = "which have no coefficient. Hint: give one column of 0 and 1 for each label."
    refuse_unordered(table, function, without)
    return numbers_of(table)


def standardized(values: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1; missing values are the mean, constant ones 0."""
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without a value
        values = values - np.nanmean(values, axis=0)
    values = np.nan_to_num(values, nan=0.0)
    scale = values.std(axis=0)
    return np.asarray(values / np.where(scale > 0, scale, 1.0))
