"""Groups of features: clusters of correlated ones, groups that a user names; genome positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.importances import Clusters, clusters, representatives
from duramen.importances.measure import Measured
from duramen.io.groups import CLUSTERS, DISTANCE, UNPLACED, Positions, members_of
from duramen.plots.importances import MANHATTAN
from duramen.reports.report import Section, Table, as_importances, shown_columns, unit_words
from duramen.results.importances import Importances
from duramen.results.significance import (
    DIRECT,
    AdjustedSignificance,
    ConditionalSignificance,
    ErrorRates,
)
from duramen.results.summary import Column, counted
from duramen.support import checks
from duramen.support.arrow import pa, pc
from duramen.support.text import fixed, joined, quoted

_ROWS, _MEMBERS, _SAID = 50, 6, 5
_BEFORE = "before_ranking"  # of clusters: the forest was grown on the representatives alone

Members = Mapping[str, Sequence[str]]
"""Features of each group of several."""


def check_arguments(
    clusters: float | None, distance: int, representatives: float | None, feature_groups: Any
) -> None:
    """Check the arguments of `duramen.rank` that group features.

    Raises
    ------
    ValueError
        If one way to group features excludes another, or a correlation is none.
    """
    for name, value in (("clusters", clusters), ("representatives", representatives)):
        if value is not None:
            checks.check_real("rank", name, value, 0, 1, ends="(]")
    checks.check_integer("rank", "distance", distance, 0)
    if representatives is not None and (clusters is not None or feature_groups is not None):
        other = "clusters=R" if clusters is not None else "feature_groups=FILE"
        raise ValueError(
            f"rank: {other} and representatives=R both group features; give one of them"
        )
    if distance != DISTANCE and clusters is None and feature_groups is None:
        raise ValueError("rank: distance has no effect without clusters=R or feature_groups=FILE")
    if isinstance(feature_groups, str) and feature_groups == CLUSTERS and clusters is None:
        raise ValueError(
            f"rank: feature_groups={CLUSTERS!r} needs clusters=R, such as clusters=0.8. Hint: for "
            f"a file of that name, feature_groups='./{CLUSTERS}'"
        )


# --- groups that a user names -----------------------------------------------------------------


def groups_of(feature_groups: Any, features: Sequence[str], distance: int) -> Members:
    """Return the features of each group; blocks of variants have a largest width.

    Raises
    ------
    ValueError, TypeError
        If they are no groups of these features, overlap, or one is called as a feature in none.
    """
    owner = "rank: feature_groups"
    if isinstance(feature_groups, str | PathLike):
        owner = f"{owner}={str(feature_groups)!r}"
    places = members_of(feature_groups, features, owner, distance=distance)
    members = {name: [features[j] for j in dict.fromkeys(group)] for name, group in places.items()}
    alone = set(features).difference(checks.group_of_each(members, owner))
    for name, group in members.items():
        if group and name in alone:
            raise ValueError(
                f"{owner}: {quoted(name)} is the name of a group and of a column that is in no "
                "group; give the column a group, or the group another name"
            )
    return {name: group for name, group in members.items() if group}


def whole(groups: Members, features: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the features of each group, and after them each feature in none by itself."""
    grouped = {name for group in groups.values() for name in group}
    return {**groups, **{name: [name] for name in features if name not in grouped}}


def spread(rates: ErrorRates, groups: Members, source: str) -> ErrorRates:
    """Return the error rates of features; each feature gets the rates of its group."""
    of_group = [groups.get(name, [name]) for name in rates.names]
    index = [place for place, names in enumerate(of_group) for _ in names]
    return replace(
        rates,
        names=tuple(feature for names in of_group for feature in names),
        scores=rates.scores[index],
        rates=rates.rates[index],
        n_known=sum(map(len, of_group[: rates.n_known])),
        details={what: column[index] for what, column in rates.details.items()},
        metadata={**rates.metadata, "feature_groups": source, "n_groups": len(rates)},
    )


