"""Clusters, groups and positions of features: their sections, columns and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from duramen.importances import Clusters
from duramen.io.positions import UNPLACED, Positions
from duramen.plots.importances import MANHATTAN
from duramen.reports.facts import LEVEL, unit_words
from duramen.reports.report import DRAWN, Chart, Plot, Prose, Report, Section, Table, joined
from duramen.reports.significance import Verdict
from duramen.results.columns import Column, counted
from duramen.results.conditional_significance import DIRECT, ConditionalSignificance
from duramen.results.importances import Importances
from duramen.results.significance import AdjustedSignificance
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pa, pc
from duramen.support.text import fixed

_ROWS, _MEMBERS = 50, 6
_TITLE = "Clusters of correlated features"
_LINKED = "Clusters of linked variants"


@dataclass(frozen=True, eq=False)
class Signals:
    """Places and clusters of the features of a result.

    Attributes
    ----------
    variants : pyarrow.Table or None
        ``name``, ``chromosome``, ``position`` and alleles of features, as `ColumnStore.variants`.
    clusters : Clusters or None
        Clusters of the features.
    grown : bool
        Whether the forest was grown on the representatives alone.
    """

    variants: pa.Table | None = None
    clusters: Clusters | None = None
    grown: bool = False

    @property
    def _known(self) -> bool:
        """True if there are places or clusters."""
        return self.variants is not None or self.clusters is not None

    # --- the table of results ---------------------------------------------------------------

    def columns(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a table of results with those of places and clusters.

        Of a forest that was grown on representatives, each member gets the row of its
        representative, the representative first.
        """
        if not self._known:
            return dict(columns)

        table = pa.table(dict(columns))
        if self.grown and self.clusters is not None:
            members = self.clusters.members()
            of_row = [members[name] for name in table["name"].to_pylist()]
            index = [row for row, names in enumerate(of_row) for _ in names]
            names = [name for names in of_row for name in names]
            table = table.take(index).set_column(0, "name", pa.array(names, pa.string()))
        names = table["name"].to_pylist()
        own = {**self._places(names), **self._clusters(names)}
        first, *others = table.column_names
        return {
            **{name: table[name] for name in (first,)},
            **own,
            **{name: table[name] for name in others},
        }

    def _places(self, names: Sequence[str]) -> dict[str, Any]:
        """Return chromosome, position and alleles of features; null where there is no place."""
        if self.variants is None:
            return {}
        rows = rows_of(self.variants["name"].to_pylist(), names)
        taken = self.variants.drop_columns(["name"]).take(_nullable(rows))
        return {name: taken[name] for name in taken.column_names}

    def _clusters(self, names: Sequence[str]) -> dict[str, Any]:
        """Return cluster, representative and correlation of features; null where in no cluster."""
        if self.clusters is None:
            return {}

        rows = _nullable(rows_of(self.clusters.names, names))
        columns = pa.table(self.clusters.columns()).drop_columns(["name"])
        alone = columns["representative"].is_null()
        for place, name in ((0, "cluster"), (2, "correlation")):
            columns = columns.set_column(place, name, pc.if_else(alone, None, columns[name]))
        taken = columns.take(rows)
        return {name: taken[name] for name in taken.column_names}

    # --- words ------------------------------------------------------------------------------

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        return {} if self.clusters is None else self.clusters.members()

    @cached_property
    def _place(self) -> dict[str, int]:
        names = () if self.clusters is None else self.clusters.names
        return {name: j for j, name in enumerate(names)}

    def _words(self, best: Sequence[str]) -> str:
        """Say how many signals the best features stand for."""
        assert self.clusters is not None
        several = sum(len(of) > 1 for of in self._members.values())
        if self.grown:
            return (
                f"{len(self.clusters.names):,} features form {len(self.clusters):,} clusters, "
                f"{several:,} of them with several members; the ranking lists their "
                "representatives"
            )
        labels = [int(self.clusters.labels[self._place[name]]) for name in best]
        signals = len({label for label in labels if label >= 0}) + labels.count(-1)
        said = f"The first {len(best):,} features stand for {counted(signals, 'signal')}"
        largest = max(self._members.items(), key=lambda item: len(item[1]), default=None)
        if largest is None or len(largest[1]) < 2:
            return f"{said}: none correlates with a more important one"
        return f"{said}; the largest cluster, around {largest[0]}, has {len(largest[1]):,} members"

    @cached_property
    def _where(self) -> Positions:
        return self.positions(() if self.clusters is None else self.clusters.names)

    # --- the report -------------------------------------------------------------------------

    def report(
        self,
        report: Report,
        importances: Importances,
        tested: Verdict | None = None,
        *,
        top: int = DRAWN,
    ) -> Report:
        """Return a report with the sections on places and clusters, before its tables.

        They say how many signals the first `top` features stand for.
        """
        if not self._known:
            return report
        own: list[Section] = []
        if self.variants is not None and len(importances):
            own.append(self._manhattan(importances, tested))
        if self.clusters is not None:
            said = self._words(importances.top(top).names)
            own.append(self._table(self.clusters, (f"{said}.",)))
        place = next(
            (i for i, part in enumerate(report.sections) if isinstance(part, Table)),
            len(report.sections),
        )
        sections = (*report.sections[:place], *own, *report.sections[place:])
        return replace(report, sections=sections)

    def positions(self, names: Sequence[str]) -> Positions:
        """Return the places of features, of which some may have none."""
        rows = self._places(names)
        chromosome, position = rows["chromosome"], rows["position"]
        columns = {
            "chromosome": chromosome.fill_null(UNPLACED),
            "position": position.fill_null(0),
        }
        return Positions.of(columns, names, "reports")

    def _manhattan(self, importances: Importances, tested: Verdict | None) -> Chart:
        result: Any = importances
        threshold, line, what = None, "", "importance"
        if tested is not None and isinstance(tested.result, AdjustedSignificance):
            result, what = tested.result, tested.result.statistic_title
            sure = result.mask(LEVEL, "fwer")
            line = f" No feature is confirmed by {tested.title}."
            if sure.any():
                least = float(result.statistics[sure].min())
                line = f" {np.count_nonzero(sure):,} features are confirmed by {tested.title}; a "
                line += "line would not divide them from others, because stages differ in scale."
                if (result.statistics[~sure] < least).all():
                    threshold = least
                    line = f" Dashed: the smallest of the {np.count_nonzero(sure):,} features "
                    line += f"confirmed by {tested.title}."
        elif tested is not None:
            threshold = tested.threshold(importances)
            line = f" {tested.line(importances)}"
        places = self.positions(result.names)
        named = [name for name in places.chromosomes if name != "0"]
        return Chart(
            title="Manhattan plot",
            plot=Plot(MANHATTAN, result, {"positions": places, "threshold": threshold}),
            text=f"Scatter plot of the {what} of {len(result):,} features along {len(named):,} "
            f"chromosome{'' if len(named) == 1 else 's'}. The positions are in the columns "
            "chromosome and position of result.csv.",
            caption=f"The {what} of {len(result):,} features by chromosome and position.{line}",
        )

    def _table(self, clusters: Clusters, brief: tuple[str, ...]) -> Section:
        metadata = clusters.metadata
        linked = metadata.get("distance") is not None
        title = _LINKED if linked else _TITLE
        several = [(name, of) for name, of in self._members.items() if len(of) > 1]
        explained = _explained(metadata, grown=self.grown)
        if not several:
            lines = (f"No cluster has several members. {explained}",)
            return Prose(title, lines, brief=brief)
        shown = several[:_ROWS]
        columns = [
            Column("representative", [name for name, _ in shown], "name"),
            Column("members", [f"{len(of):,}" for _, of in shown]),
        ]
        if self.variants is not None:
            columns.append(Column("region", [self._region(of) for _, of in shown], "words"))
        columns.append(Column("other members (r)", [self._others(of) for _, of in shown], "words"))
        more = f" {len(several) - len(shown):,} more." if len(several) > len(shown) else ""
        return Table(
            title,
            tuple(columns),
            f"{counted(len(several), 'cluster')} with several members, in the order of importance."
            f"{more} {explained} The columns cluster, representative and correlation of result.csv "
            "hold all.",
            brief=brief,
        )

    def _others(self, members: Sequence[str]) -> str:
        assert self.clusters is not None
        r = self.clusters.correlations
        words = [f"{name} ({r[self._place[name]]:.2f})" for name in members[1 : _MEMBERS + 1]]
        rest = len(members) - 1 - len(words)
        return ", ".join([*words, *([f"and {rest:,} more"] if rest else [])])

    def _region(self, members: Sequence[str]) -> str:
        """Return chromosome and positions of a cluster, such as ``6:100-200``."""
        places, rows = self._where, [self._place[name] for name in members]
        chromosome = places.chromosomes[int(places.chromosome[rows[0]])]
        position = places.position[rows]
        first, last = int(position.min()), int(position.max())
        return f"{chromosome}:{first:,}" + (f"-{last:,}" if last > first else "")


