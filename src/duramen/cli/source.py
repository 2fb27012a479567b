"""Table that a command works on, as it was read, and its target."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from duramen.support.arrow import pc

if TYPE_CHECKING:
    from duramen.data import Finding


EVENT = "event"
"""Option that names the column of the events of survival."""
APART = ("strata", "groups", "context", EVENT)
"""Options whose columns are no features."""


@dataclass(frozen=True)
class Source:
    """Table and its target as they were read."""

    name: str  # of the file, without its folder
    features: Any  # pyarrow.Table: columns but the target and those left out
    column: Any  # pyarrow.ChunkedArray: the target
    target: str  # its name
    citation: str = ""  # what the data ask to be cited
    # Columns of strata, groups and covariates by their names, by the option.
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # on how it was read
    dropped_rows: int = 0  # incomplete rows that were left out
    findings: tuple[Finding, ...] = ()  # on the file
    as_text: tuple[str, ...] = ()  # columns of text that stay text
    event: Any = None  # pyarrow.ChunkedArray: of survival, whether the event occurred
    event_name: str = ""  # column of the events

    def with_event(self, name: str) -> Source:
        """Set a column apart as the events of survival, the target being the times."""
        check_columns(f"--{EVENT}", [name], self.features.column_names, self.target)
        features = self.features.drop_columns([name])
        if not features.column_names:
            raise ValueError("--event leaves no column besides the target")
        return replace(self, features=features, event=self.features[name], event_name=name)

    def labelled(self, columns: Mapping[str, Sequence[str]]) -> Source:
        """Set columns apart, as strata and groups of the rows, by the name of the option.

        Covariates are features too.
        """
        there = self.features.column_names
        for option, names in columns.items():
            check_columns(f"--{option}", names, there, self.target)
        labels = {
            option: {name: self.features[name] for name in names}
            for option, names in columns.items()
        }
        apart = sorted({name for one in APART if one in columns for name in columns[one]})
        features = self.features.drop_columns(apart)
        if not features.column_names:
            given = " and ".join(f"--{option}" for option in columns if option in APART)
            raise ValueError(f"no column is left besides the target and {given}")
        return replace(self, features=features, labels=labels)

    def rows_with_target(self) -> Source:
        """Leave out the rows where the target is missing.

        Raises
        ------
        ValueError
            If no row is left.
        """
        known = pc.invert(pc.is_null(self.column, nan_is_null=True))
        if self.event is not None:
            known = pc.and_(known, pc.invert(pc.is_null(self.event, nan_is_null=True)))
        column = self.column.filter(known)
        if not len(column):
            raise ValueError(f"--drop-missing-target leaves no row: {self.target} has no value")
        dropped = len(self.column) - len(column)
        return replace(
            self,
            features=self.features.filter(known),
            column=column,
            event=None if self.event is None else self.event.filter(known),
            notes=(*self.notes, left_out_words(dropped, len(self.column))),
            dropped_rows=self.dropped_rows + dropped,
        )

    def complete_rows(self) -> Source:
        """Leave out the rows where a feature or the target is missing; some must be left."""
        complete = pc.invert(pc.is_null(self.column, nan_is_null=True))
        for column in self.features.columns:
            complete = pc.and_(complete, pc.invert(pc.is_null(column, nan_is_null=True)))
        features = self.features.filter(complete)
        total = self.features.num_rows
        if not features.num_rows:
            raise ValueError(NO_COMPLETE_ROW)
        dropped = total - features.num_rows
        told = incomplete_words(dropped, total)
        return replace(
            self,
            features=features,
            column=self.column.filter(complete),
            notes=(*self.notes, told) if dropped else self.notes,
            dropped_rows=self.dropped_rows + dropped,
        )


NO_COMPLETE_ROW = (
    "--missing drop leaves no row: each has a missing value; --drop the columns with many, or use "
    "--missing category"
)


def incomplete_words(dropped: int, total: int) -> str:
    """Say how many rows were left out since a value is missing."""
    return f"{dropped:,} of {total:,} rows {_are(dropped)} incomplete and {_were(dropped)} left out"


def left_out_words(dropped: int, total: int) -> str:
    """Say how many rows were left out since their target is missing."""
    have = "has" if dropped == 1 else "have"
    return f"{dropped:,} of {total:,} rows {have} no target and {_were(dropped)} left out"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def check_columns(option: str, asked: Sequence[str], there: Sequence[str], target: str) -> None:
    """Check that an option names columns of the table, the target not among them."""
    wrong = []
    for name in asked:
        if name == target:
            wrong.append(f"{option} {name} is the target")
        elif name not in there:
            close = difflib.get_close_matches(name, there, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            wrong.append(f"{option} {name} is not a column of the table{hint}")
    if wrong:
        raise ValueError("; ".join(wrong))
