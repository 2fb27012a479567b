"""Findings: what in a table or its target is seldom meant to be analyzed as it is.

The look is at the codes of a table: the number of distinct values of a column is known once it is
encoded, so that a look costs little beside reading the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.provenance import Finding, columns, dropping, them
from duramen.data.recoding import without_unused
from duramen.data.schema import KINDS
from duramen.data.sparse_columns import SPARSE
from duramen.data.text_numbers import StrayValues, StrayValuesWarning
from duramen.findings.rows import DEPENDENT, of_rows
from duramen.findings.target import of_target, spread
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrays import BoolArray, IntArray
from duramen.support.arrow import is_number, is_text, pa, without_dictionary
from duramen.support.provenance import fingerprint
from duramen.support.text import quoted
from duramen.support.warning import gathered_warnings

NODE = 10
"""Rows of a node: with 10, MDI of irrelevant features in random forests is nearly proportional."""

LARGE = 2.0
"""Ratio of the diversities of two columns from which it is told of."""

MDI = "MDI"
"""Title of the measure to which the ratio of diversities applies."""

_COMPARED = 20  # columns whose names are compared with their values
_COUNTED = 1000  # columns that are counted, spread evenly over all
_TAIL = 0.05  # fraction of the columns at either end that do not matter
_ALLELES = frozenset({0.0, 1.0, 2.0})


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
    places = spread(varied, _COUNTED)
    if left_out:
        wanted = [table.names[j] not in left_out for j in places.tolist()]
        places = places[np.array(wanted, dtype=bool)]
    counted = [_counts(table, j) for j in places.tolist()]
    diversities = np.array([diversity(counts) for counts in counted])
    usable = np.flatnonzero(diversities > 0)  # a code can be without rows
    if len(usable) < 2:
        return None
    order = usable[np.argsort(diversities[usable], kind="stable")]
    skipped = int(_TAIL * (len(order) - 1))
    low, high = int(order[skipped]), int(order[-1 - skipped])
    ratio = diversities[high] / diversities[low]
    if ratio < LARGE:
        return None
    pair = [places[low], places[high]]
    what = _difference(table, places[usable], pair, (counted[low], counted[high]))
    names = [table.names[j] for j in pair]
    first, last = map(quoted, names)
    number = f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
    times = f", up to about {number} times as much" if measure == MDI else ""
    return Finding(
        "unequal values",
        tuple(names),
        f"{what}: among features without any association with the target, those like {last} get "
        f"more {measure} than those like {first}{times}",
        "rank by a measure that is 0 on average for all of them, such as mda or air",
    )


def _counts(table: EncodedTable, j: int) -> IntArray:
    """Return the number of rows of each code of a column, that of missing last."""
    return np.bincount(table.codes(j), minlength=len(table.values(j)) + int(table.missing[j]))


def _difference(
    table: EncodedTable, places: IntArray, pair: list[int], counts: tuple[IntArray, IntArray]
) -> str:
    """Say in what a column of low and one of high diversity differ."""
    first, last = (quoted(table.names[j]) for j in pair)
    if _genotypes(table, places):
        low, high = (_minor_allele_frequency(table, j) for j in pair)
        return (
            "read as counts of alleles, columns have minor-allele frequencies from "
            f"{low:.2g} ({first}) to {high:.2g} ({last})"
        )
    few, many = (int(np.count_nonzero(counts_of)) for counts_of in counts)
    low, high = (float(counts_of.max() / counts_of.sum()) for counts_of in counts)
    return (
        f"{first} has {few:,} distinct values, the most frequent in {_percent(low)} of the rows, "
        f"and {last} has {many:,}, the most frequent in {_percent(high)}"
    )


def _percent(fraction: float) -> str:
    """Return a fraction in percent, neither 0 nor 100 by rounding."""
    if fraction < 0.01:
        return "less than 1%"
    return "more than 99%" if 0.99 < fraction < 1 else f"{fraction:.0%}"


def _genotypes(table: EncodedTable, places: IntArray) -> bool:
    """Tell whether columns hold 0, 1 and 2 alone, some all three, as genotypes do."""
    sizes = np.diff(table.value_offsets)[places]
    numeric = table.kind_codes[places] == KINDS.index("numeric")
    if not numeric.all() or sizes.max() != len(_ALLELES):
        return False
    return all(_ALLELES.issuperset(table.values(j).tolist()) for j in places.tolist())


def _minor_allele_frequency(table: EncodedTable, j: int) -> float:
    values: NDArray[Any] = table.values(j)
    counts = _counts(table, j)[: len(values)]
    frequency = float(counts @ values / (2 * counts.sum()))
    return min(frequency, 1 - frequency)


Codes: TypeAlias = EncodedTable | ColumnStore

_FEWEST_ROWS = 10  # among fewer, different values in all rows are no surprise
_LOOKED_AT = 5  # labels that tell dates
_MOST_READ = 256  # columns of a store that are read for a closer look
_OF_A_KIND = 3  # findings of a kind that are told one by one
_SAMPLED = 64  # rows by which columns are compared first
_NOMINAL = KINDS.index("nominal")
_DECIMAL = re.compile(r"[+-]?\d*\.\d+")
_PAIR = re.compile(r"\d+:[-+]?[.\d].*")  # of LIBSVM: the number of a column, and its value
_NAMELESS = re.compile(r"(Unnamed: \d+|__index_level_\d+__|level_\d+|index|rownames)?")
_OF_ROWS = re.compile(r"(^|.*[ _.-])(id|ids|iid|uid|uuid|guid|key|barcode|index)|.*[a-z]ID", re.A)
READ_AS_MISSING = "read it as missing"
IDENTIFIER = "identifier"
_SIGNS_OF_MISSING = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d.*)?")


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
    findings: list[Finding] = [] if y is None else [*of_target(y, target)]
    stray: tuple[StrayValues, ...] = ()
    if not isinstance(X, EncodedTable | ColumnStore):
        dates = dates_of(X)
        findings += of_dates(dates)
        X, stray = _encoded_without(X, dates)
        findings += map(of_stray, stray)
    if X is not None:
        findings += of_codes(X, [values.name for values in stray])
        unequal = unequal_values(X, named=names_in(findings))
        findings += [] if unequal is None else [unequal]
        findings += [] if y is None else of_rows(X, y, target, "auto")
    return in_order(findings)


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
            hint = keep.format(them(finding.columns))
            finding = replace(
                finding, message=f"{finding.message}: {it} left out", hint=hint, refused=False
            )
        elif finding.columns and gone.issuperset(finding.columns):
            continue
        remaining.append(finding)
    return remaining


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put what is refused first, then leaks and rows that depend on each other."""
    first = ("leak", *DEPENDENT)
    return tuple(
        sorted(findings, key=lambda finding: (not finding.refused, finding.kind not in first))
    )


