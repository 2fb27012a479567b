"""Model of another package in a ranking: its class by name, its measure, and what it lacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from duramen.data import Target
from duramen.importances import Measure, catalogue
from duramen.importances.refit import task_of
from duramen.significance import SignificanceTest
from duramen.significance import catalogue as tests
from duramen.support import checks

MEASURE = "holdout_mda"
"""Measure of models of other packages."""
LEFT_OUT = "directions of effects and the number of trees needed are left out: they are of forests"


def named_model(estimator: Any, parameters: Any) -> Any:
    """Return the model of a class that is given by module and name, with parameters.

    An estimator without a dot in its name is returned as it is.

    Raises
    ------
    ValueError, TypeError
        If there is no such class, it does not fit and predict, or it has no such parameter.
    """
    if not isinstance(estimator, str) or "." not in estimator:
        if parameters is not None:
            raise ValueError(
                "rank: estimator_params is for a class that estimator names, such as "
                f"'sklearn.linear_model.LogisticRegression', got estimator={estimator!r}; leave "
                "estimator_params out"
            )
        return estimator
    package, _, name = estimator.rpartition(".")
    try:
        module = import_module(package)
    except ImportError as error:
        missing = getattr(error, "name", None) or package
        raise ValueError(
            f"rank: estimator={estimator!r}: the module {missing} cannot be imported "
            f"({error}); install its package, or correct the name"
        ) from None
    kind = getattr(module, name, None)
    if not isinstance(kind, type):
        raise ValueError(
            f"rank: estimator must name a class, and {package} has "
            f"{'no ' if kind is None else 'a '}{name}{'' if kind is None else ' that is none'}"
        )
    if isinstance(parameters, str):
        try:
            parameters = json.loads(parameters)
        except json.JSONDecodeError as error:
            raise ValueError(
                "rank: estimator_params must be a JSON object, such as "
                f"'{{\"max_iter\": 200}}', got {parameters!r} ({error})"
            ) from None
    if parameters is not None and not isinstance(parameters, Mapping):
        allowed = "a JSON object or a mapping of parameters to their values"
        raise checks.refuse("rank", "estimator_params", allowed, parameters)
    try:
        model = kind(**dict(parameters or {}))
    except TypeError as error:
        raise ValueError(
            f"rank: estimator_params are not as {estimator} takes them: {error}"
        ) from None
    if not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise ValueError(
            f"rank: estimator must fit and predict, and {estimator} does not; a selector or an "
            "encoder is a step of a Pipeline"
        )
    return model


def check_model(
    model: Any,
    target: Target,
    changed: Sequence[str],
    asked: Mapping[str, Any],
    test: SignificanceTest | None,
) -> None:
    """Refuse parameters of growth, and `asked` analyses that need a forest.

    Raises
    ------
    ValueError
    """
    name = type(model).__name__
    if changed:
        raise ValueError(f"rank: {changed[0]} has no effect beside a {name}; set it there")
    if target.censored or task_of(model) not in ("auto", target.task):
        raise ValueError(f"rank: estimator must be for {target.task}, got {name}")
    for parameter, value in asked.items():
        if value is not None and value is not False and np.size(value):
            raise ValueError(
                f"rank: {parameter} needs a forest of duramen, got a {name}; leave {parameter} out"
            )
    able = [
        one
        for one in tests
        if (one.of_rows and not one.takes("estimator"))
        or (one.takes("estimator") and one.suits(catalogue[MEASURE]))
    ]
    if test is not None and test not in able:
        raise ValueError(
            f"rank: test={test.name!r} needs a forest of duramen, got a {name}; use one of "
            f"{', '.join(one.name for one in able)}"
        )


def measures_of_model(asked: Any, name: str) -> tuple[list[Measure], list[Measure], str]:
    """Return the one measure of a model, in the form of the results of `choose`.

    Raises
    ------
    ValueError
        If another measure is asked for.
    """
    names = [asked] if isinstance(asked, str) else list(asked)
    allowed = ("auto", MEASURE)
    for one in names:
        word = one.replace("-", "_").lower() if isinstance(one, str) else one
        if word not in allowed:
            raise ValueError(
                f"rank: measure={one!r} needs a forest of duramen, got a {name}; use {MEASURE}, or "
                "leave measure out"
            )
    return [catalogue[MEASURE]], [catalogue[MEASURE]], ""


def described_model(model: Any) -> str:
    """Return a model with its parameters as text on one line."""
    from sklearn.base import BaseEstimator

    whole = isinstance(model, BaseEstimator)
    text = BaseEstimator.__repr__(model, N_CHAR_MAX=10**6) if whole else type(model).__name__
    return " ".join(str(text).split())
