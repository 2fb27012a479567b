"""Rows that the null hypothesis allows to be exchanged: all, within strata, or whole groups."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.support.arrays import IntArray, is_missing
from duramen.support.checks import warn
from duramen.support.provenance import fingerprint
from duramen.support.text import quoted

EXCHANGEABLE = (
    " The test assumes exchangeable rows, which copies, samples of one person and time series are "
    "not."
)
"""What tests assume without groups."""


@dataclass(frozen=True, eq=False)
class Exchangeability:
    """Rows of a table that may exchange their targets under the null hypothesis.

    Without `strata` and `groups` all rows may. With `strata`, rows exchange within their stratum
    only. With `groups`, the rows of a group stay together: groups that have one target value each
    exchange these values; other groups exchange all of their rows, in order, with groups of as many
    rows. With both, groups exchange within their stratum.

    Attributes
    ----------
    n_rows : int
        Number n of rows.
    strata : int64 array of shape (n,) or None
        Number of the stratum of each row. None where there is a single stratum.
    groups : int64 array of shape (n,) or None
        Number of the group of each row, from 0. None where each row is a group.
    n_units : int
        Number of groups; number of rows where each row is a group.
    bag_groups : uint32 array of shape (n,) or None
        The groups as the kernel reads them, which draws bags of groups.
    restricted : bool
        Whether some rows must not be exchanged.
    clause : str
        Sentences on rows, strata and groups for a null hypothesis.

    Examples
    --------
    >>> from duramen.data import Exchangeability
    >>> rows = Exchangeability.checked(4, ["a", "a", "b", "b"], None, function="example")
    >>> rows.restricted
    True
    """

    n_rows: int
    strata: IntArray | None = None
    groups: IntArray | None = None
    n_units: int = field(init=False)
    bag_groups: NDArray[np.uint32] | None = field(init=False)
    restricted: bool = field(init=False)
    clause: str = field(init=False)

    def __post_init__(self) -> None:
        strata, groups = self.strata, self.groups
        within = "" if strata is None else " within strata"
        clause = EXCHANGEABLE
        if groups is not None:
            clause = (
                f" Whole groups of rows are exchanged{within}: rows of one group may depend on "
                "each other."
            )
        elif strata is not None:
            only = (
                " Rows are exchanged only within strata, on which features and target may depend."
            )
            clause = only + clause
        vars(self).update(
            n_units=self.n_rows if groups is None else int(groups.max(initial=-1)) + 1,
            bag_groups=None if groups is None else groups.astype(np.uint32),
            restricted=strata is not None or groups is not None,
            clause=clause,
        )

    @classmethod
    def checked(
        cls,
        n_rows: int,
        strata: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        function: str,
    ) -> Exchangeability:
        """Check and number strata and groups.

        Parameters
        ----------
        n_rows : int
            Number n of rows.
        strata, groups : array-like of shape (n,) or None
            Label of the stratum, and of the group, of each row: a list, NumPy array (masked
            entries are missing), pandas, polars or Arrow column. The labels themselves and their
            order have no influence on what is drawn.
        function : str
            Who asks, for errors.

        Raises
        ------
        TypeError
            If `strata` or `groups` are a text, or labels cannot be compared.
        ValueError
            If there are not n labels, one is missing, or a group lies in several strata.
        """
        numbered: list[IntArray | None] = []
        for parameter, labels in (("strata", strata), ("groups", groups)):
            if labels is None:
                numbered.append(None)
                continue
            if isinstance(labels, (str, bytes)):
                raise TypeError(
                    f"{function}: {parameter} must be labels, one for each row, got the text "
                    f"{labels!r}. Hint: give the column itself."
                )
            listed: Any = labels
            shape = getattr(labels, "shape", (len(listed),) if hasattr(labels, "__len__") else ())
            if shape != (n_rows,):
                raise ValueError(
                    f"{function}: {parameter} must have a label for each of the {n_rows} rows, got "
                    f"shape {shape}."
                )
            first: dict[Hashable, int] = {}
            codes = np.empty(n_rows, dtype=np.int64)
            for row, label in enumerate(_items(labels)):
                if is_missing(label):
                    raise ValueError(
                        f"{function}: {parameter} must have a label for every row, but that of row "
                        f"{row} is missing. Hint: give such rows a label of their own, or leave "
                        "them out."
                    )
                try:
                    codes[row] = first.setdefault(label, len(first))
                except TypeError:
                    raise TypeError(
                        f"{function}: {parameter} must be labels such as texts or whole numbers, "
                        f"got {quoted(label)} for row {row}."
                    ) from None
            numbered.append(codes)
        of_strata, of_groups = numbered
        if of_strata is not None and of_groups is not None:
            _, opening = np.unique(of_groups, return_index=True)
            torn = of_strata != of_strata[opening][of_groups]
            if torn.any():
                row = int(np.argmax(torn))
                other = int(opening[of_groups[row]])
                raise ValueError(
                    f"{function}: each group must lie in one stratum, but rows {other} and {row} "
                    f"are of one group ({_items(groups)[row]!r}) and of different strata. Hint: "
                    "give strata that contain whole groups."
                )
        if of_strata is not None and not of_strata.any():
            of_strata = None
        if of_groups is not None and of_groups.max(initial=0) == n_rows - 1:
            of_groups = None
        return cls(n_rows, of_strata, of_groups)

    def most_rows(self, n_units: int) -> int:
        """Return the largest number of different rows in `n_units` groups or rows."""
        sizes = np.sort(np.bincount(self.units))[::-1]
        return int(sizes[:n_units].sum())

    @property
    def units(self) -> IntArray:
        """Number of the group of each row; without groups each row has its own."""
        return np.arange(self.n_rows) if self.groups is None else self.groups

    def identity(self) -> dict[str, str]:
        """Return fingerprints of strata and groups, for checkpoints; empty without them."""
        labels = {"strata": self.strata, "groups": self.groups}
        return {name: fingerprint(codes) for name, codes in labels.items() if codes is not None}

    def without_strata(self) -> Exchangeability:
        """Return the groups, which trees draw, without the strata, which tests use."""
        return self if self.strata is None else Exchangeability(self.n_rows, None, self.groups)

    def of_rows(self, rows: NDArray[Any]) -> Exchangeability:
        """Return strata and groups of some of the rows, given by index."""
        strata, groups = (None if c is None else c[rows] for c in (self.strata, self.groups))
        return Exchangeability.checked(len(rows), strata, groups, function="of_rows")

    def permutation(self, random: np.random.Generator, values: Any = None) -> IntArray:
        """Draw an admissible permutation of the rows, all with equal probability.

        Parameters
        ----------
        random : Generator
            Source of randomness. Without strata and groups it is left as by
            ``random.permutation(n)``, which is then what is returned.
        values : array of shape (n,) or (n, k), optional
            What is exchanged. Where it has one value in each group, groups of different sizes
            exchange it.

        Returns
        -------
        int64 array of shape (n,)
            A permutation of the rows, unless groups of different sizes exchange values.
        """
        sets, n_units = self.strata, self.n_units
        one_value = False
        if self.groups is not None:
            one_value = values is not None and self._one_a_block(np.asarray(values))
            sets = self.layout.strata if one_value else self.layout.alike
        order: IntArray = random.permutation(n_units)
        if sets is not None:
            # The members of a set, in the order in which they were drawn, take its places.
            drawn, order = order, np.empty(n_units, dtype=np.int64)
            order[np.argsort(sets, kind="stable")] = drawn[np.argsort(sets[drawn], kind="stable")]
        if self.groups is None:
            return order
        layout = self.layout
        if one_value:
            return layout.first[order][layout.of_row]
        return np.asarray(layout.rows[layout.starts[order[layout.of_row]] + layout.place])

    def exchanged(self, values: NDArray[Any]) -> IntArray | None:
        """Return the number of the set of rows whose values each row may take.

        None where a row may take the value of any other. Groups with several values exchange them
        in their order, so that a row takes that of a row at the same place in another group.

        Parameters
        ----------
        values : array of shape (n,)
            What is exchanged.
        """
        if self.groups is None or self._one_a_block(values):
            return self.strata
        layout = self.layout
        return _kinds(np.stack([layout.alike[layout.of_row], layout.place], axis=1))

    def count(self, values: Any = None) -> float:
        """Count the different arrangements that :meth:`permutation` can draw.

        Parameters
        ----------
        values : array of shape (n,) or (n, k), optional
            What is exchanged: arrangements of equal values are one. Without it, permutations of
            the rows are counted.

        Returns
        -------
        float
            1 at least, which is the order as it is; exact below 1e9, infinite above 1e300.
        """
        layout = self.layout
        sets, kinds = layout.alike, np.arange(len(layout.first))
        if values is not None:
            of_rows = _kinds(np.asarray(values))
            if self._one_a_block(of_rows):  # also where each row is a group
                sets, kinds = layout.strata, of_rows[layout.first]
            else:
                in_groups = np.split(of_rows[layout.rows], layout.starts[1:])
                contents: dict[bytes, int] = {}
                kinds = np.array(
                    [contents.setdefault(c.tobytes(), len(contents)) for c in in_groups]
                )
        # Orders of the members of each set, apart from members of one kind.
        pairs = np.unique(np.stack([sets, kinds]), axis=1, return_counts=True)[1]
        logarithm = math.fsum(map(math.lgamma, (np.bincount(sets) + 1.0).tolist()))
        logarithm -= math.fsum(map(math.lgamma, (pairs + 1.0).tolist()))
        if logarithm > 690:  # exp overflows from 709 on
            return math.inf
        count = math.exp(logarithm)
        return float(round(count)) if count < 1e9 else count

    def require(self, n_draws: int, function: str, values: Any = None) -> None:
        """Check that strata and groups leave enough to be permuted; see :meth:`count`.

        Parameters
        ----------
        n_draws : int
            Permutations that are wanted.
        function : str
            Who asks, for errors and warnings.
        values : array of shape (n,) or (n, k), optional
            What is exchanged.

        Raises
        ------
        ValueError
            If only the order as it is is admissible.

        Warns
        -----
        UserWarning
            If there are fewer different arrangements than draws and the data together.
        """
        if not self.restricted:
            return
        restrictions = " and ".join(self.identity())
        count = self.count(values)
        if count == 1:
            raise ValueError(
                f"{function}: {restrictions} must leave rows to exchange, but every admissible "
                "order of the rows is the same: they lie alone in their strata, or exchange equal "
                "targets. Hint: give coarser strata, or groups of equal size or with one target "
                "value each."
            )
        if count <= n_draws:
            warn(
                f"{function}: {restrictions} allow only {count:,.0f} different arrangements of the "
                f"rows, fewer than the {n_draws:,} permutations requested: p-values below about "
                f"{1 / count:.2g} have no meaning."
            )

    def _one_a_block(self, values: NDArray[Any]) -> bool:
        """Tell whether the rows of a group have one value."""
        return bool(np.all(values == values[self.layout.first][self.layout.of_row]))

    @cached_property
    def layout(self) -> Layout:
        """Return the positions of the groups."""
        of_row = self.units
        sizes = np.bincount(of_row)
        rows, starts = np.argsort(of_row, kind="stable"), np.cumsum(sizes) - sizes
        first = rows[starts]
        strata = np.zeros(len(first), np.int64) if self.strata is None else self.strata[first]
        alike = _kinds(np.stack([strata, sizes], axis=1))
        place = np.empty(self.n_rows, dtype=np.int64)
        place[rows] = np.arange(self.n_rows) - np.repeat(starts, sizes)
        return Layout(first, of_row, rows, starts, sizes, strata, alike, place)


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of the B groups."""

    first: IntArray  # first row of each group
    of_row: IntArray  # shape (n,): group of each row, in 0..B-1
    rows: IntArray  # the n rows, group by group
    starts: IntArray  # where the rows of each group begin in `rows`
    sizes: IntArray  # rows of each group
    strata: IntArray  # stratum of each group
    alike: IntArray  # number of the set of groups of one stratum and one size
    place: IntArray  # shape (n,): place of each row among the rows of its group


def _kinds(values: NDArray[Any]) -> IntArray:
    """Return the number of the value of each row; of rows, for two dimensions."""
    if values.ndim > 1:
        columns = [_kinds(column) for column in values.reshape(len(values), -1).T]
        return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _items(labels: Any) -> list[Any]:
    """Return labels of any container as a list of Python's own values; None where masked."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "mM":
        gone = np.isnat(labels) | np.ma.getmaskarray(labels)
        labels = labels.astype(str).astype(object)
        labels[gone] = None
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(labels, method):
            return list(getattr(labels, method)())
    return list(labels)
