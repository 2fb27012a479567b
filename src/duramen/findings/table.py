"""Findings: content of a table or its target that is seldom intended for an analysis.

The look is at the codes of a table: the number of distinct values of a column is known once it is
encoded, so that a look costs little beside reading the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.dates import dates_of
from duramen.data.encoded import SPARSE, EncodedTable
from duramen.data.provenance import Finding, columns, dropping
from duramen.data.recoding import without_unused
from duramen.data.schema import KINDS
from duramen.data.target import are_classes, are_counts
from duramen.data.text_numbers import CLASSES, MISSING
from duramen.findings.rows import as_arrow, spread
from duramen.io.store.column_store import ColumnStore
from duramen.results.summary import counted
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_number, is_text, pa, pc, without_dictionary
from duramen.support.text import quoted

_NUMERIC, _NOMINAL = KINDS.index("numeric"), KINDS.index("nominal")
_FEWEST_ROWS = 10  # among fewer, different values in all rows are no surprise
_SHOWN = 3
_MOST_CATEGORIES = 100  # of a column whose categories are merged where they differ by case

# --- the target ---------------------------------------------------------------------------------

_RARE = 0.05  # fraction of the rows below which a class is rare
_FEW_ROWS = 5  # rows of a class, of which little can be learned
_ORDERED = 8  # classes of whole numbers that may as well be a quantity
_MOST_WHOLE = 100  # different whole numbers of a floating type that may be classes
_GAP = 3  # between a code and the other classes
_FEW_CODES = 0.1  # fraction of the rows that have a code, at the most
_ANOTHER = "target=NAME names another column"


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
    >>> from duramen.findings.table import of_target
    >>> [one.kind for one in of_target(["a", None, "b"])]
    ['target missing']
    """
    column = as_arrow(y)
    if column is None:
        return []
    is_written = task == "auto" and not is_number(column.type) and bool(dates_of({name: column})[0])
    if pa.types.is_temporal(column.type) or is_written:
        what = f"target {quoted(name)} has dates or times, which are neither classes nor numbers"
        hint = f"{_ANOTHER}, task='regression' explains the days since the first"
        if not pa.types.is_temporal(column.type):
            hint += ", task='classification' makes each date a class"
        return [Finding("target date", (name,), what, hint, refused=True)]
    # Kind of the finding, sentence, hint, values.
    noted: list[tuple[str, str, str, list[Any]]] = []
    present = column.filter(pc.invert(pc.is_null(column, nan_is_null=True)))
    if lost := len(column) - len(present):
        what = f"is missing in {lost:,} of {len(column):,} rows"
        noted.append(("target missing", what, "drop_missing_target=True leaves these rows out", []))
    distinct = pc.value_counts(present)
    values = distinct.field("values")
    counts = np.asarray(distinct.field("counts"), dtype=np.int64)
    labels, n, m = values.to_pylist(), len(present), len(counts)
    numeric, whole = is_number(values.type), pa.types.is_integer(values.type)
    numbers, sizes = np.zeros(0), counts
    if numeric:
        numbers = np.asarray(values)
        numbers, sizes = numbers[order := np.argsort(numbers)], counts[order]
    steps = np.diff(numbers)
    classes = task == "classification" or (
        task == "auto" and (not numeric or are_classes(numbers, sizes))
    )
    many = numeric and not are_classes(np.arange(m), sizes)
    if m == 1:
        rows = "the only row" if n == 1 else f"all {n:,} rows"
        what = f"has one {'class' if classes else 'value'} only, {quoted(labels[0])}, in {rows}"
        noted.append(("one class", what, _ANOTHER, []))
    elif m == n >= _FEWEST_ROWS and (not numeric or (whole and bool((steps == steps[0]).all()))):
        what = "has a different value in each row and looks like an identifier"
        hint = f"{_ANOTHER}, keep_identifiers=True allows this one"
        noted.append(("target identifier", what, hint, []))
    elif m and not classes:
        few = whole or (m <= _MOST_WHOLE and bool((numbers == np.floor(numbers)).all()))
        if task == "auto" and few:
            how = ", distributed as counts" * are_counts(numbers, sizes)
            what = f"has {m:,} different whole numbers{how}, which are treated as a quantity"
            hint = "task='classification' treats them as classes, task='regression' confirms "
            noted.append(("whole numbers", f"{what} (regression)", f"{hint}numbers", []))
    elif m:
        order = np.argsort(counts, kind="stable").tolist()
        # A rare number far from all others, which follow each other, is a code.
        codes = numbers.tolist() if whole and not many else []
        for end, rest in ((codes[-1:], codes[:-1]), (codes[:1], codes[1:])):
            if len(rest) < 2 or rest[-1] - rest[0] != len(rest) - 1:
                continue
            place, gap = labels.index(end[0]), min(abs(end[0] - other) for other in rest)
            if gap >= max(_GAP, len(rest)) and counts[place] <= _FEW_CODES * counts.sum():
                order.remove(place)
                others = ", ".join(map(str, rest[:_SHOWN]))
                what = (
                    f"has {labels[place]} in {counted(counts[place], 'row')} beside {others}"
                    f"{', ...' if m > 4 else ''}: a code of missing values, or an error; it is "
                    "treated as a class"
                )
                noted.append(("code outside", what, "leave these rows out", [labels[place]]))
                break
        for i in () if numeric or m < 3 else [*order]:
            word = str(labels[i]).strip().casefold()
            if word in MISSING - CLASSES:
                order.remove(i)
                what = (
                    f"has {quoted(labels[i])} in {counted(counts[i], 'row')}, a word for a missing "
                    "value; it is treated as a class"
                )
                noted.append(("code outside", what, "leave these rows out", [labels[i]]))
        n = int(counts[order].sum())
        rare = [i for i in order if counts[i] < _FEW_ROWS]
        if rare and n >= 4 * _FEW_ROWS and not many:
            listed = ", ".join(f"{quoted(labels[i])} ({counts[i]})" for i in rare[:_SHOWN])
            more = f" and {len(rare) - _SHOWN:,} more" if len(rare) > _SHOWN else ""
            what = f"has classes with few rows, about which little can be learned: {listed}{more}"
            hint = "merge them with others or leave their rows out"
            noted.append(("rare class", what, hint, [labels[i] for i in rare]))
        least, most = order[0], order[-1]
        if counts[least] < _RARE * n and counts[most] > n / 2 and not many:
            what = (
                f"has {quoted(labels[least])} in {counts[least]:,} of {n:,} rows, so that a forest "
                f"that always predicts {quoted(labels[most])} is right in {counts[most] / n:.0%}"
            )
            hint = "class_weight='balanced', which rank takes, gives each class the same weight"
            noted.append(("imbalance", what, hint, []))
        if many or (whole and task == "auto" and m >= _ORDERED):
            what = f"has {m:,} different numbers, which are treated as {m:,} classes without an "
            hint = "task='regression' treats them as numbers"
            noted.append(("classes of numbers", f"{what}order", hint, []))
    refused = ("target missing", "one class", "target identifier")
    return [
        Finding(kind, (name,), f"target {quoted(name)} {what}", hint, kind in refused, words)
        for kind, what, hint, words in ((*note[:3], tuple(map(str, note[3]))) for note in noted)
    ]


