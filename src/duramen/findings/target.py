"""Findings about a target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.data.provenance import Finding, dropping
from duramen.data.schema import KINDS
from duramen.data.target import are_classes
from duramen.io.store.column_store import ColumnStore
from duramen.results.columns import counted
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import is_number, is_text, pa, pc, without_dictionary
from duramen.support.text import quoted

_FEWEST_ROWS = 10
_RARE = 0.05  # fraction of the rows below which a class is rare
_FEW_ROWS = 5  # rows of a class, of which little can be learned
_ORDERED = 8  # classes of whole numbers that may as well be a quantity
_SHOWN = 3
_MOST_WHOLE = 100  # different whole numbers of a floating type that may be classes
_GAP = 3  # between a code and the other classes
_ANOTHER = "target=NAME names another column"
_FEW_CODES = 0.1  # fraction of the rows that have a code, at the most


def of_target(y: Any, name: str = "y", task: str = "auto") -> list[Finding]:
    """Look at a target before it is encoded.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels or numbers as they were read, missing ones included.
    name : str
        Its name, for the sentences.
    task : {"auto", "classification", "regression"}
        Whether it holds classes or numbers.

    Returns
    -------
    list of Finding

    Examples
    --------
    >>> from duramen.findings.target import of_target
    >>> [one.kind for one in of_target(["a", None, "b"])]
    ['target missing']
    """
    column = as_arrow(y)
    if column is None:
        return []
    present = column.filter(pc.invert(pc.is_null(column, nan_is_null=True)))
    if pa.types.is_temporal(column.type):
        what = "has dates or times, which are neither classes nor numbers"
        return [_finding("target date", name, what, _ANOTHER, refused=True)]
    findings = []
    if lost := len(column) - len(present):
        what = f"is missing in {lost:,} of {len(column):,} rows"
        findings.append(
            _finding(
                "target missing",
                name,
                what,
                "drop_missing_target=True leaves these rows out",
                refused=True,
            )
        )
    if not len(present):
        return findings
    counted = pc.value_counts(present)
    counts = np.asarray(counted.field("counts"), dtype=np.int64)
    return [*findings, *_of_values(counted.field("values"), counts, name, task)]


def as_arrow(y: Any) -> Any:
    """Return a target as an Arrow array without dictionaries; None where that cannot be."""
    try:
        column = y if isinstance(y, pa.Array | pa.ChunkedArray) else pa.array(_plain(y))
    except (pa.ArrowException, TypeError, ValueError):
        return None  # of which encoding the target says what is wrong
    column = without_dictionary(column)
    return None if pa.types.is_nested(column.type) else column


def _plain(y: Any) -> Any:
    values = np.asarray(y)
    return values.ravel() if values.dtype != object else values.ravel().tolist()


def _of_values(values: Any, counts: IntArray, name: str, task: str) -> list[Finding]:
    """Look at the distinct values of a target, and the rows that have each."""
    n, m = int(counts.sum()), len(counts)
    numeric = is_number(values.type)
    whole = pa.types.is_integer(values.type)
    classes = task == "classification" or (
        task == "auto" and (not numeric or (whole and are_classes(m, n)))
    )
    if m == 1:
        single = "one class" if classes else "one value"
        rows = "the only row" if n == 1 else f"all {n:,} rows"
        only = f"has {single} only, {quoted(values[0].as_py())}, in {rows}"
        return [_finding("one class", name, only, _ANOTHER, refused=True)]
    if m == n and n >= _FEWEST_ROWS and (not numeric or (whole and _evenly_spaced(values))):
        what = "has a different value in each row and looks like an identifier"
        hint = f"{_ANOTHER}, keep_identifiers=True allows this one"
        return [_finding("target identifier", name, what, hint, refused=True)]
    if not classes:
        return _of_whole_numbers(values, name) if task == "auto" else []
    labels = values.to_pylist()
    if numeric and not are_classes(m, n):
        what = f"has {m:,} different numbers, which are treated as {m:,} classes without an order"
        hint = "task='regression' treats them as numbers"
        return [_finding("many classes", name, what, hint)]
    outside = _code_outside(labels, counts) if whole else None
    if outside is None:
        findings = _of_classes(labels, counts, name)
    else:
        inside = [i for i in range(m) if i != outside]
        findings = _of_code(labels, counts, outside, name)
        findings += _of_classes([labels[i] for i in inside], counts[inside], name)
    if whole and task == "auto" and m >= _ORDERED:
        what = f"has {m:,} different whole numbers, which are treated as classes without an order"
        hint = "task='regression' or task='classification' settles it"
        findings.append(_finding("classes of numbers", name, what, hint))
    return findings


def _of_whole_numbers(values: Any, name: str) -> list[Finding]:
    """Tell of whole numbers, which may be classes, that are treated as numbers."""
    numbers, m = np.asarray(values), len(values)
    if not pa.types.is_integer(values.type) and (
        m > _MOST_WHOLE or (numbers != np.floor(numbers)).any()
    ):
        return []
    what = f"has {m:,} different whole numbers, which are treated as a quantity (regression)"
    hint = "task='classification' treats them as classes, task='regression' confirms numbers"
    return [_finding("whole numbers", name, what, hint)]


def _code_outside(labels: list[int], counts: IntArray) -> int | None:
    """Return the place of a rare number far from all others, which follow each other; or None."""
    if len(labels) < 3:
        return None
    order = sorted(range(len(labels)), key=lambda i: labels[i])
    for end, rest in ((order[-1], order[:-1]), (order[0], order[1:])):
        others = [labels[i] for i in rest]
        gap = min(abs(labels[end] - other) for other in others)
        runs = others[-1] - others[0] == len(others) - 1
        if runs and gap >= max(_GAP, len(others)) and counts[end] <= _FEW_CODES * counts.sum():
            return end
    return None


def _of_code(labels: list[int], counts: IntArray, outside: int, name: str) -> list[Finding]:
    rows = counted(counts[outside], "row")
    others = ", ".join(str(label) for label in sorted(set(labels) - {labels[outside]})[:_SHOWN])
    what = (
        f"has {labels[outside]} in {rows} beside {others}{', ...' if len(labels) > 4 else ''}: a "
        "code of missing values, or an error; it is treated as a class"
    )
    code = (str(labels[outside]),)
    return [_finding("code outside", name, what, "leave these rows out", values=code)]


def _evenly_spaced(values: Any) -> bool:
    steps = np.diff(np.sort(np.asarray(values)))
    return bool((steps == steps[0]).all())


def _of_classes(labels: list[Any], counts: IntArray, name: str) -> list[Finding]:
    """Tell of classes of few rows."""
    n, findings = int(counts.sum()), []
    order = np.argsort(counts, kind="stable").tolist()
    few = [i for i in order if counts[i] < _FEW_ROWS]
    if few and n >= 4 * _FEW_ROWS:
        listed = ", ".join(f"{quoted(labels[i])} ({counts[i]})" for i in few[:_SHOWN])
        more = f" and {len(few) - _SHOWN:,} more" if len(few) > _SHOWN else ""
        what = f"has classes with few rows, about which little can be learned: {listed}{more}"
        findings.append(
            _finding(
                "rare class",
                name,
                what,
                "merge them with others or leave their rows out",
                values=tuple(str(labels[i]) for i in few),
            )
        )
    least, most = order[0], order[-1]
    if counts[least] < _RARE * n and counts[most] > n / 2:
        what = (
            f"has {quoted(labels[least])} in {counts[least]:,} of {n:,} rows, so that a forest "
            f"that always predicts {quoted(labels[most])} is right in {counts[most] / n:.0%}"
        )
        hint = "class_weight='balanced', which rank takes, gives each class the same weight"
        findings.append(_finding("imbalance", name, what, hint))
    return findings


def _finding(
    kind: str,
    name: str,
    what: str,
    hint: str,
    *,
    refused: bool = False,
    values: tuple[str, ...] = (),
) -> Finding:
    return Finding(kind, (name,), f"target {quoted(name)} {what}", hint, refused, values)


_SHOWN_LABELS = 3


def merged_labels(column: Any, name: str) -> tuple[Any, Finding | None]:
    """Merge labels of a target that are equal up to case and spaces, each into the most frequent.

    Parameters
    ----------
    column : pyarrow.ChunkedArray or pyarrow.Array
        Anything but text comes back as it is.
    name : str
        Its name, for the sentence.

    Returns
    -------
    column : pyarrow.ChunkedArray or pyarrow.Array
    finding : Finding or None
        What was merged.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from duramen.findings.target import merged_labels
    >>> column, finding = merged_labels(pa.array(["yes", "Yes ", "no", "yes"]), "ill")
    >>> column.to_pylist()
    ['yes', 'yes', 'no', 'yes']
    >>> print(finding.message)
    target 'ill' has labels that differ by case or spaces only, merged: 'Yes ' (1 row) into 'yes'
    """
    column = without_dictionary(column)
    if not is_text(column.type):
        return column, None
    counted = pc.value_counts(column.drop_null())
    rows = {row["values"]: row["counts"] for row in counted.to_pylist()}
    alike: dict[str, list[str]] = defaultdict(list)
    for label in sorted(rows, key=lambda label: (-rows[label], label)):
        alike[" ".join(label.split()).casefold()].append(label)
    into = {label: labels[0] for labels in alike.values() for label in labels[1:]}
    if not into:
        return column, None
    merged = pa.array([into.get(label, label) for label in column.to_pylist()], column.type)
    listed = [
        f"{quoted(label)} ({rows[label]:,} row{'' if rows[label] == 1 else 's'}) into "
        f"{quoted(into[label])}"
        for label in into
    ]
    more = f" and {len(listed) - _SHOWN_LABELS:,} more" if len(listed) > _SHOWN_LABELS else ""
    return merged, Finding(
        "labels merged",
        (name,),
        f"target {quoted(name)} has labels that differ by case or spaces only, merged: "
        f"{', '.join(listed[:_SHOWN_LABELS])}{more}",
        f"as_text={[name]!r} keeps them apart",
        values=tuple(into),
    )


_LEAK_ROWS = 20
_FEWEST_ERRORS = 5  # of always predicting the most frequent class
_FEWEST_PRESENT = 10  # rows with a value
_STRONG = 0.95  # fraction of those errors that a column alone avoids
_NEXT = 0.8  # the same of all other columns, at the most
_FEW_VALUES = 10  # values of a column that is suspect whatever the others do
_MOST_STRONG = 3  # columns that may be leaks together
_ONE_CLASS = 0.98  # fraction of the rows with a value that are of one class
_BY_CHANCE = 1e-3  # probability of that for any column
_RANK_CORRELATION = 0.99
_NARROW = 200  # columns, all of which are looked at
_NARROW_STORE = 24  # the same of a store, whose columns are read for it
_MOST_DISTINCT = 0.5  # values per row of text, beyond which it is an identifier


@dataclass(frozen=True)
class _Strength:
    """Column, and the fraction of the errors that it alone avoids, with what predicts."""

    name: str
    value: float
    accuracy: float
    missingness: bool
    few_values: bool


def of_leaks(table: EncodedTable | ColumnStore, y: Any, name: str, task: str) -> list[Finding]:
    """Tell of columns that predict a target nearly alone, or have values in one class only.

    A column predicts nearly alone if leave-one-out prediction by its values, or by whether it has
    one, avoids 95 % of the errors of always predicting the most frequent class, and at most three
    columns do; columns of more than ten values only if no other column avoids more than 80 %. Of
    numbers, a column does so if the absolute rank correlation is .99. A column has values in one
    class only if 98 % of its at least ten values are of one class, which has a probability of .001
    by chance, divided by the number of columns. In tables of more than 200 columns, and stores of
    more than 24, only those of another kind than most are looked at, since one of many
    measurements can be that strong.

    Parameters
    ----------
    table : EncodedTable or ColumnStore
    y : array-like of shape (n,)
        Target as it was read; rows where it is missing are left out.
    name : str
        Its name, for the sentences.
    task : {"auto", "classification", "regression"}
        Whether it holds classes or numbers.
    """
    codes, numbers, labels = target_values(y, task)
    rows = np.flatnonzero(codes >= 0) if numbers is None else np.flatnonzero(~np.isnan(numbers))
    places = looked_at(table)
    if len(rows) < _LEAK_ROWS or not len(places):
        return []
    table = table.take_columns(places)
    if numbers is not None:
        return _of_numbers(table, numbers[rows], rows, name)
    return _leaks_of_classes(table, codes[rows], labels, rows, name)


def target_values(y: Any, task: str) -> tuple[IntArray, FloatArray | None, Sequence[Any]]:
    """Return class codes, -1 where missing, with their labels; or numbers."""
    none = np.zeros(0, dtype=np.int64)
    column = as_arrow(y)
    if column is None or pa.types.is_temporal(column.type):
        return none, None, ()
    numeric = is_number(column.type)
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if task == "regression" or (task == "auto" and numeric):
        if not numeric:
            return none, None, ()
        numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        present = numbers[~np.isnan(numbers)]
        classes = pa.types.is_integer(array.type) and are_classes(
            len(np.unique(present)), len(present)
        )
        if task == "regression" or not classes:
            return none, numbers, ()
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = encoded.dictionary.to_pylist()
    if any(label != label for label in labels):  # NaN
        gone = [i for i, label in enumerate(labels) if label != label]
        codes[np.isin(codes, gone)] = -1
    return codes, None, labels


def looked_at(table: EncodedTable | ColumnStore) -> IntArray:
    """Return the columns of a narrow table; of a wide one those of another kind than most."""
    most = _NARROW_STORE if isinstance(table, ColumnStore) else _NARROW
    if table.n_columns <= most:
        return np.arange(table.n_columns)
    if isinstance(table, ColumnStore):
        kinds = np.array([KINDS.index(kind) for kind in table.kinds])
    else:
        kinds = table.kind_codes.astype(np.int64)
        starts, ends = table.value_offsets[:-1], table.value_offsets[1:] - 1
        inner = table.cut_values[np.minimum((starts + ends) // 2, len(table.cut_values) - 1)]
        fraction = (inner != np.floor(inner)) | (table.cut_values[ends] % 1 != 0)
        kinds = kinds + len(KINDS) * (fraction & (kinds == KINDS.index("numeric")))
    different, group, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    places = np.flatnonzero(group != np.argmax(counts))
    return places if len(different) > 1 and len(places) <= most else np.zeros(0, dtype=np.int64)


def spread(places: IntArray, most: int) -> IntArray:
    """Return some of many places, spread evenly."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(np.int64)]


