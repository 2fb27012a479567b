"""Learning set that a command works on, and what a look at the data finds."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from duramen.analyses.problem import Problem, loaded, stray_columns
from duramen.cli.console import as_typed
from duramen.data.provenance import RowNames
from duramen.support.arrow import pa, pc

if TYPE_CHECKING:
    from duramen.data import EncodedTable, Finding, Target
    from duramen.data.text_numbers import StrayValues
    from duramen.io import ColumnStore

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
    row_names: RowNames = field(default_factory=RowNames)

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
        apart = sorted({name for option in APART if option in columns for name in columns[option]})
        features = self.features.drop_columns(apart)
        if not features.column_names:
            options = " and ".join(f"--{option}" for option in columns if option in APART)
            raise ValueError(f"no column is left besides the target and {options}")
        return replace(self, features=features, labels=labels)

    def rows_with_target(self) -> Source:
        """Leave out the rows where the target is missing.

        Raises
        ------
        ValueError
            If no row is left.
        """
        present = pc.invert(pc.is_null(self.column, nan_is_null=True))
        if self.event is not None:
            present = pc.and_(present, pc.invert(pc.is_null(self.event, nan_is_null=True)))
        column = self.column.filter(present)
        if not len(column):
            raise ValueError(f"--drop-missing-target leaves no row: {self.target} has no value")
        dropped = len(self.column) - len(column)
        return replace(
            self,
            features=self.features.filter(present),
            column=column,
            event=None if self.event is None else self.event.filter(present),
            notes=(*self.notes, left_out_words(dropped, len(self.column))),
            dropped_rows=self.dropped_rows + dropped,
            row_names=self.row_names.take(present.to_numpy().nonzero()[0]),
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
        note = incomplete_words(dropped, total)
        return replace(
            self,
            features=features,
            column=self.column.filter(complete),
            notes=(*self.notes, note) if dropped else self.notes,
            dropped_rows=self.dropped_rows + dropped,
            row_names=self.row_names.take(complete.to_numpy().nonzero()[0]),
        )


@dataclass(frozen=True)
class Outcome:
    """Target of a table or a store: values, or times and whether the event occurred."""

    name: str
    values: Any
    event_name: str = ""  # column of the events
    events: Any = None  # of survival

    def findings(self, task: str, stray: Sequence[StrayValues], file: str) -> list[Finding]:
        """Look at the values, which may be `stray` text that is nearly numbers, and the events."""
        from duramen.findings.target import of_target
        from duramen.reading.answers import of_stray_values

        survival = self.events is not None
        findings = of_target(self.values, self.name, "regression" if survival else task)
        if stray and task == "auto":
            findings = [finding for finding in findings if finding.kind != "target identifier"]
            findings += of_stray_values(stray, file, target=True)
        if survival:
            findings += of_target(self.events, self.event_name, "classification")
        return findings

    def rows(
        self, table: EncodedTable | ColumnStore, task: str, labels: Mapping[str, Mapping[str, Any]]
    ) -> list[Finding]:
        """Look for columns that tell the target, or the event, and for rows that depend on others.

        `labels` are columns that are set apart, by the option, of which groups matter.
        """
        from duramen.findings.rows import dependence, of_rows
        from duramen.findings.target import of_leaks

        groups = next(iter(labels.get("groups", {}).values()), None)
        if self.events is None:
            return of_rows(table, self.values, self.name, task, groups)
        finding = dependence(table, self.values, self.name, "regression", groups)
        leaks = of_leaks(table, self.events, self.event_name, "classification")
        return leaks if finding is None else [*leaks, finding]

    def encoded(self, command: str, task: Any) -> Target:
        """Check and encode the target, for a task or the one that its values suggest."""
        from duramen.data import SurvivalTarget
        from duramen.data.survival import survival_codes
        from duramen.data.target import encode_target, target_array

        naming = f"duramen {command}: --target {self.name}"
        if self.events is None:
            return encode_target(self.values, task, function=naming)
        naming += f" and --{EVENT}"
        columns = (target_array(column, function=naming) for column in (self.values, self.events))
        return SurvivalTarget(*survival_codes(*columns, function=naming))


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


def check_columns(
    option: str, asked: Sequence[str], there: Sequence[str], target: str, table: str = "table"
) -> None:
    """Check that an option names columns of the table, the target not among them."""
    from duramen.support.text import quoted  # a slow import

    wrong = []
    for name in asked:
        if name == target:
            wrong.append(f"{option} {name} is the target")
        elif name not in there:
            close = difflib.get_close_matches(name, there, n=1)
            hint = f"; did you mean {quoted(close[0])}?" if close else ""
            wrong.append(f"{option} {name} is not a column of the {table}{hint}")
    if wrong:
        raise ValueError("; ".join(wrong))


def encoded(
    command: str,
    source: Source,
    *,
    task: str,
    categorical: Sequence[str],
    jobs: int,
    keep_identifiers: bool = False,
    others: Sequence[Finding] = (),
) -> Problem[EncodedTable]:
    """Encode a table, look at it and check its target, for a task or "auto".

    The command is for errors; `others` are findings about columns that are no features.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If a column or the target cannot be used, or all columns are constant.
    """
    from duramen.data.learning_sets import learning_set_of
    from duramen.data.text_numbers import stray_values_of
    from duramen.findings.table import left_out

    check_columns("--categorical", categorical, source.features.column_names, source.target)
    outcome = Outcome(source.target, source.column, source.event_name, source.event)
    meant = task != "auto" or source.target in source.as_text
    stray = None if meant else stray_values_of(source.target, source.column)
    remarks = [*others, *outcome.findings(task, [stray] if stray else [], source.name)]
    table, findings = looked(
        command,
        source,
        categorical,
        jobs,
        keep_identifiers,
        remarks,
        together=partial(outcome.rows, task=task, labels=source.labels),
    )
    target = outcome.encoded(command, task)
    rows, notes = exchanged(source.labels, target.labels)
    data = learning_set_of(table, target, f"duramen {command}", **rows)
    noted = (*source.notes, *notes)
    described = (source.target, source.citation, noted, source.dropped_rows, findings)
    names = named_by(source.row_names, source.features, left_out(findings))
    return loaded(Problem(source.name, data, *described, labels=source.labels, row_names=names))


def naming_columns(table: Any, asked: Sequence[str]) -> list[str]:
    """Return the columns, of those asked for, that may name the rows."""
    from duramen.io.store.row_ids import of_table

    return [names.columns[0] for names in of_table(table.select(list(asked)))]


def named_by(names: RowNames, columns: Any, identifiers: Sequence[str]) -> RowNames:
    """Return names of rows, by the first identifier among the columns if they have no labels."""
    from duramen.io.store.row_ids import texts_of

    present = [name for name in identifiers if name in columns.column_names]
    if names.labels is not None or not present:
        return names
    return replace(names, labels=texts_of(columns[present[0]].combine_chunks()))


# Makes strata and groups of columns that are set apart, given the target, with remarks.
Settling: TypeAlias = Callable[
    [Mapping[str, Mapping[str, Any]], Any], tuple[dict[str, Any], tuple[str, ...]]
]


def exchanged(
    labels: Mapping[str, Mapping[str, Any]], y: Any
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return strata and groups of the rows by their parameter, and what is to be said of them.

    Covariates are made into strata of rows that may exchange values of `y`, within the strata that
    are given.
    """
    made = {
        option: next(iter(labels[option].values()))
        for option in ("strata", "groups")
        if option in labels
    }
    covariates = labels.get("covariate")
    if not covariates:
        return made, ()
    from duramen.data.covariates import covariate_strata
    from duramen.findings.table import dates_of

    columns = {name: as_arrow(covariate) for name, covariate in covariates.items()}
    if "strata" in made:
        texts = as_arrow(made["strata"]).cast(pa.string())
        columns["--strata"] = texts.dictionary_encode()
    table = pa.table(columns)
    for name in dates_of(table):
        raise ValueError(f"--covariate {name} holds dates; convert them to numbers, such as days")
    try:
        made["strata"] = covariate_strata(table, y)
    except ValueError as error:
        raise ValueError(f"--covariate: {error}") from None
    count = len(set(made["strata"].tolist()))
    said = f"rows are permuted within {count:,} strata of {', '.join(columns)}"
    return made, (said.replace("--strata", "the strata"),)


