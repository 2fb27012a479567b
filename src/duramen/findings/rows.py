"""Findings about a table and its target together: leaks, and rows that depend on each other.

Tests by permutation, out-of-bag accuracies and most intervals assume exchangeable rows. They stay
valid if features alone depend on each other from row to row, or the target alone: so each check
asks for both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.data.provenance import Finding, dropping
from duramen.data.schema import KINDS
from duramen.data.target import are_classes
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.arrow import is_number, pa, without_dictionary
from duramen.support.text import quoted

_NUMERIC, _NOMINAL = KINDS.index("numeric"), KINDS.index("nominal")
_NARROW = 200  # columns, all of which are looked at
_NARROW_STORE = 24  # number of columns of a narrow store, whose columns are read from disk


def looked_at(table: EncodedTable | ColumnStore) -> IntArray:
    """Return the columns of a narrow table, or the columns of minority kinds of a wide table."""
    most = _NARROW_STORE if isinstance(table, ColumnStore) else _NARROW
    if table.n_columns <= most:
        return np.arange(table.n_columns)
    kinds = table.kind_codes.astype(np.int64)
    if isinstance(table, EncodedTable):
        starts, ends = table.value_offsets[:-1], table.value_offsets[1:] - 1
        inner = table.cut_values[np.minimum((starts + ends) // 2, len(table.cut_values) - 1)]
        fraction = (inner != np.floor(inner)) | (table.cut_values[ends] % 1 != 0)
        kinds = kinds + len(KINDS) * (fraction & (kinds == _NUMERIC))
    different, group, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    places = np.flatnonzero(group != np.argmax(counts))
    return places if len(different) > 1 and len(places) <= most else np.zeros(0, dtype=np.int64)


def spread(places: IntArray, most: int) -> IntArray:
    """Return some of many places, spread evenly."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(np.int64)]


def as_arrow(y: Any) -> Any:
    """Return a target as an Arrow array without dictionaries; None if it cannot be one."""
    try:
        if not isinstance(y, pa.Array | pa.ChunkedArray):
            values = np.asarray(y).ravel()
            y = pa.array(values.tolist() if values.dtype == object else values)
    except (pa.ArrowException, TypeError, ValueError):
        return None  # of which encoding the target says what is wrong
    column = without_dictionary(y)
    return None if pa.types.is_nested(column.type) else column


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
        values, counts = np.unique(present, return_counts=True)
        whole = pa.types.is_integer(array.type)
        classes = are_classes(values.astype(np.int64) if whole else values, counts)
        if task == "regression" or not classes:
            return none, numbers, ()
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = encoded.dictionary.to_pylist()
    codes[np.isin(codes, [i for i, label in enumerate(labels) if label != label])] = -1  # NaN
    return codes, None, labels


# --- leaks --------------------------------------------------------------------------------------

_LEAK_ROWS = 20
_FEWEST_ERRORS = 5  # of always predicting the most frequent class
_FEWEST_PRESENT = 10  # rows with a value
_STRONG = 0.95  # fraction of those errors that a column alone avoids
_NEXT = 0.8  # upper bound of this fraction for all other columns
_FEW_VALUES = 10  # values of a column that is suspect whatever the others do
_MOST_STRONG = 3  # columns that may be leaks together
_ONE_CLASS = 0.98  # fraction of the rows with a value that are of one class
_BY_CHANCE = 1e-3  # probability of that for any column
_RANK_CORRELATION = 0.99
_MOST_DISTINCT = 0.5  # values per row of text, beyond which it is an identifier
_RECORDED = "it may be recorded because of the target, and then predicts it without explaining it"