# --- classes ------------------------------------------------------------------------------------


def _leaks_of_classes(
    table: EncodedTable, y: IntArray, labels: Sequence[Any], rows: IntArray, name: str
) -> list[Finding]:
    sizes = np.bincount(y, minlength=len(labels))
    most, n = int(sizes.max()), len(y)
    if n - most < _FEWEST_ERRORS:
        return []
    leaks, strengths = [], []
    for j in range(table.n_columns):
        codes = np.asarray(table.codes(j))[rows].astype(np.int64)
        m = len(table.values(j)) + int(table.missing[j])
        counts = np.bincount(codes * len(labels) + y, minlength=m * len(labels))
        counts = counts.reshape(m, len(labels))
        nominal = table.kind_codes[j] == KINDS.index("nominal")
        if table.missing[j]:
            one_class = _of_one_class(table.names[j], counts, sizes, labels, name, table.n_columns)
            if one_class is not None:
                leaks.append(one_class)
                continue
        strengths.append(_strength(table.names[j], counts, bool(table.missing[j]), nominal, most))
    return [*leaks, *_alone(strengths, most / n, name)]


def _of_one_class(
    column: str, counts: IntArray, sizes: IntArray, labels: Sequence[Any], name: str, n_columns: int
) -> Finding | None:
    """Tell of a column whose values are nearly all in the rows of one class."""
    from scipy.stats import hypergeom

    present = counts[:-1].sum(axis=0)
    k, n, c = int(present.sum()), int(sizes.sum()), int(present.argmax())
    if k < _FEWEST_PRESENT or k == n or present[c] < _ONE_CLASS * k:
        return None
    chance = hypergeom.sf(present[c] - 1, n, int(sizes[c]), k) * n_columns
    if chance > _BY_CHANCE:
        return None
    only = "only" if present[c] == k else f"in {present[c] / k:.0%} of cases only"
    sentence = (
        f"column {quoted(column)} has values {only} where {name} is {quoted(labels[c])} "
        f"({k:,} of {n:,} rows): it may be recorded because of the target, and then predicts it "
        "without explaining it"
    )
    return Finding("leak", (column,), sentence, f"{dropping((column,))}, if so")


