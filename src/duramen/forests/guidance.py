"""Guidance of growth by what is known of the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.forests.settings import GrowthSettings


@dataclass(frozen=True, eq=False)
class Guidance:
    r"""Weights of the columns in the draw of candidates, and penalties of columns not used so far.

    Attributes
    ----------
    weights : float64 array of shape (p,)
        The K candidates of a node are drawn without replacement with probability proportional to
        these; columns of weight 0 never are.
    factors : float64 array of shape (p,) or None
        :math:`\lambda_j`: a column that split no node of this tree or an earlier one competes with
        :math:`\lambda_j` times its decrease of impurity. Columns that did are candidates at every
        node. Trees grow one after the other.
    of_score : bool
        Whether the factor is one of the score :math:`\sum_c \sum_k n_{ck}^2 / n_c` of the children,
        of which the decrease of the Gini index is only the part beyond that of the node.
    """

    weights: NDArray[np.float64]
    factors: NDArray[np.float64] | None = None
    of_score: bool = False

    def refuse(self, settings: GrowthSettings, owner: str) -> None:
        """Raise ValueError if trees of these settings cannot be guided.

        Raises
        ------
        ValueError
            If they are multiway trees or PERT, take one of the best few splits, test them by
            permutation, draw columns for a tree, or, with factors, limit the number of leaves; or
            if fewer columns than candidates have a weight.
        """
        reason = ""
        if settings.splits == "multiway" or settings.cut == "pert":
            reason = "multiway trees and PERT draw candidates in other ways"
        elif settings.n_best_splits > 1 or settings.stop_permutations:
            reason = "guidance is for trees that take the best split, and test it by chi-square"
        elif settings.column_samples:
            reason = "each tree is grown on some of the features"
        elif self.factors is not None and settings.max_leaf_nodes is not None:
            reason = "max_leaf_nodes grows nodes in another order"
        elif self.of_score and settings.criterion != "gini":
            reason = "the proxy is that of the Gini index"
        if reason:
            raise ValueError(f"{owner}: these trees cannot be guided: {reason}.")
        known = int(np.count_nonzero(self.weights))
        if known < settings.max_features:
            raise ValueError(
                f"{owner}: max_features={settings.max_features} candidates are drawn at a node, "
                f"but only {known} features have a weight above 0. Hint: use a smaller "
                "max_features, or weights above 0 for more features."
            )

    def for_kernel(self) -> _kernel.Guidance:
        """Return the guidance as the kernel reads it."""
        return _kernel.Guidance(self.weights, self.factors, self.of_score)
