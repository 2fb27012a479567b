"""Distinct rows of coded variables with their probabilities: storage, validation and access."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.categories import Codes, float_labels, without_gaps
from duramen.results.columns import Column as ShownColumn
from duramen.results.columns import counted
from duramen.results.saved import Saved
from duramen.results.summary import Summarized, Summary
from duramen.support.arrays import OF_DISTRIBUTIONS, BoolArray, FloatArray, check_magnitude
from duramen.support.checks import check_choice
from duramen.support.provenance import frozen_metadata
from duramen.theory.distributions.information import CRITERIA
from duramen.theory.distributions.variables import (
    Column,
    Columns,
    IndexArray,
    Partition,
    Variable,
    Variables,
    as_list,
)

_MOST_CELLS = 1 << 26


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(Saved, Summarized):
    """Distinct rows of coded variables, each with a probability.

    The fields, and the errors that they raise, are described in `FiniteDistribution`, which adds
    the ways to make one and the quantities computed from it.
    """

    codes: Codes
    target: Codes
    weights: FloatArray
    names: tuple[str, ...]
    labels: tuple[NDArray[Any], ...]
    classes: NDArray[Any]
    target_name: str = "Y"
    context: Codes | None = None
    context_values: NDArray[Any] | None = None
    context_name: str = "Xc"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settle = object.__setattr__
        settle(self, "names", tuple(self.names))
        settle(self, "labels", tuple(_frozen(labels) for labels in self.labels))
        settle(self, "classes", _frozen(self.classes))
        settle(self, "codes", _frozen(self.codes, np.uint32))
        settle(self, "target", _frozen(self.target, np.uint32))
        settle(self, "weights", _frozen(self.weights, np.float64))
        if self.context is not None and self.context_values is not None:
            settle(self, "context", _frozen(self.context, np.uint32))
            settle(self, "context_values", _frozen(self.context_values))
        settle(self, "metadata", frozen_metadata("FiniteDistribution", self.metadata))
        roles = (
            [self.target_name] if self.context is None else [self.target_name, self.context_name]
        )
        check_names((*self.names, *roles))
        check_shapes(self.codes, self.target, self.weights, len(self.names), self.labels)
        check_context(self.context, self.context_values, len(self.weights))
        check_rows(self._columns, self.weights)

    @property
    def n_rows(self) -> int:
        """Number N of distinct rows."""
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number p of features."""
        return len(self.names)

    @property
    def n_classes(self) -> int:
        """Number of values of Y."""
        return len(self.classes)

    @property
    def n_contexts(self) -> int:
        """Number of values of the context; 0 without one."""
        return 0 if self.context_values is None else len(self.context_values)

    @cached_property
    def cardinalities(self) -> IndexArray:
        """Number of values of each feature; int64 of shape (p,)."""
        return np.array([len(labels) for labels in self.labels], dtype=np.int64)

    @cached_property
    def class_numbers(self) -> FloatArray:
        """Values of Y as numbers, float64 of shape (n_classes,), for the variance.

        Raises
        ------
        ValueError
            If Y is not numeric, or its variance out of the range of float64.
        """
        if self.classes.dtype.kind not in "biuf":
            raise ValueError(
                f"FiniteDistribution: the variance needs a numeric target, but {self.target_name} "
                f"has values such as {self.classes.tolist()[0]!r}. Hint: use 'entropy' or 'gini'."
            )
        numbers = float_labels(self.classes, f"the target {self.target_name}", "FiniteDistribution")
        check_magnitude(numbers, self.target_name, "FiniteDistribution", OF_DISTRIBUTIONS)
        return numbers

    @cached_property
    def _columns(self) -> Columns:
        context = None
        if self.context is not None and self.context_values is not None:
            context = Column(self.context_name, self.context, self.context_values)
        return Columns(
            tuple(map(Column, self.names, self.codes.T, self.labels)),
            Column(self.target_name, self.target, self.classes),
            context,
        )

    def numbers_of_classes(self, function: str, criterion: str) -> FloatArray:
        """Return `class_numbers` if the criterion is the variance, else zeros."""
        check_choice(function, "criterion", criterion, CRITERIA)
        return self.class_numbers if criterion == "variance" else np.zeros(self.n_classes)

    def index(self, feature: Variable) -> int:
        """Return the index of a feature that is given by name or by index.

        Raises
        ------
        TypeError
            If it is neither.
        ValueError
            If there is no such feature.
        """
        return self._columns.index(feature)

    def indices(self, features: Variables) -> tuple[int, ...]:
        """Return the indices of some features, each once and in the order given."""
        return tuple(dict.fromkeys(self.index(feature) for feature in as_list(features)))

    def partition(self, variables: Variables) -> Partition:
        """Group the rows by the values of some variables; the empty set gives one cell."""
        return self._columns.refine(Partition.whole(self.n_rows), variables)

    def probabilities(self, variables: Variables) -> FloatArray:
        """Return the joint probabilities of some variables, with one axis a variable.

        The axes are in the order given; along each lie the values in the order of their codes.

        Raises
        ------
        ValueError
            If the array would have more than 67 million entries.
        """
        columns = self._columns.chosen(variables)
        shape = tuple(len(column.values) for column in columns)
        if prod(shape) > _MOST_CELLS:
            raise ValueError(
                f"FiniteDistribution.probabilities: an array of shape {shape} is too large. Hint: "
                "choose fewer variables, or use `partition`, which groups the rows of the "
                "distribution."
            )
        cell = np.zeros(self.n_rows, dtype=np.int64)
        for column in columns:
            cell = cell * len(column.values) + column.codes
        mass = np.bincount(cell, weights=self.weights, minlength=prod(shape))
        return np.asarray(mass, dtype=np.float64).reshape(shape)

    def values(self, variable: Variable) -> NDArray[Any]:
        """Return the values of a variable, in code order."""
        return self._columns[self._columns.place(variable)].values

    def values_of_rows(self, variables: Variables, rows: IndexArray) -> dict[str, NDArray[Any]]:
        """Return the values of some variables in some rows, by name."""
        return {column.name: column.values_of(rows) for column in self._columns.chosen(variables)}

    @classmethod
    def _merged(
        cls,
        columns: Columns,
        weights: FloatArray,
        metadata: Mapping[str, Any] | None = None,
        context_name: str = "Xc",
    ) -> Self:
        columns, weights = merge_rows(columns, weights)
        table = np.empty((len(weights), len(columns.features)), dtype=np.uint32)
        for j, feature in enumerate(columns.features):
            table[:, j] = feature.codes
        context = columns.context
        return cls(
            codes=table,
            target=columns.target.codes,
            weights=weights,
            names=tuple(feature.name for feature in columns.features),
            labels=tuple(feature.values for feature in columns.features),
            classes=columns.target.values,
            target_name=columns.target.name,
            context=None if context is None else context.codes,
            context_values=None if context is None else context.values,
            context_name=context_name if context is None else context.name,
            metadata={} if metadata is None else metadata,
        )

    def equals(self, other: object, *, atol: float = 0.0) -> bool:
        """Return whether two distributions have the same variables, values and probabilities.

        Metadata is not compared.

        Parameters
        ----------
        other : object
            Anything; what is no `FiniteDistribution` is not equal.
        atol : float, default=0.0
            How far probabilities may be apart; 0 asks for equal bits.
        """
        if not isinstance(other, JointTable):
            return False
        mine, theirs = self._columns, other._columns
        return (
            len(mine.all) == len(theirs.all)
            and (self.context is None) == (other.context is None)
            and all(mine_.equals(two) for mine_, two in zip(mine.all, theirs.all, strict=True))
            and bool(np.allclose(self.weights, other.weights, rtol=0.0, atol=atol))
        )

    _rows_shown = 12

    def _summary(self, rows: int) -> Summary:
        return distribution_summary(self._columns, self.weights, rows)


