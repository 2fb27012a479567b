"""Contract that all selectors keep."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from duramen.catalogue import Entry
from duramen.data import EncodedTable, LearningSet, Task
from duramen.data.encoding import routing_values
from duramen.data.learning_sets import unweighted_set
from duramen.io import ColumnStore
from duramen.jobs.replicates import Plan
from duramen.results.importances import Importances
from duramen.results.summary import Column
from duramen.support.arrays import BoolArray, FloatArray, IntArray, TableLike
from duramen.support.checks import check_integer, refuse
from duramen.support.provenance import versions

Data = LearningSet[EncodedTable | ColumnStore]

# Parameters that say where and how to work; no result depends on them.
WORKING = frozenset({"n_jobs", "client", "checkpoint", "verbose"})


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionSummary:
    """Figures of the run of a fitted selector, for the terminal, the record and the report.

    Attributes
    ----------
    run : str
        How much was run, such as "40 trees of 15 features"; empty where there is nothing to count.
    step : str
        Noun for a step of the history.
    columns : tuple of Column
        Columns of the table of features, of p rows: texts or numbers, the latter masked where a
        feature has none.
    settings : mapping
        Settings, resolved.
    results : mapping
        Figures for the record and the head of a report, by name; None for figures that do not
        exist.
    """

    run: str = ""
    step: str = "step"
    columns: tuple[Column, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Selector(Entry):
    """Record of a selector in :data:`duramen.selection.catalogue`.

    Attributes
    ----------
    name : str
        Name in Python; on the command line it has hyphens.
    kind : type
        Class of the selector, a :class:`BaseSelector`.
    title : str
        Name in sentences and as the kind of a report.
    reference : str
        Source.
    goal : {"all-relevant", "minimal", "ranking"}
        Whether all relevant features are sought, a smallest set of features that predict, or the
        first ones of a ranking.
    parameters : mapping
        Parameters of the class that make it this selector.
    extra : str
        Extra of this package that the selector needs, if any.
    tasks : tuple of str
        Targets that it takes.
    """

    kind: type[Any]
    title: str
    reference: str = ""
    goal: Literal["all-relevant", "minimal", "ranking"] = "all-relevant"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: str = ""
    tasks: tuple[Task, ...] = ("classification", "regression")

    def takes(self, parameter: str) -> bool:
        """Tell whether the selector has a parameter."""
        return parameter in signature(self.kind).parameters

    def make(self, **parameters: Any) -> Any:
        """Return the selector, not fitted, with these parameters beside its own."""
        return self.kind(**{**self.parameters, **parameters})


class BaseSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Contract of a selector.

    A class has its parameters, which may be the fields of a dataclass as in this package, and
    `fit`, which takes the learning set of :meth:`_learning_set`, hands what it selected to
    :meth:`_adopt`, sets `importances_` and returns itself. Parameters
    `random_state`, `n_jobs`, `client`, `checkpoint` and `verbose` mean the same wherever they are.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, in the order in which they were.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by their importance.
    importances_ : Importances
        Of all p features.
    history_ : dict of arrays
        Course of the run; ``"n_selected"``, if there is one, the number of features after each
        step.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    """

    exchanges: ClassVar[bool] = False  # whether it permutes rows within strata
    # Whether it draws, permutes and holds out whole groups of rows.
    exchanges_groups: ClassVar[bool] = False

    selected_: IntArray
    support_: BoolArray
    history_: dict[str, NDArray[Any]]
    n_features_in_: int

    def _learning_set(
        self, X: Any, y: Any, task: Task | None = None, *, n_threads: int = 1
    ) -> Data:
        """Check and encode the rows and their target; None for any task.

        Raises
        ------
        ValueError
            If the rows have strata or groups that this selector does not support.
        """
        owner = f"{type(self).__name__}.fit"
        data = unweighted_set(X, y, owner, task, n_jobs=n_threads)
        rows = data.exchangeability
        for value, able, what in (
            (rows.strata, self.exchanges, "strata"),
            (rows.groups, self.exchanges_groups, "groups"),
        ):
            if value is not None and not able:
                raise refuse(
                    owner,
                    "X",
                    f"a learning set without {what}",
                    f"one with {what}",
                    f"this selector does not support {what}; use one that does, such as Boruta",
                )
        return data

    def _adopt(
        self, data: Data | EncodedTable, selected: IntArray, history: dict[str, NDArray[Any]]
    ) -> None:
        """Forget an earlier fit, and take the features that were selected."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        table = data if isinstance(data, EncodedTable) else data.table
        first = table.take_columns(np.arange(min(1, data.n_columns)))
        self._names = table.names if first.named else None  # no rows: selectors are pickled
        self.n_features_in_ = data.n_columns
        self.selected_ = np.asarray(selected, dtype=np.int64)
        self.support_ = np.zeros(data.n_columns, dtype=np.bool_)
        self.support_[self.selected_] = True
        self.history_ = history
        if not isinstance(data, EncodedTable) and data.classes is not None:
            self.classes_ = data.classes

    def _plan(self) -> Plan:
        """Check the parameters of execution of this selector."""
        owner = type(self).__name__
        checkpoint, client = getattr(self, "checkpoint", None), getattr(self, "client", None)
        if checkpoint is not None and not isinstance(checkpoint, str | PathLike):
            raise refuse(owner, "checkpoint", "a path or None", checkpoint)
        return Plan.checked(owner, self.n_jobs, checkpoint, self.verbose, client)

    def _of_selected(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the selected features in an array of all p, masked elsewhere."""
        every = np.zeros(self.n_features_in_, values.dtype)
        every[self.selected_] = values
        return np.ma.array(every, mask=~self.support_)

    def summary(self) -> SelectionSummary:
        """Return the summary of the run for a report."""
        check_is_fitted(self, "support_")
        return SelectionSummary(settings=self._settings(), **self._figures())

    def _settings(self) -> dict[str, Any]:
        """Return the settings, resolved."""
        left_out = {*WORKING, "random_state"}
        return {name: value for name, value in self.get_params().items() if name not in left_out}

    def _figures(self) -> dict[str, Any]:
        """Return the other fields of the summary."""
        return {}

    # --- among scikit-learn's tools ----------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "client": None} if "client" in state else state  # of this process alone

    def __dask_tokenize__(self) -> str:
        # Dask takes a dataclass for the fields alone, which fitted attributes are not.
        from dask.tokenize import tokenize

        return str(tokenize(type(self), self.__getstate__()))

    def __sklearn_clone__(self) -> Self:
        # Parameters are copied deeply, which a connection cannot be.
        made: Self = BaseEstimator.__sklearn_clone__(copy.copy(self))
        if "client" in vars(self):
            made.client = self.client
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of all features, of shape (p,), where the table has any.

        Raises
        ------
        AttributeError
            If it has none.
        """
        check_is_fitted(self, "support_")
        if self._names is None:
            raise AttributeError(f"{type(self).__name__} was fitted without feature names")
        return np.array(self._names, dtype=object)

    def transform(self, X: TableLike) -> Any:
        """Reduce X to the selected features, in the order that they have in X.

        Parameters
        ----------
        X : table or ColumnStore of shape (n, p)

        Returns
        -------
        array or sparse matrix of shape (n, n_selected)
            As scikit-learn's selectors give; an EncodedTable for an EncodedTable or a store, of
            which only these columns are read.

        Raises
        ------
        ValueError
            If X has another number of columns, or other names.
        """
        if not isinstance(X, EncodedTable | ColumnStore):
            return super().transform(X)
        check_is_fitted(self, "support_")
        if X.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return X.take_columns(self.get_support(indices=True))

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    @property
    def ranking_(self) -> IntArray:
        """1 for the selected features, then 2, 3, ... by importance."""
        check_is_fitted(self, "support_")
        others = np.flatnonzero(~self.support_)
        order = others[np.argsort(-self._scores()[others], kind="stable")]
        ranking = np.ones(len(self.support_), dtype=np.int64)
        ranking[order] = np.arange(2, len(order) + 2)
        return ranking

    def _scores(self) -> FloatArray:
        """Numbers that features are ranked by."""
        importances: Importances = self.importances_
        return importances.values


def places(order: IntArray) -> FloatArray:
    """Return the place of each feature in an order of all, from 0."""
    return np.argsort(order).astype(np.float64)


def without_forest(
    data: LearningSet[Any], values: FloatArray, measure: str, unit: str, **settings: Any
) -> Importances:
    """Return the importances of a selector without forests."""
    metadata = {"data": data.fingerprint, **settings, "versions": versions()}
    return Importances(data.names, values, measure, unit, metadata=metadata)


def numbers_of(table: EncodedTable) -> FloatArray:
    """Return the values of numeric columns and the codes of others, shape (n, p); NaN for missing.

    Ordered categories are numbered in their order, others in that of their labels.
    """
    return routing_values(table.schema, table)


def folds_of(data: LearningSet[Any], n_folds: int, random: np.random.Generator) -> IntArray:
    """Return the fold of each row, drawn at random within the classes, shape (n,).

    The rows of a group are in one fold; the class of a group is that of its first row.
    """
    rows, codes = data.exchangeability, data.target.codes
    n, groups = rows.n_units, rows.bag_groups
    if groups is not None and codes is not None:
        codes = codes[np.unique(groups, return_index=True)[1]]
    folds = np.empty(n, dtype=np.int64)
    order = random.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    folds[order] = np.arange(n) % n_folds
    return folds if groups is None else folds[groups]


def splits_of(
    data: LearningSet[Any], cv: Any, seed: int, owner: str
) -> list[tuple[IntArray, IntArray]]:
    """Return the training and the test rows of each fold of a cross-validation."""
    n_folds = check_integer(owner, "cv", cv, 2, most=max(data.exchangeability.n_units, 2))
    folds = folds_of(data, n_folds, np.random.default_rng(seed))
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_folds)]
