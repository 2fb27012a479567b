"""The learning set: a table, its target, row weights and exchangeable rows, encoded once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from duramen.data.containers import table_like
from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.exchangeability import Exchangeability
from duramen.data.target import Target, Task, encode_target
from duramen.data.weights import row_weights
from duramen.results.columns import Column, hidden
from duramen.results.summary import Summarized, Summary
from duramen.support.arrays import FloatArray
from duramen.support.provenance import fingerprint


class Table(Protocol):
    """A table in memory (`EncodedTable`) or on disk (`ColumnStore`)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        ...

    def fingerprint(self) -> str:
        """Return a fingerprint: 64 hexadecimal digits that depend on all of the table."""
        ...


TableT = TypeVar("TableT", bound=Table)
OtherT = TypeVar("OtherT", bound=Table)


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
    _origin: tuple[LearningSet[Any], str | None] | None = field(default=None, kw_only=True)

    @property
    def n_rows(self) -> int:
        """Number n of rows."""
        return self.table.shape[0]

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.table.shape[1]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.names

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
        if self._origin is not None:
            parent, key = self._origin
            return parent.fingerprint if key is None else fingerprint(parent.fingerprint, key)
        target = self.target
        meaning = target.classes if target.times is None else target.times
        return fingerprint(self.table.fingerprint(), target.values, meaning, self.weights)

    def permuted(self, order: NDArray[Any], *, key: object = None) -> LearningSet[TableT]:
        """Return this set with other targets and weights: row i gets those of row ``order[i]``.

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
        return self._derived(key, target=self.target.take(order), weights=weights)

    def with_target(self, target: Target, *, key: object = None) -> LearningSet[TableT]:
        """Return this set with another target of the same rows."""
        return self._derived(key, target=target)

    def with_table(
        self: LearningSet[Any], table: OtherT, *, key: object = None
    ) -> LearningSet[OtherT]:
        """Return this set with another table of the same rows."""
        derived: LearningSet[OtherT] = self._derived(key, table=table)
        return derived

    def with_exchangeability(self, rows: Exchangeability) -> LearningSet[TableT]:
        """Return this set with other strata and groups, on which fingerprints do not depend."""
        return replace(self, exchangeability=rows, _origin=(self, None))

    def _derived(self, key: object, **changes: Any) -> LearningSet[Any]:
        origin = None if key is None else (self, repr(key))
        return replace(self, **changes, _origin=origin)

    def in_memory(self: LearningSet[Any]) -> LearningSet[EncodedTable]:
        """Return this set with the columns of a store in memory; itself if they are."""
        table = encode(self.table)
        return self if table is self.table else replace(self, table=table)

    def of_rows(
        self: LearningSet[EncodedTable], rows: NDArray[Any], *, key: object = None
    ) -> LearningSet[EncodedTable]:
        """Return some of the rows, given by index; codes keep their meaning.

        Classes that have no row among them are left out.
        """
        return self.seen_in(self.table.take_rows(rows), rows, key=key)

    def seen_in(self, table: Any, rows: NDArray[Any], *, key: object = None) -> LearningSet[Any]:
        """Return some of the rows, given by index, with the table that has these rows alone."""
        return self._derived(
            key,
            table=table,
            target=self.target.take(rows),
            weights=None if self.weights is None else self.weights[rows],
            exchangeability=self.exchangeability.of_rows(rows),
        )

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        sizes = self.target.class_sizes()
        what = _what(self.target)
        if sizes is not None:
            what = ", ".join(f"{k}: {v}" for k, v in sizes.items())
        return f"LearningSet of {self.n_rows} rows x {self.n_columns} columns; target: {what}"

    def _summary(self, rows: int) -> Summary:
        sizes = self.target.class_sizes() or {}
        shown = list(sizes.items())[:rows]
        counts = np.array([count for _, count in shown], dtype=np.float64)
        columns = [
            Column("class", [str(label) for label, _ in shown], left=True),
            Column("rows", [f"{count:,}" for _, count in shown], bars=counts),
        ]
        then = self.table._summary(rows) if isinstance(self.table, Summarized) else None
        heading = f"LearningSet of {self.n_rows} rows x {self.n_columns} columns"
        task = "" if sizes else f"; target: {_what(self.target)}"
        below = hidden(len(sizes), len(shown), "classes")
        return Summary((heading + task,), columns, below, then=then)


def _what(target: Target) -> str:
    """Describe a target that is no classes."""
    if target.task != "survival":
        return "a number"
    return f"survival times, {np.count_nonzero(target.values % 2)} with the event"


def learning_set(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    task: Task | Literal["auto"] = "auto",
    strata: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
) -> LearningSet[Any]:
    """Check and encode a table and its target once, for any number of analyses.

    Parameters
    ----------
    X : table of shape (n, p)
        As for :func:`duramen.encode`; a `ColumnStore` stays on disk.
    y : array-like of shape (n,), or of shape (n, 2)
        Class labels or numbers; or survival: a structured array with a boolean field for the event
        and one for the time, or two columns, first the times, then the events.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, not negative. Only their ratios matter, but in survival, where they
        are whole numbers of copies.
    names, kinds, n_jobs
        As for :func:`duramen.encode`.
    task : {"auto", "classification", "regression", "survival"}
        Whether `y` holds classes, numbers or survival. "auto": strings, booleans and at most 20
        distinct integers are classes, and a structured array of two fields is survival.
    strata, groups : array-like of shape (n,), optional
        Labels of the rows that tests may exchange; see
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
    function = "learning_set"
    table = X
    if names is not None or kinds is not None or not hasattr(X, "as_table"):
        table = encode(X, names=names, kinds=kinds, n_jobs=n_jobs)
    target = encode_target(y, task, n_rows=table.shape[0], function=function)
    rows = {"sample_weight": sample_weight, "strata": strata, "groups": groups}
    return of_table(table, target, function, **rows)


