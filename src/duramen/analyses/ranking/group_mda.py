"""MDA of groups of features that are permuted together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duramen.analyses.ranking.groups import Groups
from duramen.analyses.wording import Wording

if TYPE_CHECKING:
    from duramen.analyses.ranking.measuring import Found
    from duramen.importances import Inputs
    from duramen.reports.groups import GroupImportances
    from duramen.reports.signals import Signals


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
            f"{wording.feature_groups}: every tree of {wording.forest.format(forest)} sees all "
            "rows, and groups are measured on rows that a tree was grown without. Hint: add "
            f"{wording.bootstrap}, or leave out {wording.feature_groups}"
        )


def importances_of(feature_groups: Groups, given: Inputs, found: Found) -> GroupImportances:
    """Return the MDA of groups of features, each permuted as a whole."""
    from duramen.importances import mda
    from duramen.reports.groups import GroupImportances
    from duramen.reports.measures import as_importances

    members = feature_groups.whole(given.data.names)
    measured = mda(
        given.estimator,
        given.data,
        feature_groups=members,
        n_jobs=given.n_jobs,
        verbose=given.verbose,
    )
    known = dict(zip(found.names, found.measures, strict=True))
    alone = as_importances(known["mda"]) if "mda" in known else None
    return GroupImportances(measured, members, alone, feature_groups.file)
