"""Finite joint distributions: distinct rows of coded variables with their probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.categories import (
    Codes,
    coded_columns,
    coded_variable,
    float_labels,
    labels_of,
    objects,
    table_and_target,
    variable_name,
    without_gaps,
)
from duramen.data.learning_sets import row_weights
from duramen.results.archive import Saved
from duramen.results.result import checked_names
from duramen.results.summary import Column as ShownColumn
from duramen.results.summary import Summarized, Summary, counted
from duramen.support.arrays import (
    OF_DISTRIBUTIONS,
    FloatArray,
    IntArray,
    TableLike,
    check_magnitude,
    is_missing,
)
from duramen.support.checks import check_choice, check_integer, is_integer, refuse
from duramen.support.provenance import frozen_metadata
from duramen.support.text import joined
from duramen.theory.distributions.information import (
    CRITERIA,
    Criterion,
    Partition,
    cell_means,
    concentration,
    conditional_entropy,
    conditional_information,
)

_MOST_CELLS = 1 << 26
_SHOWN_FEATURES = 10
_SHOWN_VALUES = 8
_SUM = 1e-9  # how far from 1 probabilities may sum


class Role(Enum):
    """Role of a variable that is not a feature."""

    TARGET = "target"
    CONTEXT = "context"

    def __repr__(self) -> str:
        return self.name


TARGET: Literal[Role.TARGET] = Role.TARGET
CONTEXT: Literal[Role.CONTEXT] = Role.CONTEXT

Variable: TypeAlias = str | int | Role
Variables: TypeAlias = Variable | Iterable[Variable]


def as_list(variables: Variables) -> list[Variable]:
    """Return one variable or several as a list."""
    if isinstance(variables, (str, Role)) or not isinstance(variables, Iterable):
        return [variables]
    return list(variables)


class Column(NamedTuple):
    """A variable: its name, the code of each row, and the value of each code."""

    name: str
    codes: Codes
    values: NDArray[Any]


def code_of(name: str, values: NDArray[Any], value: Any) -> int:
    """Return the code of a value of a variable; a ValueError if it has no such value."""
    labels = values.tolist()
    for code, label in enumerate(labels):
        if label == value or (is_missing(label) and is_missing(value)):
            return code
    raise ValueError(
        f"FiniteDistribution: {name} has no value {value!r}; it has "
        f"{joined(list(map(repr, labels)), shown=_SHOWN_VALUES)}."
    )


@dataclass(frozen=True, eq=False, repr=False)
class FiniteDistribution(Saved, Summarized):
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
        Codes of the context, a variable that is not a feature.
    context_values : ndarray, optional
        ``context_values[code]`` is the value of the context; each has a row.
    context_name : str
        Name of the context.
    metadata : mapping
        Where the distribution came from, such as how numeric columns were discretized: whatever
        `json` can hold.

    Examples
    --------
    >>> import duramen as dm
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> dist = dm.theory.FiniteDistribution.from_table(rows, [0, 1, 1, 0])
    >>> dist.entropy(), dist.mutual_information("x0"), dist.mutual_information("x0", given="x1")
    (1.0, 0.0, 1.0)
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
        settle(self, "labels", tuple(map(_locked, self.labels)))
        for what in ("codes", "target", "weights", "classes", "context", "context_values"):
            if (values := getattr(self, what)) is not None:
                settle(self, what, _locked(values))
        settle(self, "metadata", frozen_metadata("FiniteDistribution", self.metadata))
        roles = [self.target_name, *([] if self.context is None else [self.context_name])]
        checked_names("FiniteDistribution", "names", [*self.names, *roles])

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
    def cardinalities(self) -> IntArray:
        """Number of values of each feature; int64 of shape (p,)."""
        return np.array([len(labels) for labels in self.labels], dtype=np.int64)

    def centered_numbers(self, function: str, criterion: str) -> FloatArray:
        """Return the values of Y less their mean if the criterion is the variance, else zeros.

        Raises
        ------
        ValueError
            If the criterion is unknown, or is the variance, and Y is not numeric or too large.
        """
        check_choice(function, "criterion", criterion, CRITERIA)
        if criterion != "variance":
            return np.zeros(self.n_classes)
        if self.classes.dtype.kind not in "biuf":
            raise ValueError(
                f"{function}: the variance needs a numeric target, but {self.target_name} "
                f"has values such as {self.classes.tolist()[0]!r}. Hint: use 'entropy' or 'gini'."
            )
        numbers = float_labels(self.classes, f"the target {self.target_name}", function)
        check_magnitude(numbers, self.target_name, function, OF_DISTRIBUTIONS)
        centered: FloatArray = numbers - numbers[0]  # an offset costs no digit
        return centered - np.sum(self.weights * centered[self.target])

    @cached_property
    def columns(self) -> dict[int | Role, Column]:
        """Features by index, then the context, if any, and the target."""
        columns: dict[int | Role, Column] = dict(
            enumerate(map(Column, self.names, self.codes.T, self.labels))
        )
        if self.context is not None and self.context_values is not None:
            columns[CONTEXT] = Column(self.context_name, self.context, self.context_values)
        columns[TARGET] = Column(self.target_name, self.target, self.classes)
        return columns

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
            if feature in self.names:
                return self.names.index(feature)
            close = get_close_matches(feature, self.names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"FiniteDistribution: there is no feature {feature!r}.{hint}")
        if not is_integer(feature):
            raise TypeError(
                f"FiniteDistribution: feature must be a name or an index, got {feature!r}."
            )
        return check_integer(
            "FiniteDistribution", "the index of a feature", feature, 0, most=self.n_features - 1
        )

    def _place(self, variable: Variable) -> int | Role:
        """Return the index of a feature, or the role of the target or of the context."""
        if variable is TARGET or variable == self.target_name:
            return TARGET
        if variable is CONTEXT and self.context is None:
            raise ValueError(
                "FiniteDistribution: there is no context. Hint: from_table(X, y, context=...)."
            )
        if variable is CONTEXT or (self.context is not None and variable == self.context_name):
            return CONTEXT
        return self.index(variable)

    def _chosen(self, variables: Variables) -> list[Column]:
        """Return the columns of some variables, each once and in the order given."""
        places = dict.fromkeys(self._place(variable) for variable in as_list(variables))
        return [self.columns[place] for place in places]

    def _refined(self, partition: Partition, variables: Variables) -> Partition:
        """Split the cells of a partition of the rows by the values of some variables."""
        for column in self._chosen(variables):
            partition = partition.refined(column.codes, len(column.values))
        return partition

    def indices(self, features: Variables) -> tuple[int, ...]:
        """Return the indices of some features, each once and in the order given."""
        return tuple(dict.fromkeys(self.index(feature) for feature in as_list(features)))

    def partition(self, variables: Variables) -> Partition:
        """Group the rows by the values of some variables; the empty set gives one cell."""
        return self._refined(Partition.whole(self.n_rows), variables)

    def probabilities(self, variables: Variables) -> FloatArray:
        """Return the joint probabilities of some variables, with one axis a variable.

        The axes are in the order given; along each lie the values in the order of their codes.

        Raises
        ------
        ValueError
            If the array would have more than 67 million entries.
        """
        columns = self._chosen(variables)
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
        return self.columns[self._place(variable)].values

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
        if not isinstance(other, FiniteDistribution):
            return False
        if self.columns.keys() != other.columns.keys() or self.n_rows != other.n_rows:
            return False
        for place, column in self.columns.items():
            theirs = other.columns[place]
            pairs = zip(column.values.tolist(), theirs.values.tolist(), strict=False)
            if (
                column.name != theirs.name
                or len(column.values) != len(theirs.values)
                or any(a != b and not (is_missing(a) and is_missing(b)) for a, b in pairs)
                or not np.array_equal(column.codes, theirs.codes)
            ):
                return False
        return bool(np.allclose(self.weights, other.weights, rtol=0.0, atol=atol))

    _rows_shown = 12

    def _summary(self, rows: int) -> Summary:
        p, shown = self.n_features, min(rows, self.n_rows)
        counts = f"{counted(self.n_rows, 'row')}, {counted(p, 'feature')}, "
        counts += f"{counted(self.n_classes, 'value')} of {self.target_name}"
        if self.context is not None:
            counts += f", {counted(self.n_contexts, 'value')} of the context"
        columns = list(self.columns.values())
        cells = [
            ShownColumn(column.name, list(map(str, column.values[column.codes[:shown]].tolist())))
            for column in [*columns[: min(p, _SHOWN_FEATURES)], *columns[p:]]
        ]
        first = self.weights[:shown]
        cells.append(ShownColumn("probability", [f"{weight:.6g}" for weight in first], bars=first))
        rest = {"more row": self.n_rows - shown, "more feature": p - _SHOWN_FEATURES}
        below = [f"... and {counted(count, noun)}" for noun, count in rest.items() if count > 0]
        return Summary((f"FiniteDistribution: {counts}",), cells, tuple(below))

    @classmethod
    def from_table(
        cls,
        X: TableLike,
        y: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
        context: Any = None,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Build a distribution from the rows of a table.

        Equal rows are merged, their weights added and divided by the total. Rows of weight zero
        are left out. Each distinct value of a column is a category; a missing value (NaN, None,
        NaT) is a category of its own, the last. The order of the rows does not matter.

        Parameters
        ----------
        X : table of shape (n, p)
            A two-dimensional array or list of rows; a pandas, polars or pyarrow table; a scipy
            sparse matrix; an `EncodedTable`; or what `duramen.theory.discretize` returns, whose
            cut points are then part of the `metadata`. A `LearningSet` stands for X, y and weights.
        y : array-like of shape (n,)
            The target. A series gives it its name, otherwise it is called ``"Y"``.
        weights : array-like of float64, shape (n,), optional
            Weights of the rows, finite and at least 0; by default all equal.
        context : array-like of shape (n,), optional
            A variable that is not a feature, such as the group that a row belongs to. A series
            gives it its name, otherwise it is called ``"Xc"``.
        names : iterable of str, optional
            Names of the columns; by default those of the table, else ``x0``, ``x1``, ...

        Raises
        ------
        TypeError
            If a column holds what cannot be a category, or a name is not a string.
        ValueError
            If the table has no row or is not two-dimensional, lengths disagree, names repeat, the
            target or the context is missing somewhere, or the weights are not fit.

        Examples
        --------
        >>> import duramen as dm
        >>> X, y = [["old", "F"], ["young", "F"], ["old", "M"]], [1, 0, 1]
        >>> dist = dm.theory.FiniteDistribution.from_table(X, y, names=["age", "sex"])
        >>> dist.entropy(given="age"), round(dist.mutual_information("age"), 4)
        (0.0, 0.9183)
        """
        function = "FiniteDistribution.from_table"
        X, y, weights = table_and_target(X, y, weights)
        table = coded_columns(X, names, function)
        n = table.n_rows
        if n == 0:
            raise ValueError(f"{function}: X must have at least one row, got none.")
        classes, target = coded_variable(y, "y", n, function)
        target_name = variable_name(y, ("Y", "target"), table.names)
        mass = None if weights is None else row_weights(weights, n, function, "weights")
        column = None
        if context is not None:
            values, codes = coded_variable(context, "context", n, function)
            name = variable_name(context, ("Xc", "context"), (*table.names, target_name))
            column = Column(name, codes, values)
        return cls.from_columns(
            list(map(Column, table.names, table.codes, table.labels)),
            Column(target_name, target, classes),
            np.ones(n) if mass is None else mass / mass.max(),
            context=column,
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
        """Build a distribution from an array of joint probabilities, with one axis a variable.

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

        Examples
        --------
        >>> import duramen as dm
        >>> joint = [[0.4, 0.1], [0.1, 0.4]]  # P(X1, Y)
        >>> dist = dm.theory.FiniteDistribution.from_probabilities(joint)
        >>> round(dist.mutual_information("X1"), 4)
        0.2781
        """
        function = "FiniteDistribution.from_probabilities"
        table = np.asarray(probabilities, dtype=np.float64)
        n = table.ndim
        if n == 0:
            raise refuse(function, "probabilities", "an array with one axis per variable", table)
        check_probabilities(table, "probabilities", function)
        if names is not None and (isinstance(names, str) or len(names) != n):
            raise refuse(function, "names", f"a list with one entry for each of {n} axes", names)
        axes: dict[Any, int] = {axis: axis % n for axis in range(-n, n)}
        axes |= {name: axis for axis, name in enumerate(names or ())}
        for role, axis in {"target": target, "context": context}.items():
            if axis not in axes and (role, axis) != ("context", None):
                allowed = f"one of the names or the number of an axis, {-n} to {n - 1}"
                raise refuse(function, role, allowed, axis)
        y, c = axes[target], None if context is None else axes[context]
        if y == c:
            raise ValueError(f"{function}: target and context are the same axis {context!r}.")
        features = [axis for axis in range(n) if axis not in (y, c)]
        if names is None:
            named = {axis: f"X{number}" for number, axis in enumerate(features, start=1)}
            names = [named.get(axis, "Y" if axis == y else "Xc") for axis in range(n)]
        if not set(labels or ()) <= set(names):
            raise refuse(function, "labels", f"a mapping of some of {list(names)}", labels)
        occupied = np.nonzero(table)
        columns = []
        for name, size, codes in zip(names, table.shape, occupied, strict=True):
            values = np.asarray((labels or {}).get(name, range(size))).tolist()
            if len(values) != size or len(set(values)) != size:
                allowed = f"{size} different values, one for each position along its axis"
                raise refuse(function, f"labels[{name!r}]", allowed, values)
            columns.append(Column(name, codes.astype(np.uint32), labels_of(values)))
        return cls.from_columns(
            [columns[axis] for axis in features],
            columns[y],
            table[occupied],
            context=None if c is None else columns[c],
        )

    @classmethod
    def from_columns(
        cls,
        features: Sequence[Column],
        target: Column,
        weights: FloatArray,
        *,
        context: Column | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """Build a distribution from coded columns; equal rows are merged.

        Parameters
        ----------
        features : sequence of p tuples (name, codes, values)
            Columns of the features: name, codes as uint32 array of shape (n,), and the values that
            the codes 0, 1, ... stand for.
        target : tuple (name, codes, values)
            Column of Y.
        weights : ndarray of float64, shape (n,)
            At least 0, some above; they are divided by their sum.
        context : tuple (name, codes, values), optional
            Column of the context.
        metadata : mapping, optional
            As for the class.
        """
        alive = weights > 0
        columns = [
            Column(name, *without_gaps(codes[alive], values))
            for name, codes, values in (*features, *([] if context is None else [context]), target)
        ]
        mass = weights[alive]
        rows = Partition.by(((column.codes, len(column.values)) for column in columns), len(mass))
        first = rows.first_rows()
        # In the order of their size, weights add up to the same bits in whatever order rows came.
        order = np.argsort(mass, kind="stable")
        total = np.bincount(rows.cell[order], weights=mass[order], minlength=rows.n_cells)
        p = len(features)
        table = np.empty((rows.n_cells, p), dtype=np.uint32)
        for j in range(p):
            table[:, j] = columns[j].codes[first]
        options: dict[str, Any] = {}
        if context is not None:
            name, codes, values = columns[p]
            options = {"context": codes[first], "context_values": values, "context_name": name}
        return cls(
            codes=table,
            target=columns[-1].codes[first],
            weights=total / total.sum(),
            names=tuple(column.name for column in columns[:p]),
            labels=tuple(column.values for column in columns[:p]),
            classes=columns[-1].values,
            target_name=columns[-1].name,
            metadata={} if metadata is None else metadata,
            **options,
        )

    def entropy(self, variables: Variables = TARGET, given: Variables = ()) -> float:
        r"""Return the conditional Shannon entropy H(A | B) in bits.

        .. math:: H(A|B) = -\sum_{a,b} p(a,b) \log_2 p(a|b)

        Parameters
        ----------
        variables : variable or list of variables
            The set A; by default Y.
        given : variable or list of variables
            The set B; by default empty.
        """
        condition = self.partition(given)
        joint = self._refined(condition, variables)
        return conditional_entropy(self.weights, joint, condition)

    def mutual_information(
        self, m: Variables, given: Variables = (), *, other: Variables = TARGET
    ) -> float:
        r"""Return the conditional mutual information I(A; C | B) in bits, at least 0.

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
        """
        condition = self.partition(given)
        left, right = (self._refined(condition, part) for part in (m, other))
        return conditional_information(
            self.weights, self._refined(left, other), left, right, condition
        )

    def multivariate_information(self, *variables: Variables, given: Variables = ()) -> float:
        r"""Return the information in bits that sets of variables share, I(A; C; D ... | B).

        .. math:: I(A;C;D|B) = I(A;C|B) - I(A;C|B,D)

        It does not depend on the order of the sets. It can be negative from three sets on: then
        they are complementary (McGill 1954; thesis, eq. 2.29). Of two features and Y it is their
        degree of redundancy (thesis, definition 2.16).

        Parameters
        ----------
        *variables : variables or lists of variables
            The sets, at least one; of a single variable it is the entropy.
        given : variable or list of variables
            The set B; by default empty.

        Raises
        ------
        ValueError
            If no set is given, or one list of several variables alone.
        """
        self._check_sets("multivariate_information", variables)
        condition, total = self.partition(given), 0.0
        for size in range(1, len(variables) + 1):
            for chosen in combinations(variables, size):
                joint = condition
                for part in chosen:
                    joint = self._refined(joint, part)
                total -= (-1) ** size * conditional_entropy(self.weights, joint, condition)
        return total

    def total_correlation(self, *variables: Variables, given: Variables = ()) -> float:
        r"""Return the total correlation in bits of several sets of variables, at least 0.

        .. math:: R(A;C;D|B) = H(A|B) + H(C|B) + H(D|B) - H(A,C,D|B)

        It is 0 if and only if the sets are independent of each other given B, and of two sets it is
        the mutual information (Watanabe 1960; thesis, eq. 2.27). What is at most `TOLERANCE` counts
        as zero.

        Parameters
        ----------
        *variables : variables or lists of variables
            The sets, at least one; of a single variable it is 0.
        given : variable or list of variables
            The set B; by default empty.

        Raises
        ------
        ValueError
            If no set is given, or one list of several variables alone.

        Examples
        --------
        >>> import duramen as dm
        >>> xor = dm.theory.examples.xor()
        >>> xor.total_correlation("X1", "X2", "Y"), xor.multivariate_information("X1", "X2", "Y")
        (1.0, -1.0)
        """
        self._check_sets("total_correlation", variables)
        # The chain rule: where sets are independent, a term is 0 up to rounding of one sum.
        joint = list[Variable]()
        total = 0.0
        for part in variables:
            total += self.mutual_information(part, given, other=joint)
            joint += as_list(part)
        return total

    def _check_sets(self, method: str, variables: Sequence[Variables]) -> None:
        if not variables or (len(variables) == 1 and len(as_list(variables[0])) > 1):
            raise ValueError(
                f"FiniteDistribution.{method}: expected several variables or sets, "
                f"each an argument of its own, got {list(variables)!r}."
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
        numbers = self.centered_numbers("FiniteDistribution.impurity", criterion)[self.target]
        cells = self.partition(given)
        if criterion == "variance":
            spread = numbers - cell_means(self.weights, numbers, cells)[cells.cell]
            return float(np.sum(self.weights * spread**2))
        joint = cells.refined(self.target, self.n_classes)
        if criterion == "entropy":
            return conditional_entropy(self.weights, joint, cells)
        return max(0.0, 1.0 - concentration(self.weights, joint, cells))

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
        coarse = self.partition(given)
        return self.decrease_between(coarse, self._refined(coarse, m), criterion)

    def decrease_between(self, coarse: Partition, fine: Partition, criterion: str) -> float:
        """Return `impurity_decrease` for partitions of the rows by B, and by A and B.

        What rounding leaves below zero is set to zero.
        """
        weights = self.weights
        numbers = self.centered_numbers("FiniteDistribution.impurity_decrease", criterion)
        if criterion == "variance":
            before = cell_means(weights, numbers[self.target], coarse)[coarse.cell]
            after = cell_means(weights, numbers[self.target], fine)
            apart = after - before[fine.first_rows()]
            return float(np.sum(fine.masses(weights) * apart**2))
        left, joint = (part.refined(self.target, self.n_classes) for part in (coarse, fine))
        if criterion == "entropy":
            return conditional_information(weights, joint, fine, left, coarse)
        gain = concentration(weights, joint, fine) - concentration(weights, left, coarse)
        return max(0.0, gain)

    def marginal(self, features: Variables, *, keep_context: bool = True) -> Self:
        """Return the distribution of some features and Y, in the order given.

        Parameters
        ----------
        features : feature or list of features
            Names or indices.
        keep_context : bool, default=True
            Whether the context, if there is one, is kept too.
        """
        return self._part(self.weights, self.indices(features), keep_context)

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
            place = self._place(variable)
            if place is TARGET:
                raise ValueError(
                    "FiniteDistribution.conditioned: values must be of features or of the context, "
                    f"got the target {self.target_name!r}."
                )
            column = self.columns[place]
            alive &= column.codes == code_of(column.name, column.values, value)
            fixed.add(place)
        if not alive.any():
            raise ValueError(
                f"FiniteDistribution.conditioned: no row has {dict(values)!r}; its probability is "
                "0, so that the conditional distribution is not defined."
            )
        rest = [j for j in range(self.n_features) if j not in fixed]
        return self._part(np.where(alive, self.weights, 0.0), rest, CONTEXT not in fixed)

    def _part(self, weights: FloatArray, features: Sequence[int], context: bool) -> Self:
        """Return the distribution of some features, given rows by their weights."""
        return self.from_columns(
            [self.columns[j] for j in features],
            self.columns[TARGET],
            weights,
            context=self.columns.get(CONTEXT) if context else None,
            metadata=self.metadata,
        )

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
        check_integer("FiniteDistribution.sample", "n", n, 0)
        upper = np.cumsum(self.weights)
        # Dividing by the last one keeps a draw just below 1 inside the table.
        uniform = np.random.default_rng(seed).random(n)
        rows = np.searchsorted(upper / upper[-1], uniform, side="right")
        kinds = {labels.dtype.kind for labels in self.labels}
        alike = bool(kinds) and (kinds <= set("iuf") or kinds == {"b"})
        # Otherwise Python's own numbers, strings and dates.
        X = np.empty((n, self.n_features), np.result_type(*self.labels) if alike else object)
        for j, labels in enumerate(self.labels):
            drawn = labels[self.codes[rows, j]]
            X[:, j] = drawn if alike else objects(drawn.tolist())
        context = None
        if self.context is not None and self.context_values is not None:
            context = self.context_values[self.context[rows]]
        return Sample(X, self.classes[self.target[rows]], context)


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

    Examples
    --------
    >>> import duramen as dm
    >>> drawn = dm.theory.examples.xor().sample(100, seed=0)
    >>> drawn.X.shape, bool(((drawn.X[:, 0] ^ drawn.X[:, 1]) == drawn.y).all())
    ((100, 2), True)
    """

    X: NDArray[Any]
    y: NDArray[Any]
    context: NDArray[Any] | None


def _locked(values: ArrayLike) -> NDArray[Any]:
    """Return a read-only copy of an array."""
    array = np.array(values, order="C")
    array.setflags(write=False)
    return array


def check_probabilities(probabilities: FloatArray, what: str, function: str) -> None:
    """Refuse probabilities that are not finite, negative or do not sum to 1 within 1e-9."""
    if not np.all(np.isfinite(probabilities)):
        raise ValueError(f"{function}: {what} must be finite, got NaN or infinity.")
    if np.any(probabilities < 0):
        raise ValueError(f"{function}: {what} must be at least 0, got {probabilities.min():g}.")
    if not abs(float(probabilities.sum()) - 1.0) <= _SUM:
        raise ValueError(f"{function}: {what} must sum to 1, got {probabilities.sum():.12g}.")


def check_distribution(function: str, dist: object) -> None:
    """Refuse anything but a distribution."""
    if not isinstance(dist, FiniteDistribution):
        raise TypeError(
            f"{function}: dist must be a FiniteDistribution, got {type(dist).__name__}. Hint: "
            "FiniteDistribution.from_table(X, y) makes one."
        )


# --- the Bayes model -----------------------------------------------------------------------------


_TIE = 1e-12  # probabilities of classes no farther apart, relative to the larger, are equal


@dataclass(frozen=True, eq=False)
class BayesModel:
    """Best prediction of Y for every combination of values of some features.

    Attributes
    ----------
    values : dict of str to ndarray, shape (M,)
        Values of each feature in each combination that occurs, by name.
    predictions : ndarray, shape (M,)
        Class or number that is predicted.
    probabilities : float64 array, shape (M,)
        Probability of each combination.
    losses : float64 array, shape (M,)
        Expected loss given each combination.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.distributions import bayes_model
    >>> model = bayes_model(dm.theory.examples.noisy_copy(0.25), features="X3")
    >>> model.predictions.tolist(), round(model.residual_error, 4)
    ([0, 1], 0.25)
    """

    values: dict[str, NDArray[Any]]
    predictions: NDArray[Any]
    probabilities: FloatArray
    losses: FloatArray

    @property
    def residual_error(self) -> float:
        """Expected loss: no model of these features has a smaller one."""
        return float(self.probabilities @ self.losses)


def bayes_model(
    dist: FiniteDistribution, features: Variables | None = None, *, loss: str = "zero-one"
) -> BayesModel:
    r"""Compute the Bayes model of Y given some features: the predictions of least expected loss.

    .. math:: f_B(x) = \arg\min_{y'} E_{y|x} \{ L(y', y) \}

    (thesis, definition 2.2 and eq. 2.7): the most probable class for the zero-one loss, the first
    of several; the mean of Y for the squared loss. The expected loss of the model is the residual
    error.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    features : variable or list of variables, optional
        Features that the model uses, by name or index; by default all.
    loss : {"zero-one", "squared"}, default="zero-one"
        Loss L; the squared one needs a numeric Y.

    Returns
    -------
    BayesModel
        One prediction for each combination of values that occurs, in the order of the values.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a feature is not there, the loss is not allowed, or Y is not numeric where it has to be.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.distributions import bayes_model
    >>> xor = dm.theory.examples.xor()
    >>> bayes_model(xor).residual_error, bayes_model(xor, "X1").residual_error
    (0.0, 0.5)
    """
    check_distribution("bayes_model", dist)
    check_choice("bayes_model", "loss", loss, ("zero-one", "squared"))
    chosen = list(range(dist.n_features)) if features is None else features
    part = dist.partition(chosen)
    place = part.cell * dist.n_classes + dist.target
    mass = np.bincount(place, dist.weights, part.n_cells * dist.n_classes)
    table = mass.reshape(part.n_cells, dist.n_classes)
    table = table / table.sum(axis=1, keepdims=True)
    predictions: NDArray[Any]
    if loss == "zero-one":
        best = np.argmax(table >= (1.0 - _TIE) * table.max(axis=1, keepdims=True), axis=1)
        predictions, losses = dist.classes[best], 1.0 - table[np.arange(len(best)), best]
    else:
        dist.centered_numbers("bayes_model", "variance")  # refuses what is not numeric
        numbers = dist.classes.astype(np.float64)
        predictions = numbers[0] + table @ (numbers - numbers[0])
        losses = (table * (numbers - predictions[:, np.newaxis]) ** 2).sum(axis=1)
    rows = part.first_rows()
    values = {
        dist.names[j]: np.asarray(dist.labels[j])[dist.codes[rows, j]] for j in dist.indices(chosen)
    }
    return BayesModel(values, predictions, part.masses(dist.weights), losses)
