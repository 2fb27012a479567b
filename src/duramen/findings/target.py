"""Findings about a target."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from duramen.data.finding import Finding
from duramen.data.target import FEW_VALUES
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_number, is_text, pa, pc, without_dictionary
from duramen.support.text import quoted

_FEWEST_ROWS = 10
_RARE = 0.05  # fraction of the rows below which a class is rare
_FEW_ROWS = 5  # rows of a class, of which little can be learned
_ORDERED = 8  # classes of whole numbers that may as well be a quantity
_SHOWN = 3
_MOST_WHOLE = 100  # different whole numbers of a floating type that may be classes
_GAP = 3  # between a code and the other classes
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
    known = column.filter(pc.invert(pc.is_null(column, nan_is_null=True)))
    if pa.types.is_temporal(column.type):
        what = "has dates or times, which are neither classes nor numbers"
        return [_finding("target date", name, what, "name another target", refused=True)]
    found = []
    if lost := len(column) - len(known):
        what = f"is missing in {lost:,} of {len(column):,} rows"
        found.append(_finding("target missing", name, what, "leave these rows out", refused=True))
    if not len(known):
        return found
    counted = pc.value_counts(known)
    counts = np.asarray(counted.field("counts"), dtype=np.int64)
    return [*found, *_of_values(counted.field("values"), counts, name, task)]


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
        task == "auto" and (not numeric or (whole and m <= FEW_VALUES))
    )
    if m == 1:
        one = "one class" if classes else "one value"
        only = f"has {one} only, {quoted(values[0].as_py())}, in all {n:,} rows"
        return [_finding("one class", name, only, "name another target", refused=True)]
    if m == n and n >= _FEWEST_ROWS and (not numeric or (whole and _evenly_spaced(values))):
        what = "has a different value in each row and looks like an identifier"
        return [_finding("target identifier", name, what, "name another target", refused=True)]
    if not classes:
        return _of_whole_numbers(values, name) if task == "auto" else []
    labels = values.to_pylist()
    if numeric and m > FEW_VALUES:
        what = f"has {m:,} different numbers, which are treated as {m:,} classes without an order"
        return [_finding("many classes", name, what, "treat it as numbers")]
    outside = _code_outside(labels, counts) if whole else None
    if outside is None:
        found = _of_classes(labels, counts, name)
    else:
        kept = [i for i in range(m) if i != outside]
        found = _of_code(labels, counts, outside, name)
        found += _of_classes([labels[i] for i in kept], counts[kept], name)
    if whole and task == "auto" and m >= _ORDERED:
        what = f"has {m:,} different whole numbers, which are treated as classes without an order"
        found.append(_finding("classes of numbers", name, what, "treat it as numbers"))
    return found


def _of_whole_numbers(values: Any, name: str) -> list[Finding]:
    """Tell of whole numbers, which may be classes, that are treated as numbers."""
    numbers, m = np.asarray(values), len(values)
    if not pa.types.is_integer(values.type) and (
        m > _MOST_WHOLE or (numbers != np.floor(numbers)).any()
    ):
        return []
    what = f"has {m:,} different whole numbers, which are treated as a quantity (regression)"
    return [_finding("whole numbers", name, what, "treat it as classes")]


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
    rows = "1 row" if counts[outside] == 1 else f"{counts[outside]:,} rows"
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
    n, found = int(counts.sum()), []
    order = np.argsort(counts, kind="stable").tolist()
    few = [i for i in order if counts[i] < _FEW_ROWS]
    if few and n >= 4 * _FEW_ROWS:
        listed = ", ".join(f"{quoted(labels[i])} ({counts[i]})" for i in few[:_SHOWN])
        more = f" and {len(few) - _SHOWN:,} more" if len(few) > _SHOWN else ""
        what = f"has classes with few rows, about which little can be learned: {listed}{more}"
        found.append(
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
        hint = "examine the error of each class, and weight the classes"
        found.append(_finding("imbalance", name, what, hint))
    return found


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
    >>> print(finding.found)
    target 'ill' has labels that differ by case or spaces only, merged: 'Yes ' (1 row) into 'yes'
    """
    column = without_dictionary(column)
    if not is_text(column.type):
        return column, None
    counted = pc.value_counts(column.drop_null())
    rows = {one["values"]: one["counts"] for one in counted.to_pylist()}
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
        "leave the column as it is, if they are different classes",
        values=tuple(into),
    )
