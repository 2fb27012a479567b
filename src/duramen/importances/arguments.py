"""Arguments of measures: the forest and the rows; metadata of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from duramen.data import ClassTarget, EncodedTable, LearningSet, Target, encode
from duramen.data.learning_sets import learning_set_of, table_of
from duramen.forests import boosting
from duramen.forests.boosting import BOOSTED, is_boosted
from duramen.forests.forest import AnyForest, Forest, TreeStream
from duramen.forests.prediction import (
    Rows,
    leaves,
    rows_of,
    same_codes,
)
from duramen.forests.sklearn_models import READABLE, forest_fields, is_readable, numeric_table
from duramen.io import ColumnStore
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.provenance import versions
from duramen.support.text import quoted

_SHOWN = 8


def forest_of(
    estimator: Any,
    function: str,
    X: Any = None,
    *,
    survival: bool = False,
    boosted: bool = False,
) -> Forest:
    """Return the forest of a fitted estimator, or the forest itself; as a whole, in memory."""
    grown = trees_of(estimator, function, X, survival=survival, boosted=boosted)
    if isinstance(grown, Forest):
        return grown
    raise TypeError(
        f"{function}: forest must be in memory as a whole, got one that is grown part by part."
    )


def trees_of(
    estimator: Any,
    function: str,
    X: Any = None,
    *,
    survival: bool = False,
    boosted: bool = False,
) -> AnyForest:
    """Return the forest of a fitted estimator, or the forest itself, in memory or not.

    A model of scikit-learn is read with the rows `X` on which it is measured, if there are any.
    Forests for survival, and boosted trees, are refused unless the function is defined for them.
    """
    grown = getattr(estimator, "forest_", estimator)
    if not isinstance(grown, Forest | TreeStream) and is_boosted(grown):
        grown = Forest(**boosting.forest_fields(grown, X, function))
    if isinstance(grown, Forest | TreeStream):
        if grown.target_class.censored and not survival:
            refuse_survival(function)
        if grown.link is not None and not boosted:
            raise ValueError(
                f"{function}: forest must have trees that are averaged, got boosted trees, whose "
                "scores add up. Hint: mda, accumulated_local_effects, partial_dependence, "
                'describe_effects, interaction_strength, local_mdi with of="prediction" and '
                "shap_trees take boosted trees."
            )
        return grown
    if is_readable(grown):
        table = None if X is None or isinstance(X, str) else numeric_table(X, function)
        return Forest(**forest_fields(grown, table, function))
    kind = type(estimator)
    if kind.__module__.startswith("duramen.") and hasattr(estimator, "fit"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"{function}: this {kind.__name__} is not fitted yet; call fit first.")
    steps = hasattr(estimator, "named_steps")  # a pipeline of scikit-learn
    hint = (
        f"give its last step, {function}(pipe[-1], ...), and rows from pipe[:-1].transform"
        if steps
        else f"models of others that can be read are {READABLE}; {BOOSTED}"
    )
    raise TypeError(
        f"{function}: forest must be a Forest or a fitted estimator of duramen, got "
        f"{kind.__module__}.{kind.__name__}. Hint: {hint}."
    )


def trees_and_rows(
    estimator: Any, function: str, X: Any, *, survival: bool = False, boosted: bool = False
) -> tuple[AnyForest, Any]:
    """Return the trees as :func:`trees_of` does, and the rows.

    A model of scikit-learn has the codes of the rows, which are encoded once for both.
    """
    if is_readable(estimator) and not isinstance(X, LearningSet | str | None):
        X = numeric_table(X, function)
    return trees_of(estimator, function, X, survival=survival, boosted=boosted), X


def check_importances(function: str, importances: object, hint: str = "") -> None:
    """Raise TypeError unless a function is given importances."""
    if not isinstance(importances, Importances):
        tail = f" Hint: {hint}" if hint else ""
        raise TypeError(
            f"{function}: importances must be Importances, got {type(importances).__name__}.{tail}"
        )


def missing_rows(function: str) -> TypeError:
    """Return the error for a measure that was given no rows."""
    return TypeError(
        f"{function}: X is missing, the rows on which {function} measures the forest. Hint: "
        f"{function}(forest, X, y) with the table and the target that the forest was fitted on; "
        f"or {function}(forest, data) with a learning set."
    )


def refuse_survival(function: str) -> NoReturn:
    """Raise ValueError: a function is not defined for survival."""
    raise ValueError(
        f"{function}: is not defined for survival, but for classes and numbers. Hint: use mda, "
        "conditional_mda, holdout_mda, mdi, frequency or minimal_depth."
    )


def matched(
    forest: AnyForest, target: Target, function: str
) -> NDArray[np.uint32] | NDArray[np.uint64] | NDArray[np.float64]:
    """Return a target as codes of the forest's classes, or numbers less the forest's origin.

    Raises
    ------
    ValueError
        If it holds a class that the forest was not grown on.
    """
    if forest.classes is None or target.classes is None or target.classes is forest.classes:
        return target.less(forest.origin)
    place = {label: code for code, label in enumerate(forest.classes.tolist())}
    labels = target.classes.tolist()
    unknown = [label for label in labels if label not in place]
    if unknown:
        shown = ", ".join(map(repr, list(place)[:_SHOWN])) + ", ..." * (len(place) > _SHOWN)
        raise ValueError(
            f"{function}: y holds {unknown[0]!r}, which is not a class of this forest; its "
            f"classes are {shown}."
        )
    of_label = np.array([place[label] for label in labels], dtype=np.uint32)
    return of_label[target.values]


def class_names(forest: AnyForest) -> tuple[str, ...]:
    """Return the names of the forest's classes."""
    return () if forest.classes is None else tuple(map(str, forest.classes.tolist()))


