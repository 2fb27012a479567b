"""The table that a command works on: from a file, or one that ships with the package."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from duramen.cli.reading import Reading, Samples

_AS_USUAL, _NO_SAMPLES = Reading(), Samples()


@dataclass(frozen=True)
class Demo:
    """A data set that ships.

    Parameters
    ----------
    file : str
        Its file in the package.
    citation : str
        What to cite.
    target : str
        Its target column.
    """

    file: str
    citation: str
    target: str = "y"


@dataclass(frozen=True)
class Source:
    """A table and its target as they were read.

    Parameters
    ----------
    name : str
        Name of the file, without its folder.
    features : pyarrow.Table
        The columns but the target and those left out.
    column : pyarrow.ChunkedArray
        The target.
    target : str
        Name of the target.
    citation : str
        What the data ask to be cited; empty if nothing.
    labels : mapping
        Strata and blocks of the rows, by the name of the option; empty for none.
    notes : tuple of str
        What the user had better know of how it was read.
    """

    name: str
    features: Any
    column: Any
    target: str
    citation: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def labelled(self, columns: Mapping[str, str]) -> Source:
        """Set columns apart as strata and blocks of the rows.

        Parameters
        ----------
        columns : mapping
            Name of the column, by the name of the option.

        Raises
        ------
        ValueError
            If there is no such column, it is the target, or no column is left.
        """
        there = self.features.column_names
        for option, name in columns.items():
            check_columns(f"--{option}", [name], there, self.target)
        labels = {option: self.features[name] for option, name in columns.items()}
        features = self.features.drop_columns(sorted(set(columns.values())))
        if not features.column_names:
            raise ValueError("--strata and --blocks leave no column beside the target")
        return replace(self, features=features, labels=labels)

    def complete_rows(self) -> Source:
        """Leave out the rows where a feature or the target is missing.

        Raises
        ------
        ValueError
            If no row is left.
        """
        import pyarrow.compute as pc

        complete = pc.invert(pc.is_null(self.column, nan_is_null=True))
        for column in self.features.columns:
            complete = pc.and_(complete, pc.invert(pc.is_null(column, nan_is_null=True)))
        features = self.features.filter(complete)
        if not features.num_rows:
            raise ValueError(
                "--missing drop leaves no row: each has a missing value; --drop the columns with "
                "many, or use --missing category"
            )
        labels = {option: column.filter(complete) for option, column in self.labels.items()}
        return replace(self, features=features, column=self.column.filter(complete), labels=labels)


def check_input(file: Path | str | None, target: str | None, demo: bool, what_ships: str) -> None:
    """Check that the user named a table and its target, or asked for the one that ships.

    Raises
    ------
    ValueError
        If something is missing, or too much.
    """
    if demo and (file is not None or target is not None):
        raise ValueError("--demo brings its own file and target; leave out FILE and --target")
    if not demo and file is None:
        raise ValueError(f"give a FILE and --target NAME, or --demo for the {what_ships}")
    if not demo and target is None:
        raise ValueError(f"--target is missing: which column of {file} shall be explained?")


def read_source(
    command: str,
    file: Path | str | None,
    target: str | None,
    demo: Demo | None,
    drop: Sequence[str],
    *,
    reading: Reading = _AS_USUAL,
    samples: Samples = _NO_SAMPLES,
) -> Source:
    """Read a table, set its target apart and leave columns out.

    The target may be a column of the sample annotations.

    Raises
    ------
    ValueError, OSError
        If there is no such file or column, no column is left, or the annotations do not go with
        the table.
    """
    from duramen.datasets.bundled import bundled_file
    from duramen.tables import target_column

    caller = f"duramen {command}"
    with ExitStack() as stack:
        found = file if demo is None else stack.enter_context(bundled_file(demo.file))
        if found is None:
            raise ValueError("give a FILE")
        path = Path(found)
        reading.check(path, samples.file)
        data = reading.read(path, caller)
    wanted = demo.target if demo is not None else str(target)
    notes: tuple[str, ...] = ()
    if samples.file is not None:
        data, paired = samples.beside(data, reading, path.name, caller)
        notes = (paired.note,)
        if wanted not in data.column_names and wanted in paired.table.column_names:
            data = data.append_column(wanted, paired.table.column(wanted))
    features, column = target_column(data, wanted, function=caller)
    check_columns("--drop", drop, features.column_names, wanted)
    features = features.drop_columns(list(drop))
    if not features.column_names:
        raise ValueError("--drop leaves no column beside the target")
    citation = "" if demo is None else demo.citation
    return Source(path.name, features, column, wanted, citation, notes=notes)


def check_columns(option: str, asked: Sequence[str], there: Sequence[str], target: str) -> None:
    """Check that an option names columns of the table.

    Raises
    ------
    ValueError
        If it names the target or no column.
    """
    for name in asked:
        if name == target:
            raise ValueError(f"{option} {name} is the target")
        if name not in there:
            close = difflib.get_close_matches(name, there, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"{option} {name} is no column of the table{hint}")
