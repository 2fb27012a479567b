"""Markov boundaries of the rows of a table, selectors of a smallest sufficient set of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from duramen.selection.selector import BaseSelector, without_forest
from duramen.support import checks
from duramen.support.arrays import IntArray
from duramen.theory.dependence import markov_boundaries
from duramen.theory.dependence.relevant_features import TooManyBoundaries, smallest_boundary
from duramen.theory.distributions import FiniteDistribution

SELECTIONS = ("smallest", "union")


@dataclass(kw_only=True, eq=False, repr=False)
class MarkovBoundary(BaseSelector):
    r"""Markov boundary of a small categorical table, and FOCUS: the smallest sufficient set.

    The rows are taken as a distribution, a value of a column as a category. A Markov boundary is a
    set M of features with :math:`H(Y|M) = H(Y|V)`, V all features, of which no proper part is one:
    where no two rows agree in all features but not in their class, a set that determines the class.
    FOCUS (Almuallim and Dietterich) finds a smallest one.

    Parameters
    ----------
    select : {"smallest", "union"}, default="smallest"
        Features of a smallest boundary, or of any.

        The first of the smallest boundaries, in the order of the columns, or one of them where
        there are too many boundaries to list.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, in the order of the columns.
    boundaries_ : tuple of int64 arrays
        All Markov boundaries, smaller ones first; or the selected one alone, where there are too
        many to list.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mutual information of each of the p features with the target, in bits.
    history_ : dict of arrays
        ``"size"``: number of features of each boundary.
    classes_ : array of shape (C,)
        Sorted class labels.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    Nothing is tested: in few rows, irrelevant features determine the class by chance, and a column
    of distinct numbers does alone (the min-features bias). Cut numbers into few intervals before
    (`duramen.theory.discretize`), and give many more rows than there are combinations of values.

    Of identical features one is selected; ``select="union"`` keeps all of them.

    References
    ----------
    H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the presence of many
    irrelevant features. Artificial Intelligence 69. Boundaries: `duramen.theory.markov_boundaries`.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.digits7()
    >>> dm.MarkovBoundary().fit(data.X, data.y).selected_.tolist()
    [0, 1, 2, 3, 4]
    """

    select: Literal["smallest", "union"] = "smallest"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find all Markov boundaries of the rows.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described; there are too many boundaries to list and
            all are asked for; or no small one is found.
        """
        checks.check_choice(type(self).__name__, "select", self.select, SELECTIONS)
        rows = self._learning_set(X, y, "classification")
        data = rows.in_memory()
        dist = FiniteDistribution.from_table(data)
        place = {name: j for j, name in enumerate(dist.names)}
        listed = True
        try:
            boundaries = markov_boundaries(dist)
        except TooManyBoundaries:
            if self.select == "union":
                raise
            boundaries = [smallest_boundary(dist)]
            listed = False
        indices = [
            np.array([place[name] for name in features], dtype=np.int64) for features in boundaries
        ]
        chosen: IntArray = indices[0]
        if self.select == "union":
            chosen = np.unique(np.concatenate(indices))
        self._adopt(rows, chosen, {"size": np.array([len(features) for features in indices])})
        self.boundaries_, self._listed = tuple(indices), listed
        informations = np.array([dist.mutual_information(name) for name in dist.names])
        self.importances_ = without_forest(data, informations, "mutual_information", "bits")
        return self

    def _figures(self) -> dict[str, Any]:
        count = len(self.boundaries_) if self._listed else None
        words = "too many to list" if count is None else f"{count:,}"
        return {
            "facts": (("Markov boundaries", words),),
            "nothing": "No feature is needed: the target does not depend on them in these rows",
            "results": {"boundaries": count},
        }
