"""Estimators that a measure refits: the template, its learning set, the seeds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet, Target, Task, encode
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

    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(
            f"{function}: estimator must be an estimator, got the class {name}. Hint: {name}() is "
            "an estimator of this class."
        )
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


def is_model(estimator: Any) -> bool:
    """Tell whether an estimator is a model of another package, which fits and predicts."""
    from duramen.estimators.base import BaseForest

    others = not isinstance(estimator, BaseForest | type)
    return others and hasattr(estimator, "fit") and hasattr(estimator, "predict")


def one_threaded(model: Any) -> Any:
    """Return a copy of a model, not fitted, whose fits take one thread where it lets that be set.

    None stands for one in scikit-learn, but for all in other packages.
    """
    from sklearn.base import clone

    made = clone(model, safe=False)
    own = made.get_params() if hasattr(made, "get_params") else {}
    threads = dict[str, int]()
    for name in sorted(own):
        part, _, word = name.rpartition("__")
        by_default = type(own.get(part, made)).__module__.startswith("sklearn.")
        if word == "n_jobs" and not (by_default and own[name] is None):
            threads[name] = 1
    return made.set_params(**threads) if threads else made


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
                f"got {value!r}. Hint: leave it out; parameters with an effect: {effective}."
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


def seeded(template: Any, seed: int) -> Any:
    """Return a copy of an estimator that is not fitted, with a seed, modulo 2**32.

    A fit of a forest leaves parameters as they are, so that they are not cloned, which takes a
    millisecond.
    """
    if is_model(template):
        return seeded_parts(template, seed)
    single = copy(template)
    single.random_state = seed % 2**32
    return single


def seeded_parts(model: Any, seed: int) -> Any:
    """Return a copy of a model that is not fitted, with one seed, modulo 2**32, in all parts."""
    from sklearn.base import clone

    seed %= 2**32
    made = clone(model, safe=False)
    if not hasattr(made, "get_params"):
        if hasattr(made, "random_state"):
            made.random_state = seed
        return made
    names = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
    return made.set_params(**dict.fromkeys(sorted(names), seed)) if names else made


def data_for(
    template: Any,
    X: Any,
    y: Any,
    function: str,
    *,
    allow_one_class: bool = False,
    strata: Any = None,
    groups: Any = None,
) -> LearningSet[EncodedTable]:
    """Return X and y, encoded as the template would, which then needs no categorical_features."""
    other = is_model(template)
    kinds, task = None, task_of(template) if other else template.task
    if not other and not isinstance(X, EncodedTable | LearningSet):
        X = table_like(X)
        shape = shape_of(X) or encode(X).shape
        owner = type(template).__name__
        kinds = categorical_kinds(owner, template.categorical_features, names_of(X), shape[1])
        template.categorical_features = None
    data: LearningSet[EncodedTable] = learning_set_of(
        X,
        y,
        function,
        task,
        kinds=kinds,
        strata=strata,
        groups=groups,
        allow_one_class=allow_one_class,
    ).in_memory()
    if other and data.target.censored:
        raise ValueError(
            f"{function}: the target of a {type(template).__name__} must be classes or numbers, "
            "got survival."
        )
    return data


def task_of(model: Any) -> Task | Literal["auto"]:
    """Return the task of a model; "auto" if it does not tell it."""
    from sklearn.base import is_classifier, is_regressor

    if not hasattr(model, "__sklearn_tags__"):
        return "auto"
    if is_classifier(model):
        return "classification"
    return "regression" if is_regressor(model) else "auto"


def parameters_of(estimator: Any) -> dict[str, str]:
    """Return the parameters of an estimator that decide about a fit, as text, for records.

    A function is told by its name: its text holds an address.
    """
    own = estimator.get_params() if hasattr(estimator, "get_params") else vars(estimator)
    return {
        name: qualified(value) if isinstance(value, FunctionType) else repr(value)
        for name, value in own.items()
        if name.rpartition("__")[2] not in ("random_state", "n_jobs", "verbose")
    }


def qualified(function: Any) -> str:
    """Return module and qualified name of a function; a partial has those of its function."""
    named = function
    if not hasattr(named, "__qualname__"):
        named = getattr(named, "func", type(named))
    return f"{named.__module__}.{named.__qualname__}"


def repeat_seeds(seed: int, n_repeats: int) -> NDArray[np.uint32]:
    """Return seeds of the permutation and the trees of each repeat, of shape (S, 2).

    The first repeats have the same seeds whatever their number.
    """
    state = np.random.SeedSequence(seed).generate_state(2 * n_repeats, np.uint32)
    return state.astype(np.uint32).reshape(n_repeats, 2)