def _encoded_without(
    X: Any, dates: Sequence[str]
) -> tuple[EncodedTable | None, tuple[StrayValues, ...]]:
    """Encode the other columns; also return those of text that are nearly numbers."""
    if dates:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        if len(dates) == len(frame.columns):
            return None, ()
        X = frame.drop(*dates).to_native()
    with gathered_warnings() as gathered:
        table = encode(X)
    return table, tuple(
        stray
        for warning in gathered
        if isinstance(warning, StrayValuesWarning)
        for stray in warning.columns
    )


# --- columns ------------------------------------------------------------------------------------


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
    more = f"; or turn {them(names)} into numbers, such as days since a date"
    one, several = (f"{have} dates or times, which are not encoded" for have in ("has", "have"))
    return _about("date", names, one, several, more=more, refused=True)


def of_names(table: pa.Table | ColumnStore) -> list[Finding]:
    """Tell of a file without a line of names, whose first row was read as one.

    Of the first columns, more than half have a name that is one of their values, or a decimal
    number above numbers; or the first two names are the numbers of rows and of features, as in
    files of scikit-learn; or most names are numbers of columns before values, as in files of
    LIBSVM.
    """
    if isinstance(table, ColumnStore):
        names = table.names_of(np.arange(min(_COMPARED, table.n_columns)))
        shape = str(table.n_rows), str(table.n_columns - 1)
    else:
        names = tuple(table.column_names[:_COMPARED])
        shape = str(table.num_rows), str(table.num_columns - 1)
    if names[:2] == shape:
        message = (
            f"the first line begins with {shape[0]} and {shape[1]}, the numbers of rows and of "
            "features, and was taken for the names of the columns"
        )
        return [Finding("names", shape, message, "write a line of names in its place")]

    def column(j: int) -> Any:  # of a store its distinct values, of one column after the other
        return pa.array(table.values(j)) if isinstance(table, ColumnStore) else table.column(j)

    pairs = tuple(
        name for j, name in enumerate(names) if _PAIR.fullmatch(name) and _begins_as_pair(column(j))
    )
    if len(pairs) >= 2 and 2 * len(pairs) > len(names):
        message = f"{columns(pairs)} hold numbers of columns before values, as files of LIBSVM do"
        reader = "sklearn.datasets.load_svmlight_file reads them, in Python, for dm.rank(X, y)"
        return [Finding("names", pairs, message, reader)]
    like = tuple(name for j, name in enumerate(names) if _is_value(name, column(j)))
    if len(like) < 2 or 2 * len(like) <= len(names):
        return []
    message = (
        f"the names of {columns(like)} are values, as where a file has no line of names and its "
        "first row is taken for one"
    )
    return [Finding("names", like, message, "write a line of names above the rows")]


