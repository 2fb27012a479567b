"""Options for the data of a command, and the table and target that they stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from duramen.analyses.problem import Problem, loaded, sampled, stray_columns
from duramen.cli.console import as_typed, unseen
from duramen.cli.declaration import argument, choice, group, option, recorded
from duramen.cli.options import check_demo
from duramen.cli.problem import (
    APART,
    Settling,
    Source,
    check_columns,
    encoded,
    exchanged,
    named_by,
    naming_columns,
)
from duramen.cli.reading import Annotations, Matrix, Reading
from duramen.cli.stores import Opened, is_store, read_stored
from duramen.data.provenance import RowNames
from duramen.support.arrow import is_number, is_text, pa
from duramen.support.warning import gathered_warnings

if TYPE_CHECKING:
    from duramen.analyses.problem import Problem
    from duramen.cli.ending import Clock
    from duramen.data import EncodedTable
    from duramen.io import ColumnStore


_TABLE = "File with a table, in one of the formats below"
FEATURES = "samples-feature"
"""Option that names columns of the sample annotations to use as features."""

_SHOWN = 10

_ALONE = "that ships with duramen, in place of FILE and --target."


@dataclass(frozen=True)
class Demo:
    """Data set that ships."""

    name: str  # in sentences
    constant: str  # its file and, with _CITATION, its citation in duramen.datasets.dataset
    dropped: tuple[str, ...] = ()  # columns to leave out

    @property
    def citation(self) -> str:
        """Citation of the data."""
        from duramen.datasets import dataset

        return str(getattr(dataset, f"{self.constant}_CITATION"))

    def path(self, stack: ExitStack) -> Path:
        """Return its file, which is there until the stack is closed."""
        from duramen.datasets import dataset

        return stack.enter_context(dataset.bundled_file(getattr(dataset, self.constant)))


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.data.target import OneColumnTask

    return {"task": OneColumnTask}


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
        _choices,
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
        "numbers; by default they are left out, with a note.",
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
        inputs = {"FILE": self.file, "--target": target}
        check_demo(self.demo, inputs, "a FILE and --target NAME", f"the {self.demo_set.name}")
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
        from duramen.data.finding import Finding
        from duramen.findings.table import of_names
        from duramen.findings.target import merged_labels
        from duramen.io.files import target_column

        caller, wanted = f"duramen {command}", target or "y"
        annotations = annotations or Annotations()
        with ExitStack() as stack:
            path = self.demo_set.path(stack) if self.demo else Path(self.file)
            options, findings = self.reading.options, list[Finding]()
            options.check(path, annotations.samples)
            with gathered_warnings() as gathered:
                data = options.table(path, findings, caller)
        notes = tuple(as_typed(str(warning)) for warning in gathered)
        findings += of_names(data)
        names, there = RowNames(), data.column_names
        if annotations.samples is not None:
            data, paired = annotations.beside(data, self.reading, path.name, caller, findings)
            notes = (*notes, paired.note)
            names = RowNames(None if paired.names is None else paired.names.labels)
            data = _with_annotations(data, paired.table, wanted, more or {})
            there = [*there, *paired.table.column_names]
        elif more and more.get(FEATURES):
            raise ValueError(f"--{FEATURES} needs --samples FILE")
        if wanted not in data.column_names:
            beside = None if annotations.samples is None else paired.table
            raise absent(data, wanted, beside, path.name, caller, (*notes, *findings))
        check_columns("--as-text", self.reading.as_text, there, "")
        features, column = target_column(data, wanted, function=caller)
        check_columns("--drop", self.dropped, features.column_names, wanted)
        names = named_by(names, features, naming_columns(features, self.dropped))
        features = features.drop_columns(list(self.dropped))
        if not features.column_names:
            raise ValueError("--drop leaves no column besides the target")
        citation = self.demo_set.citation if self.demo else ""
        if wanted not in self.reading.as_text:
            column, merged = merged_labels(column, wanted)
            findings += [] if merged is None else [merged]
        as_text = self.reading.as_text
        source = Source(
            path.name,
            features,
            column,
            wanted,
            citation,
            notes=notes,
            findings=tuple(findings),
            as_text=as_text,
            row_names=names,
        )
        return source.rows_with_target() if self.drop_missing_target else source

    def encoded(self, command: str, source: Source, jobs: int) -> Problem[EncodedTable]:
        """Encode a table and check its target; raises as :func:`encoded` does."""
        return encoded(
            command,
            source,
            task=self.task,
            categorical=self.reading.categorical,
            jobs=jobs,
            keep_identifiers=self.keep_identifiers,
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
        record = recorded(self, drop=self.dropped)
        return {name: record[name] for name in record if name not in _DATA}


# On record as the data of a run, not as its settings.
_DATA = ("file", "target", "demo", "task")


@dataclass(frozen=True, kw_only=True)
class Input(Table):
    """Table or column store, with sample annotations."""

    file: str | None = argument(
        None,
        f"{_TABLE}, or a folder made by duramen pack, or its URL.",
        formats=("read", "groups", "columns"),
        metavar="FILE",
    )
    matrix: Matrix = group(Matrix)
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

    def check(self, target: str | None = None) -> None:
        """Check that options of the data go together; `target` is in place of ``--target``."""
        self.check_given(self.target if target is None else target)
        self.annotations.check()
        if self.place is None or is_store(self.place):
            self.matrix.check_unused()
        self.reading.options.check(self.place, self.annotations.samples)

    def read(
        self,
        command: str,
        jobs: int,
        clock: Clock,
        labels: Mapping[str, Sequence[str]] | None = None,
    ) -> Problem[EncodedTable] | Problem[ColumnStore]:
        """Read a table, or open a store; `labels` has the columns of strata and the like."""
        labels = labels or {}
        if self.is_stored:
            with clock.step("open"):
                return self.stored(command, self.apart(labels))
        with clock.step("read"):
            source = self.own_source(command, labels).labelled(labels)
        with clock.step("encode"):
            return self.encoded(command, source, jobs)

    def stored(
        self,
        command: str,
        labels: Mapping[str, Sequence[str]] | None = None,
        *,
        target: str | None = None,
        settle: Settling = exchanged,
    ) -> Problem[EncodedTable] | Problem[ColumnStore]:
        """Open a store, or pack the file and read it into memory; see :func:`read_stored`.

        Columns that `labels` sets apart, and a target that is not the option's, may be among those
        to treat as categorical.
        """
        named = [name for option in APART if labels for name in labels.get(option, ())]
        apart = {target, *named}
        with self.opened(command) as opened:
            kinds = tuple(name for name in opened.reading.categorical if name not in apart)
            problem = read_stored(
                command,
                replace(opened, reading=replace(opened.reading, categorical=kinds)),
                str(target or self.target),
                annotations=self.annotations,
                task=self.task,
                drop=self.dropped,
                labels=labels,
                features=self.samples_feature,
                settle=settle,
                keep_identifiers=self.keep_identifiers,
                drop_missing_target=self.drop_missing_target,
            )
            return loaded(problem) if opened.packed else problem

    @property
    def is_stored(self) -> bool:
        """True if the table is a store, or has to be packed: transposed, in tiles, of no format."""
        from duramen.io.formats import format_of

        place = self.place
        if place is None or is_store(place):
            return place is not None
        format_ = format_of(place)
        packed = self.matrix.transpose or self.matrix.layer is not None
        return packed or format_ is None or format_.read is None

    @contextmanager
    def opened(self, command: str) -> Iterator[Opened]:
        """Give the store that is read: the one that is named, or one of the file for the while.

        Raises
        ------
        ValueError, TypeError, OSError
            If the file cannot be packed.
        """
        assert self.place is not None
        if is_store(self.place):
            yield Opened(self.place, self.reading)
            return
        from duramen.io.store.packing import pack_table
        from duramen.reading.answers import of_stray_values
        from duramen.support.files import expanded

        file, reading, caller = expanded(self.place), self.reading, f"duramen {command}"
        parameters, findings = reading.options.arguments(file)
        kinds = dict.fromkeys(reading.categorical, "nominal") or None
        with TemporaryDirectory(prefix="duramen-") as folder:
            place = Path(folder) / file.name
            how: dict[str, Any] = {"transpose": self.matrix.transpose, "layer": self.matrix.layer}
            unseen.add(f"{folder}{os.sep}")
            with gathered_warnings() as gathered, stray_columns() as stray:
                pack_table(file, place, kinds=kinds, **how, reading=parameters, function=caller)
            with gathered_warnings() as others:
                findings += reading.options.found(gathered, file)
            findings += of_stray_values(stray, file.name)
            notes = tuple(as_typed(str(warning)) for warning in others)
            reading = replace(reading, categorical=())
            yield Opened(place, reading, True, tuple(findings), notes)

    def apart(self, labels: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        """Return the columns of a store that are set apart, by their option."""
        return labels

    def own_source(self, command: str, labels: Mapping[str, Sequence[str]]) -> Source:
        """Read the table; raises as :meth:`source` does."""
        more = {**labels, FEATURES: self.samples_feature}
        return self.source(command, self.target, self.annotations, more)


def _with_annotations(
    data: pa.Table, samples: pa.Table, target: str, more: Mapping[str, Sequence[str]]
) -> pa.Table:
    """Return a table with the columns of its annotations that are asked for."""
    for name in more.get(FEATURES, ()):
        if name in data.column_names:
            raise ValueError(f"--{FEATURES} {name} is already a column of the table")
        check_columns(f"--{FEATURES}", [name], samples.column_names, target, "samples")
    for name in (target, *(name for names in more.values() for name in names)):
        if name not in data.column_names and name in samples.column_names:
            data = data.append_column(name, samples.column(name))
    return data


def absent(
    data: pa.Table,
    target: str,
    samples: pa.Table | None,
    file: str,
    caller: str,
    notes: Sequence[object],
) -> ValueError:
    """Return the error about a target that is no column, with the option that may be missing.

    Notes about the file may be the reason: other sheets, a first line that is a row.
    """
    from duramen.io.files import target_column
    from duramen.support.text import quoted

    if samples is not None:
        names = ", ".join(map(quoted, samples.column_names[:_SHOWN]))
        near = get_close_matches(target, [*samples.column_names, *data.column_names], n=1)
        hint = f"; did you mean {quoted(near[0])}?" if near else ""
        more = ", ..." if len(samples.column_names) > _SHOWN else ""
        return ValueError(
            f"{caller}: neither {file} nor its samples have a column {quoted(target)}{hint}; "
            f"columns of the samples are {names}{more}"
        )
    try:
        target_column(data, target, function=caller)
    except ValueError as error:
        words = str(error)
    if len(data.column_names) == 1 and any(sign in data.column_names[0] for sign in ",;\t|"):
        return ValueError(
            f"{words}. Hint: each line of {file} is a single field, as where quotes surround whole "
            "lines; take these quotes away"
        )
    if len(data.column_names) == 1 and " " in data.column_names[0]:
        return ValueError(f"{words}. Hint: --separator space, if spaces separate the fields")
    if "did you mean" in words or not names_rows(data):
        reasons = [f"{note}".rstrip(".") for note in notes]
        return ValueError("; note: ".join([words, *reasons]))
    first = quoted(data.column_names[0])
    return ValueError(
        f"{words}. Hint: the first column, {first}, names the rows. If these are features, such as "
        "genes, and columns are samples: --transpose --samples FILE, a table with the target of "
        "each sample; if rows are samples: --samples FILE"
    )


def names_rows(data: pa.Table) -> bool:
    """Return whether the first column is text that differs in each row, and others are numbers."""
    first, *others = data.columns
    if not is_text(first.type) or not others:
        return False
    numbers = sum(is_number(column.type) for column in others)
    return 2 * numbers > len(others) and len(first.unique()) == len(first)


@dataclass(frozen=True, kw_only=True)
class SampledInput(Input):
    """Table or column store of which a random sample of the rows can be taken."""

    max_rows: int | None = option(
        None,
        "Maximum number of rows: of more, a random sample is analyzed, in which classes keep "
        "their proportions; all rows by default.",
        metavar="N",
        min=2,
        echo="changed",
    )

    def sample(
        self,
        command: str,
        jobs: int,
        clock: Clock,
        labels: Mapping[str, Sequence[str]],
        seed: int,
    ) -> Problem[Any]:
        """Read a table, or open a store; of more rows than asked for, a random sample is left."""
        problem = self.read(command, jobs, clock, labels)
        return sampled(problem, self.max_rows, seed, f"--max-rows {self.max_rows}, --seed {seed}")

    def load(
        self,
        command: str,
        jobs: int,
        clock: Clock,
        labels: Mapping[str, Sequence[str]],
        seed: int,
    ) -> Problem[EncodedTable]:
        """Sample a table, or take the sampled rows of a store into memory."""
        from duramen.data import EncodedTable

        problem = self.sample(command, jobs, clock, labels, seed)
        if isinstance(problem.table, EncodedTable):
            return problem
        with clock.step("load"):
            return loaded(problem)
