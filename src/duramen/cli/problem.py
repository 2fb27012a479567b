"""The learning set that a command works on, and where it came from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from duramen.cli.options import Task
from duramen.cli.reading import stray_notes
from duramen.cli.source import Source, check_columns
from duramen.results.warning import warn

if TYPE_CHECKING:
    from duramen.tables import EncodedTable, LearningSet, Target
    from duramen.tables.store import ColumnStore
    from duramen.tables.stray import StrayValues

TableT = TypeVar("TableT", bound="EncodedTable | ColumnStore")


@dataclass(frozen=True)
class Problem(Generic[TableT]):
    """A learning set, and what the command line knows of where it came from.

    Parameters
    ----------
    name : str
        What the table is called: its file or folder, without where that lies, or its URL.
    data : LearningSet
        The columns but the target and those left out, and the target.
    target : str
        Name of the target.
    citation : str
        What the data ask to be cited; empty if nothing.
    notes : tuple of str
        What the user had better know of how the table was read.
    """

    name: str
    data: LearningSet[TableT]
    target: str
    citation: str = ""
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> TableT:
        """The columns but the target and those left out."""
        return self.data.table

    @property
    def task(self) -> str:
        """Task of the target: "classification" or "regression"."""
        return self.data.task


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
    from duramen.tables.learning_set import of_table
    from duramen.tables.stray import stray_values_of

    names = source.features.column_names
    check_columns("--categorical", categorical, names, source.target)
    target = target_of(command, source.target, source.column, task)
    table, stray = encoded_features(source.features, categorical, jobs)
    notes = [*source.notes, *stray_notes(stray, source.name)]
    classes = stray_values_of(source.target, source.column) if task is Task.auto else None
    if classes is not None:
        notes += stray_notes([classes], source.name, "--task classification")
    data = of_table(table, target, f"duramen {command}", **source.labels)
    return loaded(Problem(source.name, data, source.target, source.citation, tuple(notes)))


def target_of(command: str, name: str, values: Any, task: Task) -> Target:
    """Check and encode a target, as what the user says that it is or what it looks like."""
    from duramen.tables import encode_target

    return encode_target(values, task.value, function=f"duramen {command}: --target {name}")


def encoded_features(
    features: Any, categorical: Sequence[str], jobs: int
) -> tuple[EncodedTable, tuple[StrayValues, ...]]:
    """Encode columns; return the table, and the columns of text that are nearly numbers."""
    from duramen.tables import encode

    kinds = dict.fromkeys(categorical, "nominal") or None
    with stray_columns() as stray:
        table = encode(features, kinds=kinds, n_jobs=jobs)
    return table, tuple(stray)


@contextmanager
def stray_columns() -> Iterator[list[StrayValues]]:
    """Gather the columns that are warned of as nearly numbers, in place of the warnings."""
    from duramen.tables import StrayValuesWarning

    stray: list[StrayValues] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield stray
    for warning in caught:
        if isinstance(warning.message, StrayValuesWarning):
            stray += warning.message.columns
        else:
            warn(warning.message)


def loaded(problem: Problem[Any]) -> Problem[EncodedTable]:
    """Return the problem with its table in memory.

    Raises
    ------
    ValueError
        If all columns are constant, or those of a store are damaged.
    """
    data = problem.data.in_memory()
    if data.table.constant().all():
        raise ValueError(f"every column is constant, there is nothing to say of {problem.target}")
    return replace(problem, data=data)
