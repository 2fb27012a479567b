"""Ridge regression as a selector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from duramen.results.columns import Column
from duramen.selection.selector import (
    BaseSelector,
    SelectionSummary,
    linear_columns,
    standardized,
    without_forest,
)
from duramen.support import checks

_PENALTIES = np.logspace(-4.0, 4.0, 25)  # divided by the number of rows


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeSelector(BaseSelector):
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
        rows = self._learning_set(X, y, n_threads=1)
        data = rows.in_memory()
        values = standardized(linear_columns(data.table, owner))
        response = data.target.responses()
        model = RidgeCV(_PENALTIES * data.n_rows, store_cv_results=True).fit(values, response)
        sizes = np.linalg.norm(np.atleast_2d(model.coef_), axis=0)
        errors = model.cv_results_.reshape(-1, len(_PENALTIES)).mean(axis=0)
        history = {"penalty": _PENALTIES, "error": errors}
        self._adopt(rows, np.argsort(-sizes, kind="stable")[:most], history)
        single = response.shape[1] == 1
        self.coefficients_ = np.reshape(model.coef_, -1) if single else sizes
        self.penalty_ = float(model.alpha_) / data.n_rows
        unit = "target per standard deviation"
        self.importances_ = without_forest(data, sizes, "absolute_coefficient", unit)
        return self

    def summary(self) -> SelectionSummary:
        """Return the summary of the run for a report."""
        return replace(
            super().summary(),
            columns=(Column("coefficient", name="coefficient", numbers=self.coefficients_),),
            results={"penalty": self.penalty_},
        )
