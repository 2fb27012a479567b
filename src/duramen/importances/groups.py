"""Importances of groups of features, from those of their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from duramen.importances.arguments import check_importances, refuse_overlaps
from duramen.io.groups import members_of
from duramen.results.fields import checked_names
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

How = Literal["sum", "mean", "max"]
_SHOWN = 5


def group(
    importances: Importances,
    feature_groups: Any,
    *,
    how: How = "sum",
    names: Sequence[str] | None = None,
    rest: Literal["drop", "own"] = "drop",
    spread: bool = False,
) -> Importances:
    r"""Compute the sum, mean or maximum of the importances of each group of features.

    .. math:: Imp(G) = \sum_{m \in G} Imp(X_m), \quad
              \frac{1}{|G|} \sum_{m \in G} Imp(X_m) \quad \text{or} \quad
              \max_{m \in G} Imp(X_m)

    such as the voxels of a brain region (Wehenkel et al. 2018; thesis, section 4.6).

    Parameters
    ----------
    importances : Importances
        Any measure of p features.
    feature_groups : mapping, labels, path, Clusters, transformer or positions
        Groups in any form of :func:`duramen.io.feature_groups`, such as the features of each group
        by its name, or a label for each feature. They may overlap.
    how : {"sum", "mean", "max"}
        What is made of the members. A sum favors large groups, a mean small ones.
    names : sequence of str, optional
        Names of the groups where labels are whole numbers: label g stands for ``names[g]``. By
        default a group is called as its label.
    rest : {"drop", "own"}
        Whether features that are in no group are left out, or are each a group of their own, after
        the others.
    spread : bool
        Whether to return the p features, each with the importance of its group, instead of the
        groups. Features that are left out are left out.

    Returns
    -------
    Importances
        Of the groups, in the order of the mapping or in that of their first feature; of the
        features where `spread` is set. `unit` is kept. `by_degree` and `by_class` are summed or
        averaged; the row of a maximum is that of the feature that has it (the first, if several
        do). `standard_error` is None: it would take the covariances between the features.

    Raises
    ------
    TypeError
        If `importances` is something else, or a feature neither name nor index.
    ValueError
        If a feature is unknown or twice in one group, a group is empty, there is none, labels are
        not one a feature, or groups overlap where `spread` is set.

    References
    ----------
    M. Wehenkel, A. Sutera, C. Bastin, P. Geurts, C. Phillips (2018). Random forests based group
    importance scores and their statistical interpretation: application for Alzheimer's disease.
    Frontiers in Neuroscience 12.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> mdi = dm.importances.mdi(forest)
    >>> groups = {"first": ["x0", "x1"], "rest": ["x2", "x3", "x4", "x5"]}
    >>> dm.importances.group(mdi, groups, how="mean").top(1).names
    ('first',)
    """
    check_importances("group", importances)
    grouping = grouping_of(feature_groups, names, importances.names, how, rest, "group")
    result = replace(
        _combined(importances, grouping, how),
        measure=f"group {how} of {importances.measure}",
        metadata={**importances.metadata, "group": grouping.choices(importances.measure, how)},
    )
    return _spread(result, grouping, importances.names) if spread else result


@dataclass(frozen=True)
class Grouping:
    """Members of the groups, group after group, how many each has, and how many have no group."""

    names: tuple[str, ...]
    members: IntArray
    sizes: IntArray
    left_out: int = 0

    @property
    def starts(self) -> IntArray:
        """Place of the first member of each group."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def of_member(self) -> IntArray:
        """Number of the group of each member."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @property
    def groups(self) -> dict[str, IntArray]:
        """Members of each group, by its name."""
        members = np.split(self.members, self.starts[1:])
        return dict(zip(self.names, members, strict=True))

    def combined(self, values: FloatArray, how: How) -> FloatArray:
        """Return the sum, mean or maximum over the members of each group, shape (..., G)."""
        of_members = values[..., self.members]
        if how == "max":
            return np.maximum.reduceat(of_members, self.starts, axis=-1)
        sums: FloatArray = np.add.reduceat(of_members, self.starts, axis=-1)
        return sums if how == "sum" else sums / self.sizes

    def choices(self, measure: str, how: How) -> dict[str, Any]:
        """Return the record of the groups for metadata."""
        sizes = dict(zip(self.names, self.sizes.tolist(), strict=True))
        return {"of": measure, "how": how, "sizes": sizes, "left_out": self.left_out}

    def with_single(self, features: IntArray, names: tuple[str, ...], owner: str) -> Grouping:
        """Return these groups and, after them, one of each of `features`."""
        more = [names[j] for j in features]
        return Grouping(
            checked_names(owner, "names of groups and of features in none", (*self.names, *more)),
            np.concatenate([self.members, features]),
            np.concatenate([self.sizes, np.ones(features.size, dtype=np.int64)]),
        )


def grouping_of(
    feature_groups: Any,
    names: Sequence[str] | None,
    features: tuple[str, ...],
    how: str,
    rest: str,
    function: str,
) -> Grouping:
    """Read groups of features; parameters as of `group`, `function` for errors."""
    checks.check_choice(function, "how", how, get_args(How))
    checks.check_choice(function, "rest", rest, ("drop", "own"))
    members = members_of(feature_groups, features, f"{function}: feature_groups", names)
    grouping = Grouping(
        tuple(members),
        np.concatenate(list(members.values())),
        np.array([len(of_group) for of_group in members.values()], dtype=np.int64),
    )
    left = np.setdiff1d(np.arange(len(features)), grouping.members)
    if rest == "own":
        return grouping.with_single(left, features, function)
    return replace(grouping, left_out=int(left.size))


def _combined(importances: Importances, grouping: Grouping, how: How) -> Importances:
    if how == "max":
        values = importances.values[grouping.members]
        ranked = np.lexsort((grouping.members, -values, grouping.of_member))
        best = grouping.members[ranked[grouping.starts]]
        return replace(importances.take(best, names=grouping.names), standard_error=None)

    def combined(numbers: FloatArray) -> FloatArray:
        return grouping.combined(numbers.T, how).T

    return replace(
        importances,
        names=grouping.names,
        values=combined(importances.values),
        by_degree=None if importances.by_degree is None else combined(importances.by_degree),
        standard_error=None,
        by_class=None if importances.by_class is None else combined(importances.by_class),
    )


def _spread(of_groups: Importances, grouping: Grouping, features: tuple[str, ...]) -> Importances:
    refuse_overlaps(grouping.groups, features, "group", "with spread=True")
    order = np.argsort(grouping.members, kind="stable")
    members = grouping.members[order]
    return of_groups.take(grouping.of_member[order], names=(features[j] for j in members))
