"""Regularized forests, selectors of a small set of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from duramen.estimators.base import combine_class_weight
from duramen.forests.forest import mean_decreases
from duramen.forests.growth import Guidance, grow
from duramen.forests.structure import trees_of_nodes
from duramen.jobs.progress import progress_bar
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.results.importances import Importances
from duramen.results.summary import Column, counted
from duramen.selection.refitting import ForestSelector
from duramen.support import checks
from duramen.support.arrays import FloatArray, TableLike

PENALTY = 0.8
PENALTIES = ("gain", "proxy")


@dataclass(kw_only=True, eq=False, repr=False)
class RegularizedForestSelector(ForestSelector):
    r"""Regularized random forest (RRF), and the guided one (GRRF): the features that it uses.

    The trees grow one after the other, and F is the set of features that some node was split on so
    far, in this tree or before it. At a node all of F and K further features are candidates, and
    the largest value decides:

    .. math:: \mathrm{gain}(j) \text{ for } j \in F, \qquad
       \lambda_j \, \mathrm{gain}(j) \text{ for others}, \qquad
       \lambda_j = (1 - g) \lambda_0 + g \, \frac{s_j}{\max_k s_k}

    with :math:`s_j` the importance of feature j in an ordinary random forest. F at the end is
    selected.

    Parameters
    ----------
    estimator : estimator of duramen, optional
        Parameters of the forest; it is cloned, not changed. Random forests by default.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 500 without one.
    penalty : float, optional
        Factor, in (0, 1], of the gain of features that are not in use; by default 0.8, and 1 with
        `guidance`.

        That is :math:`\lambda_0`.
    guidance : float, default=0
        Part g of the importance in the factor, in [0, 1]: 0 for RRF; the authors take 0.5 for GRRF.
    penalize : {"gain", "proxy"}, default="gain"
        Penalized quantity: the gain, or a quantity of which the gain is only a part (proxy), as the
        R package RRF does.

        "proxy" multiplies :math:`\sum_c \sum_k n_{ck}^2 / n_c` over children c and classes k: a far
        stronger penalty. For the Gini index alone.
    measure : str or callable, default="mdi"
        Importance measure of the forests, such as mdi or scaled_mda.

        The importance that guides: name of a testable measure, or ``measure(forest, X, y)``. By
        default that of the paper, which is larger for noise features of many values: "mdi_oob" is
        not.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads of the ordinary forest; the result does not depend on it.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        Features of F, in the order in which they entered it.
    entered_ : int64 array of shape (p,)
        Number of the tree, counted from 1, in which each feature entered F; 0 for the others.
    factors_ : float64 array of shape (p,)
        :math:`\lambda_j`.
    forest_ : Forest
        The regularized forest.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others: by :math:`\lambda_j`.
    importances_ : Importances
        Mean decreases of impurity in the regularized forest, of all p features.
    history_ : dict of arrays
        ``"n_selected"``: number of features of F after each tree.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    F grows with the number of trees, and on pure noise too: any gain of a feature in F that is
    smaller than the penalized one of another brings that in. In fully grown trees the small nodes
    bring in noise, and of a table of few features nearly all are selected; ``penalize="proxy"``,
    which is what the authors' package computes, keeps it out, and so does `min_samples_leaf` of
    the estimator. The guide has figures.

    At the first nodes F is empty, and the best of the K candidates enters it, whatever it gains;
    ``max_features=None`` of the estimator makes these all features.

    Of two identical features the one that comes first into F keeps the other out, whose gain is the
    same before it is penalized.

    References
    ----------
    H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN. H. Deng, G. Runger
    (2013). Gene selection with guided regularized random forest. Pattern Recognition 46(12).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 8, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(50, min_samples_leaf=20, max_features=None)
    >>> model = dm.RegularizedForestSelector(forest, guidance=1.0, random_state=0)
    >>> model.fit(data.X, data.y).selected_.tolist()
    [0, 1]
    """

    exchanges_groups = True

    penalty: float | None = None
    guidance: float = 0.0
    penalize: Literal["gain", "proxy"] = "gain"
    measure: str | Callable[..., Any] = "mdi"

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Grow a regularized forest.

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
            If a parameter, X or y is not as described, or the estimator's trees cannot be guided:
            multiway trees, PERT, trees on subspaces, or trees with a limit of leaves.
        """
        owner = type(self).__name__
        part = checks.check_real(owner, "guidance", self.guidance, 0.0, 1.0)
        penalty = (1.0 if part else PENALTY) if self.penalty is None else self.penalty
        penalty = checks.check_real(owner, "penalty", penalty, 0.0, 1.0, ends="(]")
        checks.check_choice(owner, "penalize", self.penalize, PENALTIES)
        opening = self._open(X, y, threads_grow=True)
        subject = opening.subject
        template, data = subject.template, subject.data
        rows = data.exchangeability
        n_groups = None if rows.groups is None else rows.n_units
        settings = template.growth_settings(data.n_rows, data.n_columns, data.table, n_groups)
        factors = np.full(data.n_columns, penalty)
        guidance = Guidance(np.ones(data.n_columns), factors, self.penalize == "proxy")
        guidance.refuse(settings, owner)
        if part:
            scores = np.maximum(subject.scores(replicate_seed(opening.seed, OBSERVED)), 0.0)
            most = scores.max()
            factors[:] = (1.0 - part) * penalty + part * (scores / most if most > 0 else 1.0)
        weights = combine_class_weight(owner, template.class_weight, data.target, None)
        n_trees = int(template.get_params()["n_estimators"])
        with progress_bar(n_trees, opening.function, opening.verbose) as report:
            forest = grow(
                replace(data, weights=weights),
                settings,
                n_trees=n_trees,
                seed=opening.seed,
                progress=report,
                guidance=guidance,
            )
        inner = np.flatnonzero(forest.feature >= 0)
        features, first = np.unique(forest.feature[inner], return_index=True)
        trees = trees_of_nodes(forest)[inner[first]]
        order = np.argsort(first, kind="stable")
        sizes = np.cumsum(np.bincount(trees, minlength=n_trees))
        self._adopt(opening.data, features[order].astype(np.int64), {"n_selected": sizes})
        self.entered_ = np.zeros(self.n_features_in_, dtype=np.int64)
        self.entered_[features] = trees + 1
        self.factors_, self.forest_ = factors, forest
        values, metadata = mean_decreases(forest).values, subject.identity(owner)
        unit = forest.settings.unit
        self.importances_ = Importances(subject.names, values, "mdi", unit, metadata=metadata)
        return self

    def _scores(self) -> FloatArray:
        return self.factors_

    def _figures(self) -> dict[str, Any]:
        return {
            "run": counted(self.forest_.n_trees, "tree"),
            "step": "tree",
            "columns": (
                Column("first used in tree", name="tree", numbers=self.entered_),
                Column("factor of the gain", name="factor", numbers=self.factors_),
            ),
        }
