"""Groups of features, and giving features what a group has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duramen.results.error_rates import ErrorRates


@dataclass(frozen=True)
class Groups:
    """Groups of features."""

    file: str  # where they come from: the name of a file, without its folder, or "clusters"
    of_feature: Mapping[str, str]  # the group of each feature that is in one

    def members(self) -> dict[str, list[str]]:
        """Return the features of each group, groups in the order in which the file has them."""
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
            metadata={**rates.metadata, "feature_groups": self.file, "n_groups": len(rates)},
        )
