"""The learning set: a table, its target, row weights and exchangeable rows, encoded once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.exchangeability import Exchangeability
from duramen.data.provenance import Provenance, records
from duramen.data.sources import table_like
from duramen.data.target import Target, Task, encode_target
from duramen.results.summary import Column, Summarized, Summary, hidden
from duramen.support.arrays import FloatArray, TableLike, refuse_masked
from duramen.support.provenance import fingerprint
from duramen.support.text import quoted

_MOST_MULTIPLE, _MOST_VALUES = 100, 1000
_ROUNDING = 1e-9  # relative error of a weight that counts as a multiple
_LARGEST_EXPONENT = 22  # of a weight that stays as it is; the kernel takes larger ones for real


TableT = TypeVar("TableT", bound=Any)
OtherT = TypeVar("OtherT", bound=Any)


@dataclass(frozen=True, eq=False, repr=False)
class LearningSet(Summarized, Generic[TableT]):
    """A table with its target, checked and encoded once.

    Every function that takes ``X, y`` takes a learning set in their place. Make one with
    :func:`learning_set`.

    Attributes
    ----------
    table : EncodedTable or ColumnStore
        n rows of p columns.
    target : Target
        Class codes with their labels, or numbers.
    weights : float64 array of shape (n,) or None
        Weights of the rows, not negative; None for equal ones.
    exchangeability : Exchangeability
        Which rows a test may exchange: strata and groups.
    provenance : Provenance
        Where the table came from, and what a look at it found.
    positive : label or None
        Class that the directions of effects are about; None for the default of the target.
    n_rows, n_columns : int
        Numbers n of rows and p of columns.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.learning_set([[0.1], [0.7], [0.2]], ["a", "b", "a"])
    >>> data.task, data.classes.tolist(), data.target.values.tolist()
    ('classification', ['a', 'b'], [0, 1, 0])
    """

    table: TableT
    target: Target
    weights: FloatArray | None
    exchangeability: Exchangeability
    provenance: Provenance = field(default_factory=Provenance, kw_only=True)
    positive: Any = field(default=None, kw_only=True)
    # That of a set which was derived with a key; others are computed when they are asked for.
    _fingerprint: str | None = field(default=None, kw_only=True)

    n_rows: int = field(init=False)
    n_columns: int = field(init=False)

    def __post_init__(self) -> None:
        n_rows, n_columns = self.table.shape
        vars(self).update(n_rows=n_rows, n_columns=n_columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        names: tuple[str, ...] = self.table.names
        return names

    def facts(self) -> dict[str, Any]:
        """Return the facts about this set for the record of a run."""
        return {
            "file": self.provenance.file,
            "n_rows": self.n_rows,
            "n_features": self.n_columns,
            "citation": self.provenance.citation,
            "findings": records(self.provenance.findings),
            "task": self.target.task,
            "target": self.provenance.target,
            "fingerprint": self.fingerprint,
            "classes": self.target.class_sizes(),
        }

    @property
    def task(self) -> Task:
        """Task of the target: "classification", "regression" or "survival"."""
        return self.target.task

    @property
    def classes(self) -> NDArray[Any] | None:
        """Sorted class labels, of shape (C,); None for numbers."""
        return self.target.classes

    @property
    def y(self) -> NDArray[Any]:
        """Labels, or numbers, of shape (n,)."""
        return self.target.labels

    @cached_property
    def fingerprint(self) -> str:
        """64 hexadecimal digits that depend on table, target and weights.

        Of a set that was derived from another with a key: on those of the other, and the key.
        """
        if self._fingerprint is not None:
            return self._fingerprint
        target = self.target
        meaning = target.classes if target.times is None else target.times
        return fingerprint(self.table.fingerprint(), target.values, meaning, self.weights)

    def _fingerprint_with(self, key: object) -> str | None:
        """Return the fingerprint of a set that is derived from this one; None without a key."""
        return None if key is None else fingerprint(self.fingerprint, repr(key))

    def permuted(self, order: NDArray[Any], *, key: object = None) -> LearningSet[TableT]:
        """Return this set with permuted targets and weights: row i gets them from ``order[i]``.

        A weight often depends on the target (case-control samples, balanced classes, inverse
        probabilities), so that the two are exchanged together: the distribution of weights in each
        class stays as it is.

        Parameters
        ----------
        order : integer array of shape (n,)
            Rows whose targets and weights are taken.
        key : object, optional
            What tells the result from others that are derived from this set, such as the seed of a
            replicate: its fingerprint then needs no look at the data.
        """
        weights = None if self.weights is None else self.weights[order]
        target = self.target.take(order)
        return replace(
            self, target=target, weights=weights, _fingerprint=self._fingerprint_with(key)
        )

    def with_target(self, target: Target, *, key: object = None) -> LearningSet[TableT]:
        """Return this set with another target of the same rows."""
        return replace(self, target=target, _fingerprint=self._fingerprint_with(key))

    def with_table(
        self: LearningSet[Any], table: OtherT, *, key: object = None
    ) -> LearningSet[OtherT]:
        """Return this set with another table of the same rows."""
        other: LearningSet[OtherT]
        other = replace(self, table=table, _fingerprint=self._fingerprint_with(key))
        return other

    def with_weights(self, weights: FloatArray | None) -> LearningSet[TableT]:
        """Return this set with other weights of the rows, after a check."""
        return (
            self if weights is self.weights else replace(self, weights=weights, _fingerprint=None)
        )

    def with_exchangeability(self, rows: Exchangeability) -> LearningSet[TableT]:
        """Return this set with other strata and groups, on which fingerprints do not depend."""
        same = vars(self).get("fingerprint", self._fingerprint)
        return replace(self, exchangeability=rows, _fingerprint=same)

    def in_memory(self: LearningSet[Any]) -> LearningSet[EncodedTable]:
        """Return this set with the columns of a store in memory; itself if they are."""
        table = encode(self.table)
        return self if table is self.table else replace(self, table=table)

    def column(self, name: str) -> NDArray[Any]:
        """Return the values of a column of the table, or else of its sample annotations.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        names, annotations = self.names, self.provenance.annotations
        if name in names:
            table = encode(self.table.take_columns([names.index(name)]))
            return table.column_values(0)
        if annotations is not None and name in annotations.column_names:
            return np.array(annotations.column(name).to_pylist(), dtype=object)
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {quoted(close[0])}?" if close else "see names"
        raise ValueError(f"the table has no column {quoted(name)}; {hint}")

    def without(self: LearningSet[Any], names: Iterable[str]) -> LearningSet[Any]:
        """Return this set without columns of these names, where it has them."""
        gone = set(names)
        left = [j for j, name in enumerate(self.names) if name not in gone]
        if len(left) == self.n_columns:
            return self
        return replace(self, table=self.table.take_columns(left), _fingerprint=None)

    def of_rows(
        self: LearningSet[Any], rows: NDArray[Any], *, key: object = None, table: Any = None
    ) -> LearningSet[Any]:
        """Return some of the rows, given by index; codes keep their meaning.

        Classes that have no row among them are left out. `table` is that of these rows alone, where
        it is known.
        """
        return replace(
            self,
            table=self.table.take_rows(rows) if table is None else table,
            target=self.target.take(rows),
            weights=None if self.weights is None else self.weights[rows],
            exchangeability=self.exchangeability.of_rows(rows),
            provenance=Provenance(),  # parts are for computing
            _fingerprint=self._fingerprint_with(key),
        )

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        shape = f"{self.n_rows} rows x {self.n_columns} columns"
        return f"LearningSet of {shape}; target: {self.target.description}"

    def _summary(self, rows: int) -> Summary:
        sizes = self.target.class_sizes() or {}
        shown = list(sizes.items())[:rows]
        counts = np.array([count for _, count in shown], dtype=np.float64)
        columns = [
            Column("class", [str(label) for label, _ in shown], kind="words"),
            Column("rows", [f"{count:,}" for _, count in shown], bars=counts),
        ]
        then = self.table._summary(rows) if isinstance(self.table, Summarized) else None
        heading = f"LearningSet of {self.n_rows} rows x {self.n_columns} columns"
        task = "" if sizes else f"; target: {self.target.description}"
        below = hidden(len(sizes), len(shown), "classes")
        return Summary((heading + task,), columns, below, then=then)


