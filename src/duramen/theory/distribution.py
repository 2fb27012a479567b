"""Finite joint distributions: the object that the exact theory is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from math import prod
from operator import index as as_integer
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.archive import read_archive, write_archive
from duramen.results.text import aligned
from duramen.theory import information
from duramen.theory.information import CRITERIA, UNITS, Criterion, Unit
from duramen.theory.partition import FloatArray, IndexArray, Partition
from duramen.theory.reading import (
    Codes,
    factorised,
    is_missing,
    objects,
    one_dimensional,
    read_columns,
)

TOLERANCE = 1e-10
"""An information of at most so many bits counts as zero, everywhere in this package."""

_FORMAT = 1
_SHOWN_ROWS = 12
_SHOWN_FEATURES = 10
_SUM = 1e-9  # how far from 1 given probabilities may sum
_MOST_CELLS = 1 << 26


class Role(Enum):
    """A variable that is no feature."""

    TARGET = "target"
    CONTEXT = "context"

    def __repr__(self) -> str:
        return self.name


TARGET: Literal[Role.TARGET] = Role.TARGET
CONTEXT: Literal[Role.CONTEXT] = Role.CONTEXT

Variable: TypeAlias = str | int | Role
Variables: TypeAlias = Variable | Iterable[Variable]


class Sample(NamedTuple):
    """Rows drawn from a distribution.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Values of the features; an array of objects where their types differ.
    y : ndarray, shape (n,)
        Values of the target.
    context : ndarray of shape (n,) or None
        Values of the context, where there is one.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    context: NDArray[Any] | None


