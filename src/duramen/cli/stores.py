"""Column store that a command works on, where it lies, and its target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import Problem, stray_columns
from duramen.cli.problem import (
    APART,
    EVENT,
    Outcome,
    Settling,
    as_arrow,
    check_columns,
    exchanged,
    inspected,
    left_out_words,
)
from duramen.cli.reading import Annotations, Reading
from duramen.data.provenance import RowNames
from duramen.support.arrow import pa, pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from duramen.data import Finding
    from duramen.io import ColumnStore
    from duramen.support.arrays import BoolArray


@dataclass(frozen=True)
class Opened:
    """Store that a command reads."""

    place: Path | str
    reading: Reading  # options that still apply
    packed: bool = False  # whether it was packed for the command, and is removed afterwards
    findings: tuple[Finding, ...] = ()  # on the file that was packed
    notes: tuple[str, ...] = ()  # on how it was packed


def is_store(file: Path | str) -> bool:
    """Return whether a path looks like a store: a URL, a folder, or a file used in place."""
    from duramen.io.formats import format_of
    from duramen.support.files import expanded

    if isinstance(file, str):
        return True
    format_ = format_of(expanded(file))
    return format_.columns is not None if format_ else expanded(file).is_dir()


def read_stored(
    command: str,
    opened: Opened,
    target: str,
    *,
    annotations: Annotations,
    task: str,
    drop: Sequence[str],
    labels: Mapping[str, Sequence[str]] | None = None,
    features: Sequence[str] = (),
    settle: Settling = exchanged,
    keep_identifiers: bool = False,
    drop_missing_target: bool = False,
) -> Problem[ColumnStore]:
    """Open a store or a .bed file, set its target apart and leave columns out.

    The target, strata and the like (`labels`, by the name of the option) are columns of the store
    or of its sample annotations, which `annotations` replace; so are the events, with which the
    target is survival. `features` are columns of the annotations that join those of the store;
    `settle` makes strata and groups of the labels.
    """
    import numpy as np

    from duramen.data.learning_sets import learning_set_of
    from duramen.findings.table import left_out, of_codes
    from duramen.io.store.column_store import without
    from duramen.io.store.row_ids import names_of, texts_of
    from duramen.support.files import expanded

    path, reading = opened.place, opened.reading
    if reading.categorical:
        raise ValueError(
            f"--categorical {reading.categorical[0]} is for duramen pack: the kinds of the "
            "columns of a store are fixed when it is packed"
        )
    naming = f"duramen {command}"
    of_text = [*opened.findings]
    store, own = _opened(path, annotations, reading, naming, of_text)
    beside = () if store.samples is None else store.samples.column_names
    texts = [name for name in reading.as_text if store._columns.find(name) is None]
    check_columns("--as-text", texts, beside, "")
    with stray_columns() as stray:
        values, apart = _apart(store, target, own, drop, annotated=annotations.samples is not None)
    if target not in reading.as_text:
        values = _merged(values, target, of_text)
    labelled, named = _labels(store, labels or {}, target)
    apart += named
    if len(set(apart)) == store.n_columns:
        raise ValueError("--drop leaves no column besides the target")
    name = path if isinstance(path, str) else expanded(path).resolve().name
    left = without(store, apart) if apart else store
    covariates = (labels or {}).get("covariate", ())
    annotated = [name for name in covariates if store._columns.find(name) is None]
    more = dict.fromkeys((*features, *annotated))
    left = _with_features(left, tuple(more), target) if more else left
    notes = [*opened.notes, *filter(None, [store.samples_pairing])]
    outcomes = map(as_arrow, (values, *labelled.get(EVENT, {}).values()))
    gone = np.any([pc.is_null(column, nan_is_null=True) for column in outcomes], axis=0)
    of_values = of_codes(left)  # of all rows, as the values of columns are
    of_samples = names_of(store.samples)
    names = RowNames(None if of_samples is None else of_samples.labels)
    if of_samples is None and (identifiers := left_out(of_values)):
        names = RowNames(texts_of(as_arrow(store.target(identifiers[0])[1])))
    if drop_missing_target and gone.any():
        notes.append(left_out_words(int(gone.sum()), len(values)))
        left, values, labelled = _rows_with_target(left, values, labelled, ~gone, target)
        names = names.take((~gone).nonzero()[0])
    event_name, events = next(iter(labelled.pop(EVENT, {}).items()), ("", None))
    outcome = Outcome(target, values, event_name, events)
    where = "" if annotations.samples is None else annotations.samples.name
    remarks = outcome.findings(task, stray, where)
    remarks += [*of_values, *outcome.rows(left, task, labelled)]
    left, findings = inspected(
        command, left, [*of_text, *remarks], str(name), target, keep_identifiers
    )
    encoded = outcome.encoded(command, task)
    rows, said = settle(labelled, encoded.labels)
    data = learning_set_of(left, encoded, naming, **rows)
    notes += said
    return Problem(
        name,
        data,
        target,
        notes=tuple(notes),
        findings=findings,
        labels=labelled,
        variants=left.variants,
        row_names=names,
    )


def _apart(
    store: ColumnStore, target: str, own: Sequence[str], drop: Sequence[str], *, annotated: bool
) -> tuple[NDArray[Any], list[int]]:
    """Return the target, and the places of the columns that are no features."""
    try:
        columns, values = store.target(target)
    except KeyError as error:
        words = str(error.args[0])
        if not annotated and "did you mean" not in words:
            words += ". Hint: --samples FILE names a table with the target of each row"
        raise ValueError(words) from None
    try:
        apart = [] if len(columns) == store.n_columns else [store.find(target)]
        apart += [store.find(name) for name in own]
    except KeyError as error:
        raise ValueError(str(error.args[0])) from None
    for name in drop:
        if name == target and apart:
            raise ValueError(f"--drop {name} is the target")
        try:
            apart.append(store.find(name))
        except KeyError as error:
            raise ValueError(f"--drop: {error.args[0]}") from None
    return values, apart


def _rows_with_target(
    store: ColumnStore,
    values: NDArray[Any],
    labels: dict[str, dict[str, Any]],
    present: BoolArray,
    target: str,
) -> tuple[ColumnStore, NDArray[Any], dict[str, dict[str, Any]]]:
    """Leave out the rows where the target is missing; some must be left."""
    from duramen.io.store.column_store import of_rows

    rows = present.nonzero()[0]
    if not len(rows):
        raise ValueError(f"--drop-missing-target leaves no row: {target} has no value")
    of_known = {
        option: {name: values[rows] for name, values in columns.items()}
        for option, columns in labels.items()
    }
    return of_rows(store, rows), values[rows], of_known


def _opened(
    path: Path | str,
    annotations: Annotations,
    reading: Reading,
    naming: str,
    findings: list[Finding],
) -> tuple[ColumnStore, list[str]]:
    """Open a store with its annotations; return also its columns with the names of the rows."""
    from duramen.io import open_store

    if annotations.samples is None:
        return open_store(path), []
    store = open_store(
        path,
        annotations.read(reading, naming, findings),
        samples_id=annotations.samples_id,
        samples_match=annotations.samples_match,
    )
    return store, [] if store._id_column is None else [store._id_column]


def _merged(values: NDArray[Any], target: str, findings: list[Finding]) -> NDArray[Any]:
    """Merge labels that are equal up to case and spaces; add what was merged."""
    import numpy as np

    from duramen.findings.target import merged_labels

    if values.dtype != object:
        return values
    column, merged = merged_labels(pa.array(values.tolist(), pa.string()), target)
    findings += [] if merged is None else [merged]
    return np.array(column.to_pylist(), dtype=object)


def _labels(
    store: ColumnStore, asked: Mapping[str, Sequence[str]], target: str
) -> tuple[dict[str, dict[str, Any]], list[int]]:
    """Return columns that are set apart, by the option, and their places in the store."""
    labelled: dict[str, dict[str, Any]] = {option: {} for option in asked}
    columns = []
    for option, name in ((option, name) for option, names in asked.items() for name in names):
        if name == target:
            raise ValueError(f"--{option} {name} is the target")
        try:
            with stray_columns():  # labels need not be numbers
                others, labelled[option][name] = store.target(name)
        except KeyError as error:
            raise ValueError(f"--{option}: {error.args[0]}") from None
        if len(others) < store.n_columns and option in APART:
            columns.append(store.find(name))
    return labelled, columns


def _with_features(store: ColumnStore, names: Sequence[str], target: str) -> ColumnStore:
    """Return a store with columns of its sample annotations for further features."""
    from duramen.data import encode
    from duramen.io.store.column_store import with_columns

    samples = store.samples
    there = () if samples is None else samples.column_names
    check_columns("--samples-feature", names, there, target, "samples")
    for name in names:
        if store._columns.find(name) is not None:
            raise ValueError(f"--samples-feature {name} is already a column of the table")
    assert samples is not None  # there is a column
    with stray_columns():
        return with_columns(store, encode(samples.select(list(names))))
