"""Options for the data of a command, and the table and target that they stand for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from duramen.analyses.problem import Problem, loaded
from duramen.cli.declaration import argument, choice, group, option, recorded
from duramen.cli.problem import encoded
from duramen.cli.reading import Annotations, Reading
from duramen.cli.source import Source, check_columns
from duramen.cli.stores import is_store, read_stored

if TYPE_CHECKING:
    import pyarrow as pa

    from duramen.cli.clock import Clock
    from duramen.tables import ColumnStore, EncodedTable

_TABLE = "File with a table, in one of the formats below"
FEATURES = "samples-feature"
"""Option that names columns of the sample annotations to use as features."""

_ALONE = "that ships with duramen, in place of FILE and --target."


@dataclass(frozen=True)
class Demo:
    """Data set that ships."""

    name: str  # in sentences
    constant: str  # its file and, with _CITATION, its citation in duramen.datasets.bundled
    dropped: tuple[str, ...] = ()  # columns to leave out

    @property
    def citation(self) -> str:
        """Citation of the data."""
        from duramen.datasets import bundled

        return str(getattr(bundled, f"{self.constant}_CITATION"))

    def path(self, stack: ExitStack) -> Path:
        """Return its file, which is there until the stack is closed."""
        from duramen.datasets import bundled

        return stack.enter_context(bundled.bundled_file(getattr(bundled, self.constant)))


class Missing(StrEnum):
    """Treatment of missing values."""

    category = "category"
    drop = "drop"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Table in a file and its target."""

    file: Any = argument(None, f"{_TABLE}.", formats=("read",), metavar="FILE")
    target: str | None = option(None, "Column to explain.", metavar="NAME")
    demo: bool = option(False, f"Use the leukemia set {_ALONE}")
    task: str = choice(
        "auto",
        "duramen.tables.target:OneColumnTask",
        "Task: classification of classes or regression of numbers; auto decides by the values of "
        "the target.",
        before=("auto",),
    )
    drop: tuple[str, ...] = option(
        (), "Column to leave out; repeat for more.", metavar="NAME", record="dropped"
    )
    keep_identifiers: bool = option(
        False,
        "Analyze columns that have a different value in each row, such as row names and row "
        "numbers; by default they are refused.",
        echo="changed",
    )
    drop_missing_target: bool = option(
        False, "Leave out the rows where the target is missing.", echo="changed"
    )
    reading: Reading = group(Reading)

    demo_set: ClassVar[Demo] = Demo("leukemia set", "LEUKEMIA")

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns to leave out, those of the demo included."""
        return (*self.demo_set.dropped, *self.drop) if self.demo else self.drop

    def check_given(self, target: str | None) -> None:
        """Check that the user named a table and its target, or asked for the one that ships.

        Raises
        ------
        ValueError
            If something is missing, or too much.
        """
        if self.demo and (self.file is not None or target is not None):
            raise ValueError("--demo brings its own file and target; leave out FILE and --target")
        if not self.demo and self.file is None:
            raise ValueError(
                f"give a FILE and --target NAME, or --demo for the {self.demo_set.name}"
            )
        if self.file == "":
            raise ValueError("FILE: the name is empty; name a file or a store")
        if not self.demo and target is None:
            raise ValueError(f"--target is missing: which column of {self.file} is the target?")

    def source(
        self,
        command: str,
        target: str | None,
        annotations: Annotations | None = None,
        more: Mapping[str, Sequence[str]] | None = None,
    ) -> Source:
        """Read a table, set its target apart and leave columns out.

        The target may be a column of the sample annotations; so may further columns, `more`, by
        the option that names them.

        Raises
        ------
        ValueError, OSError
            If there is no such file or column, no column is left, or the annotations do not go
            with the table.
        """
        from duramen.tables import target_column
        from duramen.tables.labels import merged_labels

        caller, wanted = f"duramen {command}", target or "y"
        annotations = annotations or Annotations()
        with ExitStack() as stack:
            path = self.demo_set.path(stack) if self.demo else Path(self.file)
            self.reading.check(path, annotations.samples)
            found = self.reading.findings(path)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                data = self.reading.read(path, caller, found)
        notes = tuple(str(one.message) for one in caught)
        if annotations.samples is not None:
            data, paired = annotations.beside(data, self.reading, path.name, caller, found)
            notes = (*notes, paired.note)
            data = _with_annotations(data, paired.table, wanted, more or {})
        elif more and more.get(FEATURES):
            raise ValueError(f"--{FEATURES} needs --samples FILE")
        features, column = target_column(data, wanted, function=caller)
        check_columns("--drop", self.dropped, features.column_names, wanted)
        features = features.drop_columns(list(self.dropped))
        if not features.column_names:
            raise ValueError("--drop leaves no column besides the target")
        citation = self.demo_set.citation if self.demo else ""
        if wanted not in self.reading.as_text:
            column, merged = merged_labels(column, wanted)
            found += [] if merged is None else [merged]
        source = Source(
            path.name, features, column, wanted, citation, notes=notes, findings=tuple(found)
        )
        return source.rows_with_target() if self.drop_missing_target else source

    def encoded(
        self, command: str, source: Source, jobs: int, *, population: bool = False
    ) -> Problem[EncodedTable]:
        """Encode a table and check its target; raises as :func:`encoded` does."""
        return encoded(
            command,
            source,
            task=self.task,
            categorical=self.reading.categorical,
            jobs=jobs,
            keep_identifiers=self.keep_identifiers,
            population=population,
        )

    def settled(self, problem: Problem[Any]) -> dict[str, Any]:
        """Return the values of options that reading the table settled."""
        return {
            "file": None if self.demo else problem.name,
            "target": None if self.demo else problem.target,
            "task": problem.task,
        }

    def record(self) -> dict[str, Any]:
        """Return the settings of reading for the record."""
        known = recorded(self, drop=self.dropped)
        return {name: known[name] for name in known if name not in _DATA}


# On record as the data of a run, not as its settings.
_DATA = ("file", "target", "demo", "task")


@dataclass(frozen=True, kw_only=True)
class Small(Table):
    """Table of few columns, in memory."""

    file: Path | None = argument(None, f"{_TABLE}.", formats=("read",), metavar="FILE")
    demo: bool = option(False, f"Use the primary tumor set {_ALONE}")
    missing: Missing | None = option(
        None,
        "Treatment of missing values: a category of their own, or drop incomplete rows; category "
        "by default, drop with --demo.",
    )

    demo_set: ClassVar[Demo] = Demo("primary tumor set", "PRIMARY_TUMOR")

    @property
    def treated(self) -> Missing:
        """Treatment of missing values."""
        return self.missing or (Missing.drop if self.demo else Missing.category)

    def rows(self, source: Source) -> Source:
        """Leave incomplete rows out if asked to."""
        return source.complete_rows() if self.treated is Missing.drop else source

    def settled(self, problem: Problem[Any]) -> dict[str, Any]:
        """Return the values of options that reading the table settled."""
        return {**super().settled(problem), "missing": self.treated.value}

    def record(self) -> dict[str, Any]:
        """Return the settings of reading for the record."""
        return {**super().record(), "missing": self.treated.value}


@dataclass(frozen=True, kw_only=True)
class Input(Table):
    """Table or column store, with sample annotations."""

    file: str | None = argument(
        None,
        f"{_TABLE}, or a folder made by duramen pack, or its URL.",
        formats=("read", "columns"),
        metavar="FILE",
    )
    annotations: Annotations = group(Annotations)
    samples_feature: tuple[str, ...] = option(
        (),
        "Column of the sample annotations to use as a feature, such as age; repeat for more.",
        metavar="NAME",
        record="samples_features",
        echo="changed",
    )

    @property
    def place(self) -> Path | str | None:
        """Path of this machine, or a URL."""
        return self.file if self.file is None or "://" in self.file else Path(self.file)

    def check(self) -> None:
        """Check that options of the data go together."""
        self.check_given(self.target)
        self.annotations.check()
        self.reading.check(self.place, self.annotations.samples)

    def read(
        self,
        command: str,
        jobs: int,
        clock: Clock,
        labels: Mapping[str, Sequence[str]] | None = None,
    ) -> Problem[EncodedTable] | Problem[ColumnStore]:
        """Read a table, or open a store; `labels` has the columns of strata and the like."""
        labels, place = labels or {}, self.place
        if place is not None and is_store(place):
            with clock.step("open"):
                return read_stored(
                    command,
                    place,
                    str(self.target),
                    annotations=self.annotations,
                    reading=self.reading,
                    task=self.task,
                    drop=self.drop,
                    labels=self.apart(labels),
                    features=self.samples_feature,
                    keep_identifiers=self.keep_identifiers,
                    drop_missing_target=self.drop_missing_target,
                )
        with clock.step("read"):
            source = self.own_source(command, labels).labelled(labels)
        with clock.step("encode"):
            return self.encoded(command, source, jobs)

    def apart(self, labels: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        """Return the columns of a store that are set apart, by their option."""
        return labels

    def own_source(self, command: str, labels: Mapping[str, Sequence[str]]) -> Source:
        """Read the table; raises as :meth:`source` does."""
        more = {**labels, FEATURES: self.samples_feature}
        return self.source(command, self.target, self.annotations, more)

    def load(
        self, command: str, jobs: int, clock: Clock, labels: Mapping[str, Sequence[str]]
    ) -> Problem[EncodedTable]:
        """Read and encode a table, or take a store into memory; raises as :meth:`read` does."""
        from duramen.tables import EncodedTable

        problem = self.read(command, jobs, clock, labels)
        if isinstance(problem.table, EncodedTable):
            return problem
        with clock.step("load"):
            return loaded(problem)


@dataclass(frozen=True, kw_only=True)
class SmallInput(Small, Input):
    """Table or column store that is read into memory, with sample annotations."""

    file: str | None = argument(  # type: ignore[assignment]
        None,
        f"{_TABLE}, or a folder made by duramen pack, or its URL.",
        formats=("read", "columns"),
        metavar="FILE",
    )


def _with_annotations(
    data: pa.Table, samples: pa.Table, target: str, more: Mapping[str, Sequence[str]]
) -> pa.Table:
    """Return a table with the columns of its annotations that are asked for."""
    for name in more.get(FEATURES, ()):
        if name in data.column_names:
            raise ValueError(f"--{FEATURES} {name} is already a column of the table")
        check_columns(f"--{FEATURES}", [name], samples.column_names, target)
    for name in (target, *(name for names in more.values() for name in names)):
        if name not in data.column_names and name in samples.column_names:
            data = data.append_column(name, samples.column(name))
    return data
