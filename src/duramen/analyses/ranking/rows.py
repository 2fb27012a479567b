"""Importances in single rows, beside a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
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
from duramen.reading.text import FileOptions
from duramen.reports.rows import RowImportances
from duramen.results.local_importances import LocalImportances
from duramen.support import checks
from duramen.support.files import expanded

ALL = "all"  # names every row
_PRIOR = 1.0  # weight of the class frequencies, in rows, that is added to nodes
_DENSE = 10_000_000  # values beyond which matrices are sparse


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
        paths = _Paths(estimator, source, places, positive, n_jobs)
        results.append(paths.importances(names, part, of_target))
    if asked.table is not None:
        new, of_table = asked.columns(data.names), data.table
        table = encode(new, kinds=list(of_table.kinds), names=of_table.names)
        names = tuple(map(asked.row_names.name, range(table.n_rows)))
        paths = _Paths(estimator, table, None, positive, n_jobs)
        results.append(replace(paths.importances(names, table, None), new=True))
    return tuple(results)


@dataclass(frozen=True, eq=False)
class _Paths:
    """Paths of rows in the trees of a forest."""

    estimator: Any
    X: Any  # the learning set that the forest was grown on, for rows out of bag, or other rows
    rows: NDArray[np.intp] | None  # of the learning set
    positive: Any
    n_jobs: int | None

    def importances(
        self, names: tuple[str, ...], table: EncodedTable, target: Any
    ) -> RowImportances:
        """Return what the paths change; `target` has the labels of the rows where known."""
        classes = self.estimator.forest_.classes
        predicted = None if classes is None else self._predicted(classes)
        own = None if classes is None or target is None else target
        parts = [self._changes("prediction", predicted), self._changes("impurity")]
        if own is not None:
            parts.append(self._changes("class", None if self.out_of_bag else own, _PRIOR))
        notes: tuple[str, ...] = ()
        if self.rows is not None:
            never = int(np.count_nonzero(parts[0].weights[self.rows] == 0.0))
            if never:
                note = f"{never:,} of the rows were in the bag of every tree: they have no values"
                notes = (note,)
            parts = [part.take(self.rows) for part in parts]
            predicted = None if predicted is None else predicted[self.rows]
        return RowImportances(
            names,
            table,
            prediction=parts[0],
            impurity=parts[1],
            own=None if own is None else parts[2],
            predicted=_texts(predicted),
            target=_texts(own),
            out_of_bag=self.out_of_bag,
            notes=notes,
        )

    @property
    def out_of_bag(self) -> bool:
        """True if a row goes down the trees that were grown without it."""
        return self.rows is not None

    def _predicted(self, classes: NDArray[Any]) -> NDArray[Any]:
        """Return the class whose probability is explained, for each row."""
        if self.positive is not None:
            place = list(map(str, classes.tolist())).index(str(self.positive))
            return np.full(self._n_rows, classes[place])
        if self.out_of_bag:
            means = np.nan_to_num(self.estimator.oob_decision_function_)
            return np.asarray(classes[means.argmax(axis=1)])
        return np.asarray(self.estimator.predict(self.X))

    @property
    def _n_rows(self) -> int:
        return self.X.n_rows if self.out_of_bag else len(self.X)

    def _changes(self, of: Any, y: Any = None, prior_weight: float = 0.0) -> LocalImportances:
        wide = self._n_rows * self.estimator.n_features_in_ > _DENSE
        return local_mdi(
            self.estimator,
            self.X,
            y,
            of=of,
            rows="oob" if self.out_of_bag else None,
            prior_weight=prior_weight,
            sparse=True if wide else None,
            n_jobs=self.n_jobs,
        )


def _texts(labels: Any) -> tuple[str, ...] | None:
    return None if labels is None else tuple(map(str, np.asarray(labels).tolist()))