def _explained(metadata: Mapping[str, Any], *, grown: bool) -> str:
    """Return the rule of the clusters in a sentence or two."""
    threshold, kind = metadata["threshold"], str(metadata["correlation"]).capitalize()
    if grown:
        return (
            f"Features were clustered by their {kind} correlation (|r| of {threshold:g} on "
            "average within a cluster), without the target, and the forest and its test used one "
            "representative of each, the member that correlates most with the others. The "
            "results of the representative stand for all members: the data cannot distinguish "
            "them."
        )
    within = ""
    if metadata.get("distance") is not None:
        within = f" and lies within {metadata['distance'] / 1000:g} kb of it"
    return (
        f"The most important feature represents its cluster; a member has a {kind} correlation of "
        f"|r| >= {threshold:g} with it{within} (clumping, as PLINK does by p-values). The "
        "associations of the members of a cluster with the target may be a single signal."
    )


def rows_of(ranked: Sequence[str], names: Sequence[str]) -> IntArray:
    """Return the place of names among those that are known, -1 where one is not."""
    wanted = {name: i for i, name in enumerate(names)}
    rows = np.full(len(names), -1, dtype=np.int64)
    for row, name in enumerate(ranked):
        i = wanted.get(name)
        if i is not None:
            rows[i] = row
    return rows


