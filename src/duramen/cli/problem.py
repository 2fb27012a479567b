"""A table and its target, encoded: what a command computes on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from duramen.cli.options import TASKS, Task
from duramen.cli.reading import stray_notes
from duramen.cli.source import Source, check_columns

if TYPE_CHECKING:
    from duramen.tables import EncodedTable
    from duramen.tables.store import ColumnStore
    from duramen.tables.stray import StrayValues

Table = TypeVar("Table", bound="EncodedTable | ColumnStore")


@dataclass(frozen=True)
class Problem(Generic[Table]):
    """An encoded table, in memory or on disk, and its target as classes or numbers.

    Parameters
    ----------
    name : str
        What the table is called: its file or folder, without where that lies, or its URL.
    table : EncodedTable or ColumnStore
        The columns but the target and those left out.
    y : ndarray of shape (n,)
        The target.
    task : str
        "classification" or "regression".
    target : str
        Name of the target.
    citation : str
        What the data ask to be cited; empty if nothing.
    labels : mapping
        Strata and blocks of the rows, by the name of the option; empty for none.
    notes : tuple of str
        What the user had better know of how the table was read.
    """

    name: str
    table: Table
    y: Any
    task: str
    target: str
    citation: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def fingerprint(self: Problem[EncodedTable]) -> str:
        """Return the fingerprint of table and target, the same as of a forest grown on them."""
        from duramen.tables import encode_target, learning_set_fingerprint

        if self.task == "regression":
            numbers = encode_target(self.y, "regression")
            return learning_set_fingerprint(self.table, numbers, None)
        classes, codes = encode_target(self.y, "classification")
        return learning_set_fingerprint(self.table, codes, classes)

    def classes(self) -> dict[str, int] | None:
        """Return the classes with their number of rows; None where the target is a number."""
        if self.task == "regression":
            return None
        import numpy as np

        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True))


def encoded(
    command: str, source: Source, *, task: Task, categorical: Sequence[str], jobs: int
) -> Problem[EncodedTable]:
    """Encode a table and check its target.

    Parameters
    ----------
    command : str
        The command, for errors.
    source : Source
        What was read.
    task : Task
        What the user says that the target is.
    categorical : sequence of str
        Columns of numbers that are categories.
    jobs : int
        Number of threads.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If a column or the target cannot be used, or all columns are constant.
    """
    from duramen.tables import encode_target, infer_task, target_array
    from duramen.tables.stray import stray_values_of

    names = source.features.column_names
    check_columns("--categorical", categorical, names, source.target)
    naming = f"duramen {command}: --target {source.target}"
    y = target_array(source.column, function=naming)
    settled = infer_task(y) if task is Task.auto else TASKS[task]
    encode_target(y, settled, function=naming)  # for its errors, before the work
    table, stray = encoded_features(source.features, categorical, jobs)
    notes = [*source.notes, *stray_notes(stray, source.name)]
    classes = stray_values_of(source.target, source.column) if task is Task.auto else None
    if classes is not None:
        notes += stray_notes([classes], source.name, "--task classification")
    given = (source.name, table, y, settled, source.target, source.citation, source.labels)
    return loaded(Problem(*given, notes=tuple(notes)))


def encoded_features(
    features: Any, categorical: Sequence[str], jobs: int
) -> tuple[EncodedTable, tuple[StrayValues, ...]]:
    """Encode columns; return the table, and the columns of text that are nearly numbers."""
    from duramen.tables import StrayValuesWarning, encode

    kinds = dict.fromkeys(categorical, "nominal") or None
    stray: tuple[StrayValues, ...] = ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = encode(features, kinds=kinds, n_jobs=jobs)
    for warning in caught:
        if isinstance(warning.message, StrayValuesWarning):
            stray += warning.message.columns
        else:
            warnings.warn(warning.message, stacklevel=2)
    return table, stray


def loaded(problem: Problem[Any]) -> Problem[EncodedTable]:
    """Return the problem with its table in memory.

    Raises
    ------
    ValueError
        If all columns are constant, or those of a store are damaged.
    """
    from duramen.tables import encode

    table = encode(problem.table)
    if table.constant().all():
        raise ValueError(f"every column is constant, there is nothing to say of {problem.target}")
    return replace(problem, table=table)