def merged_labels(column: Any, name: str, role: str = "target") -> tuple[Any, Finding | None]:
    """Merge labels that are equal up to case and spaces, each into the most frequent.

    Parameters
    ----------
    column : pyarrow.ChunkedArray or pyarrow.Array
        Anything but text comes back as it is.
    name, role : str
        Its name, and whether it is the target or a column, for the sentence. Columns of many
        labels are left as they are.

    Returns
    -------
    column : pyarrow.ChunkedArray or pyarrow.Array
    finding : Finding or None
        What was merged.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from duramen.findings.table import merged_labels
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
    if role != "target" and len(distinct) > _MOST_CATEGORIES:
        return column, None
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
        f"{role} {quoted(name)} has labels that differ by case or spaces only, merged: {listed}"
        f"{more}",
        f"as_text={[name]!r} keeps them apart",
        values=tuple(into),
    )


# --- columns ------------------------------------------------------------------------------------

READ_AS_MISSING = "read it as missing"
IDENTIFIER = "identifier"
_MOST_READ = 256  # columns of a store that are read for a closer look
_COMPARED = 20  # columns whose names are compared with their values
_SIGNS_OF_MISSING = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_INDEX = ("", "Unnamed: 0", "index", "rownames", "level_0", "__index_level_0__")
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")
_OF_ROWS = re.compile(r"(^|.*[ _.-])(id|ids|iid|uid|uuid|guid|key|barcode|index)|.*[a-z]ID", re.A)
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d.*)?")
_SAID = {
    "constant": "{is_} constant and cannot be important",
    IDENTIFIER: "{has} a different value in each row and look{s} like an identifier",
    "index": "{has} a name like that of an index saved with the table",
    "row order": "increase{s} from row to row, as row numbers do",
    "date": "{has} dates as text of several forms, each of which is treated as a category",
    "many values": "{has} different text in most rows, which raises {its} importance by chance",
    "duplicate": "{has} the same order of values as {of}, so that the importance is divided among "
    "them",
    "missing code": "{has} {of} far from {its} other numbers, as codes of missing values are",
}
_ONE = {"is_": "is", "has": "has", "s": "s", "its": "its"}
_SEVERAL = {"is_": "are", "has": "have", "s": "", "its": "their"}


def of_names(table: pa.Table | ColumnStore) -> list[Finding]:
    """Find out that a file has no line of names, so that its first row was read as one.

    Of the first columns, more than half have a name that is one of their values, or a decimal
    number above numbers; or the first two names are the numbers of rows and of features, as in
    files of scikit-learn.
    """
    if isinstance(table, ColumnStore):
        shape = str(table.n_rows), str(table.n_columns - 1)
        names = table.names_of(np.arange(min(_COMPARED, table.n_columns)))
    else:
        shape = str(table.num_rows), str(table.num_columns - 1)
        names = tuple(table.column_names[:_COMPARED])
    if names[:2] == shape:
        message = (
            f"the first line begins with {shape[0]} and {shape[1]}, the numbers of rows and of "
            "features, and was taken for the names of the columns"
        )
        return [Finding("names", shape, message, "write a line of names in its place")]
    like = []
    for j, name in enumerate(names):
        column = pa.array(table.values(j)) if isinstance(table, ColumnStore) else table.column(j)
        if is_number(column.type):
            alike = _DECIMAL.fullmatch(name) is not None or (
                name.isdecimal() and float(name) in column.cast(pa.float64()).unique().to_pylist()
            )
        else:
            text = is_text(column.type)
            alike = text and name in without_dictionary(column).unique().to_pylist()
        like += [name] if alike else []
    if len(like) < 2 or 2 * len(like) <= len(names):
        return []
    message = (
        f"the names of {columns(like)} look like values: the file may have no line of names, and "
        "its first row is read as one"
    )
    return [Finding("names", tuple(like), message, "write a line of names above the rows")]


def of_codes(table: EncodedTable | ColumnStore, named: Sequence[str] = ()) -> list[Finding]:
    """Find identifiers, constant and duplicate columns, and signs of missing values.

    Columns that other findings name already, as dates or nearly numbers, are no identifiers.
    """
    # Kind of the finding, columns, values or columns in the sentence, hint.
    noted: list[tuple[str, Sequence[str], str, str]] = []
    n_codes, stored = table.n_codes(), isinstance(table, ColumnStore)
    constant = np.flatnonzero(n_codes <= 1)
    if 0 < len(constant) < table.n_columns:
        all_names = table.names_of(constant) if isinstance(table, ColumnStore) else table.names
        names = all_names if stored else [all_names[j] for j in constant.tolist()]
        noted.append(("constant", names, "", dropping(names)))
    if isinstance(table, ColumnStore):
        read = {j for name in _INDEX if (j := table._columns.find(name)) is not None}
        read |= set(np.flatnonzero(2 * n_codes > table.n_rows)[:_MOST_READ].tolist())
        if not read:
            return _findings(noted)
        # Some rows may be left out.
        table = without_unused(table.take_columns(np.array(sorted(read), dtype=np.int64)))
    offsets, cuts = table.value_offsets, table.cut_values
    starts, sizes = offsets[:-1], np.diff(offsets)
    numeric = table.kind_codes == _NUMERIC

    # Columns whose values are seldom meant as they are.
    of_kind: dict[str, list[str]] = defaultdict(list)
    long = numeric & (sizes >= _FEWEST_ROWS)
    places = np.flatnonzero(long & (table.missing.astype(bool) | (sizes == table.n_rows)))
    ends = cuts[np.stack([starts[places], starts[places] + sizes[places] - 1])]
    whole = places[(ends == np.floor(ends)).all(axis=0)]  # few columns of measurements stay
    nominal = np.flatnonzero(table.kind_codes == _NOMINAL)
    several_rows = table.n_rows >= _FEWEST_ROWS
    for j in np.sort(np.concatenate([whole, nominal])).tolist() if several_rows else ():
        name, values, codes = table.names[j], table.values(j), table.codes(j)
        m, present = len(values), table.n_rows
        if table.missing[j]:
            present = int(np.count_nonzero(codes != m))
        if not numeric[j] and name not in named:
            some = map(str, values[:: max(1, m // 5)].tolist())
            if m > 2 and all(_DATE.fullmatch(label.strip()) for label in some):
                of_kind["date"].append(name)
            elif m == present:
                of_kind[IDENTIFIER].append(name)
            elif 2 * m > present:
                of_kind["many values"].append(name)
        elif (
            numeric[j] and name not in named and m == present and (values == np.floor(values)).all()
        ):
            steps = np.diff(values)
            if (steps == steps[0]).all() or _OF_ROWS.fullmatch(name.strip().lower()):
                of_kind[IDENTIFIER].append(name)
            elif (np.diff(codes.astype(np.int64)) == 1).all():
                of_kind["row order"].append(name)
    if table.named:
        identifiers = of_kind[IDENTIFIER]
        of_kind["index"] = [one for one in table.names if one in _INDEX and one not in identifiers]
    for kind in (IDENTIFIER, "index", "row order", "date", "many values"):
        noted.append((kind, of_kind[kind], "", dropping(of_kind[kind])))

    # Numbers such as -999 that are far from all others.
    places = np.flatnonzero(numeric & (sizes >= 4))
    first, last = offsets[places], offsets[places + 1] - 1
    odd_columns: dict[float, list[str]] = defaultdict(list)
    for end, inward, other in ((first, 1, last), (last, -1, first)):
        at_end, near, far = cuts[end], cuts[end + inward], cuts[other]
        below = (at_end < 0) & (near >= 0)  # negative beside numbers that cannot be
        odd = below | (np.abs(near - at_end) > np.abs(far - near))
        odd &= np.isin(at_end, _SIGNS_OF_MISSING)
        for j, value in zip(places[odd].tolist(), at_end[odd].tolist(), strict=True):
            odd_columns[value].append(table.names[j])
    for value, names in odd_columns.items():
        holding = np.searchsorted(offsets, np.flatnonzero(cuts == value), side="right") - 1
        within = np.isin(places, holding) & (cuts[first] < value) & (value < cuts[last])
        ordinary = [table.names[j] for j in places[within].tolist()]
        if ordinary and len(ordinary) <= len(names):
            inside = f"{value:g} is a number within the range of {columns(ordinary)}"
            hint = f"leave these cells of the file empty; {inside}"
            noted.append(("missing code", names, f"{value:g}", hint))
        elif not ordinary:
            noted.append(("missing code", names, f"{value:g}", READ_AS_MISSING))

    alike: dict[Any, list[str]] = defaultdict(list)
    for j in [] if stored else np.flatnonzero(~table.constant()).tolist():
        block, data = int(table.block_of[j]), table.codes(j)
        contents: Any = np.ascontiguousarray(data)
        if table.sparse is not None and block == SPARSE:
            contents = table.sparse.contents(int(table.slot[j]))
        alike[block, blake2b(contents, digest_size=16).digest()].append(table.names[j])
    groups = [names for names in alike.values() if len(names) > 1]
    shown = ", ".join(quoted(names[0]) for names in groups[:_SHOWN])
    again = [name for names in groups for name in names[1:]]
    more = ", ..." if len(groups) > _SHOWN else ""
    noted.append(("duplicate", again, f"{shown}{more}", dropping(again)))
    return _findings(noted) if any(names for _, names, _, _ in noted) else []


def _findings(noted: Iterable[tuple[str, Sequence[str], str, str]]) -> list[Finding]:
    """Return the findings that concern at least one column."""
    findings = []
    for kind, names, of, hint in noted:
        if names:
            words = _ONE if len(names) == 1 else _SEVERAL
            message = f"{columns(names)} {_SAID[kind].format(of=of, **words)}"
            values = (of,) if kind == "missing code" else ()
            findings.append(Finding(kind, tuple(names), message, hint, values=values))
    return findings


def left_out(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the columns that look like identifiers; analyses leave them out by default."""
    return tuple(
        name for finding in findings if finding.kind == IDENTIFIER for name in finding.columns
    )