def as_arrow(values: Any) -> Any:
    """Return the values of a column as an Arrow column; None and NaN are missing."""
    if isinstance(values, pa.ChunkedArray | pa.Array):
        return values
    return pa.array(values, from_pandas=True)


def looked(
    command: str,
    source: Source,
    categorical: Sequence[str],
    jobs: int,
    keep_identifiers: bool,
    others: Sequence[Finding] = (),
    *,
    together: Callable[[EncodedTable], list[Finding]] | None = None,
) -> tuple[EncodedTable, tuple[Finding, ...]]:
    """Encode the columns of a table and look at them; `others` are findings beside.

    `together` looks at the encoded columns and the target together.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If something is refused, or a column cannot be encoded.
    """
    from duramen.data import encode
    from duramen.data.text_numbers import places_of_text
    from duramen.findings.table import dates_of, of_codes, of_dates
    from duramen.reading.answers import of_stray_values

    dates = dates_of(source.features)
    features, table = source.features.drop_columns(list(dates)), None
    findings = [*source.findings, *others, *of_dates(dates)]
    if features.column_names:
        kinds = [name for name in categorical if name not in dates]
        names = features.column_names
        texts = [names[j] for j in places_of_text(features, names, source.as_text)]
        nominal = dict.fromkeys([*kinds, *texts], "nominal") or None
        with stray_columns() as stray:
            table = encode(features, kinds=nominal, n_jobs=jobs)
        findings += of_stray_values(stray, source.name)
        explained = [*categorical, *texts, *(finding.name for finding in stray)]
        findings += of_codes(table, explained)
        findings += [] if together is None else together(table)
    return inspected(command, table, findings, source.name, source.target, keep_identifiers)


