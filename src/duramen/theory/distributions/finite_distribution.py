"""Finite joint distributions: the object that the exact theory is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from math import prod
from operator import index as as_integer
from os import PathLike
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.magnitude import OF_DISTRIBUTIONS, check_magnitude
from duramen.results.metadata import frozen_metadata
from duramen.results.text import aligned
from duramen.theory.distributions import information
from duramen.theory.distributions.axes import axis_labels, axis_names, axis_of
from duramen.theory.distributions.coding import (
    Codes,
    checked_weights,
    chosen_names,
    is_missing,
    observed,
    own_name,
    read_columns,
    without_gaps,
)
from duramen.theory.distributions.information import CRITERIA, UNITS, Criterion, Unit
from duramen.theory.distributions.partition import FloatArray, IndexArray, Partition
from duramen.theory.distributions.sampling import Sample, draw, table_of
from duramen.theory.distributions.storage import read_distribution, write_distribution
from duramen.theory.distributions.validation import check_distribution, check_probabilities
from duramen.theory.distributions.variables import (
    CONTEXT,
    TARGET,
    Role,
    Variable,
    Variables,
    listed,
)

__all__ = ["FiniteDistribution"]

_SHOWN_ROWS = 12
_SHOWN_FEATURES = 10
_MOST_CELLS = 1 << 26


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
        settle(self, "metadata", frozen_metadata("FiniteDistribution", self.metadata))
        check_distribution(self)

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
        chosen = chosen_names(names, table.names, len(table.codes), function)
        classes, target = observed(y, "y", n_rows, function)
        target_name = own_name(y, ("Y", "target"), chosen)
        context_name, context_values, context_codes = "Xc", None, None
        if context is not None:
            context_values, context_codes = observed(context, "context", n_rows, function)
            context_name = own_name(context, ("Xc", "context"), (*chosen, target_name))
        return cls.from_codes(
            codes=table.codes,
            target=target,
            weights=checked_weights(weights, n_rows, function),
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
        target_axis = axis_of(target, names, table.ndim, "target", function)
        context_axis = None
        if context is not None:
            context_axis = axis_of(context, names, table.ndim, "context", function)
            if context_axis == target_axis:
                raise ValueError(f"{function}: target and context are the same axis {context!r}.")
        chosen = axis_names(names, table.ndim, target_axis, context_axis, function)
        values = axis_labels(labels, chosen, table.shape, function)
        occupied = np.nonzero(table)
        features = [a for a in range(table.ndim) if a not in (target_axis, context_axis)]
        return cls.from_codes(
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
    def from_codes(
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
        """Merge equal rows, and leave out rows of weight zero and values without a row.

        Parameters
        ----------
        codes : sequence of p ndarrays of uint32, shape (n,)
            Codes of the features, column by column.
        target : ndarray of uint32, shape (n,)
            Codes of Y.
        weights : ndarray of float64, shape (n,)
            At least 0, some above; they are divided by their sum.
        names : tuple of str
            Names of the features.
        labels : sequence of p ndarrays
            Values of the features, in code order.
        classes : ndarray
            Values of Y, in code order.
        target_name, context, context_values, context_name, metadata
            As in the class.
        """
        alive = weights > 0
        columns = [*codes, target] if context is None else [*codes, context, target]
        values = [*labels, classes]
        if context is not None and context_values is not None:
            values.insert(-1, context_values)
        kept = [
            without_gaps(column if alive.all() else column[alive], own)
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

    # --- as a table ------------------------------------------------------------------------

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
        """The values of Y as numbers, float64 of shape (n_classes,), which the variance needs.

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
        numbers: FloatArray = self.classes.astype(np.float64)
        check_magnitude(numbers, self.target_name, "FiniteDistribution", OF_DISTRIBUTIONS)
        return numbers

    def index(self, feature: Variable) -> int:
        """Return the index of a feature that is given by name or by index.

        Raises
        ------
        TypeError
            If it is neither.
        ValueError
            If there is no such feature.
        """
        if isinstance(feature, str):
            if feature in self._places:
                return self._places[feature]
            close = get_close_matches(feature, self.names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"FiniteDistribution: there is no feature {feature!r}.{hint}")
        if isinstance(feature, Role):
            raise ValueError(f"FiniteDistribution: a feature is wanted here, got the {feature!r}.")
        try:
            j = as_integer(feature)
        except TypeError:
            raise TypeError(
                "FiniteDistribution: a feature is named by a string or an index, got "
                f"{feature!r} of type {type(feature).__name__}."
            ) from None
        if isinstance(feature, bool) or not 0 <= j < self.n_features:
            raise ValueError(
                f"FiniteDistribution: the index of a feature is a whole number from 0 to "
                f"{self.n_features - 1}, got {feature!r}."
            )
        return j

    def indices(self, features: Variables) -> tuple[int, ...]:
        """Return the indices of some features, each once and in the order given."""
        return tuple(dict.fromkeys(self.index(feature) for feature in listed(features)))

    def partition(self, variables: Variables) -> Partition:
        """Group the rows by the values of some variables; the empty set gives one cell."""
        return Partition.by(map(self._column, self._resolved(variables)), self.n_rows)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    def _resolved(self, variables: Variables) -> tuple[int | Role, ...]:
        """Return indices and roles, each once."""
        return tuple(dict.fromkeys(self._resolve(variable) for variable in listed(variables)))

    def _resolve(self, variable: Variable) -> int | Role:
        if variable is TARGET or variable == self.target_name:
            return TARGET
        named = variable == self.context_name and self.context is not None
        if variable is CONTEXT or named:
            if self.context is None:
                raise ValueError(
                    "FiniteDistribution: there is no context. Hint: from_table(X, y, context=...)."
                )
            return CONTEXT
        return self.index(variable)

    def _column(self, variable: int | Role) -> tuple[Codes, int]:
        if variable is TARGET:
            return self.target, self.n_classes
        if variable is CONTEXT:
            return cast("Codes", self.context), self.n_contexts
        j = variable
        return self.codes[:, j], len(self.labels[j])

    def _values(self, variable: int | Role) -> NDArray[Any]:
        if variable is TARGET:
            return self.classes
        if variable is CONTEXT:
            return cast("NDArray[Any]", self.context_values)
        return self.labels[variable]

    def _name(self, variable: int | Role) -> str:
        if variable is TARGET:
            return self.target_name
        return self.context_name if variable is CONTEXT else self.names[variable]

    # --- information -----------------------------------------------------------------------

    def entropy(
        self, variables: Variables = TARGET, given: Variables = (), *, unit: Unit = "bits"
    ) -> float:
        r"""Return the conditional Shannon entropy H(A | B).

        .. math:: H(A|B) = -\sum_{a,b} p(a,b) \log p(a|b)

        Parameters
        ----------
        variables : variable or list of variables
            The set A; by default Y.
        given : variable or list of variables
            The set B; by default empty.
        unit : {"bits", "nats"}
        """
        scale = _scale(unit, "entropy")
        condition = self.partition(given)
        joint = self._refined(condition, variables)
        return scale * information.conditional_entropy(self.weights, joint, condition)

    def mutual_information(
        self,
        m: Variables,
        given: Variables = (),
        *,
        other: Variables = TARGET,
        unit: Unit = "bits",
    ) -> float:
        r"""Return the conditional mutual information I(A; C | B), at least 0.

        .. math:: I(A;C|B) = H(A|B) - H(A|B,C)

        ``mutual_information(m, given)`` is :math:`I(X_m;Y|B)`, the term of which population
        importances are made (thesis, eq. 5.2). What is at most `TOLERANCE` counts as zero.

        Parameters
        ----------
        m : variable or list of variables
            The set A.
        given : variable or list of variables
            The set B; by default empty.
        other : variable or list of variables
            The set C; by default Y.
        unit : {"bits", "nats"}
        """
        scale = _scale(unit, "mutual_information")
        condition = self.partition(given)
        left, right = (self._refined(condition, part) for part in (m, other))
        joint = self._refined(left, other)
        return scale * information.conditional_information(
            self.weights, joint, left, right, condition
        )

    def multivariate_information(
        self,
        *variables: Variables,
        given: Variables = (),
        unit: Unit = "bits",
    ) -> float:
        r"""Return the information that several sets of variables share, I(A; C; D ... | B).

        .. math:: I(A;C;D|B) = I(A;C|B) - I(A;C|B,D)

        It does not depend on the order of the sets. It can be negative from three sets on: then
        they are complementary (McGill 1954; thesis, eq. 2.29).

        Parameters
        ----------
        *variables : variables or lists of variables
            The sets, at least one; of a single one it is the entropy.
        given : variable or list of variables
            The set B; by default empty.
        unit : {"bits", "nats"}

        Raises
        ------
        ValueError
            If no set is given.
        """
        scale = _scale(unit, "multivariate_information")
        if not variables:
            raise ValueError(
                "FiniteDistribution.multivariate_information: give at least one set of variables."
            )
        parts = [self.partition(part) for part in variables]
        return scale * information.multivariate_information(
            self.weights, parts, self.partition(given)
        )

    def impurity(self, given: Variables = (), *, criterion: Criterion = "entropy") -> float:
        r"""Return the mean impurity of Y given some variables.

        .. math:: i(Y|B) = \sum_b P(b)\, i(Y|b)

        Parameters
        ----------
        given : variable or list of variables
            The set B; by default empty.
        criterion : {"entropy", "gini", "variance"}
            The entropy in bits, Gini's index or the variance (of a numeric Y).
        """
        numbers = self._class_numbers(criterion, "impurity")
        return information.impurity(
            criterion, self.weights, self.target, numbers, self.partition(given)
        )

    def impurity_decrease(
        self, m: Variables, given: Variables = (), *, criterion: Criterion = "entropy"
    ) -> float:
        r"""Return the mean decrease of the impurity of Y by some variables, at least 0.

        .. math:: G(Y;A|B) = \sum_b P(b)\Big(i(Y|b) - \sum_a P(a|b)\, i(Y|a,b)\Big)

        With the entropy it is the mutual information :math:`I(A;Y|B)` in bits (thesis, eq. 6.13).

        Parameters
        ----------
        m : variable or list of variables
            The set A.
        given : variable or list of variables
            The set B; by default empty.
        criterion : {"entropy", "gini", "variance"}
            The entropy in bits, Gini's index or the variance (of a numeric Y).
        """
        numbers = self._class_numbers(criterion, "impurity_decrease")
        coarse = self.partition(given)
        fine = self._refined(coarse, m)
        return information.impurity_decrease(
            criterion, self.weights, self.target, numbers, coarse, fine
        )

    def _refined(self, partition: Partition, variables: Variables) -> Partition:
        for variable in self._resolved(variables):
            partition = partition.refined(*self._column(variable))
        return partition

    def _class_numbers(self, criterion: str, method: str) -> FloatArray:
        if criterion not in CRITERIA:
            raise ValueError(
                f"FiniteDistribution.{method}: criterion must be one of "
                f"{', '.join(map(repr, CRITERIA))}, got {criterion!r}."
            )
        return self.class_numbers if criterion == "variance" else np.zeros(self.n_classes)

    # --- other distributions ---------------------------------------------------------------

    def marginal(self, features: Variables, *, keep_context: bool = True) -> Self:
        """Return the distribution of some features and Y, in the order given.

        Parameters
        ----------
        features : feature or list of features
            Names or indices.
        keep_context : bool, default=True
            Whether the context, if there is one, is kept too.
        """
        chosen = self.indices(features)
        return self._kept(np.ones(self.n_rows, dtype=bool), chosen, keep_context)

    def conditioned(self, values: Mapping[Variable, Any]) -> Self:
        """Return the distribution given the values of some features or of the context.

        These variables are left out of it: they are constant there.

        Parameters
        ----------
        values : mapping of variables to values
            Such as ``{"X1": 0}`` or ``{CONTEXT: "female"}``.

        Raises
        ------
        ValueError
            If a variable has no such value, or no row has them all.
        """
        alive = np.ones(self.n_rows, dtype=bool)
        fixed = set()
        for variable, value in values.items():
            place = self._resolve(variable)
            if place is TARGET:
                raise ValueError(
                    "FiniteDistribution.conditioned: values must be of features or of the context, "
                    f"got the target {self.target_name!r}."
                )
            alive &= self._column(place)[0] == self._code(place, value)
            fixed.add(place)
        if not alive.any():
            raise ValueError(
                f"FiniteDistribution.conditioned: no row has {dict(values)!r}; its probability is "
                "0, so there is no such distribution."
            )
        rest = tuple(j for j in range(self.n_features) if j not in fixed)
        return self._kept(alive, rest, CONTEXT not in fixed)

    def _code(self, variable: int | Role, value: Any) -> int:
        known = self._values(variable).tolist()
        missing = is_missing(value)
        for code, label in enumerate(known):
            if label == value or (missing and is_missing(label)):
                return code
        raise ValueError(
            f"FiniteDistribution: {self._name(variable)} has no value {value!r}; it has "
            f"{_some(known)}."
        )

    def _kept(self, alive: NDArray[np.bool_], features: Sequence[int], context: bool) -> Self:
        with_context = context and self.context is not None
        return self.from_codes(
            codes=[self.codes[alive, j] for j in features],
            target=self.target[alive],
            weights=self.weights[alive],
            names=tuple(self.names[j] for j in features),
            labels=[self.labels[j] for j in features],
            classes=self.classes,
            target_name=self.target_name,
            context=cast("Codes", self.context)[alive] if with_context else None,
            context_values=self.context_values if with_context else None,
            context_name=self.context_name,
            metadata=self.metadata,
        )

    # --- numbers and rows out of it --------------------------------------------------------

    def probabilities(self, variables: Variables) -> FloatArray:
        """Return the joint probabilities of some variables, with one axis a variable.

        The axes are in the order given; along each lie the values in the order of their codes.

        Raises
        ------
        ValueError
            If the array would have more than 67 million entries.
        """
        places = self._resolved(variables)
        columns = [self._column(place) for place in places]
        shape = tuple(size for _, size in columns)
        if prod(shape) > _MOST_CELLS:
            raise ValueError(
                f"FiniteDistribution.probabilities: an array of shape {shape} is too large. Hint: "
                "ask for fewer variables; `partition` groups the rows that there are."
            )
        cell = np.zeros(self.n_rows, dtype=np.int64)
        for codes, size in columns:
            cell = cell * size + codes
        mass = np.bincount(cell, weights=self.weights, minlength=prod(shape))
        return np.asarray(mass, dtype=np.float64).reshape(shape)

    def values(self, variable: Variable) -> NDArray[Any]:
        """Return what the codes of a variable stand for."""
        return self._values(self._resolve(variable))

    def sample(self, n: int, seed: int | np.random.Generator) -> Sample:
        """Draw rows independently.

        Parameters
        ----------
        n : int
            How many, at least 0.
        seed : int or numpy.random.Generator
            The same seed gives the same rows.

        Returns
        -------
        Sample
            Named tuple of X of shape (n, p), y and context (or None): values, not codes.

        Raises
        ------
        ValueError
            If `n` is negative.
        """
        if n < 0:
            raise ValueError(f"FiniteDistribution.sample: n must be at least 0, got {n}.")
        rows = draw(self.weights, n, np.random.default_rng(seed))
        context = None
        if self.context is not None and self.context_values is not None:
            context = self.context_values[self.context[rows]]
        features = table_of(self.labels, self.codes[rows])
        return Sample(features, self.classes[self.target[rows]], context)

    def equals(self, other: object, *, atol: float = 0.0) -> bool:
        """Tell whether two distributions have the same variables, values and probabilities.

        Metadata is not compared.

        Parameters
        ----------
        other : object
            Anything; what is no `FiniteDistribution` is not equal.
        atol : float, default=0.0
            How far probabilities may be apart; 0 asks for equal bits.
        """
        if not isinstance(other, FiniteDistribution):
            return False
        if (self.names, self.target_name) != (other.names, other.target_name):
            return False
        if (self.context is None) != (other.context is None):
            return False
        if self.context is not None and self.context_name != other.context_name:
            return False
        variables: list[int | Role] = [*range(self.n_features), *self._roles()]
        return (
            all(_same_values(self._values(v), other._values(v)) for v in variables)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.target, other.target)
            and (self.context is None or np.array_equal(self.context, cast("Codes", other.context)))
            and bool(np.allclose(self.weights, other.weights, rtol=0.0, atol=atol))
        )

    def _roles(self) -> tuple[Role, ...]:
        return (TARGET,) if self.context is None else (CONTEXT, TARGET)

    # --- in and out ------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the distribution to one file: arrays as npz, the rest as JSON inside it.

        The file appears whole or not at all. Nothing in it is executed on loading.

        Raises
        ------
        TypeError
            If a value is an object other than a string, a number or a truth value.
        """
        write_distribution(path, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a distribution that `save` wrote.

        Raises
        ------
        ValueError
            If the file holds something else, or was written by a later version.
        """
        return cls(**read_distribution(path))

    def __reduce__(self) -> tuple[Any, ...]:
        variables = (self.names, self.labels, self.classes, self.target_name)
        context = (self.context, self.context_values, self.context_name)
        rows = (self.codes, self.target, self.weights)
        return type(self), (*rows, *variables, *context, dict(self.metadata))

    def __repr__(self) -> str:
        counts = [
            _counted(self.n_rows, "row"),
            _counted(self.n_features, "feature"),
            f"{_counted(self.n_classes, 'value')} of {self.target_name}",
        ]
        if self.context is not None:
            counts.append(f"{_counted(self.n_contexts, 'value')} of the context")
        lines = [f"FiniteDistribution: {', '.join(counts)}"]
        shown = list(range(min(self.n_features, _SHOWN_FEATURES)))
        places: list[int | Role] = [*shown, *self._roles()]
        rows = slice(0, _SHOWN_ROWS)
        columns = [
            [str(value) for value in self._values(v)[self._column(v)[0][rows]].tolist()]
            for v in places
        ]
        probability = [f"{weight:.6g}" for weight in self.weights[rows]]
        header = [*map(self._name, places), "probability"]
        lines += aligned(header, [*columns, probability], right=[True] * len(header))
        if self.n_rows > _SHOWN_ROWS:
            lines.append(f"... and {_counted(self.n_rows - _SHOWN_ROWS, 'more row')}")
        if self.n_features > len(shown):
            lines.append(f"... and {_counted(self.n_features - len(shown), 'more feature')}")
        return "\n".join(lines)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _some(values: list[Any], shown: int = 8) -> str:
    more = f", ... ({len(values)} in all)" if len(values) > shown else ""
    return ", ".join(map(repr, values[:shown])) + more


def _scale(unit: str, method: str) -> float:
    if unit not in UNITS:
        raise ValueError(
            f"FiniteDistribution.{method}: unit must be 'bits' or 'nats', got {unit!r}."
        )
    return UNITS[unit]


def _frozen(given: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    array = np.array(given, dtype=dtype, order="C")
    array.setflags(write=False)
    return array


def _stacked(columns: Sequence[Codes], n_rows: int) -> Codes:
    table = np.empty((n_rows, len(columns)), dtype=np.uint32)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table


def _same_values(one: NDArray[Any], other: NDArray[Any]) -> bool:
    mine, theirs = one.tolist(), other.tolist()
    return len(mine) == len(theirs) and all(
        a == b or (is_missing(a) and is_missing(b)) for a, b in zip(mine, theirs, strict=True)
    )
