"""Findings: what in a table or its target is seldom meant to be analyzed as it is.

The look is at the codes of a table: the number of distinct values of a column is known once it is
encoded, so that a look costs little beside reading the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.encoded import SPARSE, EncodedTable
from duramen.data.encoding import encode
from duramen.data.provenance import Finding, columns, dropping, them
from duramen.data.recoding import without_unused
from duramen.data.schema import KINDS
from duramen.data.text_numbers import StrayValues, StrayValuesWarning
from duramen.findings.rows import DEPENDENT, of_rows
from duramen.findings.target import of_target, spread
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_number, is_text, pa, without_dictionary
from duramen.support.text import quoted
from duramen.support.warning import gathered_warnings

Codes: TypeAlias = EncodedTable | ColumnStore

READ_AS_MISSING = "read it as missing"
IDENTIFIER = "identifier"
NODE = 10
"""Rows of a node: with 10, MDI of irrelevant features in random forests is nearly proportional."""

LARGE = 2.0
"""Ratio of the diversities of two columns from which it is told of."""

MDI = "MDI"
"""Title of the measure to which the ratio of diversities applies."""

_FEWEST_ROWS = 10  # among fewer, different values in all rows are no surprise
_MOST_READ = 256  # columns of a store that are read for a closer look
_SHOWN = 3
_COMPARED = 20  # columns whose names are compared with their values
_COUNTED = 1000  # columns that are counted, spread evenly over all
_TAIL = 0.05  # fraction of the columns at either end that do not matter
_SIGNS_OF_MISSING = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_INDEX = ("", "Unnamed: 0", "index", "rownames", "level_0", "__index_level_0__")
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")
_OF_ROWS = re.compile(r"(^|.*[ _.-])(id|ids|iid|uid|uuid|guid|key|barcode|index)|.*[a-z]ID", re.A)
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d.*)?")
_SAID = {  # of one column, and of several
    "constant": ("is constant and cannot be important", "are constant and cannot be important"),
    IDENTIFIER: (
        "has a different value in each row and looks like an identifier",
        "have different values in all rows and look like identifiers",
    ),
    "index": (
        "has a name like that of an index saved with the table",
        "have names like those of an index saved with the table",
    ),
    "row order": (
        "increases from row to row, as row numbers do",
        "increase from row to row, as row numbers do",
    ),
    "date": (
        "has dates as text, each of which is treated as a category",
        "have dates as text, each of which is treated as a category",
    ),
    "many values": (
        "has different text in most rows, which raises its importance by chance",
        "have different text in most rows, which raises their importance by chance",
    ),
    "duplicate": (
        "has the same order of values as {}, so that the importance is divided among them",
        "have the same order of values as {}, so that the importance is divided among them",
    ),
    "missing code": (
        "has {} far from its other numbers, as codes of missing values are",
        "have {} far from their other numbers, as codes of missing values are",
    ),
}


def findings(X: Any, y: Any = None, *, target: str = "y") -> tuple[Finding, ...]:
    """Look at a table, and at a target, for what is seldom meant to be analyzed as it is.

    Parameters
    ----------
    X : table of shape (n, p), EncodedTable or ColumnStore
        Of a store, only columns with many values are read, 256 at most, and as many to compare
        values, and duplicates are not looked for.
    y : array-like of shape (n,), optional
        Classes or numbers.
    target : str
        Name of the target, for the sentences.

    Returns
    -------
    tuple of Finding
        Those that the command line refuses first; it leaves identifiers out. "unequal values" is
        for rankings by MDI and other measures that favor many values; commands tell of it only if
        they rank by one.

    Raises
    ------
    ValueError, TypeError
        If X cannot be encoded for another reason than dates.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import duramen as dm
    >>> table = pa.table({"id": range(20), "site": [1] * 20, "age": [3, 5] * 10})
    >>> for finding in dm.findings.findings(table):
    ...     print(finding.kind, finding.columns)
    constant ('site',)
    identifier ('id',)
    """
    listed: list[Finding] = [] if y is None else of_target(y, target)
    stray: list[StrayValues] = []
    if not isinstance(X, EncodedTable | ColumnStore):
        dates = dates_of(X)
        listed += of_dates(dates)
        if dates:
            import narwhals as nw

            frame = nw.from_native(X, eager_only=True).drop(*dates)
            if not frame.columns:
                return in_order(listed)
            X = frame.to_native()
        with gathered_warnings() as gathered:
            X = encode(X)
        for warning in gathered:
            stray += warning.columns if isinstance(warning, StrayValuesWarning) else ()
        listed += map(of_stray, stray)
    listed += of_codes(X, [values.name for values in stray])
    unequal = unequal_values(X, named=names_in(listed))
    listed += [] if unequal is None else [unequal]
    listed += [] if y is None else of_rows(X, y, target, "auto")
    return in_order(listed)


def names_in(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the columns that findings name."""
    return frozenset(name for finding in findings for name in finding.columns)