def _begins_as_pair(column: Any) -> bool:
    """Return whether the first value of a column is a pair, as in files of LIBSVM."""
    if not is_text(column.type):
        return False
    value = without_dictionary(column.slice(0, 1)).to_pylist()[0]
    return value is not None and _PAIR.fullmatch(value) is not None


def _is_value(name: str, column: Any) -> bool:
    """Return whether the name of a column looks like one of its values."""
    if is_number(column.type):
        if _DECIMAL.fullmatch(name):
            return True
        return name.isdecimal() and float(name) in column.cast(pa.float64()).unique().to_pylist()
    return is_text(column.type) and name in without_dictionary(column).unique().to_pylist()


def _about(
    kind: str,
    names: Sequence[str],
    one: str,
    several: str = "",
    *,
    more: str = "",
    refused: bool = False,
) -> list[Finding]:
    """Return a finding on columns that are best left out, if there are any.

    It says `one` or `several` of them; `more` is added to the hint.
    """
    if not names:
        return []
    message = f"{columns(names)} {one if len(names) == 1 else several}"
    return [Finding(kind, tuple(names), message, f"{dropping(names)}{more}", refused)]


def of_stray(stray: StrayValues) -> Finding:
    """Tell of a column of text that is nearly one of numbers."""
    message = f"{stray.describe()}; it is treated as categorical"
    hint = "read the words as missing values, or convert the column to numbers"
    return Finding("stray values", (stray.name,), message, hint, values=stray.values)


def of_codes(table: Codes, named: Sequence[str] = ()) -> list[Finding]:
    """Tell of identifiers, constant and duplicate columns, and signs of missing values.

    Columns of text that are told of already, as nearly numbers, are no identifiers.
    """
    n_codes = table.n_codes()
    constant = np.flatnonzero(n_codes <= 1)
    findings: list[Finding] = []
    if len(constant) < table.n_columns:
        one, several = (f"{are} constant and cannot be important" for are in ("is", "are"))
        findings += _about("constant", _names(table, constant), one, several)
    nameless = _nameless(table)
    if isinstance(table, ColumnStore):
        many = np.flatnonzero(2 * n_codes > table.n_rows)[:_MOST_READ]
        read = np.union1d(many, nameless)
        if len(read):
            chosen = without_unused(table.take_columns(read))  # some rows may be left out
            findings += _closely(chosen, np.searchsorted(read, nameless), named)
    else:
        findings += [*_closely(table, nameless, named), *_duplicates(table)]
    return _few_of_a_kind(findings)


def _few_of_a_kind(findings: Sequence[Finding]) -> list[Finding]:
    """Keep the first findings of a kind, and gather the others in one."""
    kinds: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        kinds[finding.kind].append(finding)
    few = []
    for ones in kinds.values():
        few += ones[:_OF_A_KIND]
        if rest := ones[_OF_A_KIND:]:
            names = tuple(name for finding in rest for name in finding.columns)
            what = f"likewise {columns(names)} ({ones[0].kind})"
            hint = READ_AS_MISSING if ones[0].values else dropping(names)
            few.append(replace(ones[0], columns=names, message=what, hint=hint, values=()))
    return few