def _frozen(values: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array


_SHOWN_FEATURES = 10


def distribution_summary(columns: Columns, weights: FloatArray, rows: int) -> Summary:
    """Return the sizes of a distribution and its first rows, with their probabilities."""
    target, context, p = columns.target, columns.context, len(columns.features)
    counts = [
        counted(len(weights), "row"),
        counted(p, "feature"),
        f"{counted(len(target.values), 'value')} of {target.name}",
    ]
    if context is not None:
        counts.append(f"{counted(len(context.values), 'value')} of the context")
    shown = [*columns.features[:_SHOWN_FEATURES], *columns.all[p:]]
    first = weights[:rows]
    cells = [
        ShownColumn(column.name, list(map(str, column.values[column.codes[:rows]].tolist())))
        for column in shown
    ]
    cells.append(ShownColumn("probability", [f"{weight:.6g}" for weight in first], bars=first))
    more = len(weights) - len(first), p - _SHOWN_FEATURES
    below = [
        f"... and {counted(count, noun)}"
        for count, noun in zip(more, ("more row", "more feature"), strict=True)
        if count > 0
    ]
    return Summary((f"FiniteDistribution: {', '.join(counts)}",), cells, tuple(below))


def merge_rows(columns: Columns, weights: FloatArray) -> tuple[Columns, FloatArray]:
    """Merge equal rows, and drop rows of weight zero and values without a row.

    The distinct rows are in lexicographic order of features, context and target, with their
    probabilities.
    """
    alive = weights > 0
    columns_left = [_present(column, alive) for column in columns.all]
    mass = weights[alive]
    rows = Partition.by(((column.codes, len(column.values)) for column in columns_left), len(mass))
    first = rows.first_rows()
    # In the order of their size, weights add up to the same bits in whatever order rows came.
    order = np.argsort(mass, kind="stable")
    total = np.bincount(rows.cell[order], weights=mass[order], minlength=rows.n_cells)
    merged = [replace(column, codes=column.codes[first]) for column in columns_left]
    p = len(columns.features)
    context = None if columns.context is None else merged[p]
    return Columns(tuple(merged[:p]), merged[-1], context), total / total.sum()


def _present(column: Column, alive: BoolArray) -> Column:
    codes = column.codes if alive.all() else column.codes[alive]
    return Column(column.name, *without_gaps(codes, column.values))


_SUM = 1e-9  # how far from 1 given probabilities may sum


def check_probabilities(probabilities: FloatArray, what: str, function: str) -> None:
    """Refuse probabilities that are not finite, negative or do not sum to 1 within 1e-9."""
    if not np.all(np.isfinite(probabilities)):
        raise ValueError(f"{function}: {what} must be finite, got NaN or infinity.")
    if np.any(probabilities < 0):
        raise ValueError(f"{function}: {what} must be at least 0, got {probabilities.min():g}.")
    if not abs(float(probabilities.sum()) - 1.0) <= _SUM:
        raise ValueError(f"{function}: {what} must sum to 1, got {probabilities.sum():.12g}.")


def check_names(names: Iterable[object]) -> None:
    """Refuse names of variables that are not strings, or repeated."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"FiniteDistribution: names must be strings, got {name!r}.")
        if name in seen:
            raise ValueError(
                f"FiniteDistribution: names must be different, but {name!r} occurs twice; the "
                "target and the context have names too."
            )
        seen.add(name)


def check_shapes(
    codes: Codes, target: Codes, weights: FloatArray, n_names: int, labels: Sequence[NDArray[Any]]
) -> None:
    """Refuse arrays whose shapes do not fit together."""
    n_rows = len(weights)
    if n_rows == 0:
        raise ValueError("FiniteDistribution: there must be at least one row, got none.")
    if codes.shape != (n_rows, n_names) or target.shape != (n_rows,):
        raise ValueError(
            f"FiniteDistribution: with {n_rows} weights and {n_names} names, codes must have "
            f"shape {(n_rows, n_names)} and target {(n_rows,)}, got {codes.shape} and "
            f"{target.shape}."
        )
    if len(labels) != n_names:
        raise ValueError(
            f"FiniteDistribution: labels must have one array per feature, got {len(labels)} for "
            f"{n_names} features."
        )


def check_context(context: Codes | None, context_values: NDArray[Any] | None, n_rows: int) -> None:
    """Refuse a context without values, values without a context, or a context of another length."""
    if (context is None) != (context_values is None):
        raise ValueError(
            "FiniteDistribution: context and context_values must be given together, got only one."
        )
    if context is not None and context.shape != (n_rows,):
        raise ValueError(
            f"FiniteDistribution: context must have shape {(n_rows,)}, got {context.shape}."
        )


def check_rows(columns: Columns, weights: FloatArray) -> None:
    """Refuse codes without a value, values without a row, equal rows and bad probabilities."""
    for column in columns.all:
        _check_codes(column)
    if not np.all(weights > 0):
        raise ValueError("FiniteDistribution: weights must be above 0; leave out rows of weight 0.")
    check_probabilities(weights, "weights", "FiniteDistribution")
    rows = Partition.by(((c.codes, len(c.values)) for c in columns.all), len(weights))
    if rows.n_cells != len(weights):
        raise ValueError(
            "FiniteDistribution: a row occurs twice. Hint: from_table merges equal rows."
        )


def _check_codes(column: Column) -> None:
    name, codes, values = column.name, column.codes, column.values
    if values.ndim != 1:
        raise ValueError(
            f"FiniteDistribution: the values of {name!r} must be one-dimensional, got shape "
            f"{values.shape}."
        )
    if len(codes) and codes.max() >= len(values):
        raise ValueError(
            f"FiniteDistribution: {name!r} has {len(values)} values, but its codes go up to "
            f"{codes.max()}."
        )
    used = np.zeros(len(values), dtype=bool)
    used[codes] = True
    if not used.all():
        unused = values[int(np.argmin(used))]
        raise ValueError(
            f"FiniteDistribution: {name!r} has no row with value {unused!r}; leave it out."
        )