def _strength(column: str, counts: IntArray, missing: bool, nominal: bool, most: int) -> _Strength:
    """Return how much the values of a column, or whether it has one, predict."""
    n = int(counts.sum())
    right = _right(counts, counts)
    values = counts[:-1] if missing else counts
    if not nominal and len(values) > 2:
        near = values.copy()
        near[1:] += values[:-1]
        near[:-1] += values[1:]
        rest = _right(counts[-1:], counts[-1:]) if missing else 0
        right = max(right, _right(values, near) + rest)
    elif nominal and len(counts) > _MOST_DISTINCT * n:
        right = 0
    by_missing = 0
    if missing:
        two = np.stack([values.sum(axis=0), counts[-1]])
        by_missing = _right(two, two)
    best = max(right, by_missing)
    strength = 1 - (n - best) / (n - most)
    few = len(values) <= _FEW_VALUES
    return _Strength(column, strength, best / n, by_missing >= right, few)


def _right(counts: IntArray, voters: IntArray) -> int:
    """Return the rows that are predicted by the other rows among their voters, of shape (m, C)."""
    right = 0
    for k in range(counts.shape[1]):
        others = np.delete(voters, k, axis=1).max(axis=1)
        right += int(counts[voters[:, k] - 1 > others, k].sum())
    return right