def _nameless(table: Codes) -> IntArray:
    """Return the columns whose names are those of an index that was written to a file."""
    if isinstance(table, ColumnStore):
        places = [table._columns.find(name) for name in ("", "Unnamed: 0", "index")]
        return np.array(sorted(j for j in places if j is not None), dtype=np.int64)
    if not table.named:
        return np.zeros(0, dtype=np.int64)
    return np.array(
        [j for j, name in enumerate(table.names) if _NAMELESS.fullmatch(name)], dtype=np.int64
    )


def _closely(table: EncodedTable, nameless: IntArray, named: Sequence[str]) -> list[Finding]:
    """Look at the values of columns in memory."""
    identifiers: list[int] = []
    rising: list[int] = []
    dates: list[int] = []
    many: list[int] = []
    if table.n_rows >= _FEWEST_ROWS:
        identifiers, rising = _counting(table)
        for j in np.flatnonzero(table.kind_codes == _NOMINAL).tolist():
            labels, present = table.values(j), _present(table, j)
            if table.names[j] in named:
                continue
            if labels.dtype.kind in "OU" and _like_dates(labels):
                dates.append(j)
            elif len(labels) == present:
                identifiers.append(j)
            elif 2 * len(labels) > present:
                many.append(j)
    index = [j for j in nameless.tolist() if j not in identifiers]
    findings = _about(
        IDENTIFIER,
        _names(table, sorted(identifiers)),
        "has a different value in each row and looks like an identifier",
        "have different values in all rows and look like identifiers",
    )
    one, several = (f"{have} a name like that of an index saved with" for have in ("has", "have"))
    findings += _about("index", _names(table, index), f"{one} the table", f"{several} the table")
    for kind, places, what in (
        ("row order", rising, "increases from row to row, as row numbers do"),
        ("date", dates, "has dates as text, each of which is treated as a category"),
        (
            "many values",
            many,
            "has different text in most rows, which raises its importance by chance",
        ),
    ):
        for name in _names(table, places):
            findings += _about(kind, [name], what)
    return [*findings, *_signs_of_missing(table)]


def _present(table: EncodedTable, j: int) -> int:
    """Return the number of rows with a value in a column."""
    if not table.missing[j]:
        return table.n_rows
    return int(np.count_nonzero(table.codes(j) != len(table.values(j))))


