"""Columns that tell the target nearly alone, as what is recorded because of it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.data.finding import Finding
from duramen.data.names import KINDS
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import is_number, pa
from duramen.support.text import quoted

_FEWEST_ROWS = 20
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
    codes, numbers, labels = _target(y, task)
    rows = np.flatnonzero(codes >= 0) if numbers is None else np.flatnonzero(~np.isnan(numbers))
    places = _looked_at(table)
    if len(rows) < _FEWEST_ROWS or not len(places):
        return []
    table = table.take_columns(places)
    if numbers is not None:
        return _of_numbers(table, numbers[rows], rows, name)
    return _of_classes(table, codes[rows], labels, rows, name)


def _target(y: Any, task: str) -> tuple[IntArray, FloatArray | None, Sequence[Any]]:
    """Return class codes, -1 where missing, with their labels; or numbers."""
    from duramen.data.target import FEW_VALUES
    from duramen.findings.target import as_arrow

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
        different = len(np.unique(numbers[~np.isnan(numbers)]))
        if task == "regression" or pa.types.is_floating(array.type) or different > FEW_VALUES:
            return none, numbers, ()
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = encoded.dictionary.to_pylist()
    if any(label != label for label in labels):  # NaN
        gone = [i for i, label in enumerate(labels) if label != label]
        codes[np.isin(codes, gone)] = -1
    return codes, None, labels


def _looked_at(table: EncodedTable | ColumnStore) -> IntArray:
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


# --- classes ------------------------------------------------------------------------------------


def _of_classes(
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
    column: str,
    counts: IntArray,
    sizes: IntArray,
    labels: Sequence[Any],
    name: str,
    n_columns: int,
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
    return Finding("leak", (column,), sentence, "leave it out if so")


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
        leaks.append(Finding("leak", (column.name,), sentence, "leave it out if so"))
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
        if present.sum() < max(_FEWEST_ROWS, 0.5 * len(y)) or len(np.unique(codes[present])) < 3:
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
            "leave it out if so",
        )
        for column, r in strong.items()
    ]
