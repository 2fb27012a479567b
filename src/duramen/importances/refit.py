"""Estimators that a measure refits: the template, its learning set, the seeds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, Target, encode
from duramen.data.learning_sets import learning_set_of
from duramen.data.sources import categorical_kinds, names_of, shape_of, table_like
from duramen.estimators.catalogue import FORESTS
from duramen.importances.arguments import refuse_survival

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest


def template_of(estimator: Any, function: str, *, survival: bool = True) -> BaseForest:
    """Return a clone of an estimator of this package, whether it is fitted or not.

    Estimators for survival are refused where the function is not defined for them.
    """
    from duramen.estimators.base import BaseForest

    if not isinstance(estimator, BaseForest):
        raise TypeError(
            f"{function}: estimator must be a forest estimator of duramen, such as "
            f"RandomForestClassifier(), got {type(estimator).__name__}. A clone of it is fitted, "
            "whether it is fitted or not."
        )
    from sklearn.base import clone

    if estimator.target_class.censored and not survival:
        refuse_survival(function)
    template: BaseForest = clone(estimator)
    return template


# Parameters that say how an estimator is fitted, and nothing about its trees.
_OF_THE_FIT = ("oob_score", "n_jobs", "random_state", "verbose")


def growing(
    estimator: Any, function: str, classes: Sequence[str], parameters: Collection[str]
) -> BaseForest:
    """Return a clone of an estimator with the parameters that a function uses to grow trees.

    Its class is one of `classes`, by name. What has no effect in the function is at its default:
    all but `parameters`, and those of the fit, such as the seed, in whose place the function has
    its own.
    """
    template = template_of(estimator, function)
    if type(template).__name__ not in classes:
        raise TypeError(
            f"{function}: estimator must be one of {', '.join(classes)}, got "
            f"{type(template).__name__}."
        )
    defaults = type(template)().get_params()
    for name, value in template.get_params().items():
        same = value is defaults[name] or (
            isinstance(value, str | int | float) and value == defaults[name]
        )
        if name not in parameters and name not in _OF_THE_FIT and not same:
            effective = ", ".join(own for own in defaults if own in parameters)
            raise ValueError(
                f"{function}: {name} of estimator has no effect and must be {defaults[name]!r}, "
                f"got {value!r}. Hint: leave it out; what has an effect is {effective}."
            )
    return template


def for_task(template: BaseForest, target: Target, function: str) -> BaseForest:
    """Return the estimator of the same kind and parameters for the task of a target.

    Another task has another criterion, by which its features are ranked.
    """
    if template.task == target.task:
        return template
    kind = next((kind for kind in FORESTS if type(template).__name__ in kind.names), None)
    other = None if kind is None else kind.estimator(target.task)
    if other is None:
        raise ValueError(
            f"{function}: estimator must be of a kind that predicts {target.words}, got "
            f"{type(template).__name__}."
        )
    names = other().get_params().keys() - {"criterion"}
    shared = {name: value for name, value in template.get_params().items() if name in names}
    estimator: BaseForest = other(**shared, **target.ranking_parameters)
    return estimator


def check_task(
    estimator: BaseForest, target: Target, function: str, parameter: str = "estimator"
) -> None:
    """Raise ValueError unless an estimator is for the task of a target."""
    if estimator.task != target.task:
        raise ValueError(
            f"{function}: {parameter} must be for {target.task}, as the target is, got "
            f"{type(estimator).__name__}."
        )


def leaves_rows_out(estimator: BaseForest) -> bool:
    """Tell whether the trees of an estimator leave rows out of the bag."""
    return bool(estimator.bootstrap or estimator.max_samples is not None)


def seeded(template: BaseForest, seed: int) -> BaseForest:
    """Return a copy of an estimator that is not fitted, with a seed, modulo 2**32.

    A fit leaves parameters as they are, so that they are not cloned, which takes a millisecond.
    """
    single = copy(template)
    single.random_state = seed % 2**32
    return single


def data_for(
    template: BaseForest,
    X: Any,
    y: Any,
    function: str,
    *,
    allow_one_class: bool = False,
    strata: Any = None,
    groups: Any = None,
) -> LearningSet[EncodedTable]:
    """Return X and y as the template encodes them, with its categorical features."""
    kinds = None
    if not isinstance(X, EncodedTable | LearningSet):
        X = table_like(X)
        shape = shape_of(X) or encode(X).shape
        owner = type(template).__name__
        kinds = categorical_kinds(owner, template.categorical_features, names_of(X), shape[1])
        template.categorical_features = None
    data: LearningSet[EncodedTable] = learning_set_of(
        X,
        y,
        function,
        template.task,
        kinds=kinds,
        strata=strata,
        groups=groups,
        allow_one_class=allow_one_class,
    ).in_memory()
    return data


def repeat_seeds(seed: int, n_repeats: int) -> NDArray[np.uint32]:
    """Return seeds of the permutation and the trees of each repeat, of shape (S, 2).

    The first repeats have the same seeds whatever their number.
    """
    state = np.random.SeedSequence(seed).generate_state(2 * n_repeats, np.uint32)
    return state.astype(np.uint32).reshape(n_repeats, 2)
