"""The columns of a table without its rows, of which a forest keeps a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.dates import Dates
from duramen.support.arrays import BoolArray, FloatArray, IntArray, ranges
from duramen.support.checks import places_of
from duramen.support.text import joined, quoted

KINDS = ("numeric", "ordinal", "nominal")


def default_names(n_columns: int) -> tuple[str, ...]:
    """``x0``, ``x1``, ... as scikit-learn names the columns of an array."""
    return tuple([f"x{j}" for j in range(n_columns)])


def name_of_label(label: Any) -> str:
    """Return the label of a column as its name; labels of a MultiIndex are joined by ``_``."""
    if isinstance(label, tuple):
        return "_".join([part for part in map(str, label) if part])
    return str(label)


def names_of_labels(labels: Iterable[Any], function: str) -> tuple[str, ...]:
    """Return the column labels of a table as names."""
    names = tuple([name_of_label(label) for label in labels])
    _require_unique(names, function)
    return names


def check_names(names: Iterable[str], n_columns: int, function: str) -> tuple[str, ...]:
    """Return the names given by the user: strings, one a column, each once."""
    listed = [names] if isinstance(names, str) else list(names)
    odd = next((name for name in listed if not isinstance(name, str)), None)
    if isinstance(names, str) or odd is not None:
        raise TypeError(
            f"{function}: names must be a list of strings, got "
            f"{quoted(names if isinstance(names, str) else odd)}"
        )
    if len(listed) != n_columns:
        raise ValueError(
            f"{function}: names has {len(listed)} entries, but X has {n_columns} columns; give one "
            "name per column"
        )
    _require_unique(listed, function)
    return tuple(map(str, listed))


def _require_unique(names: Sequence[Any], function: str) -> None:
    if repeated := shown_repeated(names):
        occur = "occur" if ", " in repeated else "occurs"
        raise ValueError(
            f"{function}: the column names are not unique: {repeated} {occur} more than once; "
            "rename the columns, or give names"
        )


def shown_repeated(names: Sequence[Any]) -> str:
    """Return the names that occur more than once, the first five of them, as text; "" for none."""
    if len(set(names)) == len(names):
        return ""
    repeated = [quoted(name) for name, count in Counter(names).items() if count > 1]
    return joined(repeated, shown=5)


def resolve_kinds(
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None,
    names: Sequence[str],
    function: str,
) -> tuple[str | None, ...]:
    """Return the kind asked for each column; None where the column's own type decides."""
    asked: list[Any] = [None if isinstance(kinds, Mapping) else kinds] * len(names)
    if isinstance(kinds, Mapping):
        places = places_of(list(kinds), names, f"{function}: kinds", "column") if kinds else []
        for j, kind in zip(places, kinds.values(), strict=True):
            asked[j] = kind
    elif isinstance(kinds, Iterable) and not isinstance(kinds, str):
        asked = list(kinds)
    odd = [kind for kind in asked if kind not in (None, *KINDS)]
    if odd or len(asked) != len(names):
        came = quoted(odd[0]) if odd else f"{len(asked)} entries"
        raise ValueError(
            f"{function}: kinds must be 'numeric', 'ordinal' or 'nominal', one of these for each "
            f"of the {len(names)} columns, or a mapping from names to them, got {came}"
        )
    return tuple(asked)


_LENT = ("kernel", "kernel_schema", "bags", "_compared")


