"""Importances in single rows, beside a ranking: which features lead to their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, encode
from duramen.data.provenance import RowNames
from duramen.importances import local_mdi
from duramen.importances.refit import leaves_rows_out
from duramen.io.store.row_ids import of_table as naming_columns
from duramen.io.store.row_ids import texts_of
from duramen.plots.local import BEESWARM, ROW_CLUSTERS, WATERFALL
from duramen.reading.text import FileOptions
from duramen.reports.report import Chart, Group, Part, Plot, Prose, Section
from duramen.results.columns import counted
from duramen.results.local_importances import LocalImportances
from duramen.results.saved import Savable
from duramen.support import checks
from duramen.support.arrow import pa
from duramen.support.files import expanded
from duramen.support.text import joined, quoted

ALL = "all"  # names every row
_PRIOR = 1.0  # weight of the class frequencies, in rows, that is added to nodes
_DENSE = 10_000_000  # values beyond which matrices are sparse
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
        parts += map(self._chart, shown)
        return Group(title, (*parts, *self._together()), folded=False)

    def _reading(self) -> str:
        paths = "the trees that were grown without it" if self.out_of_bag else "all trees"
        own = " The bits of the own class lead to the class that the row has if above 0."
        return (
            f"Each row went down {paths}. At every split on its path the prediction changes; the "
            "sum of the changes at splits on a feature, mean over the trees, is its part of the "
            "prediction (Saabas 2014). Changes of the impurity say how much purer the nodes become "
            f"(local MDI, Sutera et al. 2021).{'' if self.own is None else own} They describe the "
            "forest; correlated features share the credit."
        )

    def _chart(self, row: int) -> Chart:
        what = "prediction"
        if self.predicted is not None:
            what = f"probability of {quoted(self.predicted[row])}"
        options = {"row": row, "k": _FEATURES, "name": self.names[row]}
        return Chart(
            f"Row {self.names[row]}",
            Plot(WATERFALL, self.prediction, options),
            f"Bars of what each feature adds to the prediction. {self.line(row)}.",
            f"What the features add to the {what}, from that without features to that of the row "
            "(dashed lines).",
        )

    def _together(self) -> list[Part]:
        """Return the figures of all rows together, where there are some."""
        n = len(self.names)
        if n < 3 or not np.any(self.impurity.mean_absolute()):
            return []
        part, what = self.impurity, "decrease of impurity"
        if self.own is not None:
            part, what = self.own, "bits of the class that the row has"
        charts: list[Part] = [
            Chart(
                "All rows, by feature",
                Plot(BEESWARM, part, {"k": _FEATURES, "X": self.table}),
                f"A point for each of the {n:,} rows: {what} by each of the first features.",
                f"Points: rows, by the {what}; colors: the value of the feature, from low "
                "(vermilion) to high (blue).",
            )
        ]
        if n <= _CLUSTERED:
            similar = "rows of similar importances are neighbors."
            charts.append(
                Chart(
                    "Rows of similar importances",
                    Plot(ROW_CLUSTERS, part, {"k": _FEATURES}),
                    f"Heat map of the {what} of {n:,} rows by feature; {similar}",
                    f"{what.capitalize()}; {similar}",
                )
            )
        return charts


def columns_of(explained: Sequence[RowImportances]) -> dict[str, Any]:
    """Return the columns of all tables of rows, one below the other."""
    tables = [pa.table(rows.columns()) for rows in explained]
    joined_up = pa.concat_tables(tables, promote_options="default")
    return dict(zip(joined_up.column_names, joined_up.columns, strict=True))


@dataclass(frozen=True, eq=False)
class RowsAsked:
    """Rows to explain: some of the table by their names, or the rows of another table."""

    names: tuple[str, ...] = ()
    table: Any = None  # new rows, with the columns of the features
    row_names: RowNames = field(default_factory=RowNames)  # of the new rows
    file: str = ""  # of the new rows

    def check(self, data: LearningSet[Any]) -> None:
        """Check, before a forest is grown, that the rows are there.

        Raises
        ------
        ValueError
            If they are not, or the target is survival.
        """
        if data.target.censored:
            raise ValueError(
                "rank: explain is for classes and numbers; nodes of survival trees have no impurity"
            )
        self.places(data)
        if self.table is not None:
            self.columns(data.names)

    def places(self, data: LearningSet[Any]) -> NDArray[np.intp]:
        """Return the indices of the rows of the table, each once."""
        places: list[int] = []
        for name in self.names:
            try:
                places.append(data.provenance.row_names.find(name, data.n_rows))
            except ValueError as error:
                if name != ALL:
                    raise ValueError(f"rank: explain={name!r}: {error}") from None
                places += range(data.n_rows)
        return np.array(list(dict.fromkeys(places)), dtype=np.intp)

    def columns(self, names: Sequence[str]) -> Any:
        """Return the columns of the features in new rows; an array without names as it is."""
        frame = nw.from_native(self.table, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            if np.ndim(self.table) != 2 or np.shape(self.table)[1] != len(names):
                raise ValueError(
                    f"rank: explain_rows must have the {len(names):,} features of the table, got "
                    f"the shape {np.shape(self.table)}"
                )
            return self.table
        lacking = [name for name in names if name not in frame.columns]
        if lacking:
            of = f" {self.file}" if self.file else ""
            raise ValueError(
                f"rank: explain_rows{of}: the rows lack {len(lacking):,} of the {len(names):,} "
                f"features, {lacking[0]!r} the first"
            )
        return frame.select(list(names)).to_native()


def rows_asked(explain: Any, explain_rows: Any, data: LearningSet[Any]) -> RowsAsked | None:
    """Return the rows to explain: those of the table that are named, and new ones.

    A file of new rows is read with the parameters of `duramen.read` by which the table was read.

    Raises
    ------
    ValueError, TypeError, OSError
        If rows are not named by labels or numbers, or the file cannot be read.
    """
    listed = [explain] if isinstance(explain, str) or np.ndim(explain) == 0 else list(explain)
    if not all(isinstance(name, str | int | np.integer) for name in listed):
        raise checks.refuse("rank", "explain", "labels or numbers of rows, or 'all'", explain)
    names = tuple(map(str, listed))
    if explain_rows is None:
        return RowsAsked(names) if names else None
    if not isinstance(explain_rows, str | Path):
        return RowsAsked(names, explain_rows, _names_of(explain_rows))
    settings = data.provenance.settings
    options = {one.name: settings[one.name] for one in fields(FileOptions) if one.name in settings}
    path = expanded(explain_rows, "rank: explain_rows")
    table = FileOptions(**options).table(path, [], "rank: explain_rows")
    others = [name for name in table.column_names if name not in data.names]
    naming = [named.columns[0] for named in naming_columns(table.select(others))]
    labels = texts_of(table[naming[0]].combine_chunks()) if naming else None
    return RowsAsked(names, table, RowNames(labels), path.name)


def _names_of(table: Any) -> RowNames:
    """Return the names that a table in memory has for its rows; numbers from 0 if it has none."""
    labels = getattr(table, "index", None)
    counted = getattr(labels, "start", None) == 0 and getattr(labels, "step", None) == 1
    return RowNames(None if counted or callable(labels) else labels, start=0)


def importances_of_rows(
    asked: RowsAsked,
    data: LearningSet[EncodedTable],
    estimator: Any,
    positive: Any,
    n_jobs: int | None,
) -> tuple[RowImportances, ...]:
    """Explain rows of the table, out of bag where trees leave rows out, and new rows.

    The forest may be of a sample of the rows, of which it is not known which trees lack them.
    """
    results = []
    rows = asked.places(data)
    if len(rows):
        names = tuple(map(data.provenance.row_names.name, rows.tolist()))
        forest = estimator.forest_
        out_of_bag = leaves_rows_out(estimator) and data.fingerprint == forest.fingerprint
        part = data.table.take_rows(rows)
        of_target = data.target.labels[rows]
        source, places = (data, rows) if out_of_bag else (part, None)
        results.append(
            _of_paths(estimator, source, names, part, of_target, places, positive, n_jobs)
        )
    if asked.table is not None:
        new, of_table = asked.columns(data.names), data.table
        table = encode(new, kinds=list(of_table.kinds), names=of_table.names)
        names = tuple(map(asked.row_names.name, range(table.n_rows)))
        new_rows = _of_paths(estimator, table, names, table, None, None, positive, n_jobs)
        results.append(replace(new_rows, new=True))
    return tuple(results)


def _of_paths(
    estimator: Any,
    X: Any,
    names: tuple[str, ...],
    table: EncodedTable,
    target: Any,
    rows: NDArray[np.intp] | None,
    positive: Any,
    n_jobs: int | None,
) -> RowImportances:
    """Return the changes along the paths of rows in the trees of a forest.

    `X` is the learning set that the forest was grown on, of which `rows` go down the trees that
    were grown without them, or other rows; `target` has the labels of the rows where known.
    """
    out_of_bag, classes = rows is not None, estimator.forest_.classes
    n = X.n_rows if out_of_bag else len(X)
    predicted = None
    if classes is not None and positive is not None:
        place = list(map(str, classes.tolist())).index(str(positive))
        predicted = np.full(n, classes[place])
    elif classes is not None and out_of_bag:
        means = np.nan_to_num(estimator.oob_decision_function_)
        predicted = np.asarray(classes[means.argmax(axis=1)])
    elif classes is not None:
        predicted = np.asarray(estimator.predict(X))
    changes = partial(
        local_mdi,
        estimator,
        X,
        rows="oob" if out_of_bag else None,
        sparse=True if n * estimator.n_features_in_ > _DENSE else None,
        n_jobs=n_jobs,
    )
    own = None if classes is None else target
    parts = [changes(predicted, of="prediction"), changes(of="impurity")]
    if own is not None:
        parts.append(changes(None if out_of_bag else own, of="class", prior_weight=_PRIOR))
    notes: tuple[str, ...] = ()
    if rows is not None:
        never = int(np.count_nonzero(parts[0].weights[rows] == 0.0))
        if never:
            notes = (f"{never:,} of the rows were in the bag of every tree: they have no values",)
        parts = [part.take(rows) for part in parts]
        predicted = None if predicted is None else predicted[rows]
    return RowImportances(
        names,
        table,
        prediction=parts[0],
        impurity=parts[1],
        own=None if own is None else parts[2],
        predicted=_texts(predicted),
        target=_texts(own),
        out_of_bag=out_of_bag,
        notes=notes,
    )


def _texts(labels: Any) -> tuple[str, ...] | None:
    return None if labels is None else tuple(map(str, np.asarray(labels).tolist()))
