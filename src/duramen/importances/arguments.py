"""Checks of the arguments of measures, and the metadata of their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from duramen.data import Target
from duramen.forests.forest import AnyForest, Forest, TreeStream
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.provenance import versions

_SHOWN = 8


def forest_of(estimator: Any, function: str, *, survival: bool = False) -> Forest:
    """Return the forest of a fitted estimator, or the forest itself; as a whole, in memory."""
    grown = trees_of(estimator, function, survival=survival)
    if isinstance(grown, Forest):
        return grown
    raise TypeError(
        f"{function}: forest must be in memory as a whole, got one that is grown part by part."
    )


def trees_of(estimator: Any, function: str, *, survival: bool = False) -> AnyForest:
    """Return the forest of a fitted estimator, or the forest itself, in memory or not.

    Forests for survival are refused unless the function is defined for them.
    """
    grown = getattr(estimator, "forest_", estimator)
    if isinstance(grown, Forest | TreeStream):
        if grown.target_class.censored and not survival:
            refuse_survival(function)
        return grown
    kind = type(estimator)
    if kind.__module__.startswith("duramen.") and hasattr(estimator, "fit"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"{function}: this {kind.__name__} is not fitted yet; call fit first.")
    steps = hasattr(estimator, "named_steps")  # a pipeline of scikit-learn
    hint = (
        f"give its last step, {function}(pipe[-1], ...), and rows from pipe[:-1].transform"
        if steps
        else "the estimators of duramen take the parameters of scikit-learn's"
    )
    raise TypeError(
        f"{function}: forest must be a Forest or a fitted estimator of duramen, got "
        f"{kind.__module__}.{kind.__name__}. Hint: {hint}."
    )


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
) -> NDArray[np.uint32] | NDArray[np.float64]:
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
    """Return what an importance of a forest is to remember: choices, settings, seed, data."""
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
    """Return importances of the features of a forest, which remember the choices."""
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