# --- numbers of values --------------------------------------------------------------------------

NODE = 10
"""Rows of a node: with 10, MDI of irrelevant features in random forests is nearly proportional."""

MDI = "MDI"
"""Title of the measure to which the ratio of diversities applies."""

_LARGE = 2.0  # ratio of the diversities of two columns from which it is told of
_COUNTED = 1000  # columns that are counted, spread evenly over all
_TAIL = 0.05  # fraction of the columns at either end that do not matter


def diversity(counts: ArrayLike, n_rows: int = NODE) -> float:
    """Return the expected number of distinct values in some rows, less 1.

    Parameters
    ----------
    counts : array-like of int
        Number of rows of each value.
    n_rows : int
        Number m of rows that are drawn; all, if there are fewer.

    Examples
    --------
    >>> from duramen.findings.table import diversity
    >>> round(diversity([50, 50]), 2), round(diversity([99, 1]), 2), round(diversity([1] * 100), 2)
    (1.0, 0.1, 9.0)
    """
    numbers: IntArray = np.asarray(counts, dtype=np.int64)
    n = int(numbers.sum())
    absent = np.ones(len(numbers))  # probability that no drawn row has the value
    for drawn in range(min(n_rows, n)):
        absent *= np.maximum(n - numbers - drawn, 0) / (n - drawn)
    return float(np.sum(1.0 - absent)) - 1.0


