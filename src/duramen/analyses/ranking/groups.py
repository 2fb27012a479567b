"""Groups of features whose importance is measured as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from duramen.io.groups import CLUSTERS, members_of
from duramen.results.significance import ErrorRates
from duramen.support import checks
from duramen.support.text import quoted


@dataclass(frozen=True)
class Groups:
    """Groups of features."""

    source: str  # name of a file, without its folder; "clusters"; or "feature_groups"
    of_feature: Mapping[str, str]  # the group of each feature that is in one

    @classmethod
    def of_clusters(cls, members: Mapping[str, Sequence[str]], prefix: str = "") -> Groups:
        """Return clusters of several features as groups, called as the clusters after a prefix."""
        several = [(prefix + name, own) for name, own in members.items() if len(own) > 1]
        return cls(CLUSTERS, {feature: name for name, own in several for feature in own})

    def members(self) -> dict[str, list[str]]:
        """Return the features of each group, groups in the order in which the source has them."""
        members: dict[str, list[str]] = {}
        for feature, name in self.of_feature.items():
            members.setdefault(name, []).append(feature)
        return members

    def whole(self, features: Sequence[str]) -> dict[str, list[str]]:
        """Return the features of each group, and after them each feature in none by itself."""
        alone = {name: [name] for name in features if name not in self.of_feature}
        return self.members() | alone

    def count(self, n_features: int) -> int:
        """Return how many groups there are of so many features, those of one included."""
        return n_features - len(self.of_feature) + len(set(self.of_feature.values()))

    def spread(self, rates: ErrorRates) -> ErrorRates:
        """Return error rates of groups as those of features, each with what its group has."""
        members = self.members()
        of_group = [members.get(name, [name]) for name in rates.names]
        index = [place for place, names in enumerate(of_group) for _ in names]
        return replace(
            rates,
            names=tuple(feature for names in of_group for feature in names),
            scores=rates.scores[index],
            rates=rates.rates[index],
            n_known=sum(map(len, of_group[: rates.n_known])),
            details={what: column[index] for what, column in rates.details.items()},
            metadata={**rates.metadata, "feature_groups": self.source, "n_groups": len(rates)},
        )


def groups_of(feature_groups: Any, features: Sequence[str], distance: int) -> Groups:
    """Return groups of features, by the group of each; blocks of variants have a largest width.

    Raises
    ------
    ValueError, TypeError
        If they are no groups of these features, overlap, or one is called as a feature in none.
    """
    owner = "rank: feature_groups"
    is_path = isinstance(feature_groups, str | PathLike)
    if is_path:
        owner = f"{owner}={str(feature_groups)!r}"
    members = members_of(feature_groups, features, owner, distance=distance)
    of_feature = checks.group_of_each(
        {name: [features[j] for j in group] for name, group in members.items()}, owner
    )
    alone = set(features) - set(of_feature)
    for name in of_feature.values():
        if name in alone:
            raise ValueError(
                f"{owner}: {quoted(name)} is the name of a group and of a column that is in no "
                "group; give the column a group, or the group another name"
            )
    return Groups(Path(feature_groups).name if is_path else "feature_groups", of_feature)