def _alone(strengths: Sequence[_Strength], usual: float, name: str) -> list[Finding]:
    """Tell of few columns that predict nearly alone, while no other comes near."""
    strong = [column for column in strengths if column.value >= _STRONG]
    others = [column.value for column in strengths if column.value < _STRONG]
    if len(strong) > _MOST_STRONG:
        return []
    if max(others, default=0.0) > _NEXT:
        strong = [column for column in strong if column.few_values or column.missingness]
    leaks = []
    for column in strong:
        what = "whether it has a value predicts" if column.missingness else "alone predicts"
        subject = f"column {quoted(column.name)}" + (": " if column.missingness else " ")
        sentence = (
            f"{subject}{what} {name} in {column.accuracy:.0%} of the rows, the most frequent class "
            f"in {usual:.0%}: it may be recorded because of the target, and then predicts it "
            "without explaining it"
        )
        leaks.append(
            Finding("leak", (column.name,), sentence, f"{dropping((column.name,))}, if so")
        )
    return leaks


# --- numbers ------------------------------------------------------------------------------------


def _of_numbers(table: EncodedTable, y: FloatArray, rows: IntArray, name: str) -> list[Finding]:
    from scipy.stats import rankdata

    if len(np.unique(y)) < _FEWEST_PRESENT:
        return []
    correlations: dict[str, float] = {}
    for j in range(table.n_columns):
        if table.kind_codes[j] == KINDS.index("nominal"):
            continue
        codes = np.asarray(table.codes(j))[rows].astype(np.int64)
        present = codes < len(table.values(j))
        if present.sum() < max(_LEAK_ROWS, 0.5 * len(y)) or len(np.unique(codes[present])) < 3:
            continue
        ranks = rankdata(codes[present]), rankdata(y[present])
        correlations[table.names[j]] = float(np.corrcoef(*ranks)[0, 1])
    strong = {column: r for column, r in correlations.items() if abs(r) >= _RANK_CORRELATION}
    if not 0 < len(strong) <= _MOST_STRONG:
        return []
    return [
        Finding(
            "leak",
            (column,),
            f"column {quoted(column)} orders the rows as {name} does (rank correlation {r:.3f}): "
            "it may be computed from the target, and then predicts it without explaining it",
            f"{dropping((column,))}, if so",
        )
        for column, r in strong.items()
    ]
