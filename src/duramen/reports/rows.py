"""Sections of a report about single rows: which features lead to their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data import EncodedTable
from duramen.plots.local import BEESWARM, ROW_CLUSTERS, WATERFALL
from duramen.reports.report import Chart, Group, Part, Plot, Prose, Section, Table, joined
from duramen.results.columns import Column, counted
from duramen.results.local_importances import LocalImportances
from duramen.results.saved import Savable
from duramen.support.arrays import FloatArray
from duramen.support.arrow import pa
from duramen.support.text import fixed, quoted

_OF_TABLE, _NEW = "Single rows", "New rows"
_DRAWN = 5  # rows whose features are drawn
_FEATURES = 10  # of a row
_SAID = 3  # of a row, in a sentence
_CLUSTERED = 1000  # rows of a heat map
_SOURCE = (
    "A. Sutera, G. Louppe, V. A. Huynh-Thu, L. Wehenkel, P. Geurts (2021). From global to local "
    "MDI variable importances for random forests and when they are Shapley values. NeurIPS 34."
)


@dataclass(frozen=True, eq=False)
class RowImportances(Savable):
    """Importances of the features in the rows that were asked for.

    Attributes
    ----------
    names : tuple of str
        Names of the rows.
    table : EncodedTable
        Their values.
    prediction, impurity : LocalImportances
        Changes of the prediction along the paths of the rows, and of the impurity.
    own : LocalImportances or None
        Bits of the class that a row has; None for new rows and for numbers.
    predicted, target : tuple of str or None
        Classes that are predicted, and those of the rows; None for numbers, or new rows.
    out_of_bag : bool
        Whether a row went down the trees that were grown without it.
    new : bool
        Whether the rows are new, not of the table that the forest was grown on.
    """

    names: tuple[str, ...]
    table: EncodedTable
    prediction: LocalImportances
    impurity: LocalImportances
    own: LocalImportances | None
    predicted: tuple[str, ...] | None
    target: tuple[str, ...] | None
    out_of_bag: bool
    new: bool = False
    notes: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """Source of the method."""
        return (_SOURCE,)

    def figures(self) -> dict[str, Any]:
        """Return what was explained, for the record."""
        return {
            "rows": list(self.names),
            "new": self.new,
            "out_of_bag": self.out_of_bag,
            "predicted": None if self.predicted is None else list(self.predicted),
            "prediction": self.prediction.end.tolist(),
            "without_features": self.prediction.start.tolist(),
        }

    def columns(self) -> dict[str, Any]:
        """Return the columns of a file: a line for each row and feature on its paths."""
        parts = {"prediction": self.prediction, self.impurity.unit: self.impurity}
        parts |= {} if self.own is None else {"own_class_bits": self.own}
        used = sum(abs(part.values) for part in parts.values())
        row, feature = used.nonzero()
        order = np.lexsort((feature, row))
        row, feature = row[order], feature[order]
        shown = {j: self.table_values(j, slice(None)) for j in np.unique(feature).tolist()}
        return {
            "row": [self.names[i] for i in row.tolist()],
            "feature": [self.table.names[j] for j in feature.tolist()],
            "value": [shown[j][i] for i, j in zip(row.tolist(), feature.tolist(), strict=True)],
            **{
                name: np.asarray(part.values[row, feature], dtype=np.float64).ravel()
                for name, part in parts.items()
            },
        }

    def table_values(self, j: int, rows: slice) -> list[str]:
        """Return the values of a column in some rows as text."""
        values = self.table.values(j)
        if j in self.table.labels:
            texts = list(map(str, self.table.labels[j].tolist()))
        else:
            texts = [f"{value:.6g}" for value in np.asarray(values, dtype=np.float64).tolist()]
        texts.append("missing")
        return [texts[code] for code in np.asarray(self.table.codes(j))[rows].tolist()]

    def line(self, row: int) -> str:
        """Return what is predicted for a row, and by which features, in a sentence."""
        end, start = float(self.prediction.end[row]), float(self.prediction.start[row])
        values = self.prediction.row(row).values
        order = [int(j) for j in np.argsort(-np.abs(values), kind="stable")[:_SAID] if values[j]]
        by = joined([f"{self.table.names[j]} {values[j]:+.2g}" for j in order], shown=_SAID)
        where = ", out of bag" if self.out_of_bag else ""
        of = "" if self.target is None else f" (class {self.target[row]})"
        if self.predicted is None:
            what = f"{end:.4g} predicted{where}, {start:.4g} without features"
        else:
            what = (
                f"{self.predicted[row]} predicted with probability {end:.2f}{where}, {start:.2f} "
                "without features"
            )
        return f"Row {self.names[row]}{of}: {what}; {by or 'no feature is used'}"

    def section(self) -> Section:
        """Return the section of a report: words, and figure and table of the first rows."""
        shown = range(min(_DRAWN, len(self.names)))
        lines = [f"{self.line(row)}." for row in shown]
        if len(self.names) > len(shown):
            more = counted(len(self.names) - len(shown), "more row")
            lines.append(f"result-rows.csv holds {more}.")
        brief = tuple(line.removesuffix(".") for line in lines)
        title = _NEW if self.new else _OF_TABLE
        words = Prose("Result", (*lines, self._reading(), *self.notes), brief=brief)
        parts: list[Part] = [words]
        for row in shown:
            parts += [self._chart(row), self._table(row)]
        return Group(title, (*parts, *self._together()), folded=False)

    def _reading(self) -> str:
        rows = (
            "Each row went down the trees that were grown without it."
            if self.out_of_bag
            else "The rows went down all trees."
        )
        own = (
            ""
            if self.own is None
            else " The bits of the own class say whether they lead to the class that the row has "
            "(above 0) or away from it."
        )
        return (
            f"{rows} At every split on the path of a row the prediction changes from that of the "
            "node to that of the child; the sum of the changes at splits on a feature, mean over "
            "the trees, is its part of the prediction (Saabas 2014). Changes of the impurity say "
            "how much purer the nodes become, whatever the row's class (local MDI, Sutera et al. "
            f"2021).{own} They describe the forest; correlated features share the credit."
        )

    def _chart(self, row: int) -> Chart:
        return Chart(
            title=f"Row {self.names[row]}",
            plot=Plot(
                WATERFALL, self.prediction, {"row": row, "k": _FEATURES, "name": self.names[row]}
            ),
            text=f"Bars of what each feature adds to the prediction. {self.line(row)}.",
            caption=f"What the features add to the {self._what(row)}, from that without features "
            "to that of the row (dashed lines).",
        )

    def _what(self, row: int) -> str:
        if self.predicted is None:
            return "prediction"
        return f"probability of {quoted(self.predicted[row])}"

    def _table(self, row: int) -> Table:
        values = self.prediction.row(row).values
        used = np.argsort(-np.abs(values), kind="stable")
        best = used[: min(_FEATURES, max(1, int(np.count_nonzero(values))))]
        here = slice(row, row + 1)
        columns = [
            Column("feature", [self.table.names[j] for j in best], "name"),
            Column("value", [self.table_values(int(j), here)[0] for j in best], "words"),
            Column("prediction", signed(values[best])),
            Column(f"impurity, {self.impurity.unit}", signed(self.impurity.row(row).values[best])),
        ]
        if self.own is not None:
            columns.append(Column("own class, bits", signed(self.own.row(row).values[best])))
        return Table(
            f"Features of row {self.names[row]}",
            tuple(columns),
            f"The first {counted(len(best), 'feature')} by what they add to the {self._what(row)}; "
            "result-rows.csv holds all.",
        )

    def _together(self) -> list[Part]:
        """Return the figures of all rows together, where there are some."""
        n = len(self.names)
        if n < 3 or not np.any(self.impurity.mean_absolute()):
            return []
        part, what = (self.impurity, "decrease of impurity")
        if self.own is not None:
            part, what = self.own, "bits of the class that the row has"
        charts: list[Part] = [
            Chart(
                title="All rows, by feature",
                plot=Plot(BEESWARM, part, {"k": _FEATURES, "X": self.table}),
                text=f"A point for each of the {n:,} rows: {what} by each of the first features.",
                caption=f"Points: rows, by the {what}; colors: the value of the feature, from low "
                "(vermilion) to high (blue).",
            )
        ]
        if n <= _CLUSTERED:
            charts.append(
                Chart(
                    title="Rows of similar importances",
                    plot=Plot(ROW_CLUSTERS, part, {"k": _FEATURES}),
                    text=f"Heat map of the {what} of {n:,} rows by feature; rows of similar "
                    "importances are neighbors.",
                    caption=f"{what.capitalize()}; rows of similar importances are neighbors, so "
                    "that blocks are rows that the forest treats alike by the same features.",
                )
            )
        return charts


def columns_of(explained: Sequence[RowImportances]) -> dict[str, Any]:
    """Return the columns of all tables of rows, one below the other."""
    tables = [pa.table(rows.columns()) for rows in explained]
    joined_up = pa.concat_tables(tables, promote_options="default")
    return dict(zip(joined_up.column_names, joined_up.columns, strict=True))


def signed(values: Sequence[float] | FloatArray) -> list[str]:
    """Return numbers as text with their signs."""
    numbers = np.asarray(values, dtype=np.float64)
    return [text if text.startswith("-") else f"+{text}" for text in fixed(numbers, 3)]
