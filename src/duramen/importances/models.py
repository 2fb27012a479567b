"""Models of other packages: the rows that they are given, their fits, and their importances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.importances.measure import Inputs, Measure
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.text import quoted
from duramen.support.threads import one_openmp_thread

Data = LearningSet[EncodedTable]

_LEAST_PROBABILITY = 1e-3  # in a logarithm, so that one row of a sure model is no outlier
_CELLS = 1 << 21  # of permuted rows that a model predicts at a time
_OF_CATEGORIES = (
    ". Hint: columns of categories are of type category; a Pipeline can encode them, such as "
    "make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore'), "
    "make_column_selector(dtype_exclude='number')), remainder='passthrough'), model)"
)


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows of a table as models take them.

    Numbers without names are a matrix. Other tables are a data frame of pandas: numbers as float64,
    whole numbers as int64, categories as of type category.

    Attributes
    ----------
    columns : float64 array of shape (p, n), or list of arrays and pandas.Categorical
    names : tuple of str or None
        Names of the columns of the data frame; None for a matrix.
    """

    columns: Any
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, table: EncodedTable, function: str) -> ModelRows:
        """Return the rows of a table.

        Raises
        ------
        ModuleNotFoundError
            If there are categories, and pandas is not installed.
        """
        p = table.n_columns
        if not table.named and not table.labels:
            values = [table.column_values(j) for j in range(p)]
            return cls(np.array(values, dtype=np.float64).reshape(p, table.n_rows), None)
        try:
            from pandas import Categorical
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"{function}: models of other packages take tables with names of columns as data "
                "frames of pandas. Hint: pip install pandas, or give an array of numbers."
            ) from None
        columns = list[Any]()
        for j in range(p):
            if j not in table.labels:
                columns.append(table.column_values(j))
                continue
            labels: Any = table.values(j)
            codes = table.codes(j).astype(np.intp)
            codes[codes == len(labels)] = -1
            ordered = table.kinds[j] == "ordinal"
            columns.append(Categorical.from_codes(codes, labels, ordered=ordered))
        return cls(columns, table.names)

    def take(self, places: IntArray) -> Any:
        """Return rows by index, of shape (m,), or (p, m) for rows of each column."""
        each = np.broadcast_to(places, (len(self.columns), places.shape[-1]))
        if self.names is None:
            return np.ascontiguousarray(np.take_along_axis(self.columns, each, axis=1).T)
        import pandas as pd

        taken = (column.take(order) for column, order in zip(self.columns, each, strict=True))
        frame = pd.DataFrame(dict(enumerate(taken)))
        frame.columns = pd.Index(self.names)
        return frame


def fitted(model: Any, rows: ModelRows, data: Data, places: IntArray, function: str) -> Any:
    """Fit a model to rows of a learning set, given by index, and return it.

    Raises
    ------
    ValueError
        If the model refuses them, does not take weights, predicts no target, or a step of it is
        left without columns.
    """
    name, weights = type(model).__name__, dict[str, Any]()
    if hasattr(model, "__sklearn_tags__"):
        kind = model.__sklearn_tags__().estimator_type
        if kind not in (None, "classifier", "regressor"):
            raise ValueError(
                f"{function}: estimator must be a classifier or a regressor, got {name} "
                f"({kind.replace('_', ' ')}), which learns nothing of the target."
            )
    if data.weights is not None:
        from sklearn.utils.validation import has_fit_parameter

        step, last = model.steps[-1] if hasattr(model, "steps") else ("", model)
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError(
                f"{function}: the rows have weights, which {type(last).__name__} does not take. "
                "Hint: leave out sample_weight."
            )
        weights[f"{step}__sample_weight" if step else "sample_weight"] = data.weights[places]
    try:
        model.fit(rows.take(places), data.y[places], **weights)
    except MemoryError:
        raise
    except Exception as error:  # of any class: that of LightGBM derives from Exception alone
        reason = " ".join(str(error).split()).rstrip(".")
        is_of_text = any(word in reason for word in ("convert", "categor", "dtype"))
        hint = _OF_CATEGORIES if data.table.labels and is_of_text else ""
        raise ValueError(f"{function}: {name} cannot be fitted: {reason}{hint}") from error
    for part in (model, *(step for _, step in getattr(model, "steps", ()))):
        for step, _, columns in getattr(part, "transformers_", ()):
            if step != "remainder" and not np.size(columns):
                raise ValueError(
                    f"{function}: the step {step!r} of {name} is left without columns. Hint: "
                    "columns of categories are of type category, which "
                    "make_column_selector(dtype_exclude='number') selects."
                )
    return model


def predicted(model: Any, rows: Any, classes: NDArray[Any] | None) -> FloatArray:
    """Return the probabilities of all classes, or numbers, of shape (n, C) or (n, 1).

    The class that a model without probabilities predicts has 1, and one it was not fitted on 0.

    Raises
    ------
    ValueError
        If the model predicts other classes, or numbers that are not finite.
    """
    whole = _predicted(model, rows, classes)
    if not np.isfinite(whole).all():
        raise ValueError(
            f"{type(model).__name__}: predictions must be finite, got NaN or infinity for "
            f"{int((~np.isfinite(whole)).any(axis=1).sum())} of {len(whole)} rows."
        )
    return whole