def _like_dates(labels: NDArray[Any]) -> bool:
    some = labels[:: max(1, len(labels) // _LOOKED_AT)].tolist()
    return len(labels) > 2 and all(_DATE.fullmatch(str(label).strip()) for label in some)


def _numeric(table: EncodedTable, fewest: int) -> IntArray:
    """Return the numeric columns of so many distinct values."""
    enough = np.diff(table.value_offsets) >= fewest
    return np.flatnonzero((table.kind_codes == KINDS.index("numeric")) & enough)


def _counting(table: EncodedTable) -> tuple[list[int], list[int]]:
    """Return columns of whole numbers that number the rows, and others that rise with them."""
    starts, m = table.value_offsets, np.diff(table.value_offsets)
    places = _numeric(table, _FEWEST_ROWS)
    places = places[table.missing[places].astype(bool) | (m[places] == table.n_rows)]
    ends = table.cut_values[np.stack([starts[places], starts[places + 1] - 1])]
    places = places[(ends == np.floor(ends)).all(axis=0)]  # few columns of measurements stay
    counting, rising = [], []
    for j in places.tolist():
        values = table.values(j)
        if len(values) != _present(table, j) or (values != np.floor(values)).any():
            continue
        steps = np.diff(values)
        if (steps == steps[0]).all() or _OF_ROWS.fullmatch(table.names[j].strip().lower()):
            counting.append(j)
        elif (np.diff(table.codes(j).astype(np.int64)) == 1).all():
            rising.append(j)
    return counting, rising


def _signs_of_missing(table: EncodedTable) -> list[Finding]:
    """Tell of numbers such as -999 far from all others of their column.

    Not of one that is an ordinary number in more columns than it is far from others.
    """
    places, offsets = _numeric(table, 4), table.value_offsets
    first, last = offsets[places], offsets[places + 1] - 1
    columns_with: dict[float, list[int]] = defaultdict(list)
    for end, inward, other in ((first, 1, last), (last, -1, first)):
        ends, near, far = (table.cut_values[k] for k in (end, end + inward, other))
        below = (ends < 0) & (near >= 0)  # negative beside numbers that cannot be
        odd = np.isin(ends, _SIGNS_OF_MISSING)
        odd &= below | (np.abs(near - ends) > np.abs(far - near))
        for j, value in zip(places[odd].tolist(), ends[odd].tolist(), strict=True):
            columns_with[value].append(j)
    findings = []
    for value, odd_columns in columns_with.items():
        ordinary = _within_range(table, places, value)
        if len(ordinary) > len(odd_columns):
            continue
        answer = READ_AS_MISSING
        if ordinary:
            answer = (
                f"leave these cells of the file empty; {value:g} is a number within the range of "
                f"{columns(ordinary)}"
            )
        findings += [
            Finding(
                "missing code",
                (table.names[j],),
                f"column {quoted(table.names[j])} has {value:g} far from its other numbers, as "
                "codes of missing values are",
                answer,
                values=(f"{value:g}",),
            )
            for j in odd_columns
        ]
    return findings


def _within_range(table: EncodedTable, places: IntArray, value: float) -> list[str]:
    """Return the columns that have a number, neither as their least nor their largest one."""
    offsets = table.value_offsets
    holding = np.searchsorted(offsets, np.flatnonzero(table.cut_values == value), side="right") - 1
    return [
        table.names[j]
        for j in np.intersect1d(places, holding).tolist()
        if table.cut_values[offsets[j]] < value < table.cut_values[offsets[j + 1] - 1]
    ]


def _duplicates(table: EncodedTable) -> list[Finding]:
    """Tell of columns that order the rows as another one does."""
    sampled = np.unique(np.linspace(0, table.n_rows - 1, _SAMPLED).astype(np.int64))
    varied = ~table.constant()
    duplicates: list[list[int]] = []
    blocks: Sequence[NDArray[Any]] = table.blocks
    for number, block in enumerate(blocks):
        members: IntArray = np.flatnonzero((table.block_of == number) & varied)
        slots = table.slot[members]
        if len(members) < 2:
            continue
        some = np.ascontiguousarray(block[np.ix_(slots, sampled)])
        keys = some.view(np.dtype((np.void, some.dtype.itemsize * some.shape[1]))).ravel()
        _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
        candidates: list[int] = np.flatnonzero(counts[group] > 1).tolist()
        alike: dict[bytes, list[int]] = defaultdict(list)
        for i in candidates:
            alike[block[slots[i]].tobytes()].append(int(members[i]))
        duplicates += [same for same in alike.values() if len(same) > 1]
    duplicates += _sparse_duplicates(table, varied)
    findings = []
    for first, *others in (_names(table, same) for same in sorted(duplicates)):
        same = f"the same order of values as {quoted(first)}, so that the importance is divided"
        one, several = (f"{have} {same} among them" for have in ("has", "have"))
        findings += _about("duplicate", others, one, several)
    return findings


def _sparse_duplicates(table: EncodedTable, varied: BoolArray) -> list[list[int]]:
    """Return the same of sparse columns, which are alike where what is stored of them is."""
    if table.sparse is None:
        return []
    alike: dict[str, list[int]] = defaultdict(list)
    for j in np.flatnonzero((table.block_of == SPARSE) & varied).tolist():
        contents = np.frombuffer(table.sparse.contents(int(table.slot[j])), dtype=np.uint8)
        alike[fingerprint(contents)].append(j)
    return [same for same in alike.values() if len(same) > 1]


def _names(table: Codes, places: Iterable[Any]) -> tuple[str, ...]:
    chosen = np.array([*places], dtype=np.int64)
    if isinstance(table, ColumnStore):
        return tuple(table.names_of(chosen))
    return tuple(table.names[j] for j in chosen.tolist())
