"""Keyword parameters that several functions share: a TypedDict, its defaults, one signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

EXECUTION = ("random_state", "n_jobs", "client", "checkpoint", "verbose")
"""Parameters of execution, which stand last in a signature, in this order."""


def takes_keywords(keywords: type, defaults: Mapping[str, Any]) -> Callable[[FunctionT], FunctionT]:
    """Let a function take the keywords of a TypedDict, each of which has a value in its body.

    The function is written with ``**name: Unpack[keywords]``. Its signature lists the keywords one
    by one, before the parameters of execution, and it refuses others with the closest of its own.
    """
    hints = keywords.__annotations__
    if set(hints) != set(defaults):
        raise ValueError(
            f"takes_keywords: {keywords.__name__} and its defaults must have the same names."
        )

    def decorate(function: FunctionT) -> FunctionT:
        signed = signature(function)
        own = [
            parameter
            for parameter in signed.parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        shared = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=_text(hints[name]))
            for name, default in defaults.items()
        ]
        last = [parameter for parameter in own if parameter.name in EXECUTION]
        ordered = [*(parameter for parameter in own if parameter not in last), *shared, *last]
        names = [parameter.name for parameter in ordered]

        @wraps(function)
        def complete(*args: Any, **arguments: Any) -> Any:
            for name in arguments:
                if name not in names:
                    close = get_close_matches(name, names, n=1)
                    hint = f"did you mean {close[0]!r}?" if close else f"use {', '.join(names)}."
                    raise TypeError(
                        f"{function.__name__}: {name!r} is not one of its parameters. Hint: {hint}"
                    )
            return function(*args, **{**defaults, **arguments})

        vars(complete)["__signature__"] = signed.replace(parameters=ordered)
        return cast(FunctionT, complete)

    return decorate


def _text(hint: Any) -> Any:
    """Return an annotation as other signatures show it, the text that was written."""
    return getattr(hint, "__forward_arg__", hint)
