"""Cost-complexity pruning of the estimators for classification and regression."""

from __future__ import annotations

from typing import Any, Self, cast

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from duramen.forests import pruning
from duramen.forests.forest import Forest
from duramen.forests.pruning import PruningPath


class Prunable:
    """Mixin of the estimators whose nodes have an impurity."""

    forest_: Forest

    def cost_complexity_pruning_path(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> PruningPath:
        """Grow the trees without pruning, and compute the path along which they can be pruned.

        For an estimator of one tree it is the path that scikit-learn's trees have; that of a
        forest joins those of its trees, each of which is pruned by itself.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`. The estimator stays as it is.

        Returns
        -------
        PruningPath
            Values for `ccp_alpha`, the impurities and the numbers of leaves that they lead to (see
            :func:`duramen.forests.cost_complexity_pruning_path`).
        """
        grown: Any = clone(self).set_params(ccp_alpha=0.0, oob_score=False)
        return pruning.cost_complexity_pruning_path(grown.fit(X, y, sample_weight).forest_)

    def pruned(self, ccp_alpha: float) -> Self:
        """Return a fitted copy of the estimator with its trees pruned, as if grown so.

        Parameters
        ----------
        ccp_alpha : float
            Complexity parameter (see :func:`duramen.forests.pruned`). The copy lacks out-of-bag
            estimates, which only `fit` computes.

        Raises
        ------
        ValueError
            When `ccp_alpha` is no number from 0.
        """
        check_is_fitted(self, "forest_")
        copy: Any = clone(self)
        copy._adopt(pruning.pruned(self.forest_, ccp_alpha))
        for name in copy._saved:
            if hasattr(self, name) and not name.startswith("oob_"):
                setattr(copy, name, getattr(self, name))
        return cast(Self, copy.set_params(ccp_alpha=copy.forest_.settings.ccp_alpha))
