"""ReliefF and MultiSURF as selectors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from joblib import parallel_config

from duramen.results.summary import Column
from duramen.selection.selector import BaseSelector, numbers_of, without_forest
from duramen.support import checks
from duramen.support.threads import end_with

VARIANTS = {"relieff": "ReliefF", "multisurf": "MultiSURF"}


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefF(BaseSelector):
    r"""ReliefF, or MultiSURF: features whose values differ between near rows of other classes.

    The weight of a feature is its mean difference between each row and its nearest neighbors of
    other classes, less that of its own class; computed by the package skrebate (extra
    ``baselines``).

    Parameters
    ----------
    n_features : int, default=10
        Number of features to select.

        All if there are fewer.
    variant : {"relieff", "multisurf"}, default="relieff"
        Neighbors: a number of each class (relieff), or those within a distance of their own
        (multisurf).
    n_neighbors : int, default=10
        Number of neighbors of each class.

        At most the rows of the smallest class less 1.
    n_jobs : int, optional
        Processes of joblib; the result does not depend on it.

    Attributes
    ----------
    selected_ : int64 array
        Features with the largest weights, the largest first.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Weights of all p features.
    history_ : dict of arrays
        Empty.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    All identical features have the same weight, and irrelevant ones have weights around 0. The
    distances of all pairs of rows are computed: n (n - 1) / 2 times p differences.

    References
    ----------
    I. Kononenko (1994), ECML; R. J. Urbanowicz et al. (2018). Benchmarking relief-based feature
    selection methods for bioinformatics data mining. Journal of Biomedical Informatics 85.
    """

    n_features: int = 10
    variant: Literal["relieff", "multisurf"] = "relieff"
    n_neighbors: int = 10
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the weights, and select the largest.

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
            If a parameter, X or y is not as described.
        ImportError
            If skrebate is not installed.
        """
        owner = type(self).__name__
        most = checks.check_integer(owner, "n_features", self.n_features, 1)
        variant = checks.check_choice(owner, "variant", self.variant, VARIANTS)
        n_neighbors = checks.check_integer(owner, "n_neighbors", self.n_neighbors, 1)
        n_threads = checks.check_jobs(owner, self.n_jobs)
        rows = self._learning_set(X, y, n_threads=n_threads)
        data = rows.in_memory()
        try:
            import skrebate
        except ImportError as error:
            raise ImportError(
                f"{owner} needs the package skrebate. Hint: pip install 'duramen[baselines]'."
            ) from error
        kind = getattr(skrebate, VARIANTS[variant])
        settings: dict[str, Any] = {"n_jobs": n_threads}
        if variant == "relieff":
            smallest = data.n_rows
            if data.target.codes is not None:
                smallest = int(np.bincount(data.target.codes).min())
            settings["n_neighbors"] = min(n_neighbors, max(smallest - 1, 1))
        with parallel_config("loky", initializer=end_with, initargs=(os.getpid(),)):
            fitted = kind(**settings).fit(numbers_of(data.table), data.target.values)
        weights = np.asarray(fitted.feature_importances_, dtype=np.float64)
        self._adopt(rows, np.argsort(-weights, kind="stable")[:most], {})
        self.importances_ = without_forest(data, weights, variant, "difference")
        return self

    def _figures(self) -> dict[str, Any]:
        weights = self.importances_.values
        return {"columns": (Column("weight", name="weight", numbers=weights),)}