def left_out(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the columns that look like identifiers, which analyses leave out by default."""
    return tuple(
        name for finding in findings if finding.kind == IDENTIFIER for name in finding.columns
    )


def without_identifiers(findings: Iterable[Finding], keep: str) -> list[Finding]:
    """Return findings that say so of columns that are left out, of which nothing else is said.

    `keep` is the option that keeps them, such as "--keep-identifiers keeps {}".
    """
    findings = list(findings)
    gone, remaining = frozenset(left_out(findings)), []
    for finding in findings:
        if finding.kind == IDENTIFIER:
            it = "it was" if len(finding.columns) == 1 else "they were"
            message, hint = f"{finding.message}: {it} left out", keep.format(them(finding.columns))
            remaining.append(replace(finding, message=message, hint=hint, refused=False))
        elif not finding.columns or not gone.issuperset(finding.columns):
            remaining.append(finding)
    return remaining


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put what is refused first, then leaks and rows that depend on each other."""
    first = ("leak", *DEPENDENT)
    return tuple(
        sorted(findings, key=lambda finding: (not finding.refused, finding.kind not in first))
    )


# --- before encoding ----------------------------------------------------------------------------


def dates_of(X: Any) -> tuple[str, ...]:
    """Return the names of the columns of dates and times of a data frame."""
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return tuple(column.name for column in X.schema if pa.types.is_temporal(column.type))
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return ()
    return tuple(name for name, kind in frame.schema.items() if kind.is_temporal())


def of_dates(names: Sequence[str]) -> list[Finding]:
    """Tell of columns of dates, which cannot be encoded."""
    if not names:
        return []
    have = "has" if len(names) == 1 else "have"
    message = f"{columns(names)} {have} dates or times, which are not encoded"
    hint = f"{dropping(names)}; or turn {them(names)} into numbers, such as days since a date"
    return [Finding("date", tuple(names), message, hint, refused=True)]


def of_names(table: pa.Table | ColumnStore) -> list[Finding]:
    """Tell of a file without a line of names, whose first row was read as one.

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
        f"the names of {columns(like)} are values, as where a file has no line of names and its "
        "first row is taken for one"
    )
    return [Finding("names", tuple(like), message, "write a line of names above the rows")]


def of_stray(stray: StrayValues) -> Finding:
    """Tell of a column of text that is nearly one of numbers."""
    message = f"{stray.describe()}; it is treated as categorical"
    hint = "read the words as missing values, or convert the column to numbers"
    return Finding("stray values", (stray.name,), message, hint, values=stray.values)


# --- columns ------------------------------------------------------------------------------------


def of_codes(table: Codes, named: Sequence[str] = ()) -> list[Finding]:
    """Tell of identifiers, constant and duplicate columns, and signs of missing values.

    Columns of text that are told of already, as nearly numbers, are no identifiers.
    """
    findings: list[Finding] = []

    def tell(kind: str, names: Sequence[str], of: str = "", **more: Any) -> None:
        if names:
            said = _SAID[kind][len(names) > 1].format(of)
            hint = more.pop("hint", dropping(names))
            findings.append(Finding(kind, tuple(names), f"{columns(names)} {said}", hint, **more))

    n_codes = table.n_codes()
    constant = np.flatnonzero(n_codes <= 1)
    stored = isinstance(table, ColumnStore)
    if isinstance(table, ColumnStore):
        names: Sequence[str] = table.names_of(constant)
    else:
        names = [table.names[j] for j in constant.tolist()]
    if len(constant) < table.n_columns:
        tell("constant", names)
    if isinstance(table, ColumnStore):
        places = {table._columns.find(name) for name in _INDEX} - {None}
        places |= set(np.flatnonzero(2 * n_codes > table.n_rows)[:_MOST_READ].tolist())
        if not places:
            return findings
        chosen = np.array(sorted(j for j in places if j is not None))
        table = without_unused(table.take_columns(chosen))  # some rows may be left out
    of_kind = _kinds_of_values(table, named)
    if table.named:
        known = of_kind[IDENTIFIER]
        of_kind["index"] = [name for name in table.names if name in _INDEX and name not in known]
    for kind in (IDENTIFIER, "index", "row order", "date", "many values"):
        tell(kind, of_kind[kind])
    for value, names, ordinary in _missing_codes(table):
        hint = READ_AS_MISSING
        if ordinary:
            inside = f"{value:g} is a number within the range of {columns(ordinary)}"
            hint = f"leave these cells of the file empty; {inside}"
        tell("missing code", names, f"{value:g}", hint=hint, values=(f"{value:g}",))
    if not stored:
        alike: dict[Any, list[str]] = defaultdict(list)
        for j in np.flatnonzero(~table.constant()).tolist():
            block, data = int(table.block_of[j]), table.codes(j)
            contents: Any = np.ascontiguousarray(data)
            if table.sparse is not None and block == SPARSE:
                contents = table.sparse.contents(int(table.slot[j]))
            alike[block, blake2b(contents, digest_size=16).digest()].append(table.names[j])
        groups = [names for names in alike.values() if len(names) > 1]
        first = [quoted(names[0]) for names in groups[:_SHOWN]]
        others = ", ..." if len(groups) > _SHOWN else ""
        again = [name for names in groups for name in names[1:]]
        tell("duplicate", again, f"{', '.join(first)}{others}")
    return findings


def _kinds_of_values(table: EncodedTable, named: Sequence[str]) -> dict[str, list[str]]:
    """Return columns whose values are seldom meant as they are, by the kind of the finding."""
    of_kind: dict[str, list[str]] = defaultdict(list)
    if table.n_rows < _FEWEST_ROWS:
        return of_kind
    starts, sizes = table.value_offsets[:-1], np.diff(table.value_offsets)
    numeric = (table.kind_codes == KINDS.index("numeric")) & (sizes >= _FEWEST_ROWS)
    places = np.flatnonzero(numeric & (table.missing.astype(bool) | (sizes == table.n_rows)))
    ends = table.cut_values[np.stack([starts[places], starts[places] + sizes[places] - 1])]
    whole = places[(ends == np.floor(ends)).all(axis=0)]  # few columns of measurements stay
    nominal = np.flatnonzero(table.kind_codes == KINDS.index("nominal"))
    for j in np.sort(np.concatenate([whole, nominal])).tolist():
        name, values, codes = table.names[j], table.values(j), table.codes(j)
        m, present = len(values), table.n_rows
        if table.missing[j]:
            present = int(np.count_nonzero(codes != m))
        if not numeric[j]:
            if name in named:
                continue
            some = map(str, values[:: max(1, m // 5)].tolist())
            if m > 2 and all(_DATE.fullmatch(label.strip()) for label in some):
                of_kind["date"].append(name)
            elif m == present:
                of_kind[IDENTIFIER].append(name)
            elif 2 * m > present:
                of_kind["many values"].append(name)
        elif m == present and (values == np.floor(values)).all():
            steps = np.diff(values)
            if (steps == steps[0]).all() or _OF_ROWS.fullmatch(name.strip().lower()):
                of_kind[IDENTIFIER].append(name)
            elif (np.diff(codes.astype(np.int64)) == 1).all():
                of_kind["row order"].append(name)
    return of_kind


def _missing_codes(table: EncodedTable) -> list[tuple[float, list[str], list[str]]]:
    """Return numbers such as -999, columns where they are far from all others, and others.

    Others are columns that have the number within their range; where these are more, it is no code.
    """
    offsets, cuts = table.value_offsets, table.cut_values
    numeric = table.kind_codes == KINDS.index("numeric")
    places = np.flatnonzero(numeric & (np.diff(offsets) >= 4))
    first, last = offsets[places], offsets[places + 1] - 1
    odd_columns: dict[float, list[str]] = defaultdict(list)
    for end, inward, other in ((first, 1, last), (last, -1, first)):
        ends, near, far = cuts[end], cuts[end + inward], cuts[other]
        below = (ends < 0) & (near >= 0)  # negative beside numbers that cannot be
        odd = below | (np.abs(near - ends) > np.abs(far - near))
        odd &= np.isin(ends, _SIGNS_OF_MISSING)
        for j, value in zip(places[odd].tolist(), ends[odd].tolist(), strict=True):
            odd_columns[value].append(table.names[j])
    codes = []
    for value, names in odd_columns.items():
        holding = np.searchsorted(offsets, np.flatnonzero(cuts == value), side="right") - 1
        within = np.isin(places, holding) & (cuts[first] < value) & (value < cuts[last])
        ordinary = [table.names[j] for j in places[within].tolist()]
        if len(ordinary) <= len(names):
            codes.append((value, names, ordinary))
    return codes


# --- numbers of values --------------------------------------------------------------------------


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
    table: Codes, measure: str = MDI, *, named: Collection[str] = ()
) -> Finding | None:
    """Tell of columns that differ so much in their values that some are favored by chance.

    Constant columns aside, the 5 % of lowest and the 5 % of highest diversity are passed over; of
    20 columns and fewer, none is. Of many columns, 1000 are counted, spread evenly over the table,
    and 256 of a store.

    Parameters
    ----------
    table : EncodedTable or ColumnStore
        Columns of n rows.
    measure : str
        Title of the measure, for the sentence.
    named : collection of str
        Columns that are passed over, because other findings name them.

    Returns
    -------
    Finding or None
        Of kind "unequal values", about the column of lowest and that of highest diversity of the
        others, if the ratio is `LARGE` or more.

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
    left_out = frozenset(named)
    columns_counted = []
    for j in spread(varied, _COUNTED).tolist():
        if table.names[j] not in left_out:
            counts = np.bincount(table.codes(j))
            columns_counted.append((diversity(counts), table.names[j], counts))
    # A code can be without rows.
    ordered = sorted((one for one in columns_counted if one[0] > 0), key=lambda one: one[0])
    if len(ordered) < 2:
        return None
    skipped = int(_TAIL * (len(ordered) - 1))
    low, high = ordered[skipped], ordered[-1 - skipped]
    ratio = high[0] / low[0]
    if ratio < LARGE:
        return None

    def held(counts: IntArray) -> tuple[str, str]:
        part = float(counts.max() / counts.sum())
        percent = "less than 1%" if part < 0.01 else f"{min(part, 0.99):.0%}"
        return f"{np.count_nonzero(counts):,}", percent

    (few, often), (many, seldom) = held(low[2]), held(high[2])
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
