"""Mean depths of the first splits on features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, counted, features, hidden
from duramen.results.fields import PROBABILITY, frozen, ranks
from duramen.results.result import FeatureResult
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class FirstSplits(FeatureResult[float]):
    """Depths of the first splits on the p features of a forest.

    Parameters
    ----------
    names : tuple of str
        Names of the features, in the order of the table's columns.
    depths : ndarray of float64, shape (p,)
        Mean minimal depth over the trees, 0 being the root; the smaller, the more important. In a
        tree that does not split on the feature it is the depth of the tree.
    used : ndarray of float64, shape (p,)
        Fraction of the trees that split on the feature.
    threshold : float
        Mean of the minimal depth if chance chose the features, in the trees as they are.
    null : ndarray of float64, shape (D + 1,)
        Its distribution: probability of depth d = 0 .. D - 1, mean over the trees, and that of a
        tree which does not split on the feature.
    n_trees : int
        Number of trees with a split; others are left out.
    standard_error : ndarray of float64, shape (p,), optional
        Standard error of `depths` over the trees.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.first_splits(forest)
    >>> [result.names[j] for j in result.order()[:2]]
    ['x0', 'x2']
    """

    names: tuple[str, ...]
    depths: FloatArray
    used: FloatArray
    threshold: float
    null: FloatArray
    n_trees: int
    standard_error: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _NUMBERS: ClassVar = {
        "depths": (0.0, np.inf),
        "used": PROBABILITY,
        "standard_error": (0.0, np.inf),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "null", frozen("FirstSplits", "null", self.null, (-1,)))

    def _taken(self, index: NDArray[np.integer]) -> dict[str, Any]:
        return {**super()._taken(index), "null": self.null}

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by increasing depth; ties keep column order."""
        return np.argsort(self.depths, kind="stable")

    def selected(self) -> tuple[str, ...]:
        """Return the names of the features whose depth is below the threshold, the best first."""
        return tuple(self.names[j] for j in self.order() if self.depths[j] < self.threshold)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is nearest to the root), ``depth``, ``standard_error`` (if
        known), ``used`` and ``selected``.
        """
        columns: dict[str, Any] = {
            "name": list(self.names),
            "rank": ranks(self.order()),
            "depth": self.depths.copy(),
        }
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error.copy()
        return {**columns, "used": self.used.copy(), "selected": self.depths < self.threshold}

    def _summary(self, rows: int) -> Summary:
        best = self.order()[:rows]
        count, trees = counted(len(self), "feature"), counted(self.n_trees, "tree")
        heading = (
            f"FirstSplits: minimal depth of {count} in {trees}, {self.threshold:.4g} by chance"
        )
        depths = self.depths[best]
        columns = [
            *features(self.names, best),
            Column("depth", fixed(depths, 4), bars=depths),
            Column("used", [f"{part:.0%}" for part in self.used[best].tolist()]),
        ]
        return Summary((heading,), columns, hidden(len(self), len(best)))