def metadata_of(forest: AnyForest, measure: str, **choices: Any) -> dict[str, Any]:
    """Return the metadata of an importance: choices, settings, seed and data."""
    return {
        measure: choices,
        "forest": forest.settings.to_dict(),
        "n_trees": forest.n_trees,
        "n_rows": forest.n_rows,
        "seed": forest.seed,
        "fingerprint": forest.fingerprint,
        "versions": versions(),
    }


def importances_of(
    forest: AnyForest,
    measure: str,
    values: FloatArray,
    unit: str,
    standard_error: FloatArray | None = None,
    *,
    names: tuple[str, ...] | None = None,
    by_degree: FloatArray | None = None,
    by_class: FloatArray | None = None,
    **choices: Any,
) -> Importances:
    """Return importances of the features of a forest, with choices in the metadata."""
    return Importances(
        names=forest.names if names is None else names,
        values=values,
        measure=measure,
        unit=unit,
        by_degree=by_degree,
        standard_error=standard_error,
        by_class=by_class,
        classes=() if by_class is None else class_names(forest),
        metadata=metadata_of(forest, measure, **choices),
    )


def refuse_overlaps(
    groups: Mapping[str, IntArray], names: Sequence[str], function: str, where: str = ""
) -> None:
    """Raise ValueError if a feature, of these names, is in two groups of indices of features."""
    of_names = {name: [names[j] for j in features] for name, features in groups.items()}
    checks.group_of_each(of_names, f"{function}: feature_groups", where)


# --- rows that are sent down the trees ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their target."""

    rows: Rows  # (n, p): As :func:`duramen.forests.prediction.rows_of` returns them
    # (n,): class codes of the forest, codes of survival, or numbers less the forest's origin.
    target: NDArray[np.uint32] | NDArray[np.uint64] | NDArray[np.float64]
    # Whether the rows are the training rows, each for the trees whose bag lacks it; else every
    # row goes down every tree.
    out_of_bag: bool
    # (n,): Where rows are copies of others, as in a bootstrap sample: the same number in 0..n-1
    # for all copies of a row. Out of a bag is a row of which no copy is in it, once.
    originals: NDArray[np.uint32] | None = None