class KernelOwner:
    """Owner of kernel objects: cached properties that pickles and copies leave out.

    They are made when they are first needed and refer to the arrays of their owner, whose fields
    are never replaced: an owner with other arrays is another owner.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _LENT}


@dataclass(frozen=True, eq=False)
class Schema(KernelOwner):
    """The columns of a table without its rows.

    Attributes
    ----------
    names : tuple of str
        One name a column, each once.
    named : bool
        Whether the table itself or the user gave the names; false for ``x0``, ``x1``, ...
    kinds : tuple of str
        "numeric", "ordinal" or "nominal", one a column.
    cut_values : ndarray of float64, shape (sum of m_j,)
        Sorted distinct values of the numeric columns, 0..m_j-1 for the others.
    value_offsets : ndarray of int64, shape (p + 1,)
        Where the values of each column begin.
    labels : mapping of int to ndarray
        Labels of the ordinal and nominal columns, by index, in code order.
    missing : ndarray of uint8, shape (p,)
        1 where the column has missing values.
    counts : ndarray of int64, shape (p,), or None
        Number m_j of distinct values of each column, if the schema lacks the values and labels of
        some columns; None if it has all of them.
    dates : mapping of str to Dates
        How the columns of dates and times were read as numbers, by name.
    n_columns : int
        Number p of columns.
    n_values : ndarray of int64, shape (p,)
        Number of distinct values of each column in the table.

    Examples
    --------
    >>> import duramen as dm
    >>> schema = dm.encode([[0.5, 7.0], [0.1, 7.0]], names=["length", "mass"]).schema
    >>> schema.names, schema.kinds, schema.cut_values.tolist()
    (('length', 'mass'), ('numeric', 'numeric'), [0.1, 0.5, 7.0])
    """

    names: tuple[str, ...]
    named: bool
    kinds: tuple[str, ...]
    cut_values: FloatArray
    value_offsets: IntArray
    labels: Mapping[int, NDArray[Any]]
    missing: NDArray[np.uint8]
    counts: IntArray | None = None
    dates: Mapping[str, Dates] = field(default_factory=dict)

    n_columns: int = field(init=False)
    n_values: IntArray = field(init=False)

    def __post_init__(self) -> None:
        n_values = np.diff(self.value_offsets) if self.counts is None else self.counts
        vars(self).update(n_columns=len(self.names), n_values=n_values)

    def n_codes(self) -> IntArray:
        """Return the number of codes of each column with the code of missing values, shape (p,)."""
        return np.asarray(self.n_values + self.missing, dtype=np.int64)

    @property
    def has_values(self) -> BoolArray:
        """Whether the schema has the values of each column, shape (p,)."""
        return np.asarray(np.diff(self.value_offsets) == self.n_values)

    @cached_property
    def kind_codes(self) -> NDArray[np.uint8]:
        """0 numeric, 1 ordinal, 2 nominal; shape (p,)."""
        number = {kind: code for code, kind in enumerate(KINDS)}
        return np.array([number[kind] for kind in self.kinds], dtype=np.uint8)

    def take(self, chosen: IntArray) -> Self:
        """Return columns by index, whose values are not copied if they are neighbors."""
        numbers = chosen.tolist()
        names = tuple([self.names[j] for j in numbers])
        begins, ends = self.value_offsets[chosen], self.value_offsets[chosen + 1]
        if numbers and (begins[1:] == ends[:-1]).all():
            values = self.cut_values[int(begins[0]) : int(ends[-1])]
        else:
            values = self.cut_values[ranges(begins, ends - begins)]
        return replace(
            self,
            names=names,
            kinds=tuple([self.kinds[j] for j in numbers]),
            cut_values=values,
            value_offsets=np.cumsum(np.append(0, ends - begins)),
            labels={i: self.labels[j] for i, j in enumerate(numbers) if j in self.labels},
            missing=self.missing[chosen],
            counts=None if self.counts is None else self.counts[chosen],
            dates={name: how for name, how in self.dates.items() if name in names},
        )

    def with_values_of(self, columns: BoolArray) -> Schema:
        """Return all columns, of which some alone have their values and labels: copies."""
        sizes = np.where(columns, np.diff(self.value_offsets), 0)
        return replace(
            self,
            cut_values=self.cut_values[ranges(self.value_offsets[:-1], sizes)],
            value_offsets=np.cumsum(np.append(0, sizes)),
            labels={j: labels[: sizes[j]].copy() for j, labels in self.labels.items()},
            counts=self.n_values,
        )

    def merged(self, other: Schema) -> Schema:
        """Return all columns, with the values and labels of either of two schemas."""
        if other is self:
            return self
        own, more = np.diff(self.value_offsets), np.diff(other.value_offsets)
        values = np.concatenate([self.cut_values, other.cut_values])
        elsewhere = len(self.cut_values) + other.value_offsets[:-1]
        starts = np.where(own >= more, self.value_offsets[:-1], elsewhere)
        sizes = np.maximum(own, more)
        return replace(
            self.with_labels_of(other),
            cut_values=values[ranges(starts, sizes)],
            value_offsets=np.cumsum(np.append(0, sizes)),
            counts=self.n_values,
        )

    def with_labels_of(self, other: Schema) -> Schema:
        """Return the columns with the labels of the same columns of another schema.

        These are only used for columns of which this schema has no labels.
        """
        labels = {
            j: own if len(own) else other.labels.get(j, own) for j, own in self.labels.items()
        }
        return replace(self, labels=labels)

    def followed_by(self, other: Schema) -> Self:
        """Return these columns, followed by the columns of another schema."""
        p = self.n_columns
        last = self.value_offsets[-1]
        return replace(
            self,
            names=(*self.names, *other.names),
            named=self.named or other.named,
            kinds=(*self.kinds, *other.kinds),
            cut_values=np.concatenate([self.cut_values, other.cut_values]),
            value_offsets=np.concatenate([self.value_offsets, last + other.value_offsets[1:]]),
            labels={**self.labels, **{p + j: labels for j, labels in other.labels.items()}},
            dates={**self.dates, **other.dates},
            missing=np.concatenate([self.missing, other.missing]),
        )

    @cached_property
    def kernel_schema(self) -> _kernel.Schema:
        """Schema as an object of the kernel."""
        fields = self.cut_values, self.value_offsets, self.kind_codes, self.missing
        return _kernel.Schema(*fields)
