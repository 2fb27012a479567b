"""Groups of features that a file names: reading them, and giving features what a group has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from duramen.cli.source import check_columns

if TYPE_CHECKING:
    from duramen.results.error_rates import ErrorRates


@dataclass(frozen=True)
class Groups:
    """Groups of features."""

    file: str  # its name, without its folder
    of_feature: Mapping[str, str]  # the group of each feature that is in one

    def check(self, features: Sequence[str], target: str) -> None:
        """Check that they are groups of these features.

        Raises
        ------
        ValueError
            If they name a feature that is not there, or a group is called as a feature in none.
        """
        from duramen.results.text import quoted  # a slow import

        check_columns("--groups:", list(self.of_feature), features, target)
        alone = set(features) - set(self.of_feature)
        for name in self.of_feature.values():
            if name in alone:
                raise ValueError(
                    f"--groups {self.file}: {quoted(name)} is the name of a group and of a column "
                    "that is in no group; give the column a group, or the group another name"
                )

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


def read_groups(path: Path) -> Groups:
    """Read the groups of features from a file of two columns: features, and the group of each."""
    from duramen.results.text import quoted  # a slow import
    from duramen.tables import read_table

    table = read_table(path, function="--groups")
    if table.num_columns != 2:
        raise ValueError(
            f"--groups {path} must have two columns, the features and the group of each; it has "
            f"{table.num_columns}"
        )
    features, names = (_words(column.to_pylist()) for column in table.columns)
    of_feature: dict[str, str] = {}
    for row, (feature, name) in enumerate(zip(features, names, strict=True), start=1):
        if feature is None:
            raise ValueError(f"--groups {path}: row {row} names no feature")
        if name is None:
            continue
        if feature in of_feature:
            raise ValueError(
                f"--groups {path}: {quoted(feature)} occurs twice; groups must not overlap"
            )
        of_feature[feature] = name
    if not of_feature:
        raise ValueError(f"--groups {path} assigns no feature to a group")
    return Groups(path.name, of_feature)


def _words(values: Sequence[object]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]