def learning_set(
    X: TableLike,
    y: ArrayLike | None,
    *,
    sample_weight: ArrayLike | None = None,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    task: Task | Literal["auto"] = "auto",
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> LearningSet[Any]:
    """Check and encode a table and its target once, for any number of analyses.

    Parameters
    ----------
    X : table of shape (n, p)
        As for :func:`duramen.encode`; a `ColumnStore` stays on disk.
    y : array-like of shape (n,), or of shape (n, 2)
        Class labels or numbers; or survival: a structured array with a boolean field for the event
        and one for the time, and with left truncation one named ``entry``; or two columns, first
        the times, then the events.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, not negative. Only their ratios matter, up to rounding, but in
        survival, where they are whole numbers of copies. Fractional weights in ratios of small
        whole numbers are kept as these.
    names, kinds, n_jobs
        As for :func:`duramen.encode`.
    task : {"auto", "classification", "regression", "survival"}
        Whether `y` holds classes, numbers or survival. "auto": strings and booleans are classes,
        and so are two whole numbers, and at most 20 distinct integers, of which 11 and more must be
        at most half as many as the rows, unless they are distributed as counts; a structured array
        of these fields is survival.
    strata, groups : array-like of shape (n,), optional
        Labels of the rows that tests may exchange; trees that draw rows draw whole groups. See
        :meth:`duramen.data.exchangeability.Exchangeability.checked`.

    Returns
    -------
    LearningSet

    Raises
    ------
    ValueError, TypeError
        If the table, the target, the weights or the labels cannot be used.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.learning_set([[0.1, 2.0], [0.7, 1.0], [0.2, 2.0]], ["a", "b", "a"])
    >>> data
    LearningSet of 3 rows x 2 columns; target: a: 2, b: 1
    >>> forest = dm.RandomForestClassifier(10, random_state=0).fit(data)
    """
    return learning_set_of(
        X,
        y,
        "learning_set",
        task,
        sample_weight=sample_weight,
        names=names,
        kinds=kinds,
        strata=strata,
        groups=groups,
        n_jobs=n_jobs,
    )


def learning_set_of(
    X: Any,
    y: Any,
    function: str,
    task: Task | Literal["auto"] = "auto",
    *,
    sample_weight: Any = None,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    strata: Any = None,
    groups: Any = None,
    allow_one_class: bool = False,
    n_jobs: int | None = None,
) -> LearningSet[Any]:
    """Return X if it is a learning set that suits the task, else check and encode X and y.

    Every learning set is made here, or from another one by its methods. Parameters are those of
    :func:`learning_set`; `function` is the one that the user called, for errors, and `y` may be a
    checked `Target`. With a learning set for X nothing that it stands for may be given.
    """
    if isinstance(X, LearningSet):
        if not all(value is None for value in (y, names, kinds, sample_weight, strata, groups)):
            beside = {"y": y, "names": names, "kinds": kinds, "sample_weight": sample_weight}
            refuse_beside(function, **beside, strata=strata, groups=groups)
        if task not in ("auto", X.target.task):
            raise ValueError(
                f"{function}: the target of this learning set is {X.target.words}, but {task} was "
                f"requested. Hint: learning_set(X, y, task={task!r})."
            )
        return X
    table = X
    if names is not None or kinds is not None or not hasattr(X, "as_table"):
        table = encode(table_like(X), names=names, kinds=kinds, n_jobs=n_jobs)
    n_rows = table.shape[0]
    if isinstance(y, Target):
        target = y
    else:
        target = encode_target(
            y, task, n_rows=n_rows, allow_one_class=allow_one_class, function=function
        )
    weights = None
    if sample_weight is not None:
        weights = row_weights(sample_weight, n_rows, function)
        weights = weights if target.censored else whole_ratios(weights)
    rows = Exchangeability.checked(n_rows, strata, groups, function=function)
    return LearningSet(table, target, weights, rows)


def table_of(X: Any) -> Any:
    """Return the table of a learning set, a store as a table in memory, or X itself."""
    table = X.table if isinstance(X, LearningSet) else X
    return encode(table) if hasattr(table, "as_table") else table


def refuse_beside(function: str, **others: Any) -> None:
    """Raise ValueError if an argument repeats a part of a learning set."""
    beside = next((name for name, value in others.items() if value is not None), None)
    if beside is not None:
        raise ValueError(
            f"{function}: X is a learning set, which already holds {beside}; leave out {beside}, "
            "or give it to learning_set."
        )


def unweighted_set(
    X: Any, y: Any, function: str, task: Task | None = None, **options: Any
) -> LearningSet[Any]:
    """Return the learning set of X and y for functions that know no weights.

    Options are those of :func:`learning_set_of`; None stands for classification and regression.
    """
    data = learning_set_of(X, y, function, task or "auto", **options)
    if task is None and data.target.censored:
        raise ValueError(f"{function}: the target must be classes or numbers, got survival.")
    if data.weights is not None:
        raise ValueError(
            f"{function}: the rows of this learning set have weights, which {function} does not "
            "support. Hint: learning_set without sample_weight."
        )
    return data


def row_weights(
    sample_weight: Any, n_rows: int, function: str, parameter: str = "sample_weight"
) -> FloatArray:
    """Check the weights of the rows: one finite non-negative number a row, not all 0."""
    hint = "give one finite number >= 0 for each row"
    sample_weight = refuse_masked(sample_weight, parameter, function)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{function}: {parameter} must hold numbers ({error}); {hint}") from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{function}: {parameter} must have shape ({n_rows},), got {weights.shape}; {hint}"
        )
    if not np.isfinite(weights).all():
        row = int(np.argmin(np.isfinite(weights)))
        raise ValueError(
            f"{function}: {parameter} holds NaN or infinity, first at row {row}; {hint}"
        )
    if (weights < 0).any():
        raise ValueError(f"{function}: {parameter} holds {weights.min()}; {hint}")
    if not weights.any():
        raise ValueError(f"{function}: {parameter} is zero in every row, so no row is left; {hint}")
    return of_ordinary_size(weights)


