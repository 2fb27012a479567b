"""Learners that predict from selected features, and the rows that they are given."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, Target, Task
from duramen.data.encoding import routing_values
from duramen.estimators.base import BaseForest
from duramen.estimators.catalogue import random_forest
from duramen.importances.refit import check_task, seeded_parts
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

N_TREES = 500
Data = LearningSet[EncodedTable]

# Modules of scikit-learn, the estimator of each task, and its parameters.
_OF_SCIKIT_LEARN: dict[str, tuple[str, dict[Task, str], dict[str, Any]]] = {
    "linear_svm": ("svm", {"classification": "SVC", "regression": "SVR"}, {"kernel": "linear"}),
    "logistic_regression": (
        "linear_model",
        {"classification": "LogisticRegression"},
        {"max_iter": 1000},
    ),
    "ridge_regression": ("linear_model", {"regression": "Ridge"}, {}),
    "k_nearest_neighbors": (
        "neighbors",
        {"classification": "KNeighborsClassifier", "regression": "KNeighborsRegressor"},
        {},
    ),
}


def learner_of(learner: Any, target: Target, owner: str) -> tuple[Any, str]:
    """Return the estimator that a name or an estimator stands for, and its description.

    Raises
    ------
    ValueError, TypeError
        If it is neither, or is for another task.
    """
    if learner is None or isinstance(learner, str):
        suited = [name for name, (_, kinds, _) in _OF_SCIKIT_LEARN.items() if target.task in kinds]
        name = "forest" if learner is None else learner
        checks.check_choice(owner, "learner", name, ["forest", *suited])
        if name == "forest":
            return random_forest(target.task, N_TREES).set_params(n_jobs=1, verbose=0), name
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        module, kinds, options = _OF_SCIKIT_LEARN[name]
        model = getattr(import_module(f"sklearn.{module}"), kinds[target.task])(**options)
        filled = SimpleImputer(strategy="median", keep_empty_features=True)
        return make_pipeline(filled, StandardScaler(), model), name
    if not hasattr(learner, "fit") or not hasattr(learner, "predict"):
        raise TypeError(
            f"{owner}: learner must be a name or an estimator with fit and predict, got "
            f"{type(learner).__name__}. Hint: 'forest'."
        )
    if not takes_matrix(learner):
        check_task(learner, target, owner, "learner")
        from sklearn.base import clone

        learner = clone(learner).set_params(n_jobs=1, verbose=0)
    return learner, described(learner)


def takes_matrix(estimator: Any) -> bool:
    """Tell whether an estimator takes a matrix of numbers, and not encoded columns."""
    return not isinstance(estimator, BaseForest)


def described(estimator: Any) -> str:
    """Return an estimator as text, whole."""
    from sklearn.base import BaseEstimator

    if isinstance(estimator, BaseEstimator):
        return " ".join(str(BaseEstimator.__repr__(estimator, N_CHAR_MAX=10**6)).split())
    return repr(estimator)


def matrix_of(data: Data, function: str) -> FloatArray:
    """Return values of shape (n, p) for selectors and learners of scikit-learn, NaN for missing.

    Raises
    ------
    ValueError
        If a column has categories without an order.
    """
    for name, kind in zip(data.names, data.table.kinds, strict=True):
        if kind == "nominal":
            raise checks.refuse(
                function,
                "X",
                "a table of numbers for selectors and learners of scikit-learn",
                f"the column of categories {name}",
                "selectors and forests of duramen, or columns of 0 and 1",
            )
    return routing_values(data.table.schema, data.table)


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a learning set."""

    data: Data
    target: NDArray[Any]  # codes among all classes of the learning set, or numbers
    classes: NDArray[Any] | None  # labels of these classes, also of those without a row here
    matrix: FloatArray | None  # values of the rows, where a method or the learner takes them

    @classmethod
    def of(cls, data: Data, matrix: FloatArray | None, rows: IntArray, key: object) -> Part:
        """Return the rows of these indices."""
        values = None if matrix is None else matrix[rows]
        some = data.of_rows(rows, key=("part", key))
        return cls(some, data.target.values[rows], data.classes, values)

    def of_columns(self, columns: IntArray) -> Data:
        """Return the learning set of some columns."""
        key = ("columns", columns.tobytes())
        return self.data.with_table(self.data.table.take_columns(columns), key=key)


def predictions(learner: Any, train: Part, test: Part, columns: IntArray, seed: int) -> FloatArray:
    """Fit some columns of training rows and predict test rows, as `Performance.compute` takes it.

    Without columns the class frequencies, or the mean, of the training rows are predicted.
    """
    n_test = test.data.n_rows
    if not len(columns):
        if train.classes is None:
            return np.full(n_test, float(np.mean(train.target)))
        counts = np.bincount(train.target.astype(np.int64), minlength=len(train.classes))
        return np.tile(counts / counts.sum(), (n_test, 1))
    model = seeded_parts(learner, seed)
    rows: Any
    codes: Any = train.classes
    if train.matrix is not None and test.matrix is not None and takes_matrix(learner):
        model.fit(train.matrix[:, columns], train.target)
        rows = test.matrix[:, columns]
        codes = None if train.classes is None else np.arange(len(train.classes))
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
    whole = np.full((n_test, len(train.classes)), float(sure.min(initial=0.0)) - 1.0)
    whole[:, np.searchsorted(codes, model.classes_)] = sure
    return whole
