r"""Diversity of a column: the number of its distinct values that few rows have.

Most nodes of a tree hold few rows. In m of them, drawn without replacement from n, a column whose
values v occur :math:`n_v` times has

.. math:: \sum_v \left[ 1 - \binom{n - n_v}{m} \Big/ \binom{n}{m} \right]

distinct values on average (rarefaction, Hurlbert 1971). One less is the number of its degrees of
freedom, to which the information of a feature that is independent of the target is proportional
(thesis, 4.4.5.5). So the diversity joins the number of values and their frequencies: it is small
for two values, and smaller still where one of them is rare.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.finding import Finding
from duramen.data.names import KINDS
from duramen.io.store.column_store import ColumnStore
from duramen.support.arrays import IntArray
from duramen.support.text import quoted

Codes: TypeAlias = EncodedTable | ColumnStore

NODE = 10
"""Rows of a node: with 10, MDI of irrelevant features in random forests is nearly proportional."""

LARGE = 2.0
"""Ratio of the diversities of two columns from which it is told of."""

MDI = "MDI"
"""Title of the measure to which the ratio of diversities applies."""

_COUNTED = 1000  # columns that are counted, spread evenly over all
_MOST_READ = 256  # the same, of a store
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
    >>> from duramen.findings.diversity import diversity
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
    table: Codes, measure: str = MDI, *, told: Collection[str] = ()
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
    told : collection of str
        Columns that are passed over, because other findings name them.

    Returns
    -------
    Finding or None
        Of kind "unequal values", about the column of lowest and that of highest diversity of the
        others, if the ratio is `LARGE` or more.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.findings.diversity import unequal_values
    >>> table = dm.encode([[i % 2, i] for i in range(40)], names=["sex", "age"])
    >>> print(unequal_values(table).found)
    'sex' has 2 distinct values, the most frequent in 50% of the rows, and 'age' has 40, the most \
frequent in 2%: among features without any association with the target, those like 'age' get more \
MDI than those like 'sex', up to about 9.0 times as much
    """
    varied: IntArray = np.flatnonzero(table.n_codes() > 1)
    if len(varied) < 2:
        return None
    if isinstance(table, ColumnStore):
        table = table.take_columns(_spread(varied, _MOST_READ))
        varied = np.arange(table.n_columns)
    left_out = frozenset(told)
    places = _spread(varied, _COUNTED)
    if left_out:
        kept = [table.names[j] not in left_out for j in places.tolist()]
        places = places[np.array(kept, dtype=bool)]
    counted = [_counts(table, j) for j in places.tolist()]
    found = np.array([diversity(one) for one in counted])
    usable = np.flatnonzero(found > 0)  # a code can be without rows
    if len(usable) < 2:
        return None
    order = usable[np.argsort(found[usable], kind="stable")]
    skipped = int(_TAIL * (len(order) - 1))
    low, high = int(order[skipped]), int(order[-1 - skipped])
    ratio = found[high] / found[low]
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


def _spread(places: IntArray, most: int) -> IntArray:
    """Return some of many places, spread evenly."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(np.int64)]


def _counts(table: EncodedTable, j: int) -> IntArray:
    """Return the number of rows of each code of a column, that of missing last."""
    return np.bincount(table.codes(j), minlength=len(table.values(j)) + int(table.missing[j]))


def _difference(
    table: EncodedTable,
    places: IntArray,
    pair: list[int],
    counts: tuple[IntArray, IntArray],
) -> str:
    """Say in what a column of low and one of high diversity differ."""
    first, last = (quoted(table.names[j]) for j in pair)
    if _genotypes(table, places):
        low, high = (_minor_allele_frequency(table, j) for j in pair)
        return (
            "read as counts of alleles, columns have minor-allele frequencies from "
            f"{low:.2g} ({first}) to {high:.2g} ({last})"
        )
    few, many = (int(np.count_nonzero(one)) for one in counts)
    low, high = (float(one.max() / one.sum()) for one in counts)
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