def of_ordinary_size(weights: FloatArray) -> FloatArray:
    """Return weights the largest of which is neither tiny nor huge.

    Only the ratios of weights matter, but squares of tiny or huge ones leave the range of float64,
    and huge ones coarsen the grid on which the kernel sums a target. Weights whose largest is
    beyond 2**-22..2**22 are multiplied by the power of two, which is exact, that takes it to
    0.5..1; others stay as they are.
    """
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) <= _LARGEST_EXPONENT else np.ldexp(weights, -exponent)


def whole_ratios(weights: FloatArray) -> FloatArray:
    """Return fractional weights as whole numbers with the same ratios, if these are small.

    Trees of whole weights draw other random numbers than those of fractional ones, so that weights
    of .5 and 1 are to be those of 1 and 2. The weights are divided by the smallest positive one and
    multiplied by up to 100; whole numbers, and weights that no multiple makes whole, stay as they
    are.
    """
    if (weights == np.rint(weights)).all():
        return weights
    values = np.unique(weights[weights > 0])
    ratios = values / values[0]
    if len(values) > _MOST_VALUES or ratios[-1] * _MOST_MULTIPLE >= 2.0**_LARGEST_EXPONENT:
        return weights
    for multiple in range(1, _MOST_MULTIPLE + 1):
        whole = np.rint(ratios * multiple)
        if (np.abs(ratios * multiple - whole) <= _ROUNDING * whole).all():
            return np.asarray(np.rint(weights / values[0] * multiple))
    return weights
