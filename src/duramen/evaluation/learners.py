"""Learners that predict from selected features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.catalogue import Catalogue, Entry
from duramen.data import EncodedTable, LearningSet, Target, Task
from duramen.data.routing import routing_values
from duramen.estimators.catalogue import random_forest
from duramen.importances.refit import check_task
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

N_TREES = 500


@dataclass(frozen=True, eq=False)
class LearnerEntry(Entry):
    """Record of a learner that is known by name.

    Attributes
    ----------
    name : str
        Name in Python; the option ``--learner`` has hyphens in it.
    made : callable
        Takes the task and returns an estimator.
    tasks : tuple of str
        Tasks that it is for.
    """

    made: Callable[[Task], Any]
    tasks: tuple[Task, ...] = ("classification", "regression")


def predictions(learner: Any, train: Part, test: Part, columns: IntArray, seed: int) -> FloatArray:
    """Fit some columns of training rows and predict test rows, as `Performance.compute` takes it.

    Without columns the class frequencies, or the mean, of the training rows are predicted.
    """
    if not len(columns):
        if train.classes is None:
            return np.full(len(test.rows), float(np.mean(train.target)))
        counts = np.bincount(train.target.astype(np.int64), minlength=len(train.classes))
        return np.tile(counts / counts.sum(), (len(test.rows), 1))
    model = seeded(learner, seed)
    if takes_matrix(learner):
        model.fit(train.matrix[:, columns], train.target)
        rows: Any = test.matrix[:, columns]
    else:
        if checks.is_integer(model.max_features):  # candidates at a node
            model.set_params(max_features=min(model.max_features, len(columns)))
        model.fit(train.of_columns(columns))
        rows = test.of_columns(columns).table
    if train.classes is None:
        return np.asarray(model.predict(rows), dtype=np.float64)
    if hasattr(model, "predict_proba"):
        sure = np.asarray(model.predict_proba(rows))
    elif hasattr(model, "decision_function"):
        sure = np.asarray(model.decision_function(rows))
    else:
        sure = (np.asarray(model.predict(rows))[:, None] == model.classes_).astype(np.float64)
    if sure.ndim == 1:
        sure = np.column_stack([-sure, sure])
    # Classes that were not in training have the least value.
    whole = np.full((len(sure), len(train.classes)), float(sure.min(initial=0.0)) - 1.0)
    codes = np.arange(len(train.classes)) if takes_matrix(learner) else train.classes
    whole[:, np.searchsorted(codes, model.classes_)] = sure
    return whole


def takes_matrix(estimator: Any) -> bool:
    """Tell whether an estimator takes a matrix of numbers, and not encoded columns."""
    from duramen.estimators.base import BaseForest

    return not isinstance(estimator, BaseForest)


def _of_scikit_learn(module: str, classifier: str, regressor: str, **options: Any) -> Any:
    """Return a function that makes an estimator of scikit-learn, on scaled features, for a task."""

    def made(task: Task) -> Any:
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        name = {"classification": classifier, "regression": regressor}[task]
        model = getattr(import_module(f"sklearn.{module}"), name)(**options)
        filled = SimpleImputer(strategy="median", keep_empty_features=True)
        return make_pipeline(filled, StandardScaler(), model)

    return made


catalogue: Catalogue[LearnerEntry] = Catalogue(
    "learner",
    (
        LearnerEntry("forest", lambda task: random_forest(task, N_TREES)),
        LearnerEntry("linear_svm", _of_scikit_learn("svm", "SVC", "SVR", kernel="linear")),
        LearnerEntry(
            "logistic_regression",
            _of_scikit_learn("linear_model", "LogisticRegression", "", max_iter=1000),
            ("classification",),
        ),
        LearnerEntry(
            "ridge_regression", _of_scikit_learn("linear_model", "", "Ridge"), ("regression",)
        ),
        LearnerEntry(
            "k_nearest_neighbors",
            _of_scikit_learn("neighbors", "KNeighborsClassifier", "KNeighborsRegressor"),
        ),
    ),
)
"""Learners by name: a random forest of 500 trees, and four of scikit-learn on scaled features."""


def learner_of(learner: Any, target: Target, owner: str) -> tuple[Any, str]:
    """Return the estimator that a name or an estimator stands for, and its description.

    Raises
    ------
    ValueError, TypeError
        If it is neither, or is for another task.
    """
    estimator, text = learner, ""
    if learner is None or isinstance(learner, str):
        suited = [entry.name for entry in catalogue if target.task in entry.tasks]
        text = checks.check_choice(
            owner, "learner", "forest" if learner is None else learner, suited
        )
        estimator = catalogue[text].made(target.task)
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
        raise TypeError(
            f"{owner}: learner must be a name or an estimator with fit and predict, got "
            f"{type(learner).__name__}. Hint: 'forest'."
        )
    if not takes_matrix(estimator):
        check_task(estimator, target, owner, "learner")
        from sklearn.base import clone

        estimator = clone(estimator).set_params(n_jobs=1, verbose=0)
    return estimator, text or described(estimator)


def described(estimator: Any) -> str:
    """Return an estimator as text, whole."""
    from sklearn.base import BaseEstimator

    if isinstance(estimator, BaseEstimator):
        return " ".join(str(BaseEstimator.__repr__(estimator, N_CHAR_MAX=10**6)).split())
    return repr(estimator)


# --- rows of a learning set, for methods of this package and for those that take matrices ---------


Data = LearningSet[EncodedTable]


@dataclass(frozen=True, eq=False)
class Subject:
    """Learning set, and its matrix of numbers where one is asked for."""

    data: Data
    function: str  # for errors

    @cached_property
    def matrix(self) -> FloatArray:
        """Values of shape (n, p), NaN for missing ones.

        Raises
        ------
        ValueError
            If a column has categories without an order.
        """
        table = self.data.table
        nominal = [
            name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "nominal"
        ]
        if nominal:
            raise checks.refuse(
                self.function,
                "X",
                "a table of numbers for selectors and learners of scikit-learn",
                f"the column of categories {nominal[0]}",
                "selectors and forests of duramen, or columns of 0 and 1",
            )
        return routing_values(table.schema, table)

    def part(self, rows: IntArray, key: object) -> Part:
        """Return some of the rows."""
        return Part(self, rows, self.data.of_rows(rows, key=("part", key)))


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a learning set."""

    subject: Subject
    rows: IntArray
    data: Data

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels of all classes, also of those without a row here; None for numbers."""
        return self.subject.data.classes

    @property
    def target(self) -> NDArray[Any]:
        """Codes among all classes, or numbers, of these rows."""
        return self.subject.data.target.values[self.rows]

    @cached_property
    def matrix(self) -> FloatArray:
        """Values of these rows."""
        return self.subject.matrix[self.rows]

    def of_columns(self, columns: IntArray) -> Data:
        """Return the learning set of some columns."""
        key = ("columns", columns.tobytes())
        return self.data.with_table(self.data.table.take_columns(columns), key=key)


def seeded(estimator: Any, seed: int) -> Any:
    """Set all parameters of an estimator that are random states, those of its parts included."""
    from sklearn.base import clone

    made = clone(estimator)
    names = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
    return made.set_params(**dict.fromkeys(sorted(names), seed % 2**32)) if names else made