def table_of(
    importances: Importances,
    members: Members,
    source: str,
    single: Measured | None,
    tested: AdjustedSignificance | None,
    direct: ConditionalSignificance | None,
) -> tuple[Table, dict[str, Any]]:
    """Return the table of groups for a page and its columns for a file, by importance.

    Parameters
    ----------
    importances : Importances
        MDA of the groups, each permuted as a whole.
    members : mapping of str to sequence of str
        Features of each group.
    source : str
        Name of the file of groups.
    single : Importances, optional
        MDA of single features.
    tested, direct : Significance, optional
        Tests of the groups of several features; groups of one feature are in its table.
    """
    best = importances.top(len(importances))
    lists = [list(members[name]) for name in best.names]
    columns = [
        Column("group", best.names, "name", name="name"),
        Column("features", name="n_features", numbers=np.array(list(map(len, lists)))),
        Column(f"MDA, {unit_words(best.unit)}", digits=4, name="importance", numbers=best.values),
        Column(name="rank", numbers=np.arange(1, len(best) + 1)),
        *(column for column in best.table() if not column.title),
    ]
    if best.standard_error is not None:
        errors = best.standard_error
        title = "std. error"
        columns.append(Column(title, digits=2, minor=1, name="standard_error", numbers=errors))
    replaceable = ""
    if single is not None:
        alone = dict(as_importances(single))
        sums = np.array([sum(alone[name] for name in names) for names in lists])
        title = "sum of single features"
        columns.append(Column(title, digits=4, minor=1, name="sum_of_features", numbers=sums))
        replaceable = (
            " If it exceeds the sum over its features permuted alone, these can replace each other."
        )
    tests = list[tuple[str, Any, list[tuple[str, str, Any, int]]]]()
    if tested is not None:
        tests.append(("verdict", tested, [("p adjusted", "p_adjusted", tested.p_adjusted, 0)]))
    if direct is not None:
        p = "p, given the others", "conditional_p_value", direct.p_values, 1
        q = "q, given the others", "conditional_q_value", direct.q_values, 0
        tests.append((DIRECT, direct, [p, q]))
    for word, test, numbers in tests:
        place = {group: i for i, group in enumerate(test.names)}
        rows, verdicts = [place.get(group) for group in best.names], test.verdicts()
        cells = ["" if i is None else verdicts[i] for i in rows]
        columns.append(Column(word, cells, "words", name=word))
        for title, name, values, minor in numbers:
            present_numbers = np.ma.masked_invalid(
                [np.nan if i is None else values[i] for i in rows]
            )
            columns.append(Column(title, digits=0, minor=minor, name=name, numbers=present_numbers))
    shown = [joined(names, shown=_MEMBERS) for names in lists]
    columns.append(Column("members", shown, "words", minor=1))
    columns.append(Column(cells=[";".join(names) for names in lists], name="features"))
    count, first = len(best), best.take(np.arange(min(_SAID, len(best))))
    pairs = zip(first.names, fixed(first.values, 3), strict=True)
    words = ", ".join(f"{name} {cell}" for name, cell in pairs)
    table = Table(
        "Groups of features",
        shown_columns(columns, _ROWS),
        f"{f'The first {_ROWS:,} of' if count > _ROWS else 'All'} {count:,} groups ({source}; a "
        "feature in no group is its own group), all in result-groups.csv. The MDA of a group is "
        "the loss of accuracy on out-of-bag rows when all of its features are permuted together."
        f"{replaceable}",
        brief=(f"Groups by the MDA of permuting their features together ({source}): {words}",),
    )
    return table, {column.name: column.values for column in columns if column.name}


# --- clusters and positions -------------------------------------------------------------------


def of_several(members: Members, prefix: str = "") -> Members:
    """Return the clusters of several features as groups, called as the clusters after a prefix."""
    return {prefix + name: group for name, group in members.items() if len(group) > 1}


def clusters_of(
    data: LearningSet[Any], scores: Importances, threshold: float, distance: int
) -> Clusters:
    """Return clusters of ranked features, each around the most important one."""
    variants = data.provenance.variants
    positions = None if variants is None else positions_of(variants, scores.names)
    return clusters(scores, data.table, threshold=threshold, positions=positions, distance=distance)


def represented(
    data: LearningSet[EncodedTable], threshold: float
) -> tuple[LearningSet[EncodedTable], Clusters]:
    """Return the data with the representatives of clusters for features, and the clusters."""
    clustered = representatives(data.table, threshold=threshold)
    settings = {"threshold": threshold, "correlation": "spearman", _BEFORE: True}
    return data.with_table(clustered.transform(data.table)), replace(clustered, metadata=settings)


def positions_of(variants: Any, names: Sequence[str]) -> Positions:
    """Return the places of features; a feature may have no place."""
    rows = _rows(variants, names)
    columns = {
        "chromosome": rows["chromosome"].fill_null(UNPLACED),
        "position": rows["position"].fill_null(0),
    }
    return Positions.of(columns, names, "reports")


