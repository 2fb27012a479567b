"""Clusters of correlated features, and places of features on the genome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from duramen.analyses.ranking import significance
from duramen.data import EncodedTable, LearningSet
from duramen.importances import Clusters, clusters, representatives
from duramen.io.groups import UNPLACED, Positions
from duramen.plots.importances import MANHATTAN
from duramen.reports.facts import LEVEL
from duramen.reports.report import Chart, Plot, Prose, Report, Section, Table
from duramen.results.importances import Importances
from duramen.results.significance import AdjustedSignificance
from duramen.results.summary import Column, counted
from duramen.support.arrow import pa, pc
from duramen.support.text import joined

ReportT = TypeVar("ReportT", bound=Report)

DISTANCE = 250_000
"""Base pairs between a variant and the representative of its cluster, at most, by default."""
_ROWS, _MEMBERS = 50, 6
_BEFORE = "before_ranking"  # of clusters: the forest was grown on the representatives alone


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
    found = representatives(data.table, threshold=threshold)
    settings = {"threshold": threshold, "correlation": "spearman", _BEFORE: True}
    return data.with_table(found.transform(data.table)), replace(found, metadata=settings)


def positions_of(variants: Any, names: Sequence[str]) -> Positions:
    """Return the places of features, of which some may have none."""
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
    columns: Mapping[str, Any], variants: Any, found: Clusters | None
) -> dict[str, Any]:
    """Return the columns of a table of features with those of places and clusters.

    Of a forest that was grown on representatives, each member gets the row of its representative,
    the representative first.
    """
    if variants is None and found is None:
        return dict(columns)
    table = pa.table(dict(columns))
    if found is not None and _BEFORE in found.metadata:
        members = found.members()
        of_row = [members[name] for name in table["name"].to_pylist()]
        index = [row for row, names in enumerate(of_row) for _ in names]
        names = [name for names in of_row for name in names]
        table = table.take(index).set_column(0, "name", pa.array(names, pa.string()))
    names, own = table["name"].to_pylist(), dict[str, Any]()
    if variants is not None:
        own |= _rows(variants, names)
    if found is not None:
        of_cluster = pa.table(found.columns())
        alone = of_cluster["representative"].is_null()
        for place, name in ((1, "cluster"), (3, "correlation")):
            known = pc.if_else(alone, None, of_cluster[name])
            of_cluster = of_cluster.set_column(place, name, known)
        own |= _rows(of_cluster, names)
    first, *others = table.column_names
    return {first: table[first], **own, **{name: table[name] for name in others}}


# --- sections ---------------------------------------------------------------------------------


def with_sections(report: ReportT, sections: Sequence[Section]) -> ReportT:
    """Return a report with sections before its first table."""
    place = next(
        (i for i, part in enumerate(report.sections) if isinstance(part, Table)),
        len(report.sections),
    )
    return replace(report, sections=(*report.sections[:place], *sections, *report.sections[place:]))


def sections_of(
    importances: Importances,
    variants: Any,
    found: Clusters | None,
    tested: significance.Tested | None = None,
) -> list[Section]:
    """Return the sections on places and clusters of features."""
    sections: list[Section] = []
    if variants is not None and len(importances):
        result: Any = importances
        what, line = "importance", ""
        threshold = significance.threshold_of(tested, importances)
        if isinstance(tested, AdjustedSignificance):
            result, what = tested, tested.statistic_title
            sure, title = tested.mask(LEVEL, "fwer"), significance.title_of(tested)
            n, least = np.count_nonzero(sure), float(tested.statistics[sure].min(initial=np.inf))
            line = f" {n:,} features are confirmed by {title}."
            if n and (tested.statistics[~sure] < least).all():  # which stages of one scale see to
                threshold = least
                line = f" Dashed: the smallest of the {n:,} features confirmed by {title}."
        elif tested is not None:
            line = f" {significance.line_words(tested, importances)}"
        places = positions_of(variants, result.names)
        named = [name for name in places.chromosomes if name != "0"]
        chart = Chart(
            "Manhattan plot",
            Plot(MANHATTAN, result, {"positions": places, "threshold": threshold}),
            f"Scatter plot of the {what} of {len(result):,} features along "
            f"{counted(len(named), 'chromosome')}; result.csv has the positions.",
            f"The {what} of {len(result):,} features by chromosome and position.{line}",
        )
        sections.append(chart)
    if found is not None:
        sections.append(_table(found, variants))
    return sections


def _table(found: Clusters, variants: Any) -> Section:
    """Return the table of clusters of several members, in the order of importance."""
    place, members = {name: j for j, name in enumerate(found.names)}, found.members()
    several = [(name, group) for name, group in members.items() if len(group) > 1]
    metadata = found.metadata
    distance, kind = metadata.get("distance"), str(metadata["correlation"]).capitalize()
    title = "Clusters of correlated features" if distance is None else "Clusters of linked variants"
    count = f"{len(found.names):,} features form {len(members):,} clusters, {len(several):,} of "
    count += "them with several members"
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
        return Prose(title, (f"No cluster has several members. {rule}",), brief=(f"{count}.",))
    shown = several[:_ROWS]
    columns = [
        Column("representative", [name for name, _ in shown], "name"),
        Column("members", [f"{len(group):,}" for _, group in shown]),
    ]
    if variants is not None:
        where, regions = positions_of(variants, found.names), []
        for _, group in shown:
            rows = [place[name] for name in group]
            chromosome = where.chromosomes[int(where.chromosome[rows[0]])]
            first, last = int(where.position[rows].min()), int(where.position[rows].max())
            regions.append(f"{chromosome}:{first:,}" + (f"-{last:,}" if last > first else ""))
        columns.append(Column("region", regions, "words"))
    cells = [
        joined(
            [f"{name} ({found.correlations[place[name]]:.2f})" for name in group[1:]],
            shown=_MEMBERS,
        )
        for _, group in shown
    ]
    columns.append(Column("other members (r)", cells, "words"))
    note = (
        f"The first {len(shown):,} of {counted(len(several), 'cluster')} with several members, in "
        f"the order of importance. {rule} result.csv holds all."
    )
    return Table(title, tuple(columns), note, brief=(f"{count}.",))
