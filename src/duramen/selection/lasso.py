"""Lasso as a selector."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from duramen.results.columns import Column
from duramen.selection.selector import (
    BaseSelector,
    SelectionSummary,
    folds_of,
    linear_columns,
    standardized,
    without_forest,
)
from duramen.support import checks

ROUNDING = 1e-8  # coefficients that are smaller parts of the largest one are 0


@dataclass(kw_only=True, eq=False, repr=False)
class LassoSelector(BaseSelector):
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
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
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
        rows = self._learning_set(X, y, n_threads=n_threads)
        data = rows.in_memory()
        most = max(data.exchangeability.n_units, 2)
        n_folds = checks.check_integer(owner, "cv", self.cv, 2, most=most)
        values = standardized(linear_columns(data.table, owner))
        folds = folds_of(data, n_folds, np.random.default_rng(checks.draw_seed(self.random_state)))
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_folds)]
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
        self.coefficients_ = coefficients
        self.penalty_ = float(model.alpha_)
        unit = "target per standard deviation"
        self.importances_ = without_forest(data, sizes, "absolute_coefficient", unit, cv=n_folds)
        return self

    def summary(self) -> SelectionSummary:
        """Return the summary of the run for a report."""
        return replace(
            super().summary(),
            columns=(Column("coefficient", name="coefficient", numbers=self.coefficients_),),
            results={"penalty": self.penalty_},
        )
