"""Stochastic gradient boosting of numbers: importances of the features in trees that add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen import _kernel
from duramen.data import EncodedTable, LearningSet
from duramen.forests.settings import GrowthSettings
from duramen.forests.structure import ARRAY_NAMES
from duramen.support import checks
from duramen.support.arrays import FloatArray


@dataclass(frozen=True)
class GradientBoosting:
    r"""Stochastic gradient boosting with early stopping, the estimator of GRNBoost2.

    From the mean on, each tree is grown on residuals of some of the rows, drawn without
    replacement, and adds `learning_rate` times its prediction (Friedman 2002). Boosting stops where
    the mean squared error of the rows that a tree was grown without has not decreased, on average
    over the last trees. :func:`duramen.genie3` takes it as `estimator`, for targets that are
    numbers.

    Parameters
    ----------
    n_estimators : int, default=5000
        Number of trees, at most.
    learning_rate : float, default=0.01
        Factor of the prediction of each tree, above 0 and at most 1.
    subsample : float, default=0.9
        Fraction of the rows that each tree is grown on, above 0 and at most 1.
    max_depth : int, default=3
        Depth of the trees.
    max_features : int or float, default=0.1
        Features that are candidates at a node, or the fraction of all that they are.
    early_stopping_window : int or None, default=25
        Number of trees over which the decrease of the error is averaged; None for no early
        stopping.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described.

    Notes
    -----
    The score of a feature in the trees :math:`t = 1..M` of a target is

    .. math:: M \frac{\sum_t I_{tj}}{\sum_t \sum_k I_{tk}}

    with :math:`I_{tj}` the decrease of the variance of the residuals by the splits of tree t on
    feature j. Targets that can be predicted take more trees before they stop, so that their links
    have larger weights (Moerman et al. 2019).

    References
    ----------
    J. H. Friedman (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis
    38. T. Moerman et al. (2019). GRNBoost2 and Arboreto: efficient and scalable inference of gene
    regulatory networks. Bioinformatics 35.

    Examples
    --------
    >>> import duramen as dm
    >>> made = dm.datasets.gene_network(60, 5, n_links=3, random_state=1)
    >>> boosting = dm.networks.GradientBoosting(n_estimators=200, max_features=0.5)
    >>> network = dm.genie3(made.expression, names=made.names, estimator=boosting, random_state=0)
    >>> network.score(made.links).n_true
    3
    """

    n_estimators: int = 5000
    learning_rate: float = 0.01
    subsample: float = 0.9
    max_depth: int = 3
    max_features: int | float = 0.1
    early_stopping_window: int | None = 25

    def __post_init__(self) -> None:
        name = "GradientBoosting"
        checks.check_integer(name, "n_estimators", self.n_estimators, 1)
        checks.check_integer(name, "max_depth", self.max_depth, 1)
        if self.early_stopping_window is not None:
            checks.check_integer(name, "early_stopping_window", self.early_stopping_window, 1)
        k: object = self.max_features
        is_number = checks.is_integer(k) and self.max_features >= 1
        if not is_number and not (isinstance(k, float | np.floating) and 0.0 < k <= 1.0):
            raise checks.refuse(
                name, "max_features", "an int >= 1, or a fraction above 0 and at most 1", k
            )
        for parameter in ("learning_rate", "subsample"):
            value = checks.check_real(name, parameter, getattr(self, parameter), 0.0, 1.0)
            if value == 0.0:
                raise checks.refuse(name, parameter, "a number above 0 and at most 1", value)

    def importances(self, data: LearningSet[EncodedTable], seed: int) -> FloatArray:
        """Return the scores of the features of a learning set, shape (p,)."""
        (n, p), window = data.table.shape, self.early_stopping_window
        k = self.max_features if checks.is_integer(self.max_features) else self.max_features * p
        n_drawn = max(1, int(self.subsample * n))
        settings = GrowthSettings(
            criterion="variance",
            max_features=min(p, max(1, int(k))),
            max_depth=self.max_depth,
            row_samples=0 if n_drawn == n else n_drawn,
        )
        grow = settings.for_kernel()
        bags = _kernel.Bag(
            row_samples=settings.row_samples, bootstrap=False, seed=seed, first_tree=0
        )
        table, residual = data.table.kernel, data.target.less(data.target.origin)
        residual = residual - residual.mean()
        decreases, improvements = _kernel.Decreases(p, False, False), list[float]()
        for m in range(self.n_estimators):
            target = _kernel.Target(residual, 0, 0)
            tree = _kernel.TreeRange(seed=seed, first=m, count=1)
            grown = _kernel.grow(table, target, None, grow, tree, 1, None)
            forest = _kernel.Forest(**{name: getattr(grown, name) for name in ARRAY_NAMES})
            decreases.add(forest)
            after = residual - self.learning_rate * _kernel.predict(forest, table, 1)[:, 0]
            if window is not None and n_drawn < n:
                out = bags.draw(n, m) == 0
                improvements.append(float(np.mean(residual[out] ** 2 - after[out] ** 2)))
                if m + 1 >= window and sum(improvements[-window:]) < 0:
                    break
            residual = after
        values = decreases.means()[0]
        total = float(values.sum())
        return (m + 1) * values / total if total > 0 else values