def _predicted(model: Any, rows: Any, classes: NDArray[Any] | None) -> FloatArray:
    """Return what `predicted` returns, finite or not."""
    if classes is None:
        return np.asarray(model.predict(rows), dtype=np.float64).reshape(-1, 1)
    place = {label: code for code, label in enumerate(classes.tolist())}
    if not hasattr(model, "predict_proba"):
        labels = np.asarray(model.predict(rows)).ravel().tolist()
        if others := [label for label in labels if label not in place]:
            raise ValueError(
                f"{type(model).__name__}: predict must return classes of the target, such as "
                f"{quoted(next(iter(place)))}, got {quoted(others[0])}."
            )
        return np.eye(len(classes))[[place[label] for label in labels]]
    sure = np.asarray(model.predict_proba(rows), dtype=np.float64)
    there = np.asarray(getattr(model, "classes_", classes)).tolist()
    whole = np.zeros((len(sure), len(classes)))
    whole[:, [place[label] for label in there]] = sure
    return whole


def score_of_model(model: Any, data: Data, scoring: Any, function: str) -> str:
    """Return the score that is asked for, of those that are means over rows and suit the target.

    By default the logarithmic loss, or for models without probabilities the accuracy, and the
    squared error of numbers.

    Raises
    ------
    ValueError
    """
    if data.classes is None:
        suited = ["neg_mean_squared_error"]
    elif hasattr(model, "predict_proba"):
        suited = ["neg_log_loss", "accuracy"]
    else:
        suited = ["accuracy"]
    if scoring is None:
        return suited[0]
    return str(checks.check_choice(function, "scoring", scoring, suited))


def losses(predictions: FloatArray, values: NDArray[Any], score: str) -> FloatArray:
    """Return the loss of each row, of shape (n,), by a score of `score_of_model`.

    Parameters
    ----------
    predictions : float64 array of shape (n, C)
        As of `predicted`.
    values : array of shape (n,)
        Class codes or numbers.
    score : str
    """
    if score == "neg_mean_squared_error":
        return np.asarray((predictions[:, 0] - values) ** 2)
    if score == "accuracy":
        return np.asarray(predictions.argmax(axis=1) != values, dtype=np.float64)
    of_class = predictions[np.arange(len(values)), values.astype(np.intp)]
    return np.asarray(-np.log(np.maximum(of_class, _LEAST_PROBABILITY)))


def losses_by_permuting(
    model: Any,
    rows: ModelRows,
    data: Data,
    held_out: IntArray,
    score: str,
    n_repeats: int,
    random: np.random.Generator,
) -> FloatArray:
    """Return what a permutation of each column adds to the mean loss of rows held out, (p,).

    Columns are permuted one at a time, among these rows. Several permuted tables are predicted in
    one call, which takes less time.
    """
    p, m, values = data.n_columns, len(held_out), data.target.values[held_out]
    weights = None if data.weights is None else data.weights[held_out]

    def mean_losses(places: IntArray) -> FloatArray:
        n = places.shape[1] // m
        predictions = predicted(model, rows.take(places), data.classes)
        lost = losses(predictions, np.tile(values, n), score).reshape(n, m)
        return np.asarray(np.average(lost, axis=1, weights=weights))

    before = mean_losses(np.broadcast_to(held_out, (p, m)))
    added, at_a_time = np.zeros(p), max(1, _CELLS // (p * m))
    for first in range(0, p * n_repeats, at_a_time):
        columns = np.arange(first, min(first + at_a_time, p * n_repeats)) % p
        places = np.tile(held_out, (p, len(columns)))
        for i, j in enumerate(columns.tolist()):
            places[j, i * m : (i + 1) * m] = random.permutation(held_out)
        np.add.at(added, columns, mean_losses(places) - before)
    return added / n_repeats


# --- importances of a model that is fitted to all rows --------------------------------------------


def of_fitted_model(function: Callable[[Any, Any, NDArray[Any]], Any]) -> Measure:
    """Return the record of a measure that is a function ``measure(model, X, y)``.

    X has the type that the model was fitted to: a data frame, or a matrix of numbers.
    """
    name = getattr(function, "__name__", type(function).__name__)

    def compute(inputs: Inputs) -> Any:
        data, rows = inputs.data, ModelRows.of(inputs.data.table, name)
        every = np.arange(data.n_rows)
        with one_openmp_thread():
            model = fitted(inputs.estimator, rows, data, every, name)
            return function(model, rows.take(every), data.y)

    return Measure(name, compute, name, refits=True, rows="training", spread="")


def feature_importances(model: Any, X: Any, y: NDArray[Any]) -> FloatArray:
    r"""Return ``feature_importances_`` of a fitted model, or the sizes of its ``coef_``.

    The size of a coefficient is :math:`|b_j|` times the standard deviation of its column, of
    several outputs the root of the sum of squares.

    Raises
    ------
    AttributeError
        If the model has neither, one number for each column of X.
    """
    values = getattr(model, "feature_importances_", None)
    if values is None:
        coefficients = model.coef_
        dense = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
        rows = np.atleast_2d(np.asarray(dense, dtype=np.float64))
        values = np.sqrt((rows**2).sum(axis=0)) * np.std(np.asarray(X, dtype=np.float64), axis=0)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (X.shape[1],):
        raise AttributeError(f"{type(model).__name__} has importances of other columns")
    return numbers