def _nullable(rows: IntArray) -> Any:

    return pa.array(rows, mask=rows < 0)


TITLE = "Groups of features"
_SAID = 5


@dataclass(frozen=True, eq=False)
class GroupImportances:
    """MDA of groups of features, each permuted as a whole, and of their features alone."""

    importances: Importances  # of the groups
    members: Mapping[str, Sequence[str]]  # the features of each group
    of_features: Importances | None  # MDA of single features, where it was computed
    source: str  # the file that names them, or how they were found
    direct: ConditionalSignificance | None = None  # test of each given the features outside it
    tested: AdjustedSignificance | None = None  # groups of several features

    @property
    def sums(self) -> FloatArray | None:
        """Sum of the MDA of the features of each group, each permuted alone."""
        if self.of_features is None:
            return None
        alone = dict(self.of_features)
        return np.array(
            [sum(alone[name] for name in self.members[group]) for group in self.importances.names]
        )

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table of groups, the most important first."""
        order = self.importances.order()
        best = self.importances.top(len(order))
        columns = best.columns()
        columns["n_features"] = [len(self.members[name]) for name in best.names]
        if self.sums is not None:
            columns["sum_of_features"] = self.sums[order]
        tested = (*self._verdicts(best.names), *self._given_others(best.names))
        columns.update({column.name: column.values for column in tested})
        columns["features"] = [";".join(self.members[name]) for name in best.names]
        return columns

    def _verdicts(self, names: Sequence[str]) -> list[Column]:
        """Return verdict and adjusted p-value of groups; groups of one feature are in its table."""
        if self.tested is None:
            return []
        place = {name: i for i, name in enumerate(self.tested.names)}
        rows = [place.get(name) for name in names]
        verdicts, p_values = self.tested.verdicts(), self.tested.p_adjusted
        numbers = np.array([np.nan if i is None else p_values[i] for i in rows])
        cells = ["" if np.isnan(number) else f"{number:.2g}" for number in numbers]
        words = ["" if i is None else verdicts[i] for i in rows]
        return [
            Column("verdict", words, "words", name="verdict"),
            Column(
                "p adjusted",
                cells,
                name="p_adjusted",
                numbers=np.ma.masked_invalid(numbers),
            ),
        ]

    def _given_others(self, names: Sequence[str]) -> list[Column]:
        """Return verdict, p and q of groups given the features outside them, if they were tested.

        Groups of one feature are in the table of features.
        """
        if self.direct is None:
            return []
        place = {name: i for i, name in enumerate(self.direct.names)}
        rows = [place.get(name) for name in names]
        verdicts = self.direct.verdicts()
        columns = [
            Column(DIRECT, ["" if i is None else verdicts[i] for i in rows], "words", name=DIRECT)
        ]
        for letter, values in (("p", self.direct.p_values), ("q", self.direct.q_values)):
            numbers = np.array([np.nan if i is None else values[i] for i in rows])
            cells = ["" if np.isnan(number) else f"{number:.2g}" for number in numbers]
            name = f"conditional_{letter}_value"
            columns.append(
                Column(
                    f"{letter}, given the others",
                    cells,
                    minor=int(letter == "p"),
                    name=name,
                    numbers=np.ma.masked_invalid(numbers),
                )
            )
        return columns

    def _line(self) -> str:
        """Return the first groups, as a line in a terminal."""
        best = self.importances.top(_SAID)
        cells = zip(best.names, fixed(best.values, 3), strict=True)
        more = len(self.importances) - len(best)
        listed = ", ".join(f"{name} {cell}" for name, cell in cells)
        return (
            f"Groups by the MDA of permuting their features together ({self.source}): {listed}"
            + (f", and {more:,} more in result-groups.csv" if more > 0 else "")
        )

    def table(self) -> Table:
        """Return the section of a report."""
        order = self.importances.order()[:_ROWS]
        best = self.importances.top(_ROWS)
        columns = [
            Column("group", best.names, "name"),
            Column("features", [f"{len(self.members[n]):,}" for n in best.names]),
            Column(f"MDA, {unit_words(best.unit)}", fixed(best.values, 4)),
        ]
        if best.standard_error is not None:
            columns.append(Column("std. error", fixed(best.standard_error, 2), minor=1))
        if self.sums is not None:
            columns.append(Column("sum of single features", fixed(self.sums[order], 4), minor=1))
        columns += (*self._verdicts(best.names), *self._given_others(best.names))
        listed = [joined(list(self.members[name]), shown=_MEMBERS) for name in best.names]
        columns.append(Column("members", listed, "words", minor=1))
        note = self._note(len(best))
        return Table(TITLE, tuple(columns), note, brief=(self._line(),))

    def settings(self) -> dict[str, Any]:
        """Return the settings for the record."""
        metadata = self.importances.metadata.get("mda", {})
        return {"source": self.source, "n_groups": len(self.importances), **metadata}

    def _note(self, shown: int) -> str:
        count = len(self.importances)
        which = f"The first {shown:,} of {count:,}" if shown < count else f"All {count:,}"
        words = (
            f"{which} groups ({self.source}; a feature in no group is its own group), all in "
            "result-groups.csv. The MDA of a group is the loss of accuracy on out-of-bag rows "
            "when all of its features are permuted together, by the same permutation."
        )
        if self.sums is None:
            return words
        return (
            f"{words} If it exceeds the sum over its features permuted alone, these can replace "
            "each other; if it is smaller, several of them are needed for the same predictions."
        )