def _rows(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of a table of features for some names; null where a name is not in it."""
    place = {name: row for row, name in enumerate(table["name"].to_pylist())}
    index = pa.array([place.get(name) for name in names], pa.int64())
    taken = table.drop_columns(["name"]).take(index)
    return {name: taken[name] for name in taken.column_names}


def with_clusters(
    columns: Mapping[str, Any], variants: Any, clustered: Clusters | None
) -> dict[str, Any]:
    """Return the columns of a table of features with genomic positions and clusters.

    Of a forest that was grown on representatives, each member gets the row of its representative,
    the representative first.
    """
    if variants is None and clustered is None:
        return dict(columns)
    table = pa.table(dict(columns))
    if clustered is not None and _BEFORE in clustered.metadata:
        members = clustered.members()
        of_row = [members[name] for name in table["name"].to_pylist()]
        index = [row for row, names in enumerate(of_row) for _ in names]
        names = [name for names in of_row for name in names]
        table = table.take(index).set_column(0, "name", pa.array(names, pa.string()))
    names, added = table["name"].to_pylist(), dict[str, Any]()
    if variants is not None:
        added |= _rows(variants, names)
    if clustered is not None:
        of_cluster = pa.table(clustered.columns())
        alone = of_cluster["representative"].is_null()
        for place, name in ((1, "cluster"), (3, "correlation")):
            column = pc.if_else(alone, None, of_cluster[name])
            of_cluster = of_cluster.set_column(place, name, column)
        added |= _rows(of_cluster, names)
    first, *others = table.column_names
    return {first: table[first], **added, **{name: table[name] for name in others}}


def sections_of(
    importances: Importances,
    variants: Any,
    clustered: Clusters | None,
    shown: tuple[Any, str, float | None, str] | None = None,
) -> list[Section | Table]:
    """Return the sections on places and clusters of features.

    `shown` has the numbers of a Manhattan plot, their name, the line across it, and its meaning;
    importances without a line by default.
    """
    sections: list[Section | Table] = []
    if variants is not None and len(importances):
        result, what, threshold, line = shown or (importances, "importance", None, "")
        options = {"positions": positions_of(variants, result.names), "threshold": threshold}
        chart = Section(
            "Manhattan plot",
            caption=f"The {what} of {len(result):,} features by chromosome and position.{line}",
            figure=(MANHATTAN, result, options),
            text=f"Scatter plot of the {what} of {len(result):,} features along the genome; "
            "result.csv has the positions.",
        )
        sections.append(chart)
    if clustered is None:
        return sections
    # --- clusters of several members, in the order of importance ---
    place = {name: j for j, name in enumerate(clustered.names)}
    members, metadata = clustered.members(), clustered.metadata
    several = [(name, group) for name, group in members.items() if len(group) > 1]
    distance, kind = metadata.get("distance"), str(metadata["correlation"]).capitalize()
    title = "Clusters of correlated features" if distance is None else "Clusters of linked variants"
    count = (
        f"{len(place):,} features form {len(members):,} clusters, {len(several):,} of them with "
        "several members."
    )
    if _BEFORE in metadata:
        rule = (
            f"Features were clustered by their {kind} correlation (|r| of "
            f"{metadata['threshold']:g} on average), without the target, and the forest used one "
            "representative of each. Its results stand for all members: the data cannot "
            "distinguish them."
        )
    else:
        within = "" if distance is None else f" and lies within {distance / 1000:g} kb of it"
        rule = (
            f"The most important feature represents its cluster; a member has a {kind} correlation "
            f"of |r| >= {metadata['threshold']:g} with it{within}. The associations of the members "
            "of a cluster with the target may be a single signal."
        )
    if not several:
        lines = (f"No cluster has several members. {rule}",)
        return [*sections, Section(title, lines, brief=(count,))]
    rows = several[:_ROWS]
    columns = [
        Column("representative", [name for name, _ in rows], "name"),
        Column("members", [f"{len(group):,}" for _, group in rows]),
    ]
    if variants is not None:
        where, regions = positions_of(variants, clustered.names), []
        for _, group in rows:
            index = [place[name] for name in group]
            chromosome = where.chromosomes[int(where.chromosome[index[0]])]
            first, last = int(where.position[index].min()), int(where.position[index].max())
            regions.append(f"{chromosome}:{first:,}" + (f"-{last:,}" if last > first else ""))
        columns.append(Column("region", regions, "words"))
    cells = [
        joined(
            [f"{name} ({clustered.correlations[place[name]]:.2f})" for name in group[1:]],
            shown=_MEMBERS,
        )
        for _, group in rows
    ]
    columns.append(Column("other members (r)", cells, "words"))
    note = (
        f"The first {len(rows):,} of {counted(len(several), 'cluster')} with several members, in "
        f"the order of importance. {rule} result.csv holds all."
    )
    return [*sections, Table(title, tuple(columns), note, brief=(count,))]
