"""Labels of classes that differ by case or spaces only."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from duramen.data.finding import Finding
from duramen.support.text import quoted

_SHOWN = 3


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
    >>> from duramen.findings.labels import merged_labels
    >>> column, finding = merged_labels(pa.array(["yes", "Yes ", "no", "yes"]), "ill")
    >>> column.to_pylist()
    ['yes', 'yes', 'no', 'yes']
    >>> print(finding.found)
    target 'ill' has labels that differ by case or spaces only, merged: 'Yes ' (1 row) into 'yes'
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
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
    more = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return merged, Finding(
        "labels merged",
        (name,),
        f"target {quoted(name)} has labels that differ by case or spaces only, merged: "
        f"{', '.join(listed[:_SHOWN])}{more}",
        "leave the column as it is, if they are different classes",
        values=tuple(into),
    )
