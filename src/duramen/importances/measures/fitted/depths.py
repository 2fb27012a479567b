"""Mean depths of the first splits on features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.fields import FloatArray, checked_names, frozen, frozen_between, ranks
from duramen.results.frames import native_frame
from duramen.results.metadata import frozen_metadata
from duramen.results.result import Result
from duramen.results.text import aligned, fixed

_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class FirstSplits(Result):
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

    def __post_init__(self) -> None:
        owner, settle = "FirstSplits", object.__setattr__
        names = checked_names(owner, "names", self.names)
        settle(self, "names", names)
        settle(self, "depths", frozen_between(owner, "depths", self.depths, names))
        settle(self, "used", frozen_between(owner, "used", self.used, names, high=1.0))
        ends = tuple(map(str, range(np.size(self.null))))
        settle(self, "null", frozen(owner, "null", self.null, ends))
        if self.standard_error is not None:
            error = frozen_between(owner, "standard_error", self.standard_error, names)
            settle(self, "standard_error", error)
        settle(self, "metadata", frozen_metadata(owner, self.metadata))

    def __len__(self) -> int:
        return len(self.names)

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

    def to_frame(self) -> Any:
        """Return a data frame of `columns` with one row a feature, in the order of the columns."""
        return native_frame(self.columns())

    def __repr__(self) -> str:
        best = self.order()[:_SHOWN]
        features = f"{len(self)} feature" + ("" if len(self) == 1 else "s")
        trees = f"{self.n_trees} tree" + ("" if self.n_trees == 1 else "s")
        lines = [
            f"FirstSplits: minimal depth of {features} in {trees}, {self.threshold:.4g} by chance"
        ]
        if len(self):
            header = ["", "feature", "depth", "used"]
            columns = [
                [str(i + 1) for i in range(len(best))],
                [self.names[j] for j in best],
                fixed(self.depths[best], 4),
                [f"{share:.0%}" for share in self.used[best].tolist()],
            ]
            lines += aligned(header, columns, right=[True, False, True, True])
        if len(self) > len(best):
            lines.append(f"... and {len(self) - len(best)} more")
        return "\n".join(lines)