def inspected(
    command: str,
    table: Any,
    raw: Sequence[Finding],
    file: str,
    target: str,
    keep_identifiers: bool,
) -> tuple[Any, tuple[Finding, ...]]:
    """Return a table or store without identifiers, and the findings; see :func:`look`."""
    from duramen.findings.table import left_out
    from duramen.io.store.column_store import without_names

    findings = look(command, raw, file, keep_identifiers=keep_identifiers)
    gone = () if keep_identifiers else left_out(raw)
    if len(set(gone)) == table.n_columns:
        raise ValueError(
            f"duramen {command}: no column is left besides the target {target} and columns that "
            f"look like identifiers ({', '.join(sorted(gone))}). Hint: --keep-identifiers keeps "
            "them"
        )
    return without_names(table, gone), findings


def look(
    command: str, raw: Iterable[Finding], file: str, *, keep_identifiers: bool = False
) -> tuple[Finding, ...]:
    """Return findings with options as hints, or refuse the data.

    Of identifiers, which the command leaves out unless they are meant, they say so.

    Raises
    ------
    ValueError
        If something is refused; all other findings are its notes.
    """
    from duramen.reading.answers import answered

    findings = answered(raw, file, keep_identifiers=keep_identifiers, function=f"duramen {command}")
    return tuple(
        replace(finding, hint=as_typed(_hint(finding, file, command))) for finding in findings
    )


def _hint(finding: Finding, file: str, command: str) -> str:
    """Return the hint of a finding; some commands have other answers than `duramen.read`."""
    from duramen.findings.rows import DEPENDENT
    from duramen.findings.table import READ_AS_MISSING
    from duramen.io.formats import format_of

    if finding.kind in DEPENDENT and command == "compare":
        return f"dm.compare(dm.Table(X, y, groups=...)) in Python: {finding.hint}"
    if finding.kind == "imbalance" and command == "rank":
        return "--class-weight balanced gives each class the same weight"
    if finding.hint == READ_AS_MISSING and finding.values:
        kind = format_of(file)
        if kind is None or kind.read is None:
            return f"duramen pack FILE --na-values {shlex.quote(finding.values[0])}"
    return finding.hint
