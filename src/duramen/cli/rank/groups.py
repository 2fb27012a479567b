"""Groups of features that a file names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duramen.analyses.ranking.groups import Groups
from duramen.cli.source import check_columns


def check_groups(feature_groups: Groups, features: Sequence[str], target: str) -> None:
    """Check that they are groups of these features.

    Raises
    ------
    ValueError
        If they name a feature that is not there, or a group is called as a feature in none.
    """
    from duramen.support.text import quoted  # a slow import

    check_columns("--feature-groups:", list(feature_groups.of_feature), features, target)
    alone = set(features) - set(feature_groups.of_feature)
    for name in feature_groups.of_feature.values():
        if name in alone:
            raise ValueError(
                f"--feature-groups {feature_groups.file}: {quoted(name)} is the name of a group "
                "and of a column "
                "that is in no group; give the column a group, or the group another name"
            )


def read_groups(path: Path) -> Groups:
    """Read the groups of features from a file of two columns: features, and the group of each."""
    from duramen.io import read_table
    from duramen.support.text import quoted  # a slow import

    table = read_table(path, function="--feature-groups")
    if table.num_columns != 2:
        raise ValueError(
            f"--feature-groups {path} must have two columns, the features and the group of each; "
            f"it has {table.num_columns}"
        )
    features, names = (_words(column.to_pylist()) for column in table.columns)
    of_feature: dict[str, str] = {}
    for row, (feature, name) in enumerate(zip(features, names, strict=True), start=1):
        if feature is None:
            raise ValueError(f"--feature-groups {path}: row {row} names no feature")
        if name is None:
            continue
        if feature in of_feature:
            raise ValueError(
                f"--feature-groups {path}: {quoted(feature)} occurs twice; groups must not overlap"
            )
        of_feature[feature] = name
    if not of_feature:
        raise ValueError(f"--feature-groups {path} assigns no feature to a group")
    return Groups(path.name, of_feature)


def _words(values: Sequence[object]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]
