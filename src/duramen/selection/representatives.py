"""Representatives of clusters of correlated features, as a transformer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from duramen.data import encode
from duramen.data.learning_sets import table_of
from duramen.data.sources import table_like
from duramen.importances import Clusters, representatives
from duramen.results.importances import Importances
from duramen.selection.selector import BaseSelector
from duramen.support.checks import refuse


@dataclass(kw_only=True, eq=False, repr=False)
class ClusterRepresentatives(BaseSelector):
    """One feature of each cluster of correlated features, to go before a selector in a pipeline.

    The features are clustered by the size of their correlation, and the medoid of each cluster, its
    member that is most correlated with the others, is kept. The target plays no part.

    Parameters
    ----------
    threshold : float, optional
        Clusters are merged while the mean absolute correlation of their members is at least that;
        in (0, 1]. 0.8 where neither it nor `n_clusters` is given.
    n_clusters : int, optional
        Number of clusters, instead of `threshold`.
    correlation : {"spearman", "pearson"}, default="spearman"
        Of ranks, or of numbers.

    Attributes
    ----------
    selected_ : int64 array
        Medoids, in the order of the first members of their clusters.
    representatives_ : Clusters
        The clusters; `members` has the features that each medoid stands for.
    support_ : bool array of shape (p,)
        Whether each feature is a medoid.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    There is no order of the features, and no `ranking_` or `importances_`: those of the selector
    that comes after it are of the medoids, and `spread` gives them to all members.

    References
    ----------
    L. Toloşi, T. Lengauer (2011). Classification with correlated features: unreliability of
    feature ranking and solutions. Bioinformatics 27(14).

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 1]
    >>> dm.ClusterRepresentatives(threshold=0.9).fit(X).selected_.tolist()
    [0, 1]
    """

    threshold: float | None = None
    n_clusters: int | None = None
    correlation: str = "spearman"

    representatives_: Clusters = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the features.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : ignored
            There for pipelines.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is not as described.
        """
        table = encode(table_like(table_of(X)))
        threshold = self.threshold
        if threshold is None and self.n_clusters is None:
            threshold = 0.8
        clusters = representatives(
            table,
            threshold=threshold,
            n_clusters=self.n_clusters,
            correlation=self.correlation,  # type: ignore[arg-type]
        )
        sizes = np.bincount(clusters.labels, minlength=len(clusters))
        self._adopt(table, clusters.representatives.copy(), {"cluster_size": sizes})
        self.representatives_ = clusters
        return self

    def spread(self, importances: Importances) -> Importances:
        """Return the importances of all p features: each has that of its representative.

        `importances` are of the medoids, in the order of the columns of `transform`, such as those
        of the selector that comes next in a pipeline.

        Raises
        ------
        ValueError
            If their number is not that of the medoids.
        """
        check_is_fitted(self, "support_")
        clusters = self.representatives_
        if len(importances) != len(clusters):
            raise refuse(
                f"{type(self).__name__}.spread",
                "importances",
                f"importances of the {len(clusters)} representatives",
                f"{len(importances)} features",
            )
        place = np.argsort(np.argsort(self.selected_))
        names = tuple(clusters.names[m] for m in clusters.representatives)
        return clusters.spread(importances.take(place, names=names))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
