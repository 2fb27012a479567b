"""The function `duramen.read`."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import EncodedTable, Finding, LearningSet, Target, encode
from duramen.data.dates import (
    DateOrder,
    Dates,
    arrow_of,
    dates_of,
    finding_of_dates,
    frame_with_dates,
    settled_order,
    with_numbers,
)
from duramen.data.learning_sets import learning_set_of, refuse_beside
from duramen.data.provenance import COUNTED, NUMBERED, Provenance, RowNames
from duramen.data.recoding import without_unused
from duramen.data.schema import name_of_label, resolve_kinds
from duramen.data.sources import LARGEST_EXACT, aligned, is_anndata, with_text_names
from duramen.data.strata import covariate_strata
from duramen.data.survival import survival_columns
from duramen.data.target import (
    NoTarget,
    Task,
    encode_target,
    proportions,
    sampled_rows,
)
from duramen.data.text_numbers import (
    StrayValues,
    StrayValuesWarning,
    places_of_text,
    stray_values_of,
)
from duramen.findings.rows import GROUPED, dependence, of_entry, of_leaks
from duramen.findings.table import (
    left_out,
    merged_labels,
    of_codes,
    of_names,
    of_target,
)
from duramen.io import ColumnStore, open_store
from duramen.io.formats import format_of
from duramen.io.formats.format import READING
from duramen.io.store.column_store import of_rows as store_of_rows
from duramen.io.store.column_store import with_columns, without_names
from duramen.io.store.packing import pack_table
from duramen.io.store.row_ids import (
    Names,
    Pairing,
    names_of,
    of_table,
    pair,
    refuse_pairing,
    samples_table,
    texts_of,
)
from duramen.reading.survival import follow_up, survival_of
from duramen.reading.text import (
    answered,
    arguments_for,
    check_options,
    of_numbers_in_text,
    of_stray_values,
    table_of,
    table_of_samples,
)
from duramen.support.arrays import (
    DataFrame,
    RandomState,
    TableLike,
    are_missing,
    arrow_array,
    is_structured,
)
from duramen.support.arrow import is_number, is_text, nw, pa
from duramen.support.checks import (
    check_optional_integer,
    check_seed,
    gathered_warnings,
    hints_on_keywords,
    warn,
)
from duramen.support.files import expanded
from duramen.support.text import joined, quoted

_OUTCOME = ("event", "entry")  # parameters whose columns belong to the target of survival
_FIRST = 10  # rows among which a line of names is looked for
_SHOWN = 10  # columns that a message names
_RECORDED = 1000  # values of a parameter that the record of a run has, at the most
_UNRECORDED = ("source", "target", "citation", "random_state", "n_jobs")


@hints_on_keywords()
def read(
    source: TableLike,
    target: str | ArrayLike | None = None,
    *,
    task: Task | Literal["auto"] = "auto",
    event: str | None = None,
    event_of_interest: str | int | None = None,
    entry: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    groups: str | ArrayLike | None = None,
    covariates: Sequence[str] = (),
    sample_weight: str | ArrayLike | None = None,
    drop: Sequence[str] = (),
    keep_identifiers: bool = False,
    drop_missing_target: bool = False,
    max_rows: int | None = None,
    positive: str | int | None = None,
    missing: Literal["category", "drop"] = "category",
    names: Iterable[str] | None = None,
    kinds: Mapping[Any, str] | Sequence[str | None] | None = None,
    categorical: Sequence[str] = (),
    date_order: DateOrder = "auto",
    samples: str | Path | DataFrame | None = None,
    samples_id: str | None = None,
    samples_match: Literal["exact", "fold", "position"] = "exact",
    samples_features: Sequence[str] = (),
    as_text: Sequence[str] = (),
    na_values: Sequence[str] = (),
    decimal: str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    skip_rows: int = 0,
    member: str | None = None,
    sheet: str | None = None,
    transpose: bool = False,
    layer: str | None = None,
    citation: str = "",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> LearningSet[Any]:
    """Read a table and its target into a learning set.

    Every analysis takes the result in place of ``X, y``. Columns that look like identifiers are
    left out, dates are read as days since the first of their column (times of day in seconds), and
    ``provenance.findings`` has what else is seldom meant.

    Parameters
    ----------
    source : path, URL, data frame, array, sparse matrix, AnnData, ColumnStore or LearningSet
        File with a table, folder of duramen pack, or URL; or a table in memory.
    target : str or array-like of shape (n,), optional
        Column to explain. It stands in the table or in its sample annotations. In Python also its
        values. An analysis without a target, such as :func:`duramen.network`, needs none.
    task : {"auto", "classification", "regression", "survival"}
        Task: classification of classes or regression of numbers; auto decides by the values of the
        target, survival with ``event``.
    event : str, optional
        Column that says whether the event occurred at the time in the target: survival. It holds
        truth values, 0 and 1, 1 and 2, or words such as dead and alive.
    event_of_interest : label, optional
        Value of the column of events that is the event, such as that of one of several competing
        events; rows with any other value are censored.
    entry : str or array-like of shape (n,), optional
        Column of the times after which rows were under observation (left truncation), such as the
        age at inclusion, or the start of an interval where persons have several rows. Rows are at
        risk from there to the time in the target. It is not used as a feature.
    strata : str or array-like of shape (n,), optional
        Column of the strata, such as the population or batch. Rows are permuted only within a
        stratum. The column stands in the table or in its sample annotations and is not used as a
        feature.
    groups : str or array-like of shape (n,), optional
        Column that groups rows, such as the person or family. Rows with the same value form a
        group, which trees draw and tests permute as a whole. The column stands in the table or in
        its sample annotations and is not used as a feature.
    covariates : list of str
        Column, such as age or ancestry, on which both features and target may depend: rows are
        permuted only among those with the same value, or within narrow intervals of numbers. It is
        also used as a feature.
    sample_weight : str or array-like of shape (n,), optional
        Column with the weights of the rows, not negative. It is not used as a feature.
    drop : list of str
        Column to leave out.
    keep_identifiers : bool
        Analyze columns that have a different value in each row, such as row names and row numbers;
        by default they are left out, with a note.
    drop_missing_target : bool
        Leave out the rows where the target is missing.
    max_rows : int, optional
        Largest number of rows: of more, a random sample is analyzed, in which classes keep their
        proportions.
    positive : label, optional
        Class that the directions of effects are about, such as that of the ill; by default, of two
        classes, the one whose label is that of cases, such as yes, 1 or dead, or else the rarer
        one, and of more classes for each feature the one that depends on it most.
    missing : {"category", "drop"}
        Treatment of missing values: a category of their own, or drop incomplete rows.
    names : list of str, optional
        Names of the columns of an array.
    kinds : mapping or sequence, optional
        Kinds of the columns, as for :func:`duramen.encode`.
    categorical : list of str
        Column of numbers or dates to treat as categorical.
    date_order : {"auto", "day-first", "month-first"}
        Order of day and month in dates such as 03/04/2024; auto decides by all dates of the table.
    samples : path or table, optional
        Table of sample annotations, such as the classes. Its rows are paired with the rows of the
        source by name.
    samples_id : str, optional
        Column of the sample annotations, or of the table, with the names of the rows; by default,
        the column whose values match.
    samples_match : {"exact", "fold", "position"}
        Pairing of the rows: by their names as they are; by names folded, without case, spaces,
        signs such as . and -, an X before a digit, and leading zeros; or by position, in the order
        of both files.
    samples_features : list of str
        Column of the sample annotations to use as a feature, such as age.
    as_text : list of str
        Column of text to leave as it is: dates, numbers with units and the like are not read as
        numbers, labels of a target that differ by case or spaces are not merged.
    na_values : list of str
        Additional word for a missing value in CSV and TSV files, such as '?'.
    decimal : str, optional
        Decimal point of numbers in CSV and TSV files, . or ,; by default detected from the first
        lines.
    separator : str, optional
        Character between two fields of CSV and TSV files, or comma, semicolon, tab, pipe, space; by
        default detected from the first lines.
    encoding : str
        Encoding of CSV, TSV and text files, such as latin-1 or utf-16; sample annotations may also
        be in UTF-8.
    skip_rows : int
        Number of lines of the file before the one that names the columns; rows of a workbook.
    member : str, optional
        File to read from a .zip archive; by default the only one.
    sheet : str, optional
        Sheet of a workbook, such as an .xlsx file; the first by default.
    transpose : bool
        Transpose the file, such as one with genes in rows. Its rows become columns, and its first
        column names them.
    layer : str, optional
        Layer of an AnnData to read, or raw; X by default.
    citation : str
        What the data ask to be cited, for the record of the run.
    random_state : int, RandomState, Generator or None
        Seed of the sample of `max_rows`.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    LearningSet
        Columns as dense codes, target, weights and exchangeable rows; ``provenance`` has notes,
        findings and the names of the rows.

    Raises
    ------
    ValueError, TypeError, OSError
        If a parameter is not as described, a file cannot be read, a column is missing, or the table
        is refused, as for a target with missing values.

    Examples
    --------
    >>> import duramen as dm
    >>> import pyarrow as pa
    >>> table = pa.table({"id": range(40), "dose": [1, 2, 3, 4] * 10, "ill": [0, 0, 1, 1] * 10})
    >>> data = dm.read(table, "ill")
    >>> data
    LearningSet of 40 rows x 1 columns; target: 0: 20, 1: 20
    >>> print(data.provenance.findings[0])  # doctest: +SKIP
    """
    arguments = dict(locals())
    given = {}  # parameters other than the defaults
    for parameter, default in signature(read).parameters.items():
        value = arguments[parameter]
        plain = isinstance(value, str | int | float) and value == default.default
        empty = isinstance(value, list | tuple) and not value
        if not (plain or empty or value is default.default):
            given[parameter] = value
    if isinstance(source, LearningSet):
        allowed = {"source", "positive", "keep_identifiers", "n_jobs", "random_state"}
        refuse_beside("read", **{name: given[name] for name in given if name not in allowed})
        data = source if source.provenance.inspected else _inspected(source, keep_identifiers)
        return data if positive is None else _with_positive(data, positive)
    check_optional_integer("read", "max_rows", max_rows, 2)
    options = {name: given[name] for name in READING if name in given}
    pairing = None
    if samples is not None:
        where = Path(source).name if isinstance(source, str | Path) else "the table"
        pairing = Pairing(samples_id, samples_match, where, "read")
    elif samples_id is not None or samples_match != "exact":
        refuse_pairing(samples_id, samples_match, "read")
    names = None if names is None else list(names)
    with ExitStack() as stack:
        kinds_asked = kinds or dict.fromkeys(categorical, "nominal") or None
        if isinstance(source, str | Path):
            how = {"transpose": transpose, "layer": layer, "kinds": kinds_asked}
            how["date_order"] = date_order
            table = _of_file(source, samples, pairing, options, how, stack)
        elif transpose:
            raise ValueError("read: transpose is for files; transpose a table in memory yourself")
        else:
            table = _of_memory(source, samples, pairing, layer, names, kinds_asked)
            table.as_text = as_text
        if table.file and isinstance(table.columns, nw.DataFrame):
            columns = table.columns.to_native()
            table.findings += of_names(columns) if isinstance(columns, pa.Table) else []
        if target is None:
            of_target_only = ("task", "event", "event_of_interest", "entry", "covariates")
            for name in (*of_target_only, "drop_missing_target"):
                if name in given:
                    raise ValueError(f"read: {name} needs target=NAME")
            n, p = table.columns.shape
            named = table.file and isinstance(table.columns, nw.DataFrame) and not transpose
            if named and n >= p and table.names_rows():
                message = (
                    f"{n:,} rows, named by column {quoted(table.columns.columns[0])}, are taken "
                    f"for samples, and {p - 1:,} columns for features"
                )
                hint = "transpose=True if rows are features, such as genes"
                table.findings.append(Finding("names", (), message, hint))
        roles = {"event": event, "entry": entry, "strata": strata, "groups": groups}
        roles["sample_weight"] = sample_weight
        table.set_apart(target, roles, covariates, samples_features, drop, task)
        of_numbers = task == "regression"  # so that the dates of a target are read, too
        if date_order == "auto" and (of_numbers or "event" in table.roles):
            date_order = table.settled_date_order()
        table.read_dates(date_order, of_numbers, kinds, categorical)
        if drop_missing_target or missing == "drop":
            table.drop_rows(of_target=drop_missing_target, incomplete=missing == "drop")
        if "event" in table.roles:
            table.count_from_entry(date_order)
        data = table.encoded(
            task, event_of_interest, names, kinds, tuple(categorical), keep_identifiers, n_jobs
        )
        if max_rows is not None and data.n_rows > max_rows:
            data = _sample(data, max_rows, check_seed("read", random_state))
        if table.in_folder:  # which is removed here
            data = data.in_memory()
    if positive is not None:
        data = _with_positive(data, positive)
    settings: dict[str, Any] = {}  # names as they are, data by their type
    for name, value in given.items():
        if name in _UNRECORDED:
            continue
        if isinstance(value, Path) or (name == "samples" and isinstance(value, str)):
            settings[name] = Path(value).name
        elif isinstance(value, list | tuple) and len(value) <= _RECORDED:
            settings[name] = list(value)
        else:
            plain = isinstance(value, str | int | float)
            settings[name] = value if plain else type(value).__name__
    provenance = replace(data.provenance, settings=settings, citation=citation, inspected=True)
    return replace(data, provenance=provenance)


class _Table:
    """Columns that are features, columns set apart, and findings, on the way to encoding."""

    def __init__(
        self,
        columns: nw.DataFrame[Any] | EncodedTable | ColumnStore,
        *,
        source: str | Path = "",
        as_text: Sequence[str] = (),
        annotations: pa.Table | None = None,
        row_names: RowNames,
    ) -> None:
        self.columns: Any = columns
        self.path = str(source)
        self.file = self.path if "://" in self.path else Path(source).name
        self.as_text = as_text
        self.annotations, self.samples_file = annotations, ""
        self.row_names = row_names
        self.notes: list[str] = []
        self.findings: list[Finding] = []
        self.warned: list[str] = []  # warnings of reading the file
        self.in_folder = False  # whether a store lies in a temporary folder
        self.index: Any = None  # labels of the rows of a data frame of pandas
        self.gaps = False  # whether the target was missing in rows that are left out
        self.target, self.values = "", cast(Any, None)  # name and values; None without a target
        self.roles: dict[str, tuple[str, Any]] = {}  # name and values by parameter
        self.covariates: dict[str, Any] = {}
        self.dates: dict[str, Dates] = {}
        self.dropped_rows = 0

    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        columns = self.columns
        return tuple(columns.columns if isinstance(columns, nw.DataFrame) else columns.names)

    def names_rows(self) -> bool:
        """Tell whether the first column is text that differs in each row, others mostly numbers."""
        first, *others = self.columns.to_arrow().columns
        if not is_text(first.type) or not others:
            return False
        numbers = sum(is_number(column.type) for column in others)
        return 2 * numbers > len(others) and len(first.unique()) == len(first)

    def column(self, parameter: str, name: str) -> Any:
        """Return the values of a column of the table, or else of the annotations."""
        columns, annotations = self.columns, self.annotations
        if isinstance(columns, nw.DataFrame) and name in columns.columns:
            return columns[name].to_native()
        if isinstance(columns, EncodedTable) and name in columns.names:
            return columns.column_values(columns.names.index(name))
        if isinstance(columns, ColumnStore) and columns._columns.find(name) is not None:
            with gathered_warnings():  # such as of nearly numbers
                values = columns.target(name)[1]
            how = columns.dates.get(name)
            return values if how is None else how.times(np.asarray(values, dtype=np.float64))
        if annotations is not None and name in annotations.column_names:
            return annotations.column(name)
        raise self.absent(parameter, name)

    def absent(self, parameter: str, name: str) -> ValueError:
        """Return the error about a name that is no column."""
        names = self.names()
        where = "table" if self.annotations is None else "table or its sample annotations"
        others = [] if self.annotations is None else self.annotations.column_names
        candidates = [*others, *(names if len(names) <= 100_000 else ())]
        folded = [other for other in candidates if other.strip().lower() == name.strip().lower()]
        close = folded or difflib.get_close_matches(name, candidates, n=1, cutoff=0.5)
        message = f"read: {parameter} {quoted(name)} is not a column of the {where}"
        if close:
            return ValueError(f"{message}; did you mean {quoted(close[0])}?")
        shown = ", ".join(map(quoted, [*others, *names][:_SHOWN]))
        message += f"; its columns are {shown}{', ...' if len(candidates) > _SHOWN else ''}"
        if parameter == "target" and self.annotations is None:
            is_frame = isinstance(self.columns, nw.DataFrame)
            first = self.columns[:_FIRST].to_arrow().to_pylist() if self.file and is_frame else []
            lines = [i for i, row in enumerate(first, 1) if name in map(str, row.values())]
            if lines:
                message += (
                    f". Hint: skip_rows={lines[0]} reads the names of the columns from the line "
                    f"that has {quoted(name)}"
                )
            elif len(names) == 1 and any(sign in names[0] for sign in ",;\t| "):
                message += (
                    f". Hint: each line of {self.file} is a single field; separator='space' if "
                    "spaces separate the fields, and take quotes around whole lines away"
                )
            elif not isinstance(self.columns, nw.DataFrame) or self.names_rows():
                message += (
                    f". Hint: the first column, {quoted(names[0])}, names the rows. If these are "
                    "features, such as genes, and columns are samples: transpose=True and "
                    "samples=FILE, a table with the target of each sample; if rows are samples: "
                    "samples=FILE"
                )
            else:  # such as a first line that is taken for names
                of_lines = [str(one) for one in self.findings if one.kind in ("names", "separator")]
                remarks = [*self.warned, *of_lines]
                message = "; note: ".join([message, *remarks])
        return ValueError(message)

    def drop(self, names: Iterable[str]) -> None:
        """Leave columns out; names that the table lacks do not matter."""
        there = set(self.names())
        gone = [name for name in dict.fromkeys(names) if name in there]
        if len(gone) == len(there):
            raise ValueError(
                "read: the table has no column besides the target and columns with other roles"
            )
        is_frame = isinstance(self.columns, nw.DataFrame)
        self.columns = self.columns.drop(*gone) if is_frame else without_names(self.columns, gone)

    # --- the steps of `read` ----------------------------------------------------------------------

    def role(self, parameter: str, asked: Any) -> tuple[str, Any, bool]:
        """Return name and values of a column, and whether the table has the column.

        Values that are passed in Python take the place of a column of their name if they are equal.
        """
        if isinstance(asked, str | int | float | np.number):
            asked = name_of_label(asked)
        elif isinstance(asked, tuple) and name_of_label(asked) in self.names():
            asked = name_of_label(asked)  # of a MultiIndex
        if isinstance(asked, str):
            return asked, self.column(parameter, asked), True
        label = getattr(asked, "name", None)
        name = "" if label is None else name_of_label(label)
        if not name or name not in self.names() or np.ndim(asked) != 1:
            return name, asked, False
        try:
            column, values = arrow_array(self.column("target", name)), arrow_array(asked)
        except (pa.ArrowException, TypeError, ValueError):
            return name, asked, False  # the check of the parameter says what is wrong
        return name, asked, bool(column.to_pylist() == values.to_pylist())

    def set_apart(
        self,
        target: Any,
        roles: Mapping[str, Any],
        covariates: Sequence[str],
        samples_features: Sequence[str],
        drop: Sequence[str],
        task: str,
    ) -> None:
        """Set apart the target and the columns that are no features, and leave columns out."""
        name, values, is_column = ("", None, False)
        if target is not None:
            if hasattr(target, "reindex"):
                target = aligned(target, self.index, "target")
            name, values, is_column = self.role("target", target)
            name = name or "y"
        for role, asked in roles.items():
            if asked is not None:
                if hasattr(asked, "reindex"):
                    asked = aligned(asked, self.index, role)
                column, of_role, there = self.role(role, asked)
                self.roles[role] = (column if there else "", of_role)
        if "event" in self.roles and task not in ("auto", "survival"):
            raise ValueError(f"read: event is for task='survival', got task={task!r}")
        two_columns = is_structured(values) or (
            not isinstance(target, str) and values is not None and np.ndim(np.asarray(values)) == 2
        )
        if two_columns:
            values, events, entries = survival_columns(values, "read")
            self.roles["event"] = ("", events)
            if entries is not None:
                self.roles["entry"] = ("", entries)
        elif task == "survival" and "event" not in self.roles:
            raise ValueError(
                "read: task='survival' needs event=NAME, the column that is 1 if the event "
                f"occurred at the time in {name}, else 0"
            )
        if "entry" in self.roles and "event" not in self.roles:
            raise ValueError("read: entry is for survival, and needs event=NAME")
        n_rows = self.columns.shape[0]
        for role, (column, of_role) in {"target": ("", values), **self.roles}.items():
            if of_role is not None and len(of_role) != n_rows:
                raise ValueError(
                    f"read: {role} must have an entry for each of the {n_rows:,} rows, got "
                    f"{len(of_role):,}"
                )
            if is_column and column == name:
                raise ValueError(f"read: {role} {quoted(column)} is the target")
        apart = [column for column, _ in self.roles.values() if column]
        if drop or covariates or samples_features:
            drop, covariates, samples_features = (
                [name_of_label(label) for label in listed]
                for listed in (drop, covariates, samples_features)
            )
            own = name if is_column else ""
            self._join_and_leave_out(own, apart, covariates, samples_features, drop)
        labels: Any = values if isinstance(values, pa.ChunkedArray | pa.Array) else None
        if isinstance(values, np.ndarray) and values.dtype == object:
            labels = pa.array(values.tolist(), pa.string())
        if labels is not None and name not in self.as_text:
            # Labels that are equal up to case and spaces are one.
            merged, finding = merged_labels(labels, name)
            if finding is not None:
                self.findings.append(finding)
                is_array = isinstance(values, np.ndarray)
                values = np.array(merged.to_pylist(), dtype=object) if is_array else merged
        self.target, self.values = name, values
        if gone := [*([name] if is_column else []), *apart, *drop]:
            self.drop(gone)

    def _join_and_leave_out(
        self,
        target: str,
        apart: Collection[str],
        covariates: Sequence[str],
        samples_features: Sequence[str],
        drop: Sequence[str],
    ) -> None:
        """Join covariates and features of the annotations to the columns, and check `drop`."""
        names, columns, annotations = self.names(), self.columns, self.annotations
        lists = {"drop": drop, "covariates": covariates, "samples_features": samples_features}
        for parameter, listed in lists.items():
            if target and target in listed:
                raise ValueError(f"read: {parameter} {quoted(target)} is the target")
        for column in drop:
            if column not in names:
                raise self.absent("drop", column)
            if column in apart:
                raise ValueError(f"read: drop must not name {quoted(column)}, which is set apart")
        self.covariates = {column: self.column("covariates", column) for column in covariates}
        for column in samples_features:
            if column in names:
                raise ValueError(
                    f"read: samples_features {quoted(column)} is a column of the table"
                )
            if annotations is None:
                raise ValueError("read: samples_features needs samples=FILE, sample annotations")
            if column not in annotations.column_names:
                raise self.absent("samples_features", column)
        there = set(names)
        more = [x for x in dict.fromkeys((*samples_features, *covariates)) if x not in there]
        if more and annotations is not None:
            added = annotations.select(more)
            if isinstance(columns, nw.DataFrame):
                backend: Any = columns.implementation
                series = (
                    nw.from_native(added, eager_only=True)[title]
                    if backend is nw.Implementation.PYARROW
                    else nw.new_series(title, added[title].to_pylist(), backend=backend)
                    for title in more
                )
                self.columns = columns.with_columns(*series)
            elif isinstance(columns, ColumnStore):
                self.columns = with_columns(columns, encode(added))
            else:
                raise ValueError("read: samples_features needs a data frame, a file or a store")
        if isinstance(self.columns, nw.DataFrame) and self.row_names.labels is None and drop:
            native = self.columns.select(*drop).to_native()
            naming = of_table(native)[:1] if isinstance(native, pa.Table) else []
            for column_of_names in naming:
                self.row_names = replace(self.row_names, labels=column_of_names.labels)

    def read_dates(
        self, order: DateOrder, of_target: bool, kinds: Any, categorical: Sequence[str]
    ) -> None:
        """Read columns of dates and times as numbers, unless they are to be text or categories."""
        if of_target and self.values is not None:
            read, _ = dates_of({self.target: arrow_array(self.values)}, order)
            for how, self.values in read.values():
                message = f"target {quoted(self.target)} has {how.kind}, read as {how.scale}"
                hint = "target=NAME names another column"
                self.findings.append(Finding("target date", (self.target,), message, hint))
        frame = self.columns
        if not isinstance(frame, nw.DataFrame):
            self.findings += [finding_of_dates((name,), how) for name, how in frame.dates.items()]
            return
        asked = resolve_kinds(kinds, frame.columns, "read")
        left = {name for name, kind in zip(frame.columns, asked, strict=True) if kind is not None}
        left |= {*self.as_text, *categorical}
        self.columns, read, findings = frame_with_dates(frame, left, order)
        self.findings += findings
        self.dates = {name: how for name, (how, _) in read.items()}
        self.covariates |= {name: read[name][1] for name in self.covariates if name in read}

    def settled_date_order(self) -> DateOrder:
        """Return the order of day and month by all dates, also of target and entry."""
        apart = self.values, self.roles.get("entry", ("", None))[1]
        columns = [arrow_array(values) for values in apart if values is not None]
        if isinstance(frame := self.columns, nw.DataFrame):
            texts = (name for name, kind in frame.schema.items() if kind in (nw.String, nw.Object))
            columns += [arrow_of(frame, name) for name in texts if name not in self.as_text]
        return settled_order(column for column in columns if column is not None)

    def merged_categories(
        self, frame: nw.DataFrame[Any], asked: Collection[str], kinds: Any
    ) -> tuple[nw.DataFrame[Any], list[Finding]]:
        """Merge categories that differ by case or spaces, unless the column is to be as it is."""
        merged, findings = dict[str, Any](), list[Finding]()
        for name, kind in frame.schema.items():
            if kind not in (nw.String, nw.Object) or name in asked or name in self.as_text or kinds:
                continue
            column = arrow_of(frame, name)
            if column is not None and is_text(column.type):
                column, finding = merged_labels(column, name, "column")
                if finding is not None:
                    merged[name] = np.array(column.to_pylist(), dtype=object)
                    findings.append(finding)
        return with_numbers(frame, merged), findings

    def count_from_entry(self, order: DateOrder) -> None:
        """Count the times of survival from the entry where both are dates."""
        entry, groups = self.roles.get("entry"), self.roles.get("groups", ("", None))[1]
        counted = follow_up((self.target, self.values), entry, groups, order)
        if counted is not None and entry is not None:
            self.values, entries, note = counted
            self.roles["entry"] = entry[0], entries
            self.notes.append(note)

    def drop_rows(self, *, of_target: bool, incomplete: bool) -> None:
        """Leave out the rows where the target, or any feature too, is missing.

        The target of survival has columns of events and of entries.
        """
        present = np.ones(self.columns.shape[0], dtype=np.bool_)
        for values in (self.values, *(self.roles.get(role, ("", None))[1] for role in _OUTCOME)):
            present &= True if values is None else ~are_missing(values)
        if of_target:
            if not present.any():
                raise ValueError(
                    f"read: drop_missing_target=True leaves no row: {self.target} has no value"
                )
            self.gaps = not present.all()
            several = (~present).sum() > 1
            verbs = "have no target and were" if several else "has no target and was"
            self._keep_rows(present, verbs)
        if not incomplete:
            return
        columns, complete = self.columns, present[present] if of_target else present
        if isinstance(columns, nw.DataFrame):
            for name in columns.columns:
                complete &= ~are_missing(columns[name].to_native())
        else:
            table = columns if isinstance(columns, EncodedTable) else columns.as_table()
            for j in np.flatnonzero(table.missing).tolist():
                complete &= np.asarray(table.codes(j)) < len(table.values(j))
        if not complete.any():
            raise ValueError(
                "read: missing='drop' leaves no row: each has a missing value; drop the columns "
                "with many, or use missing='category'"
            )
        several = (~complete).sum() > 1
        self._keep_rows(complete, "are incomplete and were" if several else "is incomplete and was")

    def _keep_rows(self, present: NDArray[np.bool_], verbs: str) -> None:
        """Leave out the rows that are not present, with a note."""
        rows = present.nonzero()[0]
        dropped = len(present) - len(rows)
        if not dropped:
            return
        if isinstance(self.columns, nw.DataFrame):
            self.columns = self.columns[rows.tolist()]
        elif isinstance(self.columns, EncodedTable):
            self.columns = self.columns.take_rows(rows)
        else:
            self.columns = store_of_rows(self.columns, rows)
        if self.annotations is not None:
            self.annotations = self.annotations.take(rows)
        self.row_names = self.row_names.take(rows)
        self.values = _rows_of(self.values, rows)
        self.roles = {role: (name, _rows_of(of, rows)) for role, (name, of) in self.roles.items()}
        self.covariates = {name: _rows_of(of, rows) for name, of in self.covariates.items()}
        self.notes.append(f"{dropped:,} of {len(present):,} rows {verbs} left out")
        self.dropped_rows += dropped

    def encoded(
        self,
        task: Any,
        event_of_interest: str | int | None,
        names: Iterable[str] | None,
        kinds: Any,
        categorical: tuple[str, ...],
        keep_identifiers: bool,
        n_jobs: int | None,
    ) -> LearningSet[Any]:
        """Encode the columns and the target, and look at them."""
        findings, values = [*self.findings], self.values
        event, events = self.roles.get("event", ("", None))
        entry, entries = self.roles.get("entry", ("", None))
        survival = events is not None
        if event_of_interest is not None and not survival:
            raise ValueError("read: event_of_interest is for survival, and needs event=NAME")
        numbers = np.asarray(values)
        if task == "auto" and not survival and numbers.dtype.kind == "f":
            whole = bool((numbers == np.floor(numbers)).all())
            if whole and np.abs(numbers).max() < LARGEST_EXACT:
                # Gaps turn whole numbers into floating-point ones, of which two are classes.
                two = len(np.unique(numbers)) == 2
                values = numbers.astype(np.int64) if self.gaps or two else values
        if values is not None:
            of_y = of_target(values, self.target, "regression" if survival else task)
            stray = None
            numeric = isinstance(values, np.ndarray) and values.dtype.kind in "biuf"
            if task == "auto" and not numeric and self.target not in self.as_text:
                stray = stray_values_of(self.target, arrow_array(values))
            if stray is not None:
                of_y = [finding for finding in of_y if finding.kind != "target identifier"]
                annotations = self.annotations
                of_samples = annotations is not None and self.target in annotations.column_names
                file = self.samples_file if of_samples else self.file
                of_y += of_stray_values([stray], file, target=True)
            of_classes = () if stray is None else ("rare class", "code outside")
            findings += [one for one in of_y if one.kind not in of_classes]
        if survival:
            of_event = of_target(events, event or "event", "classification")
            findings += [one for one in of_event if one.kind not in ("one class", "imbalance")]
        if isinstance(self.columns, nw.DataFrame):
            frame = self.columns
            for name in categorical:
                if name not in frame.columns:
                    raise self.absent("categorical", name)
            frame, of_labels = self.merged_categories(frame, {*categorical}, kinds)
            findings += of_labels
            native: Any = frame.to_native()
            nominal = dict.fromkeys(categorical, "nominal")
            if isinstance(native, pa.Table):
                there = native.column_names
                texts = [there[j] for j in places_of_text(native, there, self.as_text)]
                nominal |= dict.fromkeys(texts, "nominal")
            with gathered_warnings() as gathered:
                asked = kinds or nominal or None
                table: Any = encode(native, names=names, kinds=asked, n_jobs=n_jobs)
            table = replace(table, dates=self.dates) if self.dates else table
            strays: list[StrayValues] = []
            for warning in gathered:
                if isinstance(warning, StrayValuesWarning):
                    strays += warning.columns
                else:
                    warn(warning)
            findings += of_stray_values(strays, self.file)
            dates = [name for one in findings if one.kind == "date" for name in one.columns]
            findings += of_codes(table, [*nominal, *dates, *(one.name for one in strays)])
        elif categorical:
            raise ValueError(
                f"read: categorical={list(categorical)!r} has no effect on an encoded table, such "
                "as a store; duramen pack takes it"
            )
        else:
            table = self.columns
            shrunk = self.dropped_rows and isinstance(table, EncodedTable)
            findings += of_codes(without_unused(table) if shrunk else table)
        if values is not None:
            groups = self.roles.get("groups", ("", None))[1]
            if survival:
                leaks = of_leaks(table, events, event or "event", "classification")
                known = {leak.columns for leak in leaks}
                of_time = of_leaks(table, values, self.target, "regression")
                leaks += [leak for leak in of_time if leak.columns not in known]
            else:
                leaks = of_leaks(table, values, self.target, task)
            kind = "regression" if survival else task
            if dependent := dependence(table, values, self.target, kind, groups):
                leaks = [leak for leak in leaks if not {*leak.columns} & {*dependent.columns}]
                leaks.append(dependent)
            if survival:
                of_persons = groups is None and (not dependent or dependent.kind != GROUPED)
                intervals = of_entry(table, values, self.target, entries)
                leaks += [one for one in intervals if one.kind != GROUPED or of_persons]
            findings += leaks
        table, listed = _without_identifiers(
            table, findings, self.file, self.target, keep_identifiers
        )
        gone = () if keep_identifiers else left_out(findings)
        if gone and self.row_names.labels is None:
            labels = texts_of(arrow_array(self.column("target", gone[0])))
            self.row_names = replace(self.row_names, labels=labels)
        outcome: Target
        remarks: list[str] = []
        if values is None:
            outcome = NoTarget(np.zeros(table.shape[0]))
        elif survival:
            outcome, remarks = survival_of(
                (self.target, values), (event, events), (entry, entries), event_of_interest
            )
        else:
            outcome = encode_target(values, task, function=f"read: target={self.target!r}")
        rows: dict[str, Any] = {
            role: self.roles[role][1] for role in ("strata", "groups") if role in self.roles
        }
        notes = [
            f"{name} is the column of {role} and is not used as a feature"
            for role, (name, _) in self.roles.items()
            if name
        ]
        notes += remarks
        covariates = None
        if self.covariates:
            columns = {name: arrow_array(of_name) for name, of_name in self.covariates.items()}
            if "strata" in rows:
                columns["strata"] = (
                    arrow_array(rows["strata"]).cast(pa.string()).dictionary_encode()
                )
            covariates = pa.table(columns)
            try:
                rows["strata"] = covariate_strata(covariates, outcome.labels)
            except ValueError as error:
                raise ValueError(f"read: covariates: {error}") from None
            count = len(set(rows["strata"].tolist()))
            notes.append(f"rows are permuted within {count:,} strata of {', '.join(columns)}")
            notes += [
                f"{name} is a covariate: rows are permuted within its values, so that its own "
                "verdict, p-value or error rate is no evidence that it is irrelevant"
                for name in self.covariates
            ]
        weight = self.roles.get("sample_weight")
        weights = None if weight is None else np.asarray(weight[1])
        data = learning_set_of(table, outcome, "read", sample_weight=weights, **rows)
        if values is not None and isinstance(table, EncodedTable) and table.constant().all():
            raise ValueError(
                f"read: every column is constant: none can be relevant for {self.target}"
            )
        provenance = Provenance(
            file=self.file,
            path=self.path,
            target=self.target,
            notes=(*self.notes, *notes),
            findings=listed,
            dropped_rows=self.dropped_rows,
            row_names=self.row_names,
            annotations=self.annotations,
            variants=table.variants if isinstance(table, ColumnStore) else None,
            covariates=covariates,
        )
        return replace(data, provenance=provenance)


def _of_file(
    source: str | Path,
    samples: Any,
    pairing: Pairing | None,
    options: Mapping[str, Any],
    how: Mapping[str, Any],
    stack: ExitStack,
) -> _Table:
    """Open a file, a folder or a URL, with its sample annotations.

    `how` has ``transpose``, ``layer``, ``kinds`` and ``date_order``.
    """
    url = isinstance(source, str) and "://" in source
    path: Any = source if url else expanded(source)
    kind = None if url else format_of(path)
    stored = url or (path.is_dir() if kind is None else kind.columns is not None)
    samples_path = samples if isinstance(samples, str | Path) else None
    check_options(options, None if url else path, samples_path)
    as_text, asked = options.get("as_text", ()), how["transpose"] or how["layer"] is not None
    if stored and asked:
        word = "transpose" if how["transpose"] else "layer"
        raise ValueError(
            f"read: {word} has no effect on a table that is read in place, such as a store; "
            f"duramen.pack with {word} makes one"
        )
    findings: list[Finding] = []
    if not stored and kind is not None and kind.read and not asked:
        with gathered_warnings() as gathered:
            frame = nw.from_native(table_of(path, options, findings), eager_only=True)
        table = _Table(frame, source=path, as_text=as_text, row_names=NUMBERED)
        table.findings = findings
        for warning in gathered:
            warn(warning)
            table.warned.append(str(warning).removeprefix("read: ").rstrip("."))
        if pairing is not None:
            _annotate(table, samples, pairing, options)
        return table
    annotated: dict[str, Any] = {}
    if pairing is not None:
        if samples_path is not None:
            samples = table_of_samples(samples_path, options, [])
        annotated = {"samples": samples, "samples_id": pairing.samples_id}
        annotated["samples_match"] = pairing.match
    place = path
    if not stored:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="duramen-"))) / path.name
        arguments, findings = arguments_for(path, options)
        with gathered_warnings() as gathered:
            pack_table(path, place, **how, reading=arguments, function="read")
        strays = [warning for warning in gathered if isinstance(warning, StrayValuesWarning)]
        others = [warning for warning in gathered if not isinstance(warning, StrayValuesWarning)]
        findings += of_numbers_in_text(others, path)
        for warning in strays:
            findings += of_stray_values(warning.columns, path.name)
    table = _of_store(open_store(place, **annotated), source=path, as_text=as_text)
    table.findings, table.in_folder = findings, not stored
    table.samples_file = "" if samples_path is None else Path(samples_path).name
    return table


def _of_store(store: ColumnStore, **described: Any) -> _Table:
    names = names_of(store.samples)
    row_names = RowNames(None if names is None else names.labels)
    table = _Table(store, annotations=store.samples, row_names=row_names, **described)
    if store.samples_pairing:
        table.notes.append(store.samples_pairing)
    if store._id_column is not None:
        table.drop([store._id_column])
    return table


def _of_memory(
    source: Any, samples: Any, pairing: Pairing | None, layer: str | None, names: Any, kinds: Any
) -> _Table:
    """Return a table in memory; its rows are numbered from 0."""
    labels = getattr(
        source, "obs_names", getattr(source, "row_names", getattr(source, "index", None))
    )
    counted = getattr(labels, "start", None) == 0 and getattr(labels, "step", None) == 1
    row_names = COUNTED
    if labels is not None and not counted and not callable(labels):
        row_names = RowNames(labels, start=0)
    if isinstance(source, ColumnStore):
        table = _of_store(source)
        table.row_names = row_names
        return table
    if is_anndata(source):
        matrix = source if layer is None else source.raw.to_adata() if layer == "raw" else source
        X = matrix.layers[layer] if layer not in (None, "raw") else None
        codes = encode(matrix) if X is None else encode(X, names=map(str, matrix.var_names))
        annotations = nw.from_native(source.obs.reset_index(drop=True), eager_only=True).to_arrow()
        return _Table(codes, annotations=annotations, row_names=row_names)
    if hasattr(source, "columns"):
        source = with_text_names(source, "read")
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        encoded = isinstance(source, EncodedTable)
        codes = source if encoded else encode(source, names=names, kinds=kinds)
        return _Table(codes, row_names=row_names)
    table = _Table(frame, row_names=row_names)
    table.index = source.index if frame.implementation.is_pandas() else None
    if pairing is not None:
        _annotate(table, samples, pairing, {})
    return table


def _annotate(data: _Table, samples: Any, pairing: Pairing, options: Mapping[str, Any]) -> None:
    """Pair sample annotations with a table, and remove its column of names."""
    if isinstance(samples, str | Path):
        data.samples_file = Path(samples).name
        samples = table_of_samples(samples, options, data.findings)
    table = data.columns.to_arrow()
    if pairing.samples_id is not None and pairing.samples_id in table.column_names:
        labels = texts_of(table.column(pairing.samples_id))
        if labels is None or None in labels:
            raise ValueError(
                f"read: samples_id {quoted(pairing.samples_id)} must hold the name of every row of "
                f"{pairing.where}, as text or whole numbers"
            )
        names = [Names((pairing.samples_id,), labels, in_table=True)]
    else:
        names = of_table(table)
    try:
        paired = pair(samples, names, table.num_rows, pairing)
    except ValueError as error:
        there, annotations = set(table.column_names), samples_table(samples, "read")
        for title in annotations.column_names:
            words = set(texts_of(annotations.column(title)) or ())
            if len(words) > 1 and 2 * len(words & there) > len(words):
                raise ValueError(
                    f"{str(error).partition(' Hint: ')[0]} Hint: transpose=True, since column "
                    f"{title} of samples names columns of {pairing.where}, whose rows are "
                    "features, such as genes"
                ) from None
        raise
    if paired.column is not None:
        data.drop([paired.column])
    data.annotations = paired.table
    data.row_names = RowNames(None if paired.names is None else paired.names.labels)
    data.notes.append(paired.note)


def _with_positive(data: LearningSet[Any], positive: Any) -> LearningSet[Any]:
    """Return a learning set with the class that directions are about."""
    classes = data.target.classes
    if classes is None:
        raise ValueError(
            f"read: positive needs a target of classes, got {data.target.task}. Hint: leave it out"
        )
    labels = {str(label): label for label in classes.tolist()}
    if str(positive) not in labels:
        raise ValueError(
            "read: positive must be a class of the target, one of "
            f"{joined(list(labels), shown=20)}, got {positive!r}"
        )
    settings = {**data.provenance.settings, "positive": positive}
    provenance = replace(data.provenance, settings=settings)
    return replace(data, positive=labels[str(positive)], provenance=provenance)


def _inspected(data: LearningSet[Any], keep_identifiers: bool) -> LearningSet[Any]:
    """Look at a learning set that was made from arrays, and leave identifiers out."""
    provenance, target = data.provenance, data.target
    name, findings = provenance.target, of_codes(data.table)
    if not isinstance(target, NoTarget):
        kind = "regression" if target.censored else data.task
        values = target.association_scores()[:, 0] if target.censored else data.y
        leaks = of_leaks(data.table, values, name, kind)
        groups = data.exchangeability.groups
        if dependent := dependence(data.table, values, name, kind, groups):
            leaks = [leak for leak in leaks if not {*leak.columns} & {*dependent.columns}]
            leaks.append(dependent)
        findings = [*of_target(data.y, name), *findings, *leaks]
    table, listed = _without_identifiers(
        data.table, findings, provenance.file, name, keep_identifiers
    )
    row_names = provenance.row_names if provenance.file else COUNTED
    provenance = replace(provenance, findings=listed, row_names=row_names, inspected=True)
    return replace(data, table=table, provenance=provenance)


def _without_identifiers(
    table: Any, findings: Sequence[Finding], file: str, target: str, keep: bool
) -> tuple[Any, tuple[Finding, ...]]:
    """Return a table without columns that look like identifiers, and its findings with answers."""
    listed = answered(findings, file, keep_identifiers=keep)
    gone = () if keep else left_out(findings)
    if not gone:
        return table, listed
    if len(set(gone)) == table.shape[1]:
        besides = f"the target {target} and " if target else ""
        raise ValueError(
            f"read: no column is left besides {besides}columns that look like identifiers "
            f"({', '.join(sorted(gone))}). Hint: keep_identifiers=True keeps them"
        )
    return without_names(table, gone), listed


def _sample(data: LearningSet[Any], n: int, seed: int) -> LearningSet[Any]:
    """Return a random sample of n rows, with a note; a store stays on disk."""
    rows, key = sampled_rows(data.target, n, seed), ("max_rows", n, seed)
    if isinstance(data.table, EncodedTable):
        part = data.of_rows(rows, key=key)
    else:
        part = data.of_rows(rows, key=key, table=store_of_rows(data.table, rows))
    note = (
        f"the rows are a random sample of {n:,} of {data.n_rows:,} (max_rows={n}, "
        f"random_state={seed}){proportions(data.target)}"
    )
    provenance = data.provenance.of_rows(rows)
    return replace(part, provenance=replace(provenance, notes=(*provenance.notes, note)))


def _rows_of(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return the values of some rows; None of None."""
    if values is None:
        return None
    if isinstance(values, pa.Array):
        return values.take(rows)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series[rows.tolist()].to_native()
    return np.asarray(values)[rows]