def of_table(
    table: TableT,
    target: Target,
    function: str,
    *,
    sample_weight: Any = None,
    strata: Any = None,
    groups: Any = None,
) -> LearningSet[TableT]:
    """Tie a target to a table, with weights, strata and groups that are checked here."""
    n_rows = table.shape[0]
    weights = row_weights(sample_weight, n_rows, function)
    rows = Exchangeability.checked(n_rows, strata, groups, function=function)
    return LearningSet(table, target, weights, rows)


def given_set(
    X: Any, y: Any, function: str, task: Task | None = None, **others: Any
) -> LearningSet[Any] | None:
    """Return `X` if it is a learning set that suits the task, or None.

    With a learning set for X, neither `y` nor any of `others`, which it stands for, may be given.
    """
    if not isinstance(X, LearningSet):
        return None
    beside = [name for name, value in {"y": y, **others}.items() if value is not None]
    if beside:
        raise ValueError(
            f"{function}: X is a learning set, which already holds {beside[0]}; leave out "
            f"{beside[0]}, or give it to learning_set."
        )
    if task is not None and X.task != task:
        has = {"classification": "classes", "regression": "numbers"}.get(X.task, X.task)
        raise ValueError(
            f"{function}: the target of this learning set is {has}, but {task} was requested. "
            f"Hint: learning_set(X, y, task={task!r})."
        )
    return X


def refuse_weights(data: LearningSet[TableT], function: str) -> LearningSet[TableT]:
    """Return a learning set whose rows weigh the same, for functions that know no weights."""
    if data.weights is not None:
        raise ValueError(
            f"{function}: the rows of this learning set have weights, which {function} does not "
            "support. Hint: learning_set without sample_weight."
        )
    return data


def unweighted_set(
    X: Any,
    y: Any,
    function: str,
    task: Task | None,
    *,
    n_threads: int,
    names: Iterable[str] | None = None,
    strata: Any = None,
    groups: Any = None,
) -> LearningSet[Any]:
    """Return the learning set that is given, or of X and y, for functions that know no weights.

    A `ColumnStore` stays on disk; None stands for classification and regression.
    """
    given = given_set(X, y, function, task, names=names, strata=strata, groups=groups)
    if given is not None:
        _refuse_survival(given.target, task, function)
        return refuse_weights(given, function)
    stored = names is None and hasattr(X, "as_table")
    table = X if stored else encode(table_like(X), names=names, n_jobs=n_threads)
    target = encode_target(y, task or "auto", n_rows=table.shape[0], function=function)
    _refuse_survival(target, task, function)
    return of_table(table, target, function, strata=strata, groups=groups)


def _refuse_survival(target: Target, task: Task | None, function: str) -> None:
    """Raise ValueError for survival where it was not asked for."""
    if task is None and target.task == "survival":
        raise ValueError(f"{function}: the target must be classes or numbers, got survival.")