def sample_of(
    forest: AnyForest, X: Any, y: Any, rows: str | None, function: str, *, blocks: bool = False
) -> Sample:
    """Check the rows that a measure is asked to use; `rows` is "oob" or None.

    With `blocks`, the measure takes rows block by block, and those of a store stay on disk.
    """
    if X is None:
        raise missing_rows(function)
    if rows not in (None, "oob"):
        raise ValueError(f'{function}: rows must be "oob" or None, got {rows!r}.')
    if rows == "oob":
        data = training_set(forest, X, y, function, out_of_bag=True, blocks=blocks)
        target = data.target.less(forest.origin)
        if data.target.classes is not forest.classes:
            target = matched(forest, data.target, function)
        return Sample(data.table, target, out_of_bag=True)
    held_out = rows_of(forest, X if blocks else table_of(X), function, function)
    if isinstance(X, LearningSet):
        outcomes = learning_set_of(X, y, function, forest.task).target
    else:
        outcomes = forest.target_class.encode(
            y, n_rows=len(held_out), allow_one_class=True, function=function
        )
    if not isinstance(held_out, EncodedTable | ColumnStore):
        for j in [j for j, labels in forest.schema.labels.items() if len(labels)]:
            if (held_out[:, j] == -1).any():
                raise ValueError(
                    f"{function}: column {quoted(forest.names[j])} has categories that the "
                    "forest never saw; permuting them does not measure the forest. Hint: leave "
                    "these rows out."
                )
    return Sample(held_out, matched(forest, outcomes, function), out_of_bag=False)


def training_set(
    forest: AnyForest,
    X: Any,
    y: Any,
    function: str,
    *,
    out_of_bag: bool = False,
    blocks: bool = False,
) -> LearningSet[Any]:
    """Return the rows that a forest was grown on as a learning set, encoded as in the forest.

    With `out_of_bag`, it is checked that they are, and that trees leave rows out. With `blocks`, a
    store stays on disk.
    """
    if out_of_bag and not forest.settings.samples_rows:
        raise lacking_bags(function)
    if isinstance(X, LearningSet) and y is None and X.fingerprint == forest.fingerprint:
        return X if blocks else X.in_memory()
    data = learning_set_of(X, y, function, forest.task) if isinstance(X, LearningSet) else None
    table = encode_like(forest, X)
    if table.n_columns != forest.n_features:
        raise ValueError(
            f"X has {table.n_columns} features, but {function} is expecting {forest.n_features} "
            "features as input"
        )
    if data is None:
        data = learning_set_of(table, y, function, forest.task, allow_one_class=True)
        if forest.classes is not None:
            codes = matched(forest, data.target, function).astype(np.uint32, copy=False)
            data = data.with_target(ClassTarget(codes, forest.classes))
    elif data.table is not table:
        data = data.with_table(table)
    if out_of_bag:
        require_grown_on(forest, X, table, function, "oob")
    return data


def lacking_bags(function: str) -> ValueError:
    """Return the error for a forest whose trees leave no rows out."""
    return ValueError(
        f'{function}: rows="oob" needs trees that leave rows out, but every tree of this '
        "forest saw all of them. Hint: fit with bootstrap=True or max_samples, or give rows "
        "that were held out, with rows=None."
    )


def require_grown_on(
    forest: AnyForest, X: Any, table: EncodedTable, function: str, rows: str | None = None
) -> None:
    """Raise ValueError unless the rows of a table are the training rows of a forest."""
    if isinstance(X, LearningSet) and X.fingerprint == forest.fingerprint:
        return
    # Weights are part of a fingerprint but not asked for here: then the leaves tell.
    fits = table.n_rows == forest.n_rows and same_codes(forest, table.schema)
    if fits and all(run.is_filled_by(leaves(run, table)) for run in forest.parts()):
        return
    where = "" if rows is None else f'with rows="{rows}", '
    hint = "" if rows is None else " Hint: use rows=None for other rows."
    raise ValueError(
        f"{function}: {where}X must be the table that the forest was grown on, "
        f"{forest.n_rows} rows in the same order; these {table.n_rows} rows lead to other "
        f"leaves.{hint}"
    )


def responses(forest: AnyForest, target: NDArray[Any]) -> FloatArray:
    """Return y less the forest's origin as one column, or an indicator of each of its classes."""
    if forest.classes is None:
        return target[:, np.newaxis].astype(np.float64, copy=False)
    indicators: FloatArray = np.eye(len(forest.classes))[target]
    return indicators


def encode_like(forest: AnyForest, X: Any) -> EncodedTable:
    """Encode a table with the kinds that the forest's columns have."""
    X = table_of(X)
    if isinstance(X, EncodedTable):
        return X
    shape = getattr(X, "shape", None)
    fits = isinstance(shape, tuple) and len(shape) == 2 and shape[1] == forest.n_features
    return encode(X, kinds=list(forest.schema.kinds) if fits else None)