def unequal_values(
    table: EncodedTable | ColumnStore, measure: str = MDI, *, findings: Iterable[Finding] = ()
) -> Finding | None:
    """Find columns that differ so much in their values that some are favored by chance.

    Constant columns aside, the 5 % of lowest and the 5 % of highest diversity are passed over; of
    20 columns and fewer, none is. Of many columns, 1000 are counted, spread evenly over the table,
    and 256 of a store.

    Parameters
    ----------
    table : EncodedTable or ColumnStore
        Columns of n rows.
    measure : str
        Title of the measure, for the sentence.
    findings : iterable of Finding
        Findings whose columns are passed over.

    Returns
    -------
    Finding or None
        Of kind "unequal values", about the column of lowest and that of highest diversity of the
        others, if the ratio is 2 or more.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.findings.table import unequal_values
    >>> table = dm.encode([[i % 2, i] for i in range(40)], names=["sex", "age"])
    >>> print(unequal_values(table).message)
    'sex' has 2 distinct values, the most frequent in 50% of the rows, and 'age' has 40, the most \
frequent in 2%: among features without any association with the target, those like 'age' get more \
MDI than those like 'sex', up to about 9.0 times as much
    """
    varied: IntArray = np.flatnonzero(table.n_codes() > 1)
    if len(varied) < 2:
        return None
    if isinstance(table, ColumnStore):
        table = table.take_columns(spread(varied, _MOST_READ))
        varied = np.arange(table.n_columns)
    named = {name for finding in findings for name in finding.columns}
    columns_counted = []
    for j in spread(varied, _COUNTED).tolist():
        if table.names[j] not in named:
            counts = np.bincount(table.codes(j))
            columns_counted.append((diversity(counts), table.names[j], counts))
    # A code can be without rows.
    ordered = sorted((one for one in columns_counted if one[0] > 0), key=lambda one: one[0])
    if len(ordered) < 2:
        return None
    skipped = int(_TAIL * (len(ordered) - 1))
    low, high = ordered[skipped], ordered[-1 - skipped]
    ratio = high[0] / low[0]
    if ratio < _LARGE:
        return None
    held = []
    for _, _, counts in (low, high):
        part = float(counts.max() / counts.sum())
        percent = "less than 1%" if part < 0.01 else f"{min(part, 0.99):.0%}"
        held.append((f"{np.count_nonzero(counts):,}", percent))
    (few, often), (many, seldom) = held
    first, last = quoted(low[1]), quoted(high[1])
    number = f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
    times = f", up to about {number} times as much" if measure == MDI else ""
    return Finding(
        "unequal values",
        (low[1], high[1]),
        f"{first} has {few} distinct values, the most frequent in {often} of the rows, and {last} "
        f"has {many}, the most frequent in {seldom}: among features without any association with "
        f"the target, those like {last} get more {measure} than those like {first}{times}",
        "rank by a measure that is 0 on average for all of them, such as mda or air",
    )
