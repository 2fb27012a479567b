"""Groups of features, and giving features what a group has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.wording import Wording

if TYPE_CHECKING:
    from duramen.analyses.ranking.measuring import Found
    from duramen.importances import Inputs
    from duramen.reports.groups import GroupImportances
    from duramen.reports.signals import Signals
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
            metadata={**rates.metadata, "groups": self.file, "n_groups": len(rates)},
        )


def clusters_of(signals: Signals) -> Groups:
    """Return the clusters of several features as groups, called as their representatives."""
    found = {} if signals.clusters is None else signals.clusters.members()
    several = [(name, members) for name, members in found.items() if len(members) > 1]
    return Groups("clusters", {one: name for name, members in several for one in members})


def check_rows_out_of_bag(estimator: Any, forest: str, wording: Wording) -> None:
    """Check that trees leave rows out, on which groups are measured.

    Raises
    ------
    ValueError
        If every tree sees all rows.
    """
    from duramen.importances.refit import leaves_rows_out

    if not leaves_rows_out(estimator):
        raise ValueError(
            f"{wording.groups}: every tree of {wording.forest.format(forest)} sees all rows, and "
            "groups are measured on rows that a tree was grown without. Hint: add "
            f"{wording.bootstrap}, or leave out {wording.groups}"
        )


def importances_of(groups: Groups, given: Inputs, found: Found) -> GroupImportances:
    """Return the MDA of groups of features, each permuted as a whole."""
    from duramen.importances import mda
    from duramen.reports.groups import GroupImportances
    from duramen.reports.measures import as_importances

    members = groups.whole(given.data.names)
    measured = mda(
        given.estimator, given.data, groups=members, n_jobs=given.n_jobs, verbose=given.verbose
    )
    known = dict(zip(found.names, found.measures, strict=True))
    alone = as_importances(known["mda"]) if "mda" in known else None
    return GroupImportances(measured, members, alone, groups.file)