@dataclass(frozen=True, eq=False, repr=False)
class FiniteDistribution:
    """A joint distribution of p categorical features, a target Y and maybe a context.

    It is a table of N distinct rows with probabilities. A learning set whose rows have equal
    weights is one: its population values are those of infinitely many trees grown on it.

    Make one with `from_table`, `from_probabilities` or `duramen.theory.specify`. In all methods a
    *variable* is the name or the index of a feature, the name of the target or of the context, or
    one of the constants ``TARGET`` and ``CONTEXT``; a set of variables is a list of them.

    Parameters
    ----------
    codes : ndarray of uint32, shape (N, p)
        Codes of the features, 0 .. cardinality - 1 a column.
    target : ndarray of uint32, shape (N,)
        Codes of Y.
    weights : ndarray of float64, shape (N,)
        Probabilities of the rows, each above 0, their sum 1.
    names : tuple of str
        Names of the p features, all different.
    labels : tuple of p ndarrays
        ``labels[j][code]`` is the value: sorted, or in the order of the table it came from; a
        missing value is last. Each value has a row.
    classes : ndarray
        ``classes[code]`` is the value of Y, sorted; each has a row.
    target_name : str
        Name of Y, different from those of the features.
    context : ndarray of uint32, shape (N,), optional
        Codes of the context, a variable that is no input.
    context_values : ndarray, optional
        ``context_values[code]`` is the value of the context; each has a row.
    context_name : str
        Name of the context.
    metadata : mapping
        Where the distribution came from, such as how numeric columns were discretised: whatever
        `json` can hold.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes, codes, labels, weights or names do not fit together, or a row comes twice.
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
        settle(self, "metadata", MappingProxyType(_json_copy(self.metadata)))
        _check(self)

    # --- making one ------------------------------------------------------------------------

    @classmethod
    def from_table(
        cls,
        X: Any,
        y: Any,
        *,
        weights: ArrayLike | None = None,
        context: Any = None,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Take the rows of a table for a distribution.

        Equal rows are merged, their weights added and divided by the total. Rows of weight zero
        are left out. Each distinct value of a column is a category; a missing value (NaN, None,
        NaT) is a category of its own, the last. The order of the rows does not matter.

        Parameters
        ----------
        X : table of shape (n, p)
            A two-dimensional array or list of rows; a pandas, polars or pyarrow table; a scipy
            sparse matrix; an `EncodedTable`; or what `duramen.theory.discretize` returns, whose
            cut points are then part of the `metadata`.
        y : array-like of shape (n,)
            The target. A series gives it its name, otherwise it is called ``"Y"``.
        weights : array-like of float64, shape (n,), optional
            Weights of the rows, finite and at least 0; by default all equal.
        context : array-like of shape (n,), optional
            A variable that is no input, such as the group that a row belongs to. A series gives
            it its name, otherwise it is called ``"Xc"``.
        names : iterable of str, optional
            Names of the columns; by default those of the table, else ``x0``, ``x1``, ...

        Raises
        ------
        TypeError
            If a column holds what cannot be a category, or a name is not a string.
        ValueError
            If the table has no row or is not two-dimensional, lengths disagree, names repeat, the
            target or the context is missing somewhere, or the weights are not fit.
        """
        function = "FiniteDistribution.from_table"
        table = read_columns(X, function)
        n_rows = table.n_rows
        if n_rows == 0:
            raise ValueError(f"{function}: X has no rows; a distribution needs at least one.")
        chosen = _chosen_names(names, table.names, len(table.codes), function)
        classes, target = _observed(y, "y", n_rows, function)
        target_name = _own_name(y, ("Y", "target"), chosen)
        context_name, context_values, context_codes = "Xc", None, None
        if context is not None:
            context_values, context_codes = _observed(context, "context", n_rows, function)
            context_name = _own_name(context, ("Xc", "context"), (*chosen, target_name))
        return cls._merged(
            codes=table.codes,
            target=target,
            weights=_checked_weights(weights, n_rows, function),
            names=chosen,
            labels=table.labels,
            classes=classes,
            target_name=target_name,
            context=context_codes,
            context_values=context_values,
            context_name=context_name,
            metadata=table.metadata,
        )

    @classmethod
    def from_probabilities(
        cls,
        probabilities: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        labels: Mapping[str, Sequence[Any]] | None = None,
        target: str | int = -1,
        context: str | int | None = None,
    ) -> Self:
        """Take an array of joint probabilities, with one axis a variable, for a distribution.

        Parameters
        ----------
        probabilities : array-like of float64, one axis a variable
            ``probabilities[a, b, ..., y]`` is the probability that the first variable has its
            value number a, and so on. At least 0, their sum 1.
        names : sequence of str, optional
            A name for each axis; by default ``X1``, ``X2``, ... for the features, ``Y`` and
            ``Xc``.
        labels : mapping of str to sequences, optional
            Values of some variables by name, as many as their axis is long, all different; by
            default 0, 1, 2, ...
        target : str or int, default=-1
            The axis of the target, by name or number.
        context : str or int, optional
            The axis of the context, by name or number; by default there is none.

        Raises
        ------
        ValueError
            If the probabilities are not finite, negative or do not sum to 1, or names, labels
            and axes do not fit together.
        """
        function = "FiniteDistribution.from_probabilities"
        table = np.asarray(probabilities, dtype=np.float64)
        if table.ndim == 0:
            raise ValueError(f"{function}: probabilities must have one axis a variable, got none.")
        check_probabilities(table, "probabilities", function)
        target_axis = _axis(target, names, table.ndim, "target", function)
        context_axis = None
        if context is not None:
            context_axis = _axis(context, names, table.ndim, "context", function)
            if context_axis == target_axis:
                raise ValueError(f"{function}: target and context are the same axis {context!r}.")
        chosen = _axis_names(names, table.ndim, target_axis, context_axis, function)
        values = _axis_labels(labels, chosen, table.shape, function)
        occupied = np.nonzero(table)
        features = [a for a in range(table.ndim) if a not in (target_axis, context_axis)]
        return cls._merged(
            codes=[occupied[axis].astype(np.uint32) for axis in features],
            target=occupied[target_axis].astype(np.uint32),
            weights=table[occupied],
            names=tuple(chosen[axis] for axis in features),
            labels=[values[axis] for axis in features],
            classes=values[target_axis],
            target_name=chosen[target_axis],
            context=None if context_axis is None else occupied[context_axis].astype(np.uint32),
            context_values=None if context_axis is None else values[context_axis],
            context_name="Xc" if context_axis is None else chosen[context_axis],
        )

    @classmethod
    def _merged(
        cls,
        *,
        codes: Sequence[Codes],
        target: Codes,
        weights: FloatArray,
        names: tuple[str, ...],
        labels: Sequence[NDArray[Any]],
        classes: NDArray[Any],
        target_name: str,
        context: Codes | None = None,
        context_values: NDArray[Any] | None = None,
        context_name: str = "Xc",
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """Merge equal rows, leave out weights of zero and values without a row."""
        alive = weights > 0
        columns = [*codes, target] if context is None else [*codes, context, target]
        values = [*labels, classes]
        if context is not None and context_values is not None:
            values.insert(-1, context_values)
        kept = [
            _without_gaps(column if alive.all() else column[alive], own)
            for column, own in zip(columns, values, strict=True)
        ]
        mass = weights[alive]
        rows = Partition.by(((column, len(own)) for column, own in kept), len(mass))
        first = rows.first_rows()
        # In the order of their size, weights add up to the same bits in whatever order rows came.
        order = np.argsort(mass, kind="stable")
        total = np.bincount(rows.cell[order], weights=mass[order], minlength=rows.n_cells)
        p = len(names)
        return cls(
            codes=_stacked([column[first] for column, _ in kept[:p]], rows.n_cells),
            target=kept[-1][0][first],
            weights=total / total.sum(),
            names=names,
            labels=tuple(own for _, own in kept[:p]),
            classes=kept[-1][1],
            target_name=target_name,
            context=None if context is None else kept[p][0][first],
            context_values=None if context is None else kept[p][1],
            context_name=context_name,
            metadata={} if metadata is None else metadata,
        )
