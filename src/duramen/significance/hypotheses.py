"""Hypotheses about features and groups of them, and their false discovery rates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from duramen.importances.arguments import refuse_overlaps
from duramen.importances.groups import Aggregation, Grouping, grouping_of
from duramen.results.adjustment import false_discovery
from duramen.support.arrays import FloatArray, IntArray

YEKUTIELI = 2.0 * 1.44
"""Bound of the false discovery rate of a tree of hypotheses, as a multiple of that of a family."""

HIERARCHICAL = "hierarchical"


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """Hypotheses that are tested together.

    Attributes
    ----------
    names : tuple of H str
    features : tuple of H int64 arrays
        Features of each.
    parents : int64 array of shape (H,) or None
        Hypothesis about the group that each feature is in, -1 of groups and of features in none;
        None without a hierarchy.
    """

    names: tuple[str, ...]
    features: tuple[IntArray, ...]
    parents: IntArray | None = None

    @classmethod
    def of(
        cls, names: tuple[str, ...], feature_groups: Any, members: bool, function: str
    ) -> Hypotheses:
        """Return the hypotheses about features, or groups, or groups and their members.

        Parameters
        ----------
        names : tuple of str
            All features.
        feature_groups : mapping, labels, path, ..., optional
            As for :func:`duramen.io.feature_groups`.
        members : bool
            Whether the members of the groups, and features in none, are tested too.
        function : str
            Name for errors.
        """
        single = tuple(np.array([j]) for j in range(len(names)))
        if feature_groups is None:
            if members:
                raise ValueError(
                    f"{function}: members must be False without feature_groups, whose members are "
                    "tested."
                )
            return cls(names, single)
        groups = grouping_of(feature_groups, None, names, "sum", "drop", function).groups
        if not members:
            return cls(tuple(groups), tuple(groups.values()))
        groups = {
            name: features
            for name, features in groups.items()
            if len(features) > 1 or names[int(features[0])] != name
        }
        refuse_overlaps(groups, names, function, "where members are tested")
        parents = np.full(len(groups) + len(names), -1)
        for g, (name, features) in enumerate(groups.items()):
            if name in names:
                raise ValueError(
                    f"{function}: feature_groups must not have the name of a feature that is "
                    f"tested too, got {name!r}. Hint: name the group otherwise."
                )
            parents[len(groups) + features] = g
        return cls((*groups, *names), (*groups.values(), *single), parents)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of features of each hypothesis, shape (H,)."""
        return np.array([len(features) for features in self.features], dtype=np.int64)

    @property
    def top(self) -> IntArray:
        """Hypotheses of a hierarchy about groups, and about features in none."""
        return np.arange(len(self)) if self.parents is None else np.flatnonzero(self.parents < 0)

    def pooled(self, values: FloatArray, how: Aggregation = "sum") -> FloatArray:
        """Pool numbers of features, shape (..., p), into numbers of hypotheses."""
        features = np.concatenate(self.features)
        if (self.sizes == 1).all():
            return np.asarray(values[..., features])
        return Grouping(self.names, features, self.sizes).combined(values, how)

    @property
    def single(self) -> IntArray:
        """Hypotheses about single features, shape (S,); in a hierarchy they follow the groups.

        Empty where groups alone are tested, one of them of several features.
        """
        if self.parents is not None:
            return np.arange(int(self.parents.max(initial=-1)) + 1, len(self))
        several = any(len(features) > 1 for features in self.features)
        return np.empty(0, dtype=np.int64) if several else np.arange(len(self))

    def q_values(self, p_values: FloatArray) -> FloatArray | None:
        r"""Return the q-values of a hierarchy, shape (H,); None without one.

        Groups and features in none are tested at a level q by the procedure of Benjamini and
        Hochberg, then the members of each group that is significant, family by family. Of all
        that is significant, a fraction of at most :math:`2 \cdot 1.44\, q` is expected to be false,
        if the p-values are independent (Yekutieli 2008).
        """
        if self.parents is None:
            return None
        q_values = np.empty(len(self))
        top = np.flatnonzero(self.parents < 0)
        q_values[top] = false_discovery(p_values[top], "bh", len(top))
        for g in np.unique(self.parents[self.parents >= 0]):
            family = np.flatnonzero(self.parents == g)
            within = false_discovery(p_values[family], "bh", len(family))
            q_values[family] = np.maximum(within, q_values[g])
        return np.minimum(YEKUTIELI * q_values, 1.0)
