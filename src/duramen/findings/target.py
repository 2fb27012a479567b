"""Findings about a target, and about columns that tell it nearly alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
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
_MOST_WHOLE = 100  # different whole numbers of a floating type that may be classes
_GAP = 3  # between a code and the other classes
_FEW_CODES = 0.1  # fraction of the rows that have a code, at the most
_ANOTHER = "target=NAME names another column"
_SHOWN = 3


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
    findings: list[Finding] = []

    def tell(
        kind: str, what: str, hint: str, *, refused: bool = False, values: Sequence[Any] = ()
    ) -> list[Finding]:
        message, labels = f"target {quoted(name)} {what}", tuple(map(str, values))
        findings.append(Finding(kind, (name,), message, hint, refused, labels))
        return findings

    column = as_arrow(y)
    if column is None:
        return findings
    if pa.types.is_temporal(column.type):
        what = "has dates or times, which are neither classes nor numbers"
        return tell("target date", what, _ANOTHER, refused=True)
    present = column.filter(pc.invert(pc.is_null(column, nan_is_null=True)))
    if lost := len(column) - len(present):
        what = f"is missing in {lost:,} of {len(column):,} rows"
        hint = "drop_missing_target=True leaves these rows out"
        tell("target missing", what, hint, refused=True)
    if not len(present):
        return findings
    distinct = pc.value_counts(present)
    values = distinct.field("values")
    counts = np.asarray(distinct.field("counts"), dtype=np.int64)
    labels, n, m = values.to_pylist(), len(present), len(counts)
    numeric, whole = is_number(values.type), pa.types.is_integer(values.type)
    numbers = np.sort(np.asarray(values)) if numeric else np.zeros(0)
    steps = np.diff(numbers)
    classes = task == "classification" or (
        task == "auto" and (not numeric or (whole and are_classes(m, n)))
    )
    if m == 1:
        rows = "the only row" if n == 1 else f"all {n:,} rows"
        what = f"has one {'class' if classes else 'value'} only, {quoted(labels[0])}, in {rows}"
        return tell("one class", what, _ANOTHER, refused=True)
    if m == n >= _FEWEST_ROWS and (not numeric or (whole and bool((steps == steps[0]).all()))):
        what = "has a different value in each row and looks like an identifier"
        hint = f"{_ANOTHER}, keep_identifiers=True allows this one"
        return tell("target identifier", what, hint, refused=True)
    if not classes:
        few = whole or (m <= _MOST_WHOLE and bool((numbers == np.floor(numbers)).all()))
        if task == "auto" and few:
            what = f"has {m:,} different whole numbers, which are treated as a quantity"
            hint = "task='classification' treats them as classes, task='regression' confirms "
            tell("whole numbers", f"{what} (regression)", f"{hint}numbers")
        return findings
    many = numeric and not are_classes(m, n)
    order = np.argsort(counts, kind="stable").tolist()
    if whole and not many and (code := _code_outside(numbers.tolist(), labels, counts)) is not None:
        order.remove(code)
        others = ", ".join(str(label) for label in sorted(labels[i] for i in order)[:_SHOWN])
        what = (
            f"has {labels[code]} in {counted(counts[code], 'row')} beside {others}"
            f"{', ...' if m > 4 else ''}: a code of missing values, or an error; it is treated as "
            "a class"
        )
        tell("code outside", what, "leave these rows out", values=[labels[code]])
    n = int(counts[order].sum())
    rare = [i for i in order if counts[i] < _FEW_ROWS]
    if rare and n >= 4 * _FEW_ROWS and not many:
        listed = ", ".join(f"{quoted(labels[i])} ({counts[i]})" for i in rare[:_SHOWN])
        more = f" and {len(rare) - _SHOWN:,} more" if len(rare) > _SHOWN else ""
        what = f"has classes with few rows, about which little can be learned: {listed}{more}"
        hint = "merge them with others or leave their rows out"
        tell("rare class", what, hint, values=[labels[i] for i in rare])
    least, most = order[0], order[-1]
    if counts[least] < _RARE * n and counts[most] > n / 2 and not many:
        what = (
            f"has {quoted(labels[least])} in {counts[least]:,} of {n:,} rows, so that a forest "
            f"that always predicts {quoted(labels[most])} is right in {counts[most] / n:.0%}"
        )
        hint = "class_weight='balanced', which rank takes, gives each class the same weight"
        tell("imbalance", what, hint)
    if many or (whole and task == "auto" and m >= _ORDERED):
        what = f"has {m:,} different numbers, which are treated as {m:,} classes without an order"
        tell("classes of numbers", what, "task='regression' treats them as numbers")
    return findings


def _code_outside(numbers: list[Any], labels: list[Any], counts: IntArray) -> int | None:
    """Return the place of a rare number far from all others, which follow each other; or None."""
    for end, rest in ((numbers[-1], numbers[:-1]), (numbers[0], numbers[1:])):
        gap, place = min(abs(end - other) for other in rest), labels.index(end)
        runs = len(rest) > 1 and rest[-1] - rest[0] == len(rest) - 1
        if runs and gap >= max(_GAP, len(rest)) and counts[place] <= _FEW_CODES * counts.sum():
            return place
    return None


def as_arrow(y: Any) -> Any:
    """Return a target as an Arrow array without dictionaries; None where that cannot be."""
    try:
        if not isinstance(y, pa.Array | pa.ChunkedArray):
            values = np.asarray(y).ravel()
            y = pa.array(values.tolist() if values.dtype == object else values)
    except (pa.ArrowException, TypeError, ValueError):
        return None  # of which encoding the target says what is wrong
    column = without_dictionary(y)
    return None if pa.types.is_nested(column.type) else column


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
    distinct = pc.value_counts(column.drop_null())
    rows = {row["values"]: row["counts"] for row in distinct.to_pylist()}
    alike: dict[str, list[str]] = defaultdict(list)
    for label in sorted(rows, key=lambda label: (-rows[label], label)):
        alike[" ".join(label.split()).casefold()].append(label)
    into = {label: labels[0] for labels in alike.values() for label in labels[1:]}
    if not into:
        return column, None
    merged = pa.array([into.get(label, label) for label in column.to_pylist()], column.type)
    listed = ", ".join(
        f"{quoted(label)} ({counted(rows[label], 'row')}) into {quoted(frequent)}"
        for label, frequent in [*into.items()][:_SHOWN]
    )
    more = f" and {len(into) - _SHOWN:,} more" if len(into) > _SHOWN else ""
    return merged, Finding(
        "labels merged",
        (name,),
        f"target {quoted(name)} has labels that differ by case or spaces only, merged: {listed}"
        f"{more}",
        f"as_text={[name]!r} keeps them apart",
        values=tuple(into),
    )


# --- leaks --------------------------------------------------------------------------------------

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
_RECORDED = "it may be recorded because of the target, and then predicts it without explaining it"


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
    rows = np.flatnonzero(codes >= 0 if numbers is None else ~np.isnan(numbers))
    places = looked_at(table)
    if len(rows) < _LEAK_ROWS or not len(places):
        return []
    table = table.take_columns(places)
    if numbers is None:
        leaks = _leaks_of_classes(table, codes[rows], labels, rows, name)
    else:
        leaks = _leaks_of_numbers(table, numbers[rows], rows, name)
    return [
        Finding("leak", (column,), f"column {quoted(column)}{what}", f"{dropping([column])}, if so")
        for column, what in leaks
    ]


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
    codes[np.isin(codes, [i for i, label in enumerate(labels) if label != label])] = -1  # NaN
    return codes, None, labels


def looked_at(table: EncodedTable | ColumnStore) -> IntArray:
    """Return the columns of a narrow table; of a wide one those of another kind than most."""
    most = _NARROW_STORE if isinstance(table, ColumnStore) else _NARROW
    if table.n_columns <= most:
        return np.arange(table.n_columns)
    kinds = table.kind_codes.astype(np.int64)
    if isinstance(table, EncodedTable):
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


def _leaks_of_classes(
    table: EncodedTable, y: IntArray, labels: Sequence[Any], rows: IntArray, name: str
) -> list[tuple[str, str]]:
    """Return columns that tell classes, and what they do."""
    from scipy.stats import hypergeom

    sizes = np.bincount(y, minlength=len(labels))
    most, n = int(sizes.max()), len(y)
    if n - most < _FEWEST_ERRORS:
        return []
    leaks: list[tuple[str, str]] = []
    strengths: list[float] = []
    strong: list[tuple[str, str, bool]] = []
    for j, column in enumerate(table.names):
        codes, missing = np.asarray(table.codes(j))[rows].astype(np.int64), int(table.missing[j])
        m, nominal = len(table.values(j)), table.kind_codes[j] == KINDS.index("nominal")
        counts = np.bincount(codes * len(labels) + y, minlength=(m + missing) * len(labels))
        counts = counts.reshape(m + missing, len(labels))
        values, absent, by_missing = counts[:m], counts[m:], 0
        if missing:
            present = values.sum(axis=0)
            k, c = int(present.sum()), int(present.argmax())
            if _FEWEST_PRESENT <= k < n and present[c] >= _ONE_CLASS * k:
                chance = hypergeom.sf(present[c] - 1, n, int(sizes[c]), k) * table.n_columns
                if chance <= _BY_CHANCE:
                    only = "" if present[c] == k else f"in {present[c] / k:.0%} of cases "
                    leaks.append(
                        (
                            column,
                            f" has values {only}only where {name} is {quoted(labels[c])} ({k:,} of "
                            f"{n:,} rows): {_RECORDED}",
                        )
                    )
                    continue
            two = np.stack([present, absent[0]])
            by_missing = _right(two, two)
        right = 0 if nominal and m + missing > _MOST_DISTINCT * n else _right(counts, counts)
        if not nominal and m > 2:  # ordered values are told by those beside them too
            near = values.copy()
            near[1:] += values[:-1]
            near[:-1] += values[1:]
            right = max(right, _right(values, near) + _right(absent, absent))
        best = max(right, by_missing)
        strengths.append(1 - (n - best) / (n - most))
        if strengths[-1] >= _STRONG:
            how = " alone" if right > by_missing or not missing else ": whether it has a value"
            what = (
                f"{how} predicts {name} in {best / n:.0%} of the rows, the most frequent class in "
                f"{most / n:.0%}: {_RECORDED}"
            )
            strong.append((column, what, m <= _FEW_VALUES or how != " alone"))
    beside = any(_NEXT < strength < _STRONG for strength in strengths)
    if len(strong) <= _MOST_STRONG:
        leaks += [(column, what) for column, what, few in strong if few or not beside]
    return leaks


def _right(counts: IntArray, voters: IntArray) -> int:
    """Return the rows that are predicted by the other rows among their voters, of shape (m, C)."""
    right = 0
    for k in range(counts.shape[1]):
        others = np.delete(voters, k, axis=1).max(axis=1)
        right += int(counts[voters[:, k] - 1 > others, k].sum())
    return right


def _leaks_of_numbers(
    table: EncodedTable, y: FloatArray, rows: IntArray, name: str
) -> list[tuple[str, str]]:
    """Return columns that order the rows as numbers do, and what they do."""
    from scipy.stats import rankdata

    if len(np.unique(y)) < _FEWEST_PRESENT:
        return []
    leaks = []
    for j in np.flatnonzero(table.kind_codes != KINDS.index("nominal")).tolist():
        codes = np.asarray(table.codes(j))[rows].astype(np.int64)
        present = codes < len(table.values(j))
        if present.sum() < max(_LEAK_ROWS, 0.5 * len(y)) or len(np.unique(codes[present])) < 3:
            continue
        r = float(np.corrcoef(rankdata(codes[present]), rankdata(y[present]))[0, 1])
        if abs(r) >= _RANK_CORRELATION:
            what = (
                f" orders the rows as {name} does (rank correlation {r:.3f}): it may be computed "
                "from the target, and then predicts it without explaining it"
            )
            leaks.append((table.names[j], what))
    return leaks if len(leaks) <= _MOST_STRONG else []
