"""Importances in single rows, beside a ranking: which features lead to their predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, encode
from duramen.data.dates import with_numbers_of_dates
from duramen.data.provenance import RowNames
from duramen.data.sources import with_text_names
from duramen.importances import local_mdi
from duramen.importances.refit import leaves_rows_out
from duramen.io.formats.format import READING
from duramen.io.store.row_ids import of_table as naming_columns
from duramen.io.store.row_ids import texts_of
from duramen.plots.local import BEESWARM, WATERFALL
from duramen.reading.text import table_of
from duramen.reports.report import Section
from duramen.results.archive import Savable
from duramen.results.local_importances import LocalImportances
from duramen.results.summary import counted
from duramen.support import checks
from duramen.support.arrow import nw
from duramen.support.checks import warn
from duramen.support.files import expanded
from duramen.support.text import joined, quoted

ALL = "all"  # names every row
_PRIOR = 1.0  # weight of the class frequencies, in rows, that is added to nodes
_DENSE = 10_000_000  # values beyond which matrices are sparse
_DRAWN = 5  # rows whose features are drawn
_FEATURES = 10  # of a row
_SAID = 3  # of a row, in a sentence
_NAMED = 5  # categories that a message names


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
    notes : tuple of str
        Remarks on the importances.
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
        return (
            "A. Sutera, G. Louppe, V. A. Huynh-Thu, L. Wehenkel, P. Geurts (2021). From global to "
            "local MDI variable importances for random forests and when they are Shapley values. "
            "NeurIPS 34.",
        )

    def figures(self) -> dict[str, Any]:
        """Return the explained rows and their predictions for the record of the run."""
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
        row, feature = sum(abs(part.values) for part in parts.values()).nonzero()
        order = np.lexsort((feature, row))
        row, feature = row[order], feature[order]
        values = dict[int, list[str]]()  # of all rows, as text
        for j in np.unique(feature).tolist():
            if j in self.table.labels:
                texts = list(map(str, self.table.labels[j].tolist()))
            else:
                numbers = np.asarray(self.table.values(j), dtype=np.float64)
                how = self.table.dates.get(self.table.names[j])
                label = "{:.6g}".format if how is None else how.label
                texts = [label(number) for number in numbers.tolist()]
            texts.append("missing")
            values[j] = [texts[code] for code in np.asarray(self.table.codes(j)).tolist()]
        return {
            "row": [self.names[i] for i in row.tolist()],
            "feature": [self.table.names[j] for j in feature.tolist()],
            "value": [values[j][i] for i, j in zip(row.tolist(), feature.tolist(), strict=True)],
            **{
                name: np.asarray(part.values[row, feature], dtype=np.float64).ravel()
                for name, part in parts.items()
            },
        }

    def line(self, row: int) -> str:
        """Return a sentence with the prediction of a row and the features that contribute most."""
        end, start = float(self.prediction.end[row]), float(self.prediction.start[row])
        values = self.prediction.row(row).values
        order = [int(j) for j in np.argsort(-np.abs(values), kind="stable")[:_SAID] if values[j]]
        by = joined([f"{self.table.names[j]} {values[j]:+.2g}" for j in order], shown=_SAID)
        where = ", out of bag" if self.out_of_bag else ""
        of = "" if self.target is None else f" (class {self.target[row]})"
        what = f"{end:.4g} predicted{where}, {start:.4g} without features"
        if self.predicted is not None:
            what = (
                f"{self.predicted[row]} predicted with probability {end:.2f}{where}, {start:.2f} "
                "without features"
            )
        return f"Row {self.names[row]}{of}: {what}; {by or 'no feature is used'}"

    def section(self) -> Section:
        """Return the section of a report: sentences, figures of the first rows, a figure of all."""
        n = len(self.names)
        lines = [self.line(row) for row in range(min(_DRAWN, n))]
        if n > _DRAWN:
            lines.append(f"result-rows.csv holds {counted(n - _DRAWN, 'more row')}")
        reading = (
            "The part of a feature in a prediction is the sum of the changes at the splits on it, "
            f"averaged over {'the trees grown without the row' if self.out_of_bag else 'all trees'}"
            " (Saabas 2014). Changes of the impurity are local MDI (Sutera et al. 2021). They "
            "describe the forest; correlated features share the credit."
        )
        paragraphs = (*(f"{line}." for line in lines), reading, *self.notes)
        sections = [Section("Result", paragraphs, brief=tuple(lines))]
        for row in range(min(_DRAWN, n)):
            what = "prediction"
            if self.predicted is not None:
                what = f"probability of {quoted(self.predicted[row])}"
            options = {"row": row, "k": _FEATURES, "name": self.names[row]}
            chart = Section(
                f"Row {self.names[row]}",
                caption=f"What the features add to the {what}, from that without features to "
                "that of the row (dashed lines).",
                figure=(WATERFALL, self.prediction, options),
                text=f"Bars of what each feature adds to the prediction. {lines[row]}.",
            )
            sections.append(chart)
        if n > 2 and np.any(self.impurity.mean_absolute()):
            part, what = self.impurity, "decrease of impurity"
            if self.own is not None:
                part, what = self.own, "bits of the class that the row has"
            chart = Section(
                "All rows, by feature",
                caption=f"Points: rows, by the {what}; colors: the value of the feature, from low "
                "(vermilion) to high (blue).",
                figure=(BEESWARM, part, {"k": _FEATURES, "X": self.table}),
                text=f"A point for each of the {n:,} rows: {what} by each of the first features.",
            )
            sections.append(chart)
        title = "New rows" if self.new else "Single rows"
        return Section(title, sections=tuple(sections), tiled=True)


RowsAsked = tuple[NDArray[np.intp], EncodedTable | None, tuple[str, ...]]
"""Rows to explain: some of the table by their indices, and new rows with their names."""


def rows_asked(explain: Any, explain_rows: Any, data: LearningSet[Any]) -> RowsAsked | None:
    """Return the rows to explain: named rows of the table, and new rows.

    A file of new rows is read with the parameters of `duramen.read` by which the table was read.

    Raises
    ------
    ValueError, TypeError, OSError
        If rows are not named by labels or numbers, or are not there, the file cannot be read or
        lacks features, or the target is survival.
    """
    names = [explain] if isinstance(explain, str) or np.ndim(explain) == 0 else list(explain)
    if not all(isinstance(name, str | int | np.integer) for name in names):
        raise checks.refuse("rank", "explain", "labels or numbers of rows, or 'all'", explain)
    if not names and explain_rows is None:
        return None
    if data.target.censored:
        raise ValueError(
            "rank: explain is for classes and numbers; nodes of survival trees have no impurity"
        )
    places: list[int] = []
    for name in map(str, names):
        try:
            places.append(data.provenance.row_names.find(name, data.n_rows))
        except ValueError as error:
            if name != ALL:
                raise ValueError(f"rank: explain={name!r}: {error}") from None
            places += range(data.n_rows)
    rows = np.array(list(dict.fromkeys(places)), dtype=np.intp)
    if explain_rows is None:
        return rows, None, ()
    new, start = explain_rows, 0
    if isinstance(explain_rows, str | Path):
        settings, owner = data.provenance.settings, "rank: explain_rows"
        options = {name: settings[name] for name in READING if name in settings}
        new, start = table_of(expanded(explain_rows, owner), options, [], owner), 1
        others = [name for name in new.column_names if name not in data.names]
        naming = [named.columns[0] for named in naming_columns(new.select(others))]
        labels = texts_of(new[naming[0]].combine_chunks()) if naming else None
    else:
        labels = getattr(new, "index", None)
        counted_from_0 = getattr(labels, "start", None) == 0 and getattr(labels, "step", None) == 1
        if counted_from_0 or callable(labels):
            labels = None
    new, p = with_text_names(new, "rank: explain_rows"), len(data.names)
    frame = nw.from_native(new, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if lacking := [name for name in data.names if name not in frame.columns]:
            raise ValueError(
                f"rank: explain_rows: the rows lack {len(lacking):,} of the {p:,} features, "
                f"{lacking[0]!r} the first"
            )
        frame = frame.select(list(data.names))
        new = with_numbers_of_dates(frame.to_native(), data.table.dates, "rank: explain_rows")
    elif np.ndim(new) != 2 or np.shape(new)[1] != p:
        raise ValueError(
            f"rank: explain_rows must have the {p:,} features of the table, got the shape "
            f"{np.shape(new)}"
        )
    table = encode(new, kinds=list(data.table.kinds), names=data.names)
    table = replace(table, dates=data.table.dates)
    for j in np.flatnonzero(np.array(data.table.kinds) != "numeric").tolist():
        trained, codes = {*data.table.labels[j].tolist()}, np.asarray(table.codes(j))
        new_labels = {
            code: label for code, label in enumerate(table.values(j)) if label not in trained
        }
        if n := int(np.isin(codes, list(new_labels)).sum()):
            shown = joined([*map(quoted, new_labels.values())], shown=_NAMED)
            warn(
                f"rank: explain_rows: column {quoted(data.names[j])} has {shown} in {n:,} of "
                f"{len(codes):,} rows, which no row of the table has: at splits by this column, "
                "these rows go where most rows went"
            )
    named = RowNames(labels, start=start)
    return rows, table, tuple(map(named.name, range(table.n_rows)))


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
    rows, new, new_names = asked
    forest, cases = estimator.forest_, list[tuple[Any, ...]]()
    if len(rows):
        names = tuple(map(data.provenance.row_names.name, rows.tolist()))
        seen = leaves_rows_out(estimator) and data.fingerprint == forest.fingerprint
        part = data.table.take_rows(rows)
        cases.append((names, part, data.target.labels[rows], data if seen else part, seen))
    if new is not None:
        if new.names != data.names:  # of a forest that was grown on representatives
            new = new.take_columns([new.names.index(name) for name in data.names])
        cases.append((new_names, new, None, new, False))
    results, classes = [], forest.classes
    for names, table, target, X, out_of_bag in cases:
        notes: tuple[str, ...] = ()
        n, predicted = X.n_rows if out_of_bag else len(X), None
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
        labels = None if classes is None else target
        parts = [changes(predicted, of="prediction"), changes(of="impurity")]
        if labels is not None:
            of_class = None if out_of_bag else labels
            parts.append(changes(of_class, of="class", prior_weight=_PRIOR))
        if out_of_bag:
            never = int(np.count_nonzero(parts[0].weights[rows] == 0.0))
            if never:
                notes = (f"{never:,} of the rows were in the bag of every tree: no values",)
            parts = [part.take(rows) for part in parts]
            predicted = None if predicted is None else predicted[rows]
        explained = RowImportances(
            names,
            table,
            prediction=parts[0],
            impurity=parts[1],
            own=None if labels is None else parts[2],
            predicted=None if predicted is None else tuple(map(str, predicted.tolist())),
            target=None if labels is None else tuple(map(str, np.asarray(labels).tolist())),
            out_of_bag=out_of_bag,
            new=table is new,
            notes=notes,
        )
        results.append(explained)
    return tuple(results)
