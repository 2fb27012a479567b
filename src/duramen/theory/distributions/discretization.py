"""Discretization of numeric columns by quantiles or equal widths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.data.categories import Codes, coded_columns, objects, table_and_target
from duramen.results.summary import Column, Summarized, Summary, hidden
from duramen.support.arrays import FloatArray, TableLike
from duramen.support.checks import check_choice, check_integer


@dataclass(frozen=True, eq=False, repr=False)
class Discretized(Summarized):
    """Table whose numeric columns are intervals, accepted by `FiniteDistribution.from_table`.

    Parameters
    ----------
    names : tuple of str
        Names of the p columns.
    columns : tuple of p ndarrays of uint32, shape (n,)
        Codes of the columns.
    labels : tuple of p ndarrays
        ``labels[j][code]`` is the interval as a string, or the value in a column that was left as
        it is; a missing value is last.
    cuts : mapping of str to ndarray of float64
        Cut points of each column that was discretized, ascending; x lies in interval number
        #{cuts < x}, so intervals are closed on the right.
    method : str
        "quantile" or "uniform".
    n_bins : int
        Number of bins that was asked for.
    n_rows : int

    Examples
    --------
    >>> import duramen as dm
    >>> ages = dm.theory.discretize([[3.0], [5.0], [8.0], [9.0]], n_bins=2, names=["age"])
    >>> ages.codes(0).tolist(), ages.values(0).tolist()
    ([0, 0, 1, 1], ['<= 6.5', '> 6.5'])
    """

    names: tuple[str, ...]
    columns: tuple[Codes, ...]
    labels: tuple[NDArray[Any], ...]
    cuts: Mapping[str, FloatArray]
    method: str
    n_bins: int
    n_rows: int

    def codes(self, j: int) -> Codes:
        """Return codes of the j-th column, shape (n,)."""
        return self.columns[j]

    def values(self, j: int) -> NDArray[Any]:
        """Return values that the codes of the j-th column stand for, in code order."""
        return self.labels[j]

    @property
    def metadata(self) -> dict[str, Any]:
        """Method, number of bins and cut points by column, for the record of a result."""
        return {
            "discretization": {
                "method": self.method,
                "n_bins": self.n_bins,
                "cuts": {name: cuts.tolist() for name, cuts in self.cuts.items()},
            }
        }

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"Discretized: {self.n_rows} rows, {len(self.cuts)} of {len(self.names)} columns in "
            f"intervals, method {self.method!r}"
        )
        shown = list(self.cuts.items())[:rows]
        columns = [
            Column("column", [name for name, _ in shown], kind="words"),
            Column("intervals", [str(len(cuts) + 1) for _, cuts in shown]),
            Column("cuts", [", ".join(f"{cut:.4g}" for cut in cuts) for _, cuts in shown], "words"),
        ]
        return Summary((heading,), columns, hidden(len(self.cuts), len(shown)))


def discretize(
    X: TableLike,
    *,
    method: Literal["quantile", "uniform"] = "quantile",
    n_bins: int = 5,
    names: Iterable[str] | None = None,
) -> Discretized:
    r"""Discretize the values of numeric columns into intervals.

    Columns with more than `n_bins` distinct numbers are discretized. All others are left as they
    are: their values are categories already. Missing values stay missing.

    Parameters
    ----------
    X : table of shape (n, p)
        Whatever `FiniteDistribution.from_table` takes.
    method : {"quantile", "uniform"}
        How to cut.

        "quantile"
            At the quantiles i / n_bins; equal ones, as ties make them, are one cut.
        "uniform"
            Into `n_bins` intervals of one width from the smallest to the largest value; those
            without a value are joined to a neighbor.
    n_bins : int, default=5
        Number of bins, at least 2.
    names : iterable of str, optional
        Names of the columns; by default those of the table, else ``x0``, ``x1``, ...

    Returns
    -------
    Discretized
        Given to `FiniteDistribution.from_table`, its cut points become part of the `metadata`.

    Raises
    ------
    ValueError
        If `method` is unknown, `n_bins` is below 2, or a column to be discretized holds an
        infinite value.

    Examples
    --------
    >>> import duramen as dm
    >>> ages = dm.theory.discretize([[3.0], [5.0], [8.0], [9.0]], n_bins=2, names=["age"])
    >>> ages.cuts["age"].tolist()
    [6.5]
    """
    check_choice("discretize", "method", method, ("quantile", "uniform"))
    check_integer("discretize", "n_bins", n_bins, 2)
    table = coded_columns(table_and_target(X, None)[0], names, "discretize")
    columns, labels, cuts = [], [], {}
    kinds = table.kinds or ("numeric",) * len(table.names)
    for name, kind, codes, values in zip(
        table.names, kinds, table.codes, table.labels, strict=True
    ):
        numbers = np.empty(0)  # sorted and distinct, without the missing one
        if kind == "numeric" and values.dtype.kind in "iuf":
            numbers = values.astype(np.float64)
            numbers = numbers[~np.isnan(numbers)]
        if len(numbers) <= n_bins:
            columns.append(codes)
            labels.append(values)
            continue
        if not np.all(np.isfinite(numbers)):
            raise ValueError(f"discretize: column {name!r} holds an infinite value.")
        present = codes < len(numbers)
        points = _evenly(method, numbers, codes[present], int(n_bins))
        # Cuts with values on both sides, one where several do the same.
        below, first = np.unique(np.searchsorted(numbers, points, side="right"), return_index=True)
        cuts[name] = points = points[first[(below > 0) & (below < len(numbers))]]
        place = np.append(np.searchsorted(points, numbers), len(points) + 1)  # missing is last
        columns.append(place.astype(np.uint32)[codes])
        edge = [f"{cut:.4g}" for cut in points]
        if len(set(edge)) < len(edge):
            edge = [repr(cut) for cut in points.tolist()]
        intervals: list[Any] = ["any number"]
        if edge:
            between = [f"({a}, {b}]" for a, b in pairwise(edge)]
            intervals = [f"<= {edge[0]}", *between, f"> {edge[-1]}"]
        labels.append(objects([*intervals, *([] if present.all() else [None])]))
    return Discretized(
        names=table.names,
        columns=tuple(columns),
        labels=tuple(labels),
        cuts=cuts,
        method=method,
        n_bins=int(n_bins),
        n_rows=table.n_rows,
    )


def _evenly(method: str, numbers: FloatArray, codes: Codes, n_bins: int) -> FloatArray:
    """Return cuts at the quantiles i / n_bins of a column, or at equal distances."""
    # Differences of huge numbers would overflow, and halves of the smallest ones lose their digits.
    factor = 0.5 if np.abs(numbers[[0, -1]]).max() > 2.0**1022 else 1.0
    scaled, inner = numbers * factor, np.arange(1, n_bins)
    if method == "uniform":
        # Whole numbers stay exact: a bin includes its end. Multiples of a huge range overflow.
        low, width = scaled[0], scaled[-1] - scaled[0]
        down = 2.0**-64 if width > 2.0**900 else 1.0
        return np.asarray((low + width * down * inner / n_bins / down) / factor)
    # A quantile that is a number of the column is that number, and one between two numbers is
    # below the upper one: rounding would take either to the other side.
    ordered = np.sort(scaled[codes])
    place, rest = np.divmod((len(ordered) - 1) * inner, n_bins)
    lower, upper = ordered[place], ordered[place + (rest > 0)]
    cuts = np.quantile(ordered, inner / n_bins)
    return np.asarray(np.where((cuts < lower) | (cuts >= upper), lower, cuts) / factor)