def of_leaks(table: EncodedTable | ColumnStore, y: Any, name: str, task: str) -> list[Finding]:
    """Find columns that predict a target nearly alone, or have values in one class only.

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
    classes, numbers, labels = target_values(y, task)
    rows = np.flatnonzero(classes >= 0 if numbers is None else ~np.isnan(numbers))
    places = looked_at(table)
    if len(rows) < _LEAK_ROWS or not len(places):
        return []
    table = table.take_columns(places)
    if numbers is None:
        leaks = _leaks_of_classes(table, classes[rows], labels, rows, name)
    else:
        leaks = _leaks_of_numbers(table, numbers[rows], rows, name)
    return [
        Finding("leak", (column,), f"column {quoted(column)}{what}", f"{dropping([column])}, if so")
        for column, what in leaks
    ]


def _leaks_of_classes(
    table: EncodedTable, y: IntArray, labels: Sequence[Any], rows: IntArray, name: str
) -> list[tuple[str, str]]:
    """Return columns that separate the classes, each with a description."""
    sizes = np.bincount(y, minlength=len(labels))
    most, n = int(sizes.max()), len(y)
    if n - most < _FEWEST_ERRORS:
        return []
    leaks: list[tuple[str, str]] = []
    strong: list[tuple[str, str, bool]] = []
    beside = False  # whether another column is nearly as strong
    for j, column in enumerate(table.names):
        codes, missing = np.asarray(table.codes(j))[rows].astype(np.int64), int(table.missing[j])
        m, nominal = len(table.values(j)), table.kind_codes[j] == _NOMINAL
        counts = np.bincount(codes * len(labels) + y, minlength=(m + missing) * len(labels))
        counts = counts.reshape(m + missing, len(labels))
        values, absent, by_missing = counts[:m], counts[m:], 0
        if missing:
            present = values.sum(axis=0)
            k, c = int(present.sum()), int(present.argmax())
            if _FEWEST_PRESENT <= k < n and present[c] >= _ONE_CLASS * k:
                from scipy.stats import hypergeom  # few tables need it, and it takes a second

                chance = hypergeom.sf(present[c] - 1, n, int(sizes[c]), k) * table.n_columns
                if chance <= _BY_CHANCE:
                    only = "" if present[c] == k else f"in {present[c] / k:.0%} of cases "
                    what = (
                        f" has values {only}only where {name} is {quoted(labels[c])} ({k:,} of "
                        f"{n:,} rows): {_RECORDED}"
                    )
                    leaks.append((column, what))
                    continue
            two = np.stack([present, absent[0]])
            by_missing = _n_right(two, two)
        right = 0 if nominal and m + missing > _MOST_DISTINCT * n else _n_right(counts, counts)
        if not nominal and m > 2:  # ordered values are told by those beside them too
            near = values.copy()
            near[1:] += values[:-1]
            near[:-1] += values[1:]
            right = max(right, _n_right(values, near) + _n_right(absent, absent))
        best = max(right, by_missing)
        strength = 1 - (n - best) / (n - most)
        beside |= _NEXT < strength < _STRONG
        if strength >= _STRONG:
            alone = right > by_missing or not missing
            how = " alone" if alone else ": whether it has a value"
            what = (
                f"{how} predicts {name} in {best / n:.0%} of the rows, the most frequent class in "
                f"{most / n:.0%}: {_RECORDED}"
            )
            strong.append((column, what, m <= _FEW_VALUES or not alone))
    if len(strong) <= _MOST_STRONG:
        leaks += [(column, what) for column, what, few in strong if few or not beside]
    return leaks


def _n_right(counts: IntArray, voters: IntArray) -> int:
    """Return the rows that are predicted by the other rows among their voters, of shape (m, C)."""
    right = 0
    for k in range(counts.shape[1]):
        others = np.delete(voters, k, axis=1).max(axis=1)
        right += int(counts[voters[:, k] - 1 > others, k].sum())
    return right


def _leaks_of_numbers(
    table: EncodedTable, y: FloatArray, rows: IntArray, name: str
) -> list[tuple[str, str]]:
    """Return columns that order the rows as a numeric target does, each with a description."""
    from scipy.stats import rankdata

    if len(np.unique(y)) < _FEWEST_PRESENT:
        return []
    leaks = []
    for j in np.flatnonzero(table.kind_codes != _NOMINAL).tolist():
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


# --- entry times --------------------------------------------------------------------------------

ENTRY = "entry"
_ENTRY_NAME = re.compile(
    r"(t|age|time|day|date)?[ _.]?(at[ _.])?(start|begin|entry|enter|entered|entrance|inclusion|"
    r"enrol+ment|left|trunc(ation)?)[ _.]?(time|age|day)?|(t|time)[ _.]?[01]|from",
    re.IGNORECASE,
)
_FEWEST_STARTS = 5  # times at which intervals begin where another one ends


def of_entry(
    table: EncodedTable | ColumnStore, y: Any, name: str, entries: Any = None
) -> list[Finding]:
    """Find the columns with the entry times of survival, and with the persons of several rows.

    Numbers are entry times if they are before the time in every row, and have the name of such,
    like start or entry, or are times of other rows unless they are 0 (at least five times). Persons
    have rows that begin where others of their rows end.

    Parameters
    ----------
    table : EncodedTable or ColumnStore
    y : array-like of shape (n,)
        Times as they were read; rows where they are missing are left out.
    name : str
        Their name, for the sentences.
    entries : array-like of shape (n,), optional
        Entry times, if they are known: only persons are looked for.
    """
    _, times, _ = target_values(y, "regression")
    if times is None:
        return []
    rows = np.flatnonzero(~np.isnan(times))
    times, places, findings = times[rows], looked_at(table).tolist(), list[Finding]()
    starts: FloatArray | None = None
    if entries is not None:
        numbers = target_values(entries, "regression")[1]
        starts = None if numbers is None or np.isnan(numbers[rows]).any() else numbers[rows]
    for j in places if entries is None else ():
        column, values = table.names[j], np.asarray(table.values(j))
        codes = np.asarray(table.codes(j))[rows]
        if table.kind_codes[j] != _NUMERIC or (codes >= len(values)).any() or len(values) < 2:
            continue
        numbers = values[codes]
        if (numbers < 0).any() or (numbers >= times).any():
            continue
        ends = _continues(numbers, times)
        if ends or _ENTRY_NAME.fullmatch(column.strip()):
            why = "begins where other rows end" if ends else "is named as an entry time"
            message = (
                f"column {quoted(column)} is before {name} in every row and {why}: it may be the "
                "time after which rows were under observation, which is no feature"
            )
            hint = f"entry={column!r} compares rows from there to {name} only, if so"
            findings.append(Finding(ENTRY, (column,), message, hint))
            starts = numbers if starts is None else starts
    if starts is None or not _continues(starts, times):
        return findings
    persons = [
        (_PERSON.fullmatch(table.names[j].strip()) is not None, len(table.values(j)), -j)
        for j in places
        if 1 < len(table.values(j)) < len(rows)
        and _continues(starts, times, np.asarray(table.codes(j))[rows].astype(np.int64))
    ]
    if persons:  # by its name, or else the finest division of the rows
        column = table.names[-max(persons)[2]]
        message = (
            f"of rows with the same value of {quoted(column)}, one begins where another ends: they "
            f"may be of one person, and {_ASSUMED}"
        )
        hint = f"groups={column!r} keeps the rows of a person together, if so"
        findings.append(Finding(GROUPED, (column,), message, hint))
    return findings


def _continues(starts: FloatArray, times: FloatArray, persons: IntArray | None = None) -> bool:
    """Tell whether intervals that begin after 0, at five times or more, begin where others end."""
    later = starts > 0
    ends = times if persons is None else times + 1j * persons
    begins = starts if persons is None else starts + 1j * persons
    several = len(np.unique(starts[later])) >= _FEWEST_STARTS
    return several and bool(np.isin(begins[later], ends).all())


# --- dependent rows -----------------------------------------------------------------------------

GROUPED = "groups of rows"
COPIES = "similar rows"
SERIAL = "serial dependence"
WITHIN = "within groups of rows"
DEPENDENT = (GROUPED, WITHIN, COPIES, SERIAL)
"""Kinds of findings about rows that depend on each other."""

_FEWEST_ROWS = 30
_COLUMNS, _STORED_COLUMNS = 128, 24  # columns that are compared, spread evenly over the table
_COMPARED = 1500  # rows, all pairs of which are compared
_WINDOWS, _WINDOW = 4, 1000  # runs of successive rows, of a table of more rows
_IN_GROUPS, _OTHERS = 4000, 32  # rows whose groups are compared, and columns of the comparison
_CANDIDATES = 50  # columns of numbers that may be groups
_CLASSES = 20  # most frequent classes that are compared

_PERSON = re.compile(
    r"(^|.*[^a-z])(ids?|patients?|subjects?|donors?|persons?|participants?|individuals?|animals?|"
    r"mouse|mice|famil(y|ies)|pedigree|sibship|litter|twin|pairs?|plates?|batch|batches|cohort|"
    r"household|cluster|groups?|replicates?|blocks?)([^a-z].*|$)|.*[a-z]ID(s|[^a-z].*)?$",
    re.IGNORECASE,
)
_FEWEST_GROUPS, _MOST_IN_GROUP = 10, 25  # of a column without such a name
_NEARLY_SAME = 0.9  # correlation of the targets of a group, beside which no other is asked for
# Least correlation of two rows of a group that tells a group: of the columns on average, of the
# target, and of the columns where that of the target is small; the first two in standard errors.
_UNNAMED, _UNNAMED_Z = (0.25, 0.2, 0.5), (5.0, 4.0)
_NAMED, _NAMED_Z = (0.03, 0.05, 0.2), (4.0, 3.0)
_SMALL = 0.02  # correlation that is never told of

_SPREAD = 4  # largest code for each row that is counted without sorting
_FEWEST_VALUES = 10  # of a column by which rows can be near copies
_RATIO = 100.0  # pairs that are so close, over those expected
_IN_PAIRS = 0.1  # fraction of the rows that are in such pairs

_LAGS = 10
_TREND = 6  # degree of the polynomial of the place of a row that is taken out
_RUNS = 4  # of successive rows of a class, in a file sorted by it and others
_INFLATION, _SERIAL_Z = 1.2, 3.1
_ASSUMED = (
    "p-values and accuracies assume exchangeable rows, and are too optimistic for dependent rows"
)


def dependence(
    table: EncodedTable | ColumnStore, y: Any, name: str, task: str, groups: Any = None
) -> Finding | None:
    """Find rows that depend on each other.

    *Groups of rows.* The values of a column repeat, and rows with equal values are alike in the
    target and in the other columns: their mean intraclass correlation, of ranks, is significant and
    large. Of ordered values it is compared with that of rows with adjacent values, so that an age
    that has effects is no group. *Similar rows.* Far more pairs of rows are near each other than
    the number of pairs at larger distances suggests, which grows by a power of the distance, and
    their targets are alike. *Serial dependence.* With the mean rank autocorrelation a_k of the
    columns and that b_k of the target at lag k, in the order of the rows and without their trend,
    the variance of their covariance is 1 + 2 sum a_k b_k times that of exchangeable rows; told of
    from 1.2, if the sum is significant given either of the two. A file that is sorted by the target
    or a column is no series. Only the first of the three is told.

    Of many rows and columns, some are looked at: 128 columns (24 of a store), 4,000 rows for
    groups, 1,500 for copies, four runs of 1,000 for the order.

    Parameters
    ----------
    table : EncodedTable or ColumnStore
    y : array-like of shape (n,)
        Target as it was read; rows where it is missing are left out.
    name : str
        Its name, for the sentences.
    task : {"auto", "classification", "regression"}
        Whether it holds classes or numbers.
    groups : array-like of shape (n,), optional
        Groups that are kept together: only their first rows are compared.

    Returns
    -------
    Finding or None
        Of a kind in `DEPENDENT`.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> from duramen.findings.rows import dependence
    >>> donor = np.repeat(np.arange(40), 5)
    >>> levels = np.random.default_rng(0).normal(size=(40, 4))[donor]
    >>> noise = np.random.default_rng(1).normal(size=(200, 4))
    >>> table = dm.encode(np.column_stack([donor * 7919 % 40, levels + noise]))
    >>> finding = dependence(table, donor % 2, "ill", "auto")
    >>> finding.kind, finding.columns
    ('groups of rows', ('x0',))
    """
    classes, numbers, _ = target_values(y, task)
    present = classes >= 0 if numbers is None else ~np.isnan(numbers)
    labels = None if groups is None else as_arrow(groups)
    if labels is not None and len(labels) == len(present):  # else the check of groups says so
        column = labels.combine_chunks() if hasattr(labels, "combine_chunks") else labels
        codes = column.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
        first = np.zeros(len(present), dtype=bool)
        first[np.unique(codes, return_index=True)[1]] = True
        present &= first
    rows = np.flatnonzero(present)
    if len(rows) < _FEWEST_ROWS:
        return None
    target = classes[rows] if numbers is None else np.unique(numbers[rows], return_inverse=True)[1]
    varied = np.flatnonzero(table.n_codes() > 1)
    places = spread(varied, _STORED_COLUMNS if isinstance(table, ColumnStore) else _COLUMNS)
    candidates = np.intersect1d(looked_at(table), varied)
    if isinstance(table, ColumnStore):
        read = np.union1d(places, candidates)
        table = table.take_columns(read)
        places, candidates = np.searchsorted(read, places), np.searchsorted(read, candidates)
    look = _Look(table, rows, target, numbers is None, name)
    # A column that is different in every row, as an identifier is, is no measurement.
    sizes = np.diff(table.value_offsets)
    different = [bool(sizes[j] == table.n_rows) and look.is_whole(j) for j in places.tolist()]
    places = places[~np.array(different, dtype=bool)]
    if not len(places):
        return None
    finding, sure = look.groups(places, candidates)
    if not sure:
        finding = look.copies(places) or finding
    return finding or look.series(places)


class _Look:
    """Rows of a table, and their target: classes, or places among the sorted numbers."""

    def __init__(
        self, table: EncodedTable, rows: IntArray, target: IntArray, classes: bool, name: str
    ) -> None:
        self.table, self.rows, self.target = table, rows, target
        self.classes, self.name = classes, name

    def codes(self, j: int, some: Any = slice(None)) -> IntArray:
        """Return codes of a column in some of the rows."""
        codes: IntArray = self.table.codes(j)[self.rows[some]].astype(np.int64)
        return codes

    def is_whole(self, j: int) -> bool:
        """Tell whether a column holds text, categories or whole numbers."""
        if self.table.kind_codes[j] != _NUMERIC:
            return True
        values = self.table.values(j)
        few = values[:: max(1, len(values) // 100)]
        return bool((few == np.floor(few)).all() and (values == np.floor(values)).all())

    def ranks(self, places: IntArray, some: Any = slice(None)) -> FloatArray:
        """Return standardized ranks of columns; missing values have the mean."""
        columns = []
        for j in places.tolist():
            codes = self.codes(j, some)
            columns.append(_standardized(codes, codes < len(self.table.values(j))))
        return np.column_stack(columns)

    def ranks_of_target(self, some: IntArray) -> FloatArray:
        """Return standardized ranks of the target, or indicators of its classes."""
        target = self.target[some]
        if not self.classes:
            return _standardized(target, np.ones(len(some), dtype=bool))[:, None]
        frequent = np.argsort(-np.bincount(target), kind="stable")[:_CLASSES]
        indicators = (target[:, None] == frequent).astype(np.float64)
        indicators -= indicators.mean(axis=0)
        size = np.sqrt((indicators**2).sum() / len(some))
        scaled = indicators * np.sqrt(indicators.shape[1]) / size if size > 0 else indicators
        return np.asarray(scaled)

    def groups(self, places: IntArray, candidates: IntArray) -> tuple[Finding | None, bool]:
        """Find the column whose values are shared by the most similar rows.

        Also returns whether it is of categories, or has the name of groups.
        """
        n, names = len(self.rows), self.table.names
        has_name = [_PERSON.fullmatch(names[j].strip()) is not None for j in candidates.tolist()]
        m, named = np.diff(self.table.value_offsets)[candidates], np.array(has_name, dtype=bool)
        few = (m >= _FEWEST_GROUPS) & (n <= _MOST_IN_GROUP * m)
        compared = spread(np.flatnonzero((m < 0.8 * n) & (few | (named & (m > 2)))), _CANDIDATES)
        others = spread(places, _OTHERS + 1)
        ranks = self.ranks(others) if n <= _IN_GROUPS and len(compared) else None
        step, best, score = -(-n // _IN_GROUPS), None, 0.0
        for i in compared.tolist():
            j = int(candidates[i])
            if not self.is_whole(j):
                continue
            codes = self.codes(j)
            # All rows, or those of some pairs of adjacent groups.
            some = np.flatnonzero((codes < m[i]) & (codes // 2 % step == 0))
            of_row = np.unique(codes[some], return_inverse=True)[1].reshape(-1)
            counts = np.bincount(of_row)
            if len(some) < _FEWEST_ROWS or 2 * counts[counts > 1].sum() < len(some):
                continue
            ordered, alike, z = bool(self.table.kind_codes[j] != _NOMINAL), 0.0, 0.0
            target, target_z = _excess(self.ranks_of_target(some), of_row, ordered=ordered)
            if (beside := others != j).any():
                if ranks is None:
                    of_others = self.ranks(others[beside], some)
                else:
                    of_others = ranks[:, beside][some]
                alike, z = _excess(of_others, of_row, ordered=ordered)
            least, least_z = (_NAMED, _NAMED_Z) if named[i] else (_UNNAMED, _UNNAMED_Z)
            close = alike > least[0] and z > least_z[0]
            same = target > least[1] and target_z > least_z[1]
            constant = close and alike > least[2]
            if not ((same and (close or target > _NEARLY_SAME)) or constant):
                continue
            if best is None or target * same + alike * close > score:
                score = target * same + alike * close
                best = (i, target if same else None, alike if close else None)
        if best is None:
            return None, False
        i, in_target, in_others = best
        j, column = int(candidates[i]), names[candidates[i]]
        parts = [] if in_target is None else [f"of {self.name} {in_target:.2f}"]
        parts += [] if in_others is None else [f"of the other columns {in_others:.2f} on average"]
        message = (
            f"rows with the same value of column {quoted(column)} are similar, as samples of one "
            f"person are ({m[i]:,} values in {n:,} rows; intraclass correlation "
            f"{', '.join(parts)}); {_ASSUMED}"
        )
        kind, hint = GROUPED, "keeps these rows together, and the column out of the features"
        hint = f"groups={column!r} {hint}"
        if in_target is None:
            kind, hint = WITHIN, f"strata={column!r} permutes rows only within its values, "
            hint += f"groups={column!r} only whole groups"
        sure = bool(self.table.kind_codes[j] == _NOMINAL or named[i])
        return Finding(kind, (column,), message, hint), sure

    def copies(self, places: IntArray) -> Finding | None:
        """Find more pairs of rows near each other than distances suggest.

        The number of pairs within a distance r grows as r^k where rows are independent, and faster
        where many columns are: k is that between the nearest tenth and the nearest 30 % of all
        pairs.
        """
        some = np.arange(len(self.rows))
        if len(some) > _COMPARED:  # as many as can be compared, copies of which are chosen together
            key = np.zeros(len(some), dtype=np.uint64)
            most = np.argsort(-np.diff(self.table.value_offsets)[places])[:4]
            for j in places[most].tolist():
                key = (key + self.codes(j).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
                key ^= key >> np.uint64(31)
            some = np.sort(np.argsort(key, kind="stable")[:_COMPARED])
        n, measured, finest = len(some), [], 0
        for j in places[self.table.kind_codes[places] != _NOMINAL].tolist():
            values = len(np.unique(self.codes(j, some)))
            if values >= max(_FEWEST_VALUES, n / 20):
                measured.append(j)
                finest = max(finest, values)
        if len(measured) < 2:
            return None
        ranks = self.ranks(np.array(measured), some)
        step = float(np.sqrt(3 / ranks.shape[1]) / finest)  # half of the least difference
        squares = (ranks**2).sum(axis=1)
        squared = squares[:, None] + squares - 2 * (ranks @ ranks.T)
        distances = np.round(np.sqrt(np.maximum(squared, 0) / ranks.shape[1]), 7)
        upper = np.sort(distances[np.triu_indices(n, 1)])
        total = len(upper)
        near_tenth = upper[int(0.1 * total)]
        n_near = int(np.searchsorted(upper, near_tenth, side="right"))
        far = max(upper[int(0.3 * total)], upper[min(n_near, total - 1)])
        n_far = int(np.searchsorted(upper, far, side="right"))
        if not 0 < near_tenth < far:
            return None
        power = np.log(n_far / n_near) / np.log(far / near_tenth)
        ratio, radius, expected = _RATIO, -1.0, 0.0
        for count in np.unique(np.geomspace(max(5, n / 20), 0.05 * total, 12).astype(np.int64)):
            within = max(float(upper[count - 1]), step)
            observed = int(np.searchsorted(upper, within, side="right"))
            pairs = float(n_near * (within / near_tenth) ** power)
            if observed > ratio * pairs:
                ratio, radius, expected = observed / max(pairs, 1e-300), within, pairs
        if radius < 0:
            return None
        near = distances <= radius
        np.fill_diagonal(near, val=False)
        degrees = near.sum(axis=1)
        paired = degrees[degrees > 0]
        if len(paired) < _IN_PAIRS * n or np.median(paired) > n / 15:
            return None  # a few rows, or many that are equal because they are empty
        target = self.ranks_of_target(some)
        same = float((near * (target @ target.T)).sum() / near.sum() / target.shape[1])
        error = np.sqrt(_second_moment(target) / (near.sum() / 2))
        if same < _UNNAMED[1] or same < _UNNAMED_Z[1] * error:
            return None
        i, k = np.argwhere(near & (distances == distances[near].min()))[0]
        rows = sorted((int(self.rows[some[i]]) + 1, int(self.rows[some[k]]) + 1))
        what = "copies" if radius <= step else "near copies"
        number = f"{expected:.1g}" if expected < 1 else f"{expected:,.0f}"
        of_some = "" if n == len(self.rows) else f" among {n:,} rows"
        message = (
            f"{int(near.sum()) // 2:,} pairs of rows{of_some}, such as rows {rows[0]:,} and "
            f"{rows[1]:,}, are {what} of each other with similar {self.name}, where {number} are "
            f"expected; {_ASSUMED}"
        )
        hint = "groups=NAME keeps rows together, by a column of the person, family or original of "
        hint += "each row; or remove copies"
        return Finding(COPIES, (), message, hint)

    def series(self, places: IntArray) -> Finding | None:
        """Find rows that resemble their neighbors in the table."""
        n, degree = len(self.rows), min(_TREND, len(self.rows) // 25)
        length = n if n <= _WINDOWS * _WINDOW else _WINDOW
        starts = np.linspace(0, n - length, 1 if length == n else _WINDOWS).astype(np.int64)
        windows = [np.arange(start, start + length) for start in starts]
        of_columns, of_target = list[FloatArray](), list[FloatArray]()
        for window in windows:
            # What sorting a file makes of independent rows is taken out: polynomials of the place,
            # and blocks of the values of columns by which rows are sorted.
            basis = [np.polynomial.legendre.legvander(np.linspace(-1, 1, length), degree)]
            sorted_by = self.target[window]
            for codes in (sorted_by, *(self.codes(j, window) for j in places.tolist())):
                changes = np.flatnonzero(np.diff(codes)) + 1
                if not 0 < len(changes) < length // 10:
                    continue
                # Sorted by several columns of few values, the target lies in some runs of a class.
                runs = _RUNS if codes is sorted_by and self.classes else 1
                if len(changes) < len(np.unique(codes)) * runs:
                    block = np.searchsorted(changes, np.arange(length), side="right")
                    blocks = block[:, None] == np.arange(1, len(changes) + 1)
                    basis.append(blocks.astype(np.float64))
            left, sizes, _ = np.linalg.svd(np.hstack(basis), full_matrices=False)
            trend = left[:, sizes > 1e-9 * sizes[0]]
            ranks, target = self.ranks(places, window), self.ranks_of_target(window)
            of_columns.append(ranks - trend @ (trend.T @ ranks))
            of_target.append(target - trend @ (trend.T @ target))
        features, same = (
            _autocorrelation(parts) + (degree + 1) / length for parts in (of_columns, of_target)
        )
        total = float(np.nansum(features * same))
        inflation, size = 1 + 2 * total, np.sqrt(length * len(windows))
        columns = np.sqrt(_second_moment(self.ranks(places, windows[0])))
        chance = max(np.linalg.norm(features), np.linalg.norm(same) * columns)
        if not inflation >= _INFLATION or total * size < _SERIAL_Z * chance:
            return None
        if min(same[0], features[0]) <= 0:  # rows that alternate
            return None
        some = np.arange(min(n, _WINDOW))
        values = np.column_stack([self.target[some], *(self.codes(j, some) for j in places)])
        again = np.flatnonzero((values[1 : len(some) // 3] == values[0]).all(axis=1)) + 1
        if any(bool((values[q:] == values[:-q]).all()) for q in again.tolist()):
            return None  # a design whose first rows, a third at most, are repeated to the end
        message = (
            "successive rows are similar, as in a time series or in a file sorted by person: the "
            f"rank autocorrelation of {self.name} is {same[0]:.2f}, that of the columns "
            f"{features[0]:.2f} on average, and the variance of their covariance {inflation:.1f} "
            f"times that of independent rows; {_ASSUMED}"
        )
        hint = "groups=NAME keeps rows together, by a column of the person of each row, or of "
        hint += "blocks of successive rows that are longer than the dependence lasts"
        return Finding(SERIAL, (), message, hint)


def _standardized(codes: IntArray, present: BoolArray) -> FloatArray:
    """Return ranks of mean 0 and standard deviation 1, ties sharing theirs; 0 where missing."""
    if codes.max() > _SPREAD * len(codes):
        codes = np.unique(codes, return_inverse=True)[1]
    counts = np.bincount(codes[present])
    ranks = np.cumsum(counts) - (counts + 1) / 2
    scores = np.zeros(len(codes))
    if len(counts):
        scores[present] = ranks[codes[present]] - (counts @ ranks) / counts.sum()
    size = np.sqrt((scores**2).mean())
    return scores / size if size > 0 else scores


def _second_moment(values: FloatArray) -> float:
    """Return the mean square of the mean product of two different rows, of shape (n, q)."""
    n, q = values.shape
    products = values.T @ values if q < n else values @ values.T
    total = float((products**2).sum() - ((values**2).sum(axis=1) ** 2).sum())
    return float(max(total, 0.0) / (n * (n - 1)) / q**2)


def _excess(values: FloatArray, of_row: IntArray, *, ordered: bool) -> tuple[float, float]:
    """Return the mean product of two rows of a group, also in units of its standard error.

    Of ordered groups, less that of rows of adjacent groups. The standard error is that for groups
    of rows drawn at random; it is not computed for products up to 0.02.
    """
    q, counts = values.shape[1], np.bincount(of_row)
    order = np.argsort(of_row, kind="stable")
    sums = np.add.reduceat(values[order], np.cumsum(counts) - counts, axis=0)
    pairs = float((counts * (counts - 1)).sum() / 2)
    within = float((sums**2).sum() - (values**2).sum()) / 2 / pairs / q
    inverse = 1 / pairs
    if ordered and (adjacent := float(counts[1:] @ counts[:-1])):
        between = float((sums[1:] * sums[:-1]).sum()) / adjacent / q
        within, inverse = within - max(between, 0.0), inverse + 1 / adjacent
    if within < _SMALL:
        return within, 0.0
    return within, within / float(np.sqrt(_second_moment(values) * inverse))


def _autocorrelation(parts: Sequence[FloatArray]) -> FloatArray:
    """Return the mean autocorrelation, at each lag, of columns of windows of rows; NaN if none."""
    sums = np.zeros((_LAGS + 1, parts[0].shape[1]))
    for values in parts:
        n = len(values)
        lagged = [(values[k:] * values[: n - k]).sum(axis=0) for k in range(_LAGS + 1)]
        sums += np.array(lagged)
    varied = sums[0] > 1e-9 * sum(map(len, parts))
    if not varied.any():
        return np.full(_LAGS, np.nan)
    return np.asarray((sums[1:, varied] / sums[0, varied]).mean(axis=1))
